#include "reports/render/report_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "reports/model/date.hpp"
#include "reports/render/columns.hpp"
#include "reports/render/counters.hpp"
#include "reports/render/figures.hpp"
#include "reports/render/verdict_table.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

std::pair<std::string, std::string> group_and_variant(const model::Case& benchmark) {
  const std::string& name = benchmark.name;
  if (!benchmark.workload.empty()) {
    const std::string plain =
        fmt::format("{}/{}/workers:{}", benchmark.workload, benchmark.scheduler, benchmark.workers);
    std::string variant = fmt::format("{} ×{}", benchmark.scheduler, benchmark.workers);
    if (name.starts_with(plain + '/')) {
      std::string rest = name.substr(plain.size());
      std::ranges::replace(rest, '/', ' ');
      variant += rest;
    }
    return {benchmark.workload, variant};
  }
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || slash == 0) return {name, {}};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

/// 1 where they are not known.
double operations_of(const model::Case& benchmark) {
  return benchmark.operations > 0 ? static_cast<double>(benchmark.operations) : 1;
}

/// Called for the newest result first.
void note_counted(ShownCase& shown, const ShownCase::Counted& candidate) {
  // Counts per operation do not stand beside counts per iteration.
  const model::Case& benchmark = *candidate.benchmark;
  if (shown.has_operations() != (benchmark.operations > 0)) return;
  const auto has_counters = [](const model::Repetition& repetition) {
    return !repetition.counters.empty();
  };
  if (shown.counters.source == nullptr &&
      std::ranges::any_of(benchmark.repetitions, has_counters)) {
    shown.counters = candidate;
  }
  const auto counted = [](const model::Case* of) {
    return of != nullptr && std::ranges::any_of(of->events, [](const model::EventCount& event) {
             return !event.per_iteration.empty();
           });
  };
  const bool is_first = shown.events.source == nullptr && !benchmark.events.empty();
  if (is_first || (!counted(shown.events.benchmark) && counted(&benchmark))) {
    shown.events = candidate;
  }
}

}  // namespace

std::vector<const NamedResult*> in_order_of_time(const std::vector<NamedResult>& results) {
  std::vector<const NamedResult*> order;
  for (const NamedResult& result : results) order.push_back(&result);
  // An empty optional is less than any other.
  std::ranges::stable_sort(order, {}, [](const NamedResult* each) {
    return model::instant_of(each->file.environment.date);
  });
  return order;
}

std::vector<ShownCase> shown_cases(const std::vector<const NamedResult*>& in_order) {
  std::vector<ShownCase> cases;
  std::unordered_map<std::string_view, std::size_t> known;
  for (auto result = in_order.rbegin(); result != in_order.rend(); ++result) {
    for (const model::Case& benchmark : (*result)->file.cases) {
      if (!benchmark.has_samples()) continue;
      const auto [place, is_new] = known.try_emplace(benchmark.name, cases.size());
      if (is_new) {
        ShownCase shown;
        shown.source = *result;
        shown.benchmark = &benchmark;
        std::tie(shown.group, shown.variant) = group_and_variant(benchmark);
        std::vector<double> values;
        for (const auto& repetition : benchmark.repetitions) values.push_back(repetition.real_ns);
        shown.real_ns = sampled(std::move(values));
        cases.push_back(std::move(shown));
      }
      note_counted(cases[place->second], {*result, &benchmark});
    }
  }
  return cases;
}

std::string counter_name(const model::EventCount& event) {
  return event.unit.empty() ? event.event : fmt::format("{}, {}", event.event, event.unit);
}

std::vector<CaseCounter> counters_of(const ShownCase& shown) {
  std::vector<CaseCounter> counters;
  if (const model::Case* benchmark = shown.counters.benchmark) {
    const double operations = operations_of(*benchmark);
    std::set<std::string> names;
    for (const auto& repetition : benchmark->repetitions) {
      for (const auto& [name, value] : repetition.counters) names.insert(name);
    }
    for (const std::string& name : names) {
      CaseCounter counter;
      counter.name = counter_label(name);
      if (shown.counters.source != shown.source) counter.older = shown.counters.source;
      for (const auto& repetition : benchmark->repetitions) {
        const auto found = repetition.counters.find(name);
        if (found == repetition.counters.end() || !std::isfinite(found->second)) continue;
        counter.values.push_back(found->second / operations);
      }
      if (counter.values.empty()) {
        counter.reason = "the result has no number for it";
      } else {
        counter.median = stats::median(counter.values);
      }
      counters.push_back(std::move(counter));
    }
  }
  if (const model::Case* benchmark = shown.events.benchmark) {
    const double operations = operations_of(*benchmark);
    for (const model::EventCount& event : benchmark->events) {
      CaseCounter counter;
      counter.name = counter_name(event);
      if (shown.events.source != shown.source) counter.older = shown.events.source;
      counter.of_processes = true;
      counter.user_only = event.user_only;
      counter.counted_share = event.counted_share;
      counter.reason = event.unavailable;
      for (const double value : event.per_iteration) counter.values.push_back(value / operations);
      if (!counter.values.empty()) counter.median = stats::median(counter.values);
      counters.push_back(std::move(counter));
    }
  }
  return counters;
}

