#include "reports/render/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "reports/render/bars.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/paired.hpp"
#include "reports/render/report_cases.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::BaselineReport;
using verdict::BaselineRow;
using verdict::CanaryChange;
using verdict::StoredComparison;
using verdict::Verdict;
using Json = nlohmann::ordered_json;

const Cells kBaselineTitles{"benchmark",  "baseline",     "now",     "change",   "95 % interval",
                            "detectable", "since anchor", "verdict", "processes"};

std::string verdict_cell(const BaselineRow& row) {
  if (row.drifted) return fmt::format("{}, drifted", word(row.verdict));
  return row.improved ? fmt::format("{}, faster", word(row.verdict))
                      : std::string(word(row.verdict));
}

Cells cells(const BaselineRow& row) {
  const TimeUnit unit = time_unit(std::min(row.baseline_ns, row.now_ns));
  const auto time = [&](double ns) {
    return fmt::format("{} {}", with_separators(ns / unit.ns, unit.decimals), unit.name);
  };
  return {row.name,
          time(row.baseline_ns),
          time(row.now_ns),
          percent_change(row.rolling.change),
          fmt::format("{} … {}", percent_change(row.rolling.low), percent_change(row.rolling.high)),
          percent(row.rolling.detectable),
          row.anchor ? percent_change(row.anchor->change) : std::string(kNone),
          verdict_cell(row),
          fmt::format("{}+{}", row.rolling.stored, row.rolling.fresh)};
}

/// "cpu +8.1 %, memory +2.0 %, futex -0.3 %"
std::string parts_text(const std::vector<CanaryChange>& changes, bool only_moved) {
  std::string text;
  for (const CanaryChange& each : changes) {
    if (each.part == "all" || (only_moved && !each.moved)) continue;
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : ", ", each.part, percent_change(each.change));
  }
  return text;
}

/// Which part of the canary moved; all of them where none did by itself.
std::string moved_text(const std::vector<CanaryChange>& changes) {
  const std::string moved = parts_text(changes, true);
  return moved.empty() ? parts_text(changes, false) : moved;
}

