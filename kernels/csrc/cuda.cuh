// What every kernel file needs of its platform: nvcc, or g++ with the emulation of kernels/emulation,
// which runs the same sources in tests on machines that have no GPU.
//
// Each kernel file opens with its equation, how the grid covers the work, what it takes of an SM (which
// tests hold it to) and the roofline: the time in which a GPU can at best do so much arithmetic in FP32
// and move so much memory, by its data sheet,
//     V100 SXM2 15.7 TFLOP/s, 0.90 TB/s      A100 SXM 80 GB 19.5 TFLOP/s, 2.04 TB/s
//     H100 SXM  67   TFLOP/s, 3.35 TB/s      RTX 4090       82.6 TFLOP/s, 1.01 TB/s
#pragma once

#include "pac_cuda.h"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// An array in a block's shared memory: PAC_SHARED(float, sums, [4][32]).
#define PAC_SHARED(type, name, extents) __shared__ __align__(16) type name extents
// Shared memory whose size the launch gives.
#define PAC_DYNAMIC_SHARED(name) extern __shared__ __align__(16) float name[]
// Launches a kernel; 0, or 1 with the text of pac_cuda_last_error() set.
#define PAC_LAUNCH(kernel, grid, block, shared, stream, ...)                               \
  [&] {                                                                                    \
    kernel<<<grid, block, shared, static_cast<cudaStream_t>(stream)>>>(__VA_ARGS__);       \
    return ::pac::launched(#kernel, grid, block, shared);                                  \
  }()
#else
#include "emulation.h"
#endif

// The most blocks that a grid gets: kernels go through their work in strides of the grid.
#ifndef PAC_MAX_BLOCKS
#define PAC_MAX_BLOCKS 0x7fffffff
#endif

namespace pac {

// Reports the launch of `kernel`: 0 if it went well.
int launched(const char* kernel, dim3 grid, dim3 block, size_t shared);
// Refuses a call for a reason that is no CUDA error; returns 1.
int refused(const char* function, const char* reason);

inline dim3 blocks(int64_t count) {
  return dim3(static_cast<unsigned>(count < PAC_MAX_BLOCKS ? count : PAC_MAX_BLOCKS));
}

inline __host__ __device__ int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline __device__ float to_float(float value) { return value; }
inline __device__ float to_float(__half value) { return __half2float(value); }
inline __device__ float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }

inline __device__ void store(float* to, float value) { *to = value; }
inline __device__ void store(__half* to, float value) { *to = __float2half(value); }
inline __device__ void store(__nv_bfloat16* to, float value) { *to = __float2bfloat16(value); }

}  // namespace pac

// Defines the entry points of an operator as calls of the template of the same name.
#define PAC_CUDA_DEFINE(name, parameters, ...)                                                   \
  extern "C" int pac_cuda_##name##_f32 parameters { return pac::name<float>(__VA_ARGS__); }      \
  extern "C" int pac_cuda_##name##_f16 parameters { return pac::name<__half>(__VA_ARGS__); }     \
  extern "C" int pac_cuda_##name##_bf16 parameters {                                             \
    return pac::name<__nv_bfloat16>(__VA_ARGS__);                                                \
  }
