#include "reports/json/verdict_fields.hpp"
#include "reports/json/writer.hpp"

namespace taskbench::reports::json {

namespace {

void describe_figures(Writer& io, const verdict::FilesVerdict& row, const char* base,
                      const char* head) {
  io("verdict", row.verdict);
  io("improved", row.improved);
  io.or_null("reason", row.reason);
  io("base_files", row.base_files);
  io("head_files", row.head_files);
  io(base, row.base_files > 0 ? std::optional(row.base) : std::nullopt);
  io(head, row.head_files > 0 ? std::optional(row.head) : std::nullopt);
  io("change", row.has_change() ? std::optional(row.change) : std::nullopt);
  io("interval_level", verdict::kIntervalLevel);
  io("interval_low", row.low);
  io("interval_high", row.high);
  io("p", row.p);
  io("p_adjusted", row.p_adjusted);
}

}  // namespace

void describe(Writer& io, const verdict::JudgedFilesVerdict& row) {
  io("metric", row.metric);
  io.unless_default("more_is_better", row.more_is_better);
  io("delta", row.delta);
  describe_figures(io, row, "base", "head");
}

void describe(Writer& io, const verdict::FilesRow& row) {
  io("name", row.name);
  describe_figures(io, row, "base_ns", "head_ns");
  io.unless_default("judged", row.judged);
  io("counters_moved", row.counters);
  io("instructions", row.instructions);
}

void describe(Writer& io, const verdict::FilesReport& report) {
  io.version("taskbench_compare", 1, 1);
  io("verdict", report.overall);
  io("machine_differs", report.machine_differs);
  io("benchmarks", report.rows);
  io("failed", report.failed);
  io("only_base", report.only_base);
  io("only_head", report.only_head);
}

void describe(Writer& io, const verdict::ColumnCell& cell) {
  io("files", cell.files);
  io("median_ns", cell.files > 0 ? std::optional(cell.ns) : std::nullopt);
  io("spread", cell.spread);
  io("change", cell.change);
  io("p_adjusted", cell.p_adjusted);
  io("changed", cell.p_adjusted ? std::optional(cell.is_changed) : std::nullopt);
}

void describe(Writer& io, const verdict::ColumnsRow& row) {
  io("name", row.name);
  io("columns", row.cells);
}

void describe(Writer& io, const verdict::ColumnsReport& report) {
  io.version("taskbench_compare_columns", 1, 1);
  io("columns", report.columns);
  io("alpha", report.alpha);
  io("files_needed", report.files_needed);
  io("machine_differs", report.machine_differs);
  io("benchmarks", report.rows);
  io("geometric_mean_ns", report.mean_ns);
  io("in_all_columns", report.in_all_columns);
  io("failed", report.failed);
}

std::string to_json(const verdict::FilesReport& report) { return file_text(report); }
std::string to_json(const verdict::ColumnsReport& report) { return file_text(report); }

}  // namespace taskbench::reports::json
