// Counts of instructions against each other, as the forms of `compare`, `ab` and `gate` show them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/render/verdict_table.hpp"
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
[[nodiscard]] std::string not_known_remark(const SharedReason& shared);

/// Those of the rows where they are not known; equal reasons are told once.
template <class Row>
void add_not_known(const std::vector<Row>& rows, std::vector<std::string>& lines) {
  std::vector<std::pair<std::string_view, std::string_view>> reasons;
  for (const Row& row : rows) {
    if (row.instructions) reasons.emplace_back(row.name, row.instructions->reason);
  }
  for (const SharedReason& each : shared_reasons(reasons)) lines.push_back(not_known_remark(each));
}

}  // namespace taskbench::reports::render
