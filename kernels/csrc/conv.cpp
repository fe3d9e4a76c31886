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

// sums[c] += K_c products[c] within the span, for a K per target channel; clears the products.
template <class T>
void add_scaled(T* sums, T* products, const KernelSource<T>& kernel, int64_t taps, const Tile& tile,
                const Span& span, int64_t advance, T* k_room) {
  for (int64_t c = 0; c < kernel.channels; ++c, sums += kTile<T>, products += kTile<T>) {
    const T* k = row_of(kernel.given, tile.batch, c * taps + span.tap, span.source, advance, span,
                        true, k_room);
    for (int64_t p = span.begin; p < span.end; ++p) sums[p] += k[p] * products[p];
    for (int64_t p = 0; p < kTile<T>; ++p) products[p] = 0;
  }
}

template <class T>
int gather_sum(int64_t n_threads, const Gather& gather, const Planes<T>& source,
               const KernelSource<T>& kernel, const PackedWeight<T>& weight, const T* bias,
               T* target, int64_t target_channels) {
  const int64_t channels = source.channels, taps = gather.taps();
  const PacGuide* guide = kernel.guide;
  const bool by_channel = kernel.channels > 1;
  // A K per input channel scales what is multiplied in PAC itself, but the products in the gradient
  // of its input: then each tap is multiplied by itself, and scaled after.
  const bool scale_products = by_channel && kernel.at_source;
  const Tiles tiles(source.batch, gather, kTile<T>);
  const PerThread<T> panels(n_threads, kDepth * kTile<T>);
  const PerThread<T> sum_rows(n_threads, target_channels * kTile<T>);
  const PerThread<T> product_rows(n_threads, scale_products ? target_channels * kTile<T> : 0);
  const PerThread<T> feature_rows(n_threads, ((guide ? guide->channels : 0) + 1) * kTile<T>);
  if (panels.failed() || sum_rows.failed() || product_rows.failed() || feature_rows.failed())
    return 1;
  T ones[kTile<T>];
  for (T& one : ones) one = 1;

#pragma omp parallel for num_threads(n_threads) schedule(dynamic, tiles.per_row())
  for (int64_t index = 0; index < tiles.count(); ++index) {
    const int thread = omp_get_thread_num();
    const Tile tile = tiles[index];
    const int64_t advance = gather.advance(tile);
    T* sums = sum_rows[thread];
    T* products = product_rows[thread];
    T* k_room = feature_rows[thread];
    T* centre = k_room + kTile<T>;

    for (int64_t c = 0; c < target_channels; ++c)
      for (int64_t p = 0; p < kTile<T>; ++p) {
        sums[c * kTile<T> + p] = bias ? bias[c] : T(0);
        if (scale_products) products[c * kTile<T> + p] = 0;
      }
    if (guide) copy_centre(centre, Features<T>(*guide, source.batch, tile.batch), tile);

    Panel<T> panel(panels[thread], weight, scale_products ? products : sums,
                   ceil_divide(tile.count, kLanes<T>));
    for (int64_t tap = 0; tap < taps; ++tap) {
      const Span span = gather.span(tile, tap);
      if (span.empty()) continue;
      const T* k = scale_products ? ones : k_room;
      if (guide)
        kernel_row(k_room, centre, Features<T>(*guide, source.batch, tile.batch), tile, tap);
      for (int64_t c = 0; c < channels;) {
        if (!guide && !scale_products && (c == 0 || by_channel))
          k = row_of(kernel.given, tile.batch, by_channel ? c * taps + tap : tap,
                     kernel.at_source ? span.source : gather.target(tile),
                     kernel.at_source ? advance : tile.step, span, true, k_room);
        const int64_t some =
            by_channel && !scale_products ? 1 : smaller(channels - c, panel.room());
        scale_rows(panel.append(tap * channels + c, some), k, source, tile.batch, c, some, span,
                   advance);
        if (panel.room() == 0) panel.flush();
        c += some;
      }
      if (scale_products) {
        panel.flush();
        add_scaled(sums, products, kernel, taps, tile, span, advance, k_room);
      }
    }
    panel.flush();

    for (int64_t c = 0; c < target_channels; ++c)
      write_row(target + (tile.batch * target_channels + c) * gather.target_pixels() +
                    gather.target(tile),
                sums + c * kTile<T>, tile);
  }
  return 0;
}

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
  return gather_sum<T>(s.n_threads, gather, {input, s.batch, s.in_channels, gather.source_pixels()},
                       k, filters, bias, output, s.out_channels);
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
  return gather_sum<T>(s.n_threads, gather,
                       {grad_output, s.batch, s.out_channels, gather.source_pixels()}, k, filters,
                       nullptr, grad_input, s.in_channels);
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
