// What came of a comparison of two programs, as JSON: docs/schema/paired-v1.schema.json.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "reports/model/paired.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::json {

/// The setup, the verdicts, and each process's time per benchmark: enough to judge again. The same
/// trial gives the same bytes.
[[nodiscard]] std::string to_json(const model::PairedTrial& trial,
                                  const verdict::PairedReport& report);

/// Both programs are the same; nothing was run.
[[nodiscard]] std::string identical_to_json(const model::PairedSetup& setup);

/// There is nothing to judge.
[[nodiscard]] std::string failure_to_json(const model::PairedSetup& setup,
                                          const model::PairedFailure& failure);

/// Whether the text is meant to be the report of a comparison of two programs, whole or not.
[[nodiscard]] bool is_paired_report(std::string_view text);

/// Throws ReadError (reader.hpp) for what is no such report, or one of another version. `path` is
/// for the messages.
[[nodiscard]] verdict::PairedFile parse_paired_report(const std::filesystem::path& path,
                                                      std::string_view text);

}  // namespace taskbench::reports::json
