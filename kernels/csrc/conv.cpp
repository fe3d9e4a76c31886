// PAC and the gradient of its input, one gathering sum:
//
//     output_i     = sum over taps a:  W_a   (K_a(i) input_j)         j the pixel that i sees through a
//     grad_input_j = sum over taps a:  W_a^T (K_a(i) grad_output_i)   i the pixels that see j through a
//
// Work: each thread takes tiles (kTile pixels of one target row). For a tile, the source pixels of
// tap after tap are scaled by K into a panel of kDepth rows that stays in cache; a full panel is
// multiplied by the packed filters into the tile's sums. K is read where it is given, or computed
// for the tile from the guide and never stored. Filters too large for the cache would be fetched
// again for every tile: then a thread takes several tiles, whose panels fill in step and meet the
// same part of the filters one after the other.
#include <omp.h>

#include "adapting_kernel.h"
#include "multiply.h"
#include "rows.h"
#include "scratch.h"
#include "subnormal.h"

namespace pac {
namespace {

constexpr int64_t kDepth = 128;
constexpr int64_t kMostTogether = 8;  // tiles
// Of a second-level cache: filters that stay in it, and what tiles taken together may use of it.
constexpr int64_t kFilterBytes = 1 << 20, kTogetherBytes = 1 << 19;

// The rows of a panel, and the columns of the filters they meet.
template <class T>
class Panel {
 public:
  void begin(T* rows, T* sums, int64_t vectors) {
    rows_ = rows;
    sums_ = sums;
    vectors_ = vectors;
    depth_ = n_segments_ = 0;
  }
  T* append(int64_t column, int64_t depth) {
    T* at = rows_ + depth_ * kTile<T>;
    segments_[n_segments_++] = {column, depth};
    depth_ += depth;
    return at;
  }
  void flush(const PackedWeight<T>& weight) {
    weight.multiply(segments_, n_segments_, rows_, sums_, vectors_);
    depth_ = n_segments_ = 0;
  }

 private:
  T *rows_, *sums_;
  int64_t vectors_, depth_, n_segments_;
  Segment segments_[kDepth];
};

// K as given, (batch, channels x taps, output pixels), or computed from a guide.
template <class T>
struct KernelSource {
  Planes<T> given;
  int64_t channels;
  bool at_source;         // whether the output pixels are the gather's source, or its target
  const PacGuide* guide;  // or null
};

// What one thread works with, rows of kTile elements.
template <class T>
struct Workspace {
  T *panel, *sums, *products, *k, *centre;

  Workspace() = default;
  Workspace(T* block, int64_t target_channels)
      : panel(block), sums(panel + kDepth * kTile<T>), products(sums + target_channels * kTile<T>),
        k(products + target_channels * kTile<T>), centre(k + kTile<T>) {}
  static int64_t size(int64_t target_channels, int64_t guide_channels) {
    return (kDepth + 2 * target_channels + 1 + guide_channels) * kTile<T>;
  }
};

// A tile in work: what it sees through the tap that is being added, and the K of that.
template <class T>
struct TileSum {
  Tile tile;
  Workspace<T> work;
  Panel<T> panel;
  Span span;
  const T* k;
};

template <class T>
class GatherSum {
 public:
  GatherSum(const Gather& gather, const Planes<T>& source, const KernelSource<T>& kernel,
            const PackedWeight<T>& weight, const T* bias, T* target, int64_t target_channels)
      : gather_(gather), source_(source), kernel_(kernel), weight_(weight), bias_(bias),
        target_(target), target_channels_(target_channels), by_channel_(kernel.channels > 1),
        scale_products_(by_channel_ && kernel.at_source) {}

  int run(int64_t n_threads) const {
    const Tiles tiles(source_.batch, gather_, kTile<T>);
    const int64_t guide_channels = kernel_.guide ? kernel_.guide->channels : 0;
    const int64_t size = Workspace<T>::size(target_channels_, guide_channels);
    const int64_t together = tiles_together(tiles.count(), n_threads);
    const PerThread<T> blocks(n_threads, together * size);
    if (blocks.failed()) return 1;
    const int64_t groups = ceil_divide(tiles.count(), together);
    const int64_t in_turn = together > 1 ? 1 : tiles.per_row();
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, in_turn)
    for (int64_t group = 0; group < groups; ++group) {
      const FlushSubnormals flush;
      TileSum<T> sums[kMostTogether];
      const int64_t first = group * together, n = smaller(together, tiles.count() - first);
      for (int64_t t = 0; t < n; ++t) {
        sums[t].tile = tiles[first + t];
        sums[t].work = Workspace<T>(blocks[omp_get_thread_num()] + t * size, target_channels_);
      }
      sum_tiles(sums, n);
    }
    return 0;
  }

