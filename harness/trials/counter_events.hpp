// What `--counters` asks for: sets of events by name, and events as perf calls them.
#pragma once

#include "harness/trials/names.hpp"

namespace taskbench::harness {

struct CounterSet {
  std::string_view name;
  std::string_view events;  ///< as perf's -e takes them
};

/// Every set. A new one is one more row.
[[nodiscard]] std::span<const CounterSet> counter_sets();

/// One argument of perf's -e. Several names: a group in braces, which is counted together.
struct CounterRequest {
  std::string argument;
  Strings events;
};

/// What is to be counted.
struct CounterPlan {
  Strings words;                         ///< as the user wrote it
  std::vector<CounterRequest> requests;  ///< by perf
  bool instructions_exact = false;       ///< by callgrind
  [[nodiscard]] bool any() const { return !requests.empty() || instructions_exact; }
};

/// The events of the sets and events that were given, each once, in that order. Commas separate
/// them, except within the slashes and braces of perf's own syntax. Throws UsageError for an empty
/// one, one that is given twice, a name that is nearly that of a set or of instructions-exact, and
/// what cannot be an event's name.
[[nodiscard]] CounterPlan parse_counters(std::string_view option, const Strings& given);

/// The events of all sets.
[[nodiscard]] Strings events_of_sets();

}  // namespace taskbench::harness
