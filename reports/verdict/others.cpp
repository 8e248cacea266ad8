#include "reports/verdict/others.hpp"

#include <algorithm>
#include <vector>

#include "reports/stats/summary.hpp"

namespace taskbench::reports::verdict {
namespace {

constexpr double kShortest_s = 1;  // of all processes together; the kernel counts in ticks of 10 ms
constexpr double kShortestProcess_s = 0.5;

}  // namespace

model::Fact<Others> others_of(std::span<const model::Fact<model::CpuUse>> uses) {
  double seconds = 0;
  Others others;
  std::vector<double> each;
  for (const auto& use : uses) {
    if (!use) return model::Fact<Others>::unknown(use.reason);
    seconds += use->seconds;
    others.cpus += use->total_s;
    others.used += use->others_s;
    others.stolen += use->stolen_s;
    if (use->seconds >= kShortestProcess_s) {
      each.push_back((use->others_s + use->stolen_s) / use->seconds);
    }
  }
  if (seconds < kShortest_s) {
    return model::Fact<Others>::unknown(
        "the processes took less than a second, too short for the kernel's counts");
  }
  others.cpus /= seconds;
  others.used = std::max(0.0, others.used / seconds);
  others.stolen = std::max(0.0, others.stolen / seconds);
  others.taken = others.used + others.stolen;
  if (each.size() == uses.size()) others.taken = std::max(others.taken, stats::median(each));
  return model::Fact<Others>::known(others);
}

}  // namespace taskbench::reports::verdict
