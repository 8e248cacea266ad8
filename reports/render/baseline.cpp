#include "reports/render/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "reports/model/date.hpp"
#include "reports/render/bars.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/paired.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::BaselineComparison;
using verdict::BaselineFailure;
using verdict::BaselineReport;
using verdict::BaselineRow;
using verdict::CanaryChange;
using verdict::Verdict;

const Cells kBaselineTitles{"benchmark",  "baseline",     "now",     "change",   "95 % interval",
                            "detectable", "since anchor", "verdict", "processes"};

std::string verdict_of(const BaselineRow& row) {
  return row.drifted ? fmt::format("{}, drifted", word(row.verdict))
                     : verdict_cell(row.verdict, row.improved);
}

Cells cells(const BaselineRow& row) {
  Cells all = compared_cells(row.name, row.baseline_ns, row.now_ns, row.rolling.change,
                             row.rolling.low, row.rolling.high);
  all.push_back(percent(row.rolling.detectable));
  all.push_back(row.anchor ? percent_change(row.anchor->change) : std::string(kNone));
  all.push_back(verdict_of(row));
  all.push_back(fmt::format("{}+{}", row.rolling.stored, row.rolling.fresh));
  return all;
}

/// "cpu +8.1 %, memory +2.0 %, futex -0.3 %"
std::string parts_text(const std::vector<CanaryChange>& changes) {
  std::string text;
  for (const CanaryChange& each : changes) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", each.part, percent_change(each.change));
  }
  return text;
}

/// "memory -24.1 % (within ±8.0 % it would be chance)", of those that moved.
std::string limits_text(const std::vector<CanaryChange>& changes) {
  std::string text;
  for (const CanaryChange& each : changes) {
    if (!each.moved) continue;
    text += fmt::format("{}{} {} (chance explains {})", text.empty() ? "" : ", ", each.part,
                        percent_change(each.change), percent(each.limit));
  }
  return text;
}

std::string others_moved_text(const BaselineReport& report) {
  const bool busier = report.others_now &&
                      (!report.others_then || report.others_now->taken > report.others_then->taken);
  const auto told = [](const model::Fact<verdict::Others>& others) {
    return others ? others_text(*others) : "who used the CPUs is not known";
  };
  return fmt::format(
      "ENVIRONMENT: {} while this was measured; when the baseline was, {}. {}",
      told(report.others_now), told(report.others_then),
      busier ? "Measure again when the machine is quiet; --allow-busy judges all the same."
             : "Against a baseline of a busy machine, what has become slower may look unchanged: "
               "save a new one on a quiet machine. --allow-busy judges all the same.");
}

std::string moved_cpus_remark(const verdict::MovedCpus& moved) {
  return fmt::format(
      "ENVIRONMENT: the host moved the CPUs while this was measured: {}. Measure again; "
      "--allow-busy judges all the same.",
      moved_cpus_text(moved));
}

std::string why(const BaselineComparison& comparison, const BaselineRow& row) {
  const BaselineReport& report = comparison.report;
  if (row.unconfirmed) {
    return fmt::format(
        "{}: not confirmed: it was measured two times, and slower by more than chance only once.",
        row.name);
  }
  if (row.drifted) {
    return fmt::format(
        "{}: drifted since the anchor of {}: {} by now, while {} would be a failure; accept it by "
        "`taskbench baseline promote`.",
        row.name, model::day_of(comparison.anchor->setup.date), percent_change(row.anchor->change),
        percent(row.anchor->limit));
  }
  if (row.verdict == Verdict::inconclusive && !report.environment_moved) {
    return fmt::format(
        "{}: undecided: less than the {} that would be a failure, but a change of {} is not "
        "excluded.",
        row.name, percent(row.rolling.limit), percent(row.rolling.delta));
  }
  return {};
}

std::vector<std::string> remarks(const BaselineComparison& comparison) {
  const BaselineReport& report = comparison.report;
  std::vector<std::string> lines;
  if (report.others_moved) lines.push_back(others_moved_text(report));
  if (report.moved_cpus) lines.push_back(moved_cpus_remark(*report.moved_cpus));
  if (std::ranges::any_of(report.canary, &CanaryChange::moved)) {
    lines.push_back(fmt::format(
        "ENVIRONMENT: the canary, which is always the same work, does not take what it took when "
        "the baseline was measured: {}. No change of a benchmark can be told from this one of the "
        "machine. Measure again when the machine is as it was, or save a new baseline.",
        limits_text(report.canary)));
  }
  for (const BaselineRow& row : report.rows) {
    if (std::string line = why(comparison, row); !line.empty()) lines.push_back(std::move(line));
  }
  if (report.anchor_void) {
    lines.push_back(fmt::format(
        "The machine is not as it was when the anchor was measured ({}); changes since then are "
        "shown, but not judged.",
        std::ranges::any_of(report.anchor_canary, &CanaryChange::moved)
            ? "canary: " + limits_text(report.anchor_canary)
            : "others use more or less of the CPUs"));
  }
  std::ranges::move(large_floors(comparison.policy.noise_floors, comparison.policy.delta),
                    std::back_inserter(lines));
  for (const std::string& name : report.only_baseline) {
    lines.push_back(fmt::format("{}: only the baseline has it.", name));
  }
  for (const std::string& name : report.only_now) {
    lines.push_back(fmt::format("{}: the baseline does not have it.", name));
  }
  return lines;
}

