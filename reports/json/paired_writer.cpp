#include "reports/json/paired_writer.hpp"

#include <nlohmann/json.hpp>

#include "reports/json/journal.hpp"
#include "reports/render/paired.hpp"

namespace taskbench::reports::json {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kReportVersion = 1;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const verdict::BenchmarkVerdict& row) {
  Json counters = Json::array();
  for (const auto& counter : row.counters) {
    counters.push_back({{"name", counter.name},
                        {"base", counter.base},
                        {"head", counter.head},
                        {"score", counter.score}});
  }
  return {{"name", row.name},
          {"verdict", render::word(row.verdict)},
          {"improved", row.improved},
          {"blocks", row.blocks},
          {"base_ns", row.base_ns},
          {"head_ns", row.head_ns},
          {"change", row.change},
          {"interval_level", 0.95},
          {"interval_low", or_null(row.low)},
          {"interval_high", or_null(row.high)},
          {"p", row.p},
          {"p_adjusted", row.p_adjusted},
          {"epsilon", row.epsilon},
          {"delta", row.delta},
          {"detectable", or_null(row.detectable)},
          {"blocks_needed", or_null(row.blocks_needed)},
          {"counters", std::move(counters)}};
}

}  // namespace

std::string to_json(const model::PairedTrial& trial, const verdict::PairedReport& report) {
  Json benchmarks = Json::array();
  for (const auto& row : report.benchmarks) benchmarks.push_back(to_json(row));
  Json samples = Json::array();
  for (const auto& sample : trial.samples) samples.push_back(Json::parse(journal_line(sample)));
  const Json document{{"taskbench_paired", kReportVersion},
                      {"verdict", render::word(report.overall)},
                      {"blocks", report.blocks},
                      {"complete", trial.end.has_value()},
                      {"benchmarks", std::move(benchmarks)},
                      {"setup", Json::parse(journal_line(trial.setup))},
                      {"samples", std::move(samples)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace taskbench::reports::json
