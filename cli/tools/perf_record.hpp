// perf(1) as a sampling profiler.
#pragma once

#include <functional>
#include <stdexcept>

#include "cli/names.hpp"
#include "cli/tools/perf.hpp"
#include "reports/model/profile.hpp"

namespace taskbench::cli {

/// The workload itself failed under perf, and why.
class WorkloadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Recording {
  model::Profile profile;
  std::string event;       ///< what was sampled
  bool user_only = false;  ///< perf was not permitted to look into the kernel
};

/// The most that a recording may take on the disk.
[[nodiscard]] double recording_bytes(unsigned frequency, unsigned cpus, double duration_s);

/// Samples a taskbench that switches sampling on and off itself, `frequency` times a second and
/// CPU. By cycles, and by the clock of the CPU where the machine cannot count those. Throws
/// PerfError, and WorkloadError. `waiting` is called now and then.
[[nodiscard]] Recording record(const Strings& command, unsigned frequency, double timeout_s,
                               const fs::path& scratch, const std::stop_token& stop,
                               const std::function<void(double elapsed_s)>& waiting);

}  // namespace taskbench::cli
