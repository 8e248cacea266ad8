#include "reports/stats/shift.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "reports/stats/require.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::stats {
namespace {

constexpr const char* kName = "shift between samples";

void require_samples(std::span<const double> below, std::span<const double> above) {
  require_finite(below, kName);
  require_finite(above, kName);
  require(below.size() <= kMaxShiftSample && above.size() <= kMaxShiftSample,
          "shift between samples: too many values");
}

std::vector<double> sorted_differences(std::span<const double> below,
                                       std::span<const double> above) {
  std::vector<double> result;
  for (const double a : above) {
    for (const double b : below) result.push_back(a - b);
  }
  std::ranges::sort(result);
  return result;
}

/// P(U = u) for u = 0 to n m, where U is the number of pairs in which the first sample's value is
/// the greater, if all orders of n and m values are equally likely. The greatest value of all
/// belongs to the first sample with probability i / (i + j), and then exceeds all j values of the
/// other.
std::vector<double> new_pair_count_distribution(std::size_t n, std::size_t m) {
  std::vector<std::vector<double>> of(n + 1, std::vector<double>(n * m + 1, 0.0));
  for (auto& distribution : of) distribution[0] = 1;
  for (std::size_t j = 1; j <= m; ++j) {
    for (std::size_t i = 1; i <= n; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(i + j);
      for (std::size_t pairs = i * j + 1; pairs-- > 0;) {
        const double with = pairs >= j ? of[i - 1][pairs - j] : 0;
        of[i][pairs] = share * with + (1 - share) * of[i][pairs];
      }
    }
  }
  return of[n];
}

/// The distribution, cached: thousands of benchmarks are compared with the same numbers of values.
/// U and n m - U have the same distribution, so the order of the samples does not matter.
const std::vector<double>& pair_count_distribution(std::size_t n, std::size_t m) {
  struct Last {
    std::size_t n = 0;
    std::size_t m = 0;
    std::vector<double> probability;
  };
  thread_local Last last;
  const auto [fewer, more] = std::minmax(n, m);
  if (last.n != fewer || last.m != more) {
    last = {fewer, more, new_pair_count_distribution(fewer, more)};
  }
  return last.probability;
}

/// The greatest k with P(U <= k) <= alpha; empty if there is none.
std::optional<std::size_t> lower_quantile(std::size_t n, std::size_t m, double alpha) {
  // Sums of this many shares are off by some 1e-15: an alpha that is just reached must count.
  constexpr double kSlack = 1e-12;
  const std::vector<double>& probability = pair_count_distribution(n, m);
  std::optional<std::size_t> result;
  double tail = 0;
  for (std::size_t k = 0; k < probability.size(); ++k) {
    tail += probability[k];
    if (tail > alpha * (1 + kSlack)) break;
    result = k;
  }
  return result;
}

}  // namespace

double shift(std::span<const double> below, std::span<const double> above) {
  require_samples(below, above);
  return median(sorted_differences(below, above));
}

double least_shift_p(std::size_t n, std::size_t m) {
  double orders = 1;
  for (std::size_t k = 1; k <= m; ++k) {
    orders *= static_cast<double>(n + k) / static_cast<double>(k);
  }
  return 1 / orders;
}

double shift_p(std::span<const double> below, std::span<const double> above, double least) {
  require_samples(below, above);
  const std::vector<double> differences = sorted_differences(below, above);
  const auto greater =
      static_cast<std::size_t>(differences.end() - std::ranges::upper_bound(differences, least));
  const std::vector<double>& probability = pair_count_distribution(above.size(), below.size());
  double tail = 0;
  for (std::size_t u = probability.size(); u-- > greater;) tail += probability[u];
  return std::min(1.0, tail);
}

double shift_upper_bound(std::span<const double> below, std::span<const double> above,
                         double alpha) {
  require_samples(below, above);
  require_fraction(alpha, "shift between samples: alpha");
  const auto k = lower_quantile(above.size(), below.size(), alpha);
  if (!k) return std::numeric_limits<double>::infinity();
  const std::vector<double> differences = sorted_differences(below, above);
  return differences[differences.size() - 1 - std::min(*k, differences.size() - 1)];
}

Interval shift_interval(std::span<const double> below, std::span<const double> above,
                        double confidence) {
  const double alpha = (1 - confidence) / 2;
  return {-shift_upper_bound(above, below, alpha), shift_upper_bound(below, above, alpha)};
}

}  // namespace taskbench::reports::stats
