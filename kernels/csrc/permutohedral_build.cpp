// The permutohedral lattice of an image: which lattice points lie around each pixel, and how near.
//
// Embedding (Adams et al. 2010, section 3): y = E f lies in the plane of D + 1 coordinates that sum
// to 0. Rounding y to multiples of D + 1 and ranking the remainders gives the simplex; the sorted
// remainders' differences are its barycentric weights. Features are scaled so that splat, blur and
// slice together are a Gaussian of standard deviation 1.
//
// Work: each thread takes one run of pixels, embeds a vector of them at a time and numbers the
// lattice points it meets. The threads' tables are then merged in the order of the runs, which
// numbers points by their first pixel, whatever the number of threads.
#include <math.h>
#include <omp.h>

#include <new>

#include "gather.h"
#include "permutohedral.h"
#include "permutohedral_table.h"
#include "scratch.h"
#include "vector.h"

namespace pac {
namespace {

// The simplices around kLanes pixels.
template <class T>
struct Simplices {
  T remainder[kMaxDimensions + 1][kLanes<T>];  // over D + 1
  Bits<T> nearest[kMaxDimensions + 1][kLanes<T>];  // multiple of D + 1, in units of D + 1
  Bits<T> rank[kMaxDimensions + 1][kLanes<T>];     // of the remainder, 0 is the largest
};

template <class T>
class Embedding {
 public:
  explicit Embedding(int64_t dimensions) : d_(dimensions) {
    // Blurs and interpolations add up to a variance of 2/3 (D + 1)^2, see the paper's section 3.
    const double deviation = sqrt(2.0 / 3.0) * (d_ + 1);
    for (int64_t i = 0; i < d_; ++i) scale_[i] = T(deviation / sqrt(double((i + 1) * (i + 2))));
  }

  // `features` (D, kLanes), each coordinate `pitch` from the next.
  void operator()(const T* features, int64_t pitch, Simplices<T>& out) const {
    using V = Vector<T>;
    using B = Vector<Bits<T>>;
    constexpr T kRound = T(3) * (int64_t(1) << (Float<T>::kMantissa - 1));
    V y[kMaxDimensions + 1];
    V sum{};
    for (int64_t j = d_; j > 0; --j) {
      const V f = load(features + (j - 1) * pitch) * scale_[j - 1];
      y[j] = sum - T(j) * f;
      sum += f;
    }
    y[0] = sum;

    B rank[kMaxDimensions + 1], nearest[kMaxDimensions + 1];
    B excess{};
    const T down = T(1) / T(d_ + 1);
    for (int64_t i = 0; i <= d_; ++i) {
      // Adding 1.5 * 2^mantissa leaves the nearest integer in the low bits of the sum.
      const V shifted = y[i] * down + kRound;
      nearest[i] = (B)shifted - (B)broadcast<T>(kRound);
      y[i] = (y[i] - (shifted - kRound) * T(d_ + 1)) * down;
      excess += nearest[i];
      rank[i] = B{};
    }
    for (int64_t i = 0; i < d_; ++i)
      for (int64_t j = i + 1; j <= d_; ++j) {
        const B smaller = (B)(y[i] < y[j]);  // -1 where true
        rank[i] -= smaller;
        rank[j] += smaller + 1;
      }
    // The rounded point may lie off the plane: move the coordinates that were rounded furthest.
    for (int64_t i = 0; i <= d_; ++i) {
      rank[i] += excess;
      const B below = rank[i] < 0, above = rank[i] > Bits<T>(d_);
      const B turn = above - below;  // +1 below, -1 above
      rank[i] += turn * Bits<T>(d_ + 1);
      nearest[i] += turn;
      y[i] -= __builtin_convertvector(turn, V);
      __builtin_memcpy(out.remainder[i], &y[i], sizeof(V));
      __builtin_memcpy(out.nearest[i], &nearest[i], sizeof(B));
      __builtin_memcpy(out.rank[i], &rank[i], sizeof(B));
    }
  }

