#include "reports/stats/walsh.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "reports/stats/distributions.hpp"
#include "reports/stats/require.hpp"
#include "reports/stats/split_mix.hpp"

namespace taskbench::reports::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The Walsh averages of values, found by their ranks without computing all n (n + 1) / 2 of them.
/// Those of sorted values increase along each row and each column of a triangle: row i has the
/// means of value i and itself or a later one. So one walk along the border tells how many are
/// below a pivot, and averages that cannot be the wanted one are cut from the rows, until few are
/// left (Johnson and Mizoguchi, Selecting the Kth element in X + Y and X1 + ... + Xm, 1978; with
/// pivots drawn at random, Monahan, ACM Algorithm 616, 1984).
class WalshAverages {
 public:
  explicit WalshAverages(std::span<const double> values) : values_(values.begin(), values.end()) {
    require_finite(values, "Walsh averages");
    std::ranges::sort(values_);
  }

  [[nodiscard]] std::size_t size() const { return values_.size() * (values_.size() + 1) / 2; }

  /// The average at this index in the sorted order, from 0.
  [[nodiscard]] double at(std::size_t place) const {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < values_.size(); ++i) rows.push_back({i, values_.size()});
    std::size_t before = 0;  // averages that are known to come before those in the rows
    std::size_t left = size();
    SplitMix64 random(place);  // affects only the time it takes, not the result
    while (left > kFew) {
      const double pivot = drawn(rows, random.next() % left);
      const std::vector<std::size_t> below = border(pivot, std::less_equal<>());
      const std::vector<std::size_t> up_to = border(pivot, std::less<>());
      if (place < count(below)) {
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].to = std::min(rows[i].to, below[i]);
      } else if (place >= count(up_to)) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
          rows[i].from = std::max(rows[i].from, up_to[i]);
        }
      } else {
        return pivot;
      }
      before = left = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        before += rows[i].from - i;
        left += rows[i].size();
      }
    }
    std::vector<double> few;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = rows[i].from; j < rows[i].to; ++j) few.push_back(average(i, j));
    }
    const auto found = few.begin() + static_cast<std::ptrdiff_t>(place - before);
    std::ranges::nth_element(few, found);
    return *found;
  }

  [[nodiscard]] double median() const {
    const double upper = at(size() / 2);
    return size() % 2 == 1 ? upper : std::midpoint(upper, before(upper, size() / 2));
  }

  /// The averages at these places, counted from either end.
  [[nodiscard]] Interval from_each_end(std::size_t place) const {
    return {at(place), at(size() - 1 - place)};
  }

 private:
  static constexpr std::size_t kFew = 256;  // below this, sorting is faster than cutting

  /// The averages of a row that are left: of value i and those at `from` to `to` - 1.
  struct Row {
    std::size_t from;
    std::size_t to;
    [[nodiscard]] std::size_t size() const { return to > from ? to - from : 0; }
  };

  [[nodiscard]] double average(std::size_t i, std::size_t j) const {
    return std::midpoint(values_[i], values_[j]);
  }

  /// The average at this place among those that are left, row by row.
  [[nodiscard]] double drawn(const std::vector<Row>& rows, std::size_t place) const {
    std::size_t i = 0;
    for (; place >= rows[i].size(); ++i) place -= rows[i].size();
    return average(i, rows[i].from + place);
  }

  /// For each row, the place of its first average that the pivot is `before`.
  template <class Before>
  [[nodiscard]] std::vector<std::size_t> border(double pivot, Before before) const {
    std::vector<std::size_t> places;
    std::size_t place = values_.size();
    for (std::size_t i = 0; i < values_.size(); ++i) {
      while (place > i && before(pivot, average(i, place - 1))) --place;
      places.push_back(std::max(place, i));
    }
    return places;
  }

  /// The average that precedes this one, which is at this place: cheaper than at().
  [[nodiscard]] double before(double value, std::size_t place) const {
    const std::vector<std::size_t> below = border(value, std::less_equal<>());
    if (count(below) < place) return value;
    double greatest = -kInfinity;
    for (std::size_t i = 0; i < below.size(); ++i) {
      if (below[i] > i) greatest = std::max(greatest, average(i, below[i] - 1));
    }
    return greatest;
  }

  /// How many averages lie before the border.
  [[nodiscard]] static std::size_t count(const std::vector<std::size_t>& border) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < border.size(); ++i) sum += border[i] - i;
    return sum;
  }

  std::vector<double> values_;
};

/// signed_rank_lower_tail(), cached: all benchmarks of a trial, and all of its machines, have
/// equally many blocks, and computing it takes longer than all lookups.
const std::vector<double>& lower_tail_of(std::size_t n) {
  constexpr std::size_t kMostKept = 16;
  thread_local std::map<std::size_t, std::vector<double>> kept;
  if (kept.size() == kMostKept && !kept.contains(n)) kept.clear();
  std::vector<double>& tail = kept[n];
  if (tail.empty()) tail = signed_rank_lower_tail(n);
  return tail;
}

/// The greatest k with P(W <= k) <= alpha: this many Walsh averages lie outside a bound.
std::optional<std::size_t> cut(const std::vector<double>& lower_tail, double alpha) {
  const auto beyond = std::upper_bound(lower_tail.begin(), lower_tail.end(), alpha);
  if (beyond == lower_tail.begin()) return std::nullopt;
  return static_cast<std::size_t>(beyond - lower_tail.begin()) - 1;
}

/// Both bounds, each with an error of alpha.
Interval bounds(std::span<const double> values, double alpha) {
  require_fraction(alpha, "confidence bound: alpha");
  const WalshAverages averages(values);
  const auto outside = cut(lower_tail_of(values.size()), alpha);
  if (!outside) return {-kInfinity, kInfinity};
  // With an alpha of a half or more, the bounds would be in the wrong order.
  return averages.from_each_end(std::min(*outside, (averages.size() - 1) / 2));
}

}  // namespace

std::vector<double> signed_rank_lower_tail(std::size_t n) {
  std::vector<double> probability(n * (n + 1) / 2 + 1, 0.0);
  probability[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    for (std::size_t sum = rank * (rank + 1) / 2 + 1; sum-- > 0;) {
      const double without = probability[sum];
      const double with = sum >= rank ? probability[sum - rank] : 0;
      probability[sum] = (without + with) / 2;
    }
  }
  std::partial_sum(probability.begin(), probability.end(), probability.begin());
  return probability;
}

double hodges_lehmann(std::span<const double> values) { return WalshAverages(values).median(); }

double upper_bound(std::span<const double> values, double alpha) {
  return bounds(values, alpha).high;
}

Interval confidence_interval(std::span<const double> values, double confidence) {
  require_fraction(confidence, "confidence interval: confidence");
  return bounds(values, (1 - confidence) / 2);
}

double robust_deviation(std::span<const double> values) {
  constexpr double kTail = 0.1;
  require(values.size() >= 2, "robust deviation of fewer than two values");
  const std::vector<double>& lower_tail = lower_tail_of(values.size());
  // Three values or fewer have no interval of 80 %; the level of their whole range is used.
  const std::size_t k = cut(lower_tail, kTail).value_or(0);
  const auto [low, high] = WalshAverages(values).from_each_end(k);
  const double width = high - low;
  const auto n = static_cast<double>(values.size());
  return width * std::sqrt(n) / (2 * student_t_quantile(1 - lower_tail[k], n - 1));
}

}  // namespace taskbench::reports::stats
