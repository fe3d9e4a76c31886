// Subnormal numbers, those below 1.2e-38 in float: a CPU takes some hundred cycles for each of them, and a
// CRF is full of them. exp(-|d|^2 / 2) across an edge is one, and so is the marginal of a label that a
// pixel surely has not. The kernels take them for 0, as CUDA's fast modes do.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <stdint.h>
#endif

namespace pac {

// In its scope, on its thread, subnormal operands and results are 0.
class FlushSubnormals {
 public:
  FlushSubnormals() : before_(get()) { set(before_ | kFlush); }
  ~FlushSubnormals() { set(before_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
#if defined(__SSE__)
  using Mode = unsigned;
  static constexpr Mode kFlush = 0x8040;  // results (FTZ) and operands (DAZ)
  static Mode get() { return _mm_getcsr(); }
  static void set(Mode mode) { _mm_setcsr(mode); }
#elif defined(__aarch64__)
  using Mode = uint64_t;
  static constexpr Mode kFlush = 1u << 24;  // FZ
  static Mode get() {
    Mode mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void set(Mode mode) { asm volatile("msr fpcr, %0" ::"r"(mode)); }
#else
  using Mode = int;
  static constexpr Mode kFlush = 0;
  static Mode get() { return 0; }
  static void set(Mode) {}
#endif
  const Mode before_;
};

}  // namespace pac
