#include "reports/render/paired.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "reports/render/counts.hpp"
#include "reports/render/effort.hpp"
#include "reports/render/machines.hpp"
#include "reports/render/paired_basis.hpp"
#include "reports/verdict/drift.hpp"

namespace taskbench::reports::render {
namespace {

using model::PairedTrial;
using verdict::BenchmarkVerdict;
using verdict::PairedFile;
using verdict::PairedReport;
using verdict::Verdict;

std::string probability(double p) {
  return p < 0.001 ? fmt::format("{:.5f}", p) : fmt::format("{:.3f}", p);
}

/// "16", or "16 of 63" for a benchmark that the later blocks did not measure.
std::string blocks_text(const verdict::MetricVerdict& row, int of_trial) {
  return row.blocks < of_trial ? fmt::format("{} of {}", row.blocks, of_trial)
                               : std::to_string(row.blocks);
}

VerdictText::Row row_of(std::string title, const verdict::MetricVerdict& row, int blocks,
                        std::string_view better, const std::optional<Effort>& effort) {
  const Bar bar{std::move(title), row.change, row.low,
                row.high,         row.delta,  verdict_cell(row.verdict, row.improved, better)};
  Cells cells = compared_cells(bar, row.base, row.head);
  append(cells, {percent(row.delta), probability(row.p_adjusted), percent(row.detectable),
                 blocks_text(row, blocks)});
  if (effort) {
    cells.push_back(row.verdict == Verdict::inconclusive ? effort_cell(*effort)
                                                         : std::string(kNone));
  }
  return {std::move(cells), row.verdict, bar};
}

VerdictText::Row row_of(const verdict::JudgedVerdict& row, int blocks,
                        const std::optional<Effort>& effort) {
  VerdictText::Row made = row_of("  its " + row.metric, as_ratio(row), blocks,
                                 row.more_is_better ? "more" : "less", effort);
  made.cells[2] = value_text(row.metric, row.base);
  made.cells[3] = value_text(row.metric, row.head);
  if (row.more_is_better) made.bar.reset();  // worse is to the left
  return made;
}

bool is_plain_pass(const verdict::MetricVerdict& row) {
  return row.verdict == Verdict::pass && !row.improved;
}

/// Whether the CPU time gets a row. Most benchmarks pass by both times: twice as many rows would
/// not say more.
bool shows_cpu_time(const BenchmarkVerdict& row) {
  return row.cpu && !(is_plain_pass(row) && is_plain_pass(*row.cpu));
}

bool is_of_main_thread(const model::PairedSetup& setup, const std::string& benchmark) {
  return model::value_at(setup.cpu_time_of, benchmark) == model::CpuTimeOf::main_thread;
}

enum class Spent { computing, waiting, unknown };

/// How a growth in wall time was spent, judging by the CPU time.
Spent spent_on(const BenchmarkVerdict& row) {
  if (!row.cpu || !row.cpu->low || !row.cpu->high) return Spent::unknown;
  const verdict::MetricVerdict& cpu = *row.cpu;
  const double longer = row.head - row.base;
  if (*cpu.low > 0 && cpu.head - cpu.base >= longer / 2) return Spent::computing;
  // CPU time has grown, but by less than half of the wall time: neither is the sole reason.
  if (*cpu.low > 0) return Spent::unknown;
  return *cpu.high * cpu.base < longer / 2 ? Spent::waiting : Spent::unknown;
}

/// Why the wall time has grown: what the CPU time shows, and what else changed.
Sentences why_slower(const BenchmarkVerdict& row) {
  Sentences why;
  if (row.cpu) {
    const Spent spent = spent_on(row);
    add(why, "{}its CPU time {}",
        spent == Spent::computing ? "it computes more, "
        : spent == Spent::waiting ? "it waits longer, "
                                  : "",
        percent_change(row.cpu->change));
  }
  if (row.instructions) {
    if (std::string more = instructions_text(*row.instructions); !more.empty()) {
      why.push_back(std::move(more));
    }
  }
  return why;
}

/// Makes the benchmark's verdict one about `metric`.
void take_metric(Metric metric, const verdict::MetricVerdict& from,
                 VerdictText::Benchmark& benchmark) {
  take_figures(metric, from, benchmark);
  benchmark.levels = levels_text(from.base, from.head);
}

/// The first metric with that verdict and with figures.
const verdict::JudgedVerdict* first_with(Verdict verdict, const BenchmarkVerdict& row) {
  const auto found = std::ranges::find_if(row.judged, [&](const verdict::JudgedVerdict& each) {
    return each.verdict == verdict && each.reason.empty();
  });
  return found == row.judged.end() ? nullptr : &*found;
}

/// Adds the metrics that fail in addition to the subject of the verdict.
void add_other_failures(const BenchmarkVerdict& row, const VerdictText::Benchmark& benchmark,
                        Sentences& why) {
  for (const verdict::JudgedVerdict& each : row.judged) {
    if (each.verdict != Verdict::fail || each.metric == benchmark.metric_name) continue;
    add(why, "it fails by {}, too, {}", each.metric, percent_change(as_ratio(each).change));
  }
}

/// Adds a threshold that differs from --delta.
void add_threshold(const verdict::MetricVerdict& row, double delta, Sentences& why) {
  if (row.delta > delta) {
    add(why, "its threshold is {}, not {}", percent(row.delta), percent(delta));
  }
}

/// The benchmark as judged by its times, without instructions.
VerdictText::Benchmark judged_times(const model::PairedSetup& setup, const BenchmarkVerdict& row,
                                    bool any_undecided, const verdict::Reach& reach) {
  VerdictText::Benchmark benchmark{.name = row.name};
  take_metric(Metric::time, row, benchmark);
  Sentences why;
  if (row.verdict == Verdict::fail) {
    why = why_slower(row);
    add_threshold(row, setup.delta, why);
  } else if (row.cpu && row.cpu->verdict == Verdict::fail) {
    add(why, "its wall time {}, {}", row.verdict == Verdict::pass ? "passes" : "is undecided",
        percent_change(row.change));
    take_metric(Metric::cpu_time, *row.cpu, benchmark);
    if (is_of_main_thread(setup, row.name)) {
      why.emplace_back("the CPU time is that of its main thread");
    }
    add_threshold(*row.cpu, setup.delta, why);
  } else if (const auto* const failed = first_with(Verdict::fail, row)) {
    add(why, "its time {}, {}", row.verdict == Verdict::pass ? "passes" : "is undecided",
        percent_change(row.change));
    take_judged(*failed, benchmark);
  } else if (row.verdict == Verdict::pass && row.cpu && holds_back(*row.cpu)) {
    take_metric(Metric::cpu_time, *row.cpu, benchmark);
  } else if (const auto* const open = first_with(Verdict::inconclusive, row);
             row.verdict == Verdict::pass && open != nullptr) {
    take_judged(*open, benchmark);
  }
  add_other_failures(row, benchmark, why);
  benchmark.reason = fmt::format("{}", fmt::join(why, "; "));
  const auto effort = [&](const verdict::MetricVerdict& of) {
    return any_undecided ? std::optional(effort_of(of, reach)) : std::nullopt;
  };
  benchmark.rows.push_back(row_of(row.name, row, reach.blocks, "faster", effort(row)));
  if (shows_cpu_time(row)) {
    benchmark.rows.push_back(
        row_of("  its CPU time", *row.cpu, reach.blocks, "less", effort(*row.cpu)));
  }
  for (const verdict::JudgedVerdict& each : row.judged) {
    if (!each.reason.empty()) continue;
    benchmark.rows.push_back(row_of(each, reach.blocks, effort(each)));
  }
  return benchmark;
}

bool is_any_undecided(const PairedReport& report) {
  return std::ranges::any_of(report.benchmarks, [](const BenchmarkVerdict& row) {
    return row.verdict == Verdict::inconclusive ||
           (row.cpu && row.cpu->verdict == Verdict::inconclusive) ||
           first_with(Verdict::inconclusive, row) != nullptr;
  });
}

/// The metric that the benchmark's verdict is about.
const verdict::MetricVerdict& metric_of(const BenchmarkVerdict& row,
                                        const VerdictText::Benchmark& benchmark) {
  if (benchmark.metric == Metric::cpu_time) return *row.cpu;
  if (benchmark.metric != Metric::asked_for) return row;
  return *model::element_of(row.judged, benchmark.metric_name, &verdict::JudgedVerdict::metric);
}

/// Groups undecided benchmarks by what would decide them. Benchmarks with the same kind of effort
/// share the greatest of them.
void add_efforts(const PairedReport& report, const model::PairedSetup& setup,
                 const verdict::Reach& reach, std::vector<VerdictText::Benchmark>& benchmarks) {
  std::map<Effort::Kind, Effort> greatest;
  const auto each = [&](const auto& use) {
    for (std::size_t i = 0; i < benchmarks.size(); ++i) {
      if (benchmarks[i].verdict != Verdict::inconclusive) continue;
      use(benchmarks[i], effort_of(metric_of(report.benchmarks[i], benchmarks[i]), reach));
    }
  };
  each([&](const VerdictText::Benchmark&, const Effort& effort) {
    Effort& most = greatest[effort.kind];
    if (effort.blocks >= most.blocks) most = effort;
  });
  each([&](VerdictText::Benchmark& benchmark, const Effort& effort) {
    benchmark.effort = static_cast<double>(effort.kind);
    benchmark.reason = effort_text(greatest[effort.kind], setup);
  });
}

/// Adds the metrics that cannot be judged, since the user has requested them.
void add_unjudged(const BenchmarkVerdict& row, const Cells& titles,
                  VerdictText::Benchmark& benchmark) {
  for (const verdict::JudgedVerdict& each : row.judged) {
    if (each.reason.empty()) continue;
    benchmark.rows.push_back(counted_row(titles, each.metric, each.verdict, false, false));
    if (benchmark.verdict != Verdict::pass) continue;
    benchmark.leave_open(Metric::asked_for, "not judged, as " + each.reason);
    benchmark.metric_name = each.metric;
  }
}

std::vector<VerdictText::Benchmark> benchmarks_of(const PairedTrial& trial,
                                                  const PairedReport& report, const Cells& titles) {
  const verdict::Reach reach = verdict::reach_of(trial, report.blocks);
  const bool any_undecided = is_any_undecided(report);
  std::vector<VerdictText::Benchmark> benchmarks;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    benchmarks.push_back(judged_times(trial.setup, row, any_undecided, reach));
  }
  add_efforts(report, trial.setup, reach, benchmarks);
  for (std::size_t i = 0; i < benchmarks.size(); ++i) {
    const auto& instructions = report.benchmarks[i].instructions;
    if (instructions) add_instructions(*instructions, titles, benchmarks[i]);
    add_kinds(report.benchmarks[i].kinds, titles, benchmarks[i]);
    add_unjudged(report.benchmarks[i], titles, benchmarks[i]);
    if (benchmarks[i].verdict == Verdict::fail) {
      benchmarks[i].add_reason(moved_counters(report.benchmarks[i].counters));
    }
  }
  return in_reading_order(std::move(benchmarks));
}

/// Warns of other work on the machine, if there was a relevant amount.
void add_busy_machine(const PairedReport& report, Sentences& lines) {
  const std::string warning = verdict::drift_warning(report.machine);
  if (warning.empty()) return;
  add(lines, "{}{}.", capitalised(warning),
      report.overall == Verdict::inconclusive
          ? "; that makes times scatter, so compare again when less is running"
          : "");
}

/// "1 benchmark was", "2 benchmarks were"
std::string counted_are(std::size_t count) {
  return counted(count, "benchmark") + (count == 1 ? " was" : " were");
}

/// Adds a verdict that all blocks together did not confirm.
void add_withdrawn(std::string_view what, const verdict::MetricVerdict& row, Sentences& lines) {
  if (row.verdict != Verdict::inconclusive || !row.decided) return;
  add(lines,
      "{} was a {} after the first {}, at {}; all {} together, at {}, do not confirm that, so it "
      "is INCONCLUSIVE.",
      what, word(row.decided->verdict), counted(row.decided->blocks, "block"),
      percent_change(row.decided->change), row.blocks, percent_change(row.change));
}

/// Says what was cut short or left out for lack of time.
void add_not_closely(const PairedReport& report, Sentences& lines) {
  if (!report.resting.empty()) {
    int most = 0;
    std::optional<double> high = 0;  // empty: unlimited
    for (const BenchmarkVerdict& row : report.benchmarks) {
      if (!model::contains(report.resting, row.name)) continue;
      most = std::max(most, row.blocks);
      high = high && row.high ? std::optional(std::max(*high, *row.high)) : std::nullopt;
    }
    add(lines,
        "{} not looked at closely, as there was no time for all: after at most {}, others seemed "
        "slower. {} could hide there; a longer --budget, --workload or --changed-first would tell.",
        counted_are(report.resting.size()), counted(most, "block"),
        high ? fmt::format("A slowdown of up to {}", percent(*high)) : "Any slowdown");
  }
  if (!report.unreached.empty()) {
    add(lines, "{} not judged at all, as there was no time: {}.",
        counted_are(report.unreached.size()), names_text(report.unreached));
  }
}

/// The benchmarks that do not report a metric to be judged.
Sentences unreported_metrics(const model::PairedSetup& setup, const PairedReport& report) {
  Sentences lines;
  for (const model::JudgedMetric& metric : setup.judged) {
    std::vector<std::string> names;
    for (const BenchmarkVerdict& row : report.benchmarks) {
      if (!metric.of.contains(row.name)) names.push_back(row.name);
    }
    add_named(lines, names, fmt::format("not judged by {}, which it does not report", metric.name));
  }
  return lines;
}

/// Details for readers who want more than the verdict. `layout_aside`: see may_be_layout().
Sentences remarks(const PairedTrial& trial, const PairedReport& report, bool layout_aside) {
  const model::PairedSetup& setup = trial.setup;
  Sentences lines;
  if (report.overall == Verdict::inconclusive && (report.blocks > 0 || setup.process_s > 0)) {
    const std::string reach = reach_text(verdict::reach_of(trial, report.blocks), setup);
    if (!reach.empty()) lines.push_back(capitalised(reach) + '.');
  }
  for (const BenchmarkVerdict& row : report.benchmarks) {
    add_withdrawn(row.name, row, lines);
    if (row.cpu) add_withdrawn("The CPU time of " + row.name, *row.cpu, lines);
    for (const verdict::JudgedVerdict& each : row.judged) {
      add_withdrawn(fmt::format("The {} of {}", each.metric, row.name), each, lines);
    }
  }
  add_not_closely(report, lines);
  append(lines, machine_remarks(trial, report));
  add_busy_machine(report, lines);
  if (layout_aside) lines.push_back(one_layout_text(setup));
  append(lines, large_floors(setup.noise_floors, setup.delta));
  NamesAndReasons uncounted;
  for (const BenchmarkVerdict& row : report.benchmarks) {
    if (row.instructions && row.verdict != Verdict::pass) {
      uncounted.push_back({row.name, row.instructions->reason});
    }
  }
  add_shared(lines, uncounted, kNoInstructions);
  append(lines, uncounted_remarks(trial, report));
  append(lines, missing_kinds(trial));
  append(lines, unreported_metrics(setup, report));
  add_named(lines, setup.only_base, "only base has it; nothing to compare with");
  add_named(lines, setup.failing_in_base, "fails in base; nothing to compare with");
  add_named(lines, setup.only_head, "only head has it; nothing to compare with");
  add_shared(lines, setup.left_out, "left out: ");
  return lines;
}

/// Explains the titles of the figures.
std::string legend(const PairedReport& report) {
  const std::size_t count = report.benchmarks.size();
  std::string text = fmt::format(
      "A block is {} processes, half of them base and half head. adjusted p: the chance {} "
      "although {} slower. detectable: a slowdown that this many blocks would FAIL four times in "
      "five.",
      model::kBlockSize,
      count == 1 ? "of such a slowdown"
                 : fmt::format("that any of {} benchmarks shows such a slowdown", count),
      count == 1 ? "it is not" : "none is");
  for (const BenchmarkVerdict& row : report.benchmarks) {
    if (row.blocks == report.blocks) continue;
    return text + fmt::format(
                      " {} blocks: a benchmark that is decided skips the later ones, and one that "
                      "seems unchanged gives way if time is short; its figures are from the blocks "
                      "that measured it.",
                      blocks_text(row, report.blocks));
  }
  return text;
}

std::string compared(const model::PairedSetup& setup) {
  return fmt::format("Head {} against base {}", program_text(setup.head), program_text(setup.base));
}

void add_reproducing(const model::PairedSetup& setup, std::vector<Block>& blocks) {
  if (setup.reproduce.empty()) return;
  blocks.emplace_back(Listing{"To measure it again", setup.reproduce, "sh"});
}

Document comment_without_verdicts(const PairedFile& file, const CommentStyle& style) {
  const bool is_identical = file.outcome == PairedFile::Outcome::identical;
  std::vector<Block> blocks{Paragraph{compared(file.trial.setup) + '.'}};
  if (is_identical) {
    blocks.emplace_back(Paragraph{capitalised(file.why) + ". Nothing was measured."});
  } else {
    if (file.outcome == PairedFile::Outcome::no_base) {
      blocks.emplace_back(Paragraph{
          "Head builds, and its benchmarks run, but there is nothing to compare them with. "
          "A change that repairs base looks like this."});
    }
    std::ranges::move(failure_blocks(file.failure), std::back_inserter(blocks));
  }
  add_reproducing(file.trial.setup, blocks);
  return comment_of(style, is_identical ? "PASS: nothing to measure" : headline_of(file),
                    {"failure", "", std::move(blocks)});
}

/// "head does not build"
std::string what_failed(const model::PairedFailure& failure) {
  using Stage = model::PairedFailure::Stage;
  const std::string_view side = failure.side ? name_of(*failure.side) : "it";
  if (failure.stage == Stage::build) return fmt::format("{} does not build", side);
  if (failure.stage == Stage::start) return fmt::format("{} cannot be measured", side);
  if (failure.stage == Stage::compare) return "base and head have no benchmark in common";
  return failure.benchmark.empty() ? fmt::format("{} failed while it was measured", side)
                                   : fmt::format("{} failed in {}", side, failure.benchmark);
}

}  // namespace

