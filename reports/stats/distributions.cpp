#include "reports/stats/distributions.hpp"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "reports/stats/require.hpp"

namespace taskbench::reports::stats {
namespace {

// As exact with doubles as with long doubles, as far as anybody looks here, and twice as fast. What
// is out of range is refused before: nothing may be left for Boost to throw for.
using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

using Normal = boost::math::normal_distribution<double, Policy>;
using Beta = boost::math::beta_distribution<double, Policy>;
using StudentT = boost::math::students_t_distribution<double, Policy>;

}  // namespace

double normal_upper_tail(double z) {
  if (std::isinf(z)) return z > 0 ? 0 : 1;
  return boost::math::cdf(boost::math::complement(Normal(), z));
}

double normal_quantile(double p) {
  require_fraction(p, "normal quantile: p");
  return boost::math::quantile(Normal(), p);
}

double beta_cdf(double x, double a, double b) {
  require(a > 0 && b > 0 && std::isfinite(a + b), "beta distribution: a and b must be positive");
  require(x >= 0 && x <= 1, "beta distribution: x must lie between 0 and 1");
  return boost::math::cdf(Beta(a, b), x);
}

double beta_quantile(double p, double a, double b) {
  require(a > 0 && b > 0 && std::isfinite(a + b), "beta distribution: a and b must be positive");
  require_fraction(p, "beta quantile: p");
  return boost::math::quantile(Beta(a, b), p);
}

double student_t_quantile(double p, double degrees) {
  require_fraction(p, "Student's t quantile: p");
  require(degrees > 0 && std::isfinite(degrees),
          "Student's t: degrees of freedom must be positive");
  return boost::math::quantile(StudentT(degrees), p);
}

}  // namespace taskbench::reports::stats
