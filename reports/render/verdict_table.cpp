#include "reports/render/verdict_table.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "reports/render/counters.hpp"

namespace taskbench::reports::render {
namespace {

using verdict::Verdict;
using Benchmark = VerdictText::Benchmark;

// Limits on a comment, which everybody on a pull request sees. GitHub accepts 65,536 characters.
constexpr std::size_t kMostFailures = 12;
constexpr std::size_t kMostRemarks = 8;
constexpr std::size_t kMostFoldedFailures = 60;
constexpr std::size_t kMostBars = 40;
constexpr std::size_t kMostTableBytes = 30'000;

constexpr std::string_view kWhy = "What the instructions show";

std::string lines_of(const Sentences& sentences) {
  std::string text;
  for (const std::string& each : sentences) text += one_line(each) + '\n';
  return text;
}

void list(std::span<const Benchmark* const> failed, double interval_level, Items& items) {
  for (const Benchmark* each : failed) {
    for (const std::string& found : findings(*each, interval_level)) {
      Paragraph& item = items.items.emplace_back(" " + found + '.', Tone::plain, each->name);
      item.before = "FAIL: ";
    }
  }
}

void list(const std::vector<Undecided>& groups, Items& items) {
  constexpr std::size_t kMostGroups = 6;
  std::size_t left = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto& [names, reason] = groups[i];
    if (i >= kMostGroups) {
      left += names.size();
      continue;
    }
    const std::string so_many =
        names.size() > 1 ? fmt::format("{} benchmarks, ", names.size()) : "";
    items.items.emplace_back(
        fmt::format("INCONCLUSIVE: {}{}: {}.", so_many, names_text(names), reason));
  }
  if (left > 0) items.items.emplace_back(fmt::format("INCONCLUSIVE: {} more.", left));
}

/// The bars of the first rows, and as many rows of the table as fit.
std::vector<Block> figures(const VerdictText& text) {
  std::vector<Bar> shown;
  for (const Benchmark& each : text.benchmarks) {
    for (const VerdictText::Row& row : each.rows) {
      if (row.bar && shown.size() < kMostBars) shown.push_back(*row.bar);
    }
  }
  Table table = table_of(text);
  std::size_t bytes = 0;
  std::size_t benchmarks = 0;
  std::size_t rows = 0;
  for (const Benchmark& each : text.benchmarks) {
    if (bytes > kMostTableBytes) break;
    ++benchmarks;
    rows += each.rows.size();
    for (const VerdictText::Row& row : each.rows) {
      for (const std::string& cell : row.cells) bytes += cell.size() + 3;
    }
  }
  table.rows.resize(rows);
  std::vector<Block> blocks;
  if (!shown.empty()) blocks.emplace_back(Listing{"", bars(shown, text.interval_level)});
  blocks.emplace_back(std::move(table));
  if (!text.legend.empty()) blocks.emplace_back(Paragraph{text.legend});
  if (const std::size_t left = text.benchmarks.size() - benchmarks; left > 0) {
    blocks.emplace_back(Paragraph{counted(left, "benchmark") + " more; the JSON has all."});
  }
  return blocks;
}

std::string figures_title(const VerdictText& text) {
  const auto passed = static_cast<std::size_t>(
      std::ranges::count(text.benchmarks, Verdict::pass, &Benchmark::verdict));
  const std::string all = counted(text.benchmarks.size(), "benchmark");
  if (passed == 0 || passed == text.benchmarks.size()) return fmt::format("Figures of {}", all);
  return fmt::format("{} that {}, and the figures of all {}", passed,
                     passed == 1 ? "passes" : "pass", all);
}

VerdictText::Row instruction_row(const Cells& titles,
                                 const verdict::InstructionsVerdict& instructions) {
  VerdictText::Row row = counted_row(titles, "instructions", instructions.verdict,
                                     instructions.acknowledged, instructions.improved());
  Cells& cells = row.cells;
  if (const auto& exact = instructions.exact) {
    cells[2] = with_separators(exact->base, 0);
    cells[3] = with_separators(exact->head, 0);
    cells[4] = fmt::format("{:+.2f} %", 100 * exact->change);
    cells[5] = exact->repeats ? "exact" : fmt::format("± {:.2f} %", 100 * exact->threshold);
    if (instructions.only_shown) {
      cells[1] = exact->is_worse() ? "more" : "fewer";
      row.verdict = exact->is_worse() ? Verdict::inconclusive : Verdict::pass;
    }
  }
  return row;
}

}  // namespace

