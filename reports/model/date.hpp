// Durations, and dates as files hold them: RFC 3339, or older forms of Google Benchmark without a
// zone, which are taken to be UTC. A file may contain any other text instead.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace taskbench::reports::model {

/// The instant; empty if the text is not such a date.
[[nodiscard]] std::optional<std::chrono::sys_seconds> instant_of(std::string_view date);

/// "2026-03-14"; the whole text if it is not a date.
[[nodiscard]] std::string day_of(std::string_view date);

/// "08:15:00"; empty if the text is not a date.
[[nodiscard]] std::string time_of_day(std::string_view date);

/// "8 s", "2 min 05 s", "1 h 07 min".
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace taskbench::reports::model
