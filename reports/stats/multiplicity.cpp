#include "reports/stats/multiplicity.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "reports/stats/require.hpp"

namespace taskbench::reports::stats {
std::vector<double> holm(std::span<const double> p) {
  require(!p.empty(), "Holm's adjustment of no values");
  require(std::ranges::all_of(p, [](double value) { return value >= 0 && value <= 1; }),
          "Holm's adjustment: p must lie between 0 and 1");
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