Table table_of(const VerdictText& text) {
  Table table;
  for (const std::string& title : text.titles) {
    table.columns.push_back({title, title != "benchmark" && title != "verdict"});
  }
  for (const Benchmark& each : text.benchmarks) {
    for (const VerdictText::Row& row : each.rows) {
      Row& added = table.add({row.cells.begin(), row.cells.end()});
      added.cells[1].tone = tone_of(row.verdict);
    }
    if (each.verdict == Verdict::fail) table.rows.back().below = each.reason;
  }
  return table;
}

Document document(const VerdictText& text) {
  Section section{"result", "", {table_of(text)}};
  if (!text.explanation.empty()) {
    section.add(Listing{std::string(kWhy), lines_of(text.explanation)});
  }
  section.say(one_line(text.legend));
  for (const Undecided& group : undecided(text)) {
    section.say(
        one_line(fmt::format("INCONCLUSIVE: {}: {}.", names_text(group.names), group.reason)));
  }
  for (const std::string& each : text.remarks) section.say(one_line(each));
  section.say(one_line(text.basis));
  section.say(one_line(text.headline));
  return {"", {}, {std::move(section)}, {}};
}

Cells compared_cells(const Bar& row, double base_ns, double head_ns) {
  const TimeUnit unit = time_unit(std::min(base_ns, head_ns));
  return {row.name,
          row.verdict,
          time_text(base_ns, unit),
          time_text(head_ns, unit),
          percent_change(row.change),
          interval_text(row.low, row.high)};
}

Cells compared_titles(std::string_view base, std::string_view head, double interval_level) {
  return {"benchmark",       "verdict", std::string(base),
          std::string(head), "change",  interval_title(interval_level)};
}

std::string levels_text(double base_ns, double head_ns) {
  const TimeUnit unit = time_unit(std::min(base_ns, head_ns));
  return fmt::format("{} → {}", time_in(unit, base_ns), time_text(head_ns, unit));
}

std::string value_text(const std::string& metric, double value) {
  return metric.ends_with("bytes") ? with_prefix(value) + 'B' : three_digits(value);
}

Sentences judged_thresholds(const std::vector<model::JudgedMetric>& judged) {
  return model::each_of(judged, [](const model::JudgedMetric& each) {
    return fmt::format("{} {} {}", percent(each.delta), each.more_is_better ? "less" : "more",
                       each.name);
  });
}

std::string verdict_cell(Verdict verdict, bool improved, std::string_view better) {
  return improved ? fmt::format("{}, {}", word(verdict), better) : std::string(word(verdict));
}

Sentences large_floors(const std::map<std::string, model::NoiseFloor>& floors, double delta) {
  double most = 0;
  std::vector<std::string> names;
  for (const auto& [name, floor] : floors) {
    if (floor.epsilon <= delta) continue;
    most = std::max(most, floor.epsilon);
    add(names, "{} ({}, {})", name, percent(floor.epsilon), floor.source);
  }
  if (names.empty()) return {};
  const bool is_one = names.size() == 1;
  return {
      fmt::format("{}: on this machine chance or rounding alone moves {} by more than {}, so that "
                  "a slowdown below {} passes.",
                  names_text(names, 3), is_one ? "it" : "them", percent(delta),
                  is_one ? percent(most) : fmt::format("that, {} at most,", percent(most)))};
}

VerdictText::Row counted_row(const Cells& titles, std::string_view what, Verdict verdict,
                             bool acknowledged, bool is_fewer) {
  VerdictText::Row row{Cells(titles.size(), std::string(kNone)), verdict};
  row.cells[0] = fmt::format("  its {}", what);
  row.cells[1] =
      verdict_cell(verdict, acknowledged || is_fewer, acknowledged ? "acknowledged" : "fewer");
  return row;
}