std::vector<Block> failure_blocks(const model::PairedFailure& failure) {
  std::vector<Block> blocks{Paragraph{failure.message}};
  if (!failure.lines.empty()) {
    blocks.emplace_back(Listing{"The last lines of the build's log",
                                fmt::format("{}", fmt::join(failure.lines, "\n"))});
  }
  return blocks;
}

std::string program_text(const model::PairedProgram& program) {
  if (program.commit.empty()) return program.command;
  const std::string commit = model::abbreviated(program.commit);
  if (program.commit.starts_with(program.revision)) return commit;
  return fmt::format("{} ({})", commit, program.revision);
}

VerdictText verdict_text(const PairedTrial& trial, const PairedReport& report) {
  VerdictText text;
  text.interval_level = report.interval_level;
  text.titles = compared_titles("base", "head", report.interval_level);
  append(text.titles, {"threshold", "adjusted p", "detectable", "blocks"});
  if (is_any_undecided(report)) text.titles.emplace_back("would decide");
  text.benchmarks = benchmarks_of(trial, report, text.titles);
  text.legend = legend(report);
  if (!report.could_fail && report.blocks > 0) {
    text.too_few = trial.setup.unit == model::Unit::machine
                       ? counted(verdict::machines_with_blocks(report.machines), "machine")
                       : counted(report.blocks, "block");
  }
  const bool layout_aside = may_be_layout(trial, report);
  text.remarks = remarks(trial, report, layout_aside);
  text.basis = basis(trial, report, layout_aside);
  text.explanation = explanation_lines(trial, report);
  text.headline = verdict_sentence(report.overall, text,
                                   {.alpha = trial.setup.alpha,
                                    .pass_error = trial.setup.pass_error,
                                    .threshold = threshold_text(trial.setup, report),
                                    .others = judged_thresholds(trial.setup.judged),
                                    .layout_aside = layout_aside});
  return text;
}

