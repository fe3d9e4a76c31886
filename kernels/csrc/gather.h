// Which source pixels the taps of a tile of target pixels see.
//
// Forward, an output pixel gathers from input pixels; in the gradient of the input, an input pixel
// gathers from output pixels. Both are one rule per axis,
//     source * source_step == target * target_step + tap * tap_step + origin,
// so that every operator writes its own tile only: no atomics, the same result on any number of
// threads.
//
// A tile is `count` pixels of one target row, `step` = source_step apart: along it the remainder of
// the division is constant, so a tap is seen by all of its pixels (but for the image's borders) or
// by none, and the source pixels of a tap are `advance` apart.
#pragma once

#include "pac.h"
#include "vector.h"

namespace pac {

// Divisors are strides, nearly always 1, and division is slow.
inline int64_t floor_divide(int64_t a, int64_t b) { return b == 1 ? a : a / b - (a % b < 0); }
inline int64_t ceil_divide(int64_t a, int64_t b) { return -floor_divide(-a, b); }
inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

struct GatherAxis {
  int64_t source, target, taps;
  int64_t source_step, target_step, tap_step, origin;
};

struct Tile {
  int64_t batch, y, x;  // of the first pixel
  int64_t step, count;
};

// Pixels begin <= p < end of a tile see, through `tap`, the source pixels `source` + p * advance
// (an index into the source plane).
struct Span {
  int64_t tap, source, begin, end;
  bool empty() const { return begin >= end; }
};

struct Gather {
  GatherAxis y, x;

  int64_t taps() const { return y.taps * x.taps; }
  int64_t source_pixels() const { return y.source * x.source; }
  int64_t target_pixels() const { return y.target * x.target; }
  int64_t advance(const Tile& tile) const {
    return floor_divide(tile.step * x.target_step, x.source_step);
  }
  int64_t target(const Tile& tile) const { return tile.y * x.target + tile.x; }

  // The source row that a tile sees through row `tap_y` of the window; -1 if it sees none.
  int64_t source_row(const Tile& tile, int64_t tap_y) const {
    const int64_t row = tile.y * y.target_step + tap_y * y.tap_step + y.origin;
    const int64_t source = floor_divide(row, y.source_step);
    return source * y.source_step == row && source < y.source ? source : -1;
  }

  Span span(const Tile& tile, int64_t tap) const { return span(tile, tap / x.taps, tap % x.taps); }

  Span span(const Tile& tile, int64_t tap_y, int64_t tap_x) const {
    const int64_t tap = tap_y * x.taps + tap_x;
    const Span none{tap, 0, 0, 0};
    const int64_t source_y = source_row(tile, tap_y);
    const int64_t column = tile.x * x.target_step + tap_x * x.tap_step + x.origin;
    const int64_t source_x = floor_divide(column, x.source_step);
    if (source_y < 0 || source_x * x.source_step != column) return none;
    const int64_t advance = this->advance(tile);
    const int64_t begin = larger(0, ceil_divide(-source_x, advance));
    const int64_t end = smaller(tile.count, ceil_divide(x.source - source_x, advance));
    if (begin >= end) return none;
    return {tap, source_y * x.source + source_x, begin, end};
  }

  // The taps that some pixel of the tile sees; returns how many.
  int64_t spans(const Tile& tile, Span* list) const {
    int64_t n = 0;
    for (int64_t tap_y = 0; tap_y < y.taps; ++tap_y)
      for (int64_t tap_x = 0; tap_x < x.taps; ++tap_x) {
        const Span one = span(tile, tap_y, tap_x);
        if (!one.empty()) list[n++] = one;
      }
    return n;
  }
};

inline Gather output_from_input(const PacAxis& y, const PacAxis& x) {
  const auto axis = [](const PacAxis& a) {
    return GatherAxis{a.input, a.output, a.taps, a.up, a.down, a.dilation, -a.pad};
  };
  return {axis(y), axis(x)};
}

inline Gather input_from_output(const PacAxis& y, const PacAxis& x) {
  const auto axis = [](const PacAxis& a) {
    return GatherAxis{a.output, a.input, a.taps, a.down, a.up, -a.dilation, a.pad};
  };
  return {axis(y), axis(x)};
}

// All tiles of a batch of target images, in the order they are best worked on. Rows as far apart as
// the taps follow each other: they share all but one of their source rows, which stay in cache.
// Within a row, the tiles of one phase (x modulo source_step) go from left to right.
class Tiles {
 public:
  Tiles(int64_t batch, const Gather& gather, int64_t tile_pixels)
      : tile_pixels_(tile_pixels), rows_(gather.y.target), width_(gather.x.target),
        step_(gather.x.source_step), phases_(smaller(step_, width_)),
        tiles_per_phase_(ceil_divide(ceil_divide(width_, step_), tile_pixels)),
        count_(batch * rows_ * per_row()) {
    const int64_t apart = gather.y.tap_step < 0 ? -gather.y.tap_step : gather.y.tap_step;
    row_stride_ = apart % gather.y.target_step == 0 ? apart / gather.y.target_step : 1;
  }

  int64_t count() const { return count_; }
  int64_t per_row() const { return phases_ * tiles_per_phase_; }

  // Phases differ in length by one pixel, so the last tile of a phase can be empty.
  Tile operator[](int64_t index) const {
    const int64_t row = index / per_row(), phase = index % per_row() / tiles_per_phase_;
    const int64_t first = index % tiles_per_phase_ * tile_pixels_;
    const int64_t pixels = ceil_divide(width_ - phase, step_);
    const int64_t count = larger(0, smaller(tile_pixels_, pixels - first));
    return {row / rows_, nth_row(row % rows_), phase + first * step_, step_, count};
  }

 private:
  // 0, s, 2 s, ..., 1, s + 1, ...: the first rows_ % s of these runs are longer by one row.
  int64_t nth_row(int64_t n) const {
    const int64_t shorter = rows_ / row_stride_, longer_runs = rows_ % row_stride_;
    if (n < longer_runs * (shorter + 1))
      return n / (shorter + 1) + n % (shorter + 1) * row_stride_;
    n -= longer_runs * (shorter + 1);
    return longer_runs + n / shorter + n % shorter * row_stride_;
  }

  int64_t tile_pixels_, rows_, width_, step_, phases_, tiles_per_phase_, count_, row_stride_;
};

}  // namespace pac
