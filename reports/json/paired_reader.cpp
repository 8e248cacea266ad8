#include "reports/json/paired_reader.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "reports/json/field.hpp"
#include "reports/json/journal.hpp"
#include "reports/json/paired_writer.hpp"
#include "reports/json/parse.hpp"
#include "reports/json/reader.hpp"
#include "reports/verdict/drift.hpp"

namespace taskbench::reports::json {
namespace {

using Json = nlohmann::ordered_json;
using Outcome = verdict::PairedFile::Outcome;
using Stage = model::PairedFailure::Stage;
using verdict::Verdict;

constexpr std::string_view kMark = "\"taskbench_paired\"";

constexpr std::array<std::pair<std::string_view, Verdict>, 3> kVerdicts{{
    {"PASS", Verdict::pass},
    {"FAIL", Verdict::fail},
    {"INCONCLUSIVE", Verdict::inconclusive},
}};
constexpr std::array<std::pair<std::string_view, Stage>, 4> kStages{{
    {"build", Stage::build},
    {"start", Stage::start},
    {"measure", Stage::measure},
    {"compare", Stage::compare},
}};

template <class Table>
auto named(const Table& table, const Field& object, const char* key) {
  const std::string text = object.at(key).text();
  for (const auto& [name, value] : table) {
    if (name == text) return value;
  }
  throw FieldError(fmt::format("'{}' is no {}", text, key));
}

template <class T>
std::optional<T> optional_of(const Field& object, const char* key) {
  const Field value = object.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<T>());
}

/// The key must be there, and hold a text or null.
std::string text_or_null_at(const Field& object, const char* key) {
  return object.at(key).text_or_empty();
}

verdict::InstructionsVerdict instructions_from(const Field& object) {
  verdict::InstructionsVerdict result;
  result.verdict = named(kVerdicts, object, "verdict");
  result.reason = text_or_null_at(object, "reason");
  if (const auto base = optional_of<double>(object, "base")) {
    auto& exact = result.exact.emplace();
    exact.base = *base;
    object.at("head").get_to(exact.head);
    object.at("change").get_to(exact.change);
    object.at("threshold").get_to(exact.threshold);
    object.at("repeats").get_to(exact.repeats);
  } else if (result.verdict != Verdict::inconclusive) {
    throw std::runtime_error("instructions that were not counted have a verdict");
  } else if (result.reason.empty()) {
    throw std::runtime_error("instructions were not counted, without a reason");
  }
  return result;
}

verdict::MetricVerdict metric_from(const Field& row) {
  verdict::MetricVerdict result;
  result.verdict = named(kVerdicts, row, "verdict");
  row.at("improved").get_to(result.improved);
  row.at("blocks").get_to(result.blocks);
  result.base_ns = row.at("base_ns").not_negative();
  result.head_ns = row.at("head_ns").not_negative();
  row.at("change").get_to(result.change);
  result.low = optional_of<double>(row, "interval_low");
  result.high = optional_of<double>(row, "interval_high");
  row.at("p").get_to(result.p);
  row.at("p_adjusted").get_to(result.p_adjusted);
  result.alpha = row.value("alpha", 0.0);  // older reports have none
  row.at("epsilon").get_to(result.epsilon);
  row.at("delta").get_to(result.delta);
  result.detectable = optional_of<double>(row, "detectable");
  result.blocks_needed = optional_of<std::size_t>(row, "blocks_needed");
  return result;
}

verdict::BenchmarkVerdict verdict_from(const Field& row) {
  verdict::BenchmarkVerdict result;
  row.at("name").get_to(result.name);
  static_cast<verdict::MetricVerdict&>(result) = metric_from(row);
  if (row.contains("cpu_time") && !row.at("cpu_time").is_null()) {
    result.cpu = metric_from(row.at("cpu_time"));
  }
  for (const Field& each : row.at("counters").elements()) {
    result.counters.push_back({each.at("name").get<std::string>(), each.at("base").get<double>(),
                               each.at("head").get<double>(), each.at("score").get<double>()});
  }
  if (row.contains("instructions") && !row.at("instructions").is_null()) {
    result.instructions = instructions_from(row.at("instructions"));
  }
  return result;
}

/// The report holds the very lines of the journal, so that is what reads and checks them.
model::PairedTrial trial_from(const Field& document) {
  model::PairedTrial trial;
  add_line(trial, document.at("setup"), true);
  const auto add_all = [&](const Field& lines) {
    for (const Field& line : lines.elements()) add_line(trial, line, false);
  };
  if (document.contains("instructions")) add_all(document.at("instructions"));  // not in older ones
  add_all(document.at("samples"));
  return trial;
}

void read_judged(const Field& document, verdict::PairedFile& file) {
  file.outcome = Outcome::judged;
  file.trial = trial_from(document);
  file.report.overall = named(kVerdicts, document, "verdict");
  document.at("blocks").get_to(file.report.blocks);
  // Which of the ends it was, the report does not tell; nothing here depends on it.
  if (document.at("complete").get<bool>()) file.trial.end = model::TrialEnd::decided;
  file.report.could_fail = document.value("could_fail", true);  // older reports do not say it
  file.report.machine = verdict::drift_over(file.trial.samples);
  const auto& names = file.trial.setup.benchmarks;
  const std::set<std::string> known(names.begin(), names.end());
  for (const Field& row : document.at("benchmarks").elements()) {
    file.report.benchmarks.push_back(verdict_from(row));
    row.at("interval_level").get_to(file.report.interval_level);
    const std::string& name = file.report.benchmarks.back().name;
    if (!known.contains(name)) {
      throw std::runtime_error(fmt::format("'{}' has no samples", name));
    }
  }
  if (file.report.blocks < 0 || file.report.blocks > verdict::complete_blocks(file.trial)) {
    throw std::runtime_error("samples are missing");
  }
}

void read_failed(const Field& document, verdict::PairedFile& file) {
  const Field failure = document.at("failure");
  file.outcome = Outcome::failed;
  file.failure.stage = named(kStages, failure, "stage");
  const std::string side = text_or_null_at(failure, "side");
  if (!side.empty()) {
    file.failure.side = side == "base" ? model::Side::base : model::Side::head;
  }
  file.failure.benchmark = text_or_null_at(failure, "benchmark");
  failure.at("message").get_to(file.failure.message);
  failure.at("log").get_to(file.failure.lines);
}

verdict::PairedFile file_from(const Field& document) {
  const int version = document.at("taskbench_paired").get<int>();
  if (version != kPairedVersion) {
    throw std::runtime_error(
        fmt::format("its version is {}, this taskbench reads version {}", version, kPairedVersion));
  }
  verdict::PairedFile file;
  const auto outcome = document.at("outcome").get<std::string>();
  if (outcome == "judged") {
    read_judged(document, file);
    return file;
  }
  file.trial.setup.base = program_from(document.at("base"));
  file.trial.setup.head = program_from(document.at("head"));
  document.at("reproduce").get_to(file.trial.setup.reproduce);
  if (outcome == "identical") {
    file.outcome = Outcome::identical;
  } else if (outcome == "failed") {
    read_failed(document, file);
  } else {
    throw std::runtime_error(fmt::format("'{}' is no outcome", outcome));
  }
  return file;
}

}  // namespace

bool is_paired_report(std::string_view text) {
  // Its first key, so that a damaged report is called that, and not a damaged result.
  const auto brace = text.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const auto key = text.find_first_not_of(" \t\r\n", brace + 1);
  return key != std::string_view::npos && text.substr(key).starts_with(kMark);
}

verdict::PairedFile parse_paired_report(const std::filesystem::path& path, std::string_view text) {
  try {
    const Json document = parse_json(text);
    return file_from(Field(document, ""));
  } catch (const ParseError& error) {
    throw ReadError(fmt::format("{}: is no whole report of `taskbench ab`: it {}", path.string(),
                                error.what()));
  } catch (const std::exception& error) {
    throw ReadError(
        fmt::format("{}: is no report of `taskbench ab`: {}", path.string(), error.what()));
  }
}

}  // namespace taskbench::reports::json
