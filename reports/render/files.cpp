#include "reports/render/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::FilesReport;
using verdict::FilesRow;
using verdict::Verdict;

const Cells kFileTitles{"benchmark",     "base", "head",    "change",
                        "95 % interval", "p",    "verdict", "files"};

Cells cells(const FilesRow& row) {
  const bool measured = row.base_files > 0 && row.head_files > 0;
  const std::string none(kNone);
  Cells all =
      measured ? compared_cells(row.name, row.base_ns, row.head_ns, row.change, row.low, row.high)
               : Cells{row.name, none, none, none, none};
  all.push_back(measured ? fmt::format("{:.3f}", row.p_adjusted) : none);
  all.push_back(verdict_cell(row.verdict, row.improved));
  all.push_back(fmt::format("{}+{}", row.base_files, row.head_files));
  return all;
}

/// The row below that of the times.
Cells cells_below(const verdict::InstructionsVerdict& instructions) {
  InstructionCells all = instruction_cells(instructions);
  return {std::move(all.title),  std::move(all.base), std::move(all.head),    std::move(all.change),
          std::move(all.spread), std::string(kNone),  std::move(all.verdict), ""};
}

std::vector<VerdictText::Row> table_rows(const FilesReport& report) {
  std::vector<VerdictText::Row> rows;
  for (const FilesRow& row : report.rows) {
    rows.push_back({cells(row), row.verdict});
    if (row.instructions) {
      rows.push_back({cells_below(*row.instructions), row.instructions->verdict});
    }
  }
  return rows;
}

/// What the figures do not show, a sentence each. Equal reasons are told once.
std::vector<std::string> remarks(const FilesReport& report) {
  std::vector<std::string> lines;
  for (const std::string& difference : report.machine_differs) {
    lines.push_back(fmt::format("The files come from different machines: {}.", difference));
  }
  std::vector<std::pair<std::string_view, std::string_view>> undecided;
  for (const FilesRow& row : report.rows) undecided.emplace_back(row.name, row.reason);
  for (const auto& [name, reason, count] : shared_reasons(undecided)) {
    lines.push_back(count == 1 ? fmt::format("{}: no verdict: {}.", name, reason)
                               : fmt::format("{} benchmarks: no verdict: {}.", count, reason));
  }
  for (const FilesRow& row : report.rows) {
    const bool more_instructions = row.instructions && row.instructions->verdict == Verdict::fail;
    const bool matters = row.verdict != Verdict::pass || row.improved || more_instructions;
    if (!matters || row.counters.empty()) continue;
    lines.push_back(fmt::format("{}: counters per iteration that moved most: {}.", row.name,
                                moved_text(row.counters)));
  }
  if (std::ranges::any_of(report.rows,
                          [](const FilesRow& row) { return row.instructions.has_value(); })) {
    lines.push_back(instructions_remark());
  }
  if (report.machine_differs.empty()) {  // else that says it all
    add_not_known(report.rows, lines);
  }
  for (const std::string& failure : report.failed) lines.push_back(failure);
  for (const std::string& name : report.only_base) {
    lines.push_back(fmt::format("{}: only base has it.", name));
  }
  for (const std::string& name : report.only_head) {
    lines.push_back(fmt::format("{}: only head has it.", name));
  }
  return lines;
}

VerdictText verdict_text(const FilesReport& report) {
  return {std::string(word(report.overall)), kFileTitles, table_rows(report), remarks(report), {}};
}

}  // namespace

std::string table(const FilesReport& report, const TableStyle& style) {
  return table(verdict_text(report), style);
}

std::string markdown(const FilesReport& report) {
  const VerdictText text = verdict_text(report);
  return markdown_table(text) + fmt::format("\n**{}**\n", text.headline) +
         (text.remarks.empty() ? "" : "\n") + bullets(text.remarks);
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

}  // namespace taskbench::reports::render
