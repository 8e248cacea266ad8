#include "reports/render/instructions.hpp"

#include <fmt/format.h>

#include "reports/render/columns.hpp"
#include "reports/render/figures.hpp"

namespace taskbench::reports::render {

InstructionCells instruction_cells(const verdict::InstructionsVerdict& instructions) {
  const std::string none(kNone);
  InstructionCells cells{
      "  its instructions", none, none, none, none, std::string(word(instructions.verdict))};
  if (!instructions.exact) return cells;
  const verdict::ExactChange& exact = *instructions.exact;
  cells.base = with_separators(exact.base, 0);
  cells.head = with_separators(exact.head, 0);
  cells.change = fmt::format("{:+.2f} %", 100 * exact.change);
  cells.spread = exact.repeats ? "exact" : fmt::format("± {:.2f} %", 100 * exact.threshold);
  if (instructions.improved()) cells.verdict += ", fewer";
  return cells;
}

std::string instructions_remark() {
  return fmt::format(
      "Instructions are counted, not timed: more than {:g} % more fail, whatever the times say.",
      100 * verdict::kExactDelta);
}

std::string not_known_remark(const SharedReason& shared) {
  return shared.count == 1
             ? fmt::format("{}: its instructions are not known {}.", shared.name, shared.reason)
             : fmt::format("{} benchmarks: their instructions are not known {}.", shared.count,
                           shared.reason);
}

}  // namespace taskbench::reports::render
