#include "reports/json/comparison.hpp"

#include "reports/json/verdict_fields.hpp"

namespace taskbench::reports::json {

std::string to_json(const verdict::FilesReport& report) {
  Json rows = Json::array();
  for (const verdict::FilesRow& row : report.rows) {
    rows.push_back({{"name", row.name},
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
                    {"instructions", json_of(row.instructions)}});
  }
  const Json document{{"taskbench_compare", 1},
                      {"verdict", word(report.overall)},
                      {"machine_differs", report.machine_differs},
                      {"benchmarks", std::move(rows)},
                      {"failed", report.failed},
                      {"only_base", report.only_base},
                      {"only_head", report.only_head}};
  return file_text(document);
}

std::string to_json(const verdict::ColumnsReport& report) {
  Json rows = Json::array();
  for (const verdict::ColumnsRow& row : report.rows) {
    Json cells = Json::array();
    for (const verdict::ColumnCell& cell : row.cells) {
      cells.push_back({{"files", cell.files},
                       {"median_ns", cell.files > 0 ? Json(cell.ns) : Json(nullptr)},
                       {"spread", number_or_null(cell.spread)},
                       {"change", number_or_null(cell.change)},
                       {"p_adjusted", number_or_null(cell.p_adjusted)},
                       {"changed", cell.p_adjusted ? Json(cell.is_changed) : Json(nullptr)}});
    }
    rows.push_back({{"name", row.name}, {"columns", std::move(cells)}});
  }
  const Json document{{"taskbench_compare_columns", 1},
                      {"columns", report.columns},
                      {"alpha", report.alpha},
                      {"files_needed", report.files_needed},
                      {"machine_differs", report.machine_differs},
                      {"benchmarks", std::move(rows)},
                      {"geometric_mean_ns", report.mean_ns},
                      {"in_all_columns", report.in_all_columns},
                      {"failed", report.failed}};
  return file_text(document);
}

}  // namespace taskbench::reports::json
