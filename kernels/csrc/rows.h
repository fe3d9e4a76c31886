// What is done to the rows of a tile: kTile pixels, of which a tap sees a span.
//
// Where memory allows, whole vectors are read even if only part of them lies in the span, and the
// rest is masked: a value outside the span never takes part in a sum, be it NaN.
#pragma once

#include <stddef.h>

#include "gather.h"

namespace pac {

template <class T>
constexpr int kTileVectors = kTile<T> / kLanes<T>;

// Images (batch, channels, pixels).
template <class T>
struct Planes {
  const T* data;
  int64_t batch, channels, pixels;

  const T* at(int64_t entry, int64_t channel, int64_t pixel) const {
    return data + (entry * channels + channel) * pixels + pixel;
  }
  // Whether kTile elements from `pixel` on may be read in each of n channels from `channel` on;
  // they may run into the next row or plane.
  bool readable(int64_t entry, int64_t channel, int64_t n, int64_t pixel) const {
    const int64_t first = (entry * channels + channel) * pixels + pixel;
    return first >= 0 && first + (n - 1) * pixels + kTile<T> <= batch * channels * pixels;
  }
};

// Which lanes of a tile lie in a span.
template <class T>
struct Mask {
  using Lanes = Vector<Bits<T>>;
  Lanes lanes[kTileVectors<T>];

  explicit Mask(const Span& span) {
    const Bits<T> begin = Bits<T>(span.begin), end = Bits<T>(span.end);
    Lanes index;
    for (int lane = 0; lane < kLanes<T>; ++lane) index[lane] = lane;
    for (int v = 0; v < kTileVectors<T>; ++v, index += kLanes<T>)
      lanes[v] = (index >= begin) & (index < end);
  }
};

// to[p] = from[p * advance] within the span, 0 in the rest of the tile.
template <class T>
inline void copy_row(T* to, const T* from, int64_t advance, int64_t begin, int64_t end) {
  for (int64_t p = 0; p < begin; ++p) to[p] = 0;
  if (advance == 1) {
    for (int64_t p = begin; p < end; ++p) to[p] = from[p];
  } else {
    for (int64_t p = begin; p < end; ++p) to[p] = from[p * advance];
  }
  for (int64_t p = end; p < kTile<T>; ++p) to[p] = 0;
}

// Brings the row that the next tile will read into cache: tiles go from left to right. A row that
// does not start at a cache line touches one line more.
template <class T>
inline void prefetch_next(const T* row) {
  const char* next = reinterpret_cast<const char*>(row + kTile<T>);
  for (size_t line = 0; line <= kTile<T> * sizeof(T); line += 64) __builtin_prefetch(next + line);
}

// The row of a tile in one channel, element p at result[p]: where it lies if `in_place` and memory
// allow, with anything outside the span; else copied to `room`, with 0 outside the span.
template <class T>
inline const T* row_of(const Planes<T>& planes, int64_t entry, int64_t channel, int64_t pixel,
                       int64_t step, const Span& span, bool in_place, T* room) {
  const T* row = planes.at(entry, channel, pixel);
  if (in_place && step == 1 && planes.readable(entry, channel, 1, pixel)) {
    prefetch_next(row);
    return row;
  }
  copy_row(room, row, step, span.begin, span.end);
  return room;
}

template <bool kMasked, class T>
inline void scale_whole_rows(T* to, const T* kernel, const T* from, int64_t pitch, int64_t n,
                             const Span& span) {
  const Mask<T> mask(span);
  Vector<T> k[kTileVectors<T>];
  for (int v = 0; v < kTileVectors<T>; ++v) k[v] = load(kernel + v * kLanes<T>);
  for (int64_t c = 0; c < n; ++c, to += kTile<T>, from += pitch) {
    prefetch_next(from);
    for (int v = 0; v < kTileVectors<T>; ++v) {
      const Vector<T> scaled = k[v] * load(from + v * kLanes<T>);
      store<T>(to + v * kLanes<T>, kMasked ? (mask.lanes[v] ? scaled : Vector<T>{}) : scaled);
    }
  }
}

// For n channels from `channel` on: to[c][p] = kernel[p] * (what p sees through the span), 0 outside.
template <class T>
inline void scale_rows(T* to, const T* kernel, const Planes<T>& source, int64_t entry,
                       int64_t channel, int64_t n, const Span& span, int64_t advance) {
  const T* from = source.at(entry, channel, span.source);
  if (advance == 1 && source.readable(entry, channel, n, span.source)) {
    if (span.begin == 0 && span.end == kTile<T>)
      scale_whole_rows<false>(to, kernel, from, source.pixels, n, span);
    else
      scale_whole_rows<true>(to, kernel, from, source.pixels, n, span);
    return;
  }
  for (int64_t c = 0; c < n; ++c, to += kTile<T>, from += source.pixels) {
    copy_row(to, from, advance, span.begin, span.end);
    for (int64_t p = span.begin; p < span.end; ++p) to[p] *= kernel[p];
  }
}

// sum[p] = sum over n channels of rows[c][p] * (what p sees through the span), 0 outside.
template <class T>
inline void dot_rows(T* sum, const T* rows, const Planes<T>& source, int64_t entry, int64_t channel,
                     int64_t n, const Span& span, int64_t advance) {
  const T* from = source.at(entry, channel, span.source);
  if (advance == 1 && source.readable(entry, channel, n, span.source)) {
    const Mask<T> mask(span);
    Vector<T> sums[kTileVectors<T>] = {};
    for (int64_t c = 0; c < n; ++c, rows += kTile<T>, from += source.pixels) {
      prefetch_next(from);
      for (int v = 0; v < kTileVectors<T>; ++v)
        sums[v] += load(rows + v * kLanes<T>) * load(from + v * kLanes<T>);
    }
    for (int v = 0; v < kTileVectors<T>; ++v)
      store<T>(sum + v * kLanes<T>, mask.lanes[v] ? sums[v] : Vector<T>{});
    return;
  }
  for (int64_t p = 0; p < kTile<T>; ++p) sum[p] = 0;
  for (int64_t c = 0; c < n; ++c, rows += kTile<T>, from += source.pixels)
    for (int64_t p = span.begin; p < span.end; ++p) sum[p] += rows[p] * from[p * advance];
}

// to[p * step] = from[p] for the pixels of a tile.
template <class T>
inline void write_row(T* to, const T* from, const Tile& tile) {
  if (tile.step == 1) {
    for (int64_t p = 0; p < tile.count; ++p) to[p] = from[p];
  } else {
    for (int64_t p = 0; p < tile.count; ++p) to[p * tile.step] = from[p];
  }
}

}  // namespace pac
