#include "reports/json/event_counts.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "reports/json/field.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::json {
namespace {

Json event_object(const model::EventCount& event, std::uint64_t operations) {
  const auto spread = stats::spread_of(event.per_iteration);
  const auto of_spread = [&](std::optional<double> value) {
    return spread ? number_or_null(value) : Json();
  };
  const stats::Spread known = spread.value_or(stats::Spread{});
  Json result;
  result["event"] = event.event;
  result["unit"] = text_or_null(event.unit);
  result["samples"] = known.samples;
  result["median"] = of_spread(known.median);
  result["mad"] = of_spread(known.mad);
  result["min"] = of_spread(known.min);
  result["max"] = of_spread(known.max);
  result["median_per_operation"] =
      operations > 0 ? of_spread(known.median / static_cast<double>(operations)) : Json();
  result["values"] = finite_numbers(event.per_iteration);
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
    if (text_in(each, "event").empty()) continue;
    model::EventCount& event = events.emplace_back();
    event.event = text_in(each, "event");
    event.unit = text_in(each, "unit");
    event.unavailable = text_in(each, "reason");
    event.per_iteration = numbers_in(each, "values");
    event.counted_share = found_in<double>(each, "counted_share");
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
