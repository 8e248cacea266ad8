// What a report knows of each benchmark of its results.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/run.hpp"
#include "reports/render/plots.hpp"
#include "reports/render/report.hpp"

namespace taskbench::reports::render {

/// One counter of one benchmark.
struct CaseCounter {
  std::string name;
  std::vector<double> values;           ///< one a repetition, or a process that counted
  std::optional<double> median;         ///< empty: it could not be counted
  std::string reason;                   ///< why not
  bool of_processes = false;            ///< counted in a pass of its own
  bool user_only = false;               ///< without what the kernel did
  const NamedResult* older = nullptr;   ///< counted there: the newest result has no such counters
  std::optional<double> counted_share;  ///< below 1: extrapolated
};

/// A benchmark of the newest result that has it.
struct ShownCase {
  const NamedResult* source = nullptr;
  const model::Case* benchmark = nullptr;
  /// The same benchmark in the newest result that counted something in its repetitions, and in the
  /// newest that counted events in a pass of its own. Empty: none did.
  struct Counted {
    const NamedResult* source = nullptr;
    const model::Case* benchmark = nullptr;
  };
  Counted counters{};
  Counted events{};
  std::string group;    ///< its workload, or the family of a foreign benchmark
  std::string variant;  ///< "work_stealing ×2"; what the group's cases differ in; may be empty
  Sampled real_ns;

  [[nodiscard]] std::string label() const {
    return variant.empty() ? group : group + ' ' + variant;
  }
  /// Whether an iteration is a known number of operations.
  [[nodiscard]] bool has_operations() const { return benchmark->operations > 0; }
};

/// Pointers to the results, the oldest first; those without a date come before all others, in
/// their own order.
[[nodiscard]] std::vector<const NamedResult*> in_order_of_time(
    const std::vector<NamedResult>& results);

/// Every benchmark that has samples, in the order of the newest results; each once.
[[nodiscard]] std::vector<ShownCase> shown_cases(const std::vector<const NamedResult*>& in_order);

/// All that was counted of it: per operation where those are known, else as the program gave it.
/// Whatever else learns to count adds to this list.
[[nodiscard]] std::vector<CaseCounter> counters_of(const ShownCase& shown);

/// As counters_of() names them.
[[nodiscard]] std::string counter_name(const model::EventCount& event);

/// The places of the `most` greatest values, in the order of their places.
[[nodiscard]] std::vector<std::size_t> greatest(const std::vector<double>& values,
                                                std::size_t most);

/// So many of a list, from `first` on.
struct IndexRange {
  std::size_t first = 0;
  std::size_t end = 0;
};

/// As few runs as possible of at most `most`, of nearly equal length.
[[nodiscard]] std::vector<IndexRange> runs_of(std::size_t count, std::size_t most);

/// The index of the run that an index of the list lies in.
[[nodiscard]] std::size_t run_that_holds(const std::vector<IndexRange>& runs, std::size_t index);

/// Runs of at most kMaxRows.
[[nodiscard]] std::vector<std::vector<const ShownCase*>> in_portions(
    const std::vector<const ShownCase*>& cases);

/// " (2 of 3)" where there are several.
[[nodiscard]] std::string part_text(std::size_t index, std::size_t count);

/// "9" or "5 to 9": the repetitions of each.
[[nodiscard]] std::string sample_count(const std::vector<const ShownCase*>& cases);

/// "a.json, b.json and 98 more"
[[nodiscard]] std::string some_of(const std::vector<std::string>& texts, std::string_view between);

/// On what it ran, in short: "Some CPU, 2 CPUs, Release".
[[nodiscard]] std::string machine_of(const model::Run& file);

/// That of each result, with a number where another kernel, compiler or the like keeps results of
/// one short name from being compared. So equal texts mean results that can be.
[[nodiscard]] std::vector<std::string> machine_labels(
    const std::vector<const NamedResult*>& in_order);

/// "1a2b3c4", "-dirty" kept; empty when it is not known.
[[nodiscard]] std::string short_commit(const model::Run& file);

/// A time in the unit that suits it, and what to sort it by.
[[nodiscard]] Cell time_cell_of(double ns);

/// "32.63 … 33.01 µs", sorted by where it begins.
[[nodiscard]] Cell interval_cell(const Sampled& sample);

/// What is said of the bars of medians: ", its bar the 95 % interval" where all have one.
[[nodiscard]] std::string interval_phrase(std::size_t with_interval, std::size_t all);

/// " At most 375 of each are drawn, ….": empty where all are. `samples` stand in one plot, the
/// largest of them has `most` values.
[[nodiscard]] std::string dots_phrase(std::size_t most, std::size_t samples);

}  // namespace taskbench::reports::render
