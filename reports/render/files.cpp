#include "reports/render/render.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reports/render/counters.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::FilesReport;
using verdict::FilesRow;
using verdict::JudgedFilesVerdict;
using verdict::Verdict;

/// The figures of a metric, whose levels are in cells 2 and 3; those of a time if `levels` is
/// empty.
VerdictText::Row row_of(const std::string& title, const verdict::FilesVerdict& row,
                        std::string_view better, const Cells& levels, const Cells& titles) {
  const std::string verdict = verdict_cell(row.verdict, row.improved, better);
  Cells cells(titles.size() - 1, std::string(kNone));
  cells[0] = title;
  cells[1] = verdict;
  if (row.has_change()) {
    cells = compared_cells({title, row.change, row.low, row.high, row.delta, verdict}, row.base,
                           row.head);
    add(cells, "{:.3f}", row.p_adjusted);
  }
  std::ranges::copy(levels, cells.begin() + 2);
  add(cells, "{}+{}", row.base_files, row.head_files);
  return {std::move(cells), row.verdict};
}

/// The first requested metric with this verdict.
const JudgedFilesVerdict* first_with(Verdict verdict, const FilesRow& row) {
  return model::element_of(row.judged, verdict, &JudgedFilesVerdict::verdict);
}

VerdictText::Benchmark benchmark_of(const FilesRow& row, const Cells& titles) {
  VerdictText::Benchmark benchmark{.name = row.name};
  const JudgedFilesVerdict* asked_for = nullptr;
  if (row.verdict != Verdict::fail) asked_for = first_with(Verdict::fail, row);
  if (asked_for == nullptr && row.verdict == Verdict::pass) {
    asked_for = first_with(Verdict::inconclusive, row);
  }
  if (asked_for == nullptr) {
    take_figures(Metric::time, row, benchmark);
    benchmark.reason = row.reason;
    if (row.base_files > 0 && row.head_files > 0) {
      benchmark.levels = levels_text(row.base, row.head);
    }
  } else {
    take_judged(*asked_for, benchmark);
    benchmark.reason = asked_for->reason;
  }
  if (benchmark.verdict == Verdict::fail) {
    benchmark.reason = row.instructions ? instructions_text(*row.instructions) : std::string();
  }
  benchmark.rows.push_back(row_of(row.name, row, "faster", {}, titles));
  for (const JudgedFilesVerdict& each : row.judged) {
    benchmark.rows.push_back(
        row_of("  its " + each.metric, as_ratio(each), each.more_is_better ? "more" : "less",
               {value_text(each.metric, each.base), value_text(each.metric, each.head)}, titles));
  }
  if (row.instructions) add_instructions(*row.instructions, titles, benchmark);
  if (benchmark.verdict == Verdict::fail) benchmark.add_reason(moved_counters(row.counters));
  return benchmark;
}

/// Adds the counters that moved next to a time that did not simply pass. A failure names its own.
void add_moved_counters(const FilesReport& report, Sentences& lines) {
  constexpr std::size_t kMostRows = 12;
  std::size_t rows = 0;
  for (const FilesRow& row : report.rows) {
    const bool is_plain = row.verdict == Verdict::pass && !row.improved;
    if (is_plain || row.verdict == Verdict::fail || row.counters.empty()) continue;
    if (++rows > kMostRows) continue;
    add(lines, "{}: counters per iteration that moved most: {}.", row.name,
        moved_text(row.counters));
  }
  if (rows > kMostRows) {
    add(lines, "The JSON has the counters of {}.", counted(rows - kMostRows, "further benchmark"));
  }
}

Sentences different_machines(const std::vector<std::string>& differences) {
  Sentences lines;
  for (const std::string& each : differences) {
    add(lines, "The files come from different machines: {}.", each);
  }
  return lines;
}

