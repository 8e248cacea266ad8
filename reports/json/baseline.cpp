#include "reports/json/baseline.hpp"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "reports/json/verdict_fields.hpp"
#include "reports/model/lookup.hpp"

namespace taskbench::reports::json {

constexpr std::int64_t kMany = 1'000'000'000'000;

void is_positive_if_known(const Field& field) {
  if (!field.is_null()) is_positive(field);
}

template <class Io, Like<model::CanaryTimes> Times>
void describe(Io& io, Times& times) {
  io("cpu_ns", times.cpu_ns, is_positive);
  io("memory_ns", times.memory_ns, is_positive);
  io("futex_ns", times.futex_ns, is_positive);
  io("handover_ns", times.handover_ns, is_positive_if_known);
}

template <class Io, Like<model::ComparedWith> Compared>
void describe(Io& io, Compared& compared) {
  io("baseline", compared.rolling);
  io.or_null("anchor", compared.anchor);
  io("alpha", compared.alpha, is_positive);
  io("delta", compared.delta, is_not_negative);
  io("allow_busy", compared.allow_busy);
  io("noise_floors", compared.noise_floors);
}

template <class Io, Like<model::Fact<model::CpuUse>> Fact>
void describe(Io& io, Fact& use) {
  io.either("unknown", use.reason, use.value, [&](auto& known) {
    io("seconds", known.seconds, is_positive);
    io("total_s", known.total_s, is_not_negative);
    io("others_s", known.others_s);
    io("stolen_s", known.stolen_s);
  });
}

template <class Io, Like<model::SeriesProcess> Process>
void describe(Io& io, Process& process) {
  io("canary_before", process.before);
  io("canary_after", process.after);
  io("real_ns", process.real_ns);
  io("cpu_use", process.use);
}

/// A benchmark as a setup lists it.
struct ListedBenchmark {
  std::string name;
  std::optional<std::int64_t> iterations;
};

template <class Io, Like<ListedBenchmark> Benchmark>
void describe(Io& io, Benchmark& benchmark) {
  io("name", benchmark.name);
  io("iterations", benchmark.iterations);
}

/// Describes a setup without the benchmarks, which are in two members.
template <class Io, Like<model::SeriesSetup> Setup>
void describe(Io& io, Setup& setup) {
  io("name", setup.name);
  io("date", setup.date);
  io.or_null("commit", setup.commit);
  io.part("program", [&](auto& part) {
    part.or_null("command", setup.command);
    part.unless_default("kind", setup.kind);
    part.or_null("digest", setup.digest);
  });
  io("machine", setup.key.machine, is_not_empty);
  io("build", setup.key.build, is_not_empty);
  io.part("settings", [&](auto& part) {
    part("processes", setup.processes, is_whole<1, std::numeric_limits<std::int32_t>::max()>);
    part("seed", setup.seed);
    part("repetitions", setup.repetitions, is_whole<1, kMany>);
    part("min_time_s", setup.min_time_s, is_positive);
  });
}

template <>
inline constexpr auto kWords<verdict::BaselineFailure::Stage> = words("machine", "measure");

void describe(Writer& io, const verdict::StoredComparison& comparison) {
  io("verdict", comparison.verdict);
  io("improved", comparison.improved);
  io("change", comparison.change);
  io("interval_level", verdict::kIntervalLevel);
  io("interval_low", comparison.low);
  io("interval_high", comparison.high);
  io("delta", comparison.delta);
  io("limit", comparison.limit);
  io("detectable", comparison.detectable);
  io("stored_processes", comparison.stored);
  io("fresh_processes", comparison.fresh);
}

/// The CPU use of other processes and the hypervisor, in CPUs.
void describe(Writer& io, const model::Fact<verdict::Others>& others) {
  io.either("unknown", others.reason, others.value, [&](const verdict::Others& known) {
    io("cpus", known.cpus);
    io("used", known.used);
    io("stolen", known.stolen);
    io("taken", known.taken);
  });
}

void describe(Writer& io, const verdict::BaselineRow& row) {
  io("name", row.name);
  io("verdict", row.verdict);
  io("improved", row.improved);
  io("drifted", row.drifted);
  io("unconfirmed", row.unconfirmed);
  io("baseline_ns", row.baseline_ns);
  io("now_ns", row.now_ns);
  io("against_baseline", row.rolling);
  io("against_anchor", row.anchor);
}

/// The changes of the canary's parts, by their names.
struct CanaryChanges {
  const std::vector<verdict::CanaryChange>& changes;
};

void describe(Writer& io, const CanaryChanges& canary) {
  for (const verdict::CanaryChange& each : canary.changes) {
    io.part(each.part, [&](Writer& part) {
      part("change", each.change);
      part("limit", each.limit);
      part("moved", each.moved);
    });
  }
}

/// The origin of a stored series.
struct SeriesOrigin {
  const model::SeriesSetup& setup;
};

void describe(Writer& io, const SeriesOrigin& origin) {
  io("date", origin.setup.date);
  io.or_null("commit", origin.setup.commit);
  io("processes", origin.setup.processes);
}

void describe(Writer& io, const model::Series& series) {
  describe(io, SeriesOrigin{series.setup});
  io.each("benchmarks", verdict::spreads_of(series), [](Writer& row, const auto& each) {
    const auto& [name, spread] = each;
    row("name", name);
    row("median_ns", spread.median);
    row("mad_ns", spread.mad.value_or(0));
    row("min_ns", spread.min);
    row("max_ns", spread.max);
  });
}

void describe(Writer& io, const verdict::StoredBaseline& stored) {
  const model::SeriesSetup& setup = stored.rolling.setup;
  io("name", setup.name);
  io("key", model::baseline_key(setup.key));
  io("this_machine", stored.this_machine);
  io("machine", setup.key.machine);
  io("build", setup.key.build);
  io("baseline", stored.rolling);
  io("anchor", stored.anchor);
}

/// A baseline on a line of `taskbench baseline list`.
void describe_listed(Writer& io, const verdict::StoredBaseline& stored) {
  const model::SeriesSetup& setup = stored.rolling.setup;
  io("name", setup.name);
  io("key", model::baseline_key(setup.key));
  io("this_machine", stored.this_machine);
  describe(io, SeriesOrigin{setup});
  io("benchmarks", setup.benchmarks);
  io("anchor_date", stored.anchor ? std::optional(stored.anchor->setup.date) : std::nullopt);
}

void describe(Writer& io, const verdict::BaselineComparison& comparison) {
  const auto& [now, rolling, anchor, policy, report] = comparison;
  io.version("taskbench_baseline_comparison", 1, 1);
  io("verdict", report.environment_moved ? "ENVIRONMENT" : word(report.overall));
  io("name", rolling.setup.name);
  io("key", model::baseline_key(rolling.setup.key));
  io("baseline", SeriesOrigin{rolling.setup});
  io("anchor", anchor ? json_of(SeriesOrigin{anchor->setup}) : Json());
  io("alpha", policy.alpha);
  io("delta", policy.delta);
  io("benchmarks", report.rows);
  io("rounds", report.rounds);
  io("others_then", report.others_then);
  io("others_now", report.others_now);
  io("others_moved", report.others_moved);
  io("cpus_moved", report.moved_cpus.has_value());
  io("canary", CanaryChanges{report.canary});
  io("canary_since_anchor",
     report.anchor_canary.empty() ? Json() : json_of(CanaryChanges{report.anchor_canary}));
  io("anchor_judged", anchor.has_value() && !report.anchor_void);
  io("only_baseline", report.only_baseline);
  io("only_now", report.only_now);
}

void describe(Writer& io, const verdict::BaselineFailure& failure) {
  io.version("taskbench_baseline_comparison", 1, 1);
  io("verdict", Json());
  io("name", failure.name);
  io.part("failure", [&](Writer& part) {
    part("stage", failure.stage);
    part("message", failure.message);
  });
}

namespace {

using model::Series;
using model::SeriesProcess;
using model::SeriesSetup;

constexpr const char* kFileMark = "taskbench_baseline";
constexpr const char* kJournalMark = "taskbench_baseline_journal";

void describe_setup(Writer& io, const char* mark, const SeriesSetup& setup) {
  io.version(mark, model::kBaselineVersion, model::kBaselineVersion);
  describe(io, setup);
  io.each("benchmarks", setup.benchmarks, [&](Writer& row, const std::string& name) {
    row("name", name);
    row("iterations", model::value_at(setup.iterations, name));
  });
}

SeriesSetup setup_from(const Field& document) {
  auto setup = document.get<SeriesSetup>();
  std::set<std::string> known;
  for (const Field& field : document.at("benchmarks").elements()) {
    const auto benchmark = field.get<ListedBenchmark>();
    if (!known.insert(benchmark.name).second) field.at("name").fail("is there twice");
    setup.benchmarks.push_back(benchmark.name);
    if (!benchmark.iterations) continue;
    is_whole<1, kMany>(field.at("iterations"));
    setup.iterations[benchmark.name] = *benchmark.iterations;
  }
  is_not_empty(document.at("benchmarks"));
  return setup;
}

SeriesProcess process_from(const Field& field, const SeriesSetup& setup) {
  auto process = field.get<SeriesProcess>();
  const Field times = field.at("real_ns");
  for (const std::string& name : setup.benchmarks) is_positive(times.at(name));
  return process;
}

void check_version(const Field& version) {
  if (version.json() == 1) {
    version.fail(
        "is 1: it was measured with a canary that did not use all CPUs, and does not say who "
        "else used them");
  }
  is_version(version, model::kBaselineVersion, model::kBaselineVersion);
}

Series series_from(const Field& root) {
  if (!root.contains(kFileMark)) root.fail("is not a stored baseline");
  check_version(root.at(kFileMark));
  Series series;
  series.setup = setup_from(root);
  const Field processes = root.at("processes");
  for (const Field& process : processes.elements()) {
    series.processes.push_back(process_from(process, series.setup));
  }
  if (!series.complete()) {
    processes.fail(fmt::format("has {} entries, not the {} of settings.processes",
                               series.processes.size(), series.setup.processes));
  }
  if (series.setup.processes < model::kMinBaselineProcesses) {
    processes.fail(fmt::format("has fewer than {} entries", model::kMinBaselineProcesses));
  }
  return series;
}

}  // namespace

std::string to_json(const verdict::BaselineComparison& comparison) { return file_text(comparison); }
std::string to_json(const verdict::BaselineFailure& failure) { return file_text(failure); }
std::string to_json(const verdict::StoredBaseline& stored) { return file_text(stored); }

std::string to_json(const std::vector<verdict::StoredBaseline>& list) {
  Writer io;
  io.each("baselines", list, describe_listed);
  return file_text(io.object);
}

std::string baseline_file(const Series& series) {
  Writer io;
  describe_setup(io, kFileMark, series.setup);
  io("processes", series.processes);
  return file_text(io.object);
}

Series parse_baseline(const std::filesystem::path& path, std::string_view text) {
  return read_file_text(path, text, "",
                        "restore the file, or remove it and save the baseline again", series_from);
}

std::string journal_line(const SeriesSetup& setup) {
  Writer line;
  describe_setup(line, kJournalMark, setup);
  line("unmeasured", setup.unmeasured);
  if (setup.compared_with) line("compared_with", *setup.compared_with);
  return line_text(line.object);
}

std::string journal_line(const SeriesProcess& process, std::size_t number) {
  Writer line;
  line("process", number);
  describe(line, process);
  return line_text(line.object);
}

std::string round_line(int round) {
  Writer line;
  line("round", round);
  return line_text(line.object);
}

Series parse_series_journal(const std::filesystem::path& path, std::string_view content) {
  Series series;
  for_each_line(path, content, [&](std::string_view text, std::size_t number) {
    const Json line = parse_json(text);
    const Field root(line);
    if (number == 1) {
      check_version(root.at(kJournalMark));
      series.setup = setup_from(root);
      root.at("unmeasured").get_to(series.setup.unmeasured);
      if (line.contains("compared_with")) {
        series.setup.compared_with = root.at("compared_with").get<model::ComparedWith>();
      }
      return;
    }
    if (root.contains("round")) {
      const std::int64_t round = root.at("round").whole(2, kMany);
      if (!series.complete() || round != series.rounds + 1 || !series.setup.compared_with) {
        root.at("round").fail("does not follow a whole comparison");
      }
      ++series.rounds;
      return;
    }
    const std::int64_t process = root.at("process").whole(0, kMany);
    if (series.complete() || process != static_cast<std::int64_t>(series.processes.size())) {
      root.at("process").fail("is not the process that follows the one before");
    }
    series.processes.push_back(process_from(root, series.setup));
  });
  return series;
}

}  // namespace taskbench::reports::json
