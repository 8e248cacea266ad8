#include "reports/render/paired.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "reports/render/columns.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/verdict/drift.hpp"

namespace taskbench::reports::render {
namespace {

using model::PairedTrial;
using verdict::BenchmarkVerdict;
using verdict::PairedReport;
using verdict::Verdict;

std::string probability(double p) {
  return p < 0.001 ? fmt::format("{:.5f}", p) : fmt::format("{:.3f}", p);
}

VerdictText::Row row_of(std::string title, const verdict::MetricVerdict& row,
                        std::string_view better) {
  const Bar bar{std::move(title), row.change, row.low,
                row.high,         row.delta,  verdict_cell(row.verdict, row.improved, better)};
  Cells cells = compared_cells(bar, row.base_ns, row.head_ns);
  append(cells, {probability(row.p_adjusted), percent(row.detectable), bar.verdict,
                 std::to_string(row.blocks)});
  return {std::move(cells), row.verdict, bar};
}

bool is_plain_pass(const verdict::MetricVerdict& row) {
  return row.verdict == Verdict::pass && !row.improved;
}

/// Most benchmarks pass by both times; a table twice as long would say no more.
bool shows_cpu_time(const BenchmarkVerdict& row) {
  return row.cpu && !(is_plain_pass(row) && is_plain_pass(*row.cpu));
}

std::vector<VerdictText::Row> table_rows(const PairedReport& report, const Cells& titles) {
  std::vector<VerdictText::Row> rows;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    rows.push_back(row_of(row.name, row, "faster"));
    if (shows_cpu_time(row)) rows.push_back(row_of("  its CPU time", *row.cpu, "less"));
    if (row.instructions) rows.push_back(instruction_row(titles, *row.instructions));
  }
  return rows;
}

std::string_view owner_of_cpu_time(const model::PairedSetup& setup, const std::string& benchmark) {
  const auto found = setup.cpu_time_of.find(benchmark);
  const bool is_partial =
      found != setup.cpu_time_of.end() && found->second == model::CpuTimeOf::main_thread;
  return is_partial ? "its main thread's CPU time" : "its CPU time";
}

enum class Spent { computing, waiting, unknown };

/// On what a wall time that has grown was spent, as far as the CPU time tells.
Spent spent_on(const BenchmarkVerdict& row) {
  if (!row.cpu || !row.cpu->low || !row.cpu->high) return Spent::unknown;
  const verdict::MetricVerdict& cpu = *row.cpu;
  const double longer = row.head_ns - row.base_ns;
  if (*cpu.low > 0 && cpu.head_ns - cpu.base_ns >= longer / 2) return Spent::computing;
  // More CPU time, but less than half of it: both, and neither is the reason alone.
  if (*cpu.low > 0) return Spent::unknown;
  return *cpu.high * cpu.base_ns < longer / 2 ? Spent::waiting : Spent::unknown;
}

/// One sentence for all benchmarks that are slower for the same reason.
void add_why_slower(const PairedReport& report, Spent reason, std::string_view text,
                    Sentences& lines) {
  std::vector<std::string> names;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    if (row.verdict != Verdict::fail || spent_on(row) != reason) continue;
    add(names, "{} ({})", row.name, percent_change(row.cpu->change));
  }
  if (!names.empty()) add(lines, "{}: {}.", text, fmt::join(names, ", "));
}

void add_cpu_remarks(const model::PairedSetup& setup, const PairedReport& report,
                     Sentences& lines) {
  add_why_slower(report, Spent::computing, "Slower by computing more, as the CPU time shows",
                 lines);
  add_why_slower(report, Spent::waiting, "Slower by waiting longer, as the CPU time shows", lines);
  for (const BenchmarkVerdict& row : report.benchmarks) {
    if (!row.cpu) continue;
    const std::string_view cpu_time = owner_of_cpu_time(setup, row.name);
    if (row.cpu->verdict == Verdict::fail && row.verdict != Verdict::fail) {
      add(lines, "{}: {} rose by {}, while its wall time is not surely longer.", row.name, cpu_time,
          percent(row.cpu->change));
    } else if (holds_back(*row.cpu)) {
      add(lines, "{}: {} is undecided; {}.", row.name, cpu_time, why_undecided(*row.cpu));
    }
  }
}

std::string capitalised(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

/// What ran beside the trial, where that is worth a warning.
void add_busy_machine(const PairedReport& report, Sentences& lines) {
  const std::string warning = verdict::drift_warning(report.machine);
  if (warning.empty()) return;
  add(lines, "{}{}.", capitalised(warning),
      report.overall == Verdict::inconclusive
          ? "; that makes times scatter, so compare again when less runs beside it"
          : "");
}

void add_instruction_remarks(const PairedReport& report, Sentences& lines) {
  NamesAndReasons unknown;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    if (row.instructions) unknown.emplace_back(row.name, row.instructions->reason);
  }
  add_shared(lines, unknown, kNoInstructions);
  for (const BenchmarkVerdict& row : report.benchmarks) {
    if (!row.instructions || !row.instructions->reason.empty()) continue;
    if (const auto& exact = *row.instructions->exact; exact.is_worse() || exact.is_better()) {
      add(lines, "{}: {:.2f} % {} instructions, {} → {} per iteration.", row.name,
          100 * std::abs(exact.change), exact.is_worse() ? "more" : "fewer",
          with_separators(exact.base, 0), with_separators(exact.head, 0));
    }
  }
}

