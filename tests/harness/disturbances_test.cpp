#include "harness/machine/disturbances.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <stop_token>
#include <string>

#include "tests/harness/fake_root.hpp"

namespace taskbench::harness {
namespace {

using reports::model::DoctorFacts;

const std::string kCpu = "sys/devices/system/cpu/";

/// Four CPUs on two cores, three of which this process may use.
class DisturbancesTest : public testing::Test {
 protected:
  DisturbancesTest() {
    root_.allow_cpus("0-2");
    root_.write(kCpu + "online", "0-3\n");
    for (int cpu = 0; cpu < 4; ++cpu) {
      const std::string folder = kCpu + "cpu" + std::to_string(cpu);
      root_.write(folder + "/cpufreq/scaling_governor", cpu == 1 ? "powersave\n" : "performance\n");
      root_.write(folder + "/topology/thread_siblings_list", cpu % 2 == 0 ? "0,2\n" : "1,3\n");
    }
    root_.write(kCpu + "cpufreq/boost", "1\n");
    root_.write("proc/loadavg", "1.25 0.50 0.10 1/98 4711\n");
    root_.write("proc/sys/kernel/randomize_va_space", "2\n");
    root_.write("proc/self/personality", "00000000\n");
    root_.write("proc/sys/kernel/perf_event_paranoid", "4\n");
    const std::string clock = "sys/devices/system/clocksource/clocksource0/";
    root_.write(clock + "current_clocksource", "hpet\n");
    root_.write(clock + "available_clocksource", "tsc hpet acpi_pm \n");
    root_.write("proc/meminfo", "MemTotal:        1000 kB\nMemAvailable:     250 kB\n");
    root_.write("proc/pressure/memory",
                "some avg10=12.50 avg60=3.00 avg300=1.00 total=1\nfull avg10=0.00 total=0\n");
    const std::string zone = "sys/class/thermal/thermal_zone0/";
    root_.write(zone + "type", "x86_pkg_temp\n");
    root_.write(zone + "temp", "96500\n");
    root_.write(zone + "trip_point_0_type", "active\n");
    root_.write(zone + "trip_point_0_temp", "40000\n");
    root_.write(zone + "trip_point_1_type", "passive\n");
    root_.write(zone + "trip_point_1_temp", "98000\n");
    root_.write(kCpu + "cpu0/thermal_throttle/core_throttle_count", "42\n");
    root_.write("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
  }

  [[nodiscard]] DoctorFacts facts() const { return probe_disturbances(root_.path()); }

  void process(int pid, const std::string& name, double cpu_s) const {
    const auto ticks = static_cast<long>(cpu_s * static_cast<double>(::sysconf(_SC_CLK_TCK)));
    root_.write("proc/" + std::to_string(pid) + "/stat",
                std::to_string(pid) + " (" + name + ") R 1 2 3 4 5 6 7 8 9 10 " +
                    std::to_string(ticks) + " 0 0 0 20 0 1 0 99\n");
  }

  FakeRoot root_;
};

TEST_F(DisturbancesTest, finds_the_facts_of_a_machine) {
  const DoctorFacts found = facts();
  EXPECT_EQ(*found.governors, (std::map<std::string, int>{{"performance", 2}, {"powersave", 1}}));
  EXPECT_TRUE(found.boost->on);
  EXPECT_EQ(found.boost->file, "/sys/devices/system/cpu/cpufreq/boost");
  EXPECT_EQ(found.boost->off, "0");
  EXPECT_EQ(found.shared_cores->cpus, 3);
  EXPECT_EQ(found.shared_cores->cores, 2);
  EXPECT_EQ(found.shared_cores->foreign_siblings, 1);
  EXPECT_EQ(*found.load_average, 1.25);
  EXPECT_EQ(*found.cpus_online, 4);
  EXPECT_EQ(*found.cpus_allowed, 3);
  EXPECT_EQ(found.aslr->system_wide, 2);
  EXPECT_FALSE(found.aslr->off_for_process);
  EXPECT_EQ(found.counters->paranoid, 4);
  EXPECT_EQ(found.clock_source->current, "hpet");
  EXPECT_EQ(found.clock_source->available, "tsc hpet acpi_pm");
  EXPECT_EQ(found.memory->total_bytes, 1000 * 1024);
  EXPECT_EQ(found.memory->available_bytes, 250 * 1024);
  EXPECT_EQ(*found.memory_stall_percent, 12.5);
  EXPECT_EQ(*found.thermal_throttles, 42);
  ASSERT_EQ(found.thermal_zones->size(), 1U);
  EXPECT_EQ(found.thermal_zones->front().celsius, 96.5);
  EXPECT_EQ(found.thermal_zones->front().trip_celsius, 98);  // a fan's trip point is no limit
  EXPECT_EQ(*found.huge_pages, "always");
  EXPECT_FALSE(found.build_type.empty());
}

TEST_F(DisturbancesTest, a_turbo_of_intel_pstate_is_switched_the_other_way_round) {
  root_.remove(kCpu + "cpufreq/boost");
  root_.write(kCpu + "intel_pstate/no_turbo", "0\n");
  EXPECT_TRUE(facts().boost->on);
  EXPECT_EQ(facts().boost->off, "1");
  root_.write(kCpu + "intel_pstate/no_turbo", "1\n");
  EXPECT_FALSE(facts().boost->on);
}

TEST_F(DisturbancesTest, setarch_is_seen) {
  root_.write("proc/self/personality", "00040000\n");
  EXPECT_TRUE(facts().aslr->off_for_process);
}

/// Every fact that comes from a file.
std::vector<std::pair<std::string, std::string>> reasons_of(const DoctorFacts& facts) {
  std::vector<std::pair<std::string, std::string>> reasons;
  const auto add = [&](const char* name, const auto& fact) {
    reasons.emplace_back(name, fact ? "known" : fact.reason);
  };
  add("governors", facts.governors);
  add("boost", facts.boost);
  add("shared_cores", facts.shared_cores);
  add("load_average", facts.load_average);
  add("cpus_online", facts.cpus_online);
  add("cpus_allowed", facts.cpus_allowed);
  add("quota", facts.quota);
  add("aslr", facts.aslr);
  add("clock_source", facts.clock_source);
  add("memory", facts.memory);
  add("memory_stall_percent", facts.memory_stall_percent);
  add("thermal_throttles", facts.thermal_throttles);
  add("thermal_zones", facts.thermal_zones);
  add("huge_pages", facts.huge_pages);
  return reasons;
}

TEST_F(DisturbancesTest, in_an_empty_root_everything_is_unknown_with_a_reason) {
  for (const auto& [name, reason] : reasons_of(probe_disturbances(root_.path() / "nothing"))) {
    EXPECT_NE(reason, "known") << name;
    EXPECT_NE(reason, "not looked at") << name;
    EXPECT_FALSE(reason.empty()) << name;
  }
}

TEST_F(DisturbancesTest, garbage_in_every_file_is_unknown_and_does_no_harm) {
  for (const std::string& garbage : {std::string("\0\xff\n", 3), std::string("-"),
                                     std::string("99999999999999999999\n"), std::string("\n")}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root_.path())) {
      if (entry.is_regular_file()) std::ofstream(entry.path()) << garbage;
    }
    for (const auto& [name, reason] : reasons_of(facts())) {
      if (name == "governors" || name == "clock_source") continue;  // any name may be valid
      EXPECT_NE(reason, "known") << name << " with " << garbage;
    }
  }
}

TEST_F(DisturbancesTest, the_busiest_processes_come_first_and_idle_ones_not_at_all) {
  process(10, "sleeper", 7);
  process(11, "make (sub) x", 1);
  process(12, "cc1plus", 2);
  process(13, "ld", 0);
  process(14, "as", 0);
  process(static_cast<int>(::getpid()), "this one", 0);
  const auto before = read_process_times(root_.path());
  process(11, "make (sub) x", 1.5);
  process(12, "cc1plus", 4);
  process(13, "ld", 0.25);
  process(14, "as", 0.1);
  process(15, "new", 1);
  process(static_cast<int>(::getpid()), "this one", 2);
  const auto busy = busiest_processes(before, read_process_times(root_.path()), 2);
  ASSERT_EQ(busy.size(), 3U);
  EXPECT_EQ(busy[0].name, "cc1plus");
  EXPECT_EQ(busy[0].pid, 12);
  EXPECT_EQ(busy[0].cpus, 1);
  EXPECT_TRUE(busy[0].is_own);  // the test has made its folder
  EXPECT_EQ(busy[1].name, "new");
  EXPECT_EQ(busy[2].name, "make (sub) x");
  EXPECT_EQ(busy[2].cpus, 0.25);
}

TEST_F(DisturbancesTest, processes_that_cannot_be_read_are_left_out) {
  root_.write("proc/20/stat", "20 cut off");
  root_.write("proc/21/stat", "21 (x) R 1 2 3\n");
  root_.write("proc/22/stat", "22 )x( R 1 2 3 4 5 6 7 8 9 10 11 12 13 14\n");
  root_.write("proc/23/status", "no stat\n");
  EXPECT_TRUE(read_process_times(root_.path()).empty());
  EXPECT_TRUE(read_process_times(root_.path() / "nothing").empty());
}

class ToolsTest : public testing::Test {
 protected:
  ToolsTest() : path_(::getenv("PATH")) { ::setenv("PATH", root_.path().c_str(), 1); }
  ~ToolsTest() override { ::setenv("PATH", path_.c_str(), 1); }

