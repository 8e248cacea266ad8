#include "reports/stats/heterogeneity.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "reports/stats/require.hpp"
#include "reports/stats/split_mix.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::stats {
namespace {

/// The sizes of the groups, and room for their sums.
struct Groups {
  explicit Groups(const std::vector<std::size_t>& of_places) {
    std::map<std::size_t, std::size_t> numbers;
    for (const std::size_t each : of_places) {
      const std::size_t number = numbers.try_emplace(each, numbers.size()).first->second;
      if (number == sizes.size()) sizes.push_back(0);
      sizes[number] += 1;
      places.push_back(number);
    }
    sums.resize(sizes.size());
  }

  /// The sum of squares between the groups of a row whose mean is 0.
  double between(const std::vector<double>& row) {
    std::ranges::fill(sums, 0);
    for (std::size_t i = 0; i < row.size(); ++i) sums[places[i]] += row[i];
    double squares = 0;
    for (std::size_t g = 0; g < sizes.size(); ++g) squares += sums[g] * sums[g] / sizes[g];
    return squares;
  }

  std::vector<std::size_t> places;
  std::vector<double> sizes;
  std::vector<double> sums;
};

/// A row less its mean, scaled so that its squares sum up to 1; all 0 if nothing differs.
struct Centred {
  explicit Centred(std::vector<double> row) : values(std::move(row)) {
    const double centre = mean(values);
    for (double& each : values) {
      each -= centre;
      squares += each * each;
    }
    for (double& each : values) each = squares > 0 ? each / std::sqrt(squares) : 0;
  }
  std::vector<double> values;
  double squares = 0;
};

/// Whether there is scatter both between groups and within them.
bool are_comparable(const Groups& groups) {
  return groups.sizes.size() >= 2 && groups.sizes.size() < groups.places.size();
}

double deviation_of(double share, double squares, const Groups& groups) {
  const auto k = static_cast<double>(groups.sizes.size());
  const auto n = static_cast<double>(groups.places.size());
  double size_squares = 0;
  for (const double size : groups.sizes) size_squares += size * size;
  const double typical_size = (n - size_squares / n) / (k - 1);
  const double between = squares * share / (k - 1);
  const double within = squares * (1 - share) / (n - k);
  return std::sqrt(std::max(0.0, (between - within) / typical_size));
}

}  // namespace

std::vector<Heterogeneity> heterogeneity(std::span<const std::vector<double>> rows,
                                         const std::vector<std::size_t>& groups,
                                         std::uint64_t seed) {
  std::vector<Heterogeneity> result(rows.size());
  Groups observed(groups);
  std::vector<Centred> centred;
  for (const std::vector<double>& row : rows) {
    require(row.size() == groups.size(), "heterogeneity: one group for each observation");
    require_finite(row, "heterogeneity");
    centred.emplace_back(row);
  }
  if (!are_comparable(observed)) return result;
  std::vector<double> shares;
  for (std::size_t w = 0; w < rows.size(); ++w) {
    shares.push_back(observed.between(centred[w].values));
    result[w].deviation = deviation_of(shares[w], centred[w].squares, observed);
  }
  std::vector<std::size_t> reached(rows.size(), 1);
  SplitMix64 random(seed);
  for (std::size_t permutation = 0; permutation < kPermutations; ++permutation) {
    for (std::size_t left = groups.size(); left > 1; --left) {
      std::swap(observed.places[left - 1], observed.places[random.next() % left]);
    }
    double greatest = 0;
    for (const Centred& row : centred) greatest = std::max(greatest, observed.between(row.values));
    for (std::size_t w = 0; w < rows.size(); ++w) {
      reached[w] += greatest >= shares[w] * (1 - 1e-12) ? 1U : 0U;
    }
  }
  for (std::size_t w = 0; w < rows.size(); ++w) {
    result[w].p_adjusted = static_cast<double>(reached[w]) / (kPermutations + 1.0);
  }
  return result;
}

double deviation_between(const std::vector<double>& row, const std::vector<std::size_t>& groups) {
  require(row.size() == groups.size(), "deviation_between: one group for each observation");
  require_finite(row, "deviation_between");
  Groups observed(groups);
  if (!are_comparable(observed)) return 0;
  const Centred centred(row);
  return deviation_of(observed.between(centred.values), centred.squares, observed);
}

}  // namespace taskbench::reports::stats
