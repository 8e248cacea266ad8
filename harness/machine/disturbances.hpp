// Finds out what on this machine may disturb a measurement.
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "reports/model/doctor.hpp"

namespace taskbench::harness {

/// The facts that do not change meanwhile: all but `at_rest`, `at_work`, `busiest` and `tools`. A
/// fact that cannot be found out is unknown, with the reason. `root` is the folder in which /proc
/// and /sys are looked for; the build, what the CPU says about a hypervisor, and what may be
/// counted are this program's own.
[[nodiscard]] reports::model::DoctorFacts probe_disturbances(
    const std::filesystem::path& root = "/");

struct ProcessTime {
  std::string name;
  double cpu_s = 0;
  bool is_own = false;  ///< of the user that this process belongs to
};

/// The CPU time of every process but this one, by its id. Empty if /proc shows none.
[[nodiscard]] std::map<int, ProcessTime> read_process_times(
    const std::filesystem::path& root = "/");

/// The processes that used a hundredth of a CPU or more within `seconds`, the busiest first, at
/// most three.
[[nodiscard]] std::vector<reports::model::BusyProcess> busiest_processes(
    const std::map<int, ProcessTime>& before, const std::map<int, ProcessTime>& after,
    double seconds);

/// perf, gnuplot and valgrind, each asked for its version: an installed program may still not work,
/// such as a perf for another kernel.
[[nodiscard]] std::vector<reports::model::Tool> probe_tools(const std::stop_token& stop);

}  // namespace taskbench::harness
