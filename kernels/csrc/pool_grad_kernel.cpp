// The gradient of the adapting kernel where PAC goes channel by channel,
//
//     grad_K_a(i) = w_a  sum over channels:  grad_output_i input_j,
//
// j the pixel that i sees through tap a.
//
// Work: each thread takes tiles (kTile pixels of one output row) and goes through their taps.
#include <omp.h>

#include "rows.h"
#include "scratch.h"
#include "subnormal.h"

namespace pac {
namespace {

template <class T>
int pac_pool_grad_kernel(const PacShape& s, const T* input, const T* grad_output, const T* weight,
                         T* grad_kernel) {
  const Gather gather = output_from_input(s.y, s.x);
  const int64_t taps = gather.taps(), pixels = gather.target_pixels();
  const PerThread<T> gradient_rows(s.n_threads, s.in_channels * kTile<T>);
  if (gradient_rows.failed()) return 1;

  const Planes<T> images{input, s.batch, s.in_channels, gather.source_pixels()};
  const Tiles tiles(s.batch, gather, kTile<T>);
#pragma omp parallel for num_threads(s.n_threads) schedule(dynamic, tiles.per_row())
  for (int64_t index = 0; index < tiles.count(); ++index) {
    const FlushSubnormals flush;
    const Tile tile = tiles[index];
    T* gradients = gradient_rows[omp_get_thread_num()];
    const int64_t target = gather.target(tile), advance = gather.advance(tile);
    for (int64_t c = 0; c < s.in_channels; ++c)
      copy_row(gradients + c * kTile<T>,
               grad_output + (tile.batch * s.in_channels + c) * pixels + target, tile.step, 0,
               tile.count);

    for (int64_t tap = 0; tap < taps; ++tap) {
      const Span span = gather.span(tile, tap);
      T sum[kTile<T>] = {};
      if (!span.empty())
        dot_rows(sum, gradients, images, tile.batch, 0, s.in_channels, span, advance);
      if (weight)
        for (int64_t p = 0; p < kTile<T>; ++p) sum[p] *= weight[tap];
      write_row(grad_kernel + (tile.batch * taps + tap) * pixels + target, sum, tile);
    }
  }
  return 0;
}

}  // namespace
}  // namespace pac

PAC_DEFINE(pac_pool_grad_kernel,
           (const PacShape* s, PacArray input, PacArray grad_output, PacArray weight,
            PacArray grad_kernel),
           *s, input, grad_output, weight, grad_kernel)
