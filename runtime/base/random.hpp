// A small, fast, seedable random source for scheduling choices. Not for cryptography.
#pragma once

#include <cstdint>

namespace taskbench::rt::base {

/// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016).
class FastRandom {
 public:
  explicit FastRandom(std::uint64_t seed) noexcept : state_(scramble(seed)) {}

  /// Uniform in [0, bound); `bound` > 0. The multiply-shift has a bias below bound / 2^32.
  [[nodiscard]] std::uint32_t below(std::uint32_t bound) noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{next()} * bound) >> 32);
  }

 private:
  // splitmix64's finaliser: neighbouring seeds give unrelated states, and never the state 0.
  static std::uint64_t scramble(std::uint64_t x) noexcept {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    x ^= x >> 31;
    return x == 0 ? 1 : x;
  }

  std::uint32_t next() noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::uint32_t>((state_ * 0x2545f4914f6cdd1dU) >> 32);
  }

  std::uint64_t state_;
};

}  // namespace taskbench::rt::base