 private:
  int64_t d_;
  T scale_[kMaxDimensions];
};

// Numbers the corners of one simplex: corner r has coordinates congruent to r modulo D + 1. Those
// of the pixel before, `guess` or null, are looked at first: most often they are the same.
template <class T>
bool add_simplex(const Simplices<T>& simplices, int64_t lane, int64_t d, int64_t image,
                 PointTable& table, const int32_t* guess, int32_t* corners, T* barycentric) {
  T sorted[kMaxDimensions + 1];
  int64_t coordinate_of[kMaxDimensions + 1];
  int32_t key[kMaxDimensions + 1];
  uint64_t step = 0;
  for (int64_t i = 0; i <= d; ++i) {
    const int64_t rank = simplices.rank[i][lane];
    sorted[rank] = simplices.remainder[i][lane];
    coordinate_of[rank] = i;
    key[i] = static_cast<int32_t>(simplices.nearest[i][lane] * (d + 1));
    if (i < d) step += kMultipliers.of[i];
  }
  key[d] = static_cast<int32_t>(image);  // the last coordinate is known: they sum to 0
  uint64_t hash = hash_of(key, d + 1);
  for (int64_t r = 0; r <= d; ++r) {
    barycentric[r] = r == 0 ? T(1) + sorted[d] - sorted[0] : sorted[d - r] - sorted[d - r + 1];
    corners[r] = guess && table.is(guess[r], key) ? guess[r] : table.insert(key, hash);
    if (corners[r] == PointTable::kNone) return false;
    // To the next corner: up by 1, but for the smallest remainder, which goes down by D.
    const int64_t down = coordinate_of[d - r];
    for (int64_t i = 0; i < d; ++i) ++key[i];
    hash += step;
    if (down < d) {
      key[down] -= static_cast<int32_t>(d + 1);
      hash -= static_cast<uint64_t>(d + 1) * kMultipliers.of[down];
    }
  }
  return true;
}

template <class T>
bool embed(const T* features, const PacLattice& lattice, int64_t first, int64_t last,
           PointTable& table) {
  const int64_t d = lattice.dimensions, n = lattice.pixels;
  const Embedding<T> embedding(d);
  T* barycentric = lattice.barycentric;
  Simplices<T> simplices;
  T padded[kMaxDimensions * kLanes<T>] = {};
  for (int64_t pixel = first; pixel < last;) {
    const int64_t image = pixel / n, at = pixel % n;
    const int64_t lanes = smaller(smaller(kLanes<T>, last - pixel), n - at);
    const T* from = features + image * d * n + at;
    if (lanes == kLanes<T>) {
      embedding(from, n, simplices);
    } else {
      for (int64_t i = 0; i < d; ++i)
        for (int64_t lane = 0; lane < lanes; ++lane)
          padded[i * kLanes<T> + lane] = from[i * n + lane];
      embedding(padded, kLanes<T>, simplices);
    }
    for (int64_t lane = 0; lane < lanes; ++lane, ++pixel) {
      int32_t* corners = lattice.corners + pixel * (d + 1);
      const int32_t* guess = pixel > first ? corners - (d + 1) : nullptr;
      if (!add_simplex(simplices, lane, d, image, table, guess, corners,
                       barycentric + pixel * (d + 1)))
        return false;
    }
  }
  return true;
}

// Renumbers the runs' points to one numbering; `tables[0]` becomes the table of all points.
bool merge(PointTable* tables, int64_t runs, int64_t size, int32_t* numbers, const int64_t* first,
           int32_t* corners) {
  for (int64_t run = 1; run < runs; ++run) {
    const PointTable& table = tables[run];
    for (int64_t point = 0; point < table.count(); ++point) {
      const int32_t* key = table.key(point);
      numbers[point] = tables[0].insert(key, hash_of(key, size));
      if (numbers[point] == PointTable::kNone) return false;
    }
#pragma omp parallel for num_threads(runs) schedule(static)
    for (int64_t c = first[run] * size; c < first[run + 1] * size; ++c)
      corners[c] = numbers[corners[c]];
  }
  return true;
}

// Lists the pixels around each point: every thread makes the lists of one run of points.
template <class T>
void invert(const PacLattice& lattice) {
  const int64_t points = lattice.points, size = lattice.dimensions + 1, threads = lattice.n_threads;
  const int64_t entries = lattice.batch * lattice.pixels * size;
  const T* barycentric = lattice.barycentric;
  T* weights = lattice.splat_weights;
  int32_t* starts = lattice.starts;
  for (int64_t m = 0; m <= points; ++m) starts[m] = 0;
  for (int64_t e = 0; e < entries; ++e) ++starts[lattice.corners[e] + 1];
  for (int64_t m = 0; m < points; ++m) starts[m + 1] += starts[m];
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int64_t thread = 0; thread < threads; ++thread) {
    const int64_t low = points * thread / threads, high = points * (thread + 1) / threads;
    int64_t e = 0;
    for (int64_t pixel = 0; e < entries; ++pixel)
      for (int64_t r = 0; r < size; ++r, ++e) {
        const int64_t m = lattice.corners[e];
        if (m < low || m >= high) continue;
        const int32_t to = starts[m]++;
        lattice.splat_pixels[to] = static_cast<int32_t>(pixel);
        weights[to] = barycentric[e];
      }
  }
  // Filling moved each start to the next list's.
  for (int64_t m = points; m > 0; --m) starts[m] = starts[m - 1];
  starts[0] = 0;
}

template <class T>
int pac_lattice_build(PacLattice& lattice, const T* features, int32_t* keys) {
  const int64_t size = lattice.dimensions + 1, pixels = lattice.batch * lattice.pixels;
  const int64_t runs = larger(1, smaller(lattice.n_threads, pixels / kLanes<T>));
  const Scratch<int64_t> first(runs + 1);
  const Scratch<int32_t> other_keys((runs - 1) * (pixels / runs + 1) * size * size);
  const Scratch<int32_t> numbers((pixels / runs + 1) * size);
  PointTable* tables = new (std::nothrow) PointTable[runs];
  if (first.failed() || other_keys.failed() || numbers.failed() || tables == nullptr) {
    delete[] tables;
    return 1;
  }
  for (int64_t run = 0; run <= runs; ++run) first.data()[run] = pixels * run / runs;
  int64_t failures = 0;
#pragma omp parallel for num_threads(runs) schedule(static, 1) reduction(+ : failures)
  for (int64_t run = 0; run < runs; ++run) {
    int32_t* at =
        run == 0 ? keys : other_keys.data() + (run - 1) * (pixels / runs + 1) * size * size;
    const bool done = tables[run].open(at, size, 0) &&
                      embed<T>(features, lattice, first.data()[run], first.data()[run + 1],
                               tables[run]);
    failures += !done;
  }
  const bool done = failures == 0 && merge(tables, runs, size, numbers.data(), first.data(),
                                           lattice.corners);
  lattice.points = tables[0].count();
  delete[] tables;
  if (!done) return 1;
  invert<T>(lattice);
  return 0;
}

}  // namespace
}  // namespace pac

