// Finds out what of this machine may disturb a measurement.
#pragma once

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "reports/model/doctor.hpp"

namespace taskbench::harness {

/// What stands still: all of the facts but `at_rest`, `at_work`, `busiest` and `tools`. Each is
/// unknown, with the reason, where it cannot be found out. `root` is where /proc and /sys are
/// looked for; the build, what the CPU says of a hypervisor and what may be counted are this
/// program's own.
[[nodiscard]] reports::model::DoctorFacts probe_disturbances(
    const std::filesystem::path& root = "/");

struct ProcessTime {
  std::string name;
  double cpu_s = 0;
  bool is_own = false;  ///< of the user that this process belongs to
};

/// The CPU time of every process but this one, by its id. Empty where /proc shows none.
[[nodiscard]] std::map<int, ProcessTime> read_process_times(
    const std::filesystem::path& root = "/");

/// Those that used a hundredth of a CPU and more within `seconds`, the busiest first, at most
/// three.
[[nodiscard]] std::vector<reports::model::BusyProcess> busiest_processes(
    const std::map<int, ProcessTime>& before, const std::map<int, ProcessTime>& after,
    double seconds);

/// perf, gnuplot and valgrind, each asked for its version: a program that is there may still not
/// work, as perf of another kernel's package.
[[nodiscard]] std::vector<reports::model::Tool> probe_tools(const std::stop_token& stop);

}  // namespace taskbench::harness
