#include "reports/stats/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "reports/model/lookup.hpp"
#include "reports/stats/require.hpp"

namespace taskbench::reports::stats {
namespace {

bool is_time(double ns) { return std::isfinite(ns) && ns >= 0; }

/// The values of one quantity over the repetitions that have it.
struct Series {
  std::vector<double> values;

  void add(std::optional<double> value) {
    if (value && std::isfinite(*value)) values.push_back(*value);
  }
  [[nodiscard]] std::optional<double> median_if_any() const {
    return values.empty() ? std::nullopt : std::optional(median(values));
  }
};

}  // namespace

double median(std::span<const double> values) {
  require(!values.empty(), "median of no values");
  std::vector<double> sorted(values.begin(), values.end());
  const auto upper = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), upper, sorted.end());
  if (sorted.size() % 2 == 1) return *upper;
  // nth_element left everything not above *upper before it, so the other middle value is the
  // greatest of those.
  return std::midpoint(*std::max_element(sorted.begin(), upper), *upper);
}

double median_absolute_deviation(std::span<const double> values) {
  const double centre = median(values);
  return median(model::each_of(values, [&](double value) { return std::abs(value - centre); }));
}

double mean(std::span<const double> values) {
  require(!values.empty(), "mean of no values");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double standard_deviation(std::span<const double> values) {
  require(!values.empty(), "standard deviation of no values");
  if (values.size() == 1) return 0;
  // Two passes: the textbook's one pass (mean of squares minus square of mean) loses all digits
  // when the spread is small beside the mean, which is what good benchmarks have.
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double coefficient_of_variation(std::span<const double> values) {
  const double deviation = standard_deviation(values);
  return deviation == 0 ? 0 : deviation / mean(values);
}

std::optional<Spread> spread_of(std::span<const double> values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
               [](double value) { return std::isfinite(value); });
  if (finite.empty()) return std::nullopt;
  Spread spread;
  spread.samples = finite.size();
  spread.median = median(finite);
  if (finite.size() > 1) spread.mad = median_absolute_deviation(finite);
  const auto [least, greatest] = std::minmax_element(finite.begin(), finite.end());
  spread.min = *least;
  spread.max = *greatest;
  return spread;
}

bool is_complete(const model::Repetition& repetition) {
  return repetition.iterations > 0 && is_time(repetition.real_ns) && is_time(repetition.cpu_ns);
}

std::vector<model::Repetition> complete_repetitions(const model::Case& measured) {
  std::vector<model::Repetition> complete;
  if (measured.error.empty()) {
    std::ranges::copy_if(measured.repetitions, std::back_inserter(complete), is_complete);
  }
  return complete;
}

std::optional<double> CaseSummary::spread() const {
  return real_ns.mad && real_ns.median > 0 ? std::optional(*real_ns.mad / real_ns.median)
                                           : std::nullopt;
}

std::string why_unmeasured(const model::Case& measured) {
  return measured.error.empty() ? "no repetition was completed" : measured.error;
}

std::vector<std::string> errors_of(const model::Case& measured) {
  if (!measured.error.empty()) return {measured.error};
  if (measured.repetitions.empty()) return {why_unmeasured(measured)};
  std::vector<std::string> errors;
  for (const model::Repetition& each : measured.repetitions) {
    if (is_complete(each)) continue;
    errors.push_back(fmt::format(
        "repetition {} was left out: it has {} iterations, {} ns real and {} ns CPU time",
        each.index, each.iterations, each.real_ns, each.cpu_ns));
  }
  return errors;
}

model::Repetition aggregate(std::span<const model::Repetition> repetitions,
                            const Aggregate& statistic) {
  Series real_ns;
  Series cpu_ns;
  std::map<std::string, Series> counters;
  for (const model::Repetition& repetition : repetitions) {
    real_ns.add(repetition.real_ns);
    cpu_ns.add(repetition.cpu_ns);
    for (const auto& [name, value] : repetition.counters) counters[name].add(value);
  }
  model::Repetition result{.real_ns = statistic.compute(real_ns.values),
                           .cpu_ns = statistic.compute(cpu_ns.values)};
  for (const auto& [name, series] : counters) {
    if (!series.values.empty()) result.counters[name] = statistic.compute(series.values);
  }
  return result;
}

std::optional<CaseSummary> summarize(const model::Case& measured) {
  const std::vector<model::Repetition> complete = complete_repetitions(measured);
  if (complete.empty()) return std::nullopt;
  std::vector<double> real_ns;
  std::vector<double> cpu_ns;
  Series switches;
  for (const model::Repetition& repetition : complete) {
    real_ns.push_back(repetition.real_ns);
    cpu_ns.push_back(repetition.cpu_ns);
    const auto by_itself = model::value_at(repetition.counters, model::kVoluntarySwitches);
    const auto forced = model::value_at(repetition.counters, model::kInvoluntarySwitches);
    if (by_itself && forced) switches.add(*by_itself + *forced);
  }
  CaseSummary summary{.real_ns = *spread_of(real_ns), .cpu_ns = *spread_of(cpu_ns)};
  if (measured.operations > 0) {
    summary.ns_per_operation = summary.real_ns.median / static_cast<double>(measured.operations);
  }
  for (const auto& [name, value] : aggregate(complete, kMedian).counters) {
    if (name == model::kVoluntarySwitches) {
      summary.switches.voluntary = value;
    } else if (name == model::kInvoluntarySwitches) {
      summary.switches.involuntary = value;
    } else {
      summary.counters[name] = value;
    }
  }
  summary.switches.both = switches.median_if_any();
  if (!summary.switches.both) {
    summary.switches.unavailable =
        measured.switches_unavailable.empty() ? "not measured" : measured.switches_unavailable;
  }
  return summary;
}

double quantile(std::span<const double> values, double p) {
  require_finite(values, "quantile");
  require(p >= 0 && p <= 1, "quantile: p must lie between 0 and 1");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

std::optional<FloorSummary> summarize(const model::FloorFigure& figure) {
  constexpr std::size_t kLeastForP99 = 100;
  if (figure.ns.empty() ||
      !std::ranges::all_of(figure.ns, [](double ns) { return std::isfinite(ns); })) {
    return std::nullopt;
  }
  FloorSummary summary;
  summary.median = quantile(figure.ns, 0.5);
  summary.min = quantile(figure.ns, 0);
  if (figure.ns.size() > 1) {
    summary.lower_quartile = quantile(figure.ns, 0.25);
    summary.upper_quartile = quantile(figure.ns, 0.75);
  }
  if (figure.ns.size() >= kLeastForP99) summary.p99 = quantile(figure.ns, 0.99);
  return summary;
}

}  // namespace taskbench::reports::stats
