// Random bits that are equal on every machine and with every compiler: whatever depends on a seed
// must be reproducible from the journal alone.
#pragma once

#include <cstdint>

namespace taskbench::reports::stats {

/// SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014).
/// The standard's engines would do as well, but not its distributions, which differ between
/// libraries.
class SplitMix64 {
 public:
  explicit constexpr SplitMix64(std::uint64_t seed) : state_(seed) {}

  /// 64 independent fair bits.
  constexpr std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace taskbench::reports::stats
