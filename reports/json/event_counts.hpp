// What --counters counted, in result files: written and read back.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "reports/model/event_count.hpp"

namespace taskbench::reports::json {

/// An object an event, with medians and spreads over the counting processes; null and the reason
/// for what was not counted. `operations` of an iteration; 0: not known.
[[nodiscard]] nlohmann::ordered_json events_array(const std::vector<model::EventCount>& events,
                                                  std::uint64_t operations);

[[nodiscard]] nlohmann::ordered_json counter_pass_object(const model::CounterPass& pass);

/// The events of such an array; what it does not understand, it leaves out.
[[nodiscard]] std::vector<model::EventCount> read_events(const nlohmann::ordered_json& array);

}  // namespace taskbench::reports::json
