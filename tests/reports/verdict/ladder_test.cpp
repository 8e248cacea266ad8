// What is derived from the times of a ladder: its steps, its table, its waterfall.
#include "reports/verdict/ladder.hpp"
#include "reports/render/render.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/reports/printed.hpp"
#include "tests/reports/text.hpp"

namespace taskbench::reports::verdict {
namespace {

/// Three rungs: the first step doubles the speed, the second gains nothing. Each block is on a
/// machine that is slower by another factor, which cancels out.
model::Ladder three_rungs(std::size_t blocks) {
  model::Ladder ladder;
  ladder.rungs = {{"old", "old"}, {"half", "half the work"}, {"new", "nothing", true}};
  ladder.workloads = {{"chained_spawn", {}}, {"not begun", {}}};
  for (std::size_t i = 0; i < blocks; ++i) {
    const double slow = std::exp(static_cast<double>(i % 5));
    const double noise = i % 2 == 0 ? 1.01 : 1 / 1.01;
    ladder.workloads[0].blocks_ns.push_back({2000 * slow, 1000 * slow, 1000 * slow * noise});
  }
  return ladder;
}

TEST(Ladder, compares_within_blocks) {
  const std::vector<LadderVerdict> verdicts = climb(three_rungs(10));
  ASSERT_EQ(verdicts.size(), 1U) << "a workload without a block has no verdict";
  const LadderVerdict& verdict = verdicts[0];
  EXPECT_EQ(verdict.blocks, 10U);
  ASSERT_EQ(verdict.rows.size(), 3U);
  EXPECT_FALSE(verdict.rows[0].step || verdict.rows[0].total);
  EXPECT_NEAR(verdict.rows[1].step->ratio, 2, 1e-9);
  EXPECT_NEAR(verdict.rows[1].step->interval->low, 2, 1e-9);
  EXPECT_TRUE(verdict.rows[1].step->is_sure());
  EXPECT_FALSE(verdict.rows[2].step->is_sure()) << "its interval has 1 in it";
  EXPECT_NEAR(verdict.rows[2].total->ratio, 2, 0.03);
  ASSERT_NE(verdict.documented, nullptr);
  EXPECT_NEAR(verdict.documented->ratio(), 11.96, 0.01);
}

TEST(Ladder, fewer_than_eight_blocks_have_no_interval_at_99_per_cent) {
  EXPECT_FALSE(climb(three_rungs(7))[0].rows[1].step->interval);
  EXPECT_FALSE(climb(three_rungs(7))[0].rows[1].step->is_sure());
  EXPECT_TRUE(climb(three_rungs(8))[0].rows[1].step->interval);
}

TEST(Ladder, a_step_that_gives_nothing_is_a_dash) {
  const std::string text = render::table(three_rungs(10), {});
  EXPECT_TRUE(contains(text, "\nhalf the work ")) << text;
  EXPECT_TRUE(contains(text, "  2.00×  2.00× … 2.00×")) << text;
  EXPECT_TRUE(contains(text, "nothing (ours)")) << text;
  EXPECT_TRUE(contains(text, "      –  0.99× … 1.01×")) << text;
  EXPECT_TRUE(contains(text, "in Tokio's article 12.0×")) << text;
}

TEST(Ladder, the_waterfall_reaches_from_total_to_total) {
  const model::Ladder ladder = three_rungs(10);
  const render::Plot plot = render::waterfall(ladder, climb(ladder)[0]);
  EXPECT_EQ(plot.name, "ladder-chained_spawn");
  EXPECT_TRUE(contains(plot.data, " 2 3 0.34\n")) << plot.data;  // in row 2, green
  EXPECT_TRUE(contains(plot.data, " 3 8 0.1\n")) << plot.data;   // in row 3, grey and thin
  EXPECT_TRUE(contains(plot.script, "'in all' 4")) << plot.script;
  EXPECT_TRUE(contains(plot.data, "# index 4: the article's total")) << plot.data;
}

}  // namespace
}  // namespace taskbench::reports::verdict
