#include "reports/render/counters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "reports/model/lookup.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/sentences.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::string_view kNotCounted = "n/a";
constexpr std::array<std::string_view, 4> kSchedulerCounters{"steals", "parks", "wakeups",
                                                             "overflows"};

struct Remarks {
  std::string exact;  // what is counted exactly; empty: nothing
  bool user_only = false;
  bool multiplexed = false;
};

/// Whether taskbench counts a command, and not a workload on a scheduler.
bool is_of_command(const model::Case& measured) { return measured.scheduler.empty(); }

bool is_counted(const model::Case& measured) {
  return measured.error.empty() && !measured.events.empty();
}

/// A count per operation; many are below a hundredth, which rate() would hide.
std::string rate_of_operation(double value) {
  return value < 0.005 ? three_digits(value) : rate(value);
}

std::vector<Cell> cells(std::string name, const std::vector<double>& values,
                        std::uint64_t operations, std::string remark) {
  const auto spread = stats::spread_of(values);
  const double median = spread ? spread->median : 0;
  const std::string none(kNone);
  return {
      std::move(name),
      spread ? rate(median) : std::string(kNotCounted),
      spread && spread->mad && median > 0 ? fmt::format("{:.1f} %", 100 * *spread->mad / median)
                                          : none,
      spread && operations > 0 ? rate_of_operation(median / static_cast<double>(operations)) : none,
      std::to_string(spread ? spread->samples : 0),
      std::move(remark)};
}

std::string remark_of(const model::Case& measured, const model::EventCount& event,
                      Remarks& remarks) {
  std::vector<std::string> parts;
  if (event.event == model::kInstructionsExact) {
    parts.emplace_back("callgrind");
    remarks.exact = exact_basis(measured);
  }
  if (event.user_only) parts.emplace_back("user only");
  remarks.user_only = remarks.user_only || event.user_only;
  if (event.counted_share && *event.counted_share < 1 && !event.per_iteration.empty()) {
    parts.push_back(fmt::format("{:.0f} % of the time", 100 * *event.counted_share));
    remarks.multiplexed = true;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Adds a sentence for events without a value in any case, all for the same reason: "n/a: cycles,
/// instructions: not supported by this machine." Returns their names.
std::set<std::string> add_missing_everywhere(const model::Run& run, Sentences& sentences) {
  struct Known {
    bool counted = false;
    std::set<std::string> reasons{};
  };
  InOrder<Known> events;  // in the order of the request
  for (const model::Case& measured : run.cases) {
    if (!is_counted(measured)) continue;
    for (const model::EventCount& event : measured.events) {
      Known& known = events[event.event];
      known.counted = known.counted || !event.per_iteration.empty();
      known.reasons.insert(event.unavailable);
    }
  }
  std::set<std::string> missing;
  InOrder<std::vector<std::string>> by_reason;
  for (const auto& [event, known] : events) {
    if (known.counted || known.reasons.size() > 1) continue;
    missing.insert(event);
    by_reason[*known.reasons.begin()].push_back(event);
  }
  for (const auto& [reason, names] : by_reason) {
    add(sentences, "{}: {}: {}.", kNotCounted, fmt::join(names, ", "), reason);
  }
  return missing;
}

void add_scheduler_counters(const model::Case& measured, Table& table) {
  for (const std::string_view name : kSchedulerCounters) {
    std::vector<double> values;
    for (const model::Repetition& repetition : measured.repetitions) {
      const auto value = model::value_at(repetition.counters, name);
      if (value && stats::is_complete(repetition)) values.push_back(*value);
    }
    if (values.empty()) continue;
    table.add(cells(std::string(counter_label(name)), values, measured.operations, "scheduler's"),
              measured.name);
  }
}

Sentences basis_of(const model::CounterPass& pass, const Remarks& remarks, bool of_commands) {
  Sentences sentences;
  if (of_commands) {
    add(sentences, "Counted in a pass of its own after the timing: medians over n runs.");
  } else {
    add(sentences,
        "Counted{} in a pass of its own after the timing: medians over n fresh processes, with as "
        "many iterations as a repetition. The scheduler's counters are of the timing itself, over "
        "n repetitions.",
        pass.tool.empty() ? "" : " by " + pass.tool);
  }
  if (!remarks.exact.empty()) add(sentences, "callgrind: {}.", remarks.exact);
  if (remarks.user_only) {
    add(sentences,
        "user only: without what the kernel did for the program; where that was not asked for, "
        "`sudo sysctl kernel.perf_event_paranoid=1` permits more.");
  }
  if (remarks.multiplexed) {
    add(sentences,
        "% of the time: there were more events than counters, so that the event was counted for "
        "that share only and is extrapolated; ask for fewer events at once.");
  }
  return sentences;
}

}  // namespace

std::optional<CounterTable> counter_table(const model::Run& run) {
  if (!run.counter_pass) return std::nullopt;
  CounterTable counted;
  counted.table = {.columns = {{"counter"}}, .group_title = "case"};
  for (const char* title : {"per iteration", "± MAD", "per op", "n", "remark"}) {
    counted.table.columns.push_back({.title = title, .is_number = true, .part = 1});
  }
  counted.table.columns.back().is_number = false;
  const bool exact = std::ranges::any_of(run.cases, [](const model::Case& measured) {
    return std::ranges::any_of(measured.events, [](const model::EventCount& event) {
      return event.event == model::kInstructionsExact && !event.per_iteration.empty();
    });
  });
  if (!run.counter_pass->unavailable.empty() && !exact) {
    add(counted.missing, "Nothing was counted: {}.", run.counter_pass->unavailable);
    return counted;
  }
  const auto missing = add_missing_everywhere(run, counted.missing);
  Remarks remarks;
  for (const model::Case& measured : run.cases) {
    if (!is_counted(measured)) continue;
    for (const model::EventCount& event : measured.events) {
      if (missing.contains(event.event)) continue;
      counted.table.add(cells(event_label(event), event.per_iteration, measured.operations,
                              remark_of(measured, event, remarks)),
                        measured.name);
      if (!event.unavailable.empty()) {
        add(counted.missing, "{} of {}: {}.", event.event, measured.name, event.unavailable);
      }
    }
    add_scheduler_counters(measured, counted.table);
  }
  if (!counted.table.rows.empty()) {
    counted.basis =
        basis_of(*run.counter_pass, remarks, std::ranges::all_of(run.cases, is_of_command));
  }
  return counted;
}

std::string event_label(const model::EventCount& event) {
  return event.unit.empty() ? event.event : fmt::format("{}, {}", event.event, event.unit);
}

std::string_view counter_label(std::string_view name) { return name == "wakeups" ? "wakes" : name; }

std::string exact_basis(const model::Case& measured) {
  if (is_of_command(measured)) {
    return "instructions of all processes of a run, from its start to its end, without what the "
           "kernel does for them";
  }
  return "instructions of the scheduler in_turn, whose workers run in turn on one thread, of a few "
         "iterations; equal each time, so that a small change shows";
}

std::string moved_text(const std::vector<verdict::CounterMove>& moves) {
  std::vector<std::string> parts;
  for (const auto& move : moves) {
    // If both would look the same, uses more digits.
    const auto text = rate(move.base) == rate(move.head) ? three_digits : rate;
    add(parts, "{} {} → {}", counter_label(move.name), text(move.base), text(move.head));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace taskbench::reports::render
