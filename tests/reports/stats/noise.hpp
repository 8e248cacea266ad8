// Seeded noise for tests of statistics. Each test prints its seed.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "reports/stats/split_mix.hpp"
#include "reports/stats/walsh.hpp"

namespace taskbench::reports::stats {

inline constexpr std::uint64_t kSeed = 20261121;

class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}

  /// Between 0 and 1, neither included.
  double uniform() { return (static_cast<double>(random_.next() >> 12) + 0.5) / 0x1p52; }

  double normal() {
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }

  /// Student's t with 2 degrees of freedom: no variance, and tails as on a shared machine, or
  /// worse.
  double heavy() { return normal() / std::sqrt(-std::log(uniform())); }

  std::vector<double> normals(std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = normal();
    return values;
  }

  std::vector<double> heavies(std::size_t count) {
    std::vector<double> values(count);
    for (double& value : values) value = heavy();
    return values;
  }

 private:
  SplitMix64 random_;
};

/// The mirror image of upper_bound.
inline double lower_bound(std::vector<double> values, double alpha) {
  for (double& value : values) value = -value;
  return -upper_bound(values, alpha);
}

/// Four standard errors of a rate counted in this many trials: a correct rate lies outside in at
/// most one of 15,000 tests.
inline double four_errors(double rate, int trials) {
  return 4 * std::sqrt(rate * (1 - rate) / trials);
}

}  // namespace taskbench::reports::stats
