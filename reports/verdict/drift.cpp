#include "reports/verdict/drift.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace taskbench::reports::verdict {
namespace {

void add_share(std::vector<Movement>& moved, const char* quantity, const model::Fact<double>& share,
               double threshold, const char* what) {
  if (!share || *share <= threshold) return;
  moved.push_back({quantity, fmt::format("{} {:.1f} % of the CPU time (above {:g} %)", what,
                                         100 * *share, 100 * threshold)});
}

void add_count(std::vector<Movement>& moved, const char* quantity,
               const model::Fact<std::int64_t>& count, const char* once, const char* often) {
  if (!count || *count <= 0) return;
  moved.push_back(
      {quantity, *count == 1 ? std::string(once) : fmt::format(fmt::runtime(often), *count)});
}

}  // namespace

std::vector<Movement> movements(const model::Drift& drift) {
  std::vector<Movement> moved;
  add_share(moved, "stolen_share", drift.stolen_share, kMovedStolenShare, "the hypervisor stole");
  add_share(moved, "others_share", drift.others_share, kMovedOthersShare, "other processes used");
  if (drift.mhz_before && drift.mhz_after && *drift.mhz_before > 0) {
    const double change = *drift.mhz_after / *drift.mhz_before - 1;
    if (std::abs(change) > kMovedMhzShare) {
      moved.push_back(
          {"mhz_after", fmt::format("the clock rate went from {:.0f} to {:.0f} MHz "
                                    "({:+.1f} %)",
                                    *drift.mhz_before, *drift.mhz_after, 100 * change)});
    }
  }
  add_count(moved, "thermal_throttles", drift.thermal_throttles,
            "a CPU was slowed down once for its heat",
            "CPUs were slowed down {} times for their heat");
  add_count(moved, "quota_throttles", drift.quota_throttles, "the CPU quota was used up once",
            "the CPU quota was used up {} times");
  add_count(moved, "swapped_pages", drift.swapped_pages, "a page was swapped",
            "{} pages were swapped");
  return moved;
}

std::string drift_warning(const model::Drift& drift) {
  std::string text;
  for (const Movement& each : movements(drift)) {
    text += (text.empty() ? "the machine moved while it measured: " : "; ") + each.text;
  }
  return text;
}

}  // namespace taskbench::reports::verdict