/// What a reader who is not content with the verdict needs to know.
Sentences remarks(const PairedTrial& trial, const PairedReport& report) {
  const model::PairedSetup& setup = trial.setup;
  Sentences lines;
  if (report.overall == Verdict::inconclusive && report.blocks > 0) {
    const std::string reach = reach_text(verdict::reach_of(trial, report.blocks), setup);
    if (!reach.empty()) lines.push_back(capitalised(reach) + '.');
  }
  NamesAndReasons undecided;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    if (row.verdict == Verdict::inconclusive) undecided.emplace_back(row.name, why_undecided(row));
  }
  add_shared(lines, undecided, "undecided; ");
  for (const BenchmarkVerdict& row : report.benchmarks) {
    const std::string moved = moved_text(row.counters);
    const bool matters = row.verdict != Verdict::pass || row.improved;
    if (matters && !moved.empty()) {
      add(lines, "{}: counters per iteration that moved: {}.", row.name, moved);
    }
  }
  add_cpu_remarks(setup, report, lines);
  append(lines, large_floors(setup.noise_floors, setup.delta));
  add_instruction_remarks(report, lines);
  const auto incomparable = [&](const std::vector<std::string>& names, std::string_view why) {
    for (const auto& name : names) add(lines, "{}: {}; nothing to compare with.", name, why);
  };
  incomparable(setup.only_base, "only base has it");
  incomparable(setup.failing_in_base, "fails in base");
  incomparable(setup.only_head, "only head has it");
  for (const auto& [name, reason] : setup.left_out) add(lines, "{}: left out: {}.", name, reason);
  add_busy_machine(report, lines);
  return lines;
}

/// "3.0 %", or from the least to the greatest where a noise floor is above it.
std::string threshold_text(const model::PairedSetup& setup, const PairedReport& report) {
  if (report.benchmarks.empty()) return percent(setup.delta);
  const auto [a, b] = std::ranges::minmax(report.benchmarks, {}, &BenchmarkVerdict::delta);
  return range_text(percent(a.delta), percent(b.delta)) +
         (a.delta == b.delta ? "" : ", by benchmark,");
}

/// How the CPU times were judged, where any was.
std::string cpu_basis(const model::PairedSetup& setup) {
  if (setup.cpu_time_of.empty()) return {};
  std::string text = fmt::format(
      " CPU times are judged apart, with a chance of {} of their own and the noise floors of the "
      "wall times; a row of theirs is shown where a time is no plain PASS.",
      percent(setup.alpha));
  const auto is_partial = [](const auto& entry) {
    return entry.second == model::CpuTimeOf::main_thread;
  };
  if (std::ranges::any_of(setup.cpu_time_of, is_partial)) {
    text +=
        " Google Benchmark's are those of the main thread alone, unless MeasureProcessCPUTime() is "
        "called.";
  }
  return text;
}

/// What others used, where the journal says it.
std::string machine_basis(const model::Drift& machine) {
  if (!machine.others_share || !machine.stolen_share) return {};
  return fmt::format(" Others used {} of the CPUs meanwhile, the hypervisor {}.",
                     percent(*machine.others_share), percent(*machine.stolen_share));
}

std::string basis(const PairedTrial& trial, const PairedReport& report) {
  const auto& setup = trial.setup;
  const auto blocks = static_cast<std::size_t>(report.blocks);
  std::string text = fmt::format(
      "{}, {}, {} of {} ms in each; seed {}. FAIL: slower by {} or more, with a chance of {} that "
      "any is a false alarm. PASS: the upper end of the interval, or of a wider one at an early "
      "look, is below that.",
      counted(blocks, "block"), counted(blocks * model::kBlockSize, "process"),
      counted(static_cast<std::size_t>(setup.repetitions), "repetition"), setup.min_time_s * 1e3,
      setup.seed, threshold_text(setup, report), percent(setup.alpha));
  text += cpu_basis(setup);
  if (setup.counts_instructions) text += " " + instructions_remark();
  return text + machine_basis(report.machine) + noise_floors_text(setup.noise_floors);
}

