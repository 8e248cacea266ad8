#include "reports/render/effort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/render/numbers.hpp"

namespace taskbench::reports::render {
namespace {

using Kind = Effort::Kind;

constexpr double kMinute_s = 60;
constexpr double kHour_s = 3600;

/// Adds a margin, since blocks do not all take the same time.
double ample(double seconds) { return 1.2 * seconds; }

/// "45s", "12m", "3h"
std::string budget_for(double seconds) {
  const double enough = ample(seconds);
  if (enough <= 2 * kMinute_s)
    return fmt::format("{:g}s", std::max(5.0, 5 * std::ceil(enough / 5)));
  if (enough <= 2 * kHour_s) return fmt::format("{:g}m", std::ceil(enough / kMinute_s));
  return fmt::format("{:g}h", std::ceil(enough / kHour_s));
}

std::string max_blocks_for(std::size_t blocks, const model::PairedSetup& setup) {
  return blocks > static_cast<std::size_t>(setup.max_blocks)
             ? fmt::format(" --max-blocks {}", blocks)
             : std::string();
}

/// The options that give a trial that many blocks.
std::string options_for(std::size_t blocks, const verdict::Reach& reach,
                        const model::PairedSetup& setup) {
  std::string text = max_blocks_for(blocks, setup);
  if (reach.blocks < setup.max_blocks) {
    const double budget_s = reach.block_s * static_cast<double>(blocks);
    text += fmt::format(" --budget {}", budget_for(budget_s));
    if (setup.benchmarks.size() > 1) text += ", or fewer benchmarks with --workload";
  }
  return text.empty() ? text : text.substr(1);
}

std::size_t minutes_of(double seconds) {
  return static_cast<std::size_t>(std::max(1.0, std::ceil(ample(seconds) / kMinute_s)));
}

std::size_t hours_of(double seconds) {
  return static_cast<std::size_t>(std::ceil(ample(seconds) / kHour_s));
}

}  // namespace

Effort effort_of(const verdict::MetricVerdict& row, const verdict::Reach& reach) {
  if (row.blocks < 2) return {};
  Effort effort{.kind = Kind::never};
  if (!row.blocks_needed) return effort;
  const auto so_far = static_cast<std::size_t>(row.blocks);
  // With blocks_needed, four of five cases are decided. If the trial has had as many, this is the
  // fifth case, which half as many more are likely to decide.
  effort.blocks = *row.blocks_needed > so_far ? *row.blocks_needed : so_far + so_far / 2 + 1;
  effort.seconds = reach.block_s * static_cast<double>(effort.blocks);
  const double enough = ample(effort.seconds);
  if (effort.blocks > std::size_t{model::kMostBlocks} || enough > model::kMostBudget_s) {
    return effort;
  }
  effort.kind = enough <= 2 * kHour_s ? Kind::minutes : Kind::hours;
  return effort;
}

std::string effort_cell(const Effort& effort) {
  switch (effort.kind) {
    case Kind::minutes:
      if (effort.seconds > 0) return fmt::format("{} min", minutes_of(effort.seconds));
      return counted(effort.blocks, "block");
    case Kind::hours:
      return fmt::format("{} h", hours_of(effort.seconds));
    case Kind::never:
      return "> 24 h";
    case Kind::unknown:
      break;
  }
  return std::string(kNone);
}

std::string effort_text(const Effort& effort, const model::PairedSetup& setup) {
  const std::string options = fmt::format("--budget {}{}", budget_for(effort.seconds),
                                          max_blocks_for(effort.blocks, setup));
  const bool has_others = setup.benchmarks.size() > 1;
  switch (effort.kind) {
    case Kind::minutes:
      if (effort.seconds <= 0) return fmt::format("about {} blocks would decide", effort.blocks);
      return fmt::format("about {} would decide ({})",
                         counted(minutes_of(effort.seconds), "minute"), options);
    case Kind::hours:
      return fmt::format(
          "about {} would decide ({}); with {}a greater --delta or a quieter machine "
          "it takes less",
          counted(hours_of(effort.seconds), "hour"), options,
          has_others ? "fewer benchmarks (--workload), " : "");
    case Kind::never:
      return fmt::format(
          "not even a day would decide, as the change is too near to what would fail for times "
          "that scatter so much; a greater --delta would{}",
          has_others ? ", or fewer benchmarks (--workload), or a quieter machine"
                     : ", or a quieter machine");
    case Kind::unknown:
      break;
  }
  return "one block of four processes does not show how much the times scatter; a longer --budget "
         "would";
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
      "allow for an exception ({})",
      blocks, setup.benchmarks.size(), *reach.steady, options_for(*reach.steady, reach, setup));
}

}  // namespace taskbench::reports::render
