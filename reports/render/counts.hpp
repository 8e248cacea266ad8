// Exact counts as text: the kinds of instructions next to a verdict, and the explanation of a
// failure.
#pragma once

#include <string>
#include <vector>

#include "reports/render/verdict_text.hpp"
#include "reports/verdict/exact.hpp"
#include "reports/verdict/paired.hpp"

namespace taskbench::reports::render {

/// Adds a row for each kind whose count has changed, the largest growth first. If one fails, so
/// does the benchmark; its verdict is then about that kind, unless another metric failed before.
void add_kinds(std::vector<verdict::KindVerdict> kinds, const Cells& titles,
               VerdictText::Benchmark& benchmark);

/// Sentences, after a blank, on the counts and how they are judged; empty if there are none.
[[nodiscard]] std::string counts_basis(const model::PairedSetup& setup);

/// Unrequested counts that have grown, which is not a failure, and missing counts with the reason.
[[nodiscard]] Sentences uncounted_remarks(const model::PairedTrial& trial,
                                          const verdict::PairedReport& report);

/// Why kinds of instructions were not counted, a sentence for each reason.
[[nodiscard]] Sentences missing_kinds(const model::PairedTrial& trial);

/// Explains failures by counts, in at most twenty lines: for each benchmark the change of its
/// instructions, the functions that grew most, and other changes. Empty if no explanation was
/// requested.
[[nodiscard]] Sentences explanation_lines(const model::PairedTrial& trial,
                                          const verdict::PairedReport& report);

}  // namespace taskbench::reports::render
