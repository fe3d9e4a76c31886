// The C interface of the permutohedral lattice (Adams et al. 2010) and what its files share.
//
// The lattice lies in the plane of points whose D + 1 coordinates sum to 0. A feature is mapped to
// this plane and belongs to the D + 1 corners of the simplex around it, by its barycentric weights:
// that is `splat`, and its transpose `slice`. Between the two, lattice points are filtered.
//
// Arrays are contiguous, row-major. A batch shares one lattice: the image is one more coordinate of a
// key, so that pixels of different images never meet. Functions return 0, or 1 if memory could not
// be had; arguments are trusted: pacbench.kernels.permutohedral checks them.
#pragma once

#include "pac.h"

// A lattice with the pixels (numbered over the whole batch) that lie around its points.
struct PacLattice {
  int64_t batch, pixels;  // images, and pixels of each
  int64_t dimensions, points, n_threads;
  int32_t* corners;      // (batch x pixels, D + 1) lattice points around a pixel
  PacArray barycentric;  // (batch x pixels, D + 1) their weights
  // The same the other way round: of lattice point m, entries starts[m] to starts[m + 1].
  int32_t* starts;         // (points + 1)
  int32_t* splat_pixels;   // (batch x pixels x (D + 1))
  PacArray splat_weights;  // (batch x pixels x (D + 1))
};

#define PAC_DECLARE_LATTICE(suffix)                                                               \
  /* Embeds features (batch, D, pixels): fills the lattice, and `keys` (points, D + 1), the first */ \
  /* D coordinates of a point and its image. Arrays have room for batch x pixels x (D + 1) points. */ \
  int pac_lattice_build_##suffix(PacLattice*, PacArray features, int32_t* keys);                  \
  /* output = scale x slice blur_D ... blur_0 splat values, each blur_j (1/2, 1, 1/2) along an */   \
  /* axis; `transposed` blurs in reverse. Images are (batch, channels, pixels), `neighbours` is */  \
  /* (D + 1, points, 2). */                                                                       \
  int pac_lattice_blur_##suffix(const PacLattice*, int64_t channels, PacArray values,             \
                                const int32_t* neighbours, int64_t transposed, PacArray scale,    \
                                PacArray output);                                                 \
  /* output = slice W splat values: W sums a lattice point times `weight` (channels, 0) and its */  \
  /* neighbours (pairs, points, 2) times `weight` (channels, 1 + 2 x pairs). */                     \
  int pac_lattice_convolve_##suffix(const PacLattice*, int64_t channels, PacArray values,         \
                                    const int32_t* neighbours, int64_t pairs, PacArray weight,    \
                                    PacArray output);                                             \
  int pac_lattice_grad_weight_##suffix(const PacLattice*, int64_t channels, PacArray values,      \
                                       PacArray grad_output, const int32_t* neighbours,           \
                                       int64_t pairs, PacArray grad_weight);

extern "C" {
PAC_DECLARE_LATTICE(f32)
PAC_DECLARE_LATTICE(f64)
// neighbours (pairs, points, 2): the points at key + offset and at key - offset, or `points` where
// the lattice has none. offsets (pairs, D).
int pac_lattice_neighbours(int64_t dimensions, int64_t points, const int32_t* keys, int64_t pairs,
                           const int32_t* offsets, int64_t n_threads, int32_t* neighbours);
}
