// The answer of `taskbench ladder` as JSON: docs/schema/ladder-v1.schema.json.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "reports/model/ladder.hpp"

namespace taskbench::reports::json {

[[nodiscard]] std::string to_json(model::Ladder ladder);

/// Whether a text is such an answer, complete or damaged.
[[nodiscard]] bool is_ladder(std::string_view text);

/// Reads what was measured; what follows from it is computed again. Throws ReadError (parse.hpp)
/// for what is no such answer, or one of another version; it names `path`.
[[nodiscard]] model::Ladder parse_ladder(const std::filesystem::path& path, std::string_view text);

}  // namespace taskbench::reports::json
