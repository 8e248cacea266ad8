// What was counted exactly, as text: the kinds of instructions beside a verdict, and what explains
// a failure.
#pragma once

#include <string>
#include <vector>

#include "reports/render/verdict_text.hpp"
#include "reports/verdict/exact.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

/// Adds a row for each kind whose count has changed, the one that grew most first. If one fails, so
/// does the benchmark; it is the metric of its verdict unless another has failed before.
void add_kinds(std::vector<verdict::KindVerdict> kinds, const Cells& titles,
               VerdictText::Benchmark& benchmark);

/// Sentences, after a blank, on what is counted and judged; empty if nothing is.
[[nodiscard]] std::string counts_basis(const model::PairedSetup& setup);

/// What was counted unasked and has grown, which is no failure, and what was not counted, and why.
[[nodiscard]] Sentences uncounted_remarks(const model::PairedTrial& trial,
                                          const verdict::PairedReport& report);

/// Why kinds of instructions were not counted, a sentence for each reason.
[[nodiscard]] Sentences missing_kinds(const model::PairedTrial& trial);

/// What explains the failures and what was counted, at most twenty lines: of each benchmark the
/// change of its instructions, the functions that grew most, and what else moved. Empty if nothing
/// was asked to explain it.
[[nodiscard]] Sentences explanation_lines(const model::PairedTrial& trial,
                                          const verdict::PairedReport& report);

}  // namespace taskbench::reports::render