  std::string path_;
  FakeRoot root_;
  std::stop_token stop_;
};

TEST_F(ToolsTest, a_missing_tool_names_its_package) {
  root_.script("valgrind", "echo valgrind-3.19.0");
  const auto tools = probe_tools(stop_);
  ASSERT_EQ(tools.size(), 4U);
  EXPECT_EQ(tools[0].name, "perf");
  EXPECT_EQ(tools[0].package, "linux-perf");
  EXPECT_EQ(tools[0].missing, "is not installed");
  EXPECT_EQ(tools[1].package, "gnuplot-nox");
  EXPECT_EQ(tools[1].missing, "is not installed");
  EXPECT_EQ(tools[2].missing, "");
  EXPECT_EQ(tools[3].name, "objdump");
  EXPECT_EQ(tools[3].package, "binutils");
  EXPECT_EQ(tools[3].missing, "is not installed");
}

TEST_F(ToolsTest, a_tool_that_is_there_and_does_not_work_is_missing_too) {
  root_.script("perf", "echo 'WARNING: perf not found for kernel 6.1' >&2; exit 2");
  const auto tools = probe_tools(stop_);
  EXPECT_NE(tools[0].missing.find("perf not found for kernel 6.1"), std::string::npos)
      << tools[0].missing;
}

TEST(disturbances, can_be_probed_on_this_machine) {
  const DoctorFacts found = probe_disturbances();
  for (const auto& [name, reason] : reasons_of(found)) {
    EXPECT_FALSE(reason.empty()) << name;
    EXPECT_NE(reason, "not looked at") << name;
  }
  EXPECT_TRUE(found.cpus_allowed);
  EXPECT_TRUE(found.memory) << found.memory.reason;
  EXPECT_TRUE(found.load_average) << found.load_average.reason;
}

}  // namespace
}  // namespace taskbench::harness
