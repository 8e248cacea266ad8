// What `--counters` asks for: sets of events by name, and events as perf calls them.
#pragma once

#include "harness/trials/names.hpp"

namespace taskbench::harness {

struct CounterSet {
  std::string_view name;
  std::string_view events;  ///< as perf's -e takes them
};

/// Every set. To add one, add a row.
[[nodiscard]] std::span<const CounterSet> counter_sets();

/// One argument of perf's -e. Several events are a group in braces, which perf counts together.
struct CounterRequest {
  std::string argument;
  Strings events;
};

/// What --counters asks for.
struct CounterPlan {
  Strings words;                         ///< as the user wrote it
  std::vector<CounterRequest> requests;  ///< counted by perf
  bool instructions_exact = false;       ///< counted by callgrind
  [[nodiscard]] bool any() const { return !requests.empty() || instructions_exact; }
};

/// Parses --counters: sets and events, each once, in the order given. Commas separate them, except
/// within the slashes and braces of perf's own syntax. Throws UsageError for an empty item, one
/// that is given twice, a name that is nearly that of a set or of instructions-exact, and what
/// cannot be an event's name.
[[nodiscard]] CounterPlan parse_counters(std::string_view option, const Strings& given);

/// The events of all sets.
[[nodiscard]] Strings events_of_sets();

}  // namespace taskbench::harness
