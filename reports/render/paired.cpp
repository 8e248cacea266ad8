#include "reports/render/paired.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "reports/render/bars.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/instructions.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::render {
namespace {

using model::PairedTrial;
using verdict::BenchmarkVerdict;
using verdict::PairedReport;
using verdict::Verdict;

const Cells kPairedTitles{"benchmark", "base",       "head",    "change", "95 % interval",
                          "p",         "detectable", "verdict", "blocks"};

std::string interval(const BenchmarkVerdict& row) {
  if (!row.low || !row.high) return std::string(kNone);
  return fmt::format("{} … {}", percent_change(*row.low), percent_change(*row.high));
}

std::string probability(double p) {
  return p < 0.001 ? fmt::format("{:.5f}", p) : fmt::format("{:.3f}", p);
}

std::string verdict_cell(const BenchmarkVerdict& row) {
  return row.improved ? fmt::format("{}, faster", word(row.verdict))
                      : std::string(word(row.verdict));
}

Cells cells(const BenchmarkVerdict& row, const TimeUnit& unit) {
  const auto time = [&](double ns) {
    return fmt::format("{} {}", with_separators(ns / unit.ns, unit.decimals), unit.name);
  };
  return {row.name,
          time(row.base_ns),
          time(row.head_ns),
          percent_change(row.change),
          interval(row),
          probability(row.p_adjusted),
          row.detectable ? percent(*row.detectable) : std::string(kNone),
          verdict_cell(row),
          std::to_string(row.blocks)};
}

/// The row below that of the times.
Cells cells(const verdict::InstructionsVerdict& instructions) {
  InstructionCells all = instruction_cells(instructions);
  return {std::move(all.title),  std::move(all.base),    std::move(all.head),
          std::move(all.change), std::move(all.spread),  std::string(kNone),
          std::string(kNone),    std::move(all.verdict), std::string(kNone)};
}

std::vector<VerdictText::Row> table_rows(const PairedReport& report) {
  std::vector<VerdictText::Row> rows;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    rows.push_back({cells(row, time_unit(std::min(row.base_ns, row.head_ns))), row.verdict});
    if (row.instructions) rows.push_back({cells(*row.instructions), row.instructions->verdict});
  }
  return rows;
}

std::string what_it_would_take(const BenchmarkVerdict& row) {
  if (row.blocks < 2) return "one block does not show how noisy it is";
  const std::string matters = fmt::format("the {} that {}", percent(row.delta),
                                          row.delta > row.epsilon ? "matter" : "are noise here");
  // A little more than there were says no more than that it is near.
  if (row.blocks_needed && *row.blocks_needed > static_cast<std::size_t>(row.blocks)) {
    return fmt::format("if the change is what it seems, about {} blocks tell it from {}",
                       *row.blocks_needed, matters);
  }
  return fmt::format("the change lies too near to {}", matters);
}

/// Of the instructions; equal reasons are told once.
void add_instruction_remarks(const PairedReport& report, std::vector<std::string>& lines) {
  add_not_known(report.benchmarks, lines);
  for (const BenchmarkVerdict& row : report.benchmarks) {
    if (!row.instructions || !row.instructions->reason.empty()) continue;
    if (const auto& exact = *row.instructions->exact; exact.is_worse() || exact.is_better()) {
      lines.push_back(fmt::format("{}: {:.2f} % {} instructions, {} → {} per iteration.", row.name,
                                  100 * std::abs(exact.change), exact.is_worse() ? "more" : "fewer",
                                  with_separators(exact.base, 0), with_separators(exact.head, 0)));
    }
  }
}

/// What a reader who is not content with the verdict needs to know.
std::vector<std::string> remarks(const PairedTrial& trial, const PairedReport& report) {
  std::vector<std::string> lines;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    if (row.verdict == Verdict::inconclusive) {
      lines.push_back(fmt::format("{}: undecided; {}.", row.name, what_it_would_take(row)));
    }
    const std::string moved = moved_text(row.counters);
    const bool matters = row.verdict != Verdict::pass || row.improved;
    if (matters && !moved.empty()) {
      lines.push_back(fmt::format("{}: counters per iteration that moved: {}.", row.name, moved));
    }
  }
  add_instruction_remarks(report, lines);
  for (const std::string& name : trial.setup.only_base) {
    lines.push_back(fmt::format("{}: only base has it; nothing to compare with.", name));
  }
  for (const std::string& name : trial.setup.failing_in_base) {
    lines.push_back(fmt::format("{}: fails in base; nothing to compare with.", name));
  }
  for (const std::string& name : trial.setup.only_head) {
    lines.push_back(fmt::format("{}: only head has it; nothing to compare with.", name));
  }
  for (const auto& [name, reason] : trial.setup.left_out) {
    lines.push_back(fmt::format("{}: left out: {}.", name, reason));
  }
  return lines;
}

/// "3.0 %", or from the least to the greatest where a noise floor is above it.
std::string threshold_text(const model::PairedSetup& setup, const PairedReport& report) {
  double least = setup.delta;
  double greatest = setup.delta;
  if (!report.benchmarks.empty()) {
    const auto [a, b] = std::ranges::minmax(report.benchmarks, {}, &BenchmarkVerdict::delta);
    least = a.delta;
    greatest = b.delta;
  }
  return least == greatest
             ? percent(least)
             : fmt::format("{} to {}, by benchmark,", percent(least), percent(greatest));
}

std::string basis(const PairedTrial& trial, const PairedReport& report) {
  const auto& setup = trial.setup;
  const auto processes = static_cast<std::size_t>(report.blocks) * model::kBlockSize;
  std::string text = fmt::format(
      "{} blocks, {} processes, {} repetitions of {} ms in each; seed {}. FAIL: slower by {} or "
      "more, with a chance of {} that any is a false alarm.",
      report.blocks, processes, setup.repetitions, setup.min_time_s * 1e3, setup.seed,
      threshold_text(setup, report), percent(setup.alpha));
  if (setup.counts_instructions) text += " " + instructions_remark();
  return text + noise_floors_text(setup.noise_floors);
}

