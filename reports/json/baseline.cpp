#include "reports/json/baseline.hpp"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <utility>

#include "reports/json/journal_lines.hpp"
#include "reports/json/reader.hpp"
#include "reports/json/verdict_fields.hpp"

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
  io.text_or_null("anchor", compared.anchor);
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

/// Describes a setup except for the benchmarks, which are in two members.
template <class Io, Like<model::SeriesSetup> Setup>
void describe(Io& io, Setup& setup) {
  io("name", setup.name);
  io("date", setup.date);
  io.text_or_null("commit", setup.commit);
  io.part("program", [&](auto& part) {
    part.text_or_null("command", setup.command);
    part.text_or_null("digest", setup.digest);
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

namespace {

using model::Series;
using model::SeriesProcess;
using model::SeriesSetup;

constexpr const char* kFileMark = "taskbench_baseline";
constexpr const char* kJournalMark = "taskbench_baseline_journal";

void store_setup(const SeriesSetup& setup, Json& document) {
  document.update(json_of(setup));
  document["benchmarks"] = Json::array();
  for (const std::string& name : setup.benchmarks) {
    ListedBenchmark listed{name, {}};
    const auto count = setup.iterations.find(name);
    if (count != setup.iterations.end()) listed.iterations = count->second;
    document["benchmarks"].push_back(json_of(listed));
  }
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

Series series_from(const Json& document) {
  const Field root(document);
  if (!document.contains(kFileMark)) root.fail("is not a stored baseline");
  check_version(root.at(kFileMark));
  Series series;
  series.setup = setup_from(root);
  for (const Field& process : root.at("processes").elements()) {
    series.processes.push_back(process_from(process, series.setup));
  }
  const Field processes = root.at("processes");
  if (!series.complete()) {
    processes.fail(fmt::format("has {} entries, not the {} of settings.processes",
                               series.processes.size(), series.setup.processes));
  }
  if (series.setup.processes < model::kMinBaselineProcesses) {
    processes.fail(fmt::format("has fewer than {} entries", model::kMinBaselineProcesses));
  }
  return series;
}

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view what) {
  throw ReadError(fmt::format("{}: {}; restore the file, or remove it and save the baseline again",
                              path.string(), what));
}

}  // namespace

std::string baseline_file(const Series& series) {
  Json document{{kFileMark, model::kBaselineVersion}};
  store_setup(series.setup, document);
  document["processes"] = json_of(series.processes);
  return file_text(document);
}

Series parse_baseline(const std::filesystem::path& path, std::string_view text) {
  try {
    return series_from(parse_json(text));
  } catch (const ParseError& error) {
    refuse(path, error.what());
  }
}

std::string journal_line(const SeriesSetup& setup) {
  Json line{{kJournalMark, model::kBaselineVersion}};
  store_setup(setup, line);
  line["unmeasured"] = setup.unmeasured;
  if (setup.compared_with) line["compared_with"] = json_of(*setup.compared_with);
  return line_text(line);
}

std::string journal_line(const SeriesProcess& process, std::size_t number) {
  Json line{{"process", number}};
  line.update(json_of(process));
  return line_text(line);
}

std::string confirming_line() { return Json{{"confirming", true}}.dump(); }

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
    if (root.contains("confirming")) {
      if (!series.complete() || series.confirming || !series.setup.compared_with) {
        root.at("confirming").fail("does not follow a whole comparison");
      }
      series.confirming = root.at("confirming").get<bool>();
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
