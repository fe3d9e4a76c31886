// The adapting kernel K(f_i, f_j) of the pixels of a tile, tap by tap.
#pragma once

#include "rows.h"

namespace pac {

constexpr double kInvEpsilon = 1e-4;  // as in the paper's release, so that weights carry over

// The features of one batch entry and how they are compared.
template <class T>
struct Features {
  const T* guide;
  const T* centre;
  Gather windows;  // output pixels from guide pixels
  int64_t channels;
  bool inv, asym;
  T alpha, lambda;

  Features(const PacGuide& g, int64_t batch)
      : windows(output_from_input(g.y, g.x)), channels(g.channels), inv(g.inv != 0),
        asym(g.asym != 0), alpha(0), lambda(0) {
    guide = static_cast<const T*>(g.guide) + batch * channels * windows.source_pixels();
    centre = static_cast<const T*>(g.centre) + batch * channels * windows.target_pixels();
    if (inv) {
      alpha = static_cast<const T*>(g.inv_alpha)[batch];
      lambda = static_cast<const T*>(g.inv_lambda)[batch];
    }
  }

  // f_j - f_i, or its positive part; a NaN stays.
  Vector<T> difference(Vector<T> neighbour, Vector<T> own) const {
    const Vector<T> d = neighbour - own;
    return asym ? (d < T(0) ? Vector<T>{} : d) : d;
  }

  // K from |f_i - f_j|^2.
  Vector<T> kernel(Vector<T> squared) const {
    if (!inv) return pac::exp<T>(squared * T(-0.5));
    return alpha + pac::exp<T>(T(0.5) * lambda * pac::log<T>(squared + T(kInvEpsilon)));
  }
};

// f_i of a tile: `rows` holds channels x kTile.
template <class T>
inline void copy_centre(T* rows, const Features<T>& f, const Tile& tile) {
  const T* centre = f.centre + f.windows.target(tile);
  for (int64_t c = 0; c < f.channels; ++c)
    copy_row(rows + c * kTile<T>, centre + c * f.windows.target_pixels(), tile.step, 0, tile.count);
}

// K of one tap for the pixels of a tile: k (kTile), given f_i in `centre` (channels x kTile).
template <class T>
inline void kernel_row(T* k, const T* centre, const Features<T>& f, const Tile& tile, int64_t tap) {
  const Span span = f.windows.span(tile, tap);
  const int64_t advance = f.windows.advance(tile);
  T squared[kTile<T>] = {};
  T neighbour[kTile<T>];
  for (int64_t c = 0; c < f.channels; ++c) {
    copy_row(neighbour, f.guide + c * f.windows.source_pixels() + span.source, advance, span.begin,
             span.end);
    for (int64_t p = 0; p < kTile<T>; p += kLanes<T>) {
      const Vector<T> d = f.difference(load(neighbour + p), load(centre + c * kTile<T> + p));
      store<T>(squared + p, load(squared + p) + d * d);
    }
  }
  for (int64_t p = 0; p < kTile<T>; p += kLanes<T>) store<T>(k + p, f.kernel(load(squared + p)));
}

}  // namespace pac
