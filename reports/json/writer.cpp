#include "reports/json/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/json/drift.hpp"
#include "reports/json/event_counts.hpp"
#include "reports/json/field.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::json {
namespace {

template <class Integer>
Json positive_or_null(Integer count) {
  return count > 0 ? Json(count) : Json();
}

/// The context as Google Benchmark's reporter writes it: unknown values are left out, but "caches"
/// and "load_avg" are always there, since readers require the first and index the second.
Json context(const model::Environment& environment) {
  Json result;
  result["date"] = environment.date;
  result["host_name"] = environment.host_name;
  result["executable"] = environment.executable;
  if (environment.cpu_count > 0) result["num_cpus"] = environment.cpu_count;
  if (std::isfinite(environment.cpu_mhz) && environment.cpu_mhz > 0) {
    result["mhz_per_cpu"] = std::llround(environment.cpu_mhz);
  }
  if (environment.cpu_scaling_enabled) {
    result["cpu_scaling_enabled"] = *environment.cpu_scaling_enabled;
  }
  if (environment.aslr_enabled) result["aslr_enabled"] = *environment.aslr_enabled;
  result["caches"] = Json::array();
  for (const model::Cache& cache : environment.caches) {
    result["caches"].push_back({{"type", cache.type},
                                {"level", cache.level},
                                {"size", cache.size_bytes},
                                {"num_sharing", cache.num_sharing}});
  }
  result["load_avg"] = finite_numbers(environment.load_avg);
  const auto add = [&result](const char* key, const std::string& value) {
    if (!value.empty()) result[key] = value;
  };
  add("library_version", environment.benchmark_library_version);
  add("library_build_type", environment.benchmark_library_build_type);
  result["json_schema_version"] = 1;
  // These keys are written as a program's AddCustomContext() would. `library_build_type` is that of
  // Google Benchmark's library, which a distribution may have built for debugging; it does not say
  // how the measured code was built.
  add("taskbench_version", environment.taskbench_version);
  add("taskbench_build_type", environment.build_type);
  add("taskbench_compiler", environment.compiler);
  add("taskbench_compiler_flags", environment.compiler_flags);
  add("taskbench_git_commit", environment.git_commit);
  return result;
}

/// Facts that Google Benchmark's context has no place for.
Json environment_object(const model::Environment& environment) {
  Json result;
  for (const auto& [key, title, text] : model::kEnvironmentTexts) {
    result[key] = text_or_null(environment.*text);
    if (text != &model::Environment::cpu_governor) continue;
    result["smt_active"] = json_of(environment.smt_active);
    result["memory_bytes"] = positive_or_null(environment.memory_bytes);
  }
  return result;
}

Json settings_object(const model::Settings& settings) {
  Json result;
  result["repetitions"] = settings.repetitions;
  result["min_time_s"] = number_or_null(settings.min_time_s);
  result["warmup_s"] = number_or_null(settings.warmup_s);
  result["time_budget_s"] = number_or_null(settings.time_budget_s);
  result["seed"] = json_of(settings.seed);
  result["pinned"] = settings.pinned;
  result["command_line"] = settings.command_line;
  return result;
}

Json summary_object(const stats::CaseSummary& summary) {
  // One repetition has no spread; 0 would look like a perfect measurement.
  const auto known_spread = [&summary](double ns) {
    return summary.samples > 1 ? Json(ns) : Json();
  };
  Json result;
  result["samples"] = summary.samples;
  result["real_ns_median"] = summary.real_ns_median;
  result["real_ns_mad"] = known_spread(summary.real_ns_mad);
  result["real_ns_min"] = summary.real_ns_min;
  result["real_ns_max"] = summary.real_ns_max;
  result["cpu_ns_median"] = summary.cpu_ns_median;
  result["cpu_ns_mad"] = known_spread(summary.cpu_ns_mad);
  result["ns_per_operation"] = number_or_null(summary.ns_per_operation);
  return result;
}

/// Medians per iteration; null with the reason for what was not measured.
Json switches_object(const model::Case& measured, const stats::CaseSummary& summary) {
  Json result;
  result["voluntary"] = number_or_null(summary.voluntary_switches);
  result["involuntary"] = number_or_null(summary.involuntary_switches);
  result["both"] = number_or_null(summary.context_switches);
  result["reason"] = Json();
  if (!summary.context_switches) {
    result["reason"] =
        measured.switches_unavailable.empty() ? "not measured" : measured.switches_unavailable;
  }
  return result;
}

/// One message for each thing that is wrong with the case; empty for a good one.
Json case_errors(const model::Case& measured) {
  Json errors = Json::array();
  if (!measured.error.empty()) {
    errors.push_back(measured.error);
    return errors;
  }
  for (const model::Repetition& repetition : measured.repetitions) {
    if (!stats::is_complete(repetition)) {
      errors.push_back(fmt::format(
          "repetition {} was left out: it has {} iterations, {} ns real and {} ns CPU time",
          repetition.index, repetition.iterations, repetition.real_ns, repetition.cpu_ns));
    }
  }
  if (measured.repetitions.empty()) errors.push_back("no repetition was completed");
  return errors;
}

Json case_object(const model::Case& measured, bool counted) {
  const std::optional<stats::CaseSummary> summary = stats::summarize(measured);
  Json result;
  result["name"] = measured.name;
  result["workload"] = measured.workload;
  result["scheduler"] = measured.scheduler;
  result["workers"] = measured.workers;
  result["parameters"] = json_of(measured.parameters);
  result["operation"] = text_or_null(measured.operation);
  result["operations_per_iteration"] = positive_or_null(measured.operations);
  result["summary"] = summary ? summary_object(*summary) : Json();
  result["counters_per_iteration"] = summary ? json_of(summary->counters) : Json::object();
  if (!measured.observed.empty()) result["observed"] = measured.observed;
  if (measured.load) {
    result["load"] = {{"name", measured.load->name}, {"version", measured.load->version}};
  }
  result["context_switches_per_iteration"] = summary ? switches_object(measured, *summary) : Json();
  if (counted) result["events_per_iteration"] = events_array(measured.events, measured.operations);
  result["failed"] = !measured.error.empty();
  result["errors"] = case_errors(measured);
  return result;
}

Json taskbench_object(const model::Run& run) {
  Json result;
  result["schema_version"] = model::kSchemaVersion;
  result["version"] = text_or_null(run.environment.taskbench_version);
  result["partial"] = run.partial;
  result["environment"] = environment_object(run.environment);
  result["drift"] = drift_object(run.drift);
  result["settings"] = settings_object(run.settings);
  if (run.counter_pass) result["counter_pass"] = counter_pass_object(*run.counter_pass);
  result["cases"] = Json::array();
  for (const model::Case& measured : run.cases) {
    result["cases"].push_back(case_object(measured, run.counter_pass.has_value()));
  }
  return result;
}

std::string to_text(const model::Run& run, Json rows) {
  Json file;
  file["context"] = context(run.environment);
  file["benchmarks"] = std::move(rows);
  file["taskbench"] = taskbench_object(run);
  return file_text(file);
}

using Quantities = std::map<std::string, double>;

// Further keys that Google Benchmark may write into a row (src/json_reporter.cc, versions 1.5 to
// 1.9), and the counters of its State::SetBytesProcessed and SetItemsProcessed. A counter of ours
// must not be taken for one of them.
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

/// What the rows of one case share.
struct Family {
  const model::Case* measured;
  int index;           ///< the workload's place in the run
  int instance_index;  ///< the case's place among those of its workload
  std::int64_t repetitions;
};

/// Times and counters of one row, in the order of the keys.
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

/// Adds counters. One whose name is already a key becomes "counter_" + name.
void add_counters(Json& row, const Quantities& counters) {
  for (const auto& [name, value] : counters) {
    if (!std::isfinite(value)) continue;
    std::string key = name;
    while (key.empty() || is_taken(row, key)) {
      key.insert(0, kOfCounter);
    }
    row[key] = value;
  }
}

/// Adds what --counters counted: one number over all counting processes. What could not be counted
/// is left out, as Google Benchmark leaves out what it does not know.
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
  // "threads" means those of Google Benchmark: the benchmark function ran on one. The scheduler's
  // workers are in the name and under "taskbench".
  row["threads"] = 1;
  Quantities counters(repetition.counters.begin(), repetition.counters.end());
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

/// One statistic of every quantity, over the repetitions that have it, and of what the counting
/// processes counted.
Figures aggregate(const model::Case& measured, const std::vector<model::Repetition>& repetitions,
                  const Aggregate& statistic) {
  std::vector<double> real_ns;
  std::vector<double> cpu_ns;
  std::map<std::string, std::vector<double>> counters;
  for (const model::Repetition& repetition : repetitions) {
    real_ns.push_back(repetition.real_ns);
    cpu_ns.push_back(repetition.cpu_ns);
    for (const auto& [name, value] : repetition.counters) {
      if (std::isfinite(value)) counters[name].push_back(value);
    }
  }
  Figures figures{statistic.compute(real_ns), statistic.compute(cpu_ns), {}};
  for (const auto& [name, values] : counters) figures.counters[name] = statistic.compute(values);
  add_events(measured, statistic, figures.counters);
  return figures;
}

Json aggregate_row(const Family& family, const std::vector<model::Repetition>& repetitions,
                   const Aggregate& statistic) {
  Json row = row_head(family, fmt::format("_{}", statistic.name), "aggregate");
  row["threads"] = 1;
  row["aggregate_name"] = statistic.name;
  row["aggregate_unit"] = statistic.unit;
  // As in Google Benchmark, aggregates have the number of repetitions here.
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
    // As many as were asked for, even if an interruption left fewer; readers find out how many
    // there are by counting.
    std::int64_t repetitions = run.settings.repetitions;
    for (const model::Repetition& repetition : measured.repetitions) {
      repetitions = std::max(repetitions, repetition.index + 1);
    }
    result.push_back({&measured, workload.index, workload.instances++, repetitions});
  }
  return result;
}

