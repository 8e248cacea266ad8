#include "reports/json/baseline.hpp"

#include <fmt/format.h>

#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "reports/files/file_content.hpp"
#include "reports/json/paired_fields.hpp"
#include "reports/json/parse.hpp"
#include "reports/json/reader.hpp"

namespace taskbench::reports::json {

constexpr std::int64_t kMany = 1'000'000'000'000;

inline void is_positive_if_known(const Field& field) {
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

// The parts of a setup that are objects of their own.

template <class Io, class Setup>
void describe_program(Io& io, Setup& setup) {
  io.text_or_null("command", setup.command);
  io.text_or_null("digest", setup.digest);
}

template <class Io, class Setup>
void describe_settings(Io& io, Setup& setup) {
  io("processes", setup.processes, is_whole<1, std::numeric_limits<std::int32_t>::max()>);
  io("seed", setup.seed);
  io("repetitions", setup.repetitions, is_whole<1, kMany>);
  io("min_time_s", setup.min_time_s, is_positive);
}

namespace {

using model::KeyField;
using model::Series;
using model::SeriesProcess;
using model::SeriesSetup;

constexpr const char* kFileMark = "taskbench_baseline";
constexpr const char* kJournalMark = "taskbench_baseline_journal";
constexpr std::uintmax_t kMaxBaselineBytes = std::uintmax_t{64} << 20;

Json use_object(const model::Fact<model::CpuUse>& use) {
  if (!use) return {{"unknown", use.reason}};
  return {{"seconds", use->seconds},
          {"total_s", use->total_s},
          {"others_s", use->others_s},
          {"stolen_s", use->stolen_s}};
}

Json process_object(const SeriesProcess& process) {
  return {{"canary_before", json_of(process.before)},
          {"canary_after", json_of(process.after)},
          {"real_ns", process.real_ns},
          {"cpu_use", use_object(process.use)}};
}

void store_setup(const SeriesSetup& setup, Json& document) {
  Writer program;
  describe_program(program, setup);
  Writer settings;
  describe_settings(settings, setup);
  document["name"] = setup.name;
  document["date"] = setup.date;
  document["commit"] = text_or_null(setup.commit);
  document["program"] = std::move(program.object);
  document["machine"] = key_object(setup.key.machine);
  document["build"] = key_object(setup.key.build);
  document["settings"] = std::move(settings.object);
  document["benchmarks"] = Json::array();
  for (const std::string& name : setup.benchmarks) {
    const auto count = setup.iterations.find(name);
    document["benchmarks"].push_back(
        {{"name", name},
         {"iterations", count == setup.iterations.end() ? Json() : Json(count->second)}});
  }
}

model::Fact<model::CpuUse> use_from(const Field& field) {
  if (field.contains("unknown")) {
    return model::Fact<model::CpuUse>::unknown(field.at("unknown").text());
  }
  return model::Fact<model::CpuUse>::known({.seconds = field.at("seconds").positive(),
                                            .total_s = field.at("total_s").not_negative(),
                                            .others_s = field.at("others_s").number(),
                                            .stolen_s = field.at("stolen_s").number()});
}

std::vector<KeyField> key_fields_from(const Field& field) {
  std::vector<KeyField> result;
  for (const auto& [name, value] : field.members()) result.push_back({name, value.text()});
  if (result.empty()) field.fail("names no field");
  return result;
}

SeriesSetup setup_from(const Field& document) {
  SeriesSetup setup;
  setup.name = document.at("name").text();
  setup.date = document.at("date").text();
  setup.commit = document.at("commit").text_or_empty();
  Reader program(document.at("program"));
  describe_program(program, setup);
  setup.key.machine = key_fields_from(document.at("machine"));
  setup.key.build = key_fields_from(document.at("build"));
  Reader settings(document.at("settings"));
  describe_settings(settings, setup);
  std::set<std::string> known;
  for (const Field& benchmark : document.at("benchmarks").elements()) {
    const std::string name = benchmark.at("name").text();
    if (!known.insert(name).second) benchmark.at("name").fail("is there twice");
    setup.benchmarks.push_back(name);
    const Field iterations = benchmark.at("iterations");
    if (!iterations.is_null()) setup.iterations[name] = iterations.whole(1, kMany);
  }
  if (setup.benchmarks.empty()) document.at("benchmarks").fail("names no benchmark");
  return setup;
}

SeriesProcess process_from(const Field& field, const SeriesSetup& setup) {
  SeriesProcess process;
  field.at("canary_before").get_to(process.before);
  field.at("canary_after").get_to(process.after);
  const Field times = field.at("real_ns");
  for (const std::string& name : setup.benchmarks) {
    process.real_ns[name] = times.at(name).positive();
  }
  process.use = use_from(field.at("cpu_use"));
  return process;
}

void check_version(const Field& version) {
  const std::int64_t found = version.whole(0, kMany);
  if (found == 1) {
    version.fail(
        "is 1: it was measured with a canary that did not use all CPUs, and does not say who "
        "else used them");
  }
  if (found != model::kBaselineVersion) {
    version.fail(
        fmt::format("is {}; this taskbench reads version {}", found, model::kBaselineVersion));
  }
}

Series series_from(const Json& document) {
  const Field root(document, "");
  if (!document.is_object() || !document.contains(kFileMark)) root.fail("is no stored baseline");
  check_version(root.at(kFileMark));
  Series series;
  series.setup = setup_from(root);
  for (const Field& process : root.at("processes").elements()) {
    series.processes.push_back(process_from(process, series.setup));
  }
  if (!series.complete()) {
    root.at("processes")
        .fail(fmt::format("has {} entries, not the {} of settings.processes",
                          series.processes.size(), series.setup.processes));
  }
  if (series.setup.processes < model::kMinBaselineProcesses) {
    root.at("processes")
        .fail(fmt::format("has fewer than {} entries", model::kMinBaselineProcesses));
  }
  return series;
}

[[noreturn]] void refuse(const std::filesystem::path& path, std::string_view what) {
  throw ReadError(fmt::format("{}: {}; restore the file, or remove it and save the baseline anew",
                              path.string(), what));
}

}  // namespace

Json key_object(const std::vector<KeyField>& fields) {
  Json result = Json::object();
  for (const KeyField& field : fields) result[field.name] = field.value;
  return result;
}

std::string baseline_file(const Series& series) {
  Json document{{kFileMark, model::kBaselineVersion}};
  store_setup(series.setup, document);
  document["processes"] = Json::array();
  for (const SeriesProcess& process : series.processes) {
    document["processes"].push_back(process_object(process));
  }
  return file_text(document);
}

Series parse_baseline(const std::filesystem::path& path, std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) refuse(path, "is empty");
  try {
    return series_from(parse_json(text));
  } catch (const ParseError& error) {
    refuse(path, error.what());
  } catch (const FieldError& error) {
    refuse(path, error.what());
  }
}

Series read_baseline(const std::filesystem::path& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (!std::filesystem::is_regular_file(status)) refuse(path, "is no regular file");
  if (std::filesystem::file_size(path, failed) > kMaxBaselineBytes) {
    refuse(path, "is larger than any baseline");
  }
  const files::FileContent content = files::read_file(path);
  if (!content.ok()) refuse(path, content.error);
  return parse_baseline(path, content.bytes);
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
  line.update(process_object(process));
  return line_text(line);
}

std::string confirming_line() { return Json{{"confirming", true}}.dump(); }

Series read_series_journal(const std::filesystem::path& path) {
  Series series;
  files::for_each_line(
      path, files::journal_text(path), [&](std::string_view text, std::size_t number) {
        const Json line = parse_json(text);
        const Field root(line, "");
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
