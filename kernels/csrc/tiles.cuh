// How the grid covers an image, and which source pixels the taps of a tile of target pixels see.
//
// Forward, an output pixel gathers from input pixels; in the gradient of the input, an input pixel
// gathers from output pixels. Both are one rule per axis,
//     source * source_step == target * target_step + tap * tap_step + origin,
// so that every block writes its own pixels only: no atomics, the same bits every time.
//
// A tile is kTileX x kTileY target pixels, source_step apart on each axis. Along it the remainder of
// the division is constant, so a tap is seen by all pixels of a tile (but for the image's borders) or
// by none and skipped: a transposed PAC of stride s does not multiply s^2 - 1 zeros for every value.
// The 32 lanes of a warp lie along x and read and write whole lines of memory.
#pragma once

#include "cuda.cuh"

namespace pac {

constexpr int kTileX = 32, kTileY = 8, kTilePixels = kTileX * kTileY;

struct GatherAxis {
  int source, target, taps;
  int source_step, target_step, tap_step, origin;

  __host__ __device__ int phases() const { return source_step < target ? source_step : target; }
  // Phases differ in length by one pixel, so the last tile of a phase can be empty.
  __host__ __device__ int tiles_per_phase(int tile) const {
    return static_cast<int>(ceil_divide(ceil_divide(target, source_step), tile));
  }
  __host__ __device__ int tiles(int tile) const { return phases() * tiles_per_phase(tile); }
  // The first target pixel of the n-th tile.
  __device__ int first(int n, int tile) const {
    const int per_phase = tiles_per_phase(tile);
    return n / per_phase + n % per_phase * tile * source_step;
  }
  // The source pixel that target pixel `t` sees through `tap`; false if the pixel lies between two.
  // The pixel may lie outside the image.
  __device__ bool locate(int t, int tap, int* pixel) const {
    const int scaled = t * target_step + tap * tap_step + origin;
    if (source_step == 1) {
      *pixel = scaled;
      return true;
    }
    const int rest = scaled % source_step;
    *pixel = scaled / source_step;
    return rest == 0;
  }
};

// What a tap sees from the tile's first pixel; pixel (row, lane) of the tile sees
// (y + row * target_step, x + lane * target_step).
struct Tap {
  int y = 0, x = 0;
};

struct Tile {
  int64_t entry;  // of the batch
  int y, x;       // of the first pixel
};

struct Gather {
  GatherAxis y, x;

  __host__ __device__ int taps() const { return y.taps * x.taps; }
  __host__ __device__ int64_t source_pixels() const { return int64_t(y.source) * x.source; }
  __host__ __device__ int64_t target_pixels() const { return int64_t(y.target) * x.target; }
  __host__ __device__ int64_t tiles() const { return int64_t(y.tiles(kTileY)) * x.tiles(kTileX); }

  __device__ Tile tile(int64_t index) const {
    const int columns = x.tiles(kTileX);
    const int64_t row = index / columns;
    const int rows = y.tiles(kTileY);
    return {row / rows, y.first(static_cast<int>(row % rows), kTileY),
            x.first(static_cast<int>(index % columns), kTileX)};
  }

  // Whether some pixel of the tile may see something through the tap, and what.
  __device__ bool locate(const Tile& t, int tap, Tap* seen) const {
    if (!y.locate(t.y, tap / x.taps, &seen->y) || !x.locate(t.x, tap % x.taps, &seen->x))
      return false;
    return seen->y < y.source && seen->y + (kTileY - 1) * y.target_step >= 0 &&
           seen->x < x.source && seen->x + (kTileX - 1) * x.target_step >= 0;
  }

  // Pixel (row, lane) of a tile in the target's planes, -1 outside the image.
  __device__ int64_t target(const Tile& t, int row, int lane) const {
    const int ty = t.y + row * y.source_step, tx = t.x + lane * x.source_step;
    return ty < y.target && tx < x.target ? int64_t(ty) * x.target + tx : -1;
  }

  // What it sees through a tap in the source's planes, -1 outside the image.
  __device__ int64_t source(const Tap& tap, int row, int lane) const {
    const int sy = tap.y + row * y.target_step, sx = tap.x + lane * x.target_step;
    return sy >= 0 && sy < y.source && sx >= 0 && sx < x.source ? int64_t(sy) * x.source + sx : -1;
  }
};

// Coordinates and channels are int, offsets into arrays int64_t: an axis must keep clear of 2^31
// pixels, padding and the overhang of its last tile included.
inline bool fits(const PacAxis& a) {
  constexpr int64_t limit = int64_t(1) << 29, overhang = kTileX;
  const int64_t lengths[] = {a.input, a.output, a.up, a.down, a.dilation, a.pad, -a.pad};
  for (const int64_t length : lengths)
    if (length >= limit) return false;
  return (a.output + overhang * a.up) * a.down < limit &&
         (a.input + overhang * a.down) * a.up < limit && a.taps < 0x8000 &&
         a.taps * a.dilation < limit;
}

inline bool fits(const PacShape& s, const PacGuide* guide = nullptr) {
  constexpr int64_t limit = int64_t(1) << 29;
  const bool guide_fits =
      !guide || (guide->channels < limit && fits(guide->y) && fits(guide->x));
  return s.in_channels < limit && s.out_channels < limit && fits(s.y) && fits(s.x) && guide_fits;
}

constexpr const char* kTooLarge =
    "more than 2^29 channels, or pixels along an axis of the image, padding included";

inline Gather output_from_input(const PacAxis& y, const PacAxis& x) {
  const auto axis = [](const PacAxis& a) {
    return GatherAxis{int(a.input), int(a.output),   int(a.taps), int(a.up),
                      int(a.down),  int(a.dilation), int(-a.pad)};
  };
  return {axis(y), axis(x)};
}

inline Gather input_from_output(const PacAxis& y, const PacAxis& x) {
  const auto axis = [](const PacAxis& a) {
    return GatherAxis{int(a.output), int(a.input),     int(a.taps), int(a.down),
                      int(a.up),     int(-a.dilation), int(a.pad)};
  };
  return {axis(y), axis(x)};
}

}  // namespace pac
