#include "reports/render/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/page.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::FilesReport;
using verdict::FilesRow;
using verdict::Verdict;

VerdictText::Benchmark benchmark_of(const FilesRow& row, double threshold, const Cells& titles) {
  VerdictText::Benchmark benchmark{.name = row.name,
                                   .verdict = row.verdict,
                                   .improved = row.improved,
                                   .change = row.change,
                                   .threshold = threshold,
                                   .low = row.low,
                                   .high = row.high,
                                   .reason = row.reason};
  const std::string verdict = verdict_cell(row.verdict, row.improved);
  Cells cells(titles.size() - 1, std::string(kNone));
  cells[0] = row.name;
  cells[1] = verdict;
  if (row.base_files > 0 && row.head_files > 0) {
    cells = compared_cells({.name = row.name,
                            .change = row.change,
                            .low = row.low,
                            .high = row.high,
                            .verdict = verdict},
                           row.base_ns, row.head_ns);
    add(cells, "{:.3f}", row.p_adjusted);
    benchmark.levels = levels_text(row.base_ns, row.head_ns);
  }
  add(cells, "{}+{}", row.base_files, row.head_files);
  if (row.verdict == Verdict::fail) {
    benchmark.reason = row.instructions ? instructions_text(*row.instructions) : std::string();
  }
  benchmark.rows.push_back({std::move(cells), row.verdict});
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

/// What the figures do not show, a sentence each.
Sentences remarks(const FilesReport& report) {
  Sentences lines;
  for (const std::string& difference : report.machine_differs) {
    add(lines, "The files come from different machines: {}.", difference);
  }
  NamesAndReasons uncounted;
  bool counts = false;
  for (const FilesRow& row : report.rows) {
    if (!row.instructions) continue;
    counts = true;
    if (row.verdict != Verdict::pass) uncounted.emplace_back(row.name, row.instructions->reason);
  }
  add_moved_counters(report, lines);
  if (counts) lines.push_back(instructions_remark());
  // Different machines already explain everything.
  if (report.machine_differs.empty()) add_shared(lines, uncounted, kNoInstructions);
  append(lines, report.failed);
  const auto incomparable = [&](const std::vector<std::string>& names, std::string_view side) {
    if (!names.empty()) add(lines, "{}: only {} has it.", names_text(names), side);
  };
  incomparable(report.only_base, "base");
  incomparable(report.only_head, "head");
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
  for (const FilesRow& row : report.rows) {
    text.benchmarks.push_back(benchmark_of(row, threshold, text.titles));
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
                                    .threshold = percent(threshold)});
  return text;
}

}  // namespace

std::string table(const FilesReport& report, const TableStyle& style) {
  return table(files_verdict(report), style);
}

std::string markdown(const FilesReport& report) {
  const VerdictText text = files_verdict(report);
  return fmt::format("**{}**\n\n", markdown_escaped(text.headline)) + comment_body(text, "");
}

std::string csv(const FilesReport& report) {
  std::string text =
      "name,verdict,improved,base_files,head_files,base_ns,head_ns,change,interval_low,"
      "interval_high,p,p_adjusted,reason,instructions_base,instructions_head,instructions_change,"
      "instructions_verdict\n";
  for (const FilesRow& row : report.rows) {
    Cells fields{row.name,
                 std::string(word(row.verdict)),
                 fmt::format("{}", row.improved),
                 std::to_string(row.base_files),
                 std::to_string(row.head_files),
                 csv_number(row.base_ns),
                 csv_number(row.head_ns),
                 csv_number(row.change),
                 csv_number(row.low),
                 csv_number(row.high),
                 csv_number(row.p),
                 csv_number(row.p_adjusted),
                 row.reason};
    fields.resize(17);  // as many as there are names above
    if (const auto& counted = row.instructions) {
      if (const auto& exact = counted->exact) {
        fields[13] = csv_number(exact->base);
        fields[14] = csv_number(exact->head);
        fields[15] = csv_number(exact->change);
      }
      fields[16] = word(counted->verdict);
    }
    text += csv_line(fields);
  }
  return text;
}

