#include "reports/verdict/exact.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

namespace taskbench::reports::verdict {
namespace {

using Counts = std::vector<double>;

ExactChange exact_change(const Counts& base, const Counts& head) {
  const InstructionsVerdict judged = judge_instructions(base, head);
  EXPECT_EQ(judged.verdict, judged.exact->is_worse() ? Verdict::fail : Verdict::pass);
  EXPECT_EQ(judged.improved(), judged.exact->is_better());
  return *judged.exact;
}

TEST(ExactChange, of_counts_that_repeat_a_fifth_of_a_per_cent_is_seen) {
  const Counts base(5, 1'000'000);
  const ExactChange same = exact_change(base, base);
  EXPECT_TRUE(same.repeats);
  EXPECT_EQ(same.change, 0);
  EXPECT_FALSE(same.is_worse() || same.is_better());
  EXPECT_TRUE(exact_change(base, Counts(5, 1'002'100)).is_worse());
  EXPECT_FALSE(exact_change(base, Counts(5, 1'001'900)).is_worse());
  EXPECT_TRUE(exact_change(base, Counts(5, 997'000)).is_better());
  EXPECT_FALSE(exact_change(base, Counts(5, 998'500)).is_better());
}

TEST(ExactChange, of_counts_that_do_not_repeat_the_threshold_is_what_they_differ_by) {
  // Each side's pairs differ by 0.01, 0.01 and 0.0201...; q1 and q3 by hand.
  const Counts base{100, 101, 102.01};
  const ExactChange scattered = exact_change(base, Counts{110, 111.1, 112.211});
  EXPECT_FALSE(scattered.repeats);
  // Differences, each twice: 0.01, 0.01, 0.0201. Q1 = 0.01, Q3 = 0.017575 (R's quantile, type 7).
  EXPECT_NEAR(scattered.threshold, 0.017575 + 3 * 0.007575, 1e-9);
  EXPECT_NEAR(scattered.change, 0.1, 1e-12);
  EXPECT_TRUE(scattered.is_worse());
  EXPECT_FALSE(exact_change(base, Counts{102, 103.02, 104.0502}).is_worse());
}

TEST(ExactChange, one_run_that_differs_does_not_hide_a_change) {
  const ExactChange change =
      exact_change(Counts{1000, 1000, 1000, 1000, 1000}, Counts{1010, 1010, 1010, 1010, 1500});
  EXPECT_FALSE(change.repeats);
  EXPECT_NEAR(change.change, 0.01, 1e-12);
}

TEST(ExactChange, counts_that_are_none_are_refused) {
  const Counts good(5, 10);
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW((void)exact_change(good, Counts{10, bad}), std::invalid_argument);
    EXPECT_THROW((void)exact_change(Counts{10, bad}, good), std::invalid_argument);
  }
  EXPECT_THROW((void)exact_change(good, Counts{10}), std::invalid_argument);
  EXPECT_THROW((void)exact_change(Counts{}, good), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::verdict
