// Runs another program to its end, or ends it.
#pragma once

#include <cerrno>

#include "harness/os/names.hpp"

namespace taskbench::harness {

struct ProcessRequest {
  Strings command{};      ///< program, looked up in PATH, and its arguments
  Strings environment{};  ///< NAME=VALUE, on top of this process's own
  double timeout_s = 60;
  /// How long a program that is ended early, and everything it has started, may take to end after
  /// its process group was sent a SIGTERM: build tools clean up then. 0: all are killed at once.
  double grace_s = 0;
  std::function<void(double elapsed_s)> waiting{};  ///< called now and then while it runs
  std::string folder{};                             ///< where it runs; empty: where this one does
  std::size_t most_output_bytes = 1 << 20;          ///< that are kept of its standard output
};

struct ProcessOutcome {
  enum class End {
    exited,
    killed,       ///< by a signal that came from elsewhere
    timed_out,    ///< it was killed because it took too long
    interrupted,  ///< it was killed because `stop` was set
    not_started,
  };
  End end = End::not_started;
  int code = 0;        ///< exit status, signal, or errno of the start
  std::string output;  ///< the beginning of its standard output
  std::string errors;  ///< the last KiB of its standard error
  /// How long the program could have run but waited for a CPU; empty if unknown. The kernel counts
  /// this by thread, and only the first thread of an ended program is left, so that another thread
  /// that used a CPU, or a child, makes it unknown.
  std::optional<double> queued_s{};

  [[nodiscard]] bool ok() const { return end == End::exited && code == 0; }
  /// Whether there is no such program.
  [[nodiscard]] bool is_missing() const { return end == End::not_started && code == ENOENT; }

  /// "exited with status 1: <last line of its standard error>", "was killed by signal 9 (Killed)".
  [[nodiscard]] std::string text() const;
};

/// How a process has ended whose wait status this is.
[[nodiscard]] ProcessOutcome outcome_of(int wait_status);

/// Reads what is there, without waiting, and keeps at most `limit` bytes: the last ones, or the
/// first. False at the end of the file.
bool drain(int descriptor, std::string& into, std::size_t limit, bool keep_the_end);

/// Runs a program, and waits for it at most `timeout_s` and until `stop` is requested. The program
/// leads a process group of its own, with an empty standard input. When it has ended, everything
/// that it has started and left behind is killed, daemons included; if this process dies, even of a
/// SIGKILL, so are they and the program (supervisor.hpp). Not to be called from several threads at
/// once.
[[nodiscard]] ProcessOutcome run_process(const ProcessRequest& request,
                                         const std::stop_token& stop);

}  // namespace taskbench::harness
