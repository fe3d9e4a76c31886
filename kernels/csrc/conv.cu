// PAC and the gradient of its input,
//
//     output_i     = sum over taps a:  K_a(i) W_a   input_j + b      j the pixel that i sees through a
//     grad_input_j = sum over taps a:  K_a(i) W_a^T grad_output_i    i the pixels that see j through a
//
// which are one sum over source pixels; PAC's transposed form only sees other ones.
//
// Grid: a block per tile of 32 x 8 target pixels and up to 64 target channels, in strides of the
// grid. Tap by tap, K of the tile is read, or computed from the guide, once for all channels of the
// block; then, 8 source channels at a time, the values K_a(i) input_j and the filters W_a are staged
// in shared memory and multiplied (product.cuh). Nothing is unfolded, nothing is kept in global
// memory.
//
// Resources, at most (shared memory in bytes, blocks per SM of 64 KiB of it or more):
//     kernel                            threads  registers  static  dynamic  blocks
//     conv_tiles                            256        128   11392    16384       2
//     conv_grad_input_channels              256         80    2176        0       3
//
// Roofline, for a message of the paper's PAC-CRF (500 x 375 pixels, 21 labels, 5x5 taps, a guide of
// 3 channels): 4.2 GFLOP and at least 34 MB of memory traffic, 125 FLOP per byte, bound by
// arithmetic. In ms (see cuda.cuh): V100 0.270, A100 0.217, H100 0.063, RTX 4090 0.051. 21 channels
// fill 24 sums, which is 14 % more; tensor cores are not used. The paper's PAC-CRF with one such
// message takes 39 ms for 5 steps, 7.8 ms a step (its Tab. 3, on a GPU that it does not name).
#include "kernel_source.cuh"
#include "product.cuh"

