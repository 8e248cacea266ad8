// Switches perf's counters on and off around the measured code, through the pipes that perf was
// given by `--control fifo:COMMANDS,ANSWERS`.
//
// perf counts a whole process, but should count only the timed part of a repetition, without the
// warm-up, the start of threads and the verification. The process that starts perf names the pipes
// in TASKBENCH_PERF_CONTROL. Without that variable, nothing here is used.
//
// To be used by the measuring thread.
#pragma once

#include "harness/os/descriptor.hpp"
#include "harness/os/names.hpp"

namespace taskbench::harness {

/// The variable that holds "COMMANDS,ANSWERS".
inline constexpr const char* kPerfControlVariable = "TASKBENCH_PERF_CONTROL";

/// Words that distinguish a failure of perf from one of the measured program: "perf did not answer
/// 'enable'".
inline constexpr const char* kPerfDidNot = "perf did not ";

class CountingRegion {
 public:
  /// Opens the pipes. From here on this process dies with perf, since nobody else would end it.
  /// Throws std::runtime_error if perf does not listen.
  explicit CountingRegion(const std::string& pipes);

  /// Returns once perf has answered that its counters are on. Throws std::runtime_error if it does
  /// not answer within ten seconds.
  void begin() { tell("enable"); }
  /// Like begin(), for switching off.
  void end() { tell("disable"); }

 private:
  void tell(std::string_view command) const;

  Descriptor answers_;
  Descriptor commands_;
};

/// The pipes that the environment names; empty if it names none.
[[nodiscard]] std::optional<std::string> perf_control_pipes();

}  // namespace taskbench::harness
