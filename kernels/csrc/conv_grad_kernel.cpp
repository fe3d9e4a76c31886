// The gradient of PAC's adapting kernel,
//
//     grad_K_a(i) = input_j . (W_a^T grad_output_i),       j the pixel that i sees through tap a,
//
// channel by channel, and summed over the channels if they share one K.
//
// Work: each thread takes tiles (kTile pixels of one output row). For a tap, W_a^T grad_output is a
// small matrix product whose result stays in cache and is at once multiplied by the input.
#include <omp.h>

#include "multiply.h"
#include "rows.h"
#include "scratch.h"
#include "subnormal.h"

namespace pac {
namespace {

template <class T>
int pac_conv_grad_kernel(const PacShape& s, const T* input, const T* grad_output, const T* weight,
                         T* grad_kernel) {
  const Gather gather = output_from_input(s.y, s.x);
  const int64_t taps = gather.taps(), pixels = gather.target_pixels();
  const Scratch<T> packed(PackedWeight<T>::size(s.in_channels, taps, s.out_channels));
  const PerThread<T> gradient_rows(s.n_threads, s.out_channels * kTile<T>);
  const PerThread<T> product_rows(s.n_threads, s.in_channels * kTile<T>);
  if (packed.failed() || gradient_rows.failed() || product_rows.failed()) return 1;
  const PackedWeight<T> filters(packed.data(), weight, s.in_channels, s.weight_in_stride, taps,
                                s.out_channels, s.weight_out_stride, s.n_threads);

  const Planes<T> images{input, s.batch, s.in_channels, gather.source_pixels()};
  const Tiles tiles(s.batch, gather, kTile<T>);
#pragma omp parallel for num_threads(s.n_threads) schedule(dynamic, tiles.per_row())
  for (int64_t index = 0; index < tiles.count(); ++index) {
    const FlushSubnormals flush;
    const Tile tile = tiles[index];
    T* gradients = gradient_rows[omp_get_thread_num()];
    T* products = product_rows[omp_get_thread_num()];
    const int64_t target = gather.target(tile), advance = gather.advance(tile);
    for (int64_t o = 0; o < s.out_channels; ++o)
      copy_row(gradients + o * kTile<T>,
               grad_output + (tile.batch * s.out_channels + o) * pixels + target, tile.step, 0,
               tile.count);

    for (int64_t tap = 0; tap < taps; ++tap) {
      const Span span = gather.span(tile, tap);
      if (!span.empty()) {
        for (int64_t e = 0; e < s.in_channels * kTile<T>; ++e) products[e] = 0;
        const Segment segment{tap * s.out_channels, s.out_channels};
        filters.multiply(&segment, 1, gradients, products, ceil_divide(tile.count, kLanes<T>));
      }
      const int64_t summed = s.in_channels / s.kernel_channels;
      for (int64_t k = 0; k < s.kernel_channels; ++k) {
        T sum[kTile<T>] = {};
        if (!span.empty())
          dot_rows(sum, products + k * summed * kTile<T>, images, tile.batch, k * summed, summed,
                   span, advance);
        write_row(grad_kernel + ((tile.batch * s.kernel_channels + k) * taps + tap) * pixels + target,
                  sum, tile);
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace pac

PAC_DEFINE(pac_conv_grad_kernel,
           (const PacShape* s, PacArray input, PacArray grad_output, PacArray weight,
            PacArray grad_kernel),
           *s, input, grad_output, weight, grad_kernel)
