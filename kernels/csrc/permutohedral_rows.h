// A few channels of a pixel or lattice point, side by side, and the way from images to such rows.
#pragma once

#include "gather.h"
#include "permutohedral.h"
#include "vector.h"

namespace pac {

// 21 classes fill three vectors of eight; with sixteen, a quarter of all that is read would be zeros.
constexpr int kChannelBytes = kVectorBytes < 32 ? kVectorBytes : 32;
template <class T>
constexpr int kChannelLanes = kChannelBytes / sizeof(T);
constexpr int kMostVectors = 4;  // in a row
constexpr int64_t kTilePixels = 64;

template <class T, int N>
struct Row {
  typedef T V __attribute__((vector_size(kChannelBytes), aligned(kChannelBytes)));
  V vectors[N];

  void add(const Row& row, T factor) {
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) vectors[v] += row.vectors[v] * factor;
  }
  void add(const Row& row, const Row& factor) {
#pragma GCC unroll 4
    for (int v = 0; v < N; ++v) vectors[v] += row.vectors[v] * factor.vectors[v];
  }
  T get(int64_t channel) const {
    return vectors[channel / kChannelLanes<T>][channel % kChannelLanes<T>];
  }
  void set(int64_t channel, T value) {
    vectors[channel / kChannelLanes<T>][channel % kChannelLanes<T>] = value;
  }
};

// Channels `first` to `first` + `count` of the `all` that images have.
struct Channels {
  int64_t first, count, all;
};

// Adjacent pixels of one image.
struct PixelTile {
  int64_t image, first, count, image_pixels;
  int64_t pixel() const { return image * image_pixels + first; }
};

class PixelTiles {
 public:
  explicit PixelTiles(const PacLattice& lattice)
      : batch_(lattice.batch), pixels_(lattice.pixels),
        per_image_(ceil_divide(pixels_, kTilePixels)) {}
  int64_t count() const { return batch_ * per_image_; }
  PixelTile operator[](int64_t index) const {
    const int64_t first = index % per_image_ * kTilePixels;
    return {index / per_image_, first, smaller(kTilePixels, pixels_ - first), pixels_};
  }

 private:
  int64_t batch_, pixels_, per_image_;
};

// images (batch, all channels, pixels) to one row per pixel; lanes without a channel are 0.
template <class T, int N>
void to_rows(const PacLattice& lattice, const Channels& channels, const T* images,
             Row<T, N>* rows) {
  const PixelTiles tiles(lattice);
#pragma omp parallel for num_threads(lattice.n_threads) schedule(static)
  for (int64_t index = 0; index < tiles.count(); ++index) {
    const PixelTile tile = tiles[index];
    Row<T, N>* to = rows + tile.pixel();
    const T* from =
        images + (tile.image * channels.all + channels.first) * tile.image_pixels + tile.first;
    for (int64_t p = 0; p < tile.count; ++p) to[p] = Row<T, N>{};
    for (int64_t c = 0; c < channels.count; ++c)
      for (int64_t p = 0; p < tile.count; ++p) to[p].set(c, from[c * tile.image_pixels + p]);
  }
}

template <class T, int N>
void from_rows(const Row<T, N>* rows, const PixelTile& tile, const Channels& channels, T* images) {
  T* to = images + (tile.image * channels.all + channels.first) * tile.image_pixels + tile.first;
  for (int64_t c = 0; c < channels.count; ++c)
    for (int64_t p = 0; p < tile.count; ++p) to[c * tile.image_pixels + p] = rows[p].get(c);
}

}  // namespace pac
