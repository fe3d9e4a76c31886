// Small matrix products on tiles held in cache, C += A B with
//     A rows x depth, its elements broadcast;   B depth x columns, its rows vectors of pixels.
//
// Rows are taken in blocks of at most kBlockRows and columns in blocks of at most kBlockVectors
// vectors: as many accumulators as the registers hold. Row blocks of a matrix differ in size by at
// most one (21 rows are 7 + 7 + 7, not 8 + 8 + 5).
#pragma once

#include "gather.h"

namespace pac {

// The rows of a matrix, cut into blocks.
struct RowBlocks {
  int64_t rows;
  int64_t count() const { return ceil_divide(rows, kBlockRows); }
  int64_t begin(int64_t block) const { return block * rows / count(); }
  int64_t size(int64_t block) const { return begin(block + 1) - begin(block); }
};

// `depth` consecutive rows of B that meet `depth` consecutive columns of A, from `column` on.
struct Segment {
  int64_t column, depth;
};

// Element (row, column) of A is at a[row * kRowStride + column * kColumnStride].
template <class T, int kRowStride, int kColumnStride, int kRows, int kVectors>
void multiply_block(const Segment* segments, int64_t n_segments, const T* a, const T* b,
                    int64_t b_pitch, T* c, int64_t c_pitch) {
  constexpr int kLane = kLanes<T>;
  Vector<T> sum[kRows][kVectors] = {};
  for (int64_t s = 0; s < n_segments; ++s) {
    const T* column = a + segments[s].column * kColumnStride;
    for (int64_t k = 0; k < segments[s].depth; ++k) {
      Vector<T> values[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) values[v] = load(b + v * kLane);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const Vector<T> factor = broadcast(column[r * kRowStride]);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) sum[r][v] += factor * values[v];
      }
      column += kColumnStride;
      b += b_pitch;
    }
  }

#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      T* at = c + r * c_pitch + v * kLane;
      store<T>(at, load(at) + sum[r][v]);
    }
}

// One block of up to kBlockRows rows times `vectors` vectors of columns.
template <class T, int kRowStride, int kColumnStride>
struct Multiply {
  using Block = void (*)(const Segment*, int64_t, const T*, const T*, int64_t, T*, int64_t);

  static void run(int64_t rows, int64_t vectors, const Segment* segments, int64_t n_segments,
                  const T* a, const T* b, int64_t b_pitch, T* c, int64_t c_pitch) {
    for (int64_t v = 0; v < vectors; v += kBlockVectors) {
      const int64_t wide = smaller(kBlockVectors, vectors - v);
      pick(rows, wide)(segments, n_segments, a, b + v * kLanes<T>, b_pitch, c + v * kLanes<T>,
                       c_pitch);
    }
  }

 private:
  template <int kRows = 1, int kVectors = 1>
  static Block pick(int64_t rows, int64_t vectors) {
    if constexpr (kRows < kBlockRows)
      if (rows > kRows) return pick<kRows + 1, kVectors>(rows, vectors);
    if constexpr (kVectors < kBlockVectors)
      if (vectors > kVectors) return pick<kRows, kVectors + 1>(rows, vectors);
    return multiply_block<T, kRowStride, kColumnStride, kRows, kVectors>;
  }
};

// Filters as the A of a product: a block of rows (channels that the product yields) has its
// columns (taps x channels that it sums over) adjacent, kBlockRows elements each.
template <class T>
class PackedWeight {
  static constexpr int64_t kSmallWeight = 1 << 18;  // bytes that one thread packs sooner than many

 public:
  using Product = Multiply<T, 1, kBlockRows>;

  static int64_t size(int64_t rows, int64_t taps, int64_t summed) {
    return RowBlocks{rows}.count() * taps * summed * kBlockRows;
  }

  // Element (row, tap, k) is at weight[row * row_stride + k * summed_stride + tap].
  PackedWeight(T* packed, const T* weight, int64_t rows, int64_t row_stride, int64_t taps,
               int64_t summed, int64_t summed_stride, int64_t n_threads)
      : packed_(packed), blocks_{rows}, block_size_(taps * summed * kBlockRows) {
#pragma omp parallel for num_threads(n_threads) if (bytes() > kSmallWeight)
    for (int64_t block = 0; block < blocks(); ++block)
      for (int64_t r = 0; r < blocks_.size(block); ++r) {
        const T* row = weight + (blocks_.begin(block) + r) * row_stride;
        T* column = packed + block * block_size_ + r;
        for (int64_t k = 0; k < summed; ++k)
          for (int64_t tap = 0; tap < taps; ++tap)
            column[(tap * summed + k) * kBlockRows] = row[k * summed_stride + tap];
      }
  }

  int64_t blocks() const { return blocks_.count(); }
  int64_t bytes() const { return blocks() * block_size_ * int64_t(sizeof(T)); }

  // c (rows x kTile) += filters x b (sum of depths x kTile), the first `vectors` of each row.
  void multiply(const Segment* segments, int64_t n_segments, const T* b, T* c,
                int64_t vectors) const {
    for (int64_t block = 0; block < blocks(); ++block)
      Product::run(blocks_.size(block), vectors, segments, n_segments,
                   packed_ + block * block_size_, b, kTile<T>,
                   c + blocks_.begin(block) * kTile<T>, kTile<T>);
  }

 private:
  const T* packed_;
  RowBlocks blocks_;
  int64_t block_size_;
};

}  // namespace pac
