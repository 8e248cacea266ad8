#include "harness/machine/canary.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>

#include "harness/os/cpu_affinity.hpp"

namespace taskbench::harness {
namespace {

TEST(canary, every_part_takes_time_and_all_of_it_little) {
  const auto start = std::chrono::steady_clock::now();
  const auto times = time_canary();
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GT(times.cpu_ns, 1e5);
  EXPECT_GT(times.memory_ns, 1e5);
  EXPECT_GT(times.futex_ns, 1e5);
  EXPECT_EQ(times.handover_ns.has_value(), allowed_cpus().size() > 1);
  EXPECT_GT(times.handover_ns.value_or(1e9), 1e5);
  EXPECT_LT(took, std::chrono::seconds(20));
}

TEST(canary, uses_all_cpus_at_the_same_time) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "there is one CPU only";
  const auto cpu_s = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const auto work_of = [&] {
    const double before_s = cpu_s();
    (void)time_canary();
    return cpu_s() - before_s;
  };
  const double all = work_of();
  const ScopedBinding binding(allowed_cpus().front());
  ASSERT_TRUE(binding.bound());
  EXPECT_FALSE(time_canary().handover_ns) << "it keeps to the CPUs that it may use";
  EXPECT_GT(all, 1.4 * work_of());
}

TEST(canary, names_its_version_and_its_build) {
  const auto fields = canary_fields();
  EXPECT_EQ(reports::model::value_of(fields, "canary_version"), std::to_string(kCanaryVersion));
  EXPECT_NE(reports::model::value_of(fields, "canary_compiler"), "");
}

}  // namespace
}  // namespace taskbench::harness
