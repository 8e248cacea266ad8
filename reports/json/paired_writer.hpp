// The report of a paired trial as JSON.
#pragma once

#include <string>

#include "reports/model/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::json {

/// The setup, the verdicts, and each process's time per benchmark: enough to judge again. The same
/// trial gives the same bytes.
[[nodiscard]] std::string to_json(const model::PairedTrial& trial,
                                  const verdict::PairedReport& report);

}  // namespace taskbench::reports::json