 private:
  // How many tiles share a pass over the filters; every thread is to have a few such groups.
  int64_t tiles_together(int64_t tiles, int64_t n_threads) const {
    if (by_channel_ || weight_.bytes() <= kFilterBytes) return 1;
    const int64_t tile_bytes = (kDepth + target_channels_) * kTile<T> * int64_t(sizeof(T));
    const int64_t most = smaller(kTogetherBytes / tile_bytes, tiles / (4 * n_threads));
    return larger(1, smaller(kMostTogether, most));
  }

  void sum_tiles(TileSum<T>* sums, int64_t n) const {
    for (int64_t t = 0; t < n; ++t) begin(sums[t]);
    int64_t depth = 0;  // of the fullest panel: a tile at a border may see less
    for (int64_t tap = 0; tap < gather_.taps(); ++tap) {
      bool seen = false;
      for (int64_t t = 0; t < n; ++t) seen |= look(sums[t], tap);
      if (!seen) continue;
      if (scale_products_) {
        add_scaled_products(sums[0]);
        continue;
      }
      for (int64_t c = 0; c < source_.channels;) {
        const int64_t some = by_channel_ ? 1 : smaller(source_.channels - c, kDepth - depth);
        for (int64_t t = 0; t < n; ++t)
          if (!sums[t].span.empty()) append(sums[t], kernel_row_of(sums[t], c), c, some);
        c += some;
        depth += some;
        if (depth == kDepth) {
          multiply(sums, n);
          depth = 0;
        }
      }
    }
    multiply(sums, n);
    for (int64_t t = 0; t < n; ++t) write(sums[t]);
  }

  void begin(TileSum<T>& sum) const {
    const Workspace<T>& work = sum.work;
    for (int64_t c = 0; c < target_channels_; ++c)
      for (int64_t p = 0; p < kTile<T>; ++p)
        work.sums[c * kTile<T> + p] = bias_ ? bias_[c] : T(0);
    if (kernel_.guide) copy_centre(work.centre, features(sum.tile), sum.tile);
    sum.panel.begin(work.panel, scale_products_ ? work.products : work.sums,
                    ceil_divide(sum.tile.count, kLanes<T>));
  }

  // Turns to a tap; whether the tile sees anything through it.
  bool look(TileSum<T>& sum, int64_t tap) const {
    const Tile tile = sum.tile;  // a copy, which the rows that are written cannot alias
    sum.span = gather_.span(tile, tap);
    if (sum.span.empty()) return false;
    sum.k = sum.work.k;
    if (kernel_.guide)
      kernel_row(sum.work.k, sum.work.centre, features(tile), tile, tap);
    else if (!by_channel_)
      sum.k = given_row(sum, 0);
    return true;
  }

  const T* kernel_row_of(const TileSum<T>& sum, int64_t channel) const {
    return by_channel_ ? given_row(sum, channel) : sum.k;
  }

  void multiply(TileSum<T>* sums, int64_t n) const {
    for (int64_t t = 0; t < n; ++t) sums[t].panel.flush(weight_);
  }

  // A K per input channel scales what is multiplied in PAC itself, but the products in the gradient
  // of the input: there a tap is multiplied alone, and its products are scaled after.
  void add_scaled_products(TileSum<T>& sum) const {
    const Workspace<T>& work = sum.work;
    for (int64_t e = 0; e < target_channels_ * kTile<T>; ++e) work.products[e] = 0;
    for (int64_t p = 0; p < kTile<T>; ++p) work.k[p] = 1;
    for (int64_t c = 0; c < source_.channels; c += kDepth) {
      append(sum, work.k, c, smaller(source_.channels - c, kDepth));
      multiply(&sum, 1);
    }
    for (int64_t c = 0; c < target_channels_; ++c) {
      const T* k = given_row(sum, c);
      for (int64_t p = sum.span.begin; p < sum.span.end; ++p)
        work.sums[c * kTile<T> + p] += k[p] * work.products[c * kTile<T> + p];
    }
  }

