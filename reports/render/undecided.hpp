// Why a paired trial has not decided something, and what would.
#pragma once

#include <string>

#include "reports/model/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

/// "if the change is what it seems, about 12 blocks tell it from the 3.0 % that matter"
[[nodiscard]] std::string why_undecided(const verdict::MetricVerdict& row);

/// What a trial that ends after so many blocks cannot do, and the option that would let it: "3
/// blocks can fail nothing, …". Empty where nothing stands in the way.
[[nodiscard]] std::string reach_text(const verdict::Reach& reach, const model::PairedSetup& setup);

}  // namespace taskbench::reports::render
