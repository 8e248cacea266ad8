// The few distribution functions that the other files need. Exact to about twelve digits, in the
// far tail too; to nine where a parameter is 100,000.
#pragma once

namespace taskbench::reports::stats {

/// P(Z > z) of a standard normal Z. z may be infinite.
[[nodiscard]] double normal_upper_tail(double z);

/// The z with P(Z <= z) = p. Needs 0 < p < 1, or throws std::invalid_argument.
[[nodiscard]] double normal_quantile(double p);

/// P(X <= x) of a beta distribution: the regularised incomplete beta function I_x(a, b). Needs
/// a > 0, b > 0 and 0 <= x <= 1, or throws std::invalid_argument.
[[nodiscard]] double beta_cdf(double x, double a, double b);

/// The x with beta_cdf(x, a, b) = p. Needs a > 0, b > 0 and 0 < p < 1, or throws
/// std::invalid_argument.
[[nodiscard]] double beta_quantile(double p, double a, double b);

/// The t with P(T <= t) = p, T being Student's with so many degrees of freedom (> 0, not only
/// whole ones). Needs 0 < p < 1. Throws std::invalid_argument otherwise.
[[nodiscard]] double student_t_quantile(double p, double degrees);

}  // namespace taskbench::reports::stats
