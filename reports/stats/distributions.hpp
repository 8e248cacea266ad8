// The few distribution functions that the other files need. Exact to about twelve digits, in the
// far tail too.
#pragma once

namespace taskbench::reports::stats {

/// The z with P(Z <= z) = p. Needs 0 < p < 1, or throws std::invalid_argument.
[[nodiscard]] double normal_quantile(double p);

/// The t with P(T <= t) = p, T being Student's with so many degrees of freedom (> 0, not only
/// whole ones). Needs 0 < p < 1. Throws std::invalid_argument otherwise.
[[nodiscard]] double student_t_quantile(double p, double degrees);

}  // namespace taskbench::reports::stats
