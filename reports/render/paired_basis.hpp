// How a paired trial was measured and judged, in sentences: what stands below its figures.
#pragma once

#include <map>
#include <string>

#include "reports/model/paired.hpp"
#include "reports/render/verdict_text.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

/// "3.0 %", or from the least to the greatest if a noise floor is higher.
[[nodiscard]] std::string threshold_text(const model::PairedSetup& setup,
                                         const verdict::PairedReport& report);

/// Whether something fails by its time that may be code layout: there is one executable of each
/// side, and nobody has measured how much that is.
[[nodiscard]] bool may_be_layout(const model::PairedTrial& trial,
                                 const verdict::PairedReport& report);

/// What one executable of each side costs, and what to do about it.
[[nodiscard]] std::string one_layout_text(const model::PairedSetup& setup);

/// " Noise floor: 1.0 %, assumed: …." A sentence for each source of floors.
[[nodiscard]] std::string noise_floors_text(const std::map<std::string, model::NoiseFloor>& floors);

/// How many blocks there were, when something fails or passes, and all else that the verdict rests
/// on.
[[nodiscard]] std::string basis(const model::PairedTrial& trial,
                                const verdict::PairedReport& report);

}  // namespace taskbench::reports::render
