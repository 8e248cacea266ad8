#include "reports/json/paired_writer.hpp"

#include <nlohmann/json.hpp>

#include "reports/json/drift.hpp"
#include "reports/json/journal.hpp"
#include "reports/json/nulls.hpp"
#include "reports/render/instructions.hpp"
#include "reports/render/verdict_table.hpp"

namespace taskbench::reports::json {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const verdict::MetricVerdict& row, double interval_level) {
  return {{"verdict", render::word(row.verdict)},
          {"improved", row.improved},
          {"blocks", row.blocks},
          {"base_ns", row.base_ns},
          {"head_ns", row.head_ns},
          {"change", row.change},
          {"interval_level", interval_level},
          {"interval_low", number_or_null(row.low)},
          {"interval_high", number_or_null(row.high)},
          {"p", row.p},
          {"p_adjusted", row.p_adjusted},
          {"alpha", row.alpha},
          {"epsilon", row.epsilon},
          {"delta", row.delta},
          {"detectable", number_or_null(row.detectable)},
          {"blocks_needed", count_or_null(row.blocks_needed)}};
}

Json to_json(const verdict::BenchmarkVerdict& row, double interval_level) {
  Json counters = Json::array();
  for (const auto& counter : row.counters) {
    counters.push_back({{"name", counter.name},
                        {"base", counter.base},
                        {"head", counter.head},
                        {"score", counter.score}});
  }
  Json object{{"name", row.name}};
  object.update(to_json(static_cast<const verdict::MetricVerdict&>(row), interval_level));
  object["cpu_time"] = row.cpu ? to_json(*row.cpu, interval_level) : Json(nullptr);
  object["counters"] = std::move(counters);
  object["instructions"] = render::instructions_object(row.instructions);
  return object;
}

std::string_view name_of(model::PairedFailure::Stage stage) {
  switch (stage) {
    case model::PairedFailure::Stage::build:
      return "build";
    case model::PairedFailure::Stage::start:
      return "start";
    case model::PairedFailure::Stage::measure:
      break;
    case model::PairedFailure::Stage::compare:
      return "compare";
  }
  return "measure";
}

/// What each form begins with.
Json beginning(std::string_view outcome, const Json& verdict, const model::PairedSetup& setup) {
  const Json as_in_journal = Json::parse(journal_line(setup));
  return {{"taskbench_paired", kPairedVersion},
          {"outcome", outcome},
          {"verdict", verdict},
          {"base", as_in_journal.at("base")},
          {"head", as_in_journal.at("head")},
          {"reproduce", setup.reproduce}};
}

std::string text_of(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string to_json(const model::PairedTrial& trial, const verdict::PairedReport& report) {
  Json benchmarks = Json::array();
  for (const auto& row : report.benchmarks) {
    benchmarks.push_back(to_json(row, report.interval_level));
  }
  Json instructions = Json::array();
  for (const auto& sample : trial.instructions) {
    instructions.push_back(Json::parse(journal_line(sample)));
  }
  Json samples = Json::array();
  for (const auto& sample : trial.samples) samples.push_back(Json::parse(journal_line(sample)));
  Json document = beginning("judged", render::word(report.overall), trial.setup);
  document["blocks"] = report.blocks;
  document["complete"] = trial.end.has_value();
  document["could_fail"] = report.could_fail;
  const verdict::Reach reach = verdict::reach_of(trial, report.blocks);
  document["blocks_that_can_fail"] = count_or_null(reach.least);
  document["machine"] = drift_object(report.machine);
  document["benchmarks"] = std::move(benchmarks);
  document["setup"] = Json::parse(journal_line(trial.setup));
  document["instructions"] = std::move(instructions);
  document["samples"] = std::move(samples);
  return text_of(document);
}

std::string identical_to_json(const model::PairedSetup& setup) {
  return text_of(beginning("identical", render::word(verdict::Verdict::pass), setup));
}

std::string failure_to_json(const model::PairedSetup& setup, const model::PairedFailure& failure) {
  Json document = beginning("failed", nullptr, setup);
  document["failure"] = {
      {"stage", name_of(failure.stage)},
      {"side", text_or_null(failure.side ? model::name_of(*failure.side) : std::string_view())},
      {"benchmark", text_or_null(failure.benchmark)},
      {"message", failure.message},
      {"log", failure.lines}};
  return text_of(document);
}

}  // namespace taskbench::reports::json
