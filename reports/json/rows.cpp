#include "reports/json/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/json/event_counts.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::json {
namespace {

using Quantities = std::map<std::string, double>;

// What else Google Benchmark may write into a row (src/json_reporter.cc, versions 1.5 to 1.9), and
// the counters that its State::SetBytesProcessed and SetItemsProcessed make. A counter of ours must
// not be taken for one of them.
constexpr std::array<std::string_view, 10> kOtherKeys{"big_o",
                                                      "rms",
                                                      "cpu_coefficient",
                                                      "real_coefficient",
                                                      "allocs_per_iter",
                                                      "max_bytes_used",
                                                      "total_allocated_bytes",
                                                      "net_heap_growth",
                                                      "bytes_per_second",
                                                      "items_per_second"};

/// What the rows of one case have in common.
struct Family {
  const model::Case* measured;
  int index;           ///< the workload's place in the run
  int instance_index;  ///< the case's place among those of its workload
  std::int64_t repetitions;
};

/// Times and counters of one row; the order is that of the keys.
struct Figures {
  double real_ns;
  double cpu_ns;
  Quantities counters;
};

struct Aggregate {
  std::string_view name;
  std::string_view unit;
  double (*compute)(std::span<const double>);
  std::size_t least_values;  ///< a single value has no spread
};

constexpr std::array<Aggregate, 4> kAggregates = {{
    {"mean", "time", stats::mean, 1},
    {"median", "time", stats::median, 1},
    {"stddev", "time", stats::standard_deviation, 2},
    {"cv", "percentage", stats::coefficient_of_variation, 2},
}};
constexpr const Aggregate& kMedian = kAggregates[1];

bool is_taken(const Json& row, std::string_view key) {
  return is_key_of_rows(key) || std::ranges::find(kOtherKeys, key) != kOtherKeys.end() ||
         row.contains(key);
}

/// A counter whose name is a key already stands there as "counter_" + name.
void add_counters(Json& row, const Quantities& counters) {
  for (const auto& [name, value] : counters) {
    if (!std::isfinite(value)) {
      continue;
    }
    std::string key = name;
    while (key.empty() || is_taken(row, key)) {
      key.insert(0, kOfCounter);
    }
    row[key] = value;
  }
}

Quantities counters_of(const model::Repetition& repetition) {
  Quantities counters = repetition.counters;
  if (repetition.voluntary_switches) {
    counters.insert_or_assign("voluntary_switches", *repetition.voluntary_switches);
  }
  if (repetition.involuntary_switches) {
    counters.insert_or_assign("involuntary_switches", *repetition.involuntary_switches);
  }
  return counters;
}

/// What --counters counted, in processes of their own: of all of them one number. What could not be
/// counted is left out, as Google Benchmark leaves out what it does not know.
void add_events(const model::Case& measured, const Aggregate& statistic, Quantities& counters) {
  for (const model::EventCount& event : measured.events) {
    std::vector<double> values;
    std::ranges::copy_if(event.per_iteration, std::back_inserter(values),
                         [](double value) { return std::isfinite(value); });
    if (values.size() < statistic.least_values) continue;
    std::string key = row_key(event);
    if (counters.contains(key)) key.insert(0, kOfCounter);
    counters.insert_or_assign(std::move(key), statistic.compute(values));
  }
}

/// The keys up to "threads", in Google Benchmark's order.
Json row_head(const Family& family, std::string_view suffix, std::string_view run_type) {
  Json row;
  row["name"] = fmt::format("{}{}", family.measured->name, suffix);
  row["family_index"] = family.index;
  row["per_family_instance_index"] = family.instance_index;
  row["run_name"] = family.measured->name;
  row["run_type"] = run_type;
  row["repetitions"] = family.repetitions;
  return row;
}

void add_figures(Json& row, std::int64_t iterations, const Figures& figures) {
  row["iterations"] = iterations;
  row["real_time"] = figures.real_ns;
  row["cpu_time"] = figures.cpu_ns;
  row["time_unit"] = "ns";
  add_counters(row, figures.counters);
}

Json iteration_row(const Family& family, const model::Repetition& repetition) {
  Json row = row_head(family, "", "iteration");
  row["repetition_index"] = repetition.index;
  // Google Benchmark's own threads: the benchmark function ran on one. The workers are the
  // scheduler's and stand in the name and under "taskbench".
  row["threads"] = 1;
  Quantities counters = counters_of(repetition);
  add_events(*family.measured, kMedian, counters);
  add_figures(row, repetition.iterations,
              {repetition.real_ns, repetition.cpu_ns, std::move(counters)});
  return row;
}

std::vector<model::Repetition> complete_repetitions(const model::Case& measured) {
  std::vector<model::Repetition> complete;
  if (measured.error.empty()) {
    std::copy_if(measured.repetitions.begin(), measured.repetitions.end(),
                 std::back_inserter(complete), stats::is_complete);
  }
  return complete;
}

/// One statistic over every quantity of the repetitions, each over those that have it, and over
/// what the counting processes counted.
Figures aggregate(const model::Case& measured, const std::vector<model::Repetition>& repetitions,
                  const Aggregate& statistic) {
  std::vector<double> real_ns;
  std::vector<double> cpu_ns;
  std::map<std::string, std::vector<double>> counters;
  for (const model::Repetition& repetition : repetitions) {
    real_ns.push_back(repetition.real_ns);
    cpu_ns.push_back(repetition.cpu_ns);
    for (const auto& [name, value] : counters_of(repetition)) {
      if (std::isfinite(value)) {
        counters[name].push_back(value);
      }
    }
  }
  Figures figures{statistic.compute(real_ns), statistic.compute(cpu_ns), {}};
  for (const auto& [name, values] : counters) {
    figures.counters[name] = statistic.compute(values);
  }
  add_events(measured, statistic, figures.counters);
  return figures;
}

Json aggregate_row(const Family& family, const std::vector<model::Repetition>& repetitions,
                   const Aggregate& statistic) {
  Json row = row_head(family, fmt::format("_{}", statistic.name), "aggregate");
  row["threads"] = 1;
  row["aggregate_name"] = statistic.name;
  row["aggregate_unit"] = statistic.unit;
  // Google Benchmark writes the number of repetitions here: the statistic is over those.
  add_figures(row, static_cast<std::int64_t>(repetitions.size()),
              aggregate(*family.measured, repetitions, statistic));
  return row;
}

/// Workloads are Google Benchmark's families, numbered as they first appear.
std::vector<Family> families(const model::Run& run) {
  struct Numbering {
    int index;
    int instances = 0;
  };
  std::map<std::string, Numbering> numbering;
  std::vector<Family> result;
  for (const model::Case& measured : run.cases) {
    const auto next = static_cast<int>(numbering.size());
    Numbering& workload = numbering.try_emplace(measured.workload, Numbering{next}).first->second;
    // As many as were asked for, also when an interruption left fewer; readers see how many there
    // are by counting.
    std::int64_t repetitions = run.settings.repetitions;
    for (const model::Repetition& repetition : measured.repetitions) {
      repetitions = std::max(repetitions, repetition.index + 1);
    }
    result.push_back({&measured, workload.index, workload.instances++, repetitions});
  }
  return result;
}

}  // namespace