/// Remarks on what the figures do not show, a sentence each.
Sentences remarks(const FilesReport& report) {
  Sentences lines = different_machines(report.machine_differs);
  NamesAndReasons uncounted;
  bool counts = false;
  for (const FilesRow& row : report.rows) {
    if (!row.instructions) continue;
    counts = true;
    if (row.verdict != Verdict::pass) uncounted.push_back({row.name, row.instructions->reason});
  }
  add_moved_counters(report, lines);
  if (counts) lines.push_back(instructions_remark());
  // Different machines already explain everything.
  if (report.machine_differs.empty()) add_shared(lines, uncounted, kNoInstructions);
  for (const model::JudgedMetric& metric : report.policy.judged) {
    std::vector<std::string> without;
    for (const FilesRow& row : report.rows) {
      if (model::contains(row.judged, metric.name, &JudgedFilesVerdict::metric)) continue;
      without.push_back(row.name);
    }
    add_named(lines, without,
              fmt::format("{} is not judged, as not both sides report it", metric.name));
  }
  if (!report.policy.judged.empty()) {
    add(lines, "Also judged: {}; each with its own chance of a false alarm of {}.",
        fmt::join(judged_thresholds(report.policy.judged), ", "), percent(report.policy.alpha));
  }
  append(lines, large_floors(report.noise_floors, report.policy.delta));
  append(lines, report.failed);
  add_named(lines, report.only_base, "only base has it");
  add_named(lines, report.only_head, "only head has it");
  return lines;
}

VerdictText files_verdict(const FilesReport& report) {
  VerdictText text;
  text.interval_level = verdict::kIntervalLevel;
  text.titles = compared_titles("base", "head", text.interval_level);
  append(text.titles, {"adjusted p", "files"});
  text.legend =
      "adjusted p: the chance that any of the benchmarks shows such a slowdown although none is "
      "slower (Holm). files: of base and of head.";
  const double threshold = std::max(report.policy.delta, report.policy.epsilon);
  double most = threshold;
  for (const FilesRow& row : report.rows) {
    most = std::max(most, row.delta);
    text.benchmarks.push_back(benchmark_of(row, text.titles));
  }
  text.benchmarks = in_reading_order(std::move(text.benchmarks));
  text.remarks = remarks(report);
  if (!report.machine_differs.empty() && report.overall == Verdict::inconclusive) {
    text.headline = "INCONCLUSIVE: the files come from different machines";
    return text;
  }
  text.headline = verdict_sentence(report.overall, text,
                                   {.alpha = report.policy.alpha,
                                    .pass_error = report.policy.pass_error,
                                    .threshold = range_text(percent(threshold), percent(most)),
                                    .others = judged_thresholds(report.policy.judged)});
  return text;
}

}  // namespace

Document document(const FilesReport& report) { return document(files_verdict(report)); }

Document comment(const FilesReport& report) {
  const VerdictText text = files_verdict(report);
  return {"", {{"", Tone::plain, text.headline}}, {comment_body(text, "")}, {}};
}

Table records(const FilesReport& report) {
  Table table = columns_of({"name", "metric", "verdict", "improved", "base_files", "head_files",
                            "base", "head", "change", "interval_low", "interval_high", "p",
                            "p_adjusted", "reason", "instructions_base", "instructions_head",
                            "instructions_change", "instructions_verdict"});
  const auto add_record = [&](const std::string& name, const std::string& metric,
                              const verdict::FilesVerdict& row,
                              const std::optional<verdict::InstructionsVerdict>& instructions) {
    const verdict::InstructionsVerdict none;
    const verdict::InstructionsVerdict& counted = instructions ? *instructions : none;
    const auto known = [](bool is_known, double value) {
      return raw(is_known ? std::optional(value) : std::nullopt);
    };
    table.add({name, metric, word(row.verdict), fmt::format("{}", row.improved),
               std::to_string(row.base_files), std::to_string(row.head_files),
               known(row.base_files > 0, row.base), known(row.head_files > 0, row.head),
               known(row.has_change(), row.change), raw(row.low), raw(row.high),
               known(row.has_change(), row.p), known(row.has_change(), row.p_adjusted), row.reason,
               raw_part(counted.exact, &verdict::ExactChange::base),
               raw_part(counted.exact, &verdict::ExactChange::head),
               raw_part(counted.exact, &verdict::ExactChange::change),
               instructions ? word(counted.verdict) : ""});
  };
  for (const FilesRow& row : report.rows) {
    add_record(row.name, "wall_time_ns", row, row.instructions);
    for (const JudgedFilesVerdict& each : row.judged) {
      add_record(row.name, each.metric, as_ratio(each), {});
    }
  }
  return table;
}

