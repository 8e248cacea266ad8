#include "harness/machine/machine.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/harness/fake_root.hpp"

namespace taskbench::harness {
namespace {

namespace fs = std::filesystem;
using reports::model::MachineKey;
using reports::model::value_of;

/// A machine with two sockets of two cores each, as /proc and /sys show it.
class MachineTest : public testing::Test {
 protected:
  MachineTest() {
    root_.write("proc/cpuinfo",
                "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n"
                "model name\t: AMD EPYC 7B13\nstepping\t: 0\nmicrocode\t: 0xa0011d1\n"
                "cpu MHz\t\t: 2449.998\nbogomips\t: 4899.99\n\n"
                "processor\t: 1\nmodel name\t: another\n");
    root_.write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    root_.write("proc/loadavg", "0.10 0.20 0.30 1/234 5678\n");
    const std::string cpu = "sys/devices/system/cpu/";
    for (int i = 0; i < 4; ++i) {
      const std::string folder = cpu + "cpu" + std::to_string(i);
      root_.write(folder + "/topology/physical_package_id", std::to_string(i / 2) + "\n");
      root_.write(folder + "/topology/core_id", std::to_string(i % 2) + "\n");
    }
    fs::create_directories(root_.path() / (cpu + "cpu4"));  // offline
    root_.write(cpu + "smt/active", "0\n");
    root_.write(cpu + "cpufreq/boost", "1\n");
    root_.write(cpu + "cpu0/cpufreq/scaling_governor", "performance\n");
    root_.write(cpu + "cpu0/cpufreq/scaling_cur_freq", "2449998\n");
  }
  [[nodiscard]] std::string field(const std::string& name) const {
    return std::string(value_of(probe_machine(root_.path()).machine, name));
  }

  FakeRoot root_;
};

TEST_F(MachineTest, finds_what_decides_speed) {
  EXPECT_EQ(field("cpu_model"), "AMD EPYC 7B13");
  EXPECT_EQ(field("cpu_vendor"), "AuthenticAMD");
  EXPECT_EQ(field("cpu_family"), "25");
  EXPECT_EQ(field("cpu_model_number"), "1");
  EXPECT_EQ(field("cpu_stepping"), "0");
  EXPECT_EQ(field("cpu_microcode"), "0xa0011d1");
  EXPECT_EQ(field("cpus"), "4");
  EXPECT_EQ(field("cores_per_socket"), "2");
  EXPECT_EQ(field("sockets"), "2");
  EXPECT_EQ(field("smt"), "off");
  EXPECT_EQ(field("cpu_governor"), "performance");
  EXPECT_EQ(field("cpu_boost"), "on");
  EXPECT_EQ(field("kernel"), "6.1.0-18-amd64");
}

TEST_F(MachineTest, each_fact_that_changes_is_another_machine) {
  const MachineKey before = probe_machine(root_.path());
  const std::string cpu = "sys/devices/system/cpu/";
  for (const auto& [path, content] : std::initializer_list<std::pair<std::string, std::string>>{
           {"proc/sys/kernel/osrelease", "6.1.0-19-amd64\n"},
           {cpu + "smt/active", "1\n"},
           {cpu + "cpufreq/boost", "0\n"},
           {cpu + "cpu0/cpufreq/scaling_governor", "powersave\n"},
           {cpu + "cpu4/topology/core_id", "2\n"}}) {
    root_.write(cpu + "cpu4/topology/physical_package_id", "1\n");
    const std::string was = machine_key(probe_machine(root_.path()));
    root_.write(path, content);
    EXPECT_NE(machine_key(probe_machine(root_.path())), was) << path;
  }
  EXPECT_FALSE(differences(before, probe_machine(root_.path())).empty());
}

TEST_F(MachineTest, what_jitters_is_not_in_it) {
  const MachineKey before = probe_machine(root_.path());
  root_.write("proc/loadavg", "9.90 8.80 7.70 1/234 5678\n");
  root_.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000\n");
  std::string cpuinfo =
      "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
      "model\t\t: 1\nmodel name\t: AMD EPYC 7B13\nstepping\t: 0\n"
      "microcode\t: 0xa0011d1\ncpu MHz\t\t: 3100.1\nbogomips\t: 4900.01\n";
  root_.write("proc/cpuinfo", cpuinfo);
  EXPECT_EQ(probe_machine(root_.path()), before);
}

TEST_F(MachineTest, a_turbo_that_intel_pstate_forbids_is_off) {
  const std::string cpu = "sys/devices/system/cpu/";
  root_.remove(cpu + "cpufreq/boost");
  EXPECT_EQ(field("cpu_boost"), "");
  root_.write(cpu + "intel_pstate/no_turbo", "1\n");
  EXPECT_EQ(field("cpu_boost"), "off");
  root_.write(cpu + "intel_pstate/no_turbo", "0\n");
  EXPECT_EQ(field("cpu_boost"), "on");
}

TEST_F(MachineTest, what_cannot_be_found_out_is_empty_and_still_a_field) {
  const MachineKey full = probe_machine(root_.path());
  const MachineKey empty = probe_machine(root_.path() / "nothing");
  EXPECT_EQ(empty.machine.size(), full.machine.size());
  for (const char* name : {"cpu_model", "cpus", "cores_per_socket", "sockets", "smt", "kernel"}) {
    EXPECT_EQ(value_of(empty.machine, name), "") << name;
  }
}

TEST(machine, is_the_same_when_it_is_probed_again) {
  const MachineKey machine = probe_machine();
  EXPECT_EQ(probe_machine(), machine);
  EXPECT_NE(value_of(machine.machine, "kernel"), "");
  EXPECT_NE(value_of(machine.machine, "cpus_allowed"), "");
}

TEST(machine, the_build_is_told_by_the_result_file) {
  reports::model::Run result;
  result.environment.benchmark_library_version = "v1.8.3";
  result.environment.benchmark_library_build_type = "release";
  result.environment.compiler = "GNU 12.2.0";
  result.environment.git_commit = "0123";
  const auto fields = build_fields(result);
  EXPECT_EQ(value_of(fields, "compiler"), "GNU 12.2.0");
  EXPECT_EQ(value_of(fields, "compiler_flags"), "");
  EXPECT_EQ(value_of(fields, "benchmark_library_version"), "v1.8.3");
  EXPECT_EQ(value_of(fields, "benchmark_library_build_type"), "release");
  EXPECT_EQ(value_of(fields, "git_commit"), "") << "each commit has another";
}

}  // namespace
}  // namespace taskbench::harness
