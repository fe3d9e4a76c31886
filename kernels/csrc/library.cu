// What the CUDA library says of itself: its interface, its architectures, what went wrong last.
#include <stdio.h>

#include "cuda.cuh"

namespace pac {
namespace {

thread_local char last_error[512] = "";

}  // namespace

int launched(const char* kernel, dim3 grid, dim3 block, size_t shared) {
  const cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) return 0;
  snprintf(last_error, sizeof last_error,
           "kernel %s, launched with grid (%u, %u, %u), block (%u, %u, %u) and %zu bytes of dynamic "
           "shared memory: %s (%s)",
           kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared,
           cudaGetErrorString(status), cudaGetErrorName(status));
  return 1;
}

int refused(const char* function, const char* reason) {
  snprintf(last_error, sizeof last_error, "%s: %s", function, reason);
  return 1;
}

}  // namespace pac

extern "C" const char* pac_cuda_last_error(void) { return pac::last_error; }

#define PAC_TEXT_OF(...) #__VA_ARGS__
#define PAC_TEXT(...) PAC_TEXT_OF(__VA_ARGS__)

extern "C" const char* pac_cuda_architectures(void) {
#ifdef __CUDA_ARCH_LIST__
  return PAC_TEXT(__CUDA_ARCH_LIST__);
#else
  return "emulation";
#endif
}

extern "C" int pac_abi_version(void) { return PAC_ABI_VERSION; }
