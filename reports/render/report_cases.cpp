#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

#include "reports/render/figures.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/report_sections.hpp"
#include "reports/render/sentences.hpp"

namespace taskbench::reports::render {
namespace {

std::pair<std::string, std::string> group_and_variant(const model::Case& benchmark) {
  const std::string& name = benchmark.name;
  if (!benchmark.workload.empty()) {
    const std::string changed = changed_parameters(benchmark);
    return {benchmark.workload, fmt::format("{} ×{}{}{}", benchmark.scheduler, benchmark.workers,
                                            changed.empty() ? "" : " ", changed)};
  }
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || slash == 0) return {name, {}};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

bool has_counters(const model::Case& benchmark) {
  return std::ranges::any_of(benchmark.repetitions,
                             [](const auto& each) { return !each.counters.empty(); });
}

bool has_counted_events(const model::Case& benchmark) {
  return std::ranges::any_of(benchmark.events,
                             [](const auto& event) { return !event.per_iteration.empty(); });
}

/// Notes a result with counters or events. Call it for the newest result first.
void note_counted(ShownCase& shown, const ShownCase::Counted& candidate) {
  // Counts per operation are not mixed with counts per iteration.
  const model::Case& benchmark = *candidate.benchmark;
  if (shown.has_operations() != (benchmark.operations > 0)) return;
  if (shown.counters.source == nullptr && has_counters(benchmark)) shown.counters = candidate;
  const model::Case* const known = shown.events.benchmark;
  const bool is_better = known == nullptr
                             ? !benchmark.events.empty()
                             : !has_counted_events(*known) && has_counted_events(benchmark);
  if (is_better) shown.events = candidate;
}

}  // namespace

std::vector<ShownCase> shown_cases(const std::vector<const NamedResult*>& in_order) {
  std::vector<ShownCase> cases;
  std::unordered_map<std::string_view, std::size_t> known;
  for (auto result = in_order.rbegin(); result != in_order.rend(); ++result) {
    for (const model::Case& benchmark : (*result)->file.cases) {
      if (!benchmark.has_samples()) continue;
      const auto [place, is_new] = known.try_emplace(benchmark.name, cases.size());
      if (is_new) {
        auto [group, variant] = group_and_variant(benchmark);
        cases.push_back({*result, &benchmark, {}, {}, group, variant, times_of(benchmark)});
      }
      note_counted(cases[place->second], {*result, &benchmark});
    }
  }
  return cases;
}

Sampled times_of(const model::Case& benchmark) {
  return sampled(each_of(benchmark.repetitions, &model::Repetition::real_ns));
}

Samples times_of(const ShownCases& cases) {
  return each_of(cases, [](const ShownCase* each) { return &each->real_ns; });
}

std::string machine_of(const model::Run& file) {
  const model::Environment& from = file.environment;
  const std::string& version = from.workloads_version;
  const std::string text =
      machine_text(from.cpu_model.empty() ? from.host_name : from.cpu_model, from.cpu_count,
                   {from.build_type, version.empty() ? version : "workloads " + version});
  return text.empty() ? "unknown machine" : text;
}

std::vector<std::string> machine_labels(const std::vector<const NamedResult*>& in_order) {
  std::map<std::string, InOrder<bool>> setups;  // by short name
  std::vector<std::size_t> numbers;
  for (const NamedResult* each : in_order) {
    const model::Environment& from = each->file.environment;
    // A container has a different name each time; a known CPU says enough.
    const std::string host = from.cpu_model.empty() ? from.host_name : std::string();
    numbers.push_back(setups[machine_of(each->file)].place_of(
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", host, from.cpu_microcode, from.cpu_governor,
                    from.kernel, from.hypervisor, from.compiler, from.compiler_flags)));
  }
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    labels.push_back(machine_of(in_order[i]->file));
    if (setups[labels[i]].size() > 1) labels[i] += fmt::format(", setup {}", numbers[i] + 1);
  }
  return labels;
}

std::string short_commit(const model::Run& file) {
  constexpr std::size_t kDigits = 7;
  const std::string& commit = file.environment.git_commit;
  if (commit == "unknown") return {};
  const std::size_t digits = commit.ends_with("-dirty") ? commit.size() - 6 : commit.size();
  return commit.substr(0, std::min(kDigits, digits)) + commit.substr(digits);
}

Cell time_cell(double ns) { return {time_text(ns), Tone::plain, ns}; }

Cell interval_cell(const Sampled& sample) {
  if (!sample.interval) return std::string(kNone);
  const auto [low, high] = *sample.interval;
  const TimeUnit unit = time_unit(sample.median);
  const bool is_tiny = low < 0.0005;  // it would be shown as 0.000 ns
  return {fmt::format("{} … {}", is_tiny ? time_text(low) : time_in(unit, low),
                      is_tiny ? time_text(high) : time_text(high, unit)),
          Tone::plain, low};
}

std::string sample_count(const Samples& samples) {
  const auto count = [](const Sampled* each) { return each->values.size(); };
  const auto [fewest, most] = std::ranges::minmax(samples, {}, count);
  return range_text(std::to_string(count(fewest)), std::to_string(count(most)));
}

std::string repetition_count(const Samples& samples) {
  const std::string count = sample_count(samples);
  return fmt::format("{} repetition{}", count, count == "1" ? "" : "s");
}

std::string interval_phrase(const Samples& samples) {
  const auto some = std::ranges::count_if(
      samples, [](const Sampled* each) { return each->interval.has_value(); });
  if (some == 0) return "; fewer than six values give it no 95 % interval";
  const bool all = some == std::ssize(samples);
  return std::string(", its bar the 95 % interval of that median") +
         (all ? "" : " where there are the six values that it takes");
}

std::string dots_phrase(const Samples& samples) {
  const std::size_t most = most_dots(samples.size());
  if (std::ranges::all_of(samples, [&](const auto& each) { return each->values.size() <= most; })) {
    return {};
  }
  return fmt::format(
      " At most {} dots of each are drawn, evenly spread from the least value to the greatest.",
      most);
}

std::string part_text(std::size_t index, std::size_t count) {
  return count > 1 ? fmt::format(" ({} of {})", index + 1, count) : std::string();
}

std::vector<std::size_t> SectionWriter::plotted(const std::vector<double>& weights,
                                                std::size_t most, std::string_view what,
                                                std::string_view which) {
  std::vector<std::size_t> places(weights.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  if (places.size() <= most) return places;
  say_plotted(most, places.size(), what, which);
  std::ranges::stable_sort(places, std::ranges::greater(),
                           [&](std::size_t place) { return weights[place]; });
  places.resize(most);
  std::ranges::sort(places);
  return places;
}

}  // namespace taskbench::reports::render
