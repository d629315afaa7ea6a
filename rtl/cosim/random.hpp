// Random numbers that depend on the seed alone (xorshift64*, Marsaglia / Vigna).
#pragma once

#include <cstdint>

namespace cosim {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du) {
    if (state_ == 0) state_ = 1;
  }
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1du;
  }
  // 0 .. bound - 1
  uint64_t below(uint64_t bound) { return (next() >> 16) % bound; }
  bool one_in(uint64_t chance) { return below(chance) == 0; }

 private:
  uint64_t state_;
};

}  // namespace cosim
