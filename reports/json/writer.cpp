#include "reports/json/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include "reports/json/run_fields.hpp"
#include "reports/model/lookup.hpp"

namespace taskbench::reports::json {
namespace {

// Further keys that Google Benchmark may write into a row (src/json_reporter.cc, versions 1.5 to
// 1.9), and the counters of its State::SetBytesProcessed and SetItemsProcessed. Our counters must
// not clash with them; those of other programs have these names because they mean the same.
constexpr auto kOtherKeys = std::to_array<std::string_view>(
    {"big_o", "rms", "cpu_coefficient", "real_coefficient", "allocs_per_iter", "max_bytes_used",
     "total_allocated_bytes", "net_heap_growth", "bytes_per_second", "items_per_second"});

/// The fields shared by the rows of one case.
struct Family {
  const model::Case* measured;
  int index;           ///< the workload's index in the run
  int instance_index;  ///< the case's index within its workload
  std::int64_t repetitions;
};

/// A row: of a repetition, or of a statistic over all of them.
struct BenchmarkRow {
  const Family& family;
  model::Repetition figures;
  const stats::Aggregate* aggregate = nullptr;
  std::string label{};
};

/// Adds counters. One whose name is already a key becomes "counter_" + name.
void add_counters(Json& row, const std::map<std::string, double>& counters, bool are_ours) {
  const auto is_taken = [&](std::string_view key) {
    return model::contains(kKeysOfRows, key) || row.contains(key) ||
           (are_ours && model::contains(kOtherKeys, key));
  };
  for (const auto& [name, value] : counters) {
    if (!std::isfinite(value)) continue;
    std::string key = name;
    while (key.empty() || is_taken(key)) key.insert(0, kOfCounter);
    row[key] = value;
  }
}

/// Adds the counts of --counters: one number over all counting processes. Missing counts are left
/// out, as Google Benchmark leaves out unknown values.
void add_events(const model::Case& measured, const stats::Aggregate& statistic,
                std::map<std::string, double>& counters) {
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

/// The keys of Google Benchmark, in its order.
void describe(Writer& io, const BenchmarkRow& row) {
  const auto& [family, figures, aggregate, label] = row;
  const model::Case& measured = *family.measured;
  io("name", aggregate ? fmt::format("{}_{}", measured.name, aggregate->name) : measured.name);
  io("family_index", family.index);
  io("per_family_instance_index", family.instance_index);
  io("run_name", measured.name);
  io("run_type", aggregate ? "aggregate" : "iteration");
  io("repetitions", family.repetitions);
  if (!aggregate) io("repetition_index", figures.index);
  // "threads" means those of Google Benchmark: the benchmark function ran on one. The scheduler's
  // workers are in the name and under "taskbench".
  io("threads", 1);
  if (aggregate) {
    io("aggregate_name", aggregate->name);
    io("aggregate_unit", aggregate->unit);
  }
  io("iterations", figures.iterations);
  io("real_time", figures.real_ns);
  io("cpu_time", figures.cpu_ns);
  io("time_unit", "ns");
  std::map<std::string, double> counters(figures.counters.begin(), figures.counters.end());
  add_events(measured, aggregate ? *aggregate : stats::kMedian, counters);
  add_counters(io.object, counters, !measured.workload.empty());
  io.unless_default("label", label);
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
    // As many as requested, even if an interruption left fewer; readers find the real number by
    // counting.
    std::int64_t repetitions =
        run.settings.processes > 0 ? run.settings.processes : run.settings.repetitions;
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
    const auto repetitions = stats::complete_repetitions(*family.measured);
    for (const model::Repetition& repetition : repetitions) {
      rows.push_back(json_of(BenchmarkRow{family, repetition}));
    }
    if (repetitions.size() < 2) continue;
    for (const stats::Aggregate& statistic : stats::kAggregates) {
      BenchmarkRow row{family, stats::aggregate(repetitions, statistic), &statistic};
      // As in Google Benchmark, aggregates have the number of repetitions here.
      row.figures.iterations = static_cast<std::int64_t>(repetitions.size());
      rows.push_back(json_of(row));
    }
  }
  return rows;
}

/// One row per case with its medians, labelled with the number of repetitions.
Json median_rows(const model::Run& run) {
  Json rows = Json::array();
  for (Family& family : families(run)) {
    const auto repetitions = stats::complete_repetitions(*family.measured);
    if (repetitions.empty()) continue;
    // An "iteration" row, although it is a median: readers that know aggregates leave those out.
    family.repetitions = 1;
    BenchmarkRow row{family, stats::aggregate(repetitions, stats::kMedian)};
    for (const model::Repetition& each : repetitions) row.figures.iterations += each.iterations;
    row.label = repetitions.size() == 1
                    ? std::string("a single repetition")
                    : fmt::format("median of {} repetitions", repetitions.size());
    rows.push_back(json_of(row));
  }
  return rows;
}

std::string to_text(const model::Run& run, Json rows) {
  Writer file;
  file.part("context", [&](Writer& io) { describe_context(io, run.environment); });
  file("benchmarks", rows);
  file.part("taskbench", [&](Writer& io) {
    describe(io, run);
    io.each("cases", run.cases, [&](Writer& inner, const model::Case& measured) {
      describe_case(inner, measured, run.counter_pass.has_value());
    });
  });
  return file_text(file.object);
}

}  // namespace

std::string to_json(const model::Run& run) { return to_text(run, repetition_rows(run)); }

std::string to_flat_json(const model::Run& run) { return to_text(run, median_rows(run)); }

}  // namespace taskbench::reports::json
