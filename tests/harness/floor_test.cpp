#include "harness/machine/floor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>
#include <string>

#include "harness/os/cpu_affinity.hpp"

namespace taskbench::harness {
namespace {

using reports::model::FloorFigure;

const std::vector<std::string> kNames{"clock_resolution",   "clock_step",   "clock_cost",
                                      "locked_instruction", "timer_jitter", "wake_up"};

std::vector<std::string> names(const std::vector<FloorFigure>& figures) {
  std::vector<std::string> result;
  for (const FloorFigure& each : figures) result.push_back(each.name);
  return result;
}

void expect_measured(const std::vector<FloorFigure>& figures) {
  EXPECT_EQ(names(figures), kNames);
  for (const FloorFigure& each : figures) {
    EXPECT_EQ(each.unavailable, "") << each.name;
    EXPECT_GE(each.ns.size(), each.name == "clock_resolution" ? 1U : 100U) << each.name;
    EXPECT_GT(std::ranges::max(each.ns), 0) << each.name;
    // No sleep ends too early, and nothing takes a negative time.
    EXPECT_GE(std::ranges::min(each.ns), 0) << each.name;
    EXPECT_FALSE(each.what.empty());
  }
}

TEST(floor, each_quantity_is_measured_many_times) {
  const std::stop_token stop;
  expect_measured(measure_floor(stop));
}

TEST(floor, on_one_cpu_too) {
  const auto cpus = allowed_cpus();
  ASSERT_FALSE(cpus.empty());
  const ScopedBinding binding(cpus.back());
  ASSERT_TRUE(binding.bound());
  const std::stop_token stop;
  const auto figures = measure_floor(stop);
  expect_measured(figures);
  EXPECT_NE(figures.back().what.find("on the same CPU"), std::string::npos);
  EXPECT_EQ(allowed_cpus(), std::vector<unsigned>{cpus.back()});
}

TEST(floor, what_was_interrupted_says_so) {
  std::stop_source stop;
  stop.request_stop();
  const auto figures = measure_floor(stop.get_token());
  EXPECT_EQ(names(figures), kNames);
  for (const FloorFigure& each : figures) {
    EXPECT_EQ(each.unavailable, each.ns.empty() ? "interrupted" : "") << each.name;
  }
  EXPECT_TRUE(figures.back().ns.empty());
}

}  // namespace
}  // namespace taskbench::harness