Document document(const PairedTrial& trial, const PairedReport& report) {
  Document answer = document(verdict_text(trial, report));
  auto& blocks = answer.sections.front().blocks;
  auto machines = machines_blocks(trial, report);
  blocks.insert(blocks.begin() + 1, std::make_move_iterator(machines.begin()),
                std::make_move_iterator(machines.end()));
  return answer;
}

std::string headline_of(const PairedFile& file) {
  using Outcome = PairedFile::Outcome;
  if (file.outcome == Outcome::judged) return verdict_text(file.trial, file.report).headline;
  if (file.outcome == Outcome::failed) return "no verdict: " + what_failed(file.failure);
  if (file.outcome == Outcome::no_base) {
    return fmt::format("INCONCLUSIVE: {}, so that there is nothing to compare with",
                       what_failed(file.failure));
  }
  return fmt::format("PASS: nothing was measured{}{}", file.why.empty() ? "" : ", because ",
                     file.why);
}

Document document(const PairedFile& file) {
  if (file.outcome == PairedFile::Outcome::judged) return document(file.trial, file.report);
  const bool is_head_sound = file.outcome == PairedFile::Outcome::no_base;
  return sentence(headline_of(file) +
                  (is_head_sound ? "; head builds, and its benchmarks run" : ""));
}