std::string headline(const PairedReport& report) {
  std::string text = headline_of(report.overall, report.benchmarks);
  const auto tell = [&](std::string_view before, const auto& is_meant, std::string_view after) {
    const std::size_t some = how_many(report.benchmarks, is_meant);
    if (some > 0) text += fmt::format(", {}{}{}", before, some, after);
  };
  const auto instructions = [](Verdict verdict) {
    return [verdict](const auto& row) {
      return row.instructions && row.instructions->verdict == verdict;
    };
  };
  tell(
      "", [](const auto& row) { return row.cpu && row.cpu->verdict == Verdict::fail; },
      " with more CPU time");
  tell(
      "the CPU time of ", [](const auto& row) { return row.cpu && holds_back(*row.cpu); },
      " undecided");
  tell("", instructions(Verdict::fail), " with more instructions");
  tell("the instructions of ", instructions(Verdict::inconclusive), " not known");
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

/// With a fifth on top, for blocks do not all take the same time: "45s", "12m".
std::string budget_for(double seconds) {
  const double ample = 1.2 * seconds;
  if (ample <= 120) return fmt::format("{:g}s", std::max(5.0, 5 * std::ceil(ample / 5)));
  return fmt::format("{:g}m", std::ceil(ample / 60));
}

/// The options that give a trial so many blocks.
std::string options_for(std::size_t blocks, const verdict::Reach& reach,
                        const model::PairedSetup& setup) {
  std::string text;
  if (blocks > static_cast<std::size_t>(setup.max_blocks)) {
    text = fmt::format("--max-blocks {}", blocks);
  }
  if (reach.blocks < setup.max_blocks) {
    const double budget_s = reach.block_s * static_cast<double>(blocks);
    text += fmt::format("{}--budget {}", text.empty() ? "" : " ", budget_for(budget_s));
    if (setup.benchmarks.size() > 1) text += ", or fewer benchmarks with --workload";
  }
  return text;
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
  std::map<std::string, std::pair<double, double>> ranges;  // by where they are known from
  for (const auto& [name, floor] : floors) {
    const auto place = ranges.try_emplace(floor.source, floor.epsilon, floor.epsilon).first;
    auto& [least, greatest] = place->second;
    least = std::min(least, floor.epsilon);
    greatest = std::max(greatest, floor.epsilon);
  }
  std::string text;
  for (const auto& [source, range] : ranges) {
    text += fmt::format(" Noise floor: {}, {}.",
                        range_text(percent(range.first), percent(range.second)), source);
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
  const Cells titles{
      "benchmark", "base",       "head",    "change", interval_title(report.interval_level),
      "p",         "detectable", "verdict", "blocks"};
  return {headline(report), titles, table_rows(report, titles), remarks(trial, report),
          basis(trial, report)};
}

std::string table(const PairedTrial& trial, const PairedReport& report, const TableStyle& style) {
  return table(verdict_text(trial, report), style);
}

std::string markdown(const PairedTrial& trial, const PairedReport& report,
                     const CommentStyle& style) {
  return comment(style, verdict_text(trial, report), programs(trial.setup), report.interval_level) +
         to_reproduce(trial.setup);
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

std::string why_undecided(const verdict::MetricVerdict& row) {
  if (row.blocks < 2) return "one block does not show how noisy it is";
  const std::string matters = fmt::format("the {} that {}", percent(row.delta),
                                          row.delta > row.epsilon ? "matter" : "are noise here");
  if (!row.blocks_needed) return fmt::format("the change lies too near to {}", matters);
  if (*row.blocks_needed > static_cast<std::size_t>(row.blocks)) {
    return fmt::format("if the change is what it seems, about {} blocks tell it from {}",
                       with_separators(std::uint64_t{*row.blocks_needed}), matters);
  }
  // So many blocks decide it in four of five cases; this is the fifth.
  if (row.change >= row.delta) {
    return fmt::format(
        "it missed a FAIL narrowly, with p = {:.4f} where less than {:.4f} is asked for; a few "
        "blocks more are likely to decide it",
        row.p_adjusted, row.alpha);
  }
  return fmt::format(
      "it missed a PASS narrowly, for its upper bound is not below {}; a few blocks more are "
      "likely to decide it",
      matters);
}

std::string reach_text(const verdict::Reach& reach, const model::PairedSetup& setup) {
  const std::string blocks = counted(static_cast<std::size_t>(reach.blocks), "block");
  if (!reach.least) {
    return fmt::format(
        "no number of blocks can fail anything at --alpha {:g}%: it is less than the test's sign "
        "flips can tell; give 0.1% or more",
        100 * setup.alpha);
  }
  if (!reach.can_fail()) {
    return fmt::format("{} can fail nothing, however much slower head is; a FAIL takes {} ({})",
                       blocks, *reach.least, options_for(*reach.least, reach, setup));
  }
  if (!reach.steady || reach.is_steady()) return {};
  return fmt::format(
      "of {} and {} benchmarks, only a slowdown that shows in every block can FAIL; {} blocks "
      "allow for an exception ({})",
      blocks, setup.benchmarks.size(), *reach.steady, options_for(*reach.steady, reach, setup));
}

}  // namespace taskbench::reports::render
