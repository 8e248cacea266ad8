#include "reports/verdict/drift.hpp"

#include <gtest/gtest.h>

#include "tests/reports/sample_doctor.hpp"

namespace taskbench::reports::verdict {
namespace {

using samples::know;
using samples::quiet_drift;

TEST(drift_verdict, a_quiet_machine_has_not_moved) {
  EXPECT_TRUE(movements(quiet_drift(10)).empty());
  EXPECT_EQ(drift_warning(quiet_drift(10)), "");
}

TEST(drift_verdict, what_is_unknown_has_not_moved) {
  EXPECT_TRUE(movements(model::Drift{}).empty());
}

TEST(drift_verdict, shares_and_clock_rates_have_thresholds) {
  model::Drift drift = quiet_drift(10);
  know(drift.stolen_share, kMovedStolenShare);
  know(drift.others_share, kMovedOthersShare);
  know(drift.mhz_before, 2000.0);
  know(drift.mhz_after, 2099.0);
  EXPECT_TRUE(movements(drift).empty());
  know(drift.stolen_share, 0.031);
  know(drift.others_share, 0.2);
  know(drift.mhz_after, 1800.0);
  const auto moved = movements(drift);
  ASSERT_EQ(moved.size(), 3U);
  EXPECT_EQ(moved[0].quantity, "stolen_share");
  EXPECT_EQ(moved[0].text, "the hypervisor stole 3.1 % of the CPU time (above 1 %)");
  EXPECT_EQ(moved[1].text, "other processes used 20.0 % of the CPU time (above 5 %)");
  EXPECT_EQ(moved[2].quantity, "mhz_after");
  EXPECT_EQ(moved[2].text, "the clock rate went from 2000 to 1800 MHz (-10.0 %)");
}

TEST(drift_verdict, throttling_and_swapping_once_is_enough) {
  model::Drift drift = quiet_drift(10);
  know(drift.thermal_throttles, std::int64_t{1});
  know(drift.quota_throttles, std::int64_t{2});
  know(drift.swapped_pages, std::int64_t{300});
  EXPECT_EQ(drift_warning(drift),
            "the machine was disturbed while it measured: a CPU was throttled once because of "
            "heat; the CPU "
            "quota was used up 2 times; 300 pages were swapped");
}

}  // namespace
}  // namespace taskbench::reports::verdict
