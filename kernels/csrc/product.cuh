// A block's part of a matrix product, the core of PAC, of its gradients and of the mean-field step:
//
//     sums (channels x pixels of a tile)  +=  weights (channels x depth)  values (depth x pixels)
//
// A block is (32, groups) threads, a warp per group. Group g sums channels 8 g ... 8 g + 7, its lane l
// the pixels of column l: 8 x 8 sums in registers per thread. For one step of depth a thread reads 8
// weights (two 16-byte broadcasts of shared memory) and 8 values (conflict-free) for 64 multiply-adds,
// so that the arithmetic and not shared memory sets the pace: 10 against 16 cycles of an SM with 128
// lanes. (With 8 x 4 sums, as in mean_field.cu, 6 against 8.)
#pragma once

#include "tiles.cuh"

namespace pac {

constexpr int kDepth = 8;     // rows of values staged at a time
constexpr int kChannels = 8;  // summed by a thread
constexpr int kMaxGroups = 8;
constexpr int kBlockChannels = kChannels * kMaxGroups;
// A row of weights is 4 floats longer than it need be: so a warp writes them without bank conflicts.
constexpr int kWeightPitch = kBlockChannels + 4;

// How channels are shared out: blocks of `groups` x kChannels, the same for all but the last.
struct ChannelSplit {
  int chunks, groups;

  explicit ChannelSplit(int64_t channels) : chunks(int(ceil_divide(channels, kBlockChannels))) {
    groups = int(ceil_divide(ceil_divide(channels, chunks), kChannels));
  }
  dim3 block() const { return dim3(kTileX, groups); }
  // The first channel of a group in a chunk.
  __device__ int first(int chunk, int group) const { return (chunk * groups + group) * kChannels; }
};

// A thread's sums of kChannels channels of its group, of kRows pixels of its column from `row` on.
template <int kRows>
struct Sums {
  float at[kChannels][kRows];

  __device__ void clear() {
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
#pragma unroll
      for (int r = 0; r < kRows; ++r) at[c][r] = 0.0f;
  }

  __device__ void add(const float (*weights)[kWeightPitch], const float (*values)[kTilePixels],
                      int depth, int group, int row) {
    const int pixel = row * kTileX + threadIdx.x;
#pragma unroll 2
    for (int d = 0; d < depth; ++d) {
      const float4* w4 = reinterpret_cast<const float4*>(&weights[d][group * kChannels]);
      const float4 low = w4[0], high = w4[1];
      const float w[kChannels] = {low.x,  low.y,  low.z,  low.w,
                                  high.x, high.y, high.z, high.w};
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const float v = values[d][pixel + r * kTileX];
#pragma unroll
        for (int c = 0; c < kChannels; ++c) at[c][r] = fmaf(w[c], v, at[c][r]);
      }
    }
  }
};

// The filters of a tap as a matrix that is multiplied from the left.
template <class T>
struct FilterMatrix {
  const T* data;  // of the first tap; taps are adjacent
  int64_t row_stride, column_stride;
  int rows;
};

// The weights of a group's channels, from `row` on, and of `depth` columns; by one warp.
template <class T>
__device__ void stage_weights(float (*weights)[kWeightPitch], const FilterMatrix<T>& filters, int tap,
                              int group, int row, int column, int depth) {
  const int lane = threadIdx.x, d = lane % kDepth;
  if (d >= depth) return;
  const T* from = filters.data + tap + (column + d) * filters.column_stride;
#pragma unroll
  for (int c = lane / kDepth; c < kChannels; c += kTileX / kDepth)
    weights[d][group * kChannels + c] =
        row + c < filters.rows ? to_float(from[(row + c) * filters.row_stride]) : 0.0f;
}

// Calls f(d, row) for each of this warp's share of `depth` rows of values, kTileY rows of pixels each.
template <class Function>
__device__ void for_staged_rows(int depth, Function f) {
  for (int n = threadIdx.y; n < depth * kTileY; n += blockDim.y) f(n / kTileY, n % kTileY);
}

}  // namespace pac
