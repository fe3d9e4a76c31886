// PAC channel by channel (pooling, or one spatial filter w for all channels) and the gradient of
// its input:
//
//     output_i     = sum over taps a:  w_a K_a(i) input_j         j the pixel that i sees through a
//     grad_input_j = sum over taps a:  w_a K_a(i) grad_output_i   i the pixels that see j through a
//
// Work: each thread takes tiles (kTile pixels of one target row). The rows w_a K_a of a tile are
// laid out once; then a block of channels at a time sums over all taps in registers. Source rows are
// read in place where all taps lie in the image. Elsewhere they are copied, with zeros around the
// image: where pixels are adjacent, once for all taps of a row of the window.
#include <omp.h>

#include "adapting_kernel.h"
#include "multiply.h"
#include "scratch.h"
#include "subnormal.h"

namespace pac {
namespace {

// What the pixels p of a tile see through its taps: tap i of channel c at rows[offsets[i] + c * pitch + p].
template <class T>
struct Sources {
  const T* rows;
  const int64_t* offsets;
  int64_t pitch;
};

// sums (kChannels x kTile) = sum over n taps of K x source, for `vectors` vectors of the tile.
template <class T, int kChannels>
void sum_taps(T* sums, const T* kernel, const Sources<T>& sources, int64_t n, int64_t vectors) {
  for (int64_t v = 0; v < vectors; ++v) {
    const int64_t p = v * kLanes<T>;
    const T* rows[kChannels];
    for (int c = 0; c < kChannels; ++c) rows[c] = sources.rows + c * sources.pitch + p;
    Vector<T> sum[kChannels] = {};
    for (int64_t i = 0; i < n; ++i) {
      const Vector<T> k = load(kernel + i * kTile<T> + p);
      const int64_t offset = sources.offsets[i];
#pragma GCC unroll 8
      for (int c = 0; c < kChannels; ++c) sum[c] += k * load(rows[c] + offset);
    }
#pragma GCC unroll 8
    for (int c = 0; c < kChannels; ++c) store<T>(sums + c * kTile<T> + p, sum[c]);
  }
}

template <class T, int kChannels = 1>
void sum_taps(int64_t channels, T* sums, const T* kernel, const Sources<T>& sources, int64_t n,
              int64_t vectors) {
  if constexpr (kChannels < kBlockRows)
    if (channels > kChannels)
      return sum_taps<T, kChannels + 1>(channels, sums, kernel, sources, n, vectors);
  sum_taps<T, kChannels>(sums, kernel, sources, n, vectors);
}

// The taps of one tile, and where their source pixels are found.
template <class T>
class TileSources {
 public:
  // Elements of `room` for a block of channels.
  static int64_t size(const Gather& gather) {
    return kBlockRows * larger(gather.taps() * kTile<T>, gather.y.taps * wide(gather));
  }

  TileSources(const Gather& gather, const Tile& tile, const Span* spans, int64_t n, T* room,
              int64_t* offsets)
      : gather_(gather), tile_(tile), spans_(spans), n_(n), room_(room), offsets_(offsets) {
    in_place_ = gather.advance(tile) == 1;
    for (int64_t i = 0; i < n && in_place_; ++i)
      in_place_ = spans[i].begin == 0 && spans[i].end == kTile<T>;
    // Taps far apart share no pixels of a tile.
    adjacent_ = gather.x.source_step == 1 && gather.x.target_step == 1 && apart(gather) <= kTile<T>;
    const int64_t first = smaller(0, (gather.x.taps - 1) * gather.x.tap_step);
    left_ = tile.x + gather.x.origin + first;
    for (int64_t i = 0; i < n; ++i) {
      if (in_place_)
        offsets[i] = spans[i].source;
      else if (adjacent_) {
        const int64_t tap_y = spans[i].tap / gather.x.taps, tap_x = spans[i].tap % gather.x.taps;
        offsets[i] = tap_y * wide(gather) + tap_x * gather.x.tap_step - first;
      } else
        offsets[i] = i * kTile<T>;
    }
  }

  // Of `channels` planes of the source.
  Sources<T> of(const T* planes, int64_t channels) const {
    const int64_t pixels = gather_.source_pixels();
    if (in_place_) return {planes, offsets_, pixels};
    const int64_t pitch = adjacent_ ? gather_.y.taps * wide(gather_) : gather_.taps() * kTile<T>;
    for (int64_t c = 0; c < channels; ++c, planes += pixels)
      if (adjacent_)
        copy_windows(room_ + c * pitch, planes);
      else
        for (int64_t i = 0; i < n_; ++i)
          copy_row(room_ + c * pitch + offsets_[i], planes + spans_[i].source,
                   gather_.advance(tile_), spans_[i].begin, spans_[i].end);
    return {room_, offsets_, pitch};
  }

 private:
  static int64_t apart(const Gather& gather) {
    return larger(gather.x.tap_step, -gather.x.tap_step);
  }
  // Pixels from the first to the last that a tile sees through a row of the window.
  static int64_t wide(const Gather& gather) {
    return kTile<T> + (gather.x.taps - 1) * smaller(apart(gather), kTile<T>);
  }

