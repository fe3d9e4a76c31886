// The adapting kernel K(f_i, f_j) of the pixels of a tile, tap by tap.
#pragma once

#include "rows.h"

namespace pac {

constexpr double kInvEpsilon = 1e-4;  // as in the paper's release, so that weights carry over

// The features of one batch entry and how they are compared.
template <class T>
struct Features {
  Planes<T> guide, centre;
  Gather windows;  // output pixels from guide pixels
  int64_t entry;
  bool inv, asym;
  T alpha, lambda;

  Features(const PacGuide& g, int64_t batch, int64_t entry)
      : windows(output_from_input(g.y, g.x)), entry(entry), inv(g.inv != 0), asym(g.asym != 0),
        alpha(0), lambda(0) {
    guide = {g.guide, batch, g.channels, windows.source_pixels()};
    centre = {g.centre, batch, g.channels, windows.target_pixels()};
    if (inv) {
      alpha = static_cast<const T*>(g.inv_alpha)[entry];
      lambda = static_cast<const T*>(g.inv_lambda)[entry];
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
  for (int64_t c = 0; c < f.centre.channels; ++c)
    copy_row(rows + c * kTile<T>, f.centre.at(f.entry, c, f.windows.target(tile)), tile.step, 0,
             tile.count);
}

// K of one tap for the pixels of a tile: k (kTile), given f_i in `centre` (channels x kTile).
template <class T>
inline void kernel_row(T* k, const T* centre, const Features<T>& f, const Tile& tile, int64_t tap) {
  const Span span = f.windows.span(tile, tap);
  const int64_t advance = f.windows.advance(tile);
  const bool whole = span.begin == 0 && span.end == tile.count;
  Vector<T> squared[kTileVectors<T>] = {};
  T room[kTile<T>];
  for (int64_t c = 0; c < f.guide.channels; ++c, centre += kTile<T>) {
    const T* row = row_of(f.guide, f.entry, c, span.source, advance, span, whole, room);
    for (int v = 0; v < kTileVectors<T>; ++v) {
      const Vector<T> d = f.difference(load(row + v * kLanes<T>), load(centre + v * kLanes<T>));
      squared[v] += d * d;
    }
  }
  for (int v = 0; v < kTileVectors<T>; ++v) store<T>(k + v * kLanes<T>, f.kernel(squared[v]));
}

}  // namespace pac
