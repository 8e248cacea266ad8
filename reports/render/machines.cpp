#include "reports/render/machines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "reports/render/bars.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/verdict_text.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::BenchmarkVerdict;
using verdict::ByMachine;
using verdict::Machine;
using verdict::PairedReport;
using verdict::Verdict;

/// Effects differ between machines if chance explains that in at most one of twenty trials.
constexpr double kDiffering = 0.05;

/// "2: runner-a"
std::string name_of(const PairedReport& report, std::size_t machine) {
  return fmt::format("{}: {}", machine + 1, report.machines[machine].host);
}

std::size_t kinds_in(const PairedReport& report) {
  std::set<std::string> kinds;
  for (const Machine& each : report.machines) kinds.insert(each.kind);
  return kinds.size();
}

/// The share of a machine in the estimate.
double share_of(const ByMachine& by, std::size_t machine, model::Unit unit) {
  double all = 0;
  for (const auto& each : by.machines) {
    all += unit == model::Unit::block ? each.blocks : (each.blocks > 0 ? 1 : 0);
  }
  return (unit == model::Unit::block ? by.machines[machine].blocks : 1) / all;
}

void add_missing(const model::PairedSetup& setup, Sentences& lines) {
  if (setup.parts.empty()) return;  // an edited report
  std::vector<int> missing;
  for (int number = 1; number <= setup.parts.front().of; ++number) {
    if (!model::contains(setup.parts, number, &model::TrialPart::number)) missing.push_back(number);
  }
  if (missing.empty()) return;
  add(lines, "{} of {} parts {} missing: {}. The verdict rests on the blocks of the others.",
      missing.size(), setup.parts.front().of, missing.size() == 1 ? "is" : "are",
      fmt::join(missing, ", "));
}

/// "1 FAIL (sort), 2 PASS"
std::string other_verdicts(const PairedReport& report) {
  std::string text;
  for (const Verdict verdict : {Verdict::fail, Verdict::inconclusive, Verdict::pass}) {
    std::vector<std::string> names;
    for (const BenchmarkVerdict& row : report.benchmarks) {
      if (row.by_machine && row.by_machine->other.verdict == verdict) names.push_back(row.name);
    }
    if (names.empty()) continue;
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", names.size(), word(verdict),
                        verdict == Verdict::pass ? "" : fmt::format(" ({})", names_text(names, 3)));
  }
  return text;
}

void add_other_question(const model::PairedTrial& trial, const PairedReport& report,
                        Sentences& lines) {
  const std::size_t machines = verdict::machines_with_blocks(report.machines);
  if (trial.setup.unit == model::Unit::machine) {
    add(lines,
        "The verdict is about machines like these {}: each is one observation. About these "
        "machines alone, all blocks pooled: {}.",
        machines, other_verdicts(report));
    const auto least = verdict::reach_of(trial, report.blocks).least;
    if (least && machines < *least) {
      add(lines, "{} cannot FAIL anything, however much slower head is; that takes {} or more.",
          counted(machines, "machine"), *least);
    }
  } else if (machines < verdict::kEnoughMachines) {
    add(lines,
        "The verdict is about {}: all blocks are pooled. With {} machines or more it would be "
        "about others like {}, too.",
        machines == 1 ? "this machine" : fmt::format("these {} machines", machines),
        verdict::kEnoughMachines, machines == 1 ? "it" : "them");
  } else {
    add(lines,
        "The verdict is about these {} machines: all blocks are pooled. About machines like these, "
        "each being one observation: {}.",
        machines, other_verdicts(report));
  }
}

void add_differing(model::Unit unit, const PairedReport& report, Sentences& lines) {
  std::vector<std::string> differing;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    if (!row.by_machine || row.by_machine->p_equal > kDiffering) continue;
    differing.push_back(fmt::format("{} by ±{}", row.name, percent(row.by_machine->spread)));
  }
  if (differing.empty()) return;
  add(lines, "The effect differs between the machines: {} (standard deviation){}.",
      names_text(differing),
      unit == model::Unit::block
          ? "; what is FAIL here need not be slower elsewhere, and a PASS may be slower there"
          : "");
}

void add_another(const PairedReport& report, Sentences& lines) {
  const BenchmarkVerdict* hardest = nullptr;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    const bool is_known =
        row.by_machine && row.detectable && row.by_machine->detectable_with_another;
    if (!is_known || row.verdict != Verdict::inconclusive) continue;
    if (hardest == nullptr || *row.detectable > *hardest->detectable) hardest = &row;
  }
  if (hardest == nullptr) return;
  add(lines,
      "Another machine with as many blocks as each of these would make {} detectable in {}, "
      "in place of {}.",
      percent(*hardest->by_machine->detectable_with_another), hardest->name,
      percent(*hardest->detectable));
}

}  // namespace

