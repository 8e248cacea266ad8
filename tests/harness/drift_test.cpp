#include "harness/machine/drift.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "tests/harness/fake_root.hpp"

namespace taskbench::harness {
namespace {

/// Two CPUs that may be used and one that may not.
class DriftTest : public testing::Test {
 protected:
  DriftTest() {
    root_.allow_cpus("0-1");
    stat(0, 0, 0);
    root_.write("proc/vmstat", "pgmajfault 7\npswpin 100\npswpout 20\n");
    for (int cpu = 0; cpu < 2; ++cpu) {
      const std::string folder = cpu_folder(cpu);
      root_.write(folder + "/cpufreq/scaling_cur_freq", cpu == 0 ? "1800000\n" : "3000000\n");
      root_.write(folder + "/thermal_throttle/core_throttle_count", "5\n");
      root_.write(folder + "/thermal_throttle/package_throttle_count", "1\n");
    }
    root_.write("proc/self/cgroup", "0::/\n");
    root_.write("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    root_.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
    root_.write("sys/fs/cgroup/cpu.stat", "nr_throttled 2\n");
  }

  static std::string cpu_folder(int cpu) {
    return "sys/devices/system/cpu/cpu" + std::to_string(cpu);
  }

  /// Sets the seconds that each CPU has been busy, stolen and idle; CPU 2 is always busy.
  void stat(int busy_s, int stolen_s, int idle_s) const {
    const long tick = ::sysconf(_SC_CLK_TCK);
    const auto line = [&](const std::string& name, long user, long steal, long idle) {
      return name + " " + std::to_string(user * tick) + " 0 0 " + std::to_string(idle * tick) +
             " 0 0 0 " + std::to_string(steal * tick) + " 0 0\n";
    };
    root_.write("proc/stat", line("cpu", 1000, 1000, 1000) +
                                 line("cpu0", busy_s, stolen_s, idle_s) +
                                 line("cpu1", busy_s, stolen_s, idle_s) +
                                 line("cpu2", 100L * busy_s, 0, 0) + "intr 1 2 3\n");
  }

  [[nodiscard]] MachineReading read(double at_s, double own_cpu_s) const {
    MachineReading reading = read_machine(root_.path());
    reading.at_s = at_s;
    reading.own_cpu_s = own_cpu_s;
    return reading;
  }

  FakeRoot root_;
};

TEST_F(DriftTest, shares_are_of_the_cpus_that_may_be_used) {
  const MachineReading before = read(0, 0);
  stat(5, 1, 4);
  const auto drift = drift_between(before, read(10, 8));
  EXPECT_EQ(drift.seconds, 10);
  ASSERT_TRUE(drift.stolen_share) << drift.stolen_share.reason;
  EXPECT_DOUBLE_EQ(*drift.stolen_share, 0.1);
  ASSERT_TRUE(drift.others_share) << drift.others_share.reason;
  EXPECT_DOUBLE_EQ(*drift.others_share, 0.1);  // two CPUs were busy for 10 s, 8 s of that by us
}

TEST_F(DriftTest, who_used_the_cpus_is_counted_in_seconds_however_short_it_was) {
  const auto read_use = [&](double at_s, double own_cpu_s) {
    MachineReading reading = read_machine(root_.path(), false);
    reading.at_s = at_s;
    reading.own_cpu_s = own_cpu_s;
    return reading;
  };
  const MachineReading before = read_use(0, 0);
  stat(5, 1, 4);
  const auto use = use_between(before, read_use(0.2, 8)).cpu;
  ASSERT_TRUE(use) << use.reason;
  EXPECT_DOUBLE_EQ(use->seconds, 0.2);
  EXPECT_DOUBLE_EQ(use->total_s, 20);
  EXPECT_DOUBLE_EQ(use->others_s, 2);
  EXPECT_DOUBLE_EQ(use->stolen_s, 2);
  EXPECT_DOUBLE_EQ(use_between(before, read_use(1, 10.5)).cpu->others_s, -0.5);
  root_.write("proc/stat", "");
  EXPECT_FALSE(use_between(before, read_use(1, 9)).cpu);
}

TEST_F(DriftTest, own_time_beyond_the_ticks_is_no_negative_share_of_others) {
  const MachineReading before = read(0, 0);
  stat(5, 0, 5);
  EXPECT_EQ(*drift_between(before, read(10, 10.3)).others_share, 0);
}

TEST_F(DriftTest, what_other_cpus_than_before_have_done_is_unknown) {
  stat(5, 1, 4);
  const MachineReading before = read(0, 0);
  root_.allow_cpus("0-2");  // the third has been busy for longer than the other two
  const auto drift = drift_between(before, read(10, 0));
  EXPECT_EQ(drift.others_share.reason, "the CPUs that this process may use have changed");
  EXPECT_FALSE(drift.stolen_share);
  root_.allow_cpus("1-2");
  EXPECT_FALSE(use_between(before, read(10, 0)).cpu);
}

TEST_F(DriftTest, counts_grow) {
  const MachineReading before = read(0, 0);
  root_.write("proc/vmstat", "pswpin 103\npswpout 21\n");
  root_.write(cpu_folder(1) + "/thermal_throttle/core_throttle_count", "9\n");
  root_.write("sys/fs/cgroup/cpu.stat", "nr_throttled 13\n");
  const auto drift = drift_between(before, read(1, 1));
  EXPECT_EQ(*drift.swapped_pages, 4);
  EXPECT_EQ(*drift.thermal_throttles, 4);
  EXPECT_EQ(*drift.quota_throttles, 11);
}

TEST_F(DriftTest, the_clock_rate_is_that_of_the_fastest_cpu) {
  const MachineReading before = read(0, 0);
  root_.write(cpu_folder(1) + "/cpufreq/scaling_cur_freq", "1200000\n");
  const auto drift = drift_between(before, read(1, 1));
  EXPECT_EQ(*drift.mhz_before, 3000);
  EXPECT_EQ(*drift.mhz_after, 1800);
}

TEST_F(DriftTest, clock_rates_are_read_under_load_and_soon) {
  using Clock = std::chrono::steady_clock;
  const auto took_s = [&](int times) {
    const auto start = Clock::now();
    for (int i = 0; i < times; ++i) (void)read_machine(root_.path());
    return std::chrono::duration<double>(Clock::now() - start).count() / times;
  };
  // The work ends after 20 ms of CPU time or 40 ms of wall time, whichever comes first.
  EXPECT_GE(took_s(1), 0.02);
  double soonest_s = 1;
  for (int i = 0; i < 5; ++i) soonest_s = std::min(soonest_s, took_s(1));
  EXPECT_LT(soonest_s, 0.05);
  root_.remove("sys/devices");  // nothing to wait for
  EXPECT_LT(took_s(20), 0.02);
}

TEST_F(DriftTest, less_than_half_a_second_is_too_short_for_shares_and_not_for_counts) {
  const MachineReading before = read(0, 0);
  stat(5, 1, 4);
  const auto drift = drift_between(before, read(0.49, 0));
  EXPECT_FALSE(drift.stolen_share);
  EXPECT_NE(drift.others_share.reason.find("ticks of 10 ms"), std::string::npos);
  EXPECT_EQ(*drift.swapped_pages, 0);
}

TEST_F(DriftTest, counts_that_stand_still_or_go_backwards_are_unknown) {
  stat(5, 1, 4);
  root_.write("proc/vmstat", "pswpin 103\npswpout 21\n");
  const MachineReading before = read(0, 0);
  root_.write("proc/vmstat", "pswpin 3\npswpout 21\n");
  const auto drift = drift_between(before, read(10, 0));
  EXPECT_EQ(drift.stolen_share.reason, "the kernel's counts of CPU time did not grow");
  EXPECT_EQ(drift.swapped_pages.reason, "the kernel's count went backwards");
}

TEST_F(DriftTest, what_is_missing_is_unknown_with_a_reason_each) {
  for (const char* file : {"proc/stat", "proc/vmstat", "proc/self/cgroup", "sys/devices"}) {
    root_.remove(file);
  }
  const auto drift = drift_between(read(0, 0), read(10, 0));
  EXPECT_EQ(drift.stolen_share.reason, "/proc/stat cannot be read");
  EXPECT_EQ(drift.others_share.reason, "/proc/stat cannot be read");
  EXPECT_EQ(drift.swapped_pages.reason, "/proc/vmstat cannot be read");
  EXPECT_EQ(drift.quota_throttles.reason, "/proc/self/cgroup cannot be read");
  EXPECT_NE(drift.mhz_before.reason, "");
  EXPECT_NE(drift.mhz_after.reason, "");
  EXPECT_NE(drift.thermal_throttles.reason, "");
  EXPECT_FALSE(drift.mhz_before || drift.mhz_after || drift.thermal_throttles);
}

TEST_F(DriftTest, garbage_is_unknown_and_never_zero) {
  for (const char* text : {"cpu0 1 2 3\n", "cpu0 a b c d e f g h i j\n", "cpu0\n", "\n", ""}) {
    root_.write("proc/stat", text);
    EXPECT_FALSE(read_machine(root_.path()).cpu) << text;
  }
  root_.write("proc/vmstat", "pswpin many\npswpout 1\n");
  EXPECT_EQ(read_machine(root_.path()).swapped_pages.reason, "/proc/vmstat is not understood");
  root_.write("proc/vmstat", "pswpin 1\n");
  EXPECT_EQ(read_machine(root_.path()).swapped_pages.reason,
            "/proc/vmstat does not count swapping");
  root_.write(cpu_folder(0) + "/cpufreq/scaling_cur_freq", "<unknown>\n");
  root_.write(cpu_folder(1) + "/cpufreq/scaling_cur_freq", "<unknown>\n");
  EXPECT_FALSE(read_machine(root_.path()).mhz);
}

TEST_F(DriftTest, without_a_list_of_cpus_all_of_them_count) {
  root_.remove("proc/self/status");
  stat(0, 0, 0);
  const auto reading = read_machine(root_.path());
  ASSERT_TRUE(reading.cpu) << reading.cpu.reason;
  EXPECT_EQ(reading.cpu->busy_s, 1000);
}

TEST(drift, of_this_machine_has_a_value_or_a_reason_each) {
  const MachineReading before = read_machine();
  EXPECT_TRUE(before.cpu) << before.cpu.reason;
  const auto drift = drift_between(before, read_machine());
  EXPECT_NE(drift.stolen_share.value.has_value(), !drift.stolen_share.reason.empty());
  EXPECT_NE(drift.mhz_before.value.has_value(), !drift.mhz_before.reason.empty());
  EXPECT_NE(drift.quota_throttles.value.has_value(), !drift.quota_throttles.reason.empty());
}

}  // namespace
}  // namespace taskbench::harness
