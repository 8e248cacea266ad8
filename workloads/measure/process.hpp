// Runs another program to its end, or ends it.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace taskbench::workloads::measure {

struct ProcessRequest {
  std::vector<std::string> command;      ///< program, looked up in PATH, and its arguments
  std::vector<std::string> environment;  ///< NAME=VALUE, on top of this process's own
  double timeout_s = 60;
  /// How long a program that is ended early, and all of its process group, may take after a SIGTERM
  /// to end what they have started in groups of their own, as build tools do. 0: killed at once.
  double grace_s = 0;
  std::function<void(double elapsed_s)> waiting{};  ///< called now and then while it runs
  std::string folder{};                             ///< where it runs; empty: where this one does
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
  std::string output;  ///< the first MiB of its standard output
  std::string errors;  ///< the last KiB of its standard error

  [[nodiscard]] bool ok() const { return end == End::exited && code == 0; }

  /// "exited with status 1: <last line of its standard error>", "was killed by signal 9 (Killed)".
  [[nodiscard]] std::string text() const;
};

/// Waits for the program, at most `timeout_s` and until `stop` is set. The program is the leader of
/// a process group of its own with an empty standard input. When it has ended, what it has forked
/// and left behind is killed; when this process dies, it is killed too. For a thread that has no
/// other children to wait for; not to be called from several threads at once.
[[nodiscard]] ProcessOutcome run_process(const ProcessRequest& request,
                                         const std::atomic<bool>& stop);

}  // namespace taskbench::workloads::measure
