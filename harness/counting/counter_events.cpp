#include "harness/counting/counter_events.hpp"

#include <array>
#include <set>

#include "harness/files/near_miss.hpp"
#include "reports/model/run.hpp"

namespace taskbench::harness {
namespace {

constexpr std::array kSets{
    CounterSet{"basic", "cycles,instructions,branches,branch-misses,cache-references,cache-misses"},
    CounterSet{
        "cache",
        "L1-dcache-loads,L1-dcache-load-misses,L1-icache-load-misses,LLC-loads,LLC-load-misses"},
    CounterSet{"tlb", "dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses"},
    CounterSet{"topdown",
               "{slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,topdown-be-bound}"},
    CounterSet{"software", "task-clock,context-switches,cpu-migrations,page-faults"},
    CounterSet{"sched",
               "sched:sched_switch,sched:sched_wakeup,sched:sched_waking,sched:sched_migrate_task"},
};

constexpr std::size_t kMostSlipsOfExact = 3;

/// Splits at the commas that are outside slashes and braces.
Strings items_of(std::string_view text) {
  Strings items(1);
  bool in_slashes = false;
  int braces = 0;
  for (const char each : text) {
    if (each == '/') in_slashes = !in_slashes;
    if (each == '{') ++braces;
    if (each == '}') --braces;
    if (each == ',' && !in_slashes && braces <= 0) {
      items.emplace_back();
    } else {
      items.back() += each;
    }
  }
  return items;
}

CounterRequest request_for(const std::string& argument) {
  CounterRequest request{argument, {argument}};
  const auto closing = argument.rfind('}');
  if (argument.starts_with('{') && closing != std::string::npos) {
    request.events = items_of(std::string_view(argument).substr(1, closing - 1));
  }
  return request;
}

/// The set, or callgrind's count, that `item` is probably a misspelling of. No event name of perf
/// is one or two edits away from a set's name, or three from callgrind's; but many begin in the
/// same way ("instructions", "cache-misses").
std::optional<std::string_view> nearly_known(std::string_view item) {
  if (edit_distance(item, model::kInstructionsExact) <= kMostSlipsOfExact) {
    return model::kInstructionsExact;
  }
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_plain = [&](char c) { return is_letter(c) || c == '-' || c == '_'; };
  if (!std::ranges::all_of(item, is_plain)) return std::nullopt;
  const std::vector<std::string_view> names = each_of(kSets, &CounterSet::name);
  if (std::ranges::all_of(item, is_letter)) return nearest(item, names);
  const auto is_near = [&](std::string_view name) { return edit_distance(item, name) <= 1; };
  const auto near = std::ranges::find_if(names, is_near);
  return near == names.end() ? std::nullopt : std::optional(*near);
}

void check_event(std::string_view option, const std::string& item) {
  const auto is_strange = [](char c) { return c <= ' ' || c == '"' || c == ';' || c == 0x7F; };
  if (item.starts_with('-') || std::ranges::any_of(item, is_strange)) {
    refuse("{}: '{}' is neither a set nor the name of an event; `perf list` shows those", option,
           item);
  }
}

}  // namespace

std::span<const CounterSet> counter_sets() { return kSets; }

Strings events_of_sets() {
  Strings events;
  for (const CounterSet& set : kSets) {
    for (const std::string& item : items_of(set.events)) {
      const CounterRequest request = request_for(item);
      events.insert(events.end(), request.events.begin(), request.events.end());
    }
  }
  return events;
}

CounterPlan parse_counters(std::string_view option, const Strings& given) {
  CounterPlan plan;
  plan.words = given;
  std::set<std::string> words;
  std::set<std::string> arguments;
  const auto add = [&](const std::string& argument) {
    if (arguments.insert(argument).second) plan.requests.push_back(request_for(argument));
  };
  for (const std::string& list : given) {
    for (const std::string& item : items_of(list)) {
      if (item.empty()) refuse("{}: '{}' has an empty item", option, list);
      if (!words.insert(item).second) refuse("{}: '{}' is given twice", option, item);
      if (item == model::kInstructionsExact) {
        plan.instructions_exact = true;
        continue;
      }
      const auto set = std::ranges::find(kSets, item, &CounterSet::name);
      if (set != kSets.end()) {
        for (const std::string& event : items_of(set->events)) add(event);
        continue;
      }
      check_event(option, item);
      if (const auto near = nearly_known(item)) {
        const bool is_set = *near != model::kInstructionsExact;
        refuse("{}: unknown {} '{}'; did you mean '{}'?", option, is_set ? "set" : "event", item,
               *near);
      }
      add(item);
    }
  }
  return plan;
}

}  // namespace taskbench::harness
