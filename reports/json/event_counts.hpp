// What --counters counted, in result files: written and read back.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model/event_count.hpp"

namespace taskbench::reports::json {

/// An object for each event, with medians and spreads over the counting processes; null and the
/// reason for what was not counted. `operations` is the number in an iteration; 0: not known.
[[nodiscard]] nlohmann::ordered_json events_array(const std::vector<model::EventCount>& events,
                                                  std::uint64_t operations);

[[nodiscard]] nlohmann::ordered_json counter_pass_object(const model::CounterPass& pass);

/// The events of such an array; elements that it does not understand are left out.
[[nodiscard]] std::vector<model::EventCount> read_events(const nlohmann::ordered_json& array);

/// The name of an event's counter in Google Benchmark's rows: "cycles", or "cycles:u" if only user
/// mode was counted.
[[nodiscard]] std::string row_key(const model::EventCount& event);

/// Whether Google Benchmark writes this key into a row itself; every other number is a counter.
[[nodiscard]] bool is_key_of_rows(std::string_view key);

/// Prefix of a counter's name that would otherwise be a key that is taken.
inline constexpr std::string_view kOfCounter = "counter_";

}  // namespace taskbench::reports::json