std::string why(const BaselineComparison& comparison, const BaselineRow& row) {
  const BaselineReport& report = comparison.report;
  if (row.drifted) {
    return fmt::format(
        "{}: drifted since the anchor of {}: {} by now, while {} would be a failure; accept it by "
        "`taskbench baseline promote`.",
        row.name, day_of(comparison.anchor->setup.date), percent_change(row.anchor->change),
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
  if (report.environment_moved) {
    lines.push_back(fmt::format(
        "ENVIRONMENT: the canary, which is always the same work, takes {} of what it took when the "
        "baseline was measured, beyond its interval of {}; moved: {}. No change of a benchmark can "
        "be told from this one of the machine.",
        percent(1 + report.canary.front().change), percent(report.canary.front().limit),
        moved_text(report.canary)));
  }
  for (const BaselineRow& row : report.rows) {
    if (std::string line = why(comparison, row); !line.empty()) lines.push_back(std::move(line));
  }
  if (report.anchor_void) {
    lines.push_back(fmt::format(
        "The machine is not as it was when the anchor was measured (canary: {}); changes since "
        "then are shown, but not judged.",
        moved_text(report.anchor_canary)));
  }
  for (const std::string& name : report.only_baseline) {
    lines.push_back(fmt::format("{}: only the baseline has it.", name));
  }
  for (const std::string& name : report.only_now) {
    lines.push_back(fmt::format("{}: the baseline does not have it.", name));
  }
  return lines;
}

std::string basis(const BaselineComparison& comparison) {
  const auto& stored = comparison.rolling.setup;
  std::string text = fmt::format(
      "Against '{}' of {}, {} processes; now {}. Changes are less that of the canary ({}: {}). "
      "FAIL: slower by {} or more, and by more than such a baseline scatters, with a chance of {} "
      "that any is a false alarm (Bonferroni).",
      stored.name, day_of(stored.date), stored.processes, comparison.now.setup.processes,
      percent_change(comparison.report.canary.front().change),
      parts_text(comparison.report.canary, false), percent(comparison.policy.delta),
      percent(comparison.policy.alpha));
  text += noise_floors_text(comparison.policy.noise_floors);
  if (comparison.anchor) {
    text += fmt::format(" The anchor is of {}.", day_of(comparison.anchor->setup.date));
  }
  return text;
}

std::string headline(const BaselineReport& report) {
  if (report.environment_moved) return "ENVIRONMENT: the machine is not as it was; no verdict";
  const auto count = [&](auto test) { return std::ranges::count_if(report.rows, test); };
  const auto failed = count([](const auto& row) { return row.verdict == Verdict::fail; });
  const auto drifted = count([](const auto& row) { return row.drifted; });
  const auto open = count([](const auto& row) { return row.verdict == Verdict::inconclusive; });
  const auto faster = count([](const auto& row) { return row.improved; });
  std::string text = fmt::format("{}: ", word(report.overall));
  if (failed > 0) {
    text += fmt::format("{} of {} benchmarks slower", failed, report.rows.size());
    if (drifted > 0) text += fmt::format(", {} of them only since the anchor", drifted);
  } else if (open > 0) {
    text +=
        fmt::format("{} of {} benchmarks undecided, none found slower", open, report.rows.size());
  } else {
    text += fmt::format("none of {} benchmarks slower", report.rows.size());
  }
  if (faster > 0) text += fmt::format(", {} faster", faster);
  return text;
}

VerdictText verdict_text(const BaselineComparison& comparison) {
  VerdictText text{
      headline(comparison.report), kBaselineTitles, {}, remarks(comparison), basis(comparison)};
  for (const BaselineRow& row : comparison.report.rows) {
    text.rows.push_back({cells(row), row.verdict});
  }
  return text;
}

std::string_view name_of(BaselineFailure::Stage stage) {
  return stage == BaselineFailure::Stage::machine ? "machine" : "measure";
}

Json to_json(const StoredComparison& comparison) {
  return {{"verdict", word(comparison.verdict)}, {"improved", comparison.improved},
          {"change", comparison.change},         {"interval_level", verdict::kIntervalLevel},
          {"interval_low", comparison.low},      {"interval_high", comparison.high},
          {"delta", comparison.delta},           {"limit", comparison.limit},
          {"detectable", comparison.detectable}, {"stored_processes", comparison.stored},
          {"fresh_processes", comparison.fresh}};
}

Json to_json(const std::vector<CanaryChange>& changes) {
  Json result = Json::object();
  for (const CanaryChange& each : changes) {
    result[each.part] = {{"change", each.change}, {"limit", each.limit}, {"moved", each.moved}};
  }
  return result;
}

Json origin(const model::Series& series) {
  return {{"date", series.setup.date},
          {"commit", series.setup.commit.empty() ? Json() : Json(series.setup.commit)},
          {"processes", series.setup.processes}};
}

}  // namespace

std::string table(const BaselineComparison& comparison, const TableStyle& style) {
  return table(verdict_text(comparison), style);
}

std::string markdown(const BaselineComparison& comparison, const CommentStyle& style) {
  std::vector<Bar> rows;
  for (const BaselineRow& row : comparison.report.rows) {
    rows.push_back({printable(row.name), row.rolling.change, row.rolling.low, row.rolling.high,
                    row.rolling.limit, verdict_cell(row)});
  }
  const VerdictText text = verdict_text(comparison);
  return comment_heading(style, text.headline) +
         fenced("text", bars(rows, verdict::kIntervalLevel)) + '\n' + bullets(text.remarks) +
         folded_figures(text);
}

std::string json(const BaselineComparison& comparison) {
  const BaselineReport& report = comparison.report;
  Json benchmarks = Json::array();
  for (const BaselineRow& row : report.rows) {
    benchmarks.push_back({{"name", row.name},
                          {"verdict", word(row.verdict)},
                          {"improved", row.improved},
                          {"drifted", row.drifted},
                          {"baseline_ns", row.baseline_ns},
                          {"now_ns", row.now_ns},
                          {"against_baseline", to_json(row.rolling)},
                          {"against_anchor", row.anchor ? to_json(*row.anchor) : Json()}});
  }
  const Json document{{"taskbench_baseline_comparison", 1},
                      {"verdict", report.environment_moved ? "ENVIRONMENT" : word(report.overall)},
                      {"name", comparison.rolling.setup.name},
                      {"key", model::baseline_key(comparison.rolling.setup.key)},
                      {"baseline", origin(comparison.rolling)},
                      {"anchor", comparison.anchor ? origin(*comparison.anchor) : Json()},
                      {"alpha", comparison.policy.alpha},
                      {"delta", comparison.policy.delta},
                      {"benchmarks", std::move(benchmarks)},
                      {"canary", to_json(report.canary)},
                      {"canary_since_anchor",
                       report.anchor_canary.empty() ? Json() : to_json(report.anchor_canary)},
                      {"anchor_judged", comparison.anchor.has_value() && !report.anchor_void},
                      {"only_baseline", report.only_baseline},
                      {"only_now", report.only_now}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
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

std::string failure_json(const BaselineFailure& failure) {
  const Json document{
      {"taskbench_baseline_comparison", 1},
      {"verdict", nullptr},
      {"name", failure.name},
      {"failure", {{"stage", name_of(failure.stage)}, {"message", failure.message}}}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace taskbench::reports::render
