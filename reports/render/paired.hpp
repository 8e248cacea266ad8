// The report of a paired trial as text: UTF-8, with a trailing newline.
#pragma once

#include <string>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

/// The command, or the commit and the revision that named it: "a94a8fe5ccb1 (main)".
[[nodiscard]] std::string program_text(const model::PairedProgram& program);

/// The verdict, both times, the change with its interval, p, and the detectable change; followed by
/// what would decide each INCONCLUSIVE.
[[nodiscard]] Document document(const model::PairedTrial& trial,
                                const verdict::PairedReport& report);

/// The report piece by piece, for callers that lay it out themselves.
[[nodiscard]] VerdictText verdict_text(const model::PairedTrial& trial,
                                       const verdict::PairedReport& report);

/// The message of a program, and the end of the log of its build.
[[nodiscard]] std::vector<Block> failure_blocks(const model::PairedFailure& failure);

/// The verdict in a sentence, without its full stop, or why there is none.
[[nodiscard]] std::string headline_of(const verdict::PairedFile& file);

[[nodiscard]] Document document(const verdict::PairedFile& file);

/// A comment for a pull request: the verdict in a sentence, what fails and why, what is undecided
/// and what would decide it; folded, the method and the figures. Without a verdict: what failed,
/// how, and the last lines of the log.
[[nodiscard]] Document comment(const verdict::PairedFile& file, const CommentStyle& style);

/// A row for each metric of each benchmark: times in ns and instructions, per iteration.
[[nodiscard]] Table records(const verdict::PairedReport& report);

}  // namespace taskbench::reports::render
