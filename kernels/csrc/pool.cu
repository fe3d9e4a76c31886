// PAC channel by channel (pooling, or one spatial filter w for all channels) and the gradient of its
// input:
//
//     output_i     = sum over taps a:  w_a K_a(i) input_j + b      j the pixel that i sees through a
//     grad_input_j = sum over taps a:  w_a K_a(i) grad_output_i    i the pixels that see j through a
//
// Grid: a block per tile of 32 x 8 target pixels and 12 channels, in strides of the grid; a thread per
// pixel. It reads K of a tap, or computes it from the guide, once for its 12 channels, whose sums are
// in registers.
//
// Resources, at most (shared memory in bytes, blocks per SM of 64 KiB of it or more):
//     kernel                            threads  registers  static  dynamic  blocks
//     pool_tiles                            256         80       0    16384       3
//
// Roofline, for 500 x 375 pixels, 21 channels and 5x5 taps, K given: 197 MFLOP and at least 50 MB
// of memory traffic, 4 FLOP per byte, bound by memory. In ms (see cuda.cuh): V100 0.056, A100
// 0.025, H100 0.015, RTX 4090 0.050. The 25 reads of a value hit the caches but for the first. The
// paper times no pooling.
#include "kernel_source.cuh"

namespace pac {
namespace {

constexpr int kChannels = 12;

template <class T>
struct Pool {
  Gather gather;
  int channels;
  int64_t tiles;  // tiles of pixels x chunks of channels
  const T *source, *weight, *bias;  // weight (taps) or null for ones, bias (channels) or null
  T* target;
  KernelSource<T> kernel;
};

template <class T>
__global__ void __launch_bounds__(kTilePixels, 3) pool_tiles(const Pool<T> p) {
  PAC_DYNAMIC_SHARED(halo);
  const Gather& gather = p.gather;
  const int lane = threadIdx.x, row = threadIdx.y;
  const int64_t sources = gather.source_pixels(), targets = gather.target_pixels();
  const int chunks = int(ceil_divide(p.channels, kChannels));

  for (int64_t index = blockIdx.x; index < p.tiles; index += gridDim.x) {
    const Tile tile = gather.tile(index / chunks);
    const int channel = int(index % chunks) * kChannels;
    const int64_t plane = tile.entry * p.channels + channel;
    const KernelTile<T> kernel(p.kernel, gather, tile, halo);
    float sums[kChannels] = {};

    for (int tap = 0; tap < gather.taps(); ++tap) {
      Tap seen;
      if (!gather.locate(tile, tap, &seen)) continue;
      const int64_t from = gather.source(seen, row, lane);
      if (from < 0) continue;
      float k = kernel.at(seen, tap, row, lane);
      if (p.weight) k *= to_float(p.weight[tap]);
      const T* value = p.source + plane * sources + from;
#pragma unroll
      for (int c = 0; c < kChannels; ++c, value += sources)
        if (channel + c < p.channels) sums[c] = fmaf(k, to_float(*value), sums[c]);
    }
    if (p.kernel.from == KernelFrom::kGuide) __syncthreads();  // the halo has been used

    const int64_t to = gather.target(tile, row, lane);
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
      if (to < 0 || channel + c >= p.channels) break;
      const float bias = p.bias ? to_float(p.bias[channel + c]) : 0.0f;
      store(p.target + (plane + c) * targets + to, sums[c] + bias);
    }
  }
}

template <class T>
int launch(const PacShape& s, const Gather& gather, const T* source, const T* weight, const T* bias,
           T* target, const KernelSource<T>& kernel, void* stream) {
  const int64_t tiles = s.batch * gather.tiles() * ceil_divide(s.in_channels, kChannels);
  if (tiles == 0) return 0;
  const Pool<T> p{gather, int(s.in_channels), tiles, source, weight, bias, target, kernel};
  const dim3 block(kTileX, kTileY);
  return PAC_LAUNCH(pool_tiles<T>, blocks(tiles), block, kernel.halo_bytes(), stream, p);
}

template <class T>
int pool(const PacShape& s, const PacGuide* guide, const T* kernel, const T* input, const T* weight,
         const T* bias, T* output, void* stream) {
  if (!fits(s, guide)) return refused("pac_cuda_pool", kTooLarge);
  const Gather gather = output_from_input(s.y, s.x);
  return launch(s, gather, input, weight, bias, output,
                KernelSource<T>::forward(kernel, 1, guide, gather), stream);
}

template <class T>
int pool_grad_input(const PacShape& s, const T* kernel, const T* grad_output, const T* weight,
                    T* grad_input, void* stream) {
  if (!fits(s)) return refused("pac_cuda_pool_grad_input", kTooLarge);
  const T* no_bias = nullptr;
  return launch(s, input_from_output(s.y, s.x), grad_output, weight, no_bias, grad_input,
                KernelSource<T>::backward(kernel, 1), stream);
}

}  // namespace
}  // namespace pac

PAC_CUDA_DEFINE(pool,
                (const PacShape* s, const PacGuide* guide, PacArray kernel, PacArray input,
                 PacArray weight, PacArray bias, PacArray output, void* stream),
                *s, guide, kernel, input, weight, bias, output, stream)
PAC_CUDA_DEFINE(pool_grad_input,
                (const PacShape* s, PacArray kernel, PacArray grad_output, PacArray weight,
                 PacArray grad_input, void* stream),
                *s, kernel, grad_output, weight, grad_input, stream)
