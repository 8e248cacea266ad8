#include "harness/machine/core_share.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace taskbench::harness {
namespace {

TEST(core_share, of_equal_pieces_nothing_is_slow) {
  const auto found = core_share_of(std::vector<double>(200, 4e-5));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->slow_share, 0);
  EXPECT_EQ(found->slowdown, 1);
}

TEST(core_share, is_that_of_the_time_which_slow_pieces_take) {
  std::vector<double> pieces_s(300, 4e-5);
  for (std::size_t i = 0; i < 300; i += 3) pieces_s[i] = 1.7 * 4e-5;
  const auto found = core_share_of(pieces_s);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->slow_share, 1.7 / (1.7 + 2), 1e-9);
  EXPECT_NEAR(found->slowdown, 1.7, 1e-9);
}

TEST(core_share, is_not_known_of_a_coarse_clock_or_few_pieces) {
  std::vector<double> pieces_s(300, 0);
  pieces_s.back() = 0.01;
  EXPECT_FALSE(core_share_of(pieces_s));
  EXPECT_FALSE(core_share_of({}));
  EXPECT_FALSE(core_share_of(std::vector<double>(20, 4e-5)));
}

TEST(core_share, of_this_machine_is_found_out) {
  const auto found = probe_core_share({});
  ASSERT_TRUE(found) << found.reason;
  EXPECT_GE(found->slow_share, 0);
  EXPECT_LE(found->slow_share, 0.99) << "a tenth is the best";
  EXPECT_GE(found->slowdown, 1);
}

TEST(core_share, is_not_known_if_it_is_interrupted) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(probe_core_share(stop.get_token()).reason, "interrupted");
}

}  // namespace
}  // namespace taskbench::harness
