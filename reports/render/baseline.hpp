// Renders stored baselines, and comparisons with them.
#pragma once

#include <string>
#include <vector>

#include "reports/render/verdict_table.hpp"
#include "reports/verdict/baseline.hpp"

namespace taskbench::reports::render {

/// The figures, followed by remarks and the basis of the figures.
[[nodiscard]] Document document(const verdict::BaselineComparison& comparison);

/// A comment for reviewers, in the same layout as for two programs: see paired.hpp.
[[nodiscard]] Document comment(const verdict::BaselineComparison& comparison,
                               const CommentStyle& style);

/// A row for each benchmark.
[[nodiscard]] Table records(const verdict::BaselineReport& report);

/// "other processes used 0.98 of 2 CPUs, and the hypervisor took 0.20"
[[nodiscard]] std::string others_text(const verdict::Others& others);
/// Like others_text(), or a statement that it is not known.
[[nodiscard]] std::string others_text(const model::Fact<verdict::Others>& others);

/// "the canary's handover took from 340 to 2,110 µs"
[[nodiscard]] std::string moved_cpus_text(const verdict::MovedCpus& moved);

/// The comment for a program that cannot be judged.
[[nodiscard]] Document failure_comment(const verdict::BaselineFailure& failure,
                                       const CommentStyle& style);

/// `taskbench baseline list`: a line for each baseline.
[[nodiscard]] Document document(const std::vector<verdict::StoredBaseline>& list);

/// `taskbench baseline show`: the fields of its key, its canary, and each benchmark's spread.
[[nodiscard]] Document document(const verdict::StoredBaseline& stored);

}  // namespace taskbench::reports::render