void add_instructions(const verdict::InstructionsVerdict& instructions, const Cells& titles,
                      Benchmark& benchmark) {
  const auto& exact = instructions.exact;
  if (instructions.only_shown && !exact->is_worse() && !exact->is_better()) return;
  benchmark.rows.push_back(instruction_row(titles, instructions));
  const bool is_fail = instructions.verdict == Verdict::fail;
  if (is_fail && benchmark.verdict != Verdict::fail) {
    benchmark.fail_by(Metric::instructions, exact->change,
                      fmt::format("{} → {} per iteration", with_separators(exact->base, 0),
                                  with_separators(exact->head, 0)));
  } else if (instructions.verdict == Verdict::inconclusive && benchmark.verdict == Verdict::pass) {
    benchmark.leave_open(Metric::instructions,
                         fmt::format("{}{}", kNoInstructions, instructions.reason));
  }
}

std::string instructions_text(const verdict::InstructionsVerdict& instructions) {
  if (!instructions.exact) return {};
  const auto& exact = *instructions.exact;
  if (!exact.is_worse() && !exact.is_better()) return {};
  return fmt::format("{:.2f} % {} instructions, {} → {} per iteration",
                     100 * std::abs(exact.change), exact.is_worse() ? "more" : "fewer",
                     with_separators(exact.base, 0), with_separators(exact.head, 0));
}

std::string moved_counters(const std::vector<verdict::CounterMove>& moves) {
  return moves.empty() ? std::string() : "per iteration " + moved_text(moves);
}

std::string instructions_remark() {
  return fmt::format(
      "Instructions are counted, not timed: more than {:g} % more fail, whatever the times say.",
      100 * verdict::kExactDelta);
}

Document comment_of(const CommentStyle& style, std::string_view headline, Section body) {
  Document comment{fmt::format("{}: {}", style.title, headline), {}, {std::move(body)}, {}};
  comment.level = 3;
  if (style.marked) comment.mark = kCommentMarker;
  return comment;
}

Section comment_body(const VerdictText& text, const std::string& compared,
                     std::vector<Block> method) {
  Section body{"result", "", {Paragraph{compared + counts_text(text) + '.'}}};
  const auto add_items = [](Items items, std::vector<Block>& blocks) {
    if (!items.items.empty()) blocks.emplace_back(std::move(items));
  };
  const auto fold = [&](std::string id, std::string title, std::vector<Block> blocks) {
    if (blocks.empty()) return;
    body.parts.push_back({std::move(id), std::move(title), std::move(blocks), {}, true});
  };
  const auto [shown, hidden] = worst_and_others(those_with(text, Verdict::fail), kMostFailures);
  Items verdicts;
  list(shown, text.interval_level, verdicts);
  list(undecided(text), verdicts);
  add_items(std::move(verdicts), body.blocks);
  const auto later =
      text.remarks.begin() + std::ptrdiff_t(std::min(text.remarks.size(), kMostRemarks));
  add_items({{text.remarks.begin(), later}}, body.blocks);

  Items more;
  list(std::span(hidden).first(std::min(hidden.size(), kMostFoldedFailures)), text.interval_level,
       more);
  if (hidden.size() > kMostFoldedFailures) {
    more.items.emplace_back("The others are in the figures.");
  }
  std::vector<Block> failing;
  add_items(std::move(more), failing);
  fold("more", fmt::format("{} more that fail", hidden.size()), std::move(failing));
  if (!text.explanation.empty()) {
    fold("why", std::string(kWhy), {Listing{"", lines_of(text.explanation)}});
  }
  std::vector<Block> how;
  if (!text.basis.empty()) how.emplace_back(Paragraph{text.basis});
  add_items({{later, text.remarks.end()}}, how);
  how.insert(how.end(), method.begin(), method.end());
  fold("how", "How this was measured", std::move(how));
  if (!text.benchmarks.empty()) fold("figures", figures_title(text), figures(text));
  return body;
}

}  // namespace taskbench::reports::render
