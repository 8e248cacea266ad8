#include "reports/verdict/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "reports/model/lookup.hpp"

namespace taskbench::reports::verdict {
namespace {

using model::DoctorFacts;
using model::Finding;
using model::Severity;

Finding unknown(std::string reason) { return {Severity::unknown, std::move(reason)}; }

/// The severity of `value` by the limits that it exceeds; ok if it exceeds none.
Severity by_limits(double value, double serious, double moderate, double minor) {
  if (value > serious) return Severity::serious;
  if (value > moderate) return Severity::moderate;
  return value > minor ? Severity::minor : Severity::ok;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

Finding build(const DoctorFacts& facts) {
  constexpr const char* kMend = "scripts/build release";
  constexpr std::array<std::string_view, 5> kOptimising{"-O1", "-O2", "-O3", "-Os", "-Ofast"};
  const std::string& flags = facts.compiler_flags;
  const std::string type = facts.build_type.empty() ? "of no type" : facts.build_type;
  const auto has = [&](std::string_view flag) { return flags.find(flag) != std::string::npos; };
  if (has("-fsanitize")) {
    return {Severity::serious, fmt::format("{} build with a sanitizer", type), kMend};
  }
  if (facts.build_type == "Debug") return {Severity::serious, "Debug build", kMend};
  if (std::ranges::none_of(kOptimising, has)) {
    return {Severity::serious, fmt::format("{} build without optimisation", type), kMend};
  }
  return {Severity::ok, fmt::format("{} build, {}", type, flags)};
}

Finding quota(const DoctorFacts& facts) {
  if (!facts.quota) return unknown(facts.quota.reason);
  const auto& throttles = facts.at_work.quota_throttles;
  if (!facts.quota->cpus) return {Severity::ok, "none"};
  const std::string limit =
      fmt::format("{:g} CPUs, set by {}", *facts.quota->cpus, facts.quota->where);
  const std::string mend = "docker run without --cpus, or remove CPUQuota= and limits.cpu";
  if (throttles && *throttles > 0) {
    return {
        Severity::serious,
        fmt::format("{}; used up {} times in {:.1f} s", limit, *throttles, facts.at_work.seconds),
        mend};
  }
  if (!facts.cpus_allowed) {
    return {Severity::moderate, fmt::format("{}; how many CPUs there are is not known", limit),
            mend};
  }
  if (*facts.quota->cpus < *facts.cpus_allowed) {
    return {Severity::serious, fmt::format("{}, but {} may be used", limit, *facts.cpus_allowed),
            mend};
  }
  return {Severity::ok, fmt::format("{}: as many as may be used", limit)};
}

/// Advice on busy processes: users can stop only their own processes.
std::string how_to_quieten(const std::vector<model::BusyProcess>& busiest) {
  if (busiest.empty()) return {};
  const auto own = std::ranges::find(busiest, true, &model::BusyProcess::is_own);
  if (own == busiest.end()) {
    return fmt::format("wait for it, or ask its owner: ps -o user,pid,comm -p {}",
                       busiest.front().pid);
  }
  return fmt::format("wait for it, or: kill -STOP {0} (afterwards kill -CONT {0})", own->pid);
}

Finding load(const DoctorFacts& facts) {
  const auto& share = facts.at_rest.others_share;
  if (!share) return unknown(share.reason);
  std::string found = fmt::format("others used {} of the CPU time in {:.1f} s", percent(*share),
                                  facts.at_rest.seconds);
  std::string mend;
  if (facts.busiest) {
    std::string names;
    for (const model::BusyProcess& each : *facts.busiest) {
      names += fmt::format("{}{} ({}) {:.0f} %", names.empty() ? ": " : ", ", each.name, each.pid,
                           100 * each.cpus);
    }
    found += names;
    mend = how_to_quieten(*facts.busiest);
  }
  const Severity severity = by_limits(*share, 0.25, 0.05, 0.01);
  if (severity != Severity::ok) {
    return {severity, found, mend.empty() ? "top -b -n 1 | head -n 15" : mend};
  }
  if (facts.load_average && facts.cpus_online && *facts.load_average > 0.5 * *facts.cpus_online) {
    return {Severity::minor,
            fmt::format("{}, though the load average is {:.2f}", found, *facts.load_average),
            "uptime, until it is lower"};
  }
  return {Severity::ok, found};
}

Finding steal(const DoctorFacts& facts) {
  const auto& share = facts.at_work.stolen_share;
  if (!share) return unknown(share.reason);
  const std::string found = fmt::format("{} of the CPU time stolen in {:.1f} s of work",
                                        percent(*share), facts.at_work.seconds);
  const Severity severity = by_limits(*share, 0.05, 0.01, 0.001);
  if (severity == Severity::ok) return {severity, found};
  return {severity, found, "taskbench ab (blocks of both sides), or a machine with dedicated CPUs"};
}

Finding core(const DoctorFacts& facts) {
  if (!facts.core_share) return unknown(facts.core_share.reason);
  const auto& [share, slowdown] = *facts.core_share;
  // Work that takes a share p of the time and is slowed down s times would have taken p / s of it.
  const double lost = share * (1 - 1 / slowdown);
  const Severity severity = by_limits(lost, 0.25, 0.05, 0.01);
  if (severity == Severity::ok) return {severity, "the core does equal work in equal time"};
  return {severity,
          fmt::format("equal work took {:.1f} times as long for {} of its time", slowdown,
                      percent(share)),
          "taskbench ab (blocks of both sides), or a machine whose cores are nobody else's"};
}

Finding governor(const DoctorFacts& facts) {
  if (!facts.governors) return unknown(facts.governors.reason);
  std::string found;
  Severity worst = Severity::ok;
  for (const auto& [name, cpus] : *facts.governors) {
    found += fmt::format("{}{} on {} CPU{}", found.empty() ? "" : ", ", name, cpus,
                         cpus == 1 ? "" : "s");
    const Severity each = name == "performance" ? Severity::ok
                          : name == "userspace" ? Severity::minor
                                                : Severity::serious;
    worst = std::min(worst, each);
  }
  if (worst == Severity::ok) return {worst, found};
  return {worst, found, "sudo cpupower frequency-set -g performance"};
}

Finding thermal(const DoctorFacts& facts) {
  const auto& now = facts.at_work.thermal_throttles;
  if (now && *now > 0) {
    return {Severity::serious,
            fmt::format("CPUs were throttled {} times in {:.1f} s", *now, facts.at_work.seconds),
            "let it cool, clean its fans; watch: sensors"};
  }
  if (facts.thermal_zones) {
    constexpr double kNear = 5;
    for (const model::ThermalZone& zone : *facts.thermal_zones) {
      if (zone.celsius + kNear <= zone.trip_celsius) continue;
      return {Severity::moderate,
              fmt::format("{} is at {:.0f} °C, and throttles at {:.0f} °C", zone.name, zone.celsius,
                          zone.trip_celsius),
              "let it cool, clean its fans; watch: sensors"};
    }
  }
  if (!facts.thermal_throttles && !facts.thermal_zones) {
    return unknown(
        fmt::format("{}; {}", facts.thermal_throttles.reason, facts.thermal_zones.reason));
  }
  if (facts.thermal_throttles && *facts.thermal_throttles > 0) {
    return {Severity::minor,
            fmt::format("none now; {} times since the machine booted", *facts.thermal_throttles),
            "watch it: grep . /sys/devices/system/cpu/cpu*/thermal_throttle/*_count"};
  }
  if (!facts.thermal_throttles) return {Severity::ok, "every thermal zone is below its limit"};
  return {Severity::ok, "none since the machine booted"};
}

Finding memory(const DoctorFacts& facts) {
  for (const model::Drift* drift : {&facts.at_rest, &facts.at_work}) {
    if (drift->swapped_pages && *drift->swapped_pages > 0) {
      return {
          Severity::serious,
          fmt::format("{} pages were swapped in {:.1f} s", *drift->swapped_pages, drift->seconds),
          "sudo swapoff -a (if there is enough memory), or end what uses it"};
    }
  }
  if (!facts.memory) return unknown(facts.memory.reason);
  const double available = static_cast<double>(facts.memory->available_bytes) /
                           static_cast<double>(facts.memory->total_bytes);
  std::string found = fmt::format("{} of {:.1f} GiB available", percent(available),
                                  static_cast<double>(facts.memory->total_bytes) / (1 << 30));
  Severity severity = by_limits(1 - available, 0.97, 0.9, 0.9);
  if (facts.memory_stall_percent) {
    severity = std::min(severity, by_limits(*facts.memory_stall_percent, 10, 1, 0.1));
    found += fmt::format(", tasks waited for memory in {:g} % of the last 10 s",
                         *facts.memory_stall_percent);
  } else {
    found += fmt::format("; stalls are not known: {}", facts.memory_stall_percent.reason);
  }
  if (severity == Severity::ok) return {severity, found};
  return {severity, found, "ps -eo rss,pid,comm --sort=-rss | head -n 6"};
}

Finding clock_source(const DoctorFacts& facts) {
  if (!facts.clock_source) return unknown(facts.clock_source.reason);
  constexpr std::array<std::string_view, 5> kFast{"tsc", "kvm-clock", "arch_sys_counter",
                                                  "hyperv_clocksource_tsc_page", "timebase"};
  const std::string& current = facts.clock_source->current;
  if (model::contains(kFast, current)) return {Severity::ok, current};
  const std::string found = fmt::format("{}; there are {}", current, facts.clock_source->available);
  if (facts.clock_source->available.find("tsc") == std::string::npos) {
    return {Severity::moderate, found, "sudo dmesg | grep -i -e tsc -e clocksource"};
  }
  return {Severity::moderate, found,
          "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"};
}

Finding boost(const DoctorFacts& facts) {
  if (!facts.boost) return unknown(facts.boost.reason);
  if (!facts.boost->on) return {Severity::ok, "off"};
  return {Severity::moderate, "on",
          fmt::format("echo {} | sudo tee {}", facts.boost->off, facts.boost->file)};
}

Finding smt(const DoctorFacts& facts) {
  if (!facts.shared_cores) return unknown(facts.shared_cores.reason);
  const model::SharedCores& shared = *facts.shared_cores;
  const std::string mend = "echo off | sudo tee /sys/devices/system/cpu/smt/control";
  if (shared.cores < shared.cpus) {
    return {Severity::moderate, fmt::format("{} CPUs on {} cores", shared.cpus, shared.cores),
            mend};
  }
  if (shared.foreign_siblings > 0) {
    return {Severity::minor,
            fmt::format("{} CPUs that others may use share a core with this process's",
                        shared.foreign_siblings),
            mend};
  }
  const bool is_virtual = facts.hypervisor && *facts.hypervisor != "none";
  return {Severity::ok, fmt::format("each CPU is a separate core{}",
                                    is_virtual ? ", as the hypervisor shows it" : "")};
}

Finding hypervisor(const DoctorFacts& facts) {
  if (!facts.hypervisor) return unknown(facts.hypervisor.reason);
  if (*facts.hypervisor == "none") return {Severity::ok, "none"};
  return {Severity::moderate, *facts.hypervisor,
          "taskbench ab (blocks of both sides), or a dedicated machine"};
}

Finding affinity(const DoctorFacts& facts) {
  if (!facts.cpus_allowed) return unknown(facts.cpus_allowed.reason);
  if (*facts.cpus_allowed == 1) {
    return {Severity::moderate, "1 CPU: workers take turns",
            "taskset -c 0-3 taskbench ..., or a machine with more CPUs"};
  }
  if (!facts.cpus_online) return unknown(facts.cpus_online.reason);
  if (*facts.cpus_allowed < *facts.cpus_online) {
    return {Severity::minor,
            fmt::format("{} of {} CPUs may be used", *facts.cpus_allowed, *facts.cpus_online),
            fmt::format("taskset -c 0-{} taskbench ..., unless this is intended",
                        *facts.cpus_online - 1)};
  }
  return {Severity::ok, fmt::format("all {} CPUs may be used", *facts.cpus_allowed)};
}

Finding aslr(const DoctorFacts& facts) {
  if (!facts.aslr) return unknown(facts.aslr.reason);
  if (facts.aslr->system_wide == 0) {
    return {Severity::minor, "off: every process has the same memory layout",
            "sudo sysctl kernel.randomize_va_space=2"};
  }
  if (facts.aslr->off_for_process) {
    return {Severity::minor, "off for this process: its memory layout is always the same",
            "run without setarch -R (and without a debugger)"};
  }
  return {Severity::minor, "on: every process has a different memory layout",
          "taskbench ab, which samples many; for single runs: setarch -R taskbench run"};
}

Finding huge_pages(const DoctorFacts& facts) {
  if (!facts.huge_pages) return unknown(facts.huge_pages.reason);
  if (*facts.huge_pages != "always") return {Severity::ok, *facts.huge_pages};
  return {Severity::minor, "always",
          "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"};
}

/// The diagnosis if no counting is permitted, regardless of the setting.
Finding denied(const model::CounterAccess& access) {
  const int error = access.software.error;
  const std::string failed = fmt::format("perf_event_open: {}", std::strerror(error));
  if (error == ENOSYS) {
    return {Severity::minor, failed + ": this kernel, or a filter of system calls, has no counters",
            "docker run --security-opt seccomp=unconfined, or a kernel with CONFIG_PERF_EVENTS"};
  }
  if (error != EACCES && error != EPERM) {
    return {Severity::minor, failed + ": no counter can be opened", "perf stat true"};
  }
  // At levels up to 2 the kernel lets a process count itself; only patched kernels know 3 and 4.
  if (access.paranoid && *access.paranoid > 2) {
    return {Severity::minor,
            fmt::format("{}: nothing may be counted, kernel.perf_event_paranoid is {}", failed,
                        *access.paranoid),
            "sudo sysctl kernel.perf_event_paranoid=1"};
  }
  return {Severity::minor, failed + ": nothing may be counted, as in a container that forbids it",
          "docker run --cap-add PERFMON --security-opt seccomp=unconfined"};
}

Finding counters(const DoctorFacts& facts) {
  if (!facts.counters) return unknown(facts.counters.reason);
  const model::CounterAccess& access = *facts.counters;
  if (access.software.error != 0) return denied(access);
  const bool user_only = access.software.user_only || access.hardware.user_only;
  const std::string partly =
      user_only
          ? fmt::format(" of user code only{}",
                        access.paranoid
                            ? fmt::format(", kernel.perf_event_paranoid is {}", *access.paranoid)
                            : "")
          : "";
  if (access.hardware.error != 0) {
    return {Severity::minor,
            fmt::format("no hardware counters here ({}): software events{}{}",
                        std::strerror(access.hardware.error), user_only ? "" : " only", partly),
            user_only ? "sudo sysctl kernel.perf_event_paranoid=1; for instructions: taskbench run "
                        "--counters instructions-exact"
                      : "taskbench run --counters software,instructions-exact"};
  }
  if (user_only) {
    return {Severity::minor, "hardware and software events" + partly,
            "sudo sysctl kernel.perf_event_paranoid=1"};
  }
  return {Severity::ok, "hardware and software events can be counted"};
}

Finding tools(const DoctorFacts& facts) {
  std::string found;
  std::string packages;
  for (const model::Tool& tool : facts.tools) {
    if (tool.missing.empty()) continue;
    found += fmt::format("{}{} {}: no {}", found.empty() ? "" : "; ", tool.name, tool.missing,
                         tool.purpose);
    packages += ' ' + tool.package;
  }
  if (facts.tools.empty()) return unknown("not looked for");
  if (!found.empty()) return {Severity::minor, found, "sudo apt-get install" + packages};
  for (const model::Tool& tool : facts.tools) found += (found.empty() ? "" : ", ") + tool.name;
  return {Severity::ok, found};
}

struct Check {
  std::string_view name;
  std::string_view matters;
  Finding (*diagnose)(const DoctorFacts&);
};

// Checks in the order of their typical effect on a result, which ranks findings of equal severity.
// The figures are orders of magnitude from experience with benchmarks, not measurements of this
// machine.
constexpr std::array<Check, 17> kChecks{{
    {"build", "Unoptimised or instrumented code is 2 to 50 times slower, and not evenly so.",
     build},
    {"quota",
     "Once the quota of a period (usually 100 ms) is used up, all threads stop: results move by 10 "
     "to 100 %.",
     quota},
    {"load",
     "Other processes take CPU time, caches and clock rate: results move by 5 to 50 %, most with "
     "several workers.",
     load},
    {"steal",
     "A CPU stops while the hypervisor runs another machine, and a worker that others wait for "
     "multiplies the delay: results move by the stolen share, or up to ten times as much.",
     steal},
    {"core",
     "Somebody else on the other hyperthread of the core takes up to half of what it can do, for "
     "milliseconds at a time, and no count shows it: results move by 5 to 40 %.",
     core},
    {"governor",
     "The clock rate follows the load, and short sleeps of workers lower it: results move by 10 to "
     "40 %.",
     governor},
    {"thermal",
     "A hot CPU lowers its clock rate, and more so with time: results move by 5 to 30 %.", thermal},
    {"memory",
     "A page that must first be freed or read back costs microseconds to milliseconds: single "
     "results move by 10 % or more.",
     memory},
    {"clock source",
     "Any other than the CPU's own counter is read through a system call or a device: 0.2 to 2 µs "
     "per reading instead of 0.02.",
     clock_source},
    {"boost",
     "The clock rate depends on heat and on how many cores are busy: results move by 2 to 10 %, "
     "and several workers look worse than one.",
     boost},
    {"smt",
     "Two workers on one core run at 50 to 70 % each, and chance decides where the kernel puts "
     "them: results move by 3 to 15 %.",
     smt},
    {"hypervisor",
     "Neighbours that you cannot see share caches, memory and cores: results move by 2 to 10 % "
     "from hour to hour.",
     hypervisor},
    {"affinity",
     "What is measured is a machine with this many CPUs: stealing and wake-ups are different on "
     "one than on many.",
     affinity},
    {"aslr",
     "Where code, stack and heap lie decides which cache lines collide: two processes differ by 1 "
     "to 5 %.",
     aslr},
    {"huge pages",
     "Chance decides which memory gets huge pages: results move by 1 to 3 %, more for large heaps.",
     huge_pages},
    {"counters",
     "Does not change times, but hardware counters, which explain changes, are missing or partial.",
     counters},
    {"tools", "Does not change times, but what they measure or draw is missing.", tools},
}};

}  // namespace

std::vector<Finding> diagnose(const DoctorFacts& facts) {
  std::vector<Finding> findings;
  for (const Check& check : kChecks) {
    Finding& finding = findings.emplace_back(check.diagnose(facts));
    finding.check = check.name;
    finding.matters = check.matters;
  }
  std::ranges::stable_sort(findings, {}, &Finding::severity);
  return findings;
}

bool is_disturbed(const std::vector<Finding>& findings) {
  return model::contains(findings, Severity::serious, &Finding::severity);
}

}  // namespace taskbench::reports::verdict
