// Filtering on the permutohedral lattice:
//
//     output = slice F splat values        (splat z)_m   = sum over pixels p around m:  b_pm values_p
//                                          (slice z)_p   = sum over corners m of p:     b_pm z_m
//     blur      F = blur_D ... blur_0,     (blur_j z)_m  = z_m + (z_{m + e_j} + z_{m - e_j}) / 2
//     convolve  (F z)_m = sum over taps a: w_a z_{m + a},  and its gradient  sum over m: g_m z_{m + a}
//
// Work: a few channels at a time, which lie side by side in the row of a pixel or lattice point, so
// that all sums are of vectors of channels. Each step writes a row from rows it reads: threads share
// the rows, and no result depends on their number.
#include <omp.h>

#include <type_traits>

#include "gather.h"
#include "permutohedral.h"
#include "permutohedral_rows.h"
#include "scratch.h"
#include "subnormal.h"

namespace pac {
namespace {

// Rows of lattice points; the row after the last is 0 and stands for points that do not exist.
template <class T, int N>
using PointRows = Scratch<Row<T, N>>;

template <class T, int N>
void splat(const PacLattice& lattice, const Row<T, N>* pixels, Row<T, N>* points) {
  const T* weights = lattice.splat_weights;
#pragma omp parallel num_threads(lattice.n_threads)
  {
    const FlushSubnormals flush;
#pragma omp for schedule(static)
    for (int64_t m = 0; m < lattice.points; ++m) {
      Row<T, N> sum{};
      for (int64_t e = lattice.starts[m]; e < lattice.starts[m + 1]; ++e)
        sum.add(pixels[lattice.splat_pixels[e]], weights[e]);
      points[m] = sum;
    }
  }
  points[lattice.points] = Row<T, N>{};
}

template <class T, int N>
void blur(const PacLattice& lattice, const int32_t* neighbours, const Row<T, N>* from,
          Row<T, N>* to) {
#pragma omp parallel num_threads(lattice.n_threads)
  {
    const FlushSubnormals flush;
#pragma omp for schedule(static)
    for (int64_t m = 0; m < lattice.points; ++m) {
      Row<T, N> sum = from[neighbours[2 * m]];
      sum.add(from[neighbours[2 * m + 1]], T(1));
      to[m] = from[m];
      to[m].add(sum, T(0.5));
    }
  }
  to[lattice.points] = Row<T, N>{};
}

template <class T, int N>
void slice(const PacLattice& lattice, const Channels& channels, const Row<T, N>* points, T scale,
           T* output) {
  const int64_t size = lattice.dimensions + 1;
  const T* barycentric = lattice.barycentric;
  const PixelTiles tiles(lattice);
#pragma omp parallel for num_threads(lattice.n_threads) schedule(static)
  for (int64_t index = 0; index < tiles.count(); ++index) {
    const FlushSubnormals flush;
    const PixelTile tile = tiles[index];
    Row<T, N> rows[kTilePixels];
    for (int64_t p = 0; p < tile.count; ++p) {
      const int64_t at = (tile.pixel() + p) * size;
      rows[p] = Row<T, N>{};
      for (int64_t r = 0; r < size; ++r)
        rows[p].add(points[lattice.corners[at + r]], barycentric[at + r] * scale);
    }
    from_rows(rows, tile, channels, output);
  }
}

// The weights (channels, taps) of some channels, as rows of taps.
template <class T, int N>
void weight_rows(const T* weight, const Channels& channels, int64_t taps, Row<T, N>* rows) {
  for (int64_t tap = 0; tap < taps; ++tap) {
    rows[tap] = Row<T, N>{};
    for (int64_t c = 0; c < channels.count; ++c)
      rows[tap].set(c, weight[(channels.first + c) * taps + tap]);
  }
}

template <class T, int N>
void convolve(const PacLattice& lattice, const int32_t* neighbours, int64_t pairs,
              const Row<T, N>* weight, const Row<T, N>* from, Row<T, N>* to) {
#pragma omp parallel num_threads(lattice.n_threads)
  {
    const FlushSubnormals flush;
#pragma omp for schedule(static)
    for (int64_t m = 0; m < lattice.points; ++m) {
      Row<T, N> sum{};
      sum.add(from[m], weight[0]);
      for (int64_t k = 0; k < pairs; ++k) {
        const int32_t* pair = neighbours + (k * lattice.points + m) * 2;
        sum.add(from[pair[0]], weight[2 * k + 1]);
        sum.add(from[pair[1]], weight[2 * k + 2]);
      }
      to[m] = sum;
    }
  }
}

template <class T, int N>
int blur_channels(const PacLattice& lattice, const Channels& channels, const T* values,
                  const int32_t* neighbours, bool transposed, T scale, T* output) {
  const Scratch<Row<T, N>> pixels(lattice.batch * lattice.pixels);
  const PointRows<T, N> points(lattice.points + 1), blurred(lattice.points + 1);
  if (pixels.failed() || points.failed() || blurred.failed()) return 1;
  Row<T, N>*from = points.data(), *to = blurred.data();
  to_rows(lattice, channels, values, pixels.data());
  splat(lattice, pixels.data(), from);
  const int64_t axes = lattice.dimensions + 1;
  for (int64_t axis = 0; axis < axes; ++axis) {
    const int64_t j = transposed ? axes - 1 - axis : axis;
    blur(lattice, neighbours + j * lattice.points * 2, from, to);
    Row<T, N>* next = from;
    from = to;
    to = next;
  }
  slice(lattice, channels, from, scale, output);
  return 0;
}

template <class T, int N>
int convolve_channels(const PacLattice& lattice, const Channels& channels, const T* values,
                      const int32_t* neighbours, int64_t pairs, const T* weight, T* output) {
  const int64_t taps = 1 + 2 * pairs;
  const Scratch<Row<T, N>> pixels(lattice.batch * lattice.pixels), weights(taps);
  const PointRows<T, N> points(lattice.points + 1), convolved(lattice.points + 1);
  if (pixels.failed() || weights.failed() || points.failed() || convolved.failed()) return 1;
  to_rows(lattice, channels, values, pixels.data());
  splat(lattice, pixels.data(), points.data());
  weight_rows(weight, channels, taps, weights.data());
  convolve(lattice, neighbours, pairs, weights.data(), points.data(), convolved.data());
  slice(lattice, channels, convolved.data(), T(1), output);
  return 0;
}

template <class T, int N>
int grad_weight_channels(const PacLattice& lattice, const Channels& channels, const T* values,
                         const T* grad_output, const int32_t* neighbours, int64_t pairs,
                         T* grad_weight) {
  const int64_t taps = 1 + 2 * pairs, threads = lattice.n_threads;
  const Scratch<Row<T, N>> pixels(lattice.batch * lattice.pixels);
  const PointRows<T, N> points(lattice.points + 1), grads(lattice.points + 1);
  const PerThread<Row<T, N>> sums(threads, taps);
  if (pixels.failed() || points.failed() || grads.failed() || sums.failed()) return 1;
  to_rows(lattice, channels, values, pixels.data());
  splat(lattice, pixels.data(), points.data());
  to_rows(lattice, channels, grad_output, pixels.data());
  splat(lattice, pixels.data(), grads.data());
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int64_t thread = 0; thread < threads; ++thread) {
    const FlushSubnormals flush;
    Row<T, N>* sum = sums[thread];
    for (int64_t tap = 0; tap < taps; ++tap) sum[tap] = Row<T, N>{};
    const int64_t last = lattice.points * (thread + 1) / threads;
    for (int64_t m = lattice.points * thread / threads; m < last; ++m) {
      const Row<T, N> grad = grads.data()[m];
      sum[0].add(points.data()[m], grad);
      for (int64_t k = 0; k < pairs; ++k) {
        const int32_t* pair = neighbours + (k * lattice.points + m) * 2;
        sum[2 * k + 1].add(points.data()[pair[0]], grad);
        sum[2 * k + 2].add(points.data()[pair[1]], grad);
      }
    }
  }
  for (int64_t c = 0; c < channels.count; ++c)
    for (int64_t tap = 0; tap < taps; ++tap) {
      T sum = 0;
      for (int64_t thread = 0; thread < threads; ++thread) sum += sums[thread][tap].get(c);
      grad_weight[(channels.first + c) * taps + tap] = sum;
    }
  return 0;
}

// Calls `work(N, channels)` for all channels, as many at a time as N vectors hold.
template <class T, class Work>
int for_channels(int64_t count, const Work& work) {
  constexpr int64_t kMost = kMostVectors * kChannelLanes<T>;
  for (int64_t first = 0; first < count; first += kMost) {
    const Channels channels{first, smaller(kMost, count - first), count};
    int failed = 0;
    switch (ceil_divide(channels.count, kChannelLanes<T>)) {
      case 1: failed = work(std::integral_constant<int, 1>(), channels); break;
      case 2: failed = work(std::integral_constant<int, 2>(), channels); break;
      case 3: failed = work(std::integral_constant<int, 3>(), channels); break;
      default: failed = work(std::integral_constant<int, kMostVectors>(), channels);
    }
    if (failed) return 1;
  }
  return 0;
}

template <class T>
int pac_lattice_blur(const PacLattice& lattice, int64_t channels, const T* values,
                     const int32_t* neighbours, bool transposed, const T* scale, T* output) {
  return for_channels<T>(channels, [&](auto n, const Channels& some) {
    return blur_channels<T, n()>(lattice, some, values, neighbours, transposed, *scale, output);
  });
}

template <class T>
int pac_lattice_convolve(const PacLattice& lattice, int64_t channels, const T* values,
                         const int32_t* neighbours, int64_t pairs, const T* weight, T* output) {
  return for_channels<T>(channels, [&](auto n, const Channels& some) {
    return convolve_channels<T, n()>(lattice, some, values, neighbours, pairs, weight, output);
  });
}

template <class T>
int pac_lattice_grad_weight(const PacLattice& lattice, int64_t channels, const T* values,
                            const T* grad_output, const int32_t* neighbours, int64_t pairs,
                            T* grad_weight) {
  return for_channels<T>(channels, [&](auto n, const Channels& some) {
    return grad_weight_channels<T, n()>(lattice, some, values, grad_output, neighbours, pairs,
                                        grad_weight);
  });
}

}  // namespace
}  // namespace pac

PAC_DEFINE(pac_lattice_blur,
           (const PacLattice* lattice, int64_t channels, PacArray values,
            const int32_t* neighbours, int64_t transposed, PacArray scale, PacArray output),
           *lattice, channels, values, neighbours, transposed != 0, scale, output)
PAC_DEFINE(pac_lattice_convolve,
           (const PacLattice* lattice, int64_t channels, PacArray values,
            const int32_t* neighbours, int64_t pairs, PacArray weight, PacArray output),
           *lattice, channels, values, neighbours, pairs, weight, output)
PAC_DEFINE(pac_lattice_grad_weight,
           (const PacLattice* lattice, int64_t channels, PacArray values, PacArray grad_output,
            const int32_t* neighbours, int64_t pairs, PacArray grad_weight),
           *lattice, channels, values, grad_output, neighbours, pairs, grad_weight)