  // The rows of the source that the window meets.
  void copy_windows(T* to, const T* plane) const {
    const int64_t begin = smaller(wide(gather_), larger(0, -left_));
    const int64_t end = larger(begin, smaller(wide(gather_), gather_.x.source - left_));
    for (int64_t tap_y = 0; tap_y < gather_.y.taps; ++tap_y, to += wide(gather_)) {
      const int64_t source_y = gather_.source_row(tile_, tap_y);
      if (source_y < 0) continue;
      const T* from = plane + source_y * gather_.x.source + left_;
      for (int64_t x = 0; x < begin; ++x) to[x] = 0;
      for (int64_t x = begin; x < end; ++x) to[x] = from[x];
      for (int64_t x = end; x < wide(gather_); ++x) to[x] = 0;
    }
  }

  const Gather& gather_;
  const Tile& tile_;
  const Span* spans_;
  int64_t n_, left_;
  T* room_;
  int64_t* offsets_;
  bool in_place_, adjacent_;
};

template <class T>
int gather_sum(const PacShape& s, const Gather& gather, bool kernel_at_source,
               const PacGuide* guide, const T* kernel, const T* source, const T* weight,
               const T* bias, T* target) {
  const int64_t channels = s.in_channels, taps = gather.taps();
  const int64_t kernel_pixels = kernel_at_source ? gather.source_pixels() : gather.target_pixels();
  const PerThread<Span> span_lists(s.n_threads, taps);
  const PerThread<int64_t> offset_lists(s.n_threads, taps);
  const PerThread<T> kernel_rows(s.n_threads, taps * kTile<T>);
  const PerThread<T> feature_rows(s.n_threads, guide ? guide->channels * kTile<T> : 0);
  const PerThread<T> source_rows(s.n_threads, TileSources<T>::size(gather));
  if (span_lists.failed() || offset_lists.failed() || kernel_rows.failed() ||
      feature_rows.failed() || source_rows.failed())
    return 1;

  const Tiles tiles(s.batch, gather, kTile<T>);
  const RowBlocks blocks{channels};
#pragma omp parallel for num_threads(s.n_threads) schedule(dynamic, tiles.per_row())
  for (int64_t index = 0; index < tiles.count(); ++index) {
    const FlushSubnormals flush;
    const int thread = omp_get_thread_num();
    const Tile tile = tiles[index];
    Span* spans = span_lists[thread];
    T* k_rows = kernel_rows[thread];
    const int64_t n = gather.spans(tile, spans);

    if (guide) copy_centre(feature_rows[thread], Features<T>(*guide, s.batch, tile.batch), tile);
    for (int64_t i = 0; i < n; ++i) {
      T* row = k_rows + i * kTile<T>;
      const Span& span = spans[i];
      const T* plane = kernel + (tile.batch * taps + span.tap) * kernel_pixels;
      if (guide)
        kernel_row(row, feature_rows[thread], Features<T>(*guide, s.batch, tile.batch), tile, span.tap);
      else if (kernel_at_source)
        copy_row(row, plane + span.source, gather.advance(tile), span.begin, span.end);
      else
        copy_row(row, plane + gather.target(tile), tile.step, span.begin, span.end);
      if (weight)
        for (int64_t p = 0; p < kTile<T>; ++p) row[p] *= weight[span.tap];
    }

    const TileSources<T> sources(gather, tile, spans, n, source_rows[thread], offset_lists[thread]);
    for (int64_t b = 0; b < blocks.count(); ++b) {
      const int64_t first = tile.batch * channels + blocks.begin(b), some = blocks.size(b);
      T sums[kBlockRows * kTile<T>];
      sum_taps(some, sums, k_rows, sources.of(source + first * gather.source_pixels(), some), n,
               ceil_divide(tile.count, kLanes<T>));
      for (int64_t c = 0; c < some; ++c) {
        T* row = target + (first + c) * gather.target_pixels() + gather.target(tile);
        for (int64_t p = 0; p < tile.count; ++p)
          row[p * tile.step] = sums[c * kTile<T> + p] + (bias ? bias[blocks.begin(b) + c] : T(0));
      }
    }
  }
  return 0;
}

template <class T>
int pac_pool(const PacShape& s, const PacGuide* guide, const T* kernel, const T* input,
             const T* weight, const T* bias, T* output) {
  return gather_sum<T>(s, output_from_input(s.y, s.x), false, guide, kernel, input, weight, bias,
                       output);
}

template <class T>
int pac_pool_grad_input(const PacShape& s, const T* kernel, const T* grad_output, const T* weight,
                        T* grad_input) {
  return gather_sum<T>(s, input_from_output(s.y, s.x), true, nullptr, kernel, grad_output, weight,
                       nullptr, grad_input);
}

}  // namespace
}  // namespace pac

PAC_DEFINE(pac_pool,
           (const PacShape* s, const PacGuide* guide, PacArray kernel, PacArray input,
            PacArray weight, PacArray bias, PacArray output),
           *s, guide, kernel, input, weight, bias, output)
PAC_DEFINE(pac_pool_grad_input,
           (const PacShape* s, PacArray kernel, PacArray grad_output, PacArray weight,
            PacArray grad_input),
           *s, kernel, grad_output, weight, grad_input)
