#include "workloads/measure/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace taskbench::workloads::measure {
namespace {

TEST(order, every_round_holds_every_case_once) {
  const auto order = interleaved_order(5, 9, 1);
  ASSERT_EQ(order.size(), 45U);
  for (auto round = order.begin(); round != order.end(); round += 5) {
    std::vector<std::size_t> sorted(round, round + 5);
    std::ranges::sort(sorted);
    EXPECT_EQ(sorted, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  }
}

TEST(order, same_seed_gives_the_same_order) {
  EXPECT_EQ(interleaved_order(6, 20, 42), interleaved_order(6, 20, 42));
}

TEST(order, other_seed_gives_another_order) {
  EXPECT_NE(interleaved_order(6, 20, 42), interleaved_order(6, 20, 43));
}

TEST(order, longer_run_begins_like_a_shorter_one) {
  const auto shorter = interleaved_order(4, 3, 7);
  const auto longer = interleaved_order(4, 10, 7);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

// Each of the 6 orders of 3 cases should come up in a sixth of 6000 rounds: 1000, with a standard
// deviation of 29. The bounds are five of those.
TEST(order, every_order_of_a_round_is_about_equally_likely) {
  const auto order = interleaved_order(3, 6'000, 3);
  std::map<std::vector<std::size_t>, int> seen;
  for (auto round = order.begin(); round != order.end(); round += 3) {
    ++seen[std::vector<std::size_t>(round, round + 3)];
  }
  ASSERT_EQ(seen.size(), 6U);
  for (const auto& [round, count] : seen) {
    EXPECT_GT(count, 1'000 - 145);
    EXPECT_LT(count, 1'000 + 145);
  }
}

TEST(order, of_nothing_is_nothing) {
  EXPECT_TRUE(interleaved_order(0, 5, 1).empty());
  EXPECT_TRUE(interleaved_order(5, 0, 1).empty());
}

}  // namespace
}  // namespace taskbench::workloads::measure
