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

KindVerdict fences(const Counts& base, const Counts& head, bool acknowledged = false) {
  return judge_kind("fences", base, head, acknowledged);
}

TEST(KindVerdict, one_more_an_iteration_fails_and_less_than_half_does_not) {
  EXPECT_EQ(fences({0, 0}, {0, 0}).verdict, Verdict::pass);
  EXPECT_EQ(fences({0, 0}, {0.5, 0.5}).verdict, Verdict::pass) << "once in the iterations counted";
  EXPECT_EQ(fences({0, 0}, {0.75, 0.75}).verdict, Verdict::fail);
  const KindVerdict failed = fences({0, 0}, {999, 999});
  EXPECT_EQ(failed.verdict, Verdict::fail);
  EXPECT_TRUE(failed.repeats);
  EXPECT_EQ(failed.base, 0);
  EXPECT_EQ(failed.head, 999);
  EXPECT_TRUE(fences({999, 999}, {0, 0}).is_better());
}

TEST(KindVerdict, of_many_a_fifth_of_a_per_cent_counts) {
  EXPECT_EQ(fences({10000, 10000}, {10019, 10019}).verdict, Verdict::pass);
  EXPECT_EQ(fences({10000, 10000}, {10021, 10021}).verdict, Verdict::fail);
}

TEST(KindVerdict, of_counts_that_do_not_repeat_the_threshold_is_what_they_differ_by) {
  // Differences, each side's: 10, 20, 10. Q1 = 10, Q3 = 17.5.
  const Counts base{100, 110, 120};
  const KindVerdict scattered = fences(base, {140, 150, 160});
  EXPECT_FALSE(scattered.repeats);
  EXPECT_NEAR(scattered.threshold, 17.5 + 3 * 7.5, 1e-9);
  EXPECT_EQ(scattered.verdict, Verdict::pass);
  EXPECT_EQ(fences(base, {151, 161, 171}).verdict, Verdict::fail);
}

TEST(KindVerdict, what_is_acknowledged_passes_and_is_called_so_only_if_it_grew) {
  EXPECT_EQ(fences({0, 0}, {9, 9}, true).verdict, Verdict::pass);
  EXPECT_TRUE(fences({0, 0}, {9, 9}, true).acknowledged);
  EXPECT_FALSE(fences({9, 9}, {9, 9}, true).acknowledged);
}

TEST(KindVerdict, counts_that_are_none_are_refused) {
  EXPECT_THROW((void)fences({0}, {0, 0}), std::invalid_argument);
  EXPECT_THROW((void)fences({0, 0}, {0, -1}), std::invalid_argument);
  EXPECT_THROW((void)fences({0, std::numeric_limits<double>::infinity()}, {0, 0}),
               std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::verdict
