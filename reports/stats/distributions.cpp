#include "reports/stats/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "reports/stats/require.hpp"

namespace taskbench::reports::stats {
namespace {

/// ln Gamma for x > 0. Not std::lgamma, which writes a global variable: these are pure functions.
/// Stirling's series, after the recurrence has moved x to where eight terms give all digits.
double ln_gamma(double x) {
  double below = 0;
  for (; x < 10; x += 1) {
    below += std::log(x);
  }
  constexpr double kTerms[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                               1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
  const double squared = x * x;
  double power = x;
  double series = 0;
  for (const double term : kTerms) {
    series += term / power;
    power *= squared;
  }
  return (x - 0.5) * std::log(x) - x + 0.5 * std::log(2 * std::numbers::pi) + series - below;
}

/// The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method.
/// Converges fast for x below about a / (a + b).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;  // stands in for a denominator of 0
  constexpr int kMaxTerms = 100'000;
  const auto not_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / not_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m <= kMaxTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / not_zero(1 + even * d);
    c = not_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / not_zero(1 + odd * d);
    c = not_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < std::numeric_limits<double>::epsilon()) {
      break;
    }
  }
  return fraction;
}

/// I_x(a, b) given also 1 - x, which the caller may know to more digits than x leaves.
double beta_cdf(double x, double complement, double a, double b) {
  if (x <= 0) {
    return 0;
  }
  if (complement <= 0) {
    return 1;
  }
  const double ln_front =
      ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * std::log(x) + b * std::log(complement);
  const double front = std::exp(ln_front);
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(x, a, b) / a
                                   : 1 - front * beta_fraction(complement, b, a) / b;
}

/// The place in [low, high] where a rising function passes 0, by halving down to the last bit:
/// at most some 1,100 steps, usually 60, and nothing that could fail to converge.
template <typename Function>
double rising_root(double low, double high, Function function) {
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) {
      return middle;
    }
    (function(middle) < 0 ? low : high) = middle;
  }
}

/// P(T > t) for t >= 0.
double student_t_upper_tail(double t, double degrees) {
  const double squared = t * t;
  if (std::isinf(squared)) {
    return 0;
  }
  // Both of x and 1 - x without cancellation: this is what keeps the far tail exact.
  const double total = degrees + squared;
  return beta_cdf(degrees / total, squared / total, degrees / 2, 0.5) / 2;
}

}  // namespace

double normal_upper_tail(double z) { return std::erfc(z / std::numbers::sqrt2) / 2; }

double normal_quantile(double p) {
  require_fraction(p, "normal quantile: p");
  if (p == 0.5) {
    return 0;
  }
  constexpr double kFar = 40;  // beyond it, not even the smallest double is left
  const double tail = std::min(p, 1 - p);
  const double z = rising_root(0, kFar, [=](double at) { return tail - normal_upper_tail(at); });
  return p < 0.5 ? -z : z;
}

double beta_cdf(double x, double a, double b) {
  require(a > 0 && b > 0 && std::isfinite(a + b), "beta distribution: a and b must be positive");
  require(x >= 0 && x <= 1, "beta distribution: x must lie between 0 and 1");
  return beta_cdf(x, 1 - x, a, b);
}

double beta_quantile(double p, double a, double b) {
  require(a > 0 && b > 0 && std::isfinite(a + b), "beta distribution: a and b must be positive");
  require_fraction(p, "beta quantile: p");
  return rising_root(0, 1, [=](double x) { return beta_cdf(x, 1 - x, a, b) - p; });
}

double student_t_quantile(double p, double degrees) {
  require_fraction(p, "Student's t quantile: p");
  require(degrees > 0 && std::isfinite(degrees),
          "Student's t: degrees of freedom must be positive");
  if (p == 0.5) {
    return 0;
  }
  const double tail = p < 0.5 ? p : 1 - p;
  double high = 1;
  while (student_t_upper_tail(high, degrees) > tail) {
    high *= 2;
  }
  const double t = rising_root(
      0, high, [=](double candidate) { return tail - student_t_upper_tail(candidate, degrees); });
  return p < 0.5 ? -t : t;
}

}  // namespace taskbench::reports::stats
