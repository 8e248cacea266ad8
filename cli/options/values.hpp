// From the text of an option to its value. Everything here throws UsageError.
#pragma once

#include <cstdint>

#include "cli/names.hpp"

namespace taskbench::cli {

/// "10" → 10, when it lies in [min, max]. `name` is the option or parameter, for the message.
[[nodiscard]] std::uint64_t parse_whole_number(std::string_view name, std::string_view text,
                                               std::uint64_t min, std::uint64_t max);

/// "0.1", "500ms", "10s", "2m" → seconds, when in [min_s, max_s]. Units: us, ms, s, m, h.
[[nodiscard]] double parse_duration_s(std::string_view name, std::string_view text, double min_s,
                                      double max_s);

/// "3%" or "0.03" → 0.03, when in [min, max].
[[nodiscard]] double parse_fraction(std::string_view name, std::string_view text, double min,
                                    double max);

/// A duration in the unit that reads best: "0.1 ms", "10 s", "1 h".
[[nodiscard]] std::string duration_limit_text(double seconds);

/// The items of a comma-separated list that was given once or several times. An empty item and
/// an item given twice are errors: the second measurement would carry the first one's name.
[[nodiscard]] Strings parse_list(std::string_view name, const Strings& given);

/// For a message: at most 60 characters of a text, with "…" for the rest.
[[nodiscard]] std::string shortened(std::string_view text);

}  // namespace taskbench::cli
