// The gradient of PAC's adapting kernel,
//
//     grad_K_a(i) = input_j . (W_a^T grad_output_i),       j the pixel that i sees through tap a,
//
// channel by channel, and summed over the channels if they share one K.
//
// Grid: a block per tile of 32 x 8 output pixels, in strides of the grid. Tap by tap and for up to 64
// input channels at a time, the products W_a^T grad_output are summed in registers (product.cuh), 8
// output channels being staged in shared memory at a time; they are at once multiplied by the input,
// and the sums of the warps are added up through shared memory, in the order of the warps.
//
// Resources, at most (shared memory in bytes, blocks per SM of 64 KiB of it or more):
//     kernel                            threads  registers  static  dynamic  blocks
//     conv_grad_kernel_tiles                256        128   10368        0       2
//
// Roofline, for a message of the paper's PAC-CRF (500 x 375 pixels, 21 labels, 5x5 taps): 4.3 GFLOP
// and at least 50 MB of memory traffic, 86 FLOP per byte, bound by arithmetic. In ms (see
// cuda.cuh): V100 0.276, A100 0.222, H100 0.065, RTX 4090 0.052. The paper gives no times of
// training.
#include "product.cuh"

namespace pac {
namespace {

template <class T>
struct ConvGradKernel {
  Gather gather;
  ChannelSplit split;  // of the input channels
  int64_t tiles;
  int in_channels, out_channels, kernel_channels;
  const T *input, *grad_output;
  FilterMatrix<T> filters;  // in_channels x out_channels, of the first tap
  T* grad_kernel;           // (batch, kernel_channels, taps, output pixels)
};

// The sums of 8 channels, from `channel` on, of W_a^T grad_output_i, for the pixels of a tile.
template <class T>
__device__ void sum_products(Sums<kTileY>& sums, float (*weights)[kWeightPitch],
                             float (*values)[kTilePixels], const ConvGradKernel<T>& p,
                             const Tile& tile, int tap, int channel, bool summing) {
  const int64_t targets = p.gather.target_pixels();
  const T* gradient = p.grad_output + tile.entry * p.out_channels * targets;
  sums.clear();
  for (int first = 0; first < p.out_channels; first += kDepth) {
    const int depth = min(kDepth, p.out_channels - first);
    __syncthreads();  // the last values have been used
    for_staged_rows(depth, [&](int d, int row) {
      const int64_t at = p.gather.target(tile, row, threadIdx.x);
      values[d][row * kTileX + threadIdx.x] =
          at >= 0 ? to_float(gradient[(first + d) * targets + at]) : 0.0f;
    });
    if (summing) stage_weights(weights, p.filters, tap, threadIdx.y, channel, first, depth);
    __syncthreads();  // values and weights are there
    if (summing) sums.add(weights, values, depth, threadIdx.y, 0);
  }
}

template <class T>
__global__ void __launch_bounds__(kTileX* kMaxGroups, 2)
    conv_grad_kernel_tiles(const ConvGradKernel<T> p) {
  PAC_SHARED(float, weights, [kDepth][kWeightPitch]);
  PAC_SHARED(float, values, [kDepth][kTilePixels]);
  const Gather& gather = p.gather;
  const int lane = threadIdx.x, group = threadIdx.y;
  const int64_t sources = gather.source_pixels(), targets = gather.target_pixels();

  for (int64_t index = blockIdx.x; index < p.tiles; index += gridDim.x) {
    const Tile tile = gather.tile(index);
    const T* image = p.input + tile.entry * p.in_channels * sources;
    for (int tap = 0; tap < gather.taps(); ++tap) {
      T* gradient = p.grad_kernel + (tile.entry * p.kernel_channels * gather.taps() + tap) * targets;
      Tap seen;
      const bool located = gather.locate(tile, tap, &seen);
      float partial[kTileY] = {};  // of the products with the input, over this thread's channels
      for (int chunk = 0; chunk < p.split.chunks; ++chunk) {
        const int channel = p.split.first(chunk, group);
        const bool summing = channel < p.in_channels;  // a group of the last chunk may have none
        Sums<kTileY> sums;
        if (located) sum_products(sums, weights, values, p, tile, tap, channel, summing);
        if (!summing) continue;
#pragma unroll
        for (int row = 0; row < kTileY; ++row) {
          const int64_t from = located ? gather.source(seen, row, lane) : -1;
          const int64_t to = gather.target(tile, row, lane);
#pragma unroll
          for (int c = 0; c < kChannels; ++c) {
            if (channel + c >= p.in_channels) break;
            const float product =
                from >= 0 ? sums.at[c][row] * to_float(image[(channel + c) * sources + from]) : 0.0f;
            partial[row] += product;
            if (p.kernel_channels > 1 && to >= 0)
              store(gradient + (channel + c) * int64_t(gather.taps()) * targets + to, product);
          }
        }
      }
      if (p.kernel_channels > 1) continue;

      __syncthreads();  // the last values have been used
#pragma unroll
      for (int row = 0; row < kTileY; ++row) values[group][row * kTileX + lane] = partial[row];
      __syncthreads();  // the sums of all warps are there
      for (int row = group; row < kTileY; row += blockDim.y) {
        float sum = 0.0f;
        for (int g = 0; g < p.split.groups; ++g) sum += values[g][row * kTileX + lane];
        const int64_t to = gather.target(tile, row, lane);
        if (to >= 0) store(gradient + to, sum);
      }
    }
  }
}

template <class T>
int conv_grad_kernel(const PacShape& s, const T* input, const T* grad_output, const T* weight,
                     T* grad_kernel, void* stream) {
  if (!fits(s)) return refused("pac_cuda_conv_grad_kernel", kTooLarge);
  const Gather gather = output_from_input(s.y, s.x);
  const ChannelSplit split(s.in_channels);
  const FilterMatrix<T> filters{weight, s.weight_in_stride, s.weight_out_stride, int(s.in_channels)};
  const ConvGradKernel<T> p{gather,
                            split,
                            s.batch * gather.tiles(),
                            int(s.in_channels),
                            int(s.out_channels),
                            int(s.kernel_channels),
                            input,
                            grad_output,
                            filters,
                            grad_kernel};
  if (p.tiles == 0) return 0;
  return PAC_LAUNCH(conv_grad_kernel_tiles<T>, blocks(p.tiles), split.block(), 0, stream, p);
}

}  // namespace
}  // namespace pac

PAC_CUDA_DEFINE(conv_grad_kernel,
                (const PacShape* s, PacArray input, PacArray grad_output, PacArray weight,
                 PacArray grad_kernel, void* stream),
                *s, input, grad_output, weight, grad_kernel, stream)
