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
#include "scratch.h"

namespace pac {
namespace {

constexpr int64_t kDepth = 128;

template <class T>
struct Images {
  const T* source;
  T* target;
  int64_t source_channels, target_channels;
};

// K as given: element (tap, output pixel) of a plane per kernel channel.
template <class T>
struct GivenKernel {
  const T* data;
  int64_t channels, taps, pixels;
  bool at_source;  // whether the output pixels are the gather's source, or its target

  KernelRow<T> row(const Gather& gather, const Tile& tile, const Span& span, int64_t channel) const {
    const int64_t plane = tile.batch * channels + (channels == 1 ? 0 : channel);
    const int64_t pixel = at_source ? span.source : gather.target(tile);
    return {data + (plane * taps + span.tap) * pixels + pixel,
            at_source ? gather.advance(tile) : tile.step};
  }
};

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

template <class T>
int gather_sum(int64_t n_threads, int64_t batch, const Gather& gather, const Images<T>& images,
               const GivenKernel<T>& kernel, const PacGuide* guide, const PackedWeight<T>& weight,
               const T* bias) {
  const int64_t channels = images.source_channels;
  const Tiles tiles(batch, gather, kTile<T>);
  const PerThread<Span> span_lists(n_threads, gather.taps());
  const PerThread<T> panels(n_threads, kDepth * kTile<T>);
  const PerThread<T> sum_rows(n_threads, images.target_channels * kTile<T>);
  const PerThread<T> feature_rows(n_threads, guide ? (guide->channels + 1) * kTile<T> : 0);
  if (span_lists.failed() || panels.failed() || sum_rows.failed() || feature_rows.failed()) return 1;

#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 4)
  for (int64_t index = 0; index < tiles.count(); ++index) {
    const int thread = omp_get_thread_num();
    const Tile tile = tiles[index];
    Span* spans = span_lists[thread];
    T* sums = sum_rows[thread];
    T* k_row = feature_rows[thread];
    T* centre = k_row + kTile<T>;

    for (int64_t c = 0; c < images.target_channels; ++c)
      for (int64_t p = 0; p < kTile<T>; ++p) sums[c * kTile<T> + p] = bias ? bias[c] : T(0);
    if (guide) copy_centre(centre, Features<T>(*guide, tile.batch), tile);

    const T* source = images.source + tile.batch * channels * gather.source_pixels();
    const int64_t advance = gather.advance(tile);
    Panel<T> panel(panels[thread], weight, sums, ceil_divide(tile.count, kLanes<T>));
    const int64_t n_spans = gather.spans(tile, spans);
    for (int64_t s = 0; s < n_spans; ++s) {
      const Span& span = spans[s];
      if (guide) kernel_row(k_row, centre, Features<T>(*guide, tile.batch), tile, span.tap);
      for (int64_t c = 0; c < channels;) {
        const int64_t some = smaller(channels - c, panel.room());
        T* row = panel.append(span.tap * channels + c, some);
        for (const int64_t end = c + some; c < end; ++c, row += kTile<T>) {
          const KernelRow<T> k = guide ? KernelRow<T>{k_row, 1} : kernel.row(gather, tile, span, c);
          scale_row(row, k, source + c * gather.source_pixels() + span.source, advance, span.begin,
                    span.end);
        }
        if (panel.room() == 0) panel.flush();
      }
    }
    panel.flush();

    T* target = images.target + tile.batch * images.target_channels * gather.target_pixels() +
                gather.target(tile);
    for (int64_t c = 0; c < images.target_channels; ++c)
      for (int64_t p = 0; p < tile.count; ++p)
        target[c * gather.target_pixels() + p * tile.step] = sums[c * kTile<T> + p];
  }
  return 0;
}

template <class T>
int pac_conv(const PacShape& s, const PacGuide* guide, const T* kernel, const T* input,
             const T* weight, const T* bias, T* output) {
  const Gather gather = output_from_input(s.y, s.x);
  const Scratch<T> packed(PackedWeight<T>::size(s.out_channels, gather.taps(), s.in_channels));
  if (packed.failed()) return 1;
  const PackedWeight<T> filters(packed.data(), weight, s.out_channels,
                                s.weight_out_stride, gather.taps(), s.in_channels,
                                s.weight_in_stride);
  const Images<T> images{input, output, s.in_channels,
                         s.out_channels};
  const GivenKernel<T> given{kernel, s.kernel_channels, gather.taps(),
                             gather.target_pixels(), false};
  return gather_sum(s.n_threads, s.batch, gather, images, given, guide, filters,
                    bias);
}

template <class T>
int pac_conv_grad_input(const PacShape& s, const T* kernel, const T* grad_output,
                        const T* weight, T* grad_input) {
  const Gather gather = input_from_output(s.y, s.x);
  const Scratch<T> packed(PackedWeight<T>::size(s.in_channels, gather.taps(), s.out_channels));
  if (packed.failed()) return 1;
  const PackedWeight<T> filters(packed.data(), weight, s.in_channels,
                                s.weight_in_stride, gather.taps(), s.out_channels,
                                s.weight_out_stride);
  const Images<T> images{grad_output, grad_input,
                         s.out_channels, s.in_channels};
  const GivenKernel<T> given{kernel, s.kernel_channels, gather.taps(),
                             gather.source_pixels(), true};
  return gather_sum<T>(s.n_threads, s.batch, gather, images, given, nullptr, filters, nullptr);
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
