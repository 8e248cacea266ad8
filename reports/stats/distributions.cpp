#include "reports/stats/distributions.hpp"

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "reports/stats/require.hpp"

namespace taskbench::reports::stats {
namespace {

// Doubles are accurate enough here, and twice as fast as long doubles. Arguments out of range are
// rejected earlier, so that Boost never throws.
using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

using Normal = boost::math::normal_distribution<double, Policy>;
using StudentT = boost::math::students_t_distribution<double, Policy>;

}  // namespace

double normal_quantile(double p) {
  require_fraction(p, "normal quantile: p");
  return boost::math::quantile(Normal(), p);
}

double student_t_quantile(double p, double degrees) {
  require_fraction(p, "Student's t quantile: p");
  require(degrees > 0 && std::isfinite(degrees),
          "Student's t: degrees of freedom must be positive");
  return boost::math::quantile(StudentT(degrees), p);
}

}  // namespace taskbench::reports::stats
