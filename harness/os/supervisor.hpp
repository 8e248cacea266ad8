// The process between this one and a program that it runs.
#pragma once

#include <cstdint>

namespace taskbench::harness {

/// What the supervisor works with. Made before fork(), since nothing may be allocated after it.
struct Supervised {
  char* const* arguments = nullptr;    ///< of the program, ending in a null pointer
  char* const* environment = nullptr;  ///< the same
  const char* folder = "";             ///< where it runs; empty: where this process does
  double grace_s = 0;                  ///< see ProcessRequest
  int input = -1;                      ///< of the program, as are the next two
  int output = -1;
  int errors = -1;
  int report = -1;   ///< takes one or two ProcessReports; closed when everything has ended
  int control = -1;  ///< a byte asks for an early end with grace; its end for one without
};

struct ProcessReport {
  enum class Kind : int {
    not_started,  ///< `value` is errno
    ended,        ///< `value` is the status as waitpid() gives it
  };
  Kind kind = Kind::ended;
  int value = 0;
  /// For `ended`: how long the first thread ran, and how long it waited for a CPU while it could
  /// have run, as the scheduler counted. 0 and 0 if the kernel does not say.
  std::int64_t first_ran_ns = 0;
  std::int64_t first_queued_ns = 0;
  std::int64_t cpu_ns = 0;  ///< of all its threads, and of the children that it has waited for
};

/// Runs the program as a child and sleeps until it has ended, or until `control` says to end it.
/// Then kills whatever the program has left behind, including processes that have left its process
/// group and its session: a subreaper inherits every orphan below it. Since `control` also ends
/// when the process that forked dies, nothing outlives that process, however it dies.
///
/// To be called by the child of a fork(), even of a process with threads: nothing here needs more
/// than what is safe in a signal handler.
[[noreturn]] void supervise(const Supervised& request);

}  // namespace taskbench::harness