/// A row for every complete repetition of each case that did not fail, followed by the case's mean,
/// median, stddev and cv; as in Google Benchmark, a single repetition has no aggregates.
Json repetition_rows(const model::Run& run) {
  Json rows = Json::array();
  for (const Family& family : families(run)) {
    const std::vector<model::Repetition> repetitions = complete_repetitions(*family.measured);
    for (const model::Repetition& repetition : repetitions) {
      rows.push_back(iteration_row(family, repetition));
    }
    if (repetitions.size() < 2) continue;
    for (const Aggregate& statistic : kAggregates) {
      rows.push_back(aggregate_row(family, repetitions, statistic));
    }
  }
  return rows;
}

/// One row a case, its medians, labelled with the number of repetitions.
Json median_rows(const model::Run& run) {
  Json rows = Json::array();
  for (Family& family : families(run)) {
    const std::vector<model::Repetition> repetitions = complete_repetitions(*family.measured);
    if (repetitions.empty()) continue;
    std::int64_t iterations = 0;
    for (const model::Repetition& repetition : repetitions) iterations += repetition.iterations;
    // An "iteration" row, though it is a median: readers that know aggregates leave those out.
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

}  // namespace

std::string to_json(const model::Run& run) { return to_text(run, repetition_rows(run)); }

std::string to_flat_json(const model::Run& run) { return to_text(run, median_rows(run)); }

}  // namespace taskbench::reports::json
