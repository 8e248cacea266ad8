#include "reports/verdict/machines.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "reports/model/lookup.hpp"
#include "reports/model/machine_key.hpp"
#include "reports/stats/power.hpp"
#include "reports/stats/walsh.hpp"

namespace taskbench::reports::verdict {
namespace {

using Groups = std::map<std::size_t, std::vector<double>>;

/// The differences of each machine that has measured anything.
Groups by_machine(const std::vector<double>& differences,
                  const std::vector<std::size_t>& machines) {
  Groups groups;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    groups[machines[i]].push_back(differences[i]);
  }
  return groups;
}

/// In the order of the groups.
std::vector<double> estimates_of(const Groups& groups) {
  return model::each_of(groups,
                        [](const auto& group) { return stats::hodges_lehmann(group.second); });
}

}  // namespace

std::vector<Machine> machines_of(const model::PairedTrial& trial) {
  std::vector<Machine> machines;
  std::map<std::string, std::size_t> places;
  std::map<std::string, std::size_t> kinds;  // by the kinds' first machines
  for (const model::TrialPart& part : trial.setup.parts) {
    const std::size_t place = places.try_emplace(part.machine, machines.size()).first->second;
    if (place == machines.size()) {
      machines.push_back({part.host, model::machine_key({part.kind, {}}), {}, 0});
      kinds.try_emplace(machines.back().kind, place);
    }
    machines[place].parts.push_back(part.number);
    for (std::size_t i = 0; i < trial.samples.size(); i += model::kBlockSize) {
      machines[place].blocks += trial.samples[i].part == part.number ? 1 : 0;
    }
  }
  std::ranges::stable_sort(machines, {}, [&](const Machine& each) { return kinds[each.kind]; });
  return machines;
}

std::vector<std::size_t> machine_of_blocks(const model::PairedTrial& trial,
                                           const std::vector<Machine>& machines) {
  std::map<int, std::size_t> of_part;
  for (std::size_t i = 0; i < machines.size(); ++i) {
    for (const int part : machines[i].parts) of_part[part] = i;
  }
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i + model::kBlockSize <= trial.samples.size(); i += model::kBlockSize) {
    result.push_back(of_part.at(trial.samples[i].part));
  }
  return result;
}

std::vector<double> observations(const std::vector<double>& differences,
                                 const std::vector<std::size_t>& machines, model::Unit unit) {
  if (unit == model::Unit::block) return differences;
  return estimates_of(by_machine(differences, machines));
}

std::vector<MachineEffect> effects_of(const std::vector<double>& differences,
                                      const std::vector<std::size_t>& machines, std::size_t count,
                                      model::Unit unit, double level) {
  const Groups groups = by_machine(differences, machines);
  const std::vector<double> estimates = estimates_of(groups);
  std::vector<MachineEffect> effects(count);
  std::ptrdiff_t place = 0;
  for (const auto& [machine, own] : groups) {
    std::vector<double> others;
    if (unit == model::Unit::machine) {
      others = estimates;
      others.erase(others.begin() + place);
    } else {
      for (std::size_t i = 0; i < differences.size(); ++i) {
        if (machines[i] != machine) others.push_back(differences[i]);
      }
    }
    MachineEffect& effect = effects[machine];
    effect.blocks = static_cast<int>(own.size());
    effect.change = std::expm1(estimates[static_cast<std::size_t>(place++)]);
    const auto interval = stats::confidence_interval(own, level);
    effect.low = finite_change(interval.low);
    effect.high = finite_change(interval.high);
    if (!others.empty()) effect.change_without = std::expm1(stats::hodges_lehmann(others));
  }
  return effects;
}

std::vector<KindEffect> effects_of_kinds(const std::vector<double>& differences,
                                         const std::vector<std::size_t>& machines,
                                         const std::vector<Machine>& all, model::Unit unit,
                                         double level) {
  std::vector<KindEffect> kinds;
  std::vector<std::vector<double>> observed;  // by each kind
  for (const auto& [machine, own] : by_machine(differences, machines)) {
    if (kinds.empty() || kinds.back().kind != all[machine].kind) {  // machines are sorted by kind
      kinds.push_back({.kind = all[machine].kind, .low = {}, .high = {}});
      observed.emplace_back();
    }
    ++kinds.back().machines;
    kinds.back().blocks += static_cast<int>(own.size());
    for (const double each :
         observations(own, std::vector<std::size_t>(own.size(), machine), unit)) {
      observed.back().push_back(each);
    }
  }
  if (kinds.size() < 2) return {};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    kinds[i].change = std::expm1(stats::hodges_lehmann(observed[i]));
    const auto interval = stats::confidence_interval(observed[i], level);
    kinds[i].low = finite_change(interval.low);
    kinds[i].high = finite_change(interval.high);
  }
  return kinds;
}

std::optional<double> with_another(const std::vector<double>& of_unit, std::size_t more,
                                   const MetricVerdict& row, std::size_t workloads) {
  if (of_unit.size() < 2 || row.alpha <= 0) return std::nullopt;
  return finite(stats::minimum_failing_effect(stats::robust_deviation(of_unit),
                                              of_unit.size() + more, row.epsilon, row.delta,
                                              {.alpha = row.alpha, .workloads = workloads}));
}

}  // namespace taskbench::reports::verdict
