// Summaries of the repetitions of one case. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/doctor.hpp"
#include "reports/model/run.hpp"

namespace taskbench::reports::stats {

// Statistics that throw std::invalid_argument for an empty span; the values must be finite.

/// Median; the mean of the middle two for an even number of values.
[[nodiscard]] double median(std::span<const double> values);

/// Median absolute deviation from the median, unscaled.
[[nodiscard]] double median_absolute_deviation(std::span<const double> values);

[[nodiscard]] double mean(std::span<const double> values);

/// Standard deviation of the sample, with Bessel's correction (n - 1); 0 for a single value. As in
/// Google Benchmark's rows of that name.
[[nodiscard]] double standard_deviation(std::span<const double> values);

/// Standard deviation over mean, a fraction; 0 for a single value and if all values are 0. As in
/// Google Benchmark's "cv" rows, except that these contain NaN in the latter case.
[[nodiscard]] double coefficient_of_variation(std::span<const double> values);

/// The summary of a few values of one quantity.
struct Spread {
  std::size_t samples = 0;
  double median = 0;
  std::optional<double> mad;  ///< median absolute deviation; empty for one sample
  double min = 0;
  double max = 0;
};

/// The spread of the finite values; empty if there are none.
[[nodiscard]] std::optional<Spread> spread_of(std::span<const double> values);

/// Whether the repetition was timed: it has iterations, and finite times that are not negative. All
/// statistics and all rows of a result file use complete repetitions only.
[[nodiscard]] bool is_complete(const model::Repetition& repetition);

/// The complete repetitions of a case; none if it failed.
[[nodiscard]] std::vector<model::Repetition> complete_repetitions(const model::Case& measured);

/// Context switches per iteration, medians over the repetitions.
struct SwitchesSummary {
  std::optional<double> voluntary;
  std::optional<double> involuntary;
  std::optional<double> both;
  std::string unavailable;  ///< why `both` is empty
};

/// The figures of one case in a table. Times are per iteration, in ns. A single repetition has no
/// spread: 0 would look like a perfect measurement.
struct CaseSummary {
  Spread real_ns{};  ///< over the complete repetitions
  Spread cpu_ns{};
  /// The median of real_ns per operation; empty if the number of operations is not known.
  std::optional<double> ns_per_operation{};
  SwitchesSummary switches{};
  std::map<std::string, double> counters{};  ///< per iteration, median over the repetitions

  /// The spread of the wall time as a part of its median.
  [[nodiscard]] std::optional<double> spread() const;
};

/// Empty if the case failed or has no complete repetition.
[[nodiscard]] std::optional<CaseSummary> summarize(const model::Case& measured);

/// Why a case has no summary.
[[nodiscard]] std::string why_unmeasured(const model::Case& measured);

/// One message for each problem of the case; empty if there is none.
[[nodiscard]] std::vector<std::string> errors_of(const model::Case& measured);

/// A statistic over the repetitions of a case, as Google Benchmark reports it.
struct Aggregate {
  std::string_view name;
  std::string_view unit;
  double (*compute)(std::span<const double>);
  std::size_t least_values;  ///< a single value has no spread
};
inline constexpr std::array<Aggregate, 4> kAggregates{{
    {"mean", "time", mean, 1},
    {"median", "time", median, 1},
    {"stddev", "time", standard_deviation, 2},
    {"cv", "percentage", coefficient_of_variation, 2},
}};
inline constexpr const Aggregate& kMedian = kAggregates[1];

/// One statistic of every quantity, over the repetitions that have it, in the form of a repetition.
/// The case's events are not included.
[[nodiscard]] model::Repetition aggregate(std::span<const model::Repetition> repetitions,
                                          const Aggregate& statistic);

/// The p-quantile by linear interpolation between the sorted values: definition 7 of Hyndman and
/// Fan (Sample quantiles in statistical packages, 1996), the default of NumPy and R. p from 0, the
/// least value, to 1, the greatest. Throws std::invalid_argument for another p, for no values, and
/// for values that are not finite.
[[nodiscard]] double quantile(std::span<const double> values, double p);

// Summaries of the floor, the least that things can take. Pure functions.

/// Times in ns. One sample has no spread.
struct FloorSummary {
  double median = 0;
  double min = 0;
  std::optional<double> lower_quartile;
  std::optional<double> upper_quartile;
  std::optional<double> p99;  ///< only for a hundred samples or more
};

/// Empty if there are no samples, or if one is not finite.
[[nodiscard]] std::optional<FloorSummary> summarize(const model::FloorFigure& figure);

}  // namespace taskbench::reports::stats
