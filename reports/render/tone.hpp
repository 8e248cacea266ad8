// How a text is meant. It only underlines what the words say already.
#pragma once

#include <array>
#include <cstddef>

#include "reports/verdict/decision.hpp"

namespace taskbench::reports::render {

enum class Tone { plain, good, bad, doubtful };

[[nodiscard]] constexpr Tone tone_of(verdict::Verdict verdict) {
  constexpr std::array<Tone, 3> kTones{Tone::good, Tone::bad, Tone::doubtful};
  return kTones[static_cast<std::size_t>(verdict)];
}

/// Of MAD over median: from which on a median deserves suspicion, and from which it says nothing.
[[nodiscard]] constexpr Tone tone_of_spread(double percent) {
  return percent > 10 ? Tone::bad : percent > 5 ? Tone::doubtful : Tone::plain;
}

}  // namespace taskbench::reports::render
