// How a paired trial was measured and judged, in sentences for the end of a report.
#pragma once

#include <map>
#include <string>

#include "reports/model/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

/// "3.0 %", or from the least to the greatest if a noise floor is higher.
[[nodiscard]] std::string threshold_text(const model::PairedSetup& setup,
                                         const verdict::PairedReport& report);

/// Whether a failure by time may be due to code layout: there is one executable per side, and its
/// effect has not been measured.
[[nodiscard]] bool may_be_layout(const model::PairedTrial& trial,
                                 const verdict::PairedReport& report);

/// The drawback of one executable per side, and the remedy.
[[nodiscard]] std::string one_layout_text(const model::PairedSetup& setup);

/// " Noise floor: 1.0 %, assumed: …." A sentence for each source of floors.
[[nodiscard]] std::string noise_floors_text(const std::map<std::string, model::NoiseFloor>& floors);

/// The number of blocks, the criteria of FAIL and PASS, and all else that the verdict rests on.
/// `layout_aside`: as may_be_layout() says, so that a remark is about it.
[[nodiscard]] std::string basis(const model::PairedTrial& trial,
                                const verdict::PairedReport& report, bool layout_aside);

}  // namespace taskbench::reports::render
