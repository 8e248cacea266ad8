#include "reports/render/files.hpp"

#include <fmt/format.h>

#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::FilesReport;
using verdict::FilesRow;
using verdict::Verdict;

const Cells kFileTitles{"benchmark",     "base", "head",    "change",
                        "95 % interval", "p",    "verdict", "files"};

Cells cells(const FilesRow& row) {
  Cells all(5, std::string(kNone));
  all[0] = row.name;
  const bool measured = row.base_files > 0 && row.head_files > 0;
  if (measured) {
    all = compared_cells({row.name, row.change, row.low, row.high}, row.base_ns, row.head_ns);
  }
  all.push_back(measured ? fmt::format("{:.3f}", row.p_adjusted) : std::string(kNone));
  all.push_back(verdict_cell(row.verdict, row.improved));
  add(all, "{}+{}", row.base_files, row.head_files);
  return all;
}

/// What the figures do not show, a sentence each.
Sentences remarks(const FilesReport& report) {
  Sentences lines;
  for (const std::string& difference : report.machine_differs) {
    add(lines, "The files come from different machines: {}.", difference);
  }
  NamesAndReasons undecided;
  NamesAndReasons uncounted;
  for (const FilesRow& row : report.rows) {
    undecided.emplace_back(row.name, row.reason);
    if (row.instructions) uncounted.emplace_back(row.name, row.instructions->reason);
  }
  add_shared(lines, undecided, "no verdict: ");
  for (const FilesRow& row : report.rows) {
    const bool more_instructions = row.instructions && row.instructions->verdict == Verdict::fail;
    const bool matters = row.verdict != Verdict::pass || row.improved || more_instructions;
    if (!matters || row.counters.empty()) continue;
    add(lines, "{}: counters per iteration that moved most: {}.", row.name,
        moved_text(row.counters));
  }
  if (!uncounted.empty()) lines.push_back(instructions_remark());
  // Where the machines differ, that says it all.
  if (report.machine_differs.empty()) add_shared(lines, uncounted, kNoInstructions);
  append(lines, report.failed);
  for (const std::string& name : report.only_base) add(lines, "{}: only base has it.", name);
  for (const std::string& name : report.only_head) add(lines, "{}: only head has it.", name);
  return lines;
}

VerdictText verdict_text(const FilesReport& report) {
  VerdictText text{std::string(word(report.overall)), kFileTitles, {}, remarks(report)};
  for (const FilesRow& row : report.rows) {
    text.rows.push_back({cells(row), row.verdict});
    if (row.instructions) text.rows.push_back(instruction_row(text.titles, *row.instructions));
  }
  return text;
}

}  // namespace

std::string table(const FilesReport& report, const TableStyle& style) {
  return table(verdict_text(report), style);
}

std::string markdown(const FilesReport& report) {
  const VerdictText text = verdict_text(report);
  return markdown_table(text) + fmt::format("\n**{}**\n", text.headline) + bullets(text.remarks);
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
