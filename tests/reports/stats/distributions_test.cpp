#include "reports/stats/distributions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace taskbench::reports::stats {
namespace {

void expect_close(double value, double expected) {
  EXPECT_NEAR(value, expected, 1e-11 * std::abs(expected));
}

// >>> scipy.stats.norm.ppf(p)
TEST(NormalQuantile, equals_scipys) {
  expect_close(normal_quantile(0.975), 1.959963984540054);
  expect_close(normal_quantile(0.3), -0.5244005127080409);
  expect_close(normal_quantile(1e-12), -7.034483825301131);
  expect_close(normal_quantile(0.999999), 4.753424308817087);
  EXPECT_EQ(normal_quantile(0.5), 0);
}

// boost::math::quantile(boost::math::students_t(degrees), p), Boost 1.74. SciPy 1.10.1's t.ppf
// agrees only in the first nine digits.
TEST(StudentTQuantile, equals_boosts) {
  expect_close(student_t_quantile(0.995, 7), 3.499483297350493);
  expect_close(student_t_quantile(0.9985, 15), 3.535024618550803);
  expect_close(student_t_quantile(0.997, 31), 2.950048473852525);
  expect_close(student_t_quantile(0.8, 7), 0.8960296443137651);
  expect_close(student_t_quantile(0.975, 1), 12.70620473617469);
  expect_close(student_t_quantile(0.01, 3), -4.540702858568133);
  expect_close(student_t_quantile(0.9, 2.5), 1.730250928807177);
  expect_close(student_t_quantile(1e-09, 5), -98.93722464836995);
  EXPECT_EQ(student_t_quantile(0.5, 3), 0);
}

// Closed forms (Shaw, Sampling Student's t distribution, 2006): tan(pi (p - 1/2)), and with
// a = 4 p (1 - p), (2 p - 1) sqrt(2 / a).
TEST(StudentTQuantile, equals_the_closed_forms_for_one_and_two_degrees) {
  for (const double p : {1e-9, 0.001, 0.2, 0.49, 0.7, 0.999}) {
    expect_close(student_t_quantile(p, 1), -1 / std::tan(std::numbers::pi * p));
    expect_close(student_t_quantile(p, 2), (2 * p - 1) * std::sqrt(0.5 / (p * (1 - p))));
  }
}

TEST(StudentTQuantile, becomes_the_normal_one) {
  EXPECT_NEAR(student_t_quantile(0.975, 1e7), normal_quantile(0.975), 1e-6);
}

TEST(Distributions, reject_what_is_no_parameter) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)normal_quantile(0), std::invalid_argument);
  EXPECT_THROW((void)normal_quantile(nan), std::invalid_argument);
  EXPECT_THROW((void)student_t_quantile(1, 3), std::invalid_argument);
  EXPECT_THROW((void)student_t_quantile(0.9, 0), std::invalid_argument);
  EXPECT_THROW((void)student_t_quantile(0.9, nan), std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::reports::stats