Document comment(const PairedFile& file, const CommentStyle& style) {
  if (file.outcome != PairedFile::Outcome::judged) return comment_without_verdicts(file, style);
  VerdictText text = verdict_text(file.trial, file.report);
  if (!file.failure.message.empty()) {
    text.remarks.insert(text.remarks.begin(),
                        fmt::format("{}, so that nothing more was measured: {}.",
                                    capitalised(what_failed(file.failure)), file.failure.message));
  }
  std::vector<Block> method;
  add_reproducing(file.trial.setup, method);
  Section body = comment_body(text, compared(file.trial.setup) + ": ", std::move(method));
  if (auto machines = machines_blocks(file.trial, file.report); !machines.empty()) {
    body.parts.push_back({"machines", "By machine", std::move(machines), {}, true});
  }
  return comment_of(style, text.headline, std::move(body));
}

namespace {

void add_record(const std::string& name, const std::string& metric,
                const verdict::MetricVerdict& row, Table& table) {
  table.add({name, metric, word(row.verdict), fmt::format("{}", row.improved), raw(row.base),
             raw(row.head), raw(row.change), raw(row.low), raw(row.high), raw(row.delta),
             raw(row.p_adjusted), raw(row.detectable), std::to_string(row.blocks)});
}

void add_record(const std::string& name, const verdict::InstructionsVerdict& of, Table& table) {
  using verdict::ExactChange;
  const Cell none;
  const auto value = [&](double ExactChange::*part) { return raw_part(of.exact, part); };
  table.add({name, "instructions", word(of.verdict), fmt::format("{}", of.improved()),
             value(&ExactChange::base), value(&ExactChange::head), value(&ExactChange::change),
             none, none, value(&ExactChange::threshold), none, none, none});
}

void add_record(const std::string& name, const verdict::KindVerdict& of, Table& table) {
  const Cell none;
  table.add({name, of.kind, word(of.verdict), fmt::format("{}", of.is_better()), raw(of.base),
             raw(of.head), none, none, none, raw(of.threshold), none, none, none});
}

}  // namespace

Table records(const PairedReport& report) {
  Table table =
      columns_of({"name", "metric", "verdict", "improved", "base", "head", "change", "interval_low",
                  "interval_high", "threshold", "p_adjusted", "detectable", "blocks"});
  for (const BenchmarkVerdict& row : report.benchmarks) {
    add_record(row.name, "wall_time_ns", row, table);
    if (row.cpu) add_record(row.name, "cpu_time_ns", *row.cpu, table);
    for (const auto& each : row.judged) {
      if (each.reason.empty()) add_record(row.name, each.metric, as_ratio(each), table);
    }
    if (row.instructions) add_record(row.name, *row.instructions, table);
    for (const auto& kind : row.kinds) add_record(row.name, kind, table);
  }
  return table;
}

}  // namespace taskbench::reports::render
