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

/// A sufficient time, rounded up so that it is short both in words and as an option.
struct Enough {
  double count;
  std::string_view option;  ///< "s"
  std::string_view cell;    ///< "s"
  std::string_view word;    ///< "second"
};

/// Adds a margin, since blocks do not all take the same time.
double ample(double seconds) { return 1.2 * seconds; }

Enough enough_for(double seconds) {
  const double enough = ample(seconds);
  if (enough <= 2 * kMinute_s)
    return {std::max(5.0, 5 * std::ceil(enough / 5)), "s", "s", "second"};
  if (enough <= 2 * kHour_s) return {std::ceil(enough / kMinute_s), "m", "min", "minute"};
  return {std::ceil(enough / kHour_s), "h", "h", "hour"};
}

/// "45s", "12m", "3h"
std::string budget_for(double seconds) {
  const Enough enough = enough_for(seconds);
  return fmt::format("{:g}{}", enough.count, enough.option);
}

std::string max_blocks_for(std::size_t blocks, const model::PairedSetup& setup) {
  return blocks > static_cast<std::size_t>(setup.max_blocks)
             ? fmt::format(" --max-blocks {}", blocks)
             : std::string();
}

/// " --repetitions 3 --min-time 0.2ms" if these were fitted into the budget: a greater budget would
/// make them longer again, and blocks slower. Empty otherwise.
std::string sampling_as_fitted(const model::PairedSetup& setup) {
  const model::PairedSetup usual;
  const bool is_usual =
      setup.repetitions == usual.repetitions && setup.min_time_s == usual.min_time_s;
  if (!setup.fits_budget || is_usual) return {};
  return fmt::format(" --repetitions {} --min-time {:g}ms", setup.repetitions,
                     1e3 * setup.min_time_s);
}

/// Duration of this many blocks and everything before them.
double seconds_of(std::size_t blocks, const verdict::Reach& reach) {
  return reach.before_s + reach.block_s * static_cast<double>(blocks);
}

/// The options that give a trial that many blocks.
std::string options_for(std::size_t blocks, const verdict::Reach& reach,
                        const model::PairedSetup& setup) {
  if (!setup.parts.empty()) return "more parts, or more blocks in each";
  std::string text = max_blocks_for(blocks, setup);
  if (reach.blocks < setup.max_blocks) {
    text += fmt::format(" --budget {}{}", budget_for(seconds_of(blocks, reach)),
                        sampling_as_fitted(setup));
    if (setup.benchmarks.size() > 1) text += ", or fewer benchmarks with --workload";
  }
  return text.empty() ? text : text.substr(1);
}

}  // namespace

Effort effort_of(const verdict::MetricVerdict& row, const verdict::Reach& reach) {
  if (row.blocks < 2) return {};
  Effort effort{.kind = Kind::never};
  if (!row.blocks_needed) {
    if (row.needs_layouts()) effort.kind = Kind::layouts;
    return effort;
  }
  const auto so_far = static_cast<std::size_t>(row.blocks);
  // blocks_needed decides four of five cases. If the trial has had as many, this is the fifth case,
  // which half as many more are likely to decide.
  effort.blocks = *row.blocks_needed > so_far ? *row.blocks_needed : so_far + so_far / 2 + 1;
  if (reach.block_s > 0) effort.seconds = seconds_of(effort.blocks, reach);
  const double enough = ample(effort.seconds);
  if (effort.blocks > std::size_t{model::kMostBlocks} || enough > model::kMostBudget_s) {
    return effort;
  }
  effort.kind = enough <= 2 * kHour_s ? Kind::minutes : Kind::hours;
  return effort;
}

std::string effort_cell(const Effort& effort) {
  if (effort.kind == Kind::unknown) return std::string(kNone);
  if (effort.kind == Kind::never) return "> 24 h";
  if (effort.kind == Kind::layouts) return "layouts";
  if (effort.seconds <= 0) return counted(effort.blocks, "block");
  const Enough enough = enough_for(effort.seconds);
  return fmt::format("{:g} {}", enough.count, enough.cell);
}

std::string effort_text(const Effort& effort, const model::PairedSetup& setup) {
  const bool has_others = setup.benchmarks.size() > 1;
  if (effort.kind == Kind::unknown) {
    return "one block does not show how much the times scatter; a longer --budget would";
  }
  if (effort.kind == Kind::never) {
    return fmt::format(
        "not even {} would decide, as the times scatter too much to tell this change from the "
        "threshold; {}a greater --delta or a quieter machine would help",
        setup.parts.empty() ? "a day" : fmt::format("{} blocks", model::kMostBlocks),
        has_others ? "fewer benchmarks (--workload), " : "");
  }
  if (effort.kind == Kind::layouts) {
    const bool are_linked = !setup.base.commit.empty() || !setup.head.commit.empty();
    std::string more;
    if (!are_linked) {
      more = "more of them (further executables of each side), or ";
    } else if (setup.links < model::kMostLayouts) {
      more = fmt::format("more of them (--links {}), or ",
                         std::min(2 * setup.links, model::kMostLayouts));
    }
    return fmt::format(
        "no number of blocks would decide, as the layouts that take turns differ by too much; {}a "
        "greater --delta{} would help",
        more, more.empty() ? "" : ",");
  }
  if (effort.seconds <= 0) {
    return fmt::format(
        "about {} blocks would decide{}", effort.blocks,
        setup.unit == model::Unit::machine ? ", the further ones on other machines" : "");
  }
  const Enough enough = enough_for(effort.seconds);
  std::string text =
      fmt::format("about {} would decide (--budget {}{}{})",
                  counted(static_cast<int>(enough.count), enough.word), budget_for(effort.seconds),
                  max_blocks_for(effort.blocks, setup), sampling_as_fitted(setup));
  if (effort.kind == Kind::hours) {
    text += fmt::format("; with {}a greater --delta or a quieter machine it takes less",
                        has_others ? "fewer benchmarks (--workload), " : "");
  }
  return text;
}

std::string reach_text(const verdict::Reach& reach, const model::PairedSetup& setup) {
  const std::string blocks = counted(reach.blocks, "block");
  if (!reach.least) {
    return fmt::format(
        "no number of blocks can fail anything at --alpha {:g}%: it is less than the test's sign "
        "flips can resolve; give 0.1% or more",
        100 * setup.alpha);
  }
  if (reach.blocks == 0) {
    return fmt::format(
        "no block of {} processes was begun, as there was no time for the {} that it takes to FAIL "
        "anything ({})",
        model::kBlockSize, *reach.least, options_for(*reach.least, reach, setup));
  }
  if (setup.unit == model::Unit::machine) return {};  // machines count: see machine_remarks()
  if (!reach.can_fail()) {
    return fmt::format(
        "{} of {} processes cannot FAIL anything, however much slower head is; that takes {} or "
        "more ({})",
        blocks, model::kBlockSize, *reach.least, options_for(*reach.least, reach, setup));
  }
  if (!reach.steady || reach.is_steady()) return {};
  return fmt::format(
      "with {} of {} processes and {} benchmarks, only a slowdown that shows in every block can "
      "FAIL; with {} blocks, one may be an exception ({})",
      blocks, model::kBlockSize, setup.benchmarks.size(), *reach.steady,
      options_for(*reach.steady, reach, setup));
}

}  // namespace taskbench::reports::render
