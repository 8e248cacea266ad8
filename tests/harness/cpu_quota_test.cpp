#include "harness/machine/cpu_quota.hpp"

#include <gtest/gtest.h>

#include "tests/harness/fake_root.hpp"

namespace taskbench::harness {
namespace {

const std::string kVersion2 =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string kVersion1 =
    "22 1 0:2 / / rw - ext4 /dev/vda rw\n"
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n";

class CpuQuotaTest : public testing::Test {
 protected:
  void in_group(const std::string& cgroup, const std::string& mountinfo) const {
    root_.write("proc/self/cgroup", cgroup);
    root_.write("proc/self/mountinfo", mountinfo);
  }
  void group(const std::string& folder, const std::string& cpu_max, int throttled) const {
    const std::string path = "sys/fs/cgroup/" + folder;
    root_.write(path + "/cpu.max", cpu_max + "\n");
    root_.write(path + "/cpu.stat", "usage_usec 12\nnr_periods 90\nnr_throttled " +
                                        std::to_string(throttled) + "\nthrottled_usec 5\n");
  }
  [[nodiscard]] auto quota() const { return probe_cpu_quota(root_.path()); }
  [[nodiscard]] auto throttles() const { return count_quota_throttles(root_.path()); }

  FakeRoot root_;
};

TEST_F(CpuQuotaTest, version_2_takes_the_tightest_on_the_way_to_the_root) {
  in_group("0::/build.slice/job.scope\n", kVersion2);
  group("build.slice", "150000 100000", 3);
  group("build.slice/job.scope", "max 100000", 100);
  ASSERT_TRUE(quota()) << quota().reason;
  EXPECT_EQ(quota()->cpus, 1.5);
  EXPECT_TRUE(quota()->where.ends_with("/build.slice/cpu.max")) << quota()->where;
  EXPECT_EQ(*throttles(), 3);  // a group without a quota is never throttled
  group("build.slice/job.scope", "50000 100000", 4);
  EXPECT_EQ(quota()->cpus, 0.5);
  EXPECT_EQ(*throttles(), 7);
}

TEST_F(CpuQuotaTest, version_2_without_a_quota) {
  in_group("0::/user.slice\n", kVersion2);
  group("user.slice", "max 100000", 0);
  ASSERT_TRUE(quota()) << quota().reason;
  EXPECT_EQ(quota()->cpus, std::nullopt);
  EXPECT_EQ(*throttles(), 0);
}

TEST_F(CpuQuotaTest, a_container_sees_its_own_group_at_the_mount_point) {
  in_group("0::/\n", kVersion2);
  group("", "200000 100000", 0);
  ASSERT_TRUE(quota()) << quota().reason;
  EXPECT_EQ(quota()->cpus, 2);
}

TEST_F(CpuQuotaTest, a_mount_of_a_group_in_the_middle_of_the_tree) {
  in_group("0::/docker/abc/inner\n",
           "31 23 0:28 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  group("inner", "25000 100000", 0);
  ASSERT_TRUE(quota()) << quota().reason;
  EXPECT_EQ(quota()->cpus, 0.25);
}

TEST_F(CpuQuotaTest, version_1) {
  in_group("5:cpuset:/\n4:cpu,cpuacct:/job/step\n", kVersion1);
  const std::string cpu = "sys/fs/cgroup/cpu,cpuacct/job";
  root_.write(cpu + "/cpu.cfs_quota_us", "75000\n");
  root_.write(cpu + "/cpu.cfs_period_us", "50000\n");
  root_.write(cpu + "/cpu.stat", "nr_periods 1\nnr_throttled 8\nthrottled_time 9\n");
  root_.write(cpu + "/step/cpu.cfs_quota_us", "-1\n");
  root_.write(cpu + "/step/cpu.cfs_period_us", "100000\n");
  ASSERT_TRUE(quota()) << quota().reason;
  EXPECT_EQ(quota()->cpus, 1.5);
  EXPECT_TRUE(quota()->where.ends_with("/job/cpu.cfs_quota_us")) << quota()->where;
  EXPECT_EQ(*throttles(), 8);
}

TEST_F(CpuQuotaTest, the_root_group_of_both_versions_has_no_quota) {
  in_group("1:cpu,cpuacct:/\n0::/\n", kVersion1 + kVersion2);
  std::filesystem::create_directories(root_.path() / "sys/fs/cgroup/cpu,cpuacct");
  ASSERT_TRUE(quota()) << quota().reason;
  EXPECT_EQ(quota()->cpus, std::nullopt);
}

TEST_F(CpuQuotaTest, what_cannot_be_found_out_is_unknown_with_the_reason) {
  EXPECT_EQ(quota().reason, "/proc/self/cgroup cannot be read");
  root_.write("proc/self/cgroup", "0::/\n");
  EXPECT_EQ(quota().reason, "/proc/self/mountinfo cannot be read");
  root_.write("proc/self/mountinfo", "22 1 0:2 / / rw - ext4 /dev/vda rw\n");
  EXPECT_EQ(quota().reason, "no file system of control groups is mounted here");
  EXPECT_EQ(throttles().reason, quota().reason);
}

TEST_F(CpuQuotaTest, garbage_is_unknown_and_never_no_quota) {
  in_group("0::/job\n", kVersion2);
  for (const char* text : {"", "50000", "a b", "50000 0", "-5 100000", "0 100000", "1 2 3"}) {
    group("job", text, 0);
    EXPECT_FALSE(quota()) << text;
    EXPECT_NE(quota().reason.find("cpu.max is not understood"), std::string::npos) << text;
  }
}

TEST_F(CpuQuotaTest, a_quota_without_counts_of_throttling_is_unknown_there) {
  in_group("0::/job\n", kVersion2);
  group("job", "50000 100000", 0);
  root_.write("sys/fs/cgroup/job/cpu.stat", "usage_usec 1\n");
  EXPECT_TRUE(quota());
  EXPECT_NE(throttles().reason.find("has no nr_throttled"), std::string::npos);
}

TEST(cpu_quota, can_be_asked_of_this_machine) {
  const auto quota = probe_cpu_quota();
  EXPECT_NE(quota.value.has_value(), !quota.reason.empty());
}

}  // namespace
}  // namespace taskbench::harness
