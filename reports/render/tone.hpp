// The tone of a text. It only underlines what the words already say.
#pragma once

#include <array>
#include <cstddef>

#include "reports/verdict/decision.hpp"

namespace taskbench::reports::render {

enum class Tone {
  plain,
  good,
  bad,
  doubtful,
  quiet,  ///< what the rest is based on
};

[[nodiscard]] constexpr Tone tone_of(verdict::Verdict verdict) {
  constexpr std::array<Tone, 3> kTones{Tone::good, Tone::bad, Tone::doubtful};
  return kTones[static_cast<std::size_t>(verdict)];
}

/// The tone of MAD over median: at first it raises suspicion of the median, later the median says
/// nothing.
[[nodiscard]] constexpr Tone tone_of_spread(double percent) {
  return percent > 10 ? Tone::bad : percent > 5 ? Tone::doubtful : Tone::plain;
}

}  // namespace taskbench::reports::render
