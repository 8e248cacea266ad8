#include "reports/tools/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reports/json/field.hpp"
#include "reports/tools/cases.hpp"

namespace taskbench::reports::tools {
namespace {

using json::Field;
using Numbers = std::vector<double>;

constexpr double kNsPerSecond = 1e9;
constexpr std::int64_t kMostIterations = 1'000'000'000'000'000;

std::optional<Field> member(const Field& object, const std::string& key) {
  if (!object.contains(key)) return std::nullopt;
  return object.at(key);
}

void read_pytest(const Field& each, model::Case& benchmark) {
  const Field stats = each.at("stats");
  const std::int64_t iterations = stats.at("iterations").whole(1, kMostIterations);
  const auto wall_s = stats.at("data").get<Numbers>();
  const auto cpu = member(stats, "cpu_data");
  const Numbers cpu_s = cpu ? cpu->get<Numbers>() : Numbers();
  for (std::size_t i = 0; i < wall_s.size(); ++i) {
    add_time(benchmark, {.iterations = iterations,
                         .real_ns = wall_s[i] * kNsPerSecond,
                         .cpu_ns = cpu_s.size() == wall_s.size() ? cpu_s[i] * kNsPerSecond : 0});
  }
}

/// Reads one benchmark of pyperf. The file's metadata hold the facts that all its benchmarks share.
void read_pyperf(const Field& each, const Field& document, model::Run& run) {
  const auto shared = [&](const std::string& key) -> std::optional<Field> {
    for (const Field* const place : {&each, &document}) {
      const auto metadata = member(*place, "metadata");
      if (metadata && metadata->contains(key)) return metadata->at(key);
    }
    return std::nullopt;
  };
  const auto name = shared("name");
  if (!name) each.fail("has no name in its metadata");
  model::Case& benchmark = case_of(run, name->get<std::string>());
  const auto unit = shared("unit");
  if (unit && unit->get<std::string>() != "second") {
    benchmark.unusable = fmt::format("is in the unit '{}', and no time", unit->get<std::string>());
    return;
  }
  for (const Field& process : each.at("runs").elements()) {
    const auto values = member(process, "values");
    if (!values) continue;  // this process only calibrated the iterations
    const auto own = member(process, "metadata");
    const auto count = [&](const std::string& key) -> std::int64_t {
      const auto found = own && own->contains(key) ? own->at(key) : shared(key);
      return found ? found->whole(1, kMostIterations) : 1;
    };
    const std::int64_t loops = count("loops");
    // A loop may repeat its statement; a value is the time of one.
    const std::int64_t inner = std::min(count("inner_loops"), kMostIterations / loops);
    for (const double value_s : values->get<Numbers>()) {
      add_time(benchmark, {.iterations = loops * inner, .real_ns = value_s * kNsPerSecond});
    }
  }
}

/// "/NAME=VALUE" for each parameter of a benchmark, with `equals` in place of "=".
std::string parameters_in(const Field& each, const std::string& key, char equals) {
  std::string text;
  if (const auto parameters = member(each, key)) {
    for (const auto& [name, value] : parameters->get<std::map<std::string, std::string>>()) {
      text += fmt::format("/{}{}{}", name, equals, value);
    }
  }
  return text;
}

void read_hyperfine(const Field& each, model::Case& benchmark) {
  double cpu_s = 0;
  for (const char* key : {"user", "system"}) {
    if (const auto part = member(each, key)) cpu_s += part->get<double>();
  }
  for (const double time_s : each.at("times").get<Numbers>()) {
    add_time(benchmark,
             {.iterations = 1, .real_ns = time_s * kNsPerSecond, .cpu_ns = cpu_s * kNsPerSecond});
  }
}

/// Number of ns in a unit of time of JMH.
std::optional<double> jmh_unit_in_ns(std::string_view unit) {
  if (unit == "min") return 60e9;
  if (unit == "hr") return 3600e9;
  if (unit == "day") return 86'400e9;
  return ns_in(unit);
}

/// A JMH score in ns, from its unit: "us/op", "ops/ms".
std::optional<double> ns_of(double score, std::string_view unit) {
  constexpr std::string_view kTime = "/op";
  constexpr std::string_view kThroughput = "ops/";
  if (unit.ends_with(kTime)) {
    const auto ns = jmh_unit_in_ns(unit.substr(0, unit.size() - kTime.size()));
    return ns ? std::optional(score * *ns) : std::nullopt;
  }
  if (!unit.starts_with(kThroughput)) return std::nullopt;
  const auto ns = jmh_unit_in_ns(unit.substr(kThroughput.size()));
  return ns ? std::optional(*ns / score) : std::nullopt;
}

/// The mean of an iteration in JMH's mode SampleTime: a list of [score, how often].
double mean_score(const Field& histogram) {
  double sum = 0;
  double count = 0;
  for (const Field& each : histogram.elements()) {
    const auto pair = each.get<Numbers>();
    if (pair.size() != 2) each.fail("is not a score and how often it occurred");
    sum += pair[0] * pair[1];
    count += pair[1];
  }
  return sum / count;
}

/// The scores of all iterations of all forks.
Numbers scores_of(const Field& metric) {
  Numbers scores;
  const auto histograms = member(metric, "rawDataHistogram");
  const Field forks = histograms ? *histograms : metric.at("rawData");
  for (const Field& fork : forks.elements()) {
    for (const Field& iteration : fork.elements()) {
      scores.push_back(histograms ? mean_score(iteration) : iteration.get<double>());
    }
  }
  return scores;
}

/// The name of a benchmark of JMH, with its parameters.
std::string jmh_name(const Field& each) {
  return each.at("benchmark").get<std::string>() + parameters_in(each, "params", '=');
}

/// Which of its quantities JMH has measured: "avgt", "thrpt", "sample".
std::string jmh_mode(const Field& each) {
  const auto mode = member(each, "mode");
  return mode ? mode->get<std::string>() : std::string();
}

void read_jmh(const Field& each, model::Case& benchmark) {
  const Field metric = each.at("primaryMetric");
  const auto unit = metric.at("scoreUnit").get<std::string>();
  for (const double score : scores_of(metric)) {
    const auto ns = ns_of(score, unit);
    if (!ns) {
      benchmark.unusable =
          fmt::format("is in the unit '{}', which is no time of an operation", unit);
      return;
    }
    add_time(benchmark, {.iterations = 1, .real_ns = *ns});
  }
}

}  // namespace

model::Run parse_pytest_benchmark(const std::filesystem::path& path, std::string_view text) {
  return json::read_file_text(
      path, text, "is no result of pytest-benchmark: ", "pytest --benchmark-json=FILE writes one",
      [](const Field& document) {
        model::Run run;
        for (const Field& each : document.at("benchmarks").elements()) {
          read_pytest(each, case_of(run, each.at("fullname").get<std::string>()));
        }
        return run;
      });
}

model::Run parse_pyperf(const std::filesystem::path& path, std::string_view text) {
  return json::read_file_text(
      path, text, "is no result of pyperf: ", "a script with pyperf.Runner writes one with -o FILE",
      [](const Field& document) {
        model::Run run;
        for (const Field& each : document.at("benchmarks").elements()) {
          read_pyperf(each, document, run);
        }
        return run;
      });
}

model::Run parse_hyperfine(const std::filesystem::path& path, std::string_view text) {
  return json::read_file_text(path, text, "is no result of hyperfine: ",
                              "hyperfine --export-json FILE writes one", [](const Field& document) {
                                const Field results = document.at("results");
                                std::map<std::string, int> commands;
                                for (const Field& each : results.elements()) {
                                  ++commands[each.at("command").get<std::string>()];
                                }
                                model::Run run;
                                for (const Field& each : results.elements()) {
                                  auto name = each.at("command").get<std::string>();
                                  // A parameter may be used only beside it, as in --prepare.
                                  if (commands[name] > 1) {
                                    name += parameters_in(each, "parameters", ':');
                                  }
                                  read_hyperfine(each, case_of(run, name));
                                }
                                return run;
                              });
}

model::Case parse_criterion(const std::filesystem::path& path, std::string_view benchmark,
                            std::string_view sample) {
  const auto read = [&](const char* file, std::string_view text, const auto& take) {
    return json::read_file_text(path / file, text, "is no result of Criterion: ",
                                "its benchmarks write one with --bench", take);
  };
  model::Case result;
  result.name = read("benchmark.json", benchmark, [](const Field& document) {
    return document.at("full_id").get<std::string>();
  });
  read("sample.json", sample, [&](const Field& document) {
    const auto iterations = document.at("iters").get<Numbers>();
    const auto times_ns = document.at("times").get<Numbers>();
    if (iterations.size() != times_ns.size()) document.fail("has not as many 'iters' as 'times'");
    for (std::size_t i = 0; i < times_ns.size(); ++i) {
      if (!(iterations[i] >= 1 && iterations[i] <= kMostIterations)) {
        document.fail(fmt::format("has a sample of {} iterations", iterations[i]));
      }
      add_time(result, {.iterations = static_cast<std::int64_t>(iterations[i]),
                        .real_ns = times_ns[i] / iterations[i]});
    }
    return true;
  });
  return result;
}

model::Run parse_jmh(const std::filesystem::path& path, std::string_view text) {
  return json::read_file_text(path, text, "is no result of JMH: ", "-rf json -rff FILE writes one",
                              [](const Field& document) {
                                std::map<std::string, std::set<std::string>> modes;
                                for (const Field& each : document.elements()) {
                                  modes[jmh_name(each)].insert(jmh_mode(each));
                                }
                                model::Run run;
                                for (const Field& each : document.elements()) {
                                  std::string name = jmh_name(each);
                                  if (modes[name].size() > 1) name += '/' + jmh_mode(each);
                                  read_jmh(each, case_of(run, name));
                                }
                                return run;
                              });
}

}  // namespace taskbench::reports::tools
