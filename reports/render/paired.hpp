// The report of a paired trial as text. All of it is UTF-8 and ends with a newline.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/render/render.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

/// The command, or the commit and the revision that named it: "a94a8fe5ccb1 (main)".
[[nodiscard]] std::string program_text(const model::PairedProgram& program);

/// " Noise floor: 1.0 %, assumed: ….", with what each is known from; a sentence for each source.
[[nodiscard]] std::string noise_floors_text(const std::map<std::string, model::NoiseFloor>& floors);

/// The table on a terminal: both times, the change with its interval, p, what could have been seen,
/// and the verdict; below it what each INCONCLUSIVE would take and which counters moved.
[[nodiscard]] std::string table(const model::PairedTrial& trial,
                                const verdict::PairedReport& report, const TableStyle& style);

/// Piece by piece, for those that lay it out themselves.
[[nodiscard]] VerdictText verdict_text(const model::PairedTrial& trial,
                                       const verdict::PairedReport& report);

/// "head does not build"
[[nodiscard]] std::string what_failed(const model::PairedFailure& failure);

/// A comment for a pull request: the verdict first, a bar for each benchmark, what a reader should
/// know of them, the figures, and how to reproduce them.
[[nodiscard]] std::string markdown(const model::PairedTrial& trial,
                                   const verdict::PairedReport& report, const CommentStyle& style);

/// The comment where both programs are the same, so that nothing was run.
[[nodiscard]] std::string identical_markdown(const model::PairedSetup& setup,
                                             const CommentStyle& style);

/// The comment where there is nothing to judge: who failed, how, and the last lines of its log.
[[nodiscard]] std::string failure_markdown(const model::PairedSetup& setup,
                                           const model::PairedFailure& failure,
                                           const CommentStyle& style);

// Why a paired trial has not decided something, and what would.

/// "if the change is what it seems, about 12 blocks tell it from the 3.0 % that matter"
[[nodiscard]] std::string why_undecided(const verdict::MetricVerdict& row);

/// What a trial that ends after so many blocks cannot do, and the option that would let it: "3
/// blocks can fail nothing, …". Empty where nothing stands in the way.
[[nodiscard]] std::string reach_text(const verdict::Reach& reach, const model::PairedSetup& setup);

}  // namespace taskbench::reports::render
