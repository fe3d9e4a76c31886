# The CUDA library; included by CMakeLists.txt, and without effect where there is no nvcc.
#
# PACBENCH_CUDA                AUTO: if a working nvcc is found; ON: it must be; OFF: not at all.
# PACBENCH_CUDA_ARCHITECTURES  such as "80;90", or any value of CMake's CUDA_ARCHITECTURES; by default
#                              that of this machine's GPUs.
set(PACBENCH_CUDA AUTO CACHE STRING "build the CUDA library: AUTO, ON or OFF")
set(PACBENCH_CUDA_ARCHITECTURES "" CACHE STRING "architectures to build the CUDA library for")

string(TOUPPER "${PACBENCH_CUDA}" wanted)
if(NOT wanted MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "PACBENCH_CUDA is '${PACBENCH_CUDA}'; allowed: AUTO, ON, OFF")
endif()
if(wanted STREQUAL "OFF")
  message(STATUS "CUDA library: not built, PACBENCH_CUDA is OFF")
  return()
endif()

if(NOT CMAKE_CUDA_COMPILER)
  unset(CMAKE_CUDA_COMPILER CACHE)  # an nvcc may have come since the last time
  if(NOT DEFINED ENV{CUDACXX})
    find_program(nvcc nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    if(nvcc)
      set(ENV{CUDACXX} "${nvcc}")
    endif()
  endif()
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(wanted STREQUAL "ON")
    message(FATAL_ERROR "PACBENCH_CUDA is ON, but no working nvcc was found; put it on the PATH or "
                        "name it in CUDACXX, or set PACBENCH_CUDA=OFF to build for the CPU alone")
  endif()
  message(STATUS "CUDA library: not built, no working nvcc was found")
  return()
endif()

include(csrc/cuda_architectures.cmake)
if(PACBENCH_CUDA_ARCHITECTURES STREQUAL "")
  default_architectures("${CMAKE_CUDA_COMPILER}" CMAKE_CUDA_ARCHITECTURES)
else()
  string(REGEX REPLACE "[ ,]+" ";" CMAKE_CUDA_ARCHITECTURES "${PACBENCH_CUDA_ARCHITECTURES}")
endif()
message(STATUS "CUDA library: for ${CMAKE_CUDA_ARCHITECTURES}, with ${CMAKE_CUDA_COMPILER}")
enable_language(CUDA)

add_library(pacbench_cuda SHARED
  csrc/adapting_kernel.cu
  csrc/adapting_kernel_grad.cu
  csrc/conv.cu
  csrc/conv_grad_kernel.cu
  csrc/conv_grad_weight.cu
  csrc/library.cu
  csrc/mean_field.cu
  csrc/pool.cu
  csrc/pool_grad_kernel.cu)
set_target_properties(pacbench_cuda PROPERTIES
  CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_RUNTIME_LIBRARY Static)
target_compile_options(pacbench_cuda PRIVATE -O3 -Xfatbin=-compress-all)
# torch has a CUDA runtime of its own version in the process, whose symbols must not meet ours.
target_link_options(pacbench_cuda PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic)
install(TARGETS pacbench_cuda LIBRARY DESTINATION pacbench/kernels)
