// Switches perf's counters on and off around what is measured, through the pipes that perf was
// given by `--control fifo:COMMANDS,ANSWERS`.
//
// perf counts a whole process, but should count only the timed part of a repetition, without the
// warm-up, the start of threads and the verification. Whoever starts perf names the pipes in
// TASKBENCH_PERF_CONTROL. Without that variable, nothing here is used.
//
// To be used by the thread that measures.
#pragma once

#include <optional>
#include <string>

namespace taskbench::harness {

/// The variable that holds "COMMANDS,ANSWERS".
inline constexpr const char* kPerfControlVariable = "TASKBENCH_PERF_CONTROL";

/// The words that tell a failure of perf from one of the measured program: "perf did not answer
/// 'enable'".
inline constexpr const char* kPerfDidNot = "perf did not ";

class CountingRegion {
 public:
  /// Opens the pipes. From here on this process dies with perf, since nobody else would end it.
  /// Throws std::runtime_error if perf does not listen.
  explicit CountingRegion(const std::string& pipes);
  ~CountingRegion();
  CountingRegion(const CountingRegion&) = delete;
  CountingRegion& operator=(const CountingRegion&) = delete;

  /// Returns once perf has answered that its counters are on. Throws std::runtime_error if it does
  /// not answer within ten seconds.
  void begin() { tell("enable\n"); }
  /// Like begin(), for off.
  void end() { tell("disable\n"); }

 private:
  void tell(const char* command) const;
  void close();

  int commands_ = -1;
  int answers_ = -1;
};

/// The pipes that the environment names; empty if it names none.
[[nodiscard]] std::optional<std::string> perf_control_pipes();

}  // namespace taskbench::harness
