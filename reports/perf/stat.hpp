// The output of `perf stat -j`, from every version of perf that has it, and of `perf stat -x ;` for
// versions before 5.19, which do not. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taskbench::reports::perf {

/// One line of perf's output: an event and its count.
struct PerfCount {
  std::string printed;          ///< the event as perf printed it: "cycles:u"
  std::string event;            ///< without the modifier by which perf marks "user only": "cycles"
  std::string unit;             ///< "ns" if perf counts in ms; otherwise perf's, often empty
  std::optional<double> value;  ///< empty: "<not counted>" or "<not supported>"
  double counted_share = 1;     ///< of the time; below 1 perf has extrapolated
  bool user_only = false;
  std::string unavailable;  ///< why there is no value, in perf's words; otherwise empty
};

/// The parts of an event as perf prints it: "cycles:Pu", "cpu_core/cycles/u".
struct PerfEvent {
  std::string name;       ///< "cycles", "cpu_core/cycles/"
  std::string modifiers;  ///< "Pu"
  bool user_only = false;
};

[[nodiscard]] PerfEvent perf_event(std::string_view printed);

/// Whether this event only occurs in the kernel: in user mode alone its count is always 0.
[[nodiscard]] bool happens_in_the_kernel(std::string_view event);

/// Why such an event has no value if only user mode was counted.
inline constexpr std::string_view kNotInUserMode =
    "user mode only was counted, and this happens in the kernel";

struct PerfOutput {
  std::vector<PerfCount> counts;  ///< in perf's order
  std::string damage;             ///< what could not be read, as a sentence; empty: nothing
};

/// The field separator for perf versions without JSON: no name contains it.
inline constexpr char kPerfSeparator = ';';

[[nodiscard]] PerfOutput parse_perf_stat(std::string_view text);

/// perf's output on standard error, on one line: without its usage text, and with advice if
/// perf_event_paranoid is in the way. Empty if there is none.
[[nodiscard]] std::string perf_reason(std::string_view standard_error);

}  // namespace taskbench::reports::perf
