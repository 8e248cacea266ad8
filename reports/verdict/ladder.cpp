#include "reports/verdict/ladder.hpp"

#include <cmath>

#include "reports/model/lookup.hpp"
#include "reports/stats/summary.hpp"
#include "reports/stats/walsh.hpp"

namespace taskbench::reports::verdict {
namespace {

using Blocks = std::vector<std::vector<double>>;

Gain gain_of(const Blocks& blocks, std::size_t from, std::size_t to) {
  const auto log_ratios =
      model::each_of(blocks, [&](const auto& block) { return std::log(block[from] / block[to]); });
  Gain gain{std::exp(stats::hodges_lehmann(log_ratios))};
  const auto [low, high] = stats::confidence_interval(log_ratios, kLadderConfidence);
  if (std::isfinite(low) && std::isfinite(high)) gain.interval = {std::exp(low), std::exp(high)};
  return gain;
}

}  // namespace

std::vector<LadderVerdict> climb(const model::Ladder& ladder) {
  std::vector<LadderVerdict> verdicts;
  for (const model::LadderWorkload& workload : ladder.workloads) {
    const Blocks& blocks = workload.blocks_ns;
    if (blocks.empty()) continue;
    LadderVerdict& verdict = verdicts.emplace_back();
    verdict.workload = workload.name;
    verdict.blocks = blocks.size();
    for (std::size_t i = 0; i < ladder.rungs.size(); ++i) {
      LadderRow& row = verdict.rows.emplace_back();
      row.median_ns =
          stats::median(model::each_of(blocks, [&](const auto& block) { return block[i]; }));
      if (i == 0) continue;
      row.step = gain_of(blocks, i - 1, i);
      row.total = gain_of(blocks, 0, i);
    }
    verdict.documented = model::element_of(model::kDocumentedTotals, workload.name,
                                           &model::DocumentedTotal::workload);
  }
  return verdicts;
}

}  // namespace taskbench::reports::verdict
