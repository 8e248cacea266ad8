#include "reports/json/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <utility>

#include "reports/json/field.hpp"
#include "reports/json/file_content.hpp"
#include "reports/json/parse.hpp"
#include "reports/json/reader.hpp"

namespace taskbench::reports::json {
namespace {

using Json = nlohmann::ordered_json;
using model::CanaryTimes;
using model::KeyField;
using model::Series;
using model::SeriesProcess;
using model::SeriesSetup;

constexpr std::string_view kFileMark = "taskbench_baseline";
constexpr std::string_view kJournalMark = "taskbench_baseline_journal";
constexpr std::uintmax_t kMaxBaselineBytes = std::uintmax_t{64} << 20;
constexpr std::int64_t kMany = 1'000'000'000'000;

Json to_json(const CanaryTimes& times) {
  return {{"cpu_ns", times.cpu_ns},
          {"memory_ns", times.memory_ns},
          {"futex_ns", times.futex_ns},
          {"handover_ns", times.handover_ns ? Json(*times.handover_ns) : Json()}};
}

Json to_json(const model::Fact<model::CpuUse>& use) {
  if (!use) return {{"unknown", use.reason}};
  return {{"seconds", use->seconds},
          {"total_s", use->total_s},
          {"others_s", use->others_s},
          {"stolen_s", use->stolen_s}};
}

Json to_json(const std::vector<KeyField>& fields) {
  Json result = Json::object();
  for (const KeyField& field : fields) result[field.name] = field.value;
  return result;
}

Json to_json(const SeriesProcess& process) {
  return {{"canary_before", to_json(process.before)},
          {"canary_after", to_json(process.after)},
          {"real_ns", process.real_ns},
          {"cpu_use", to_json(process.use)}};
}

void store_setup(const SeriesSetup& setup, Json& document) {
  document["name"] = setup.name;
  document["date"] = setup.date;
  document["commit"] = text_or_null(setup.commit);
  document["program"] = {{"command", text_or_null(setup.command)},
                         {"digest", text_or_null(setup.digest)}};
  document["machine"] = to_json(setup.key.machine);
  document["build"] = to_json(setup.key.build);
  document["settings"] = {{"processes", setup.processes},
                          {"seed", setup.seed},
                          {"repetitions", setup.repetitions},
                          {"min_time_s", setup.min_time_s}};
  document["benchmarks"] = Json::array();
  for (const std::string& name : setup.benchmarks) {
    const auto count = setup.iterations.find(name);
    document["benchmarks"].push_back(
        {{"name", name},
         {"iterations", count == setup.iterations.end() ? Json() : Json(count->second)}});
  }
}

CanaryTimes canary_from(const Field& field) {
  CanaryTimes times{.cpu_ns = field.at("cpu_ns").positive(),
                    .memory_ns = field.at("memory_ns").positive(),
                    .futex_ns = field.at("futex_ns").positive()};
  const Field handover = field.at("handover_ns");
  if (!handover.is_null()) times.handover_ns = handover.positive();
  return times;
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
  setup.command = document.at("program").at("command").text_or_empty();
  setup.digest = document.at("program").at("digest").text_or_empty();
  setup.key.machine = key_fields_from(document.at("machine"));
  setup.key.build = key_fields_from(document.at("build"));
  const Field settings = document.at("settings");
  setup.processes =
      static_cast<int>(settings.at("processes").whole(1, std::numeric_limits<std::int32_t>::max()));
  setup.seed = settings.at("seed").seed();
  setup.repetitions = settings.at("repetitions").whole(1, kMany);
  setup.min_time_s = settings.at("min_time_s").positive();
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

Json to_json(const model::ComparedWith& compared_with) {
  Json floors = Json::object();
  for (const auto& [name, floor] : compared_with.noise_floors) {
    floors[name] = {{"epsilon", floor.epsilon}, {"source", floor.source}};
  }
  return {{"baseline", compared_with.rolling},      {"anchor", text_or_null(compared_with.anchor)},
          {"alpha", compared_with.alpha},           {"delta", compared_with.delta},
          {"allow_busy", compared_with.allow_busy}, {"noise_floors", std::move(floors)}};
}

model::ComparedWith compared_with_from(const Field& field) {
  model::ComparedWith result;
  result.rolling = field.at("baseline").text();
  result.anchor = field.at("anchor").text_or_empty();
  result.alpha = field.at("alpha").positive();
  result.delta = field.at("delta").not_negative();
  result.allow_busy = field.at("allow_busy").get<bool>();
  for (const auto& [name, floor] : field.at("noise_floors").members()) {
    result.noise_floors[name] = {floor.at("epsilon").not_negative(), floor.at("source").text()};
  }
  return result;
}

SeriesProcess process_from(const Field& field, const SeriesSetup& setup) {
  SeriesProcess process;
  process.before = canary_from(field.at("canary_before"));
  process.after = canary_from(field.at("canary_after"));
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
  check_version(root.at(std::string(kFileMark)));
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

std::string baseline_file(const Series& series) {
  Json document{{kFileMark, model::kBaselineVersion}};
  store_setup(series.setup, document);
  document["processes"] = Json::array();
  for (const SeriesProcess& process : series.processes) {
    document["processes"].push_back(to_json(process));
  }
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
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
  const FileContent content = read_file(path);
  if (!content.ok()) refuse(path, content.error);
  return parse_baseline(path, content.bytes);
}

std::string journal_line(const SeriesSetup& setup) {
  Json line{{kJournalMark, model::kBaselineVersion}};
  store_setup(setup, line);
  line["unmeasured"] = setup.unmeasured;
  if (setup.compared_with) line["compared_with"] = to_json(*setup.compared_with);
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string journal_line(const SeriesProcess& process, std::size_t number) {
  Json line{{"process", number}};
  line.update(to_json(process));
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string confirming_line() { return Json{{"confirming", true}}.dump(); }

Series read_series_journal(const std::filesystem::path& path) {
  Series series;
  for_each_line(path, journal_text(path), [&](std::string_view text, std::size_t number) {
    const Json line = parse_json(text);
    const Field root(line, "");
    if (number == 1) {
      check_version(root.at(std::string(kJournalMark)));
      series.setup = setup_from(root);
      for (const Field& name : root.at("unmeasured").elements()) {
        series.setup.unmeasured.push_back(name.text());
      }
      if (line.contains("compared_with")) {
        series.setup.compared_with = compared_with_from(root.at("compared_with"));
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
