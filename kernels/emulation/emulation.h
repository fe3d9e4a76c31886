// Runs CUDA kernels on the CPU, to test them: the part of CUDA that kernels/csrc/*.cu use, for g++.
//
// The threads of a block are fibers of one thread of the machine. Each runs until it reaches a barrier
// or its end, then the next one does, in an order that is drawn anew (pac_emulation_seed) for each
// stretch between two barriers; the blocks of a grid run in random order too. Shared memory is filled
// with NaN before each block. So a missing barrier lets a thread read what another has not yet written,
// or has overwritten; memory that was never written shows up as NaN in the result; and a barrier that
// not all threads reach is an error of the launch. Shared arrays are memory of their own on the heap,
// in which the address sanitizer finds an index out of bounds. To see that the tests notice, a barrier
// can be left out (pac_emulation_skip_barrier).
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <functional>

#include "half.h"

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct Index3 {
  int x, y, z;  // unsigned in CUDA; signed here, for signed comparisons as in the sources
};
struct alignas(16) float4 {
  float x, y, z, w;
};

// Of the fiber that runs.
extern Index3 threadIdx, blockIdx, blockDim, gridDim;

using std::max;
using std::min;

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidConfiguration = 9, cudaErrorLaunchFailure = 719 };
cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t);
const char* cudaGetErrorName(cudaError_t);

namespace pac_emulation {

// A shared array of the block that runs: filled with NaN before each block.
class Shared {
 public:
  explicit Shared(size_t bytes);
  void* data() const { return data_; }

 private:
  void* data_;
};

float* dynamic_shared();
void barrier(const char* file, int line);
void launch(dim3 grid, dim3 block, size_t shared, const std::function<void()>& kernel);

}  // namespace pac_emulation

#define __syncthreads() pac_emulation::barrier(__FILE__, __LINE__)

#define PAC_SHARED(type, name, extents)                        \
  auto& name = *[] {                                           \
    using Array = type extents;                                \
    static const pac_emulation::Shared memory(sizeof(Array));  \
    return static_cast<Array*>(memory.data());                 \
  }()
#define PAC_DYNAMIC_SHARED(name) float* name = pac_emulation::dynamic_shared()
#define PAC_LAUNCH(kernel, grid, block, shared, stream, ...)                              \
  [&] {                                                                                   \
    static_cast<void>(stream);                                                            \
    pac_emulation::launch(grid, block, shared, [&] { kernel(__VA_ARGS__); });             \
    return ::pac::launched(#kernel, grid, block, shared);                                 \
  }()
