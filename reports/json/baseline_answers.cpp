#include "reports/json/baseline_answers.hpp"

#include "reports/json/baseline.hpp"
#include "reports/json/field.hpp"

namespace taskbench::reports::json {
namespace {

using model::Series;
using verdict::BaselineComparison;
using verdict::BaselineFailure;
using verdict::BaselineReport;
using verdict::BaselineRow;
using verdict::CanaryChange;
using verdict::kIntervalLevel;
using verdict::Others;
using verdict::StoredBaseline;
using verdict::StoredComparison;

std::string_view name_of(BaselineFailure::Stage stage) {
  return stage == BaselineFailure::Stage::machine ? "machine" : "measure";
}

Json object_of(const StoredComparison& comparison) {
  return {{"verdict", word(comparison.verdict)}, {"improved", comparison.improved},
          {"change", comparison.change},         {"interval_level", kIntervalLevel},
          {"interval_low", comparison.low},      {"interval_high", comparison.high},
          {"delta", comparison.delta},           {"limit", comparison.limit},
          {"detectable", comparison.detectable}, {"stored_processes", comparison.stored},
          {"fresh_processes", comparison.fresh}};
}

/// In CPUs.
Json object_of(const model::Fact<Others>& others) {
  if (!others) return {{"unknown", others.reason}};
  return {{"cpus", others->cpus},
          {"used", others->used},
          {"stolen", others->stolen},
          {"taken", others->taken}};
}

Json object_of(const std::vector<CanaryChange>& changes) {
  Json result = Json::object();
  for (const CanaryChange& each : changes) {
    result[each.part] = {{"change", each.change}, {"limit", each.limit}, {"moved", each.moved}};
  }
  return result;
}

Json origin(const model::Series& series) {
  return {{"date", series.setup.date},
          {"commit", text_or_null(series.setup.commit)},
          {"processes", series.setup.processes}};
}

Json object_of(const Series& series) {
  Json benchmarks = Json::array();
  for (const auto& [name, spread] : verdict::spreads_of(series)) {
    benchmarks.push_back({{"name", name},
                          {"median_ns", spread.median},
                          {"mad_ns", spread.mad.value_or(0)},
                          {"min_ns", spread.min},
                          {"max_ns", spread.max}});
  }
  return {{"date", series.setup.date},
          {"commit", text_or_null(series.setup.commit)},
          {"processes", series.setup.processes},
          {"benchmarks", std::move(benchmarks)}};
}

}  // namespace

std::string to_json(const BaselineComparison& comparison) {
  const BaselineReport& report = comparison.report;
  Json benchmarks = Json::array();
  for (const BaselineRow& row : report.rows) {
    benchmarks.push_back({{"name", row.name},
                          {"verdict", word(row.verdict)},
                          {"improved", row.improved},
                          {"drifted", row.drifted},
                          {"unconfirmed", row.unconfirmed},
                          {"baseline_ns", row.baseline_ns},
                          {"now_ns", row.now_ns},
                          {"against_baseline", object_of(row.rolling)},
                          {"against_anchor", row.anchor ? object_of(*row.anchor) : Json()}});
  }
  const Json document{{"taskbench_baseline_comparison", 1},
                      {"verdict", report.environment_moved ? "ENVIRONMENT" : word(report.overall)},
                      {"name", comparison.rolling.setup.name},
                      {"key", model::baseline_key(comparison.rolling.setup.key)},
                      {"baseline", origin(comparison.rolling)},
                      {"anchor", comparison.anchor ? origin(*comparison.anchor) : Json()},
                      {"alpha", comparison.policy.alpha},
                      {"delta", comparison.policy.delta},
                      {"benchmarks", std::move(benchmarks)},
                      {"confirmed", report.confirmed},
                      {"others_then", object_of(report.others_then)},
                      {"others_now", object_of(report.others_now)},
                      {"others_moved", report.others_moved},
                      {"cpus_moved", report.moved_cpus.has_value()},
                      {"canary", object_of(report.canary)},
                      {"canary_since_anchor",
                       report.anchor_canary.empty() ? Json() : object_of(report.anchor_canary)},
                      {"anchor_judged", comparison.anchor.has_value() && !report.anchor_void},
                      {"only_baseline", report.only_baseline},
                      {"only_now", report.only_now}};
  return file_text(document);
}

std::string to_json(const BaselineFailure& failure) {
  const Json document{
      {"taskbench_baseline_comparison", 1},
      {"verdict", nullptr},
      {"name", failure.name},
      {"failure", {{"stage", name_of(failure.stage)}, {"message", failure.message}}}};
  return file_text(document);
}

std::string to_json(const std::vector<StoredBaseline>& list) {
  Json baselines = Json::array();
  for (const StoredBaseline& each : list) {
    const auto& setup = each.rolling.setup;
    baselines.push_back({{"name", setup.name},
                         {"key", model::baseline_key(setup.key)},
                         {"this_machine", each.this_machine},
                         {"date", setup.date},
                         {"commit", text_or_null(setup.commit)},
                         {"processes", setup.processes},
                         {"benchmarks", setup.benchmarks},
                         {"anchor_date", each.anchor ? Json(each.anchor->setup.date) : Json()}});
  }
  const Json document{{"baselines", std::move(baselines)}};
  return file_text(document);
}

std::string to_json(const StoredBaseline& stored) {
  const auto& setup = stored.rolling.setup;
  const Json document{{"name", setup.name},
                      {"key", model::baseline_key(setup.key)},
                      {"this_machine", stored.this_machine},
                      {"machine", key_object(setup.key.machine)},
                      {"build", key_object(setup.key.build)},
                      {"baseline", object_of(stored.rolling)},
                      {"anchor", stored.anchor ? object_of(*stored.anchor) : Json()}};
  return file_text(document);
}

}  // namespace taskbench::reports::json
