#include "reports/render/undecided.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "reports/render/figures.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::render {
namespace {

/// With a fifth on top, for blocks do not all take the same time: "45s", "12m".
std::string budget_for(double seconds) {
  const double ample = 1.2 * seconds;
  if (ample <= 120) return fmt::format("{:g}s", std::max(5.0, 5 * std::ceil(ample / 5)));
  return fmt::format("{:g}m", std::ceil(ample / 60));
}

/// The options that give a trial so many blocks.
std::string options_for(std::size_t blocks, const verdict::Reach& reach,
                        const model::PairedSetup& setup) {
  std::string text;
  if (blocks > static_cast<std::size_t>(setup.max_blocks)) {
    text = fmt::format("--max-blocks {}", blocks);
  }
  if (reach.blocks < setup.max_blocks) {
    const double budget_s = reach.block_s * static_cast<double>(blocks);
    text += fmt::format("{}--budget {}", text.empty() ? "" : " ", budget_for(budget_s));
    if (setup.benchmarks.size() > 1) text += ", or fewer benchmarks with --workload";
  }
  return text;
}

}  // namespace

std::string why_undecided(const verdict::MetricVerdict& row) {
  if (row.blocks < 2) return "one block does not show how noisy it is";
  const std::string matters = fmt::format("the {} that {}", percent(row.delta),
                                          row.delta > row.epsilon ? "matter" : "are noise here");
  if (!row.blocks_needed) return fmt::format("the change lies too near to {}", matters);
  if (*row.blocks_needed > static_cast<std::size_t>(row.blocks)) {
    return fmt::format("if the change is what it seems, about {} blocks tell it from {}",
                       with_separators(std::uint64_t{*row.blocks_needed}), matters);
  }
  // So many blocks decide it in four of five cases; this is the fifth.
  if (row.change >= row.delta) {
    return fmt::format(
        "it missed a FAIL narrowly, with p = {:.4f} where less than {:.4f} is asked for; a few "
        "blocks more are likely to decide it",
        row.p_adjusted, row.alpha);
  }
  return fmt::format(
      "it missed a PASS narrowly, for its upper bound is not below {}; a few blocks more are "
      "likely to decide it",
      matters);
}

std::string reach_text(const verdict::Reach& reach, const model::PairedSetup& setup) {
  const std::string blocks = counted(static_cast<std::size_t>(reach.blocks), "block");
  if (!reach.least) {
    return fmt::format(
        "no number of blocks can fail anything at --alpha {:g}%: it is less than the test's sign "
        "flips can tell; give 0.1% or more",
        100 * setup.alpha);
  }
  if (!reach.can_fail()) {
    return fmt::format("{} can fail nothing, however much slower head is; a FAIL takes {} ({})",
                       blocks, *reach.least, options_for(*reach.least, reach, setup));
  }
  if (!reach.steady || reach.is_steady()) return {};
  return fmt::format(
      "of {} and {} benchmarks, only a slowdown that shows in every block can FAIL; {} blocks "
      "allow "
      "for an exception ({})",
      blocks, setup.benchmarks.size(), *reach.steady, options_for(*reach.steady, reach, setup));
}

}  // namespace taskbench::reports::render