namespace {

using verdict::ColumnCell;
using verdict::ColumnsReport;
using verdict::ColumnsRow;

constexpr const char* kMeanTitle = "geometric mean";
constexpr std::size_t kColumnGap = 2;

std::string column_time(const ColumnCell& cell, const TimeUnit& unit) {
  if (cell.files == 0) return std::string(kNone);
  return time_text(cell.ns, unit) + (cell.spread ? " ± " + percent(*cell.spread) : "");
}

/// "+13.0 % (p=0.001)", "~ (p=0.310)", or "+13.0 % ?" for what cannot be judged.
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

/// The titles, the rows, and the means. Every column but the first has a time and a change.
std::vector<Cells> file_cells(const ColumnsReport& report) {
  std::vector<Cells> rows;
  Cells titles{"benchmark"};
  for (std::size_t i = 0; i < report.columns.size(); ++i) {
    titles.push_back(report.columns[i]);
    if (i > 0) titles.emplace_back("change");
  }
  rows.push_back(std::move(titles));
  for (const ColumnsRow& row : report.rows) {
    const TimeUnit unit = unit_of(row);
    Cells cells{row.name};
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      cells.push_back(column_time(row.cells[i], unit));
      if (i > 0) cells.push_back(change_text(row.cells[i]));
    }
    rows.push_back(std::move(cells));
  }
  if (report.mean_ns.empty()) return rows;
  const TimeUnit unit = time_unit(*std::ranges::min_element(report.mean_ns));
  Cells means{kMeanTitle};
  for (std::size_t i = 0; i < report.mean_ns.size(); ++i) {
    means.push_back(time_text(report.mean_ns[i], unit));
    if (i > 0) means.push_back(percent_change(report.mean_ns[i] / report.mean_ns[0] - 1));
  }
  rows.push_back(std::move(means));
  return rows;
}

template <class Predicate>
bool any_cell(const ColumnsReport& report, Predicate predicate) {
  return std::ranges::any_of(report.rows, [&](const ColumnsRow& row) {
    return std::ranges::any_of(row.cells, predicate);
  });
}

Sentences legend(const ColumnsReport& report) {
  Sentences lines;
  for (const std::string& difference : report.machine_differs) {
    add(lines, "The files come from different machines: {}.", difference);
  }
  add(lines,
      "Times are medians of the files' medians; ± is their median absolute deviation, and for a "
      "single file that of its repetitions. Changes are against {}.",
      report.columns.front());
  if (any_cell(report, [](const ColumnCell& cell) { return cell.p_adjusted.has_value(); })) {
    add(lines,
        "~: no change is shown at the {:g} % level. p is of the exact rank-sum test, adjusted over "
        "all changes that are judged (Holm).",
        100 * report.alpha);
  }
  if (any_cell(report, [](const auto& cell) { return cell.change && !cell.p_adjusted; })) {
    if (report.machine_differs.empty()) {
      add(lines,
          "?: not judged. A file is one process, whose repetitions are no independent samples; {} "
          "files a column would judge every change here.",
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

std::string table(const ColumnsReport& report, const TableStyle& style) {
  const std::vector<Cells> rows = file_cells(report);
  const std::vector<std::size_t> widths = column_widths(rows);
  std::vector<std::size_t> groups{1};  // a time and its change belong together
  groups.resize(report.columns.size(), 2);
  Page page(style);
  std::size_t first = 1;
  const auto of_columns = std::span(widths).subspan(1);
  for (const std::size_t count :
       distribute(of_columns, groups, widths.front(), kColumnGap, style.columns())) {
    std::vector<Cells> block;
    for (const Cells& row : rows) {
      const auto begin = row.begin() + static_cast<std::ptrdiff_t>(first);
      block.push_back({row.front()});
      block.back().insert(block.back().end(), begin, begin + static_cast<std::ptrdiff_t>(count));
    }
    for (const std::string& each : fitted(block, columns_to_the_left(block.front()))) {
      page.line(each);
    }
    page.line();
    first += count;
  }
  for (const std::string& each : legend(report)) page.paragraph(each, kPlain, "  ");
  return std::move(page).text();
}

std::string markdown(const ColumnsReport& report) {
  const std::vector<Cells> rows = file_cells(report);
  return markdown_table(rows.front(), columns_to_the_left(rows.front()),
                        std::span(rows).subspan(1)) +
         bullets(legend(report));
}

std::string csv(const ColumnsReport& report) {
  std::string text = "name,column,files,median_ns,spread,change,p_adjusted,changed\n";
  for (const ColumnsRow& row : report.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const ColumnCell& cell = row.cells[i];
      text += csv_line(Cells{row.name, report.columns[i], std::to_string(cell.files),
                             cell.files > 0 ? csv_number(cell.ns) : std::string(),
                             csv_number(cell.spread), csv_number(cell.change),
                             csv_number(cell.p_adjusted),
                             cell.p_adjusted ? fmt::format("{}", cell.is_changed) : std::string()});
    }
  }
  return text;
}

}  // namespace taskbench::reports::render
