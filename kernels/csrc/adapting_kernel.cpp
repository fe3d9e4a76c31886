// The adapting kernel and its gradient. With d = f_j - f_i (its positive part if `asym`):
//
//     K_a(i) = exp(-|d|^2 / 2)       or    alpha + (|d|^2 + epsilon)^(lambda / 2)
//     slope  = dK / d(|d|^2 / 2)  =  -K    or    lambda (|d|^2 + epsilon)^(lambda / 2 - 1)
//     grad_guide_j  =  sum over taps a, i seeing j through a:   grad_K_a(i) slope d
//     grad_centre_i = -sum over taps a:                         grad_K_a(i) slope d
//     grad_lambda   =  sum over i, a:   grad_K_a(i) log(|d|^2 + epsilon) / 2 (K_a(i) - alpha)
//
// Work: each thread takes rows of the pixels that a sum belongs to, tile by tile (kTile pixels), so
// K is computed twice in the gradient and nothing is written by two threads.
#include <omp.h>

#include "adapting_kernel.h"
#include "scratch.h"
#include "subnormal.h"

namespace pac {
namespace {

template <class T>
int pac_adapting_kernel(const PacShape& s, const PacGuide& guide, T* kernel) {
  const Gather windows = output_from_input(guide.y, guide.x);
  const PerThread<T> feature_rows(s.n_threads, (guide.channels + 1) * kTile<T>);
  if (feature_rows.failed()) return 1;

  const Tiles tiles(s.batch, windows, kTile<T>);
#pragma omp parallel for num_threads(s.n_threads) schedule(dynamic, tiles.per_row())
  for (int64_t index = 0; index < tiles.count(); ++index) {
    const FlushSubnormals flush;
    const Tile tile = tiles[index];
    const Features<T> features(guide, s.batch, tile.batch);
    T* k = feature_rows[omp_get_thread_num()];
    T* centre = k + kTile<T>;
    copy_centre(centre, features, tile);
    for (int64_t tap = 0; tap < windows.taps(); ++tap) {
      kernel_row(k, centre, features, tile, tap);
      T* row = kernel + (tile.batch * windows.taps() + tap) * windows.target_pixels() +
               windows.target(tile);
      for (int64_t p = 0; p < tile.count; ++p) row[p] = k[p];
    }
  }
  return 0;
}

// For a tile of output pixels (kOfCentre) or guide pixels, adds to `gradient` (channels x kTile) and
// returns the tile's part of grad_lambda.
template <bool kOfCentre, class T>
T add_gradients(T* gradient, T* own, T* other, const Features<T>& f, const Gather& gather,
                const Tile& tile, const T* grad_kernel) {
  const Planes<T>& mine = kOfCentre ? f.centre : f.guide;
  const Planes<T>& theirs = kOfCentre ? f.guide : f.centre;
  const int64_t channels = f.guide.channels;
  const int64_t target = gather.target(tile), advance = gather.advance(tile);
  for (int64_t c = 0; c < channels; ++c)
    copy_row(own + c * kTile<T>, mine.at(f.entry, c, target), tile.step, 0, tile.count);

  Vector<T> lambda_sum = {};
  for (int64_t tap = 0; tap < gather.taps(); ++tap) {
    const Span span = gather.span(tile, tap);
    // Outside the image f_j is 0, which is compared with f_i all the same; an output pixel outside
    // does not exist.
    if (!kOfCentre && span.empty()) continue;
    for (int64_t c = 0; c < channels; ++c)
      copy_row(other + c * kTile<T>, theirs.at(f.entry, c, span.source), advance, span.begin,
               span.end);
    T upstream[kTile<T>];
    const T* plane = grad_kernel + tap * f.centre.pixels;
    if (kOfCentre)
      copy_row(upstream, plane + target, tile.step, 0, tile.count);
    else
      copy_row(upstream, plane + span.source, advance, span.begin, span.end);

    for (int64_t p = 0; p < kTile<T>; p += kLanes<T>) {
      const auto difference = [&](int64_t c) {
        const Vector<T> a = load(own + c * kTile<T> + p), b = load(other + c * kTile<T> + p);
        return kOfCentre ? f.difference(b, a) : f.difference(a, b);
      };
      Vector<T> squared = {};
      for (int64_t c = 0; c < channels; ++c) squared += difference(c) * difference(c);
      Vector<T> slope = load(upstream + p);
      if (f.inv) {
        const Vector<T> raised = squared + T(kInvEpsilon), logarithm = pac::log<T>(raised);
        const Vector<T> power = pac::exp<T>(T(0.5) * f.lambda * logarithm);
        lambda_sum += slope * T(0.5) * logarithm * power;
        slope *= f.lambda * power / raised;
      } else {
        slope *= -pac::exp<T>(squared * T(-0.5));
      }
      if (kOfCentre) slope = -slope;
      for (int64_t c = 0; c < channels; ++c) {
        T* at = gradient + c * kTile<T> + p;
        store<T>(at, load(at) + slope * difference(c));
      }
    }
  }
  T total = 0;
  for (int lane = 0; lane < kLanes<T>; ++lane) total += lambda_sum[lane];
  return total;
}

// Sums for all pixels of the batch, row by row; `row_lambdas` (batch x rows) may be null.
template <bool kOfCentre, class T>
int gradients_of(const PacShape& s, const PacGuide& guide, const T* grad_kernel, T* gradient,
                 T* row_lambdas) {
  const Gather gather =
      kOfCentre ? output_from_input(guide.y, guide.x) : input_from_output(guide.y, guide.x);
  const int64_t channels = guide.channels;
  const int64_t kernel_size = gather.taps() * guide.y.output * guide.x.output;
  const PerThread<T> feature_rows(s.n_threads, 3 * channels * kTile<T>);
  if (feature_rows.failed()) return 1;
  const Tiles tiles(s.batch, gather, kTile<T>);

#pragma omp parallel for num_threads(s.n_threads) schedule(dynamic, 1)
  for (int64_t row = 0; row < s.batch * gather.y.target; ++row) {
    const FlushSubnormals flush;
    T* own = feature_rows[omp_get_thread_num()];
    T* other = own + channels * kTile<T>;
    T* sums = other + channels * kTile<T>;
    T lambda = 0;
    for (int64_t t = 0; t < tiles.per_row(); ++t) {
      const Tile tile = tiles[row * tiles.per_row() + t];
      for (int64_t e = 0; e < channels * kTile<T>; ++e) sums[e] = 0;
      lambda += add_gradients<kOfCentre>(sums, own, other, Features<T>(guide, s.batch, tile.batch),
                                         gather, tile, grad_kernel + tile.batch * kernel_size);
      T* target = gradient + tile.batch * channels * gather.target_pixels() + gather.target(tile);
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t p = 0; p < tile.count; ++p)
          target[c * gather.target_pixels() + p * tile.step] = sums[c * kTile<T> + p];
    }
    if (row_lambdas) row_lambdas[row] = lambda;
  }
  return 0;
}

template <class T>
int pac_adapting_kernel_grad(const PacShape& s, const PacGuide& guide, const T* grad_kernel,
                             T* grad_guide, T* grad_centre, T* grad_lambda) {
  return gradients_of<true>(s, guide, grad_kernel, grad_centre, grad_lambda) ||
         gradients_of<false, T>(s, guide, grad_kernel, grad_guide, nullptr);
}

}  // namespace
}  // namespace pac

PAC_DEFINE(pac_adapting_kernel, (const PacShape* s, const PacGuide* guide, PacArray kernel), *s, *guide,
           kernel)
PAC_DEFINE(pac_adapting_kernel_grad,
           (const PacShape* s, const PacGuide* guide, PacArray grad_kernel, PacArray grad_guide,
            PacArray grad_centre, PacArray grad_lambda),
           *s, *guide, grad_kernel, grad_guide, grad_centre, grad_lambda)
