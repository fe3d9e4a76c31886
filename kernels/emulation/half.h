// CUDA's 16-bit floating point types, as storage with conversions that round to nearest even.
#pragma once

#include <stdint.h>
#include <string.h>

struct __half {
  uint16_t bits;
};
struct __nv_bfloat16 {
  uint16_t bits;
};

inline uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
inline float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
// Drops the low bits of a number, rounded to nearest even.
inline uint32_t drop_bits(uint32_t value, int n) {
  return (value + (1u << (n - 1)) - 1 + (value >> n & 1)) >> n;
}

inline float __bfloat162float(__nv_bfloat16 value) { return float_of(uint32_t(value.bits) << 16); }
inline __nv_bfloat16 __float2bfloat16(float value) {
  if (value != value) return {0x7fff};
  return {static_cast<uint16_t>(drop_bits(bits_of(value), 16))};
}

inline float __half2float(__half value) {
  const uint32_t sign = uint32_t(value.bits & 0x8000) << 16, rest = value.bits & 0x7fff;
  if (rest >= 0x7c00) return float_of(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  // Scaling by 2^112 moves the exponent to float's place, and makes subnormal numbers normal.
  return float_of(sign | bits_of(float_of(rest << 13) * 0x1p112f));
}
inline __half __float2half(float value) {
  const uint32_t sign = bits_of(value) >> 16 & 0x8000, size = bits_of(value) & 0x7fffffff;
  if (size > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7fff)};
  if (size >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};  // rounds to infinity
  // Below the smallest normal number the last place is 2^-24: adding 1/2 rounds to it.
  if (size < 0x38800000)
    return {static_cast<uint16_t>(sign | (bits_of(float_of(size) + 0.5f) - bits_of(0.5f)))};
  return {static_cast<uint16_t>(sign | drop_bits(size - (112u << 23), 13))};
}