  // Puts n channels of what the tap sees, times K, into the panel.
  void append(TileSum<T>& sum, const T* k, int64_t channel, int64_t n) const {
    scale_rows(sum.panel.append(sum.span.tap * source_.channels + channel, n), k, source_,
               sum.tile.batch, channel, n, sum.span, gather_.advance(sum.tile));
  }

  void write(const TileSum<T>& sum) const {
    const Tile& tile = sum.tile;
    for (int64_t c = 0; c < target_channels_; ++c)
      write_row(target_ + (tile.batch * target_channels_ + c) * gather_.target_pixels() +
                    gather_.target(tile),
                sum.work.sums + c * kTile<T>, tile);
  }

  const T* given_row(const TileSum<T>& sum, int64_t channel) const {
    const Tile& tile = sum.tile;
    return row_of(kernel_.given, tile.batch, channel * gather_.taps() + sum.span.tap,
                  kernel_.at_source ? sum.span.source : gather_.target(tile),
                  kernel_.at_source ? gather_.advance(tile) : tile.step, sum.span, true,
                  sum.work.k);
  }

  Features<T> features(const Tile& tile) const {
    return Features<T>(*kernel_.guide, source_.batch, tile.batch);
  }

  Gather gather_;
  Planes<T> source_;
  KernelSource<T> kernel_;
  const PackedWeight<T>& weight_;
  const T* bias_;
  T* target_;
  int64_t target_channels_;
  bool by_channel_, scale_products_;
};

template <class T>
int pac_conv(const PacShape& s, const PacGuide* guide, const T* kernel, const T* input,
             const T* weight, const T* bias, T* output) {
  const Gather gather = output_from_input(s.y, s.x);
  const int64_t taps = gather.taps();
  const Scratch<T> packed(PackedWeight<T>::size(s.out_channels, taps, s.in_channels));
  if (packed.failed()) return 1;
  const PackedWeight<T> filters(packed.data(), weight, s.out_channels, s.weight_out_stride, taps,
                                s.in_channels, s.weight_in_stride, s.n_threads);
  const KernelSource<T> k{{kernel, s.batch, s.kernel_channels * taps, gather.target_pixels()},
                          s.kernel_channels, false, guide};
  const Planes<T> images{input, s.batch, s.in_channels, gather.source_pixels()};
  return GatherSum<T>(gather, images, k, filters, bias, output, s.out_channels).run(s.n_threads);
}

template <class T>
int pac_conv_grad_input(const PacShape& s, const T* kernel, const T* grad_output, const T* weight,
                        T* grad_input) {
  const Gather gather = input_from_output(s.y, s.x);
  const int64_t taps = gather.taps();
  const Scratch<T> packed(PackedWeight<T>::size(s.in_channels, taps, s.out_channels));
  if (packed.failed()) return 1;
  const PackedWeight<T> filters(packed.data(), weight, s.in_channels, s.weight_in_stride, taps,
                                s.out_channels, s.weight_out_stride, s.n_threads);
  const KernelSource<T> k{{kernel, s.batch, s.kernel_channels * taps, gather.source_pixels()},
                          s.kernel_channels, true, nullptr};
  const Planes<T> gradients{grad_output, s.batch, s.out_channels, gather.source_pixels()};
  return GatherSum<T>(gather, gradients, k, filters, nullptr, grad_input, s.in_channels)
      .run(s.n_threads);
}

}  // namespace
}  // namespace pac

PAC_DEFINE(pac_conv,
           (const PacShape* s, const PacGuide* guide, PacArray kernel, PacArray input,
            PacArray weight, PacArray bias, PacArray output),
           *s, guide, kernel, input, weight, bias, output)
PAC_DEFINE(pac_conv_grad_input,
           (const PacShape* s, PacArray kernel, PacArray grad_output, PacArray weight,
            PacArray grad_input),
           *s, kernel, grad_output, weight, grad_input)
