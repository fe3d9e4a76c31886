// PAC and the gradient of its input, one gathering sum:
//
//     output_i     = sum over taps a:  W_a   (K_a(i) input_j)         j the pixel that i sees through a
//     grad_input_j = sum over taps a:  W_a^T (K_a(i) grad_output_i)   i the pixels that see j through a
//
// Work: each thread takes tiles (kTile pixels of one target row). For a tile, the source pixels of
// tap after tap are scaled by K into a panel of kDepth rows that stays in the first-level cache; a
// full panel is multiplied by the packed filters into the tile's sums. K is read where it is given,
// or computed for the tile from the guide and never stored.
#include <omp.h>

#include "adapting_kernel.h"
#include "multiply.h"
#include "rows.h"
#include "scratch.h"

namespace pac {
namespace {

constexpr int64_t kDepth = 128;

// The rows of a panel, and the columns of the filters they meet.
template <class T>
class Panel {
 public:
  Panel(T* rows, const PackedWeight<T>& weight, T* sums, int64_t vectors)
      : rows_(rows), weight_(weight), sums_(sums), vectors_(vectors) {}

  int64_t room() const { return kDepth - depth_; }
  T* append(int64_t column, int64_t depth) {
    T* at = rows_ + depth_ * kTile<T>;
    segments_[n_segments_++] = {column, depth};
    depth_ += depth;
    return at;
  }
  void flush() {
    weight_.multiply(segments_, n_segments_, rows_, sums_, vectors_);
    depth_ = n_segments_ = 0;
  }

 private:
  T* rows_;
  const PackedWeight<T>& weight_;
  T* sums_;
  int64_t vectors_, depth_ = 0, n_segments_ = 0;
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

  Workspace(T* block, int64_t target_channels)
      : panel(block), sums(panel + kDepth * kTile<T>), products(sums + target_channels * kTile<T>),
        k(products + target_channels * kTile<T>), centre(k + kTile<T>) {}
  static int64_t size(int64_t target_channels, int64_t guide_channels) {
    return (kDepth + 2 * target_channels + 1 + guide_channels) * kTile<T>;
  }
};

template <class T>
class GatherSum {
 public:
  GatherSum(const Gather& gather, const Planes<T>& source, const KernelSource<T>& kernel,
            const PackedWeight<T>& weight, const T* bias, T* target, int64_t target_channels)
      : gather_(gather), source_(source), kernel_(kernel), weight_(weight), bias_(bias),
        target_(target), target_channels_(target_channels),
        scale_products_(kernel.channels > 1 && kernel.at_source) {}

  int run(int64_t n_threads) const {
    const Tiles tiles(source_.batch, gather_, kTile<T>);
    const int64_t guide_channels = kernel_.guide ? kernel_.guide->channels : 0;
    const PerThread<T> blocks(n_threads, Workspace<T>::size(target_channels_, guide_channels));
    if (blocks.failed()) return 1;
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, tiles.per_row())
    for (int64_t index = 0; index < tiles.count(); ++index)
      sum_tile(tiles[index], Workspace<T>(blocks[omp_get_thread_num()], target_channels_));
    return 0;
  }

 private:
  void sum_tile(const Tile& tile, const Workspace<T>& work) const {
    for (int64_t c = 0; c < target_channels_; ++c)
      for (int64_t p = 0; p < kTile<T>; ++p)
        work.sums[c * kTile<T> + p] = bias_ ? bias_[c] : T(0);
    if (kernel_.guide) copy_centre(work.centre, features(tile), tile);

    Panel<T> panel(work.panel, weight_, scale_products_ ? work.products : work.sums,
                   ceil_divide(tile.count, kLanes<T>));
    for (int64_t tap = 0; tap < gather_.taps(); ++tap) {
      const Span span = gather_.span(tile, tap);
      if (span.empty()) continue;
      if (kernel_.guide) kernel_row(work.k, work.centre, features(tile), tile, tap);
      if (scale_products_)
        add_scaled_products(panel, tile, span, work);
      else
        append_scaled(panel, tile, span, work);
    }
    panel.flush();

    for (int64_t c = 0; c < target_channels_; ++c)
      write_row(target_ + (tile.batch * target_channels_ + c) * gather_.target_pixels() +
                    gather_.target(tile),
                work.sums + c * kTile<T>, tile);
  }

  // Puts the source pixels of a tap, times K, into the panel.
  void append_scaled(Panel<T>& panel, const Tile& tile, const Span& span,
                     const Workspace<T>& work) const {
    const bool by_channel = kernel_.channels > 1;
    const T* k = kernel_.guide ? work.k : given_row(tile, span, 0, work.k);
    for (int64_t c = 0; c < source_.channels;) {
      if (by_channel && c > 0) k = given_row(tile, span, c, work.k);
      const int64_t some = by_channel ? 1 : smaller(source_.channels - c, panel.room());
      append(panel, k, tile, span, c, some);
      c += some;
    }
  }

  // A K per input channel scales what is multiplied in PAC itself, but the products in the gradient
  // of the input: there a tap is multiplied alone, and its products are scaled after.
  void add_scaled_products(Panel<T>& panel, const Tile& tile, const Span& span,
                           const Workspace<T>& work) const {
    for (int64_t e = 0; e < target_channels_ * kTile<T>; ++e) work.products[e] = 0;
    for (int64_t p = 0; p < kTile<T>; ++p) work.k[p] = 1;
    for (int64_t c = 0; c < source_.channels;) {
      const int64_t some = smaller(source_.channels - c, panel.room());
      append(panel, work.k, tile, span, c, some);
      c += some;
    }
    panel.flush();
    for (int64_t c = 0; c < target_channels_; ++c) {
      const T* k = given_row(tile, span, c, work.k);
      for (int64_t p = span.begin; p < span.end; ++p)
        work.sums[c * kTile<T> + p] += k[p] * work.products[c * kTile<T> + p];
    }
  }

  void append(Panel<T>& panel, const T* k, const Tile& tile, const Span& span, int64_t channel,
              int64_t n) const {
    scale_rows(panel.append(span.tap * source_.channels + channel, n), k, source_, tile.batch,
               channel, n, span, gather_.advance(tile));
    if (panel.room() == 0) panel.flush();
  }

  const T* given_row(const Tile& tile, const Span& span, int64_t channel, T* room) const {
    return row_of(kernel_.given, tile.batch, channel * gather_.taps() + span.tap,
                  kernel_.at_source ? span.source : gather_.target(tile),
                  kernel_.at_source ? gather_.advance(tile) : tile.step, span, true, room);
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
  bool scale_products_;
};

template <class T>
int pac_conv(const PacShape& s, const PacGuide* guide, const T* kernel, const T* input,
             const T* weight, const T* bias, T* output) {
  const Gather gather = output_from_input(s.y, s.x);
  const int64_t taps = gather.taps();
  const Scratch<T> packed(PackedWeight<T>::size(s.out_channels, taps, s.in_channels));
  if (packed.failed()) return 1;
  const PackedWeight<T> filters(packed.data(), weight, s.out_channels, s.weight_out_stride, taps,
                                s.in_channels, s.weight_in_stride);
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
                                s.out_channels, s.weight_out_stride);
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