std::vector<std::size_t> greatest(const std::vector<double>& values, std::size_t most) {
  std::vector<std::size_t> places(values.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (places.size() <= most) return places;
  std::ranges::stable_sort(places, std::ranges::greater(),
                           [&](std::size_t place) { return values[place]; });
  places.resize(most);
  std::ranges::sort(places);
  return places;
}

std::vector<IndexRange> runs_of(std::size_t count, std::size_t most) {
  const std::size_t runs = (count + most - 1) / most;
  std::vector<IndexRange> result;
  for (std::size_t i = 0; i < runs; ++i) {
    result.push_back({i * count / runs, (i + 1) * count / runs});
  }
  return result;
}

std::size_t run_that_holds(const std::vector<IndexRange>& runs, std::size_t index) {
  const auto found = std::ranges::upper_bound(runs, index, {}, &IndexRange::first);
  return static_cast<std::size_t>(found - runs.begin()) - 1;
}

std::vector<std::vector<const ShownCase*>> in_portions(const std::vector<const ShownCase*>& cases) {
  std::vector<std::vector<const ShownCase*>> portions;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (i % kMaxRows == 0) portions.emplace_back();
    portions.back().push_back(cases[i]);
  }
  return portions;
}

std::string part_text(std::size_t index, std::size_t count) {
  return count > 1 ? fmt::format(" ({} of {})", index + 1, count) : std::string();
}

std::string sample_count(const std::vector<const ShownCase*>& cases) {
  const auto count = [](const ShownCase* each) { return each->real_ns.values.size(); };
  const std::size_t fewest = std::ranges::min(cases, {}, count)->real_ns.values.size();
  const std::size_t most = std::ranges::max(cases, {}, count)->real_ns.values.size();
  return fewest == most ? fmt::format("{}", most) : fmt::format("{} to {}", fewest, most);
}

std::string some_of(const std::vector<std::string>& texts, std::string_view between) {
  constexpr std::size_t kMostNamed = 5;
  const std::size_t shown = std::min(texts.size(), kMostNamed);
  std::string text = fmt::format(
      "{}", fmt::join(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(shown), between));
  if (shown < texts.size()) text += fmt::format(" and {} more", texts.size() - shown);
  return text;
}

std::string machine_of(const model::Run& file) {
  const model::Environment& from = file.environment;
  std::vector<std::string> parts{from.cpu_model.empty() ? from.host_name : from.cpu_model};
  if (from.cpu_count > 0) parts.push_back(counted(static_cast<std::size_t>(from.cpu_count), "CPU"));
  parts.push_back(from.build_type);
  if (!from.workloads_version.empty()) parts.push_back("workloads " + from.workloads_version);
  std::erase(parts, "");
  return parts.empty() ? "unknown machine" : fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> machine_labels(const std::vector<const NamedResult*>& in_order) {
  std::map<std::string, std::vector<std::string>> setups;  // by short name, as they first appear
  const auto number_of = [&](const model::Run& file) {
    const model::Environment& from = file.environment;
    // A container has a name of its own each time; where the CPU is known, that tells enough.
    const std::string setup =
        fmt::format("{}", fmt::join({from.cpu_model.empty() ? from.host_name : std::string(),
                                     from.cpu_microcode, from.cpu_governor, from.kernel,
                                     from.hypervisor, from.compiler, from.compiler_flags},
                                    "\n"));
    auto& known = setups[machine_of(file)];
    auto found = std::ranges::find(known, setup);
    if (found == known.end()) found = known.insert(found, setup);
    return found - known.begin() + 1;
  };
  std::vector<std::pair<std::string, std::ptrdiff_t>> numbered;
  for (const NamedResult* each : in_order) {
    numbered.emplace_back(machine_of(each->file), number_of(each->file));
  }
  std::vector<std::string> labels;
  for (const auto& [machine, number] : numbered) {
    labels.push_back(setups[machine].size() == 1 ? machine
                                                 : fmt::format("{}, setup {}", machine, number));
  }
  return labels;
}

std::string short_commit(const model::Run& file) {
  constexpr std::size_t kDigits = 7;
  constexpr std::string_view kDirty = "-dirty";
  std::string commit = file.environment.git_commit;
  if (commit == "unknown") return {};
  const bool dirty = commit.ends_with(kDirty);
  if (dirty) commit.resize(commit.size() - kDirty.size());
  return commit.substr(0, kDigits) + (dirty ? std::string(kDirty) : std::string());
}

Cell time_cell_of(double ns) { return {time_text(ns), Tone::plain, ns}; }

Cell interval_cell(const Sampled& sample) {
  if (!sample.interval) return {std::string(kNone), Tone::plain};
  const auto [low, high] = *sample.interval;
  const bool is_tiny = low < 0.0005;  // it would be 0.000 ns
  return {is_tiny ? fmt::format("{} … {}", time_text(low), time_text(high))
                  : time_range(low, high, time_unit(sample.median)),
          Tone::plain, low};
}

std::string interval_phrase(std::size_t with_interval, std::size_t all) {
  if (with_interval == all) return ", its bar the 95 % interval of that median";
  if (with_interval == 0) return "; fewer than six values give it no 95 % interval";
  return ", its bar the 95 % interval of that median where there are the six values that it takes";
}

std::string dots_phrase(std::size_t most, std::size_t samples) {
  if (most <= most_dots(samples)) return {};
  return fmt::format(
      " At most {} dots of each are drawn, evenly spread from the least value to the greatest.",
      most_dots(samples));
}

}  // namespace taskbench::reports::render
