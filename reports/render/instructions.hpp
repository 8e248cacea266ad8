// Counts of instructions against each other, as the forms of `compare`, `ab` and `gate` show them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/verdict/exact.hpp"

namespace taskbench::reports::render {

/// The cells of a row below that of the benchmark's times. Those without a count are a dash.
struct InstructionCells {
  std::string title;  ///< "  its instructions"
  std::string base;   ///< per iteration
  std::string head;
  std::string change;   ///< "+0.31 %"
  std::string spread;   ///< "exact", or how far counts of one program are apart: "± 0.40 %"
  std::string verdict;  ///< "PASS, fewer"
};
[[nodiscard]] InstructionCells instruction_cells(const verdict::InstructionsVerdict& instructions);

/// What the row means, a sentence.
[[nodiscard]] std::string instructions_remark();

/// Why they are not known, of the benchmark or of so many with the same reason.
[[nodiscard]] std::string not_known_remark(const std::string& name, const std::string& reason,
                                           std::ptrdiff_t same);

/// That of a row of `rows`, where they are not known; equal reasons are told once.
template <class Row>
void add_not_known(const std::vector<Row>& rows, const Row& row, std::vector<std::string>& lines) {
  if (!row.instructions || row.instructions->reason.empty()) return;
  const std::string& reason = row.instructions->reason;
  const auto same = std::ranges::count_if(rows, [&](const Row& other) {
    return other.instructions && other.instructions->reason == reason;
  });
  std::string line = not_known_remark(row.name, reason, same);
  if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
}

/// With `verdict`, `reason`, `base`, `head`, `change`, `threshold` and `repeats`, null where there
/// is none; null for no verdict at all.
[[nodiscard]] nlohmann::ordered_json instructions_object(
    const std::optional<verdict::InstructionsVerdict>& instructions);

}  // namespace taskbench::reports::render
