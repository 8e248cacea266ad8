// Facts about machines, and doctor's reports on them: a quiet one, a disturbed one, and one that
// reveals nothing.
#pragma once

#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>

#include "reports/model/doctor.hpp"
#include "reports/verdict/doctor.hpp"

namespace taskbench::reports::samples {

template <class T>
void know(model::Fact<T>& fact, T value) {
  fact = model::Fact<T>::known(std::move(value));
}

inline model::Drift quiet_drift(double seconds) {
  model::Drift drift;
  drift.seconds = seconds;
  know(drift.stolen_share, 0.0);
  know(drift.others_share, 0.002);
  know(drift.mhz_before, 3000.0);
  know(drift.mhz_after, 2990.0);
  know(drift.thermal_throttles, std::int64_t{0});
  know(drift.quota_throttles, std::int64_t{0});
  know(drift.swapped_pages, std::int64_t{0});
  return drift;
}

/// A machine without disturbances, as far as possible: ASLR is on, as it should be.
inline model::DoctorFacts quiet_facts() {
  model::DoctorFacts facts;
  facts.build_type = "Release";
  facts.compiler_flags = "-O3 -DNDEBUG -flto";
  know(facts.governors, {{"performance", 4}});
  know(facts.boost, {false, "/sys/devices/system/cpu/cpufreq/boost", "0"});
  know(facts.shared_cores, {4, 4, 0});
  know(facts.core_share, {0, 1});
  know(facts.load_average, 0.04);
  know(facts.busiest, {});
  know(facts.cpus_online, 4);
  know(facts.cpus_allowed, 4);
  know(facts.quota, {});
  know(facts.aslr, {2, false});
  know(facts.counters, {1, {}, {}});
  know(facts.clock_source, {"tsc", "tsc hpet acpi_pm"});
  know(facts.memory, {std::int64_t{16} << 30, std::int64_t{12} << 30});
  know(facts.memory_stall_percent, 0.0);
  know(facts.thermal_throttles, std::int64_t{0});
  know(facts.thermal_zones, {{"x86_pkg_temp", 45, 100}});
  know(facts.hypervisor, std::string("none"));
  know(facts.huge_pages, std::string("madvise"));
  facts.tools = {{"perf", "linux-perf", "hardware counters and profiles"},
                 {"gnuplot", "gnuplot-nox", "plots"},
                 {"valgrind", "valgrind", "exact counts of instructions"}};
  facts.at_rest = quiet_drift(0.6);
  facts.at_work = quiet_drift(1.2);
  return facts;
}

/// A machine with all disturbances at once.
inline model::DoctorFacts disturbed_facts() {
  model::DoctorFacts facts = quiet_facts();
  facts.build_type = "Debug";
  facts.compiler_flags = "-g";
  know(facts.governors, {{"performance", 1}, {"powersave", 3}});
  know(facts.boost, {true, "/sys/devices/system/cpu/intel_pstate/no_turbo", "1"});
  know(facts.shared_cores, {4, 2, 0});
  know(facts.core_share, {0.8, 1.8});
  know(facts.load_average, 7.5);
  know(facts.busiest, {{"cc1plus", 4711, 0.98}, {"a \x1b[31mname", 12, 0.5}});
  know(facts.cpus_allowed, 1);
  know(facts.quota, {0.5, "/sys/fs/cgroup/job.slice/cpu.max"});
  know(facts.aslr, {0, false});
  know(facts.counters, {4, {EACCES, false}, {EACCES, false}});
  know(facts.clock_source, {"hpet", "tsc hpet acpi_pm"});
  know(facts.memory, {std::int64_t{16} << 30, std::int64_t{100} << 20});
  know(facts.memory_stall_percent, 12.5);
  know(facts.thermal_throttles, std::int64_t{42});
  know(facts.thermal_zones, {{"x86_pkg_temp", 98, 100}});
  know(facts.hypervisor, std::string("kvm"));
  know(facts.huge_pages, std::string("always"));
  facts.tools[0].missing = "is not installed";
  facts.tools[1].missing = "exited with status 1: no terminal";
  know(facts.at_rest.others_share, 0.61);
  know(facts.at_work.stolen_share, 0.12);
  know(facts.at_work.thermal_throttles, std::int64_t{3});
  know(facts.at_work.quota_throttles, std::int64_t{9});
  know(facts.at_work.swapped_pages, std::int64_t{200});
  know(facts.at_work.mhz_after, 1200.0);
  return facts;
}

inline model::Case sample_case(std::string workload, double ns) {
  model::Case result;
  result.name = workload + "/work_stealing/workers:2";
  result.workload = std::move(workload);
  result.scheduler = "work_stealing";
  result.workers = 2;
  result.operations = 1000;
  result.operation = "spawn";
  for (std::int64_t i = 0; i < 5; ++i) {
    const double time = 1000 * ns * (1 + 0.01 * static_cast<double>(i));
    model::Repetition repetition;
    repetition.index = i;
    repetition.iterations = 10;
    repetition.real_ns = repetition.cpu_ns = time;
    result.repetitions.push_back(repetition);
  }
  return result;
}

inline model::DoctorReport report_of(const model::DoctorFacts& facts) {
  model::DoctorReport report;
  report.environment.date = "2026-03-14T15:09:26+01:00";
  report.environment.host_name = "bench-1";
  report.environment.cpu_model = "AMD EPYC 7B13";
  report.environment.cpu_count = 4;
  report.environment.kernel = "Linux 6.1.0-18-amd64";
  report.environment.taskbench_version = "0.1.0";
  report.environment.build_type = facts.build_type;
  report.findings = verdict::diagnose(facts);
  std::vector<double> samples;
  for (int i = 0; i < 200; ++i) samples.push_back(20 + 0.01 * i);
  report.floor = {{"clock_resolution", "resolution of CLOCK_MONOTONIC", {1}},
                  {"clock_cost", "one reading of the clock", samples},
                  {"locked_instruction", "one locked instruction", {5, 6, 7}},
                  {"timer_jitter", "a sleep ends later by", {}, "no such clock"},
                  {"wake_up", "wake-up of a sleeping thread", {25'000, 27'000, 4'000'000}}};
  report.workloads = {sample_case("chained_spawn", 32.5), sample_case("ping_pong", 284.7)};
  model::Case failed = sample_case("spawn_many", 1);
  failed.error = "9 tasks ran, not 10";
  report.workloads.push_back(failed);
  report.at_rest = facts.at_rest;
  report.at_work = facts.at_work;
  return report;
}

/// Nothing could be determined, and nothing was measured.
inline model::DoctorReport unknown_report() {
  model::DoctorReport report;
  report.findings = verdict::diagnose(model::DoctorFacts{});
  report.floor = {{"clock_cost", "one reading of the clock", {}, "interrupted"},
                  {"wake_up", "hostile", {1, std::numeric_limits<double>::quiet_NaN()}, "NaN"}};
  know(report.at_rest.stolen_share, std::numeric_limits<double>::infinity());
  return report;
}

}  // namespace taskbench::reports::samples
