// Runs another program to its end, or ends it.
#pragma once

#include <cerrno>

#include "harness/os/names.hpp"

namespace taskbench::harness {

struct ProcessRequest {
  Strings command{};      ///< program, looked up in PATH, and its arguments
  Strings environment{};  ///< NAME=VALUE, in addition to this process's own
  double timeout_s = 60;
  /// Time for a program that is ended early, and everything it has started, to end after a SIGTERM
  /// to its process group: build tools then clean up. 0: all are killed at once.
  double grace_s = 0;
  std::function<void(double elapsed_s)> waiting{};  ///< called now and then while it runs
  std::string folder{};                             ///< working folder; empty: the current one
  std::size_t most_output_bytes = 1 << 20;          ///< of its standard output are kept
};

struct ProcessOutcome {
  enum class End {
    exited,
    killed,       ///< by a signal from elsewhere
    timed_out,    ///< killed because it took too long
    interrupted,  ///< killed because `stop` was requested
    not_started,
  };
  End end = End::not_started;
  int code = 0;        ///< exit status, signal, or errno of the start
  std::string output;  ///< the beginning of its standard output
  std::string errors;  ///< the last KiB of its standard error
  /// How long the program was runnable but waited for a CPU; empty if unknown. The kernel counts
  /// this by thread, and only the first thread of an ended program is left: CPU use by another
  /// thread, or by a child, makes it unknown.
  std::optional<double> queued_s{};

  [[nodiscard]] bool ok() const { return end == End::exited && code == 0; }
  /// Whether there is no such program.
  [[nodiscard]] bool is_missing() const { return end == End::not_started && code == ENOENT; }

  /// "exited with status 1: <last line of its standard error>", "was killed by signal 9 (Killed)".
  [[nodiscard]] std::string text() const;
};

/// The end of a process with this wait status.
[[nodiscard]] ProcessOutcome outcome_of(int wait_status);

/// Reads the available bytes without waiting, but no more than 4 MiB of them in one call, and keeps
/// at most `limit` bytes of all calls: the last ones, or the first. False at the end of the file.
bool drain(int descriptor, std::string& into, std::size_t limit, bool keep_the_end);

/// Runs a program, and waits for it at most `timeout_s` and until `stop` is requested. The program
/// leads its own process group and has an empty standard input. When it has ended, everything that
/// it left behind is killed, including daemons; if this process dies, even of a SIGKILL, so are
/// they and the program (supervisor.hpp). Must not be called from several threads at once.
[[nodiscard]] ProcessOutcome run_process(const ProcessRequest& request,
                                         const std::stop_token& stop);

}  // namespace taskbench::harness
