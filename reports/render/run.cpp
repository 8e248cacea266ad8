// Renders the result of `taskbench run`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "reports/model/lookup.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/render.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

/// "taskbench 0.1.0 · work_stealing, 2 workers"
std::string title_of(const model::Run& run) {
  const std::string& version = run.environment.taskbench_version;
  const std::string engine = common_engine(run);
  return (version.empty() ? "taskbench" : "taskbench " + version) +
         (engine.empty() ? "" : " · " + engine);
}

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

/// Names of all events, in the order of the request.
std::vector<std::string> event_names(const model::Run& run) {
  model::InOrder<bool> names;
  for (const model::Case& measured : run.cases) {
    for (const model::EventCount& event : measured.events) names.place_of(event.event);
  }
  return names.names();
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

/// The case's events, which are the same in each of its rows: other processes counted them.
void add_events(std::vector<Cell>& cells, const model::Case& measured,
                const std::vector<std::string>& names) {
  constexpr std::size_t kFields = 7;
  for (const std::string& name : names) {
    const auto* const event = model::element_of(measured.events, name, &model::EventCount::event);
    if (event == nullptr) {
      cells.resize(cells.size() + kFields);
      continue;
    }
    const auto spread = stats::spread_of(event->per_iteration);
    cells.push_back(raw(spread ? std::optional(spread->median) : std::nullopt));
    cells.push_back(raw(spread ? spread->mad : std::nullopt));
    cells.emplace_back(event->unit);
    cells.emplace_back(std::to_string(spread ? spread->samples : 0));
    cells.push_back(raw(event->counted_share));
    cells.emplace_back(event->user_only ? "true" : "false");
    cells.emplace_back(event->unavailable);
  }
}

}  // namespace

Document document(const model::Run& run) {
  Section section{"result", "", {}};
  const Table figures_of_run = figures(run);
  const bool has_figures = !figures_of_run.rows.empty();
  if (has_figures) section.add(figures_of_run);
  for (Table& table : observations(run)) section.add(std::move(table));
  for (Paragraph& each : notices(run)) section.add(std::move(each));
  std::vector<std::string> counted_how;
  if (auto counters = counter_table(run); counters && has_figures) {
    if (!counters->table.rows.empty()) section.add(std::move(counters->table));
    for (const std::string& each : counters->missing) section.say(each, Tone::doubtful);
    counted_how = counters->basis;
  }
  section.say(basis(run), Tone::quiet);
  for (const std::string& each : counted_how) section.say(each, Tone::quiet);
  const std::string machine = provenance(run.environment);
  if (!machine.empty() && has_figures) section.say(fmt::format("On {}.", machine), Tone::quiet);
  return {title_of(run), {}, {std::move(section)}, {}};
}

Table records(const model::Run& run) {
  const std::set<std::string> counters = counter_names(run);
  const std::vector<std::string> events = event_names(run);
  Table table =
      columns_of({"name", "workload", "scheduler", "workers", "parameters",
                  "operations_per_iteration", "repetition", "iterations", "real_ns", "cpu_ns",
                  "voluntary_switches_per_iteration", "involuntary_switches_per_iteration"});
  const std::size_t own_fields = table.columns.size();
  const auto column = [&](std::string title) { table.columns.push_back({std::move(title)}); };
  for (const std::string& counter : counters) column(title_of(counter, run));
  column("error");
  for (const std::string& event : events) {
    for (const char* part :
         {"per_iteration", "mad", "unit", "samples", "share", "user_only", "reason"}) {
      column(fmt::format("{}_{}", event, part));
    }
  }
  for (const model::Case& measured : run.cases) {
    const auto add = [&](const model::Repetition* repetition) {
      std::vector<Cell>& cells =
          table
              .add({measured.name, measured.workload, measured.scheduler,
                    measured.workers > 0 ? std::to_string(measured.workers) : "",
                    parameters(measured),
                    measured.operations > 0 ? std::to_string(measured.operations) : ""})
              .cells;
      if (repetition != nullptr) {
        cells.emplace_back(std::to_string(repetition->index));
        cells.emplace_back(std::to_string(repetition->iterations));
        cells.push_back(raw(repetition->real_ns));
        const double cpu_ns = repetition->cpu_ns;
        cells.push_back(raw(cpu_ns > 0 ? std::optional(cpu_ns) : std::nullopt));
        const auto counter = [&](const std::string& name) {
          cells.push_back(raw(model::value_at(repetition->counters, name)));
        };
        counter(model::kVoluntarySwitches);
        counter(model::kInvoluntarySwitches);
        for (const std::string& name : counters) counter(name);
      }
      cells.resize(own_fields + counters.size());
      cells.emplace_back(measured.error);
      add_events(cells, measured, events);
    };
    // A failed case has one row without numbers: they cannot be trusted.
    if (!measured.error.empty()) {
      add(nullptr);
    } else {
      for (const model::Repetition& repetition : measured.repetitions) add(&repetition);
    }
  }
  return table;
}

}  // namespace taskbench::reports::render
