// The process between this one and a program that it runs.
#pragma once

#include <cstdint>

namespace taskbench::harness {

/// The supervisor's inputs. Made before fork(), since nothing may be allocated after it.
struct Supervised {
  char* const* arguments = nullptr;    ///< of the program, ending in a null pointer
  char* const* environment = nullptr;  ///< likewise
  const char* folder = "";             ///< working folder; empty: the current one
  double grace_s = 0;                  ///< see ProcessRequest
  int input = -1;                      ///< of the program, like the next two
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
  /// For `ended`: how long the first thread ran, and how long it was runnable but waited for a CPU,
  /// as counted by the kernel's scheduler. Both 0 if the kernel does not report it.
  std::int64_t first_ran_ns = 0;
  std::int64_t first_queued_ns = 0;
  std::int64_t cpu_ns = 0;  ///< of all its threads, and of the children that it has waited for
};

/// Runs the program as a child and sleeps until it has ended, or until `control` requests its end.
/// Then kills everything that the program left behind, including processes that have left its
/// process group and its session: a subreaper inherits every orphan below it. Since `control` also
/// ends when the process that forked dies, nothing outlives that process, however it dies.
///
/// To be called by the child of a fork(), even of a process with threads: everything here is safe
/// in a signal handler.
[[noreturn]] void supervise(const Supervised& request);

}  // namespace taskbench::harness