namespace {

using verdict::ColumnCell;
using verdict::ColumnsReport;
using verdict::ColumnsRow;

constexpr const char* kMeanTitle = "geometric mean";

Cell column_time(const ColumnCell& cell, const TimeUnit& unit) {
  if (cell.files == 0) return std::string(kNone);
  return {time_text(cell.ns, unit) + (cell.spread ? " ± " + percent(*cell.spread) : ""),
          Tone::plain, cell.ns};
}

/// "+13.0 % (p=0.001)", "~ (p=0.310)", or "+13.0 % ?" if it cannot be judged.
std::string change_text(const ColumnCell& cell) {
  if (!cell.change) return std::string(kNone);
  if (!cell.p_adjusted) return percent_change(*cell.change) + " ?";
  return fmt::format("{} (p={:.3f})", cell.is_changed ? percent_change(*cell.change) : "~",
                     *cell.p_adjusted);
}

TimeUnit unit_of(const ColumnsRow& row) {
  double shortest = 0;
  for (const ColumnCell& cell : row.cells) {
    if (cell.files > 0 && (shortest == 0 || cell.ns < shortest)) shortest = cell.ns;
  }
  return time_unit(shortest > 0 ? shortest : 1);
}

/// The rows, and the means. Every column but the first has a time and a change.
Table file_columns(const ColumnsReport& report) {
  Table table{.columns = {{"benchmark"}}};
  for (std::size_t i = 0; i < report.columns.size(); ++i) {
    const int part = static_cast<int>(i) + 1;
    table.columns.push_back({.title = report.columns[i], .is_number = true, .part = part});
    if (i > 0) table.columns.push_back({.title = "change", .is_number = true, .part = part});
  }
  for (const ColumnsRow& row : report.rows) {
    const TimeUnit unit = unit_of(row);
    Row& cells = table.add({row.name});
    for (const ColumnCell& cell : row.cells) {
      cells.cells.push_back(column_time(cell, unit));
      const bool is_first = &cell == row.cells.data();
      if (!is_first) cells.cells.emplace_back(change_text(cell), Tone::plain, cell.change);
    }
  }
  if (report.mean_ns.empty()) return table;
  const TimeUnit unit = time_unit(*std::ranges::min_element(report.mean_ns));
  Row& means = table.add({std::string(kMeanTitle)});
  for (std::size_t i = 0; i < report.mean_ns.size(); ++i) {
    const double change = report.mean_ns[i] / report.mean_ns[0] - 1;
    means.cells.emplace_back(time_text(report.mean_ns[i], unit), Tone::plain, report.mean_ns[i]);
    if (i > 0) means.cells.emplace_back(percent_change(change), Tone::plain, change);
  }
  return table;
}

template <class Predicate>
bool any_cell(const ColumnsReport& report, Predicate predicate) {
  return std::ranges::any_of(report.rows, [&](const ColumnsRow& row) {
    return std::ranges::any_of(row.cells, predicate);
  });
}

Sentences columns_legend(const ColumnsReport& report) {
  Sentences lines = different_machines(report.machine_differs);
  add(lines,
      "Times are medians of the files' medians; ± is their median absolute deviation, and for a "
      "single file that of its repetitions. Changes are against {}.",
      report.columns.front());
  if (any_cell(report, [](const ColumnCell& cell) { return cell.p_adjusted.has_value(); })) {
    add(lines,
        "~: no change is shown at the {:g} % level. p is that of the exact rank-sum test, adjusted "
        "over all changes that are judged (Holm).",
        100 * report.alpha);
  }
  if (any_cell(report, [](const auto& cell) { return cell.change && !cell.p_adjusted; })) {
    if (report.machine_differs.empty()) {
      add(lines,
          "?: not judged. A file counts once, as its repetitions are not independent samples; with "
          "{} files per column, every change here would be judged.",
          report.files_needed);
    } else {
      add(lines, "?: not judged, since the machines differ.");
    }
  }
  if (!report.mean_ns.empty() && report.in_all_columns < report.rows.size()) {
    add(lines, "The geometric mean is over the {} of {} benchmarks that all columns have.",
        report.in_all_columns, report.rows.size());
  }
  append(lines, report.failed);
  return lines;
}

}  // namespace

Document document(const ColumnsReport& report) {
  Section section{"result", "", {file_columns(report)}};
  for (const std::string& each : columns_legend(report)) section.say(each);
  return {"", {}, {std::move(section)}, {}};
}

Table records(const ColumnsReport& report) {
  Table table = columns_of(
      {"name", "column", "files", "median_ns", "spread", "change", "p_adjusted", "changed"});
  for (const ColumnsRow& row : report.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const ColumnCell& cell = row.cells[i];
      table.add({row.name, report.columns[i], std::to_string(cell.files),
                 raw(cell.files > 0 ? std::optional(cell.ns) : std::nullopt), raw(cell.spread),
                 raw(cell.change), raw(cell.p_adjusted),
                 cell.p_adjusted ? fmt::format("{}", cell.is_changed) : std::string()});
    }
  }
  return table;
}

}  // namespace taskbench::reports::render
