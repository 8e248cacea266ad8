#include "reports/verdict/drift.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>

#include "reports/stats/summary.hpp"

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

// The kernel counts in ticks of 10 ms.
constexpr double kShortestShare_s = 0.5;
constexpr double kShortest_s = 1;  // of all processes together
constexpr double kShortestProcess_s = 0.5;

/// The sum over all processes; empty if it is unknown for one.
template <class Part>
auto sum_of(const std::vector<model::MachineUse>& uses, const Part& part) {
  using Sum = std::decay_t<decltype(part(uses[0]))>;
  Sum sum = uses.empty() ? Sum() : Sum(0);
  for (const model::MachineUse& use : uses) {
    const auto each = part(use);
    if (!each) return Sum();
    *sum += *each;
  }
  return sum;
}

template <class T>
model::Fact<T> fact_of(const std::optional<T>& value, const char* otherwise) {
  return value ? model::Fact<T>::known(*value) : model::Fact<T>::unknown(otherwise);
}

}  // namespace

model::Drift drift_over(std::span<const model::ProcessSample> samples) {
  using Use = model::MachineUse;
  std::vector<Use> uses;
  model::Drift drift;
  for (const model::ProcessSample& sample : samples) {
    if (!sample.machine) continue;
    uses.push_back(*sample.machine);
    drift.seconds += sample.machine->seconds;
  }
  const char* const unknown =
      uses.empty() ? "the journal does not say it" : "the kernel does not say it";
  const auto seconds_of = [&](double model::CpuUse::*part) {
    return sum_of(uses, [&](const Use& use) {
      return use.cpu ? std::optional((*use.cpu).*part) : std::nullopt;
    });
  };
  const auto share = [&](double model::CpuUse::*part) {
    const auto all = seconds_of(&model::CpuUse::total_s);
    const auto used = seconds_of(part);
    if (!all || !used) return model::Fact<double>::unknown(unknown);
    if (*all <= 0 || drift.seconds < kShortestShare_s) {
      return model::Fact<double>::unknown("it was too short for the kernel's ticks");
    }
    return model::Fact<double>::known(std::clamp(*used / *all, 0.0, 1.0));
  };
  drift.stolen_share = share(&model::CpuUse::stolen_s);
  drift.others_share = share(&model::CpuUse::others_s);
  drift.mhz_before = drift.mhz_after =
      model::Fact<double>::unknown("it is not read between the processes of a trial");
  drift.thermal_throttles = fact_of(sum_of(uses, std::mem_fn(&Use::thermal_throttles)), unknown);
  drift.quota_throttles = fact_of(sum_of(uses, std::mem_fn(&Use::quota_throttles)), unknown);
  drift.swapped_pages = fact_of(sum_of(uses, std::mem_fn(&Use::swapped_pages)), unknown);
  return drift;
}

std::vector<Movement> movements(const model::Drift& drift) {
  std::vector<Movement> moved;
  add_share(moved, "stolen_share", drift.stolen_share, kMovedStolenShare, "the hypervisor stole");
  add_share(moved, "others_share", drift.others_share, kMovedOthersShare, "other processes used");
  if (drift.mhz_before && drift.mhz_after && *drift.mhz_before > 0) {
    const double change = *drift.mhz_after / *drift.mhz_before - 1;
    if (std::abs(change) > kMovedMhzShare) {
      moved.push_back(
          {"mhz_after", fmt::format("the clock rate went from {:.0f} to {:.0f} MHz ({:+.1f} %)",
                                    *drift.mhz_before, *drift.mhz_after, 100 * change)});
    }
  }
  add_count(moved, "thermal_throttles", drift.thermal_throttles,
            "a CPU was throttled once because of heat",
            "CPUs were throttled {} times because of heat");
  add_count(moved, "quota_throttles", drift.quota_throttles, "the CPU quota was used up once",
            "the CPU quota was used up {} times");
  add_count(moved, "swapped_pages", drift.swapped_pages, "a page was swapped",
            "{} pages were swapped");
  return moved;
}

std::string drift_warning(const model::Drift& drift) {
  std::string text;
  for (const Movement& each : movements(drift)) {
    text += (text.empty() ? "the machine was disturbed while it measured: " : "; ") + each.text;
  }
  return text;
}

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

model::Fact<Others> others_of(std::span<const model::PairedTrial> trials) {
  std::vector<model::Fact<model::CpuUse>> uses;
  for (const model::PairedTrial& trial : trials) {
    for (const model::ProcessSample& sample : trial.samples) {
      uses.push_back(sample.machine ? sample.machine->cpu : model::Fact<model::CpuUse>{});
    }
  }
  return others_of(uses);
}

}  // namespace taskbench::reports::verdict
