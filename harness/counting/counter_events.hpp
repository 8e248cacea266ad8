// The argument of `--counters`: named sets of events, and events in perf's notation.
#pragma once

#include "harness/files/names.hpp"

namespace taskbench::harness {

struct CounterSet {
  std::string_view name;
  std::string_view events;  ///< as an argument of perf's -e
};

/// Every set. To add one, add a row.
[[nodiscard]] std::span<const CounterSet> counter_sets();

/// One argument of perf's -e. Several events form a group in braces, which perf counts together.
struct CounterRequest {
  std::string argument;
  Strings events;
};

/// The parsed value of --counters.
struct CounterPlan {
  Strings words;                         ///< as the user wrote it
  std::vector<CounterRequest> requests;  ///< counted by perf
  bool instructions_exact = false;       ///< counted by callgrind
  [[nodiscard]] bool any() const { return !requests.empty() || instructions_exact; }
};

/// Parses --counters: sets and events, each once, in the order given. Commas separate them, except
/// within the slashes and braces of perf's own syntax. Throws UsageError for an empty or repeated
/// item, a misspelt set or instructions-exact, and anything that cannot be the name of an event.
[[nodiscard]] CounterPlan parse_counters(std::string_view option, const Strings& given);

/// The events of all sets.
[[nodiscard]] Strings events_of_sets();

}  // namespace taskbench::harness
