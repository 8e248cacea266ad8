// What one hardware or software event counted in the separate pass over a case. Plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace taskbench::reports::model {

/// The event that callgrind counts, on a scheduler that does the same in every run.
inline constexpr const char* kInstructionsExact = "instructions-exact";

struct EventCount {
  std::string event;  ///< as the tool calls it, without a modifier that it has added
  std::string unit;   ///< "ns"; empty: it is a plain count
  /// Values per iteration, one for each counting process; empty if not counted, for the reason
  /// below.
  std::vector<double> per_iteration;
  /// The least share of the time during which the event was on a counter, if the tool says so;
  /// below 1 the values are extrapolated.
  std::optional<double> counted_share;
  bool user_only = false;   ///< does not include what the kernel did for the program
  std::string unavailable;  ///< why there are no values, or fewer than processes; else empty
};

/// The pass that counted events: with which tool, and how often.
struct CounterPass {
  std::string tool;  ///< "perf version 6.1.192"; empty when there is none
  std::vector<std::string> requested;
  int processes = 0;        ///< in which each case was counted, if all went well
  std::string unavailable;  ///< why perf counted nothing; else empty

  friend bool operator==(const CounterPass&, const CounterPass&) = default;
};

}  // namespace taskbench::reports::model
