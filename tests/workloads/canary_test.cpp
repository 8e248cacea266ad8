#include "workloads/measure/canary.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace taskbench::workloads::measure {
namespace {

TEST(canary, every_part_takes_time_and_all_of_it_little) {
  const auto start = std::chrono::steady_clock::now();
  const auto times = time_canary();
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GT(times.cpu_ns, 1e5);
  EXPECT_GT(times.memory_ns, 1e5);
  EXPECT_GT(times.futex_ns, 1e5);
  EXPECT_DOUBLE_EQ(times.total_ns(), times.cpu_ns + times.memory_ns + times.futex_ns);
  EXPECT_LT(took, std::chrono::seconds(20));
}

TEST(canary, names_its_version_and_its_build) {
  const auto fields = canary_fields();
  EXPECT_EQ(reports::model::value_of(fields, "canary_version"), std::to_string(kCanaryVersion));
  EXPECT_NE(reports::model::value_of(fields, "canary_compiler"), "");
}

}  // namespace
}  // namespace taskbench::workloads::measure
