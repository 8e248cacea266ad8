// The meanings of the process's exit status. Scripts and CI depend on them: never renumber.
#pragma once

namespace taskbench::cli {

enum class ExitCode : int {
  pass = 0,
  regression = 1,
  usage = 2,          ///< usage or input error; nothing was measured, or a result was not written
  inconclusive = 3,   ///< the data do not support a verdict
  wrong_machine = 4,  ///< not the baseline's machine, or doctor finds it disturbed
  measured_program_failed = 5,  ///< a workload failed or did not do its work
  interrupted = 130,            ///< SIGINT, SIGTERM, SIGHUP: what was complete has been written
};

}  // namespace taskbench::cli
