#include "reports/verdict/digits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskbench::reports::verdict {

std::optional<model::NoiseFloor> floor_of_digits(double step_ns, double least_ns) {
  if (step_ns <= 0) return std::nullopt;
  const bool is_short = step_ns < 1e6;
  // A time that was printed with finer digits may be shorter than a step.
  const double least = std::max(least_ns, step_ns);
  return model::NoiseFloor{step_ns / (least - step_ns / 2),
                           fmt::format("the program prints times in steps of {:g} {}",
                                       is_short ? step_ns : step_ns / 1e6, is_short ? "ns" : "ms")};
}

void raise_to_digits(const model::NoiseFloor& of_digits, model::NoiseFloor& floor) {
  if (of_digits.epsilon <= floor.epsilon) return;
  // Digits say nothing of code layout: a floor that was assumed for it still is.
  floor = {of_digits.epsilon, fmt::format("{}; raised, as {}", floor.source, of_digits.source)};
}

}  // namespace taskbench::reports::verdict
