#include "reports/json/doctor.hpp"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "reports/json/drift.hpp"
#include "reports/json/field.hpp"
#include "reports/stats/summary.hpp"
#include "reports/verdict/doctor.hpp"

namespace taskbench::reports::json {

template <>
inline constexpr std::array<std::string_view, 5> kWords<model::Severity>{"serious", "moderate",
                                                                         "minor", "unknown", "ok"};

namespace {

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
  Json findings = Json::array();
  for (const auto& each : report.findings) findings.push_back(finding_object(each));
  Json floor = Json::array();
  for (const auto& each : report.floor) floor.push_back(floor_object(each));
  Json workloads = Json::array();
  for (const auto& each : report.workloads) workloads.push_back(workload_object(each));
  const Json document{{"taskbench_doctor", model::kDoctorVersion},
                      {"version", text_or_null(environment.taskbench_version)},
                      {"disturbed", verdict::is_disturbed(report.findings)},
                      {"environment", std::move(machine)},
                      {"findings", std::move(findings)},
                      {"floor", std::move(floor)},
                      {"workloads", std::move(workloads)},
                      {"at_rest", drift_object(report.at_rest)},
                      {"at_work", drift_object(report.at_work)}};
  return file_text(document);
}

}  // namespace taskbench::reports::json
