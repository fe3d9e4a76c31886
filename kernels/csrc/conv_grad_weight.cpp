// The gradient of PAC's filters,
//
//     grad_W_a = sum over output pixels i:  grad_output_i (K_a(i) input_j)^T,
//
// j the pixel that i sees through tap a.
//
// Work: each thread takes a fixed share of the tiles (kTile pixels of one output row) and sums a
// grad_W of its own; these are added up in the order of the threads. For a tile, grad_output is
// transposed once, so that the vectors of the matrix product run over output channels and its sum
// over pixels.
#include <omp.h>

#include "multiply.h"
#include "rows.h"
#include "scratch.h"
#include "subnormal.h"

namespace pac {
namespace {

constexpr int64_t kPartialBytes = 256 << 20;  // for the sums of all threads, or of as many as fit

template <class T>
int pac_conv_grad_weight(const PacShape& s, const T* input, const T* kernel, const T* grad_output,
                         T* grad_weight) {
  // A of the product: rows are input channels, columns the pixels of a tile.
  using Product = Multiply<T, kTile<T>, 1>;
  const Gather gather = output_from_input(s.y, s.x);
  const int64_t taps = gather.taps(), pixels = gather.target_pixels();
  const RowBlocks blocks{s.in_channels};
  const int64_t vectors = ceil_divide(s.out_channels, kLanes<T>);
  const int64_t pitch = vectors * kLanes<T>;  // out_channels, rounded up to whole vectors
  const int64_t size = taps * s.in_channels * pitch;
  const int64_t fitting = kPartialBytes / static_cast<int64_t>(size * sizeof(T));
  const int64_t n_threads = larger(1, smaller(s.n_threads, fitting));

  const PerThread<T> sums(n_threads, size);  // taps x in_channels x pitch
  const PerThread<T> scaled_rows(n_threads, s.in_channels * kTile<T>);
  const PerThread<T> gradient_columns(n_threads, kTile<T> * pitch);
  if (sums.failed() || scaled_rows.failed() || gradient_columns.failed()) return 1;

  const Planes<T> images{input, s.batch, s.in_channels, gather.source_pixels()};
  const Planes<T> kernels{kernel, s.batch, s.kernel_channels * taps, pixels};
  const Tiles tiles(s.batch, gather, kTile<T>);
#pragma omp parallel for num_threads(n_threads) schedule(static)
  for (int64_t e = 0; e < n_threads * size; ++e) sums.data()[e] = 0;

#pragma omp parallel for num_threads(n_threads) schedule(static)
  for (int64_t index = 0; index < tiles.count(); ++index) {
    const FlushSubnormals flush;
    const int thread = omp_get_thread_num();
    const Tile tile = tiles[index];
    T k_room[kTile<T>];
    T* scaled = scaled_rows[thread];
    T* gradients = gradient_columns[thread];
    const int64_t target = gather.target(tile), advance = gather.advance(tile);
    for (int64_t o = 0; o < pitch; ++o) {
      const T* row = grad_output + (tile.batch * s.out_channels + o) * pixels + target;
      for (int64_t p = 0; p < tile.count; ++p)
        gradients[p * pitch + o] = o < s.out_channels ? row[p * tile.step] : T(0);
    }

    for (int64_t tap = 0; tap < taps; ++tap) {
      const Span span = gather.span(tile, tap);
      if (span.empty()) continue;
      const bool shared = s.kernel_channels == 1;
      for (int64_t c = 0; c < s.in_channels; c += shared ? s.in_channels : 1) {
        const T* k = row_of(kernels, tile.batch, c * taps + tap, target, tile.step, span, true,
                            k_room);
        scale_rows(scaled + c * kTile<T>, k, images, tile.batch, c, shared ? s.in_channels : 1,
                   span, advance);
      }
      const Segment segment{span.begin, span.end - span.begin};
      T* sum = sums[thread] + tap * s.in_channels * pitch;
      for (int64_t b = 0; b < blocks.count(); ++b)
        Product::run(blocks.size(b), vectors, &segment, 1, scaled + blocks.begin(b) * kTile<T>,
                     gradients + span.begin * pitch, pitch, sum + blocks.begin(b) * pitch, pitch);
    }
  }

#pragma omp parallel for num_threads(n_threads) schedule(static)
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t c = 0; c < s.in_channels; ++c)
      for (int64_t o = 0; o < s.out_channels; ++o) {
        T total = 0;
        for (int64_t thread = 0; thread < n_threads; ++thread)
          total += sums[thread][(tap * s.in_channels + c) * pitch + o];
        grad_weight[o * s.weight_out_stride + c * s.weight_in_stride + tap] = total;
      }
  return 0;
}

}  // namespace
}  // namespace pac

PAC_DEFINE(pac_conv_grad_weight,
           (const PacShape* s, PacArray input, PacArray kernel, PacArray grad_output,
            PacArray grad_weight),
           *s, input, kernel, grad_output, grad_weight)
