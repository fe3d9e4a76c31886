// The adapting kernel K(f_i, f_j) of a tile of target pixels, from the guide.
//
//     K = exp(-|d|^2 / 2)    or    alpha + (|d|^2 + epsilon)^(lambda / 2),      d = f_j - f_i
//
// Taps overlap: with dilation 1 a 5x5 window reads each f_j 25 times. Where the part of the guide that
// a tile's taps reach is small enough (kHaloBytes), the block copies it to shared memory first; with a
// wide dilation, or many channels, the taps read the guide through the cache instead.
#pragma once

#include "tiles.cuh"

namespace pac {

constexpr float kInvEpsilon = 1e-4f;  // as in the paper's release, so that weights carry over
constexpr int64_t kHaloBytes = 16 << 10;

// The features and how they are compared; pointers to null of the Gaussian kernel's alpha and lambda.
template <class T>
struct Features {
  const T *guide, *centre, *alpha, *lambda;
  int channels;
  bool asym;
  Gather windows;             // target pixels from guide pixels; source_step is 1
  int halo_rows, halo_columns;  // of the guide below a tile, 0 if it does not fit

  // For tiles whose pixels are (step_y, step_x) apart.
  Features(const PacGuide& g, int step_y, int step_x)
      : guide(g.guide), centre(g.centre), alpha(g.inv_alpha), lambda(g.inv_lambda),
        channels(int(g.channels)), asym(g.asym != 0), windows(output_from_input(g.y, g.x)),
        halo_rows(0), halo_columns(0) {
    const auto extent = [](const GatherAxis& a, int tile, int step) {
      return (tile - 1) * int64_t(step) * a.target_step + (a.taps - 1) * int64_t(a.tap_step) + 1;
    };
    const int64_t rows = extent(windows.y, kTileY, step_y);
    const int64_t columns = extent(windows.x, kTileX, step_x);
    const int64_t room = kHaloBytes / int64_t(sizeof(float));
    if (columns <= room && rows <= room && rows * columns <= room / channels) {
      halo_rows = int(rows);
      halo_columns = int(columns);
    }
  }
  Features() = default;

  size_t halo_bytes() const {
    return sizeof(float) * static_cast<size_t>(channels) * halo_rows * halo_columns;
  }

  __device__ bool inv() const { return alpha != nullptr; }

  // f_j - f_i, or its positive part; a NaN stays.
  __device__ float difference(float neighbour, float own) const {
    const float d = neighbour - own;
    return asym && d < 0.0f ? 0.0f : d;
  }

  // K from |f_i - f_j|^2.
  __device__ float kernel(float squared, int64_t entry) const {
    if (!inv()) return expf(-0.5f * squared);
    const float power = 0.5f * to_float(lambda[entry]);
    return to_float(alpha[entry]) + expf(power * logf(squared + kInvEpsilon));
  }
};

// The features below a tile of a block of threads (kTileX, any).
template <class T>
class GuideTile {
 public:
  // Copies the guide below the tile to `halo`, if there is room for it. The block must be in step
  // before any of its threads calls kernel().
  __device__ GuideTile(const Features<T>& f, const Tile& tile, int step_y, int step_x, float* halo)
      : f_(f), tile_(tile), step_y_(step_y), step_x_(step_x), halo_(halo) {
    const GatherAxis &y = f.windows.y, &x = f.windows.x;
    const int top = tile.y * y.target_step + y.origin, left = tile.x * x.target_step + x.origin;
    const T* guide = f.guide + tile.entry * f.channels * f.windows.source_pixels();
    for (int row = threadIdx.y; row < f.channels * f.halo_rows; row += blockDim.y) {
      const int c = row / f.halo_rows, gy = top + row % f.halo_rows;
      const T* line = guide + (int64_t(c) * y.source + gy) * x.source;
      for (int column = threadIdx.x; column < f.halo_columns; column += kTileX) {
        const int gx = left + column;
        const bool inside = gy >= 0 && gy < y.source && gx >= 0 && gx < x.source;
        halo[row * f.halo_columns + column] = inside ? to_float(line[gx]) : 0.0f;
      }
    }
  }

  // K of pixel (row, lane) of the tile, which lies in the image, and a tap.
  __device__ float kernel(int row, int lane, int tap) const {
    const GatherAxis &y = f_.windows.y, &x = f_.windows.x;
    const int down = tap / x.taps * y.tap_step, right = tap % x.taps * x.tap_step;
    const int ty = tile_.y + row * step_y_, tx = tile_.x + lane * step_x_;
    const int64_t targets = f_.windows.target_pixels();
    const T* own = f_.centre + tile_.entry * f_.channels * targets + int64_t(ty) * x.target + tx;
    float squared = 0.0f;
    if (f_.halo_rows > 0) {
      const int plane = f_.halo_rows * f_.halo_columns;
      const float* seen = halo_ + (row * step_y_ * y.target_step + down) * f_.halo_columns +
                          lane * step_x_ * x.target_step + right;
      for (int c = 0; c < f_.channels; ++c, seen += plane, own += targets) {
        const float d = f_.difference(*seen, to_float(*own));
        squared = fmaf(d, d, squared);
      }
    } else {
      const int gy = ty * y.target_step + y.origin + down, gx = tx * x.target_step + x.origin + right;
      const bool inside = gy >= 0 && gy < y.source && gx >= 0 && gx < x.source;
      const int64_t plane = f_.windows.source_pixels();
      const T* seen =
          f_.guide + tile_.entry * f_.channels * plane + (inside ? int64_t(gy) * x.source + gx : 0);
      for (int c = 0; c < f_.channels; ++c, seen += plane, own += targets) {
        const float d = f_.difference(inside ? to_float(*seen) : 0.0f, to_float(*own));
        squared = fmaf(d, d, squared);
      }
    }
    return f_.kernel(squared, tile_.entry);
  }

 private:
  const Features<T>& f_;
  const Tile& tile_;
  const int step_y_, step_x_;
  const float* halo_;
};

}  // namespace pac