std::string bars(const PairedReport& report) {
  std::vector<Bar> rows;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    rows.push_back({row.name, row.change, row.low, row.high, row.delta, verdict_cell(row)});
  }
  return bars(rows);
}

std::string headline(const PairedReport& report) {
  std::array<int, 3> counts{};
  int faster = 0;
  int with_more = 0;
  int uncounted = 0;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    ++counts[static_cast<std::size_t>(row.verdict)];
    if (row.improved) ++faster;
    if (!row.instructions) continue;
    if (row.instructions->verdict == Verdict::fail) ++with_more;
    if (row.instructions->verdict == Verdict::inconclusive) ++uncounted;
  }
  const auto count = [&](Verdict verdict) { return counts[static_cast<std::size_t>(verdict)]; };
  std::string text = fmt::format("{}: ", word(report.overall));
  if (count(Verdict::fail) > 0) {
    text +=
        fmt::format("{} of {} benchmarks slower", count(Verdict::fail), report.benchmarks.size());
  } else if (count(Verdict::inconclusive) > 0) {
    text += fmt::format("{} of {} benchmarks undecided, none found slower",
                        count(Verdict::inconclusive), report.benchmarks.size());
  } else {
    text += fmt::format("none of {} benchmarks slower", report.benchmarks.size());
  }
  if (faster > 0) text += fmt::format(", {} faster", faster);
  if (with_more > 0) text += fmt::format(", {} with more instructions", with_more);
  if (uncounted > 0) text += fmt::format(", the instructions of {} not known", uncounted);
  return text;
}

std::string programs(const model::PairedSetup& setup) {
  return fmt::format("Head {} against base {}.\n\n", markdown_escaped(program_text(setup.head)),
                     markdown_escaped(program_text(setup.base)));
}

std::string to_reproduce(const model::PairedSetup& setup) {
  if (setup.reproduce.empty()) return {};
  return "\nTo reproduce:\n\n" + fenced("sh", setup.reproduce + '\n');
}

}  // namespace

std::string what_failed(const model::PairedFailure& failure) {
  using Stage = model::PairedFailure::Stage;
  const std::string_view side = failure.side ? name_of(*failure.side) : "it";
  switch (failure.stage) {
    case Stage::build:
      return fmt::format("{} does not build", side);
    case Stage::start:
      return fmt::format("{} cannot be measured", side);
    case Stage::measure:
      break;
    case Stage::compare:
      return "base and head have no benchmark in common";
  }
  return failure.benchmark.empty() ? fmt::format("{} failed while it was measured", side)
                                   : fmt::format("{} failed in {}", side, failure.benchmark);
}

std::string noise_floors_text(const std::map<std::string, model::NoiseFloor>& floors) {
  std::string text;
  std::map<std::string, std::pair<double, double>> ranges;  // by where they are known from
  for (const auto& [name, floor] : floors) {
    const auto [place, is_new] = ranges.try_emplace(floor.source, floor.epsilon, floor.epsilon);
    auto& [least, greatest] = place->second;
    least = std::min(least, floor.epsilon);
    greatest = std::max(greatest, floor.epsilon);
  }
  for (const auto& [source, range] : ranges) {
    const auto& [least, greatest] = range;
    text += least == greatest ? fmt::format(" Noise floor: {}, {}.", percent(least), source)
                              : fmt::format(" Noise floor: {} to {}, {}.", percent(least),
                                            percent(greatest), source);
  }
  return text;
}

std::string program_text(const model::PairedProgram& program) {
  constexpr std::size_t kDigits = 12;
  if (program.commit.empty()) return program.command;
  const std::string commit = program.commit.substr(0, kDigits);
  if (program.commit.starts_with(program.revision)) return commit;
  return fmt::format("{} ({})", commit, program.revision);
}

VerdictText verdict_text(const PairedTrial& trial, const PairedReport& report) {
  return {headline(report), kPairedTitles, table_rows(report), remarks(trial, report),
          basis(trial, report)};
}

std::string table(const PairedTrial& trial, const PairedReport& report, const TableStyle& style) {
  return table(verdict_text(trial, report), style);
}

std::string markdown(const PairedTrial& trial, const PairedReport& report,
                     const CommentStyle& style) {
  const VerdictText text = verdict_text(trial, report);
  return comment_heading(style, text.headline) + programs(trial.setup) +
         fenced("text", bars(report)) + (text.remarks.empty() ? "" : "\n") + bullets(text.remarks) +
         folded_figures(text) + to_reproduce(trial.setup);
}

std::string identical_markdown(const model::PairedSetup& setup, const CommentStyle& style) {
  return comment_heading(style, "PASS: the programs are identical") + programs(setup) +
         "Both are the same, byte for byte, with the libraries and the files that belong to them: "
         "nothing was measured.\n" +
         to_reproduce(setup);
}

std::string failure_markdown(const model::PairedSetup& setup, const model::PairedFailure& failure,
                             const CommentStyle& style) {
  std::string text =
      comment_heading(style, "no verdict: " + markdown_escaped(what_failed(failure))) +
      programs(setup);
  text += fmt::format("{}\n", markdown_escaped(failure.message));
  if (!failure.lines.empty()) {
    std::string log;
    for (const std::string& line : failure.lines) log += line + '\n';
    text += "\nThe last lines of the build's log:\n\n" + fenced("text", log);
  }
  return text + to_reproduce(setup);
}

}  // namespace taskbench::reports::render
