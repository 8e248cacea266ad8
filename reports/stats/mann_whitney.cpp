#include "reports/stats/mann_whitney.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "reports/stats/distributions.hpp"
#include "reports/stats/require.hpp"

namespace taskbench::reports::stats {
namespace {

struct Ranking {
  double u = 0;         ///< the greater of the two U: pairs in which one sample is above, ties half
  double tie_term = 0;  ///< sum of t^3 - t over groups of t equal values; 0 without ties
};

Ranking rank(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::sort(all.begin(), all.end());
  Ranking result;
  for (auto first = all.begin(); first != all.end();) {
    const auto last = std::upper_bound(first, all.end(), *first);
    const auto equal = static_cast<double>(last - first);
    result.tie_term += equal * equal * equal - equal;
    first = last;
  }
  std::vector<double> sorted(b.begin(), b.end());
  std::sort(sorted.begin(), sorted.end());
  for (const double value : a) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    result.u += static_cast<double>((first - sorted.begin()) + (last - sorted.begin())) / 2;
  }
  result.u = std::max(result.u, static_cast<double>(a.size() * b.size()) - result.u);
  return result;
}

/// P(U >= u) when all orders of n and m values are equally likely. The greatest value belongs to
/// the first sample with probability n / (n + m), and then lies above all m of the other:
///     P(n, m; U) = n / (n + m) P(n - 1, m; U - m) + m / (n + m) P(n, m - 1; U)
double exact_upper_tail(std::size_t n, std::size_t m, double u) {
  // by_n[i] is the distribution for i and j values, j being counted up to m.
  std::vector<std::vector<double>> by_n(n + 1, std::vector<double>(n * m + 1, 0.0));
  for (std::vector<double>& distribution : by_n) {
    distribution[0] = 1;  // j = 0: there are no pairs
  }
  for (std::size_t j = 1; j <= m; ++j) {
    for (std::size_t i = 1; i <= n; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(i + j);
      for (std::size_t pairs = i * j + 1; pairs-- > 0;) {
        const double with = pairs >= j ? by_n[i - 1][pairs - j] : 0;
        by_n[i][pairs] = share * with + (1 - share) * by_n[i][pairs];
      }
    }
  }
  const auto start = by_n[n].begin() + static_cast<std::ptrdiff_t>(std::ceil(u));
  return std::accumulate(start, by_n[n].end(), 0.0);
}

double asymptotic_upper_tail(double n, double m, const Ranking& ranking) {
  const double total = n + m;
  const double variance = n * m / 12 * (total + 1 - ranking.tie_term / (total * (total - 1)));
  if (variance <= 0) {
    return 1;
  }
  return normal_upper_tail((ranking.u - n * m / 2 - 0.5) / std::sqrt(variance));
}

}  // namespace

double mann_whitney_p(std::span<const double> a, std::span<const double> b,
                      MannWhitneyMethod method) {
  require_finite(a, "Mann-Whitney test");
  require_finite(b, "Mann-Whitney test");
  const Ranking ranking = rank(a, b);
  const bool has_ties = ranking.tie_term > 0;
  if (method == MannWhitneyMethod::automatic) {
    constexpr std::size_t kSmall = 8;
    method = std::min(a.size(), b.size()) <= kSmall && !has_ties ? MannWhitneyMethod::exact
                                                                 : MannWhitneyMethod::asymptotic;
  }
  if (method == MannWhitneyMethod::asymptotic) {
    return std::min(1.0, 2 * asymptotic_upper_tail(static_cast<double>(a.size()),
                                                   static_cast<double>(b.size()), ranking));
  }
  require(!has_ties, "exact Mann-Whitney test of tied values");
  // The shorter sample first: it decides how many distributions are kept.
  const auto [fewer, more] = std::minmax({a.size(), b.size()});
  return std::min(1.0, 2 * exact_upper_tail(fewer, more, ranking.u));
}

}  // namespace taskbench::reports::stats
