// The report of a paired trial as text. All of it is UTF-8 and ends with a newline.
#pragma once

#include <string>

#include "reports/model/paired.hpp"
#include "reports/render/render.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

/// "PASS", "FAIL", "INCONCLUSIVE"
[[nodiscard]] std::string_view word(verdict::Verdict verdict);

/// A relative change as per cent with its sign: "+10.2 %".
[[nodiscard]] std::string percent_change(double change);

/// The table on a terminal: both times, the change with its interval, p, what could have been seen,
/// and the verdict; below it what each INCONCLUSIVE would take and which counters moved.
[[nodiscard]] std::string table(const model::PairedTrial& trial,
                                const verdict::PairedReport& report, const TableStyle& style);

/// A comment for a pull request: the verdict first, a bar for each benchmark, the table, and, when
/// `reproduce` is not empty, that command.
[[nodiscard]] std::string markdown(const model::PairedTrial& trial,
                                   const verdict::PairedReport& report,
                                   const std::string& reproduce);

}  // namespace taskbench::reports::render