namespace pac {
namespace {

template <class T>
struct Conv {
  Gather gather;
  ChannelSplit split;       // of the target channels
  int64_t tiles;            // tiles of pixels x chunks of channels
  int source_channels;
  const T* source;          // (batch, source_channels, source pixels)
  FilterMatrix<T> filters;  // target_channels x source_channels, of the first tap
  const T* bias;            // (target_channels) or null
  T* target;                // (batch, target_channels, target pixels)
  KernelSource<T> kernel;
};

template <class T>
__global__ void __launch_bounds__(kTileX* kMaxGroups, 2) conv_tiles(const Conv<T> p) {
  PAC_SHARED(float, weights, [kDepth][kWeightPitch]);
  PAC_SHARED(float, values, [kDepth][kTilePixels]);
  PAC_SHARED(float, shared_kernel, [kTilePixels]);
  PAC_DYNAMIC_SHARED(halo);
  const Gather& gather = p.gather;
  const int lane = threadIdx.x, group = threadIdx.y, channels = p.filters.rows;
  const int64_t sources = gather.source_pixels(), targets = gather.target_pixels();
  const bool is_shared = p.kernel.channels == 1;

  for (int64_t index = blockIdx.x; index < p.tiles; index += gridDim.x) {
    const Tile tile = gather.tile(index / p.split.chunks);
    const int channel = p.split.first(int(index % p.split.chunks), group);
    const bool summing = channel < channels;  // a group of the last chunk may have none
    const T* image = p.source + tile.entry * p.source_channels * sources;
    const KernelTile<T> kernel(p.kernel, gather, tile, halo);
    Sums<kTileY> sums;
    sums.clear();

    for (int tap = 0; tap < gather.taps(); ++tap) {
      Tap seen;
      if (!gather.locate(tile, tap, &seen)) continue;
      if (is_shared)
        for (int row = group; row < kTileY; row += blockDim.y)
          shared_kernel[row * kTileX + lane] = kernel.at(seen, tap, row, lane);

      for (int first = 0; first < p.source_channels; first += kDepth) {
        const int depth = min(kDepth, p.source_channels - first);
        __syncthreads();  // K is there, and the last values have been used
        for_staged_rows(depth, [&](int d, int row) {
          const int64_t from = gather.source(seen, row, lane);
          float value = 0.0f;
          if (from >= 0)
            value = to_float(image[(first + d) * sources + from]) *
                    (is_shared ? shared_kernel[row * kTileX + lane]
                               : kernel.at(seen, tap, row, lane, first + d));
          values[d][row * kTileX + lane] = value;
        });
        if (summing) stage_weights(weights, p.filters, tap, group, channel, first, depth);
        __syncthreads();  // values and weights are there
        if (summing) sums.add(weights, values, depth, group, 0);
      }
    }

    if (!summing) continue;
#pragma unroll
    for (int row = 0; row < kTileY; ++row) {
      const int64_t to = gather.target(tile, row, lane);
      if (to < 0) continue;
#pragma unroll
      for (int c = 0; c < kChannels; ++c) {
        if (channel + c >= channels) break;
        const float bias = p.bias ? to_float(p.bias[channel + c]) : 0.0f;
        store(p.target + (tile.entry * channels + channel + c) * targets + to,
              sums.at[c][row] + bias);
      }
    }
  }
}

// The gradient of the input where each of its channels has a K of its own: K scales the products W_a^T
// grad_output then, and not the values. A thread sums 8 channels of one pixel.
template <class T>
__global__ void __launch_bounds__(kTilePixels, 3) conv_grad_input_channels(const Conv<T> p) {
  PAC_SHARED(float, weights, [kDepth][kWeightPitch]);
  const Gather& gather = p.gather;
  const int lane = threadIdx.x, row = threadIdx.y, channels = p.filters.rows;
  const int chunks = int(ceil_divide(channels, kChannels));
  const int64_t sources = gather.source_pixels(), targets = gather.target_pixels();

  for (int64_t index = blockIdx.x; index < p.tiles; index += gridDim.x) {
    const Tile tile = gather.tile(index / chunks);
    const int channel = int(index % chunks) * kChannels;
    const T* image = p.source + tile.entry * p.source_channels * sources;
    const KernelTile<T> kernel(p.kernel, gather, tile, nullptr);
    float sums[kChannels] = {};

    for (int tap = 0; tap < gather.taps(); ++tap) {
      Tap seen;
      if (!gather.locate(tile, tap, &seen)) continue;
      const int64_t from = gather.source(seen, row, lane);
      float products[kChannels] = {};
      for (int first = 0; first < p.source_channels; first += kDepth) {
        const int depth = min(kDepth, p.source_channels - first);
        __syncthreads();  // the last weights have been used
        if (row == 0) stage_weights(weights, p.filters, tap, 0, channel, first, depth);
        __syncthreads();  // the weights are there
        for (int d = 0; d < depth && from >= 0; ++d) {
          const float value = to_float(image[(first + d) * sources + from]);
#pragma unroll
          for (int c = 0; c < kChannels; ++c) products[c] = fmaf(weights[d][c], value, products[c]);
        }
      }
#pragma unroll
      for (int c = 0; c < kChannels; ++c)
        if (channel + c < channels)
          sums[c] = fmaf(kernel.at(seen, tap, row, lane, channel + c), products[c], sums[c]);
    }

    const int64_t to = gather.target(tile, row, lane);
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
      if (to >= 0 && channel + c < channels)
        store(p.target + (tile.entry * channels + channel + c) * targets + to, sums[c]);
  }
}

template <class T>
int launch(const Conv<T>& p, void* stream) {
  if (p.tiles == 0) return 0;
  const size_t halo = p.kernel.halo_bytes();
  return PAC_LAUNCH(conv_tiles<T>, blocks(p.tiles), p.split.block(), halo, stream, p);
}

template <class T>
int conv(const PacShape& s, const PacGuide* guide, const T* kernel, const T* input, const T* weight,
         const T* bias, T* output, void* stream) {
  if (!fits(s, guide)) return refused("pac_cuda_conv", kTooLarge);
  const Gather gather = output_from_input(s.y, s.x);
  const ChannelSplit split(s.out_channels);
  const FilterMatrix<T> filters{weight, s.weight_out_stride, s.weight_in_stride, int(s.out_channels)};
  return launch<T>({gather, split, s.batch * gather.tiles() * split.chunks, int(s.in_channels), input,
                    filters, bias, output,
                    KernelSource<T>::forward(kernel, s.kernel_channels, guide, gather)},
                   stream);
}

template <class T>
int conv_grad_input(const PacShape& s, const T* kernel, const T* grad_output, const T* weight,
                    T* grad_input, void* stream) {
  if (!fits(s)) return refused("pac_cuda_conv_grad_input", kTooLarge);
  const Gather gather = input_from_output(s.y, s.x);
  const ChannelSplit split(s.in_channels);
  const FilterMatrix<T> filters{weight, s.weight_in_stride, s.weight_out_stride, int(s.in_channels)};
  Conv<T> p{gather, split, s.batch * gather.tiles() * split.chunks, int(s.out_channels), grad_output,
            filters, nullptr, grad_input, KernelSource<T>::backward(kernel, s.kernel_channels)};
  if (s.kernel_channels == 1) return launch(p, stream);
  p.tiles = s.batch * gather.tiles() * ceil_divide(s.in_channels, kChannels);
  if (p.tiles == 0) return 0;
  return PAC_LAUNCH(conv_grad_input_channels<T>, blocks(p.tiles), dim3(kTileX, kTileY), 0, stream, p);
}

}  // namespace
}  // namespace pac

PAC_CUDA_DEFINE(conv,
                (const PacShape* s, const PacGuide* guide, PacArray kernel, PacArray input,
                 PacArray weight, PacArray bias, PacArray output, void* stream),
                *s, guide, kernel, input, weight, bias, output, stream)
PAC_CUDA_DEFINE(conv_grad_input,
                (const PacShape* s, PacArray kernel, PacArray grad_output, PacArray weight,
                 PacArray grad_input, void* stream),
                *s, kernel, grad_output, weight, grad_input, stream)
