// The findings of `taskbench doctor`: facts about the machine, what they mean for a measurement,
// and the least that anything can cost here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/model/drift.hpp"
#include "reports/model/fact.hpp"
#include "reports/model/run.hpp"

namespace taskbench::reports::model {

/// Version of the JSON; docs/schema/doctor-v1.schema.json describes it.
inline constexpr int kDoctorVersion = 1;

struct Boost {
  bool on = false;
  std::string file;  ///< the switch
  std::string off;   ///< the value that turns it off
};

struct SharedCores {
  int cpus = 0;   ///< that this process may use
  int cores = 0;  ///< that these CPUs belong to
  /// CPUs that this process may not use, but that share a core with one it may use.
  int foreign_siblings = 0;
};

struct CpuQuota {
  std::optional<double> cpus;  ///< the lowest quota of all enclosing control groups; none: no quota
  std::string where;           ///< the file that sets it
};

struct Aslr {
  int system_wide = 0;           ///< kernel.randomize_va_space
  bool off_for_process = false;  ///< by its personality, as `setarch -R` sets it
};

/// The result of opening a counter.
struct EventAccess {
  int error = 0;           ///< errno; 0: it may be counted
  bool user_only = false;  ///< excludes the kernel's work for the program
};

struct CounterAccess {
  std::optional<int> paranoid;  ///< kernel.perf_event_paranoid; none: there is no such setting
  EventAccess software;         ///< the task clock
  EventAccess hardware;         ///< cycles
};

struct ClockSource {
  std::string current;
  std::string available;  ///< as the kernel lists them
};

struct Memory {
  std::int64_t total_bytes = 0;
  std::int64_t available_bytes = 0;
};

struct ThermalZone {
  std::string name;
  double celsius = 0;
  double trip_celsius = 0;  ///< above this temperature the machine slows down or switches off
};

struct BusyProcess {
  std::string name;
  int pid = 0;
  double cpus = 0;      ///< CPU time over time
  bool is_own = false;  ///< belongs to the user of this process
};

/// A program that taskbench calls.
struct Tool {
  std::string name;
  std::string package;    ///< the Debian package that contains it
  std::string purpose;    ///< its use
  std::string missing{};  ///< why it cannot be used; empty if it can
};

/// How evenly a core works, measured with many equal pieces of work.
struct CoreShare {
  double slow_share = 0;  ///< share of the time in pieces that took much longer than the fastest
  double slowdown = 1;    ///< how many times as long these took
};

struct DoctorFacts {
  std::string build_type;
  std::string compiler_flags;
  Fact<std::map<std::string, int>> governors;  ///< with the number of CPUs of each
  Fact<Boost> boost;
  Fact<SharedCores> shared_cores;
  Fact<CoreShare> core_share;
  Fact<double> load_average;               ///< over the last minute
  Fact<std::vector<BusyProcess>> busiest;  ///< while this process slept; busiest first
  Fact<int> cpus_online;
  Fact<int> cpus_allowed;
  Fact<CpuQuota> quota;
  Fact<Aslr> aslr;
  Fact<CounterAccess> counters;
  Fact<ClockSource> clock_source;
  Fact<Memory> memory;
  Fact<double> memory_stall_percent;  ///< time of the last 10 s in which a task waited for memory
  Fact<std::int64_t> thermal_throttles;  ///< since the machine booted
  Fact<std::vector<ThermalZone>> thermal_zones;
  Fact<std::string> hypervisor;
  Fact<std::string> huge_pages;  ///< "always", "madvise" or "never"
  std::vector<Tool> tools;
  Drift at_rest;  ///< while this process slept
  Drift at_work;  ///< while it kept the CPUs busy: time can be stolen only then
};

/// How much a finding changes a result, from worst to best.
enum class Severity {
  serious,   ///< by 10 % or more, or the result is invalid
  moderate,  ///< by a few per cent
  minor,     ///< by about one per cent; or something cannot be measured
  unknown,   ///< not known
  ok,
};

struct Finding {
  Severity severity = Severity::unknown;
  std::string found{};    ///< the fact; for an unknown one, the reason
  std::string mend{};     ///< a command; empty if there is nothing to fix, or no command for it
  std::string check{};    ///< "governor", "steal", …
  std::string matters{};  ///< why it matters, and its typical effect on a result
};

/// A lower limit on what can be timed or done on this machine.
struct FloorFigure {
  std::string name;           ///< "clock_cost"
  std::string what;           ///< description for readers
  std::vector<double> ns;     ///< one per sample
  std::string unavailable{};  ///< why there is no sample; empty if there are some
};

struct DoctorReport {
  Environment environment;
  std::vector<Finding> findings;  ///< worst first
  std::vector<FloorFigure> floor;
  std::vector<Case> workloads;  ///< measured briefly, for comparison with the floor
  Drift at_rest;
  Drift at_work;
};

}  // namespace taskbench::reports::model
