// What came of a comparison of two programs, as JSON: docs/schema/paired-v1.schema.json.
#pragma once

#include <string>

#include "reports/model/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::json {

/// Version of the format, for writer and reader.
inline constexpr int kPairedVersion = 1;

/// The setup, the verdicts, and each process's time per benchmark: enough to judge again. The same
/// trial gives the same bytes.
[[nodiscard]] std::string to_json(const model::PairedTrial& trial,
                                  const verdict::PairedReport& report);

/// Both programs are the same; nothing was run.
[[nodiscard]] std::string identical_to_json(const model::PairedSetup& setup);

/// There is nothing to judge.
[[nodiscard]] std::string failure_to_json(const model::PairedSetup& setup,
                                          const model::PairedFailure& failure);

}  // namespace taskbench::reports::json
