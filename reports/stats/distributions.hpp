// The few distribution functions that the other files need, accurate to about twelve digits, even
// in the far tail.
#pragma once

namespace taskbench::reports::stats {

/// The z with P(Z <= z) = p. Needs 0 < p < 1, or throws std::invalid_argument.
[[nodiscard]] double normal_quantile(double p);

/// The t with P(T <= t) = p, where T is Student's with `degrees` degrees of freedom: above 0, not
/// necessarily whole. Needs 0 < p < 1. Throws std::invalid_argument otherwise.
[[nodiscard]] double student_t_quantile(double p, double degrees);

}  // namespace taskbench::reports::stats
