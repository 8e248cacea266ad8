// What is not known is written as null, never as a value that means "unknown".
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace taskbench::reports::json {

/// The text of a key that may be missing, null, or something else.
[[nodiscard]] std::string text_or_empty(const nlohmann::ordered_json& object, const char* key);

[[nodiscard]] nlohmann::ordered_json text_or_null(std::string_view text);

/// A number that is not finite is not known either.
[[nodiscard]] nlohmann::ordered_json number_or_null(std::optional<double> number);

/// Whole numbers, which are written without a point.
[[nodiscard]] nlohmann::ordered_json count_or_null(std::optional<std::size_t> count);

}  // namespace taskbench::reports::json
