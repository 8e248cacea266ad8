#include "reports/render/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "reports/model/paired.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/sentences.hpp"
#include "reports/verdict/noise.hpp"

namespace taskbench::reports::render {
namespace {

constexpr std::array<double, 4> kBudgets_s{60, 120, 300, 600};
constexpr double kMostBlocks = model::kDefaultMaxBlocks;

}  // namespace

Document document(const model::NoiseCalibration& noise) {
  const model::PairedSetup defaults;
  const auto part = [](double value) { return Cell(percent(value), Tone::plain, value); };
  std::vector<std::string> titles{"benchmark", "noise floor", "of a block"};
  for (const double budget_s : kBudgets_s) add(titles, "seen in {:g} min", budget_s / 60);
  Table table{.columns = named_figures(std::move(titles))};
  for (const auto& [name, each] : noise.benchmarks) {
    Row& row = table.add({name, part(each.epsilon), part(std::expm1(each.deviation))});
    for (const double budget_s : kBudgets_s) {
      const auto blocks = static_cast<std::size_t>(std::min(kMostBlocks, budget_s / noise.block_s));
      const auto seen = verdict::detectable(each, noise.benchmarks.size(), blocks, defaults.alpha,
                                            defaults.delta);
      row.cells.emplace_back(percent(seen), Tone::plain, seen);
    }
  }
  const std::size_t trials =
      noise.benchmarks.empty() ? 0 : noise.benchmarks.begin()->second.effects.size();
  const Paragraph basis(
      fmt::format(
          "{} trials of {} blocks, {} copies of one build against each other; a block takes "
          "{:.1f} s, and a trial has at most {:g}. Noise floor: differences below it do not fail. "
          "Of a block: standard deviation of what a block finds. Seen: a slowdown of this size "
          "fails in four of five trials of all these benchmarks.",
          trials, noise.blocks, noise.copies.size(), noise.block_s, kMostBlocks),
      Tone::quiet);
  return {"", {}, {{"result", "", {std::move(table), basis}}}, {}};
}

}  // namespace taskbench::reports::render
