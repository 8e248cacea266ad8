// What the process's exit status means. Scripts and CI branch on it: never renumber.
#pragma once

namespace taskbench::cli {

enum class ExitCode : int {
  pass = 0,
  regression = 1,
  usage = 2,          ///< usage or input error; nothing was measured, or a result was not written
  inconclusive = 3,   ///< the data cannot carry a verdict
  wrong_machine = 4,  ///< not the baseline's machine, or doctor finds it disturbed
  measured_program_failed = 5,  ///< a workload ended wrongly or did not do its work
  interrupted = 130,            ///< SIGINT, SIGTERM, SIGHUP: what was complete has been written
};

}  // namespace taskbench::cli
