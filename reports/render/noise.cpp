#include "reports/render/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/page.hpp"
#include "reports/render/sentences.hpp"
#include "reports/verdict/noise.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::array<double, 4> kBudgets_s{60, 120, 300, 600};
constexpr double kMostBlocks = model::kDefaultMaxBlocks;

}  // namespace

std::string table(const model::NoiseCalibration& noise, const TableStyle& style) {
  const model::PairedSetup defaults;
  std::vector<Cells> rows{{"benchmark", "noise floor", "of a block"}};
  for (const double budget_s : kBudgets_s) add(rows[0], "seen in {:g} min", budget_s / 60);
  for (const auto& [name, each] : noise.benchmarks) {
    Cells row{name, percent(each.epsilon), percent(std::expm1(each.deviation))};
    for (const double budget_s : kBudgets_s) {
      const auto blocks = static_cast<std::size_t>(std::min(kMostBlocks, budget_s / noise.block_s));
      const auto seen = verdict::detectable(each, noise.benchmarks.size(), blocks, defaults.alpha,
                                            defaults.delta);
      row.push_back(percent(seen));
    }
    rows.push_back(std::move(row));
  }
  Page page(style);
  page.table(rows);
  page.line();
  const std::size_t trials =
      noise.benchmarks.empty() ? 0 : noise.benchmarks.begin()->second.effects.size();
  page.paragraph(
      fmt::format(
          "{} trials of {} blocks, {} copies of one build against each other; a block takes "
          "{:.1f} s, and a trial has at most {:g}. Noise floor: differences below it are no reason "
          "to fail. Of a block: standard deviation of what a block finds. Seen: a slowdown of so "
          "much fails in four of five trials of all these benchmarks.",
          trials, noise.blocks, noise.copies.size(), noise.block_s, kMostBlocks),
      kPlain, "  ");
  return std::move(page).text();
}

}  // namespace taskbench::reports::render
