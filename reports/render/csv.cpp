#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "reports/render/baseline.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/paired.hpp"
#include "reports/render/render.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

/// Names of all counters, except for the context switches, which have columns of their own.
std::set<std::string> counter_names(const model::Run& run) {
  std::set<std::string> names;
  for (const model::Case& measured : run.cases) {
    for (const model::Repetition& repetition : measured.repetitions) {
      for (const auto& [name, value] : repetition.counters) names.insert(name);
    }
  }
  names.erase(model::kVoluntarySwitches);
  names.erase(model::kInvoluntarySwitches);
  return names;
}

/// Names of all events, in the order in which they were asked for.
std::vector<std::string> event_names(const model::Run& run) {
  std::vector<std::string> names;
  for (const model::Case& measured : run.cases) {
    for (const model::EventCount& event : measured.events) {
      if (std::ranges::find(names, event.event) == names.end()) names.push_back(event.event);
    }
  }
  return names;
}

/// "depth=1000;width=2": workloads have different numbers of parameters, so they share a field.
std::string parameters(const model::Case& measured) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : measured.parameters) {
    parts.push_back(fmt::format("{}={}", name, value));
  }
  return fmt::format("{}", fmt::join(parts, ";"));
}

std::string title_of(const std::string& counter, const model::Run& run) {
  const bool is_observed = std::ranges::any_of(
      run.cases, [&](const model::Case& measured) { return measured.observed.contains(counter); });
  return is_observed ? counter : counter + "_per_iteration";
}

constexpr std::size_t kRepetitionFields = 6;
constexpr std::size_t kEventFields = 7;

Cells titles(const model::Run& run, const std::set<std::string>& counters,
             const std::vector<std::string>& events) {
  Cells fields{"name",
               "workload",
               "scheduler",
               "workers",
               "parameters",
               "operations_per_iteration",
               "repetition",
               "iterations",
               "real_ns",
               "cpu_ns",
               "voluntary_switches_per_iteration",
               "involuntary_switches_per_iteration"};
  for (const std::string& counter : counters) fields.push_back(title_of(counter, run));
  fields.emplace_back("error");
  for (const std::string& event : events) {
    for (const char* part :
         {"per_iteration", "mad", "unit", "samples", "share", "user_only", "reason"}) {
      fields.push_back(fmt::format("{}_{}", event, part));
    }
  }
  return fields;
}

Cells case_fields(const model::Case& measured) {
  return {measured.name,
          measured.workload,
          measured.scheduler,
          std::to_string(measured.workers),
          parameters(measured),
          measured.operations > 0 ? std::to_string(measured.operations) : std::string()};
}

void add_repetition(Cells& fields, const model::Repetition& repetition,
                    const std::set<std::string>& counters) {
  fields.push_back(std::to_string(repetition.index));
  fields.push_back(std::to_string(repetition.iterations));
  fields.push_back(csv_number(repetition.real_ns));
  fields.push_back(csv_number(repetition.cpu_ns));
  const auto add = [&](const std::string& counter) {
    const auto found = repetition.counters.find(counter);
    fields.push_back(found == repetition.counters.end() ? std::string()
                                                        : csv_number(found->second));
  };
  add(model::kVoluntarySwitches);
  add(model::kInvoluntarySwitches);
  for (const std::string& counter : counters) add(counter);
}

/// Adds the case's events, which are the same in each of its rows: other processes counted them.
void add_events(Cells& fields, const model::Case& measured, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto event = std::ranges::find(measured.events, name, &model::EventCount::event);
    if (event == measured.events.end()) {
      fields.resize(fields.size() + kEventFields);
      continue;
    }
    const auto spread = stats::spread_of(event->per_iteration);
    fields.push_back(spread ? csv_number(spread->median) : std::string());
    fields.push_back(spread ? csv_number(spread->mad) : std::string());
    fields.push_back(event->unit);
    fields.push_back(std::to_string(spread ? spread->samples : 0));
    fields.push_back(csv_number(event->counted_share));
    fields.emplace_back(event->user_only ? "true" : "false");
    fields.push_back(event->unavailable);
  }
}

}  // namespace

std::string csv(const model::Run& run) {
  const std::set<std::string> counters = counter_names(run);
  const std::vector<std::string> events = event_names(run);
  std::string text = csv_line(titles(run, counters, events));
  for (const model::Case& measured : run.cases) {
    if (!measured.error.empty()) {
      Cells fields = case_fields(measured);
      // The row has no numbers: those of a failed case cannot be trusted.
      fields.resize(fields.size() + kRepetitionFields + counters.size());
      fields.push_back(measured.error);
      add_events(fields, measured, events);
      text += csv_line(fields);
      continue;
    }
    for (const model::Repetition& repetition : measured.repetitions) {
      Cells fields = case_fields(measured);
      add_repetition(fields, repetition, counters);
      fields.emplace_back();
      add_events(fields, measured, events);
      text += csv_line(fields);
    }
  }
  return text;
}

namespace {

Cells metric_fields(const std::string& name, std::string_view metric,
                    const verdict::MetricVerdict& row) {
  return {name,
          std::string(metric),
          std::string(word(row.verdict)),
          fmt::format("{}", row.improved),
          csv_number(row.base_ns),
          csv_number(row.head_ns),
          csv_number(row.change),
          csv_number(row.low),
          csv_number(row.high),
          csv_number(row.delta),
          csv_number(row.p_adjusted),
          csv_number(row.detectable),
          std::to_string(row.blocks)};
}

Cells instruction_fields(const std::string& name, const verdict::InstructionsVerdict& of) {
  Cells fields{name, "instructions", std::string(word(of.verdict)),
               fmt::format("{}", of.improved())};
  fields.resize(13);  // as many as there are names in the first line
  if (of.exact) {
    fields[4] = csv_number(of.exact->base);
    fields[5] = csv_number(of.exact->head);
    fields[6] = csv_number(of.exact->change);
    fields[9] = csv_number(of.exact->threshold);
  }
  return fields;
}

}  // namespace

std::string csv(const verdict::PairedReport& report) {
  std::string text =
      "name,metric,verdict,improved,base,head,change,interval_low,interval_high,threshold,"
      "p_adjusted,detectable,blocks\n";
  for (const verdict::BenchmarkVerdict& row : report.benchmarks) {
    text += csv_line(metric_fields(row.name, "wall_time_ns", row));
    if (row.cpu) text += csv_line(metric_fields(row.name, "cpu_time_ns", *row.cpu));
    if (row.instructions) text += csv_line(instruction_fields(row.name, *row.instructions));
  }
  return text;
}

std::string csv(const verdict::BaselineReport& report) {
  std::string text =
      "name,verdict,improved,drifted,baseline_ns,now_ns,change,interval_low,interval_high,"
      "threshold,detectable,since_anchor,baseline_processes,processes\n";
  for (const verdict::BaselineRow& row : report.rows) {
    const verdict::StoredComparison& rolling = row.rolling;
    text += csv_line(
        Cells{row.name, std::string(word(row.verdict)), fmt::format("{}", row.improved),
              fmt::format("{}", row.drifted), csv_number(row.baseline_ns), csv_number(row.now_ns),
              csv_number(rolling.change), csv_number(rolling.low), csv_number(rolling.high),
              csv_number(rolling.limit), csv_number(rolling.detectable),
              row.anchor ? csv_number(row.anchor->change) : std::string(),
              std::to_string(rolling.stored), std::to_string(rolling.fresh)});
  }
  return text;
}

}  // namespace taskbench::reports::render
