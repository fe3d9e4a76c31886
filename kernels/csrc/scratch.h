// Scratch memory, aligned to cache lines. Allocated before threads start, so that a failure is one
// return code and no thread has to give up half way.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

namespace pac {

constexpr size_t kCacheLine = 64;

template <class E>
class Scratch {
 public:
  explicit Scratch(int64_t n)
      : data_(static_cast<E*>(aligned_alloc(
            kCacheLine, (static_cast<size_t>(n) * sizeof(E) / kCacheLine + 1) * kCacheLine))) {}
  ~Scratch() { free(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  bool failed() const { return data_ == nullptr; }
  E* data() const { return data_; }

 private:
  E* data_;
};

// `n` elements for each thread.
template <class E>
class PerThread : public Scratch<E> {
 public:
  PerThread(int64_t threads, int64_t n) : Scratch<E>(threads * n), n_(n) {}
  E* operator[](int64_t thread) const { return this->data() + thread * n_; }

 private:
  int64_t n_;
};

}  // namespace pac
