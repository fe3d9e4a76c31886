// Vectors of float or double as wide as the instruction set this file is compiled for, and exp and
// log on them. Written with the vector extensions of GCC and Clang: no intrinsics, one source.
#pragma once

#include <stdint.h>

#include <limits>
#include <type_traits>

namespace pac {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
constexpr int kBlockRows = 8, kBlockVectors = 3;  // 24 accumulators of 32 registers
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
constexpr int kBlockRows = 6, kBlockVectors = 2;  // 12 accumulators of 16 registers
#else
constexpr int kVectorBytes = 16;
constexpr int kBlockRows = 6, kBlockVectors = 2;
#endif

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vector = typename VectorOf<T>::type;
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

template <class T>
constexpr int kLanes = kVectorBytes / sizeof(T);
// Pixels of a tile. A multiple of kLanes for every instruction set, and of a block of vectors.
template <class T>
constexpr int kTile = 192 / sizeof(T);

template <class T>
inline Vector<T> load(const T* from) {
  Vector<T> value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
inline void store(T* to, Vector<T> value) {
  __builtin_memcpy(to, &value, sizeof value);
}

template <class T>
inline Vector<T> broadcast(T value) {
  return value - Vector<T>{};
}

template <class T>
struct Float;
template <>
struct Float<float> {
  static constexpr int kMantissa = 23, kBias = 127;
  static constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;  // high: 9 bits
  static constexpr float kExpMin = -87.3f, kExpMax = 88.72f;
  static constexpr int kExpTerms = 7, kLogTerms = 5;
};
template <>
struct Float<double> {
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr double kLn2High = 0.693147180369123816490, kLn2Low = 1.90821492927058770002e-10;
  static constexpr double kExpMin = -708.3, kExpMax = 709.78;
  static constexpr int kExpTerms = 13, kLogTerms = 11;
};

// exp(x) = 2^n exp(r), |r| <= ln(2) / 2, with exp(r) by its Taylor series: within 2 ulp. Results
// below the smallest normal number are 0. NaN stays NaN.
template <class T>
inline Vector<T> exp(Vector<T> x) {
  using F = Float<T>;
  using BitVector = Vector<Bits<T>>;
  // Adding 1.5 * 2^mantissa leaves the nearest integer in the low bits of the sum.
  constexpr T kRound = T(3) * (int64_t(1) << (F::kMantissa - 1));
  const Vector<T> shifted = x * T(1.4426950408889634074) + kRound;
  const Vector<T> n = shifted - kRound;
  const Vector<T> r = (x - n * F::kLn2High) - n * F::kLn2Low;

  Vector<T> series = broadcast<T>(1);
  for (int k = F::kExpTerms; k >= 1; --k) series = series * r * T(1.0 / k) + T(1);

  const BitVector exponent = (BitVector)shifted - (BitVector)broadcast<T>(kRound) + F::kBias;
  const Vector<T> scaled = series * (Vector<T>)(exponent << F::kMantissa);
  const Vector<T> floored = x < F::kExpMin ? Vector<T>{} : scaled;
  return x > F::kExpMax ? broadcast<T>(std::numeric_limits<T>::infinity()) : floored;
}

// log(x) for normal x > 0: x = 2^n m with m about 1, and log(m) = 2 artanh((m - 1) / (m + 1)).
template <class T>
inline Vector<T> log(Vector<T> x) {
  using F = Float<T>;
  using BitVector = Vector<Bits<T>>;
  constexpr Bits<T> kSqrtHalf = sizeof(T) == 4 ? Bits<T>(0x3f3504f3) : Bits<T>(0x3fe6a09e667f3bcd);
  constexpr T kInteger = T(int64_t(1) << F::kMantissa);
  // Counting exponents from sqrt(1/2) puts m between sqrt(1/2) and sqrt(2).
  const BitVector bits = (BitVector)x;
  const BitVector above = bits - kSqrtHalf;
  const BitVector offset = (above >> F::kMantissa) + F::kBias;  // positive, hence the bias
  const Vector<T> n =
      (Vector<T>)(offset | (BitVector)broadcast<T>(kInteger)) - (kInteger + T(F::kBias));
  const Vector<T> m = (Vector<T>)((above & ((Bits<T>(1) << F::kMantissa) - 1)) + kSqrtHalf);

  const Vector<T> s = (m - T(1)) / (m + T(1));
  const Vector<T> s2 = s * s;
  Vector<T> series = broadcast<T>(T(1) / (2 * F::kLogTerms + 1));
  for (int k = F::kLogTerms - 1; k >= 0; --k) series = series * s2 + T(1) / (2 * k + 1);
  const Vector<T> value = n * F::kLn2High + (n * F::kLn2Low + T(2) * s * series);
  return x < std::numeric_limits<T>::infinity() ? value : x;
}

}  // namespace pac
