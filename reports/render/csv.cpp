#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/render.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

/// The shortest text that reads back as the same number; empty for what was not measured.
std::string number(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : std::string();
}

std::set<std::string> counter_names(const model::Run& run) {
  std::set<std::string> names;
  for (const model::Case& measured : run.cases) {
    for (const model::Repetition& repetition : measured.repetitions) {
      for (const auto& [name, value] : repetition.counters) {
        names.insert(name);
      }
    }
  }
  return names;
}

/// In the order in which they were asked for.
std::vector<std::string> event_names(const model::Run& run) {
  std::vector<std::string> names;
  for (const model::Case& measured : run.cases) {
    for (const model::EventCount& event : measured.events) {
      if (std::ranges::find(names, event.event) == names.end()) names.push_back(event.event);
    }
  }
  return names;
}

/// "depth=1000;width=2": as many as the workload has, so they share a field.
std::string parameters(const model::Case& measured) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : measured.parameters) {
    parts.push_back(fmt::format("{}={}", name, value));
  }
  return fmt::format("{}", fmt::join(parts, ";"));
}

class CsvWriter {
 public:
  explicit CsvWriter(const model::Run& run)
      : counters_(counter_names(run)), events_(event_names(run)) {
    std::vector<std::string> fields = {"name",
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
    for (const std::string& counter : counters_) {
      fields.push_back(counter + "_per_iteration");
    }
    fields.emplace_back("error");
    for (const std::string& event : events_) {
      for (const char* part :
           {"per_iteration", "mad", "unit", "samples", "share", "user_only", "reason"}) {
        fields.push_back(fmt::format("{}_{}", event, part));
      }
    }
    add(fields);
  }

  void add_case(const model::Case& measured) {
    if (!measured.error.empty()) {
      std::vector<std::string> fields = case_fields(measured);
      // Without numbers: those of a failed case cannot be trusted.
      fields.resize(fields.size() + kRepetitionFields + counters_.size());
      fields.push_back(measured.error);
      add_events(fields, measured);
      add(fields);
      return;
    }
    for (const model::Repetition& repetition : measured.repetitions) {
      std::vector<std::string> fields = case_fields(measured);
      add_repetition(fields, repetition);
      fields.emplace_back();
      add_events(fields, measured);
      add(fields);
    }
  }

  [[nodiscard]] std::string text() && { return std::move(text_); }

 private:
  static constexpr std::size_t kRepetitionFields = 6;
  static constexpr std::size_t kEventFields = 7;

  static std::vector<std::string> case_fields(const model::Case& measured) {
    return {measured.name,
            measured.workload,
            measured.scheduler,
            fmt::format("{}", measured.workers),
            parameters(measured),
            measured.operations > 0 ? fmt::format("{}", measured.operations) : std::string()};
  }

  void add_repetition(std::vector<std::string>& fields, const model::Repetition& repetition) const {
    fields.push_back(fmt::format("{}", repetition.index));
    fields.push_back(fmt::format("{}", repetition.iterations));
    fields.push_back(number(repetition.real_ns));
    fields.push_back(number(repetition.cpu_ns));
    fields.push_back(number(repetition.voluntary_switches));
    fields.push_back(number(repetition.involuntary_switches));
    for (const std::string& counter : counters_) {
      const auto found = repetition.counters.find(counter);
      fields.push_back(found == repetition.counters.end() ? std::string() : number(found->second));
    }
  }

  /// The case's own, the same in each of its rows: they come from other processes.
  void add_events(std::vector<std::string>& fields, const model::Case& measured) const {
    for (const std::string& name : events_) {
      const auto event = std::ranges::find(measured.events, name, &model::EventCount::event);
      if (event == measured.events.end()) {
        fields.resize(fields.size() + kEventFields);
        continue;
      }
      const auto spread = stats::spread_of(event->per_iteration);
      fields.push_back(spread ? number(spread->median) : std::string());
      fields.push_back(spread ? number(spread->mad) : std::string());
      fields.push_back(event->unit);
      fields.push_back(std::to_string(spread ? spread->samples : 0));
      fields.push_back(number(event->counted_share));
      fields.emplace_back(event->user_only ? "true" : "false");
      fields.push_back(event->unavailable);
    }
  }

  void add(std::vector<std::string>& fields) {
    for (std::string& field : fields) {
      field = csv_field(field);
    }
    text_ += fmt::format("{}\n", fmt::join(fields, ","));
  }

  std::set<std::string> counters_;
  std::vector<std::string> events_;
  std::string text_;
};

}  // namespace

std::string csv(const model::Run& run) {
  CsvWriter writer(run);
  for (const model::Case& measured : run.cases) {
    writer.add_case(measured);
  }
  return std::move(writer).text();
}

}  // namespace taskbench::reports::render
