#include "reports/json/paired.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "reports/json/run_fields.hpp"
#include "reports/json/verdict_fields.hpp"
#include "reports/model/fingerprint.hpp"
#include "reports/model/lookup.hpp"
#include "reports/verdict/drift.hpp"

namespace taskbench::reports::json {

using Outcome = verdict::PairedFile::Outcome;
using Stage = model::PairedFailure::Stage;

template <>
inline constexpr auto kWords<Outcome> = words("judged", "identical", "failed", "no_base");
template <>
inline constexpr auto kWords<Stage> = words("build", "start", "measure", "compare");
template <>
inline constexpr auto kWords<model::Side> = words("base", "head");
template <>
inline constexpr auto kWords<model::CpuTimeOf> = words("process", "main_thread");
template <>
inline constexpr auto kWords<model::Unit> = words("block", "machine");
template <>
inline constexpr auto kWords<model::TrialEnd> = words("decided", "budget", "blocks");

template <class Io, Like<model::CpuUse> Use>
void describe(Io& io, Use& use) {
  io("cpu_s", use.total_s);
  io("others_s", use.others_s);
  io("stolen_s", use.stolen_s);
}

template <class Io, Like<model::MachineUse> Use>
void describe(Io& io, Use& use) {
  io("seconds", use.seconds, is_not_negative);
  io.members("cpu_s", use.cpu.value);
  io("thermal_throttles", use.thermal_throttles);
  io("quota_throttles", use.quota_throttles);
  io("swapped_pages", use.swapped_pages);
}

template <class Io, Like<model::PairedProgram> Program>
void describe(Io& io, Program& program) {
  io("command", program.command);
  io("digest", program.digest);
  io.unless_default("revision", program.revision);
  io.unless_default("commit", program.commit);
  io.unless_default("cwd", program.cwd);
  io.unless_default("checkout", program.checkout);
  io.unless_default("layouts", program.layouts);
  io.unless_default("one_layout", program.one_layout);
}

template <class Io, Like<model::BuiltPrograms> Programs>
void describe(Io& io, Programs& programs) {
  io.version("taskbench_programs", 1, 1);
  io("base", programs.base);
  io("head", programs.head);
  io.unless_default("identical", programs.identical);
  io.unless_default("reproduce", programs.reproduce);
  io.unless_default("changed_files", programs.changed_files);
  io("files", programs.files);
}

template <class Io, Like<model::LeftOut> LeftOut>
void describe(Io& io, LeftOut& left_out) {
  io("name", left_out.name);
  io("reason", left_out.reason);
}

template <class Io, Like<model::TrialPart> Part>
void describe(Io& io, Part& part) {
  io("number", part.number, is_whole<1, model::kMostBlocks>);
  io("of", part.of, is_whole<1, model::kMostBlocks>);
  io("plan", part.plan);
  io("machine", part.machine);
  io("kind", part.kind);
  io("host", part.host);
  io("date", part.date);
}

void is_below_one_half(const Field& field) {
  if (field.get<double>() >= 0.5) field.fail("is not below one half");
}

template <class Io, Like<model::JudgedMetric> Metric>
void describe(Io& io, Metric& metric) {
  io("name", metric.name);
  io("delta", metric.delta, is_positive);
  io.unless_default("more_is_better", metric.more_is_better);
  io.unless_default("direction_is_given", metric.direction_is_given);
  io("of", metric.of);
}

template <class Io, Like<model::PairedSetup> Setup>
void describe(Io& io, Setup& setup) {
  io("base", setup.base);
  io("head", setup.head);
  io("seed", setup.seed);
  io("alpha", setup.alpha, is_chance);
  io("pass_error", setup.pass_error, is_chance, is_below_one_half);
  io("delta", setup.delta, is_positive);
  io("repetitions", setup.repetitions, is_whole<1, 1'000'000'000>);
  io("min_time_s", setup.min_time_s, is_positive);
  io("max_blocks", setup.max_blocks, is_whole<1, 1'000'000>);
  io.since("counts_instructions", setup.counts_instructions);
  io.unless_default("counts_first", setup.counts_first);
  io.unless_default("kind", setup.kind);
  io.unless_default("links", setup.links, is_whole<1, 1'000>);
  io.unless_default("acknowledged", setup.acknowledged);
  io("benchmarks", setup.benchmarks);
  io("only_base", setup.only_base);
  io("only_head", setup.only_head);
  io.since("failing_in_base", setup.failing_in_base);
  io.since("left_out", setup.left_out);
  io("iterations", setup.iterations);
  io("noise_floors", setup.noise_floors);
  io.since("cpu_time_of", setup.cpu_time_of);
  io.unless_default("judged", setup.judged);
  io.since("reproduce", setup.reproduce);
  io.unless_default("budget_s", setup.budget_s, is_positive);
  io.unless_default("explored_s", setup.explored_s, is_positive);
  io.unless_default("process_s", setup.process_s, is_positive);
  io.unless_default("changed_first", setup.changed_first);
  io.unless_default("changed_files", setup.changed_files);
  io.unless_default("fits_budget", setup.fits_budget);
  io.unless_default("trials", setup.trials, is_positive);
  io.unless_default("timeout_s", setup.timeout_s, is_positive);
  io.unless_default("part", setup.part);
  io.unless_default("identical", setup.identical);
  io.unless_default("parts", setup.parts);
  io.unless_default("rounds", setup.rounds, is_whole<1, model::kMostBlocks>);
  io.unless_default("unit", setup.unit);
}

template <class Io, Like<model::InstructionSample> Sample>
void describe(Io& io, Sample& sample) {
  io("instructions_of", sample.benchmark);
  io("side", sample.side);
  io("per_iteration", sample.per_iteration);
  io.or_null("reason", sample.unavailable);
  io.since("kinds", sample.kinds);
  io.unless_default("no_kinds", sample.no_kinds);
  io.unless_default("took_s", sample.took_s, is_positive);
}

template <class Io, Like<model::Uncounted> Uncounted>
void describe(Io& io, Uncounted& uncounted) {
  io("uncounted", uncounted.reason);
  io.unless_default("took_s", uncounted.took_s, is_positive);
}

template <class Io, Like<model::GrownFunction> Function>
void describe(Io& io, Function& function) {
  io("function", function.function);
  io.or_null("file", function.file);
  io("line", function.line);
  io("base", function.base, is_not_negative);
  io("head", function.head, is_not_negative);
  io("base_calls", function.base_calls, is_not_negative);
  io("head_calls", function.head_calls, is_not_negative);
}

template <class Io, Like<model::MovedKind> Kind>
void describe(Io& io, Kind& kind) {
  io("kind", kind.kind);
  io("base", kind.base, is_not_negative);
  io("head", kind.head, is_not_negative);
  io.or_null("function", kind.function);
  io.or_null("file", kind.file);
  io("line", kind.line);
}

template <class Io, Like<model::Explanation> Explanation>
void describe(Io& io, Explanation& explanation) {
  io("explains", explanation.benchmark);
  io("base", explanation.base, is_not_negative);
  io("head", explanation.head, is_not_negative);
  io("scatter", explanation.scatter, is_not_negative);
  io("functions", explanation.functions);
  io("kinds", explanation.kinds);
  io.or_null("reason", explanation.unavailable);
  io.unless_default("took_s", explanation.took_s, is_positive);
}

template <class Io, Like<model::ProcessSample> Sample>
void describe(Io& io, Sample& sample) {
  io("block", sample.block);
  io("position", sample.position);
  io.unless_default("part", sample.part);
  io.unless_default("layout", sample.layout, is_not_negative);
  io("side", sample.side);
  io("took_s", sample.took_s, is_not_negative);
  io("real_ns", sample.real_ns);
  io("counters", sample.counters);
  io.since("machine", sample.machine);
}

template <class Io, Like<model::PairedFailure> Failure>
void describe(Io& io, Failure& failure) {
  io("stage", failure.stage);
  io("side", failure.side);
  io.or_null("benchmark", failure.benchmark);
  io("message", failure.message);
  io("log", failure.lines);
}

namespace {

using model::InstructionSample;
using model::PairedSetup;
using model::PairedTrial;
using model::ProcessSample;
using model::Side;
using model::TrialEnd;

constexpr const char* kMark = "taskbench_paired";
constexpr const char* kTrialJournalMark = "taskbench_journal";
constexpr int kPairedVersion = 1;

/// The setup as the first line of a journal.
Json setup_line(const PairedSetup& setup) {
  Writer line;
  line.version(kTrialJournalMark, 1, model::kJournalVersion);
  describe(line, setup);
  return line.object;
}

PairedSetup paired_setup_from(const Field& line) {
  is_version(line.at(kTrialJournalMark), 1, model::kJournalVersion);
  auto setup = line.get<PairedSetup>();
  if (setup.identical.empty()) is_not_empty(line.at("benchmarks"));
  if (setup.part && (setup.part->number > setup.part->of || setup.part->of > setup.max_blocks)) {
    line.at("part").fail("is no part of a trial of so many blocks");
  }
  for (const std::string& name : setup.benchmarks) (void)line.at("noise_floors").at(name);
  return setup;
}

/// Refuses a count out of order. If counts only fill a share of the budget, they have no order.
void require_place(const Field& line, const PairedTrial& trial, const InstructionSample& sample) {
  const std::size_t place = trial.instructions.size();
  const auto& names = trial.setup.benchmarks;
  bool fits = false;
  if (trial.setup.counts_instructions) {
    fits = place / 2 < names.size() && sample.benchmark == names[place / 2] &&
           (sample.side == Side::head) == (place % 2 == 1);
  } else if (trial.setup.counts_first) {
    fits = model::contains(names, sample.benchmark) &&
           std::ranges::none_of(trial.instructions, [&](const InstructionSample& other) {
             return other.benchmark == sample.benchmark && other.side == sample.side;
           });
  }
  if (!fits) line.fail("is not the count that follows the one before");
}

InstructionSample instructions_from(const Field& line, const PairedTrial& trial) {
  auto sample = line.get<InstructionSample>();
  require_place(line, trial, sample);
  if (sample.per_iteration.empty() == sample.unavailable.empty()) {
    line.fail("needs counts or a reason, and not both");
  }
  for (const Field& count : line.at("per_iteration").elements()) is_positive(count);
  for (const auto& [kind, counts] : sample.kinds) {
    const Field counted = line.at("kinds").at(kind);
    if (counts.size() != sample.per_iteration.size()) counted.fail("has not one count a process");
    for (const Field& count : counted.elements()) is_not_negative(count);
  }
  return sample;
}

/// Refuses a process without the times of its block's benchmarks: a subset, the same in each of its
/// processes.
void require_times(const Field& line, const PairedTrial& trial, const ProcessSample& sample) {
  const auto& first = sample.position == 0
                          ? sample
                          : trial.samples[trial.samples.size() - std::size_t(sample.position)];
  if (sample.real_ns.empty()) line.at("real_ns").fail("has no time");
  std::size_t known = 0;
  for (const std::string& name : trial.setup.benchmarks) {
    const double* const time = model::find_in(sample.real_ns, name);
    const bool has_time = time != nullptr && std::isfinite(*time) && *time > 0;
    known += has_time ? 1 : 0;
    if (has_time == first.real_ns.contains(name)) continue;
    line.at("real_ns").fail(
        fmt::format("has {} of '{}'", has_time ? "a new time" : "no time", name));
  }
  if (known != sample.real_ns.size()) {
    line.at("real_ns").fail("has times of what the trial does not compare");
  }
}

ProcessSample sample_from(const Field& line, const PairedTrial& trial) {
  auto sample = line.get<ProcessSample>();
  const auto place = static_cast<int>(trial.samples.size());
  if (sample.block != place / model::kBlockSize || sample.position != place % model::kBlockSize) {
    line.fail("is not the process that follows the one before");
  }
  require_times(line, trial, sample);
  return sample;
}

/// Adds the content of one line of a journal; a report contains the same lines.
void add_line(PairedTrial& trial, const Field& line, bool is_first) {
  if (is_first) {
    trial.setup = paired_setup_from(line);
  } else if (line.contains("explains")) {
    line.get_to(trial.explanations.emplace_back());
  } else if (trial.end) {
    line.fail("comes after the end");
  } else if (line.contains("end")) {
    line.at("end").get_to(trial.end.emplace());
  } else if (line.contains("uncounted")) {
    line.get_to(trial.uncounted);
  } else if (line.contains("instructions_of")) {
    trial.instructions.push_back(instructions_from(line, trial));
  } else {
    trial.samples.push_back(sample_from(line, trial));
  }
}

void describe_judged(Writer& io, const PairedTrial& trial, const verdict::PairedReport& report) {
  io("blocks", report.blocks);
  io("complete", trial.end.has_value());
  io("could_fail", report.could_fail);
  io("blind", report.blind);
  io("resting", report.resting);
  io("unreached", report.unreached);
  io("blocks_that_can_fail", verdict::reach_of(trial, report.blocks).least);
  io("machine", report.machine);
  if (!report.machines.empty()) io("machines", report.machines);
  io("benchmarks", report.benchmarks);
  io("setup", setup_line(trial.setup));
  io("instructions", trial.instructions);
  if (!trial.uncounted.reason.empty()) io("not_counted", trial.uncounted);
  io("samples", trial.samples);
  io("explanations", trial.explanations);
}

/// Reads the journal's lines, which a report contains unchanged, with the checks for a journal.
PairedTrial trial_from(const Field& document) {
  PairedTrial trial;
  add_line(trial, document.at("setup"), true);
  const auto add_all = [&](const Field& lines) {
    for (const Field& line : lines.elements()) add_line(trial, line, false);
  };
  if (document.contains("instructions")) add_all(document.at("instructions"));  // not in older ones
  if (document.contains("not_counted")) add_line(trial, document.at("not_counted"), false);
  add_all(document.at("samples"));
  if (document.contains("explanations")) add_all(document.at("explanations"));  // likewise
  return trial;
}

void read_judged(const Field& document, verdict::PairedFile& file) {
  file.trial = trial_from(document);
  const auto most_blocks = verdict::complete_blocks(file.trial);
  document.at("verdict").get_to(file.report.overall);
  file.report.blocks = static_cast<int>(document.at("blocks").whole(0, most_blocks));
  // The report does not contain the end's reason; nothing here depends on it.
  if (document.at("complete").get<bool>()) file.trial.end = TrialEnd::decided;
  file.report.could_fail = true;
  Reader(document).since("could_fail", file.report.could_fail);
  Reader(document).since("blind", file.report.blind);
  Reader(document).since("resting", file.report.resting);
  Reader(document).since("unreached", file.report.unreached);
  Reader(document).since("machines", file.report.machines);
  file.report.machine = verdict::drift_over(file.trial.samples);
  const auto& names = file.trial.setup.benchmarks;
  const std::set<std::string> known(names.begin(), names.end());
  for (const Field& benchmark : document.at("benchmarks").elements()) {
    auto& row = file.report.benchmarks.emplace_back(benchmark.get<verdict::BenchmarkVerdict>());
    file.report.interval_level = row.interval_level;
    if (row.by_machine && row.by_machine->machines.size() != file.report.machines.size()) {
      benchmark.at("by_machine").fail("has not one entry for each machine");
    }
    if (!known.contains(row.name)) benchmark.at("name").fail("names a benchmark without samples");
    if (!row.instructions || row.instructions->exact) continue;
    if (row.instructions->verdict != verdict::Verdict::inconclusive ||
        row.instructions->reason.empty()) {
      benchmark.at("instructions").fail("has no count, and so needs a reason, and no verdict");
    }
  }
}

verdict::PairedFile file_from(const Field& document) {
  is_version(document.at(kMark), kPairedVersion, kPairedVersion);
  verdict::PairedFile file;
  document.at("outcome").get_to(file.outcome);
  if (file.outcome == Outcome::judged) {
    read_judged(document, file);
    return file;
  }
  document.at("base").get_to(file.trial.setup.base);
  document.at("head").get_to(file.trial.setup.head);
  document.at("reproduce").get_to(file.trial.setup.reproduce);
  if (file.outcome == Outcome::identical) {
    Reader(document).since("why", file.why);
  } else {
    document.at("failure").get_to(file.failure);
  }
  return file;
}

}  // namespace

std::string journal_line(const PairedSetup& setup) { return line_text(setup_line(setup)); }

std::string plan_digest(PairedSetup asked, const std::vector<std::string>& alike, int parts) {
  asked.base = asked.head = {};
  asked.benchmarks = alike;
  asked.reproduce.clear();
  asked.timeout_s = 0;
  for (model::JudgedMetric& each : asked.judged) each.of.clear();
  asked.part.reset();
  const std::string text = fmt::format("{} {}", parts, journal_line(asked));
  return fmt::format("{:016x}", model::fingerprint(text));
}

std::string journal_line(const InstructionSample& sample) { return line_text(sample); }
std::string journal_line(const ProcessSample& sample) { return line_text(sample); }
std::string journal_line(const model::Explanation& explained) { return line_text(explained); }
std::string journal_line(const model::Uncounted& uncounted) { return line_text(uncounted); }

std::string journal_line(TrialEnd end) {
  Writer line;
  line("end", end);
  return line_text(line.object);
}

PairedTrial parse_journal(const std::filesystem::path& path, std::string_view content) {
  PairedTrial trial;
  for_each_line(path, content, [&](std::string_view text, std::size_t number) {
    const Json document = parse_json(text);
    add_line(trial, Field(document), number == 1);
  });
  return trial;
}

std::string to_json(const verdict::PairedFile& file) {
  Writer io;
  io.version(kMark, kPairedVersion, kPairedVersion);
  io("outcome", file.outcome);
  io("verdict", file.verdict());
  io("base", file.trial.setup.base);
  io("head", file.trial.setup.head);
  io("reproduce", file.trial.setup.reproduce);
  if (file.outcome == Outcome::judged) {
    describe_judged(io, file.trial, file.report);
  } else if (file.outcome == Outcome::identical) {
    io("why", file.why);
  } else {
    io("failure", file.failure);
  }
  return file_text(io.object);
}

std::string to_json(const model::BuiltPrograms& programs) { return file_text(programs); }

model::BuiltPrograms parse_programs(const std::filesystem::path& path, std::string_view text) {
  return read_file_text(path, text, "not a sound list of programs: ", "build them again",
                        [](const Field& root) { return root.get<model::BuiltPrograms>(); });
}

bool is_paired_report(std::string_view text) { return begins_with_key(text, kMark); }

verdict::PairedFile parse_paired_report(const std::filesystem::path& path, std::string_view text) {
  return read_file_text(path, text, "not a sound report of `taskbench ab`: ", "create it again",
                        file_from);
}

}  // namespace taskbench::reports::json