PAC_DEFINE(pac_lattice_build, (PacLattice * lattice, PacArray features, int32_t* keys), *lattice,
           features, keys)

int pac_lattice_neighbours(int64_t dimensions, int64_t points, const int32_t* keys, int64_t pairs,
                           const int32_t* offsets, int64_t n_threads, int32_t* neighbours) {
  using namespace pac;
  const int64_t size = dimensions + 1;
  const Scratch<int32_t> copy(points * size);
  PointTable table;
  if (copy.failed() || !table.open(copy.data(), size, points)) return 1;
  for (int64_t m = 0; m < points; ++m) {
    const int32_t* key = keys + m * size;
    if (table.insert(key, hash_of(key, size)) == PointTable::kNone) return 1;
  }
  const int32_t none = static_cast<int32_t>(points);
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 1)
  for (int64_t pair = 0; pair < pairs; ++pair) {
    int32_t offset[kMaxDimensions + 1] = {};  // of the image: 0
    memcpy(offset, offsets + pair * dimensions, dimensions * sizeof(int32_t));
    const uint64_t step = hash_of(offset, size);
    int32_t* list = neighbours + pair * points * 2;
    for (int64_t m = 0; m < points; ++m) list[2 * m + 1] = none;
    for (int64_t m = 0; m < points; ++m) {
      int32_t key[kMaxDimensions + 1];
      for (int64_t i = 0; i < size; ++i) key[i] = keys[m * size + i] + offset[i];
      const int32_t found = table.find(key, hash_of(keys + m * size, size) + step);
      list[2 * m] = found == PointTable::kNone ? none : found;
      // Who is at +offset of m has m at -offset.
      if (found != PointTable::kNone) list[2 * found + 1] = static_cast<int32_t>(m);
    }
  }
  return 0;
}
