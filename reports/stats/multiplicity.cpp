#include "reports/stats/multiplicity.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>

#include "reports/stats/require.hpp"

namespace taskbench::reports::stats {
namespace {

void require_probabilities(std::span<const double> p, const std::string& name) {
  require(!p.empty(), name + " of no values");
  require(std::all_of(p.begin(), p.end(), [](double value) { return value >= 0 && value <= 1; }),
          name + ": p must lie between 0 and 1");
}

}  // namespace

std::vector<double> bonferroni(std::span<const double> p) {
  require_probabilities(p, "Bonferroni's adjustment");
  std::vector<double> adjusted;
  for (const double value : p) {
    adjusted.push_back(std::min(1.0, value * static_cast<double>(p.size())));
  }
  return adjusted;
}

std::vector<double> sidak(std::span<const double> p) {
  require_probabilities(p, "Sidak's adjustment");
  std::vector<double> adjusted;
  for (const double value : p) {
    // As written above it would lose the digits of a small p.
    adjusted.push_back(-std::expm1(static_cast<double>(p.size()) * std::log1p(-value)));
  }
  return adjusted;
}

std::vector<double> holm(std::span<const double> p) {
  require_probabilities(p, "Holm's adjustment");
  std::vector<std::size_t> ascending(p.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::sort(ascending.begin(), ascending.end(),
            [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double greatest = 0;
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    const auto left = static_cast<double>(p.size() - i);
    greatest = std::max(greatest, std::min(1.0, left * p[ascending[i]]));
    adjusted[ascending[i]] = greatest;
  }
  return adjusted;
}

}  // namespace taskbench::reports::stats