Json repetition_rows(const model::Run& run) {
  Json rows = Json::array();
  for (const Family& family : families(run)) {
    const std::vector<model::Repetition> repetitions = complete_repetitions(*family.measured);
    for (const model::Repetition& repetition : repetitions) {
      rows.push_back(iteration_row(family, repetition));
    }
    if (repetitions.size() < 2) {
      continue;
    }
    for (const Aggregate& statistic : kAggregates) {
      rows.push_back(aggregate_row(family, repetitions, statistic));
    }
  }
  return rows;
}

Json median_rows(const model::Run& run) {
  Json rows = Json::array();
  for (Family& family : families(run)) {
    const std::vector<model::Repetition> repetitions = complete_repetitions(*family.measured);
    if (repetitions.empty()) {
      continue;
    }
    std::int64_t iterations = 0;
    for (const model::Repetition& repetition : repetitions) {
      iterations += repetition.iterations;
    }
    // An "iteration" row, though it is a median: readers that know of aggregates leave those out.
    family.repetitions = 1;
    Json row = row_head(family, "", "iteration");
    row["repetition_index"] = 0;
    row["threads"] = 1;
    add_figures(row, iterations, aggregate(*family.measured, repetitions, kMedian));
    row["label"] = repetitions.size() == 1
                       ? std::string("a single repetition")
                       : fmt::format("median of {} repetitions", repetitions.size());
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace taskbench::reports::json
