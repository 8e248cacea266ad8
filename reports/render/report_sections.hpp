// The sections of a report, each a function. They add their plots to the document.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "reports/render/document.hpp"
#include "reports/render/report.hpp"
#include "reports/render/report_cases.hpp"

namespace taskbench::reports::render {

/// Most plots of one kind: more of them nobody looks at, and a browser takes long to draw. The
/// tables have what is left out.
inline constexpr std::size_t kMostPlots = 24;

/// Verdicts, the effects with their thresholds, the times of each process.
[[nodiscard]] Section comparison_section(const NamedComparison& comparison, std::size_t number,
                                         bool is_only_one, Document& document);

/// The figures of every case, side by side.
[[nodiscard]] Section results_section(const std::vector<ShownCase>& cases, Document& document);

/// Every sample of every case.
[[nodiscard]] Section distributions_section(const std::vector<ShownCase>& cases,
                                            Document& document);

/// Empty of blocks and parts where nothing was counted.
[[nodiscard]] Section counters_section(const std::vector<ShownCase>& cases, Document& document);

/// Benchmarks that several results have. Without blocks where there are none.
[[nodiscard]] Section history_section(const std::vector<const NamedResult*>& in_order,
                                      const std::vector<ShownCase>& cases, Document& document);

/// Where and how it was measured.
[[nodiscard]] Section environment_section(const std::vector<const NamedResult*>& in_order);

/// What a reader should doubt; empty when nothing is known against the results.
[[nodiscard]] std::vector<Paragraph> warnings(const std::vector<const NamedResult*>& in_order);

/// A cell or paragraph of plain text.
[[nodiscard]] inline Paragraph plain(std::string text) { return {std::move(text), Tone::plain}; }

}  // namespace taskbench::reports::render