std::vector<const BenchmarkVerdict*> shown_by_machine(const PairedReport& report) {
  std::vector<const BenchmarkVerdict*> shown;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    if (row.by_machine) shown.push_back(&row);
  }
  const auto urgency = [](const BenchmarkVerdict* row) {
    const int group = fails(*row) ? 0 : row->verdict == Verdict::inconclusive ? 1 : 2;
    return std::tuple(group, row->by_machine->p_equal, -std::abs(row->change));
  };
  std::ranges::stable_sort(shown, {}, urgency);
  if (shown.size() > kMostByMachine) shown.resize(kMostByMachine);
  return shown;
}

Table machines_table(const PairedReport& report, const BenchmarkVerdict& of, model::Unit unit) {
  Table table;
  table.caption = fmt::format(
      "{} on each machine: its share in the estimate, and the estimate without it.", of.name);
  table.columns = named_figures({"machine", "parts", "blocks", "share", "change",
                                 interval_title(of.interval_level), "without it"});
  if (kinds_in(report) > 1) table.group_title = "kind of machine";
  const ByMachine& by = *of.by_machine;
  for (std::size_t i = 0; i < by.machines.size(); ++i) {
    const verdict::MachineEffect& effect = by.machines[i];
    if (effect.blocks == 0) continue;
    table.add({name_of(report, i), fmt::format("{}", fmt::join(report.machines[i].parts, ", ")),
               std::to_string(effect.blocks), percent(share_of(by, i, unit)),
               percent_change(effect.change), interval_text(effect.low, effect.high),
               percent_change(effect.change_without)},
              table.group_title.empty() ? "" : report.machines[i].kind);
  }
  return table;
}

std::vector<Block> machines_blocks(const model::PairedTrial& trial, const PairedReport& report) {
  std::vector<Block> blocks;
  if (verdict::machines_with_blocks(report.machines) < 2) return blocks;
  for (const BenchmarkVerdict* each : shown_by_machine(report)) {
    std::vector<Bar> rows;
    for (const EffectRow& row : forest_rows(report, *each)) {
      // Without an interval, only the estimate is drawn.
      const auto [low, high] = row.interval.value_or(stats::Interval{row.change, row.change});
      rows.push_back({row.label, row.change, low, high, row.delta, {}});
    }
    blocks.emplace_back(Listing{each->name + " by machine", bars(rows, each->interval_level)});
    blocks.emplace_back(machines_table(report, *each, trial.setup.unit));
  }
  return blocks;
}

std::vector<EffectRow> forest_rows(const PairedReport& report, const BenchmarkVerdict& of) {
  std::vector<EffectRow> rows;
  for (std::size_t i = 0; i < report.machines.size(); ++i) {
    const verdict::MachineEffect& effect = of.by_machine->machines[i];
    if (effect.blocks == 0) continue;
    rows.push_back({name_of(report, i), Verdict::inconclusive, effect.change,
                    interval_of(effect.low, effect.high), of.epsilon, of.delta});
  }
  for (const verdict::KindEffect& each : of.by_machine->kinds) {
    rows.push_back({each.kind, Verdict::inconclusive, each.change, interval_of(each.low, each.high),
                    of.epsilon, of.delta});
  }
  rows.push_back(
      {"all machines", of.verdict, of.change, interval_of(of.low, of.high), of.epsilon, of.delta});
  return rows;
}

Sentences machine_remarks(const model::PairedTrial& trial, const PairedReport& report) {
  Sentences lines;
  if (report.machines.empty()) return lines;
  add_missing(trial.setup, lines);
  if (report.benchmarks.empty()) return lines;
  add_other_question(trial, report, lines);
  add_differing(trial.setup.unit, report, lines);
  add_another(report, lines);
  return lines;
}

std::string merged_basis(const model::PairedTrial& trial, const PairedReport& report) {
  std::string text = fmt::format(
      " The blocks are those of {} on {}{}. ", counted(trial.setup.parts.size(), "part"),
      counted(verdict::machines_with_blocks(report.machines), "machine"),
      kinds_in(report) > 1 ? fmt::format(" of {} kinds", kinds_in(report)) : std::string());
  text += trial.setup.rounds > 1
              ? fmt::format("There are {} looks, each when every part has had another block.",
                            trial.setup.rounds)
              : std::string("There is one look, which spends the whole chance of an error.");
  return text;
}

}  // namespace taskbench::reports::render
