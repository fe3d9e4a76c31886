// A hash table that numbers lattice points in the order they are first seen.
//
// The hash is linear in the key: that of a neighbour is the hash plus a constant. Its upper bits
// pick the slot, and collisions go to the next one.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

namespace pac {

constexpr int64_t kMaxDimensions = 32;

// One odd 64-bit number per coordinate, which spreads any run of keys over the upper bits.
struct Multipliers {
  uint64_t of[kMaxDimensions + 1];
  constexpr Multipliers() : of() {
    for (int64_t i = 0; i <= kMaxDimensions; ++i) {
      const uint64_t m = 0x9e3779b97f4a7c15ull * (2 * static_cast<uint64_t>(i) + 1);
      of[i] = ((m ^ (m >> 29)) * 0xbf58476d1ce4e5b9ull) | 1;
    }
  }
};
constexpr Multipliers kMultipliers;

inline uint64_t hash_of(const int32_t* key, int64_t size) {
  uint64_t hash = 0;
  for (int64_t i = 0; i < size; ++i)
    hash += static_cast<uint64_t>(int64_t(key[i])) * kMultipliers.of[i];
  return hash;
}

class PointTable {
 public:
  static constexpr int32_t kNone = -1;

  // Keys of `size` coordinates are stored at `keys`, which has room for all that will be inserted.
  PointTable() = default;
  bool open(int32_t* keys, int64_t size, int64_t expected) {
    keys_ = keys;
    size_ = size;
    bits_ = 12;
    while ((int64_t(1) << bits_) < 2 * expected) ++bits_;
    slots_ = static_cast<Slot*>(calloc(size_t(1) << bits_, sizeof(Slot)));
    return slots_ != nullptr;
  }
  ~PointTable() { free(slots_); }
  PointTable(const PointTable&) = delete;
  PointTable& operator=(const PointTable&) = delete;

  int64_t count() const { return count_; }
  const int32_t* key(int64_t point) const { return keys_ + point * size_; }

  bool is(int64_t point, const int32_t* key) const { return same(this->key(point), key); }

  int32_t find(const int32_t* key, uint64_t hash) const {
    const Slot& slot = slots_[slot_of(key, hash)];
    return static_cast<int32_t>(slot.number) - 1;
  }

  // The number of the point, a new one if it was not there; kNone if there is no memory.
  int32_t insert(const int32_t* key, uint64_t hash) {
    uint64_t at = slot_of(key, hash);
    if (slots_[at].number != 0) return static_cast<int32_t>(slots_[at].number) - 1;
    if (2 * (count_ + 1) > (int64_t(1) << bits_)) {
      if (!grow()) return kNone;
      at = slot_of(key, hash);
    }
    memcpy(keys_ + count_ * size_, key, size_ * sizeof(int32_t));
    slots_[at] = {static_cast<uint32_t>(hash), static_cast<uint32_t>(++count_)};
    return static_cast<int32_t>(count_ - 1);
  }

 private:
  struct Slot {
    uint32_t tag;     // lower bits of the hash: a different tag spares a look at the key
    uint32_t number;  // of the point, counted from 1; 0 is a free slot
  };

  bool same(const int32_t* a, const int32_t* b) const {
    int32_t difference = 0;
    for (int64_t i = 0; i < size_; ++i) difference |= a[i] ^ b[i];
    return difference == 0;
  }

  uint64_t slot_of(const int32_t* key, uint64_t hash) const {
    const uint64_t mask = (uint64_t(1) << bits_) - 1;
    uint64_t at = hash >> (64 - bits_);
    for (;; at = (at + 1) & mask) {
      const Slot slot = slots_[at];
      if (slot.number == 0) return at;
      if (slot.tag == static_cast<uint32_t>(hash) && is(slot.number - 1, key)) return at;
    }
  }

  bool grow() {
    const int64_t bits = bits_ + 2;
    Slot* slots = static_cast<Slot*>(calloc(size_t(1) << bits, sizeof(Slot)));
    if (slots == nullptr) return false;
    const uint64_t mask = (uint64_t(1) << bits) - 1;
    for (int64_t point = 0; point < count_; ++point) {
      const uint64_t hash = hash_of(key(point), size_);
      uint64_t at = hash >> (64 - bits);
      while (slots[at].number != 0) at = (at + 1) & mask;
      slots[at] = {static_cast<uint32_t>(hash), static_cast<uint32_t>(point + 1)};
    }
    free(slots_);
    slots_ = slots;
    bits_ = bits;
    return true;
  }

  int32_t* keys_ = nullptr;
  int64_t size_ = 0, bits_ = 0, count_ = 0;
  Slot* slots_ = nullptr;
};

}  // namespace pac
