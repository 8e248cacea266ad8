// Stored baselines: one JSON file each (docs/schema/baseline-v2.schema.json), the journal of a
// series in progress, and the answers of `taskbench baseline`.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/baseline.hpp"
#include "reports/verdict/baseline.hpp"

namespace taskbench::reports::json {

/// The text of a baseline's file. Equal series give equal bytes.
[[nodiscard]] std::string baseline_file(const model::Series& series);

/// Larger files are refused before they are read.
inline constexpr std::uintmax_t kMaxBaselineBytes = std::uintmax_t{64} << 20;

/// Reads a baseline. Throws ReadError (parse.hpp) if it is not a complete baseline; the message
/// names the file, `path`, and the field, and says what to do.
[[nodiscard]] model::Series parse_baseline(const std::filesystem::path& path,
                                           std::string_view text);

/// Lines of the journal, without the newline: the setup first, then one for each process.
[[nodiscard]] std::string journal_line(const model::SeriesSetup& setup);
[[nodiscard]] std::string journal_line(const model::SeriesProcess& process, std::size_t number);

/// The line that precedes the `round`th measurement of a comparison; the first such round is 2.
[[nodiscard]] std::string round_line(int round);

/// The answer of `taskbench baseline compare`: its result, or the reason for having none.
[[nodiscard]] std::string to_json(const verdict::BaselineComparison& comparison);
[[nodiscard]] std::string to_json(const verdict::BaselineFailure& failure);

/// The answers of `taskbench baseline list` and `show`.
[[nodiscard]] std::string to_json(const std::vector<verdict::StoredBaseline>& list);
[[nodiscard]] std::string to_json(const verdict::StoredBaseline& stored);

/// The state of a series. `path` is for the messages. Throws JournalError.
[[nodiscard]] model::Series parse_series_journal(const std::filesystem::path& path,
                                                 std::string_view content);

}  // namespace taskbench::reports::json
