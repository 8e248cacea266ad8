#include "reports/stats/mann_whitney.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

namespace taskbench::reports::stats {
namespace {

using Values = std::vector<double>;

Values steps(int count, double first, double step) {
  Values values;
  for (int i = 0; i < count; ++i) {
    values.push_back(first + i * step);
  }
  return values;
}

// The example of scipy.stats.mannwhitneyu's documentation: the age at diagnosis with diabetes of
// men and women. All numbers of this file are SciPy 1.10.1's.
TEST(MannWhitney, equals_the_example_of_scipys_documentation) {
  const Values men = {19, 22, 16, 29, 24};
  const Values women = {20, 11, 17, 12};
  EXPECT_NEAR(mann_whitney_p(men, women), 0.1111111111111111, 1e-13);
  EXPECT_NEAR(mann_whitney_p(men, women, MannWhitneyMethod::exact), 0.1111111111111111, 1e-13);
  EXPECT_NEAR(mann_whitney_p(men, women, MannWhitneyMethod::asymptotic), 0.11134688653314041,
              1e-13);
}

// >>> mannwhitneyu([1, 2, 2, 3, 5, 8, 8, 9, 10, 11], [2, 4, 4, 8, 12, 13, 13, 14, 15])
TEST(MannWhitney, corrects_for_ties) {
  const Values a = {1, 2, 2, 3, 5, 8, 8, 9, 10, 11};
  const Values b = {2, 4, 4, 8, 12, 13, 13, 14, 15};
  EXPECT_NEAR(mann_whitney_p(a, b), 0.0927225295250144, 1e-13);
}

// >>> a = [i * 1.1 for i in range(12)]; b = [3.05 + i * 1.3 for i in range(10)]
// >>> mannwhitneyu(a, b), mannwhitneyu(a, b, method='exact'), mannwhitneyu(a[:8], b)
TEST(MannWhitney, chooses_the_method_as_scipy_does) {
  const Values a = steps(12, 0, 1.1);
  const Values b = steps(10, 3.05, 1.3);
  EXPECT_NEAR(mann_whitney_p(a, b), 0.13791345941250951, 1e-13);
  EXPECT_NEAR(mann_whitney_p(a, b, MannWhitneyMethod::exact), 0.14023747150682137, 1e-13);
  EXPECT_NEAR(mann_whitney_p(steps(8, 0, 1.1), b), 0.011655011655011656, 1e-13);
  // Nine on the shorter side: asymptotic.
  EXPECT_NEAR(mann_whitney_p(a, steps(9, 3.05, 1.3)), 0.24095466870157012, 1e-13);
}

TEST(MannWhitney, samples_can_change_places) {
  const Values a = steps(6, 0, 1.1);
  const Values b = steps(11, 2.05, 1.3);
  EXPECT_DOUBLE_EQ(mann_whitney_p(a, b), mann_whitney_p(b, a));
  EXPECT_DOUBLE_EQ(mann_whitney_p(a, b, MannWhitneyMethod::asymptotic),
                   mann_whitney_p(b, a, MannWhitneyMethod::asymptotic));
}

TEST(MannWhitney, complete_separation_has_the_smallest_p) {
  EXPECT_NEAR(mann_whitney_p(Values{1, 2, 3}, Values{4, 5, 6}), 2.0 / 20, 1e-15);
  EXPECT_NEAR(mann_whitney_p(Values{2}, Values{1}), 1, 1e-15);
}

TEST(MannWhitney, is_one_when_all_values_are_equal) {
  EXPECT_EQ(mann_whitney_p(Values{1, 1}, Values{1, 1, 1}), 1);
  EXPECT_EQ(mann_whitney_p(Values{1}, Values{1}), 1);
}

TEST(MannWhitney, rejects_what_it_cannot_test) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)mann_whitney_p(Values{}, Values{1}), std::invalid_argument);
  EXPECT_THROW((void)mann_whitney_p(Values{1}, Values{}), std::invalid_argument);
  EXPECT_THROW((void)mann_whitney_p(Values{1}, Values{nan}), std::invalid_argument);
  EXPECT_THROW((void)mann_whitney_p(Values{1, 2}, Values{2, 3}, MannWhitneyMethod::exact),
               std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