/// Who else used the machine, then and now.
std::string machine_text(const BaselineReport& report) {
  if (!report.others_now) {
    return fmt::format(" What others used of the CPUs is not known: {}.", report.others_now.reason);
  }
  return fmt::format(" Of {:.2g} CPUs others used {:.2f}, and {} when the baseline was saved.",
                     report.others_now->cpus, report.others_now->taken,
                     report.others_then ? fmt::format("{:.2f}", report.others_then->taken)
                                        : std::string("an unknown part"));
}

std::string basis(const BaselineComparison& comparison) {
  const auto& stored = comparison.rolling.setup;
  const BaselineReport& report = comparison.report;
  std::string text = fmt::format(
      "Against '{}' of {}, {} processes; now {}. Changes, and the times below 'now', are relative "
      "to the canary's cpu part, whose parts changed by: {}.{} FAIL: slower by {} or more, and by "
      "more than such a "
      "baseline scatters, {}, "
      "with a chance of at most {} that any is a false alarm (Bonferroni), provided that nothing "
      "but what the canary and the CPU times show changed on the machine.",
      stored.name, model::day_of(stored.date), stored.processes, comparison.now.processes.size(),
      parts_text(report.canary), machine_text(report), percent(comparison.policy.delta),
      report.confirmed ? "measured twice" : "when it is measured a second time as well",
      percent(comparison.policy.alpha));
  text += noise_floors_text(comparison.policy.noise_floors);
  if (comparison.anchor) {
    text += fmt::format(" The anchor is of {}.", model::day_of(comparison.anchor->setup.date));
  }
  return text;
}

std::string headline(const BaselineReport& report) {
  if (report.environment_moved && report.others_moved) {
    return "ENVIRONMENT: other processes did not use the CPUs as they did then; no verdict";
  }
  if (report.environment_moved) return "ENVIRONMENT: the machine is not as it was; no verdict";
  const auto count = [&](auto test) {
    return static_cast<std::size_t>(std::ranges::count_if(report.rows, test));
  };
  const auto of = [&](Verdict verdict) {
    return count([&](const auto& row) { return row.verdict == verdict; });
  };
  const std::size_t drifted = count(&BaselineRow::drifted);
  return headline_of(report.overall, of(Verdict::fail), of(Verdict::inconclusive),
                     report.rows.size(), count(&BaselineRow::improved),
                     drifted > 0 ? fmt::format(", {} of them only since the anchor", drifted) : "");
}

VerdictText verdict_text(const BaselineComparison& comparison) {
  VerdictText text{
      headline(comparison.report), kBaselineTitles, {}, remarks(comparison), basis(comparison)};
  for (const BaselineRow& row : comparison.report.rows) {
    text.rows.push_back({cells(row), row.verdict});
  }
  return text;
}

}  // namespace

std::string others_text(const verdict::Others& others) {
  std::string text =
      fmt::format("other processes used {:.2f} of {:.2g} CPUs", others.used, others.cpus);
  if (others.stolen > 0.005) text += fmt::format(", and the hypervisor took {:.2f}", others.stolen);
  return text;
}

std::string moved_cpus_text(const verdict::MovedCpus& moved) {
  const TimeUnit unit = time_unit(moved.least_ns);
  return fmt::format("the canary's handover took from {} to {}", time_in(unit, moved.least_ns),
                     time_text(moved.greatest_ns, unit));
}

std::string table(const BaselineComparison& comparison, const TableStyle& style) {
  return table(verdict_text(comparison), style);
}

std::string markdown(const BaselineComparison& comparison, const CommentStyle& style) {
  std::vector<Bar> rows;
  for (const BaselineRow& row : comparison.report.rows) {
    rows.push_back({printable(row.name), row.rolling.change, row.rolling.low, row.rolling.high,
                    row.rolling.limit, verdict_of(row)});
  }
  const VerdictText text = verdict_text(comparison);
  return comment_heading(style, text.headline) +
         fenced("text", bars(rows, verdict::kIntervalLevel)) + '\n' + bullets(text.remarks) +
         folded_figures(text);
}

std::string failure_markdown(const BaselineFailure& failure, const CommentStyle& style) {
  const std::string program =
      failure.program.empty() ? "the program" : markdown_escaped(failure.program);
  const bool of_machine = failure.stage == BaselineFailure::Stage::machine;
  return comment_heading(style, of_machine ? "no verdict: no baseline of this machine and build"
                                           : fmt::format("no verdict: {} failed", program)) +
         fmt::format("Against the baseline '{}'.\n\n{}\n", markdown_escaped(failure.name),
                     markdown_escaped(failure.message));
}

}  // namespace taskbench::reports::render
