// Stored baselines, and comparisons with them, as text. UTF-8, ends with a newline.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/model/baseline.hpp"
#include "reports/render/render.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/verdict/baseline.hpp"

namespace taskbench::reports::render {

/// The table for a terminal; below it what the figures do not show, and what they rest on.
[[nodiscard]] std::string table(const verdict::BaselineComparison& comparison,
                                const TableStyle& style);

/// A comment for reviewers, in the same layout as for two programs: see paired.hpp.
[[nodiscard]] std::string markdown(const verdict::BaselineComparison& comparison,
                                   const CommentStyle& style);

/// A row for each benchmark, with a header line.
[[nodiscard]] std::string csv(const verdict::BaselineReport& report);

/// "other processes used 0.98 of 2 CPUs, and the hypervisor took 0.20"
[[nodiscard]] std::string others_text(const verdict::Others& others);
/// Like others_text(), or that it is not known.
[[nodiscard]] std::string others_text(const model::Fact<verdict::Others>& others);

/// "the canary's handover took from 340 to 2,110 µs"
[[nodiscard]] std::string moved_cpus_text(const verdict::MovedCpus& moved);

/// The comment if there is nothing to judge.
[[nodiscard]] std::string failure_markdown(const verdict::BaselineFailure& failure,
                                           const CommentStyle& style);
/// `taskbench baseline list`: a line for each.
[[nodiscard]] std::string table(const std::vector<verdict::StoredBaseline>& list,
                                const TableStyle& style);
/// `taskbench baseline show`: the fields of its key, its canary, and each benchmark's spread.
[[nodiscard]] std::string details(const verdict::StoredBaseline& stored, const TableStyle& style);
}  // namespace taskbench::reports::render
