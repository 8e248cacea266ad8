#include "reports/json/event_counts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "reports/json/field.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::json {
namespace {

Json event_object(const model::EventCount& event, std::uint64_t operations) {
  const auto spread = stats::spread_of(event.per_iteration);
  const auto of_spread = [&](auto part) { return spread ? number_or_null(part(*spread)) : Json(); };
  Json result;
  result["event"] = event.event;
  result["unit"] = text_or_null(event.unit);
  result["samples"] = spread ? spread->samples : 0;
  result["median"] = of_spread([](const auto& s) { return std::optional(s.median); });
  result["mad"] = of_spread([](const auto& s) { return s.mad; });
  result["min"] = of_spread([](const auto& s) { return std::optional(s.min); });
  result["max"] = of_spread([](const auto& s) { return std::optional(s.max); });
  result["median_per_operation"] = of_spread([operations](const auto& s) {
    return operations > 0 ? std::optional(s.median / static_cast<double>(operations))
                          : std::nullopt;
  });
  result["values"] = Json::array();
  for (const double value : event.per_iteration) {
    if (std::isfinite(value)) result["values"].push_back(value);
  }
  result["counted_share"] = number_or_null(event.counted_share);
  result["user_only"] = event.user_only;
  result["reason"] = text_or_null(event.unavailable);
  return result;
}

}  // namespace

Json events_array(const std::vector<model::EventCount>& events, std::uint64_t operations) {
  Json result = Json::array();
  for (const model::EventCount& each : events) result.push_back(event_object(each, operations));
  return result;
}

Json counter_pass_object(const model::CounterPass& pass) {
  Json result;
  result["tool"] = text_or_null(pass.tool);
  result["requested"] = pass.requested;
  result["processes"] = pass.processes;
  result["reason"] = text_or_null(pass.unavailable);
  return result;
}

std::vector<model::EventCount> read_events(const Json& array) {
  std::vector<model::EventCount> events;
  for (const Json& each : array) {
    if (!each.is_object() || text_or_empty(each, "event").empty()) continue;
    model::EventCount& event = events.emplace_back();
    event.event = text_or_empty(each, "event");
    event.unit = text_or_empty(each, "unit");
    event.unavailable = text_or_empty(each, "reason");
    for (const Json& value : array_in(each, "values")) {
      if (value.is_number()) event.per_iteration.push_back(value.get<double>());
    }
    event.counted_share = number_in(each, "counted_share");
    event.user_only = is_true(each, "user_only");
  }
  return events;
}

bool is_key_of_rows(std::string_view key) {
  constexpr std::array<std::string_view, 19> kKeys{"name",
                                                   "family_index",
                                                   "per_family_instance_index",
                                                   "run_name",
                                                   "run_type",
                                                   "repetitions",
                                                   "repetition_index",
                                                   "threads",
                                                   "aggregate_name",
                                                   "aggregate_unit",
                                                   "iterations",
                                                   "real_time",
                                                   "cpu_time",
                                                   "time_unit",
                                                   "label",
                                                   "error_occurred",
                                                   "error_message",
                                                   "skipped",
                                                   "skip_message"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

std::string row_key(const model::EventCount& event) {
  return event.user_only ? event.event + ":u" : event.event;
}

}  // namespace taskbench::reports::json
