#include "reports/verdict/doctor.hpp"
#include "reports/json/run_fields.hpp"
#include "reports/json/writer.hpp"

namespace taskbench::reports::json {

template <>
inline constexpr auto kWords<model::Severity> = words("serious", "moderate", "minor", "unknown",
                                                      "ok");

void describe(Writer& io, const model::Finding& finding) {
  const bool known = finding.severity != model::Severity::unknown;
  io("check", finding.check);
  io("severity", finding.severity);
  io.or_null("found", known ? finding.found : std::string());
  io.or_null("reason", known ? std::string() : finding.found);
  io("matters", finding.matters);
  io.or_null("mend", finding.mend);
}

void describe(Writer& io, const stats::FloorSummary& floor) {
  io("median", floor.median);
  io("min", floor.min);
  io("lower_quartile", floor.lower_quartile);
  io("upper_quartile", floor.upper_quartile);
  io("p99", floor.p99);
}

void describe(Writer& io, const model::FloorFigure& figure) {
  io("name", figure.name);
  io("what", figure.what);
  io("unit", "ns");
  io("samples", figure.ns.size());
  io.members("median", stats::summarize(figure));
  io.or_null("reason", figure.unavailable);
}

void describe_workload(Writer& io, const model::Case& measured) {
  const auto summary = stats::summarize(measured);
  const stats::CaseSummary known = summary.value_or(stats::CaseSummary{});
  io("name", measured.name);
  io.or_null("operation", measured.operation);
  io("ns_per_operation", known.ns_per_operation);
  io("samples", known.real_ns.samples);
  io("mad_share", known.spread());
  io.or_null("reason", summary ? std::string() : stats::why_unmeasured(measured));
}

void describe(Writer& io, const model::DoctorReport& report) {
  const model::Environment& from = report.environment;
  io.version("taskbench_doctor", model::kDoctorVersion, model::kDoctorVersion);
  io.or_null("version", from.taskbench_version);
  io("disturbed", verdict::is_disturbed(report.findings));
  io.part("environment", [&](Writer& part) {
    part.or_null("date", from.date);
    part.or_null("host_name", from.host_name);
    part.or_null("cpu_model", from.cpu_model);
    part.or_null("kernel", from.kernel);
    part.or_null("hypervisor", from.hypervisor);
    part.or_null("compiler", from.compiler);
    part.or_null("compiler_flags", from.compiler_flags);
    part.or_null("build_type", from.build_type);
    part.or_null("git_commit", from.git_commit);
  });
  io("findings", report.findings);
  io("floor", report.floor);
  io.each("workloads", report.workloads, describe_workload);
  io("at_rest", report.at_rest);
  io("at_work", report.at_work);
}

std::string to_json(const model::DoctorReport& report) { return file_text(report); }

}  // namespace taskbench::reports::json
