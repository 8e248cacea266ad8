#include "reports/perf/stat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "reports/model/lookup.hpp"
#include "reports/model/pieces.hpp"

namespace taskbench::reports::perf {

using model::read_number;
using model::trimmed;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostShownBytes = 60;
constexpr std::size_t kMostReasonBytes = 300;
constexpr std::string_view kNotSupported = "not supported by this machine";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<double> finite_number(std::string_view text) {
  double value = 0;
  const bool is_number = read_number(trimmed(text), value) && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

/// Makes a line valid JSON: perf 6.1 writes nan and inf literally, perf 6.13 a comma after the last
/// field. No name that perf prints contains such a text.
std::string mended(std::string_view line) {
  std::string result(line);
  for (const std::string_view word : {": -nan", ": nan", ": -inf", ": inf"}) {
    for (auto at = result.find(word); at != std::string::npos; at = result.find(word)) {
      result.replace(at, word.size(), ": null");
    }
  }
  const auto last = result.find_last_not_of(" }");
  if (last != std::string::npos && result[last] == ',') result.erase(last, 1);
  return result;
}

void set_event(PerfCount& count, std::string_view printed) {
  PerfEvent event = perf_event(printed);
  count.printed = printed;
  count.event = event.modifiers == "u" ? std::move(event.name) : count.printed;
  count.user_only = event.user_only;
}

void set_value(PerfCount& count, std::string_view text) {
  text = trimmed(text);
  count.value = finite_number(text);
  if (!count.value) {
    const bool told = text.size() > 2 && text.front() == '<' && text.back() == '>';
    count.unavailable = told ? std::string(text.substr(1, text.size() - 2))
                             : fmt::format("perf printed '{}' for it", text);
    if (count.unavailable == "not supported") count.unavailable = kNotSupported;
    return;
  }
  if (count.user_only && happens_in_the_kernel(count.event)) {
    count.value.reset();
    count.unavailable = kNotInUserMode;
    return;
  }
  if (count.unit == "msec") {
    *count.value *= 1e6;
    count.unit = "ns";
  }
}

std::string word_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

std::optional<PerfCount> from_json(std::string_view line, bool& damaged) {
  const Json object = Json::parse(mended(line), nullptr, false);
  damaged = !object.is_object();
  if (damaged || !object.contains("event")) return std::nullopt;  // a metric without an event
  PerfCount count;
  count.unit = word_of(object, "unit");
  damaged = word_of(object, "event").empty() || !object.contains("counter-value");
  if (damaged) return std::nullopt;
  set_event(count, word_of(object, "event"));
  count.counted_share = finite_number(word_of(object, "pcnt-running")).value_or(100) / 100;
  set_value(count, word_of(object, "counter-value"));
  return count;
}

/// Parses value;unit;event;run-time;share of it;metric;its unit. If perf reports a variance, which
/// is not requested here, there is another field after the event.
std::optional<PerfCount> from_fields(std::string_view line, bool& damaged) {
  const auto fields = split(line, kPerfSeparator);
  damaged = fields.size() < 5;
  if (damaged) return std::nullopt;
  const std::string_view event = trimmed(fields[2]);
  if (event.empty()) return std::nullopt;  // a metric without an event
  PerfCount count;
  set_event(count, event);
  count.unit = trimmed(fields[1]);
  const auto share = finite_number(fields[4]);
  damaged = !share;
  if (damaged) return std::nullopt;
  count.counted_share = *share / 100;
  set_value(count, fields[0]);
  return count;
}

}  // namespace

bool happens_in_the_kernel(std::string_view event) {
  if (event.starts_with("sched:")) return true;
  constexpr std::array<std::string_view, 5> kEvents{"context-switches", "cs", "cpu-migrations",
                                                    "migrations", "cgroup-switches"};
  return model::contains(kEvents, event);
}

/// Splits an event into name and modifiers: "cycles:u" and "cpu_core/cycles/u" count user mode
/// only; "cycles:ppp" and "cycles:uk" do not. The name of a tracepoint also contains a colon:
/// "sched:sched_switch" has no modifier "sched_switch".
PerfEvent perf_event(std::string_view printed) {
  constexpr std::string_view kWithUser = "uHGpPDIeW";
  const auto colon = printed.rfind(':');
  const auto slash = printed.rfind('/');
  const bool of_pmu = slash != std::string_view::npos && slash + 1 < printed.size() &&
                      (colon == std::string_view::npos || colon < slash);
  const auto place = of_pmu ? slash : colon;
  if (place == std::string_view::npos) return {std::string(printed), {}, false};
  const std::string_view modifiers = printed.substr(place + 1);
  if (modifiers.find_first_not_of("uhkHGpPDISeWb") != std::string_view::npos) {
    return {std::string(printed), {}, false};
  }
  return {std::string(printed.substr(0, of_pmu ? place + 1 : place)), std::string(modifiers),
          modifiers.find('u') != std::string_view::npos &&
              modifiers.find_first_not_of(kWithUser) == std::string_view::npos};
}

PerfOutput parse_perf_stat(std::string_view text) {
  PerfOutput output;
  for (const std::string_view each : split(text, '\n')) {
    const std::string_view line = trimmed(each);
    if (line.empty() || line.front() == '#') continue;
    bool damaged = false;
    auto count = line.front() == '{' ? from_json(line, damaged) : from_fields(line, damaged);
    if (damaged && output.damage.empty()) {
      output.damage =
          fmt::format("a line of perf's output cannot be read: '{}{}'",
                      line.substr(0, kMostShownBytes), line.size() > kMostShownBytes ? "…" : "");
    }
    if (count) output.counts.push_back(std::move(*count));
  }
  return output;
}

std::string perf_reason(std::string_view standard_error) {
  constexpr std::string_view kSetting = "perf_event_paranoid setting is ";
  if (const auto at = standard_error.find(kSetting); at != std::string_view::npos) {
    const auto rest = standard_error.substr(at + kSetting.size());
    return fmt::format(
        "not permitted: perf_event_paranoid is {}; `sudo sysctl kernel.perf_event_paranoid=1` "
        "allows it",
        rest.substr(0, rest.find_first_not_of("-0123456789")));
  }
  if (standard_error.find("can't access trace events") != std::string_view::npos) {
    return "not permitted: the kernel's tracepoints are for root";
  }
  if (standard_error.find("No supported events found.") != std::string_view::npos) {
    return std::string(kNotSupported);  // printed before version 7 in place of the count
  }
  std::string reason;
  for (const std::string_view each : split(standard_error, '\n')) {
    std::string_view line = trimmed(each);
    if (line.starts_with("Run 'perf list'") || line.starts_with("Usage:")) break;
    if (line.starts_with("\\___ ")) line.remove_prefix(5);
    if (line.starts_with("Error:")) line = trimmed(line.substr(6));
    if (line.empty() || line == "Events disabled" || line == "Events enabled") continue;  // chatter
    reason += fmt::format("{}{}", reason.empty() ? "" : "; ", line);
  }
  std::ranges::replace(reason, '\t', ' ');
  if (reason.ends_with('.')) reason.pop_back();  // it becomes part of a sentence
  if (reason.size() > kMostReasonBytes) {
    reason.resize(kMostReasonBytes);
    reason += "…";
  }
  return reason;
}

}  // namespace taskbench::reports::perf
