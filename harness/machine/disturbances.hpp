// Finds possible disturbances of measurements on this machine.
#pragma once

#include <map>

#include "harness/os/names.hpp"
#include "reports/model/doctor.hpp"

namespace taskbench::harness {

/// The facts that do not change during a measurement: all but `at_rest`, `at_work`, `busiest` and
/// `tools`. A fact that cannot be determined is unknown, with the reason. `root` is the folder that
/// contains /proc and /sys; the build, the CPU's statement about a hypervisor, and the permitted
/// counters are this program's own.
[[nodiscard]] model::DoctorFacts probe_disturbances(const fs::path& root = "/");

/// Whether the CPUs may exceed their nominal rate, and the file that says so.
[[nodiscard]] model::Fact<model::Boost> probe_boost(const fs::path& root);

struct ProcessTime {
  std::string name;
  double cpu_s = 0;
  bool is_own = false;  ///< of the user of this process
};

/// The CPU time of every other process, by its id. Empty if /proc shows none.
[[nodiscard]] std::map<int, ProcessTime> read_process_times(const fs::path& root = "/");

/// The processes that used a hundredth of a CPU or more within `seconds`, the busiest first, at
/// most three.
[[nodiscard]] std::vector<model::BusyProcess> busiest_processes(
    const std::map<int, ProcessTime>& before, const std::map<int, ProcessTime>& after,
    double seconds);

/// perf, gnuplot and valgrind, each asked for its version: an installed program may still not work,
/// such as a perf for another kernel.
[[nodiscard]] std::vector<model::Tool> probe_tools(const std::stop_token& stop);

}  // namespace taskbench::harness
