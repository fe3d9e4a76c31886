// PAC channel by channel (pooling, or one spatial filter w for all channels) and the gradient of
// its input:
//
//     output_i     = sum over taps a:  w_a K_a(i) input_j         j the pixel that i sees through a
//     grad_input_j = sum over taps a:  w_a K_a(i) grad_output_i   i the pixels that see j through a
//
// Work: each thread takes tiles (kTile pixels of one target row). The rows w_a K_a of a tile are
// laid out once; then a few channels at a time sum over all taps in registers. Source rows are read
// in place, or through a copy with zeros where a tap leaves the image.
#include <omp.h>

#include "adapting_kernel.h"
#include "scratch.h"

namespace pac {
namespace {

constexpr int kChannels = 4;  // summed together, so that a vector of K is loaded once for all

template <class T>
struct SourceRows {
  const T* data;  // of the first channel
  int64_t pitch;  // between channels
};

// sums (kChannels x kTile) = sum over rows of K x source, for `vectors` vectors of the tile.
template <class T>
void sum_taps(T* sums, const T* kernel, const SourceRows<T>* sources, int64_t n, int64_t vectors) {
  for (int64_t v = 0; v < vectors; ++v) {
    const int64_t p = v * kLanes<T>;
    Vector<T> sum[kChannels] = {};
    for (int64_t s = 0; s < n; ++s) {
      const Vector<T> k = load(kernel + s * kTile<T> + p);
#pragma GCC unroll 4
      for (int c = 0; c < kChannels; ++c)
        sum[c] += k * load(sources[s].data + c * sources[s].pitch + p);
    }
#pragma GCC unroll 4
    for (int c = 0; c < kChannels; ++c) store<T>(sums + c * kTile<T> + p, sum[c]);
  }
}

template <class T>
int gather_sum(const PacShape& s, const Gather& gather, bool kernel_at_source,
               const PacGuide* guide, const T* kernel, const T* source, const T* weight,
               const T* bias, T* target) {
  const int64_t channels = s.in_channels, taps = gather.taps();
  const int64_t kernel_pixels = kernel_at_source ? gather.source_pixels() : gather.target_pixels();
  const PerThread<Span> span_lists(s.n_threads, taps);
  const PerThread<T> kernel_rows(s.n_threads, taps * kTile<T>);
  const PerThread<T> feature_rows(s.n_threads, guide ? guide->channels * kTile<T> : 0);
  const PerThread<T> copied_rows(s.n_threads, taps * kChannels * kTile<T>);
  const PerThread<SourceRows<T>> source_lists(s.n_threads, taps);
  if (span_lists.failed() || kernel_rows.failed() || feature_rows.failed() ||
      copied_rows.failed() || source_lists.failed())
    return 1;

  const Tiles tiles(s.batch, gather, kTile<T>);
#pragma omp parallel for num_threads(s.n_threads) schedule(dynamic, tiles.per_row())
  for (int64_t index = 0; index < tiles.count(); ++index) {
    const int thread = omp_get_thread_num();
    const Tile tile = tiles[index];
    Span* spans = span_lists[thread];
    T* k_rows = kernel_rows[thread];
    SourceRows<T>* sources = source_lists[thread];
    const int64_t advance = gather.advance(tile), pixels = gather.source_pixels();
    const int64_t n = gather.spans(tile, spans);

    if (guide) copy_centre(feature_rows[thread], Features<T>(*guide, s.batch, tile.batch), tile);
    for (int64_t i = 0; i < n; ++i) {
      T* row = k_rows + i * kTile<T>;
      const Span& span = spans[i];
      const T* plane = kernel + (tile.batch * taps + span.tap) * kernel_pixels;
      if (guide)
        kernel_row(row, feature_rows[thread], Features<T>(*guide, s.batch, tile.batch), tile, span.tap);
      else if (kernel_at_source)
        copy_row(row, plane + span.source, advance, span.begin, span.end);
      else
        copy_row(row, plane + gather.target(tile), tile.step, span.begin, span.end);
      if (weight)
        for (int64_t p = 0; p < kTile<T>; ++p) row[p] *= weight[span.tap];
    }

    for (int64_t c0 = 0; c0 < channels; c0 += kChannels) {
      const int64_t some = smaller(kChannels, channels - c0);
      const T* planes = source + (tile.batch * channels + c0) * pixels;
      for (int64_t i = 0; i < n; ++i) {
        const Span& span = spans[i];
        sources[i] = {planes + span.source, pixels};
        const bool in_place = advance == 1 && some == kChannels && span.begin == 0 &&
                              span.end == kTile<T>;
        if (in_place) continue;
        T* rows = copied_rows[thread] + i * kChannels * kTile<T>;
        for (int64_t c = 0; c < some; ++c)
          copy_row(rows + c * kTile<T>, planes + c * pixels + span.source, advance, span.begin,
                   span.end);
        for (int64_t e = some * kTile<T>; e < kChannels * kTile<T>; ++e) rows[e] = 0;
        sources[i] = {rows, kTile<T>};
      }
      T sums[kChannels * kTile<T>];
      sum_taps(sums, k_rows, sources, n, ceil_divide(tile.count, kLanes<T>));
      for (int64_t c = 0; c < some; ++c) {
        T* row = target + (tile.batch * channels + c0 + c) * gather.target_pixels() +
                 gather.target(tile);
        for (int64_t p = 0; p < tile.count; ++p)
          row[p * tile.step] = sums[c * kTile<T> + p] + (bias ? bias[c0 + c] : T(0));
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
