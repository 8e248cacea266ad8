#include "harness/bench/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace taskbench::harness {
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

// Each of the 6 orders of 3 cases should occur in a sixth of 6000 rounds: 1000, with a standard
// deviation of 29. The bounds are five of those away.
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

using enum reports::model::Side;

TEST(block_plan_test, each_block_has_both_sides_at_the_same_mean_position) {
  int base_first = 0;
  for (int block = 0; block < 1'000; ++block) {
    const BlockPlan plan = block_plan(7, block);
    EXPECT_EQ(plan.sides[0], plan.sides[3]);
    EXPECT_EQ(plan.sides[1], plan.sides[2]);
    EXPECT_NE(plan.sides[0], plan.sides[1]);
    if (plan.sides[0] == base) ++base_first;
  }
  EXPECT_GT(base_first, 400);
  EXPECT_LT(base_first, 600);
}

TEST(block_plan_test, is_the_same_again_and_another_for_each_block_and_seed) {
  std::set<std::uint64_t> order_seeds;
  std::set<std::size_t> paddings;
  for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}}) {
    for (int block = 0; block < 100; ++block) {
      const BlockPlan plan = block_plan(seed, block);
      EXPECT_EQ(plan.order_seed, block_plan(seed, block).order_seed);
      EXPECT_EQ(plan.sides, block_plan(seed, block).sides);
      order_seeds.insert(plan.order_seed);
      paddings.insert(plan.padding_bytes);
    }
  }
  EXPECT_EQ(order_seeds.size(), 200U);
  EXPECT_GT(paddings.size(), 150U);
}

}  // namespace
}  // namespace taskbench::harness
