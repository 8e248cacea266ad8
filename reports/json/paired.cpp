#include "reports/json/paired.hpp"

#include <fmt/format.h>

#include <set>
#include <stdexcept>

#include "reports/json/drift.hpp"
#include "reports/json/journal.hpp"
#include "reports/json/paired_fields.hpp"
#include "reports/json/parse.hpp"
#include "reports/json/reader.hpp"
#include "reports/json/verdict_fields.hpp"
#include "reports/verdict/drift.hpp"

namespace taskbench::reports::json {

using Outcome = verdict::PairedFile::Outcome;
using Stage = model::PairedFailure::Stage;

template <>
inline constexpr std::array<std::string_view, 3> kWords<Outcome>{"judged", "identical", "failed"};
template <>
inline constexpr std::array<std::string_view, 4> kWords<Stage>{"build", "start", "measure",
                                                               "compare"};

template <class Io, Like<model::PairedFailure> Failure>
void describe(Io& io, Failure& failure) {
  io("stage", failure.stage);
  io("side", failure.side);
  io.text_or_null("benchmark", failure.benchmark);
  io("message", failure.message);
  io("log", failure.lines);
}

namespace {

constexpr std::string_view kMark = "taskbench_paired";
constexpr int kPairedVersion = 1;

/// What each form begins with.
Json beginning(Outcome outcome, const Json& verdict, const model::PairedSetup& setup) {
  return {{kMark, kPairedVersion},       {"outcome", word_of(outcome)},
          {"verdict", verdict},          {"base", json_of(setup.base)},
          {"head", json_of(setup.head)}, {"reproduce", setup.reproduce}};
}

/// Instructions without a count need a reason, and have no verdict.
void check_instructions(const verdict::InstructionsVerdict& instructions) {
  if (instructions.exact) return;
  if (instructions.verdict != verdict::Verdict::inconclusive) {
    throw std::runtime_error("instructions that were not counted have a verdict");
  }
  if (instructions.reason.empty()) {
    throw std::runtime_error("instructions were not counted, without a reason");
  }
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
  file.trial = trial_from(document);
  document.at("verdict").get_to(file.report.overall);
  document.at("blocks").get_to(file.report.blocks);
  // Which of the ends it was, the report does not tell; nothing here depends on it.
  if (document.at("complete").get<bool>()) file.trial.end = model::TrialEnd::decided;
  file.report.could_fail = document.value("could_fail", true);  // older reports do not say it
  file.report.machine = verdict::drift_over(file.trial.samples);
  const auto& names = file.trial.setup.benchmarks;
  const std::set<std::string> known(names.begin(), names.end());
  document.at("benchmarks").get_to(file.report.benchmarks);
  for (const verdict::BenchmarkVerdict& row : file.report.benchmarks) {
    file.report.interval_level = row.interval_level;
    if (row.instructions) check_instructions(*row.instructions);
    if (!known.contains(row.name)) {
      throw std::runtime_error(fmt::format("'{}' has no samples", row.name));
    }
  }
  if (file.report.blocks < 0 || file.report.blocks > verdict::complete_blocks(file.trial)) {
    throw std::runtime_error("samples are missing");
  }
}

verdict::PairedFile file_from(const Field& document) {
  const int version = document.at(std::string(kMark)).get<int>();
  if (version != kPairedVersion) {
    throw std::runtime_error(
        fmt::format("its version is {}, this taskbench reads version {}", version, kPairedVersion));
  }
  verdict::PairedFile file;
  document.at("outcome").get_to(file.outcome);
  if (file.outcome == Outcome::judged) {
    read_judged(document, file);
    return file;
  }
  document.at("base").get_to(file.trial.setup.base);
  document.at("head").get_to(file.trial.setup.head);
  document.at("reproduce").get_to(file.trial.setup.reproduce);
  if (file.outcome == Outcome::failed) document.at("failure").get_to(file.failure);
  return file;
}

}  // namespace

std::string to_json(const model::PairedTrial& trial, const verdict::PairedReport& report) {
  Json document = beginning(Outcome::judged, word(report.overall), trial.setup);
  document["blocks"] = report.blocks;
  document["complete"] = trial.end.has_value();
  document["could_fail"] = report.could_fail;
  document["blocks_that_can_fail"] = json_of(verdict::reach_of(trial, report.blocks).least);
  document["machine"] = drift_object(report.machine);
  document["benchmarks"] = json_of(report.benchmarks);
  document["setup"] = setup_line(trial.setup);
  document["instructions"] = json_of(trial.instructions);
  document["samples"] = json_of(trial.samples);
  return file_text(document);
}

std::string identical_to_json(const model::PairedSetup& setup) {
  return file_text(beginning(Outcome::identical, word(verdict::Verdict::pass), setup));
}

std::string failure_to_json(const model::PairedSetup& setup, const model::PairedFailure& failure) {
  Json document = beginning(Outcome::failed, nullptr, setup);
  document["failure"] = json_of(failure);
  return file_text(document);
}

bool is_paired_report(std::string_view text) {
  // Its first key, so that a damaged report is called that, and not a damaged result.
  const auto brace = text.find_first_not_of(" \t\r\n");
  if (brace == std::string_view::npos || text[brace] != '{') return false;
  const auto key = text.find_first_not_of(" \t\r\n", brace + 1);
  return key != std::string_view::npos &&
         text.substr(key).starts_with(fmt::format("\"{}\"", kMark));
}

verdict::PairedFile parse_paired_report(const std::filesystem::path& path, std::string_view text) {
  try {
    const Json document = parse_json(text);
    return file_from(Field(document, ""));
  } catch (const ParseError& error) {
    throw ReadError(
        fmt::format("{}: is no whole report of `taskbench ab`: {}", path.string(), error.what()));
  } catch (const std::exception& error) {
    throw ReadError(
        fmt::format("{}: is no report of `taskbench ab`: {}", path.string(), error.what()));
  }
}

}  // namespace taskbench::reports::json
