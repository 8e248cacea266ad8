#include "reports/render/report_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "reports/render/columns.hpp"
#include "reports/render/figures.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

/// Takes `digits` digits off the front; empty when there are not as many.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (const char each : text.substr(0, digits)) {
    if (each < '0' || each > '9') return std::nullopt;
    value = 10 * value + (each - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take_one_of(std::string_view& text, std::string_view characters) {
  if (text.empty() || characters.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// "+01:00", "-0530", "Z" or nothing, in seconds east of Greenwich.
std::optional<int> zone_of(std::string_view text) {
  if (text.empty() || text == "Z") return 0;
  const int sign = text.front() == '-' ? -1 : 1;
  if (!take_one_of(text, "+-")) return std::nullopt;
  const auto hours = take_number(text, 2);
  take_one_of(text, ":");
  const auto minutes = take_number(text, 2);
  if (!hours || !minutes) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

std::pair<std::string, std::string> group_and_variant(const model::Benchmark& benchmark) {
  const std::string& name = benchmark.run_name;
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

std::string environment_of(const model::ResultFile& file, const std::string& key) {
  const auto found = file.environment.find(key);
  return found == file.environment.end() ? std::string() : found->second;
}

}  // namespace

std::optional<std::int64_t> instant_of(std::string_view date) {
  using namespace std::chrono;
  const auto years = take_number(date, 4);
  if (!years || !take_one_of(date, "-")) return std::nullopt;
  const auto months = take_number(date, 2);
  if (!months || !take_one_of(date, "-")) return std::nullopt;
  const auto days = take_number(date, 2);
  if (!days || !take_one_of(date, "T ")) return std::nullopt;
  const auto hour = take_number(date, 2);
  if (!hour || !take_one_of(date, ":")) return std::nullopt;
  const auto minute = take_number(date, 2);
  if (!minute || !take_one_of(date, ":")) return std::nullopt;
  const auto second = take_number(date, 2);
  const auto zone = second ? zone_of(date) : std::nullopt;
  const year_month_day day{year(*years), month(static_cast<unsigned>(*months)),
                           std::chrono::day(static_cast<unsigned>(*days))};
  if (!zone || !day.ok()) return std::nullopt;
  const std::int64_t of_day = sys_days(day).time_since_epoch().count();
  return of_day * 86400 + *hour * 3600 + *minute * 60 + *second - *zone;
}

std::vector<const NamedResult*> in_order_of_time(const std::vector<NamedResult>& results) {
  std::vector<const NamedResult*> order;
  for (const NamedResult& result : results) order.push_back(&result);
  // An empty optional is less than any other.
  std::ranges::stable_sort(order, {},
                           [](const NamedResult* each) { return instant_of(each->file.date); });
  return order;
}

std::vector<ShownCase> shown_cases(const std::vector<const NamedResult*>& in_order) {
  std::vector<ShownCase> cases;
  std::set<std::string> known;
  for (auto result = in_order.rbegin(); result != in_order.rend(); ++result) {
    for (const model::Benchmark& benchmark : (*result)->file.benchmarks) {
      if (benchmark.repetitions.empty() || !benchmark.error.empty()) continue;
      if (!known.insert(benchmark.run_name).second) continue;
      ShownCase shown;
      shown.source = *result;
      shown.benchmark = &benchmark;
      std::tie(shown.group, shown.variant) = group_and_variant(benchmark);
      std::vector<double> values;
      for (const auto& repetition : benchmark.repetitions) values.push_back(repetition.real_ns);
      shown.real_ns = sampled(std::move(values));
      cases.push_back(std::move(shown));
    }
  }
  return cases;
}

std::vector<CaseCounter> counters_of(const ShownCase& shown) {
  const double operations =
      shown.has_operations() ? static_cast<double>(shown.benchmark->operations) : 1;
  std::vector<CaseCounter> counters;
  std::set<std::string> names;
  for (const auto& repetition : shown.benchmark->repetitions) {
    for (const auto& [name, value] : repetition.counters) names.insert(name);
  }
  for (const std::string& name : names) {
    CaseCounter counter;
    counter.name = name;
    for (const auto& repetition : shown.benchmark->repetitions) {
      const auto found = repetition.counters.find(name);
      if (found == repetition.counters.end() || !std::isfinite(found->second)) continue;
      counter.values.push_back(found->second / operations);
    }
    if (counter.values.empty()) {
      counter.reason = "it is no number in the result";
    } else {
      counter.median = stats::median(counter.values);
    }
    counters.push_back(std::move(counter));
  }
  for (const model::EventCount& event : shown.benchmark->events) {
    CaseCounter counter;
    counter.name =
        event.unit.empty() ? event.event : fmt::format("{}, {}", event.event, event.unit);
    counter.of_processes = true;
    counter.user_only = event.user_only;
    counter.counted_share = event.counted_share;
    counter.reason = event.unavailable;
    for (const double value : event.per_iteration) counter.values.push_back(value / operations);
    if (!counter.values.empty()) counter.median = stats::median(counter.values);
    counters.push_back(std::move(counter));
  }
  return counters;
}

std::string machine_of(const model::ResultFile& file) {
  std::vector<std::string> parts;
  const std::string cpu = environment_of(file, "cpu_model");
  parts.push_back(cpu.empty() ? file.host_name : cpu);
  if (file.cpu_count > 0) {
    parts.push_back(fmt::format("{} CPU{}", file.cpu_count, file.cpu_count == 1 ? "" : "s"));
  }
  parts.push_back(environment_of(file, "build_type"));
  const std::string workloads = environment_of(file, "workloads_version");
  if (!workloads.empty()) parts.push_back("workloads " + workloads);
  std::string text;
  for (const std::string& part : parts) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text.empty() ? "unknown machine" : text;
}

std::vector<std::string> machine_labels(const std::vector<const NamedResult*>& in_order) {
  std::map<std::string, std::vector<std::string>> setups;  // by short name, as they first appear
  const auto number_of = [&](const model::ResultFile& file) {
    std::string setup = file.host_name;
    // A container has a name of its own each time; where the CPU is known, that tells enough.
    if (!environment_of(file, "cpu_model").empty()) setup.clear();
    for (const char* key :
         {"cpu_microcode", "cpu_governor", "kernel", "hypervisor", "compiler", "compiler_flags"}) {
      setup += '\n' + environment_of(file, key);
    }
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

std::string short_commit(const model::ResultFile& file) {
  constexpr std::size_t kDigits = 7;
  constexpr std::string_view kDirty = "-dirty";
  std::string commit = environment_of(file, "git_commit");
  if (commit == "unknown") return {};
  const bool dirty = commit.ends_with(kDirty);
  if (dirty) commit.resize(commit.size() - kDirty.size());
  return commit.substr(0, kDigits) + (dirty ? std::string(kDirty) : std::string());
}

std::string day_of(const std::string& date) { return instant_of(date) ? date.substr(0, 10) : date; }

std::string time_text(double ns) {
  const TimeUnit unit = time_unit(ns);
  return fmt::format("{} {}", with_separators(ns / unit.ns, unit.decimals), unit.name);
}

}  // namespace taskbench::reports::render
