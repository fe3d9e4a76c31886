// The gradient of the adapting kernel where PAC goes channel by channel,
//
//     grad_K_a(i) = w_a  sum over channels:  grad_output_i input_j,
//
// j the pixel that i sees through tap a.
//
// Grid: a block per tile of 32 x 8 output pixels and 5 taps, in strides of the grid; a thread per
// pixel. It reads grad_output of a channel once for its 5 taps, whose sums are in registers.
//
// Resources, at most (shared memory in bytes, blocks per SM of 64 KiB of it or more):
//     kernel                            threads  registers  static  dynamic  blocks
//     pool_grad_kernel_tiles                256         80       0        0       3
//
// Roofline, for 500 x 375 pixels, 21 channels and 5x5 taps: 197 MFLOP and at least 50 MB of memory
// traffic, 4 FLOP per byte, bound by memory. In ms (see cuda.cuh): V100 0.056, A100 0.025, H100
// 0.015, RTX 4090 0.050. The paper times no pooling.
#include "tiles.cuh"

namespace pac {
namespace {

constexpr int kTaps = 5;

template <class T>
struct PoolGradKernel {
  Gather gather;
  int channels;
  int64_t tiles;  // tiles of pixels x chunks of taps
  const T *input, *grad_output, *weight;  // weight (taps) or null for ones
  T* grad_kernel;                         // (batch, 1, taps, output pixels)
};

template <class T>
__global__ void __launch_bounds__(kTilePixels, 3) pool_grad_kernel_tiles(const PoolGradKernel<T> p) {
  const Gather& gather = p.gather;
  const int lane = threadIdx.x, row = threadIdx.y;
  const int64_t sources = gather.source_pixels(), targets = gather.target_pixels();
  const int chunks = int(ceil_divide(gather.taps(), kTaps));

  for (int64_t index = blockIdx.x; index < p.tiles; index += gridDim.x) {
    const Tile tile = gather.tile(index / chunks);
    const int first = int(index % chunks) * kTaps;
    const int64_t to = gather.target(tile, row, lane);
    if (to < 0) continue;
    const T* gradient = p.grad_output + tile.entry * p.channels * targets + to;
    const T* image = p.input + tile.entry * p.channels * sources;
    int64_t from[kTaps];
    float sums[kTaps] = {};
#pragma unroll
    for (int t = 0; t < kTaps; ++t) {
      Tap seen;
      const bool located = first + t < gather.taps() && gather.locate(tile, first + t, &seen);
      from[t] = located ? gather.source(seen, row, lane) : -1;
    }
#pragma unroll 2
    for (int c = 0; c < p.channels; ++c, gradient += targets, image += sources) {
      const float g = to_float(*gradient);
#pragma unroll
      for (int t = 0; t < kTaps; ++t)
        if (from[t] >= 0) sums[t] = fmaf(g, to_float(image[from[t]]), sums[t]);
    }
#pragma unroll
    for (int t = 0; t < kTaps; ++t) {
      if (first + t >= gather.taps()) break;
      const float w = p.weight ? to_float(p.weight[first + t]) : 1.0f;
      store(p.grad_kernel + (tile.entry * gather.taps() + first + t) * targets + to, w * sums[t]);
    }
  }
}

template <class T>
int pool_grad_kernel(const PacShape& s, const T* input, const T* grad_output, const T* weight,
                     T* grad_kernel, void* stream) {
  if (!fits(s)) return refused("pac_cuda_pool_grad_kernel", kTooLarge);
  const Gather gather = output_from_input(s.y, s.x);
  const int64_t tiles = s.batch * gather.tiles() * ceil_divide(gather.taps(), kTaps);
  if (tiles == 0) return 0;
  const PoolGradKernel<T> p{gather, int(s.in_channels), tiles, input, grad_output, weight, grad_kernel};
  return PAC_LAUNCH(pool_grad_kernel_tiles<T>, blocks(tiles), dim3(kTileX, kTileY), 0, stream, p);
}

}  // namespace
}  // namespace pac

PAC_CUDA_DEFINE(pool_grad_kernel,
                (const PacShape* s, PacArray input, PacArray grad_output, PacArray weight,
                 PacArray grad_kernel, void* stream),
                *s, input, grad_output, weight, grad_kernel, stream)
