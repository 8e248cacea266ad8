#include "reports/json/answers.hpp"

#include <optional>
#include <utility>

#include "reports/json/drift.hpp"
#include "reports/json/verdict_fields.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/doctor.hpp"

namespace taskbench::reports::json {

template <>
inline constexpr std::array<std::string_view, 5> kWords<model::Severity>{"serious", "moderate",
                                                                         "minor", "unknown", "ok"};

template <>
inline constexpr std::array<std::string_view, 2> kWords<verdict::BaselineFailure::Stage>{"machine",
                                                                                         "measure"};

namespace {

using verdict::BaselineFailure;
using verdict::StoredBaseline;
using verdict::StoredComparison;

template <class T, class Object>
Json list_of(const std::vector<T>& values, const Object& object_of_one) {
  Json list = Json::array();
  for (const T& each : values) list.push_back(object_of_one(each));
  return list;
}

Json files_row_object(const verdict::FilesRow& row) {
  return {{"name", row.name},
          {"verdict", word(row.verdict)},
          {"improved", row.improved},
          {"reason", text_or_null(row.reason)},
          {"base_files", row.base_files},
          {"head_files", row.head_files},
          {"base_ns", row.base_ns},
          {"head_ns", row.head_ns},
          {"change", row.change},
          {"interval_level", verdict::kIntervalLevel},
          {"interval_low", number_or_null(row.low)},
          {"interval_high", number_or_null(row.high)},
          {"p", row.p},
          {"p_adjusted", row.p_adjusted},
          {"counters_moved", json_of(row.counters)},
          {"instructions", json_of(row.instructions)}};
}

Json object_of_cell(const verdict::ColumnCell& cell) {
  return {{"files", cell.files},
          {"median_ns", cell.files > 0 ? Json(cell.ns) : Json(nullptr)},
          {"spread", number_or_null(cell.spread)},
          {"change", number_or_null(cell.change)},
          {"p_adjusted", number_or_null(cell.p_adjusted)},
          {"changed", cell.p_adjusted ? Json(cell.is_changed) : Json(nullptr)}};
}

Json columns_row_object(const verdict::ColumnsRow& row) {
  return {{"name", row.name}, {"columns", list_of(row.cells, object_of_cell)}};
}

Json object_of(const StoredComparison& comparison) {
  return {{"verdict", word(comparison.verdict)}, {"improved", comparison.improved},
          {"change", comparison.change},         {"interval_level", verdict::kIntervalLevel},
          {"interval_low", comparison.low},      {"interval_high", comparison.high},
          {"delta", comparison.delta},           {"limit", comparison.limit},
          {"detectable", comparison.detectable}, {"stored_processes", comparison.stored},
          {"fresh_processes", comparison.fresh}};
}

/// What other processes and the hypervisor used, in CPUs.
Json object_of(const model::Fact<verdict::Others>& others) {
  if (!others) return {{"unknown", others.reason}};
  return {{"cpus", others->cpus},
          {"used", others->used},
          {"stolen", others->stolen},
          {"taken", others->taken}};
}

Json object_of(const std::vector<verdict::CanaryChange>& changes) {
  Json result = Json::object();
  for (const verdict::CanaryChange& each : changes) {
    result[each.part] = {{"change", each.change}, {"limit", each.limit}, {"moved", each.moved}};
  }
  return result;
}

Json baseline_row_object(const verdict::BaselineRow& row) {
  return {{"name", row.name},
          {"verdict", word(row.verdict)},
          {"improved", row.improved},
          {"drifted", row.drifted},
          {"unconfirmed", row.unconfirmed},
          {"baseline_ns", row.baseline_ns},
          {"now_ns", row.now_ns},
          {"against_baseline", object_of(row.rolling)},
          {"against_anchor", row.anchor ? object_of(*row.anchor) : Json()}};
}

Json origin(const model::Series& series) {
  return {{"date", series.setup.date},
          {"commit", text_or_null(series.setup.commit)},
          {"processes", series.setup.processes}};
}

Json with_spreads(const model::Series& series) {
  Json result = origin(series);
  result["benchmarks"] = list_of(verdict::spreads_of(series), [](const auto& row) -> Json {
    const auto& [name, spread] = row;
    return {{"name", name},
            {"median_ns", spread.median},
            {"mad_ns", spread.mad.value_or(0)},
            {"min_ns", spread.min},
            {"max_ns", spread.max}};
  });
  return result;
}

Json listed(const StoredBaseline& stored) {
  const auto& setup = stored.rolling.setup;
  return {{"name", setup.name},
          {"key", model::baseline_key(setup.key)},
          {"this_machine", stored.this_machine},
          {"date", setup.date},
          {"commit", text_or_null(setup.commit)},
          {"processes", setup.processes},
          {"benchmarks", setup.benchmarks},
          {"anchor_date", stored.anchor ? Json(stored.anchor->setup.date) : Json()}};
}

Json finding_object(const model::Finding& finding) {
  const bool known = finding.severity != model::Severity::unknown;
  return {{"check", finding.check},
          {"severity", word_of(finding.severity)},
          {"found", known ? text_or_null(finding.found) : Json()},
          {"reason", known ? Json() : text_or_null(finding.found)},
          {"matters", finding.matters},
          {"mend", text_or_null(finding.mend)}};
}

Json floor_object(const model::FloorFigure& figure) {
  const std::optional<stats::FloorSummary> summary = stats::summarize(figure);
  const auto part = [&](std::optional<double> stats::FloorSummary::*member) {
    return summary ? number_or_null((*summary).*member) : Json();
  };
  return {{"name", figure.name},
          {"what", figure.what},
          {"unit", "ns"},
          {"samples", figure.ns.size()},
          {"median", summary ? Json(summary->median) : Json()},
          {"min", summary ? Json(summary->min) : Json()},
          {"lower_quartile", part(&stats::FloorSummary::lower_quartile)},
          {"upper_quartile", part(&stats::FloorSummary::upper_quartile)},
          {"p99", part(&stats::FloorSummary::p99)},
          {"reason", text_or_null(figure.unavailable)}};
}

Json workload_object(const model::Case& measured) {
  const std::optional<stats::CaseSummary> summary = stats::summarize(measured);
  Json result{{"name", measured.name},      {"operation", text_or_null(measured.operation)},
              {"ns_per_operation", Json()}, {"samples", summary ? summary->samples : 0},
              {"mad_share", Json()},        {"reason", Json()}};
  if (summary) {
    result["ns_per_operation"] = number_or_null(summary->ns_per_operation);
    if (summary->samples > 1 && summary->real_ns_median > 0) {
      result["mad_share"] = summary->real_ns_mad / summary->real_ns_median;
    }
  } else {
    result["reason"] = measured.error.empty() ? "no repetition was completed" : measured.error;
  }
  return result;
}

}  // namespace

std::string to_json(const verdict::FilesReport& report) {
  return file_text({{"taskbench_compare", 1},
                    {"verdict", word(report.overall)},
                    {"machine_differs", report.machine_differs},
                    {"benchmarks", list_of(report.rows, files_row_object)},
                    {"failed", report.failed},
                    {"only_base", report.only_base},
                    {"only_head", report.only_head}});
}

std::string to_json(const verdict::ColumnsReport& report) {
  return file_text({{"taskbench_compare_columns", 1},
                    {"columns", report.columns},
                    {"alpha", report.alpha},
                    {"files_needed", report.files_needed},
                    {"machine_differs", report.machine_differs},
                    {"benchmarks", list_of(report.rows, columns_row_object)},
                    {"geometric_mean_ns", report.mean_ns},
                    {"in_all_columns", report.in_all_columns},
                    {"failed", report.failed}});
}

std::string to_json(const verdict::BaselineComparison& comparison) {
  const verdict::BaselineReport& report = comparison.report;
  const Json document{{"taskbench_baseline_comparison", 1},
                      {"verdict", report.environment_moved ? "ENVIRONMENT" : word(report.overall)},
                      {"name", comparison.rolling.setup.name},
                      {"key", model::baseline_key(comparison.rolling.setup.key)},
                      {"baseline", origin(comparison.rolling)},
                      {"anchor", comparison.anchor ? origin(*comparison.anchor) : Json()},
                      {"alpha", comparison.policy.alpha},
                      {"delta", comparison.policy.delta},
                      {"benchmarks", list_of(report.rows, baseline_row_object)},
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
      {"failure", {{"stage", word_of(failure.stage)}, {"message", failure.message}}}};
  return file_text(document);
}

std::string to_json(const std::vector<StoredBaseline>& list) {
  return file_text({{"baselines", list_of(list, listed)}});
}

std::string to_json(const StoredBaseline& stored) {
  const auto& setup = stored.rolling.setup;
  return file_text({{"name", setup.name},
                    {"key", model::baseline_key(setup.key)},
                    {"this_machine", stored.this_machine},
                    {"machine", json_of(setup.key.machine)},
                    {"build", json_of(setup.key.build)},
                    {"baseline", with_spreads(stored.rolling)},
                    {"anchor", stored.anchor ? with_spreads(*stored.anchor) : Json()}});
}

std::string to_json(const model::DoctorReport& report) {
  const model::Environment& environment = report.environment;
  Json machine{{"date", text_or_null(environment.date)},
               {"host_name", text_or_null(environment.host_name)},
               {"cpu_model", text_or_null(environment.cpu_model)},
               {"kernel", text_or_null(environment.kernel)},
               {"hypervisor", text_or_null(environment.hypervisor)},
               {"compiler", text_or_null(environment.compiler)},
               {"compiler_flags", text_or_null(environment.compiler_flags)},
               {"build_type", text_or_null(environment.build_type)},
               {"git_commit", text_or_null(environment.git_commit)}};
  const Json document{{"taskbench_doctor", model::kDoctorVersion},
                      {"version", text_or_null(environment.taskbench_version)},
                      {"disturbed", verdict::is_disturbed(report.findings)},
                      {"environment", std::move(machine)},
                      {"findings", list_of(report.findings, finding_object)},
                      {"floor", list_of(report.floor, floor_object)},
                      {"workloads", list_of(report.workloads, workload_object)},
                      {"at_rest", drift_object(report.at_rest)},
                      {"at_work", drift_object(report.at_work)}};
  return file_text(document);
}

}  // namespace taskbench::reports::json
