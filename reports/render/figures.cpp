#include "reports/render/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "reports/render/columns.hpp"

namespace taskbench::reports::render {
namespace {

/// The counters of Repetition::counters that explain a time; the others are in the files only.
struct CounterColumn {
  std::string_view counter;
  std::string_view title;
  std::string_view short_title;
  std::string_view meaning;
};
constexpr std::array<CounterColumn, 4> kCounterColumns = {
    {{"steals", "steals", "steals", "successful ones"},
     {"parks", "parks", "parks", "workers that went to sleep"},
     {"wakeups", "wakes", "wakes", "workers woken"},
     {"overflows", "overflows", "ovfl", "full local queues that moved a half to the injector"}}};

std::string rate_cell(std::optional<double> per_iteration) {
  return per_iteration ? rate(*per_iteration) : std::string(kNone);
}

std::optional<double> counter_of(const stats::CaseSummary& summary, std::string_view counter) {
  const auto found = summary.counters.find(std::string(counter));
  return found == summary.counters.end() ? std::nullopt : std::optional(found->second);
}

void sort_into(Figures& result, const model::Case& measured) {
  const std::optional<stats::CaseSummary> summary = stats::summarize(measured);
  if (!summary) {
    (measured.error.empty() ? result.unmeasured : result.failed).push_back(&measured);
    return;
  }
  auto group = std::find_if(result.groups.begin(), result.groups.end(), [&](const Group& known) {
    return known.workload == measured.workload;
  });
  if (group == result.groups.end()) {
    group = result.groups.insert(group, Group{measured.workload, {}});
  }
  const double median = summary->real_ns_median;
  group->rows.push_back(
      {&measured, *summary, {}, median > 0 ? 100 * summary->real_ns_mad / median : 0});
}

template <class Function>
void for_each_row(Figures& figures, Function function) {
  for (Group& group : figures.groups) {
    for (Row& row : group.rows) function(row);
  }
}

template <class Function>
void for_each_row(const Figures& figures, Function function) {
  for (const Group& group : figures.groups) {
    for (const Row& row : group.rows) function(row);
  }
}

/// "of one spawn (chained_spawn, spawn_many), one yield (yield_many)"; empty when no case says what
/// its operations are.
std::string operations_meaning(const Figures& figures) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_operation;
  for (const Group& group : figures.groups) {
    const std::string& operation = group.rows.front().measured->operation;
    if (operation.empty()) continue;
    auto found = std::find_if(by_operation.begin(), by_operation.end(),
                              [&](const auto& known) { return known.first == operation; });
    if (found == by_operation.end()) found = by_operation.insert(found, {operation, {}});
    found->second.push_back(group.workload);
  }
  std::vector<std::string> parts;
  for (const auto& [operation, workloads] : by_operation) {
    parts.push_back(fmt::format("one {} ({})", operation, fmt::join(workloads, ", ")));
  }
  return parts.empty() ? "" : fmt::format("of {}", fmt::join(parts, ", "));
}

/// "the median of 9 repetitions", with what the spread is.
std::string basis(const Figures& figures) {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  std::size_t most = 0;
  for_each_row(figures, [&](const Row& row) {
    fewest = std::min(fewest, row.summary.samples);
    most = std::max(most, row.summary.samples);
  });
  if (most == 1) return "Each figure rests on a single repetition: nothing is known of its spread.";
  return fmt::format(
      "Each figure is the median of {}{} repetitions; half of them lie within ± MAD (median "
      "absolute deviation) of it.",
      fewest == most ? "" : fmt::format("{} to ", fewest), most);
}

void add_times(Figures& result) {
  double shortest = std::numeric_limits<double>::infinity();
  for_each_row(std::as_const(result), [&](const Row& row) {
    if (row.summary.real_ns_median > 0) shortest = std::min(shortest, row.summary.real_ns_median);
  });
  const TimeUnit unit = time_unit(shortest);
  const std::string name(unit.name);
  result.columns = {
      {"median", "median", name, "wall time of one iteration", false},
      {"± MAD", "± MAD", name, "", false},
      {"± MAD", "± MAD", "%", "", false},
      {"per op", "per op", "ns", operations_meaning(result), false},
      {"CPU", "CPU", name, "of all threads of the process", false},
  };
  for_each_row(result, [&](Row& row) {
    // One repetition has no spread; 0 would look like a perfect measurement.
    const bool has_spread = row.summary.samples > 1;
    row.cells = {time_in(unit, row.summary.real_ns_median),
                 has_spread ? time_in(unit, row.summary.real_ns_mad) : std::string(kNone),
                 has_spread ? with_separators(row.spread_percent, 1) : std::string(kNone),
                 ns_cell(row.summary.ns_per_operation), time_in(unit, row.summary.cpu_ns_median)};
  });
}

void add_counters(Figures& result) {
  result.columns.push_back(
      {"switches", "switches", "/iter", "context switches of the process", true});
  for_each_row(result,
               [](Row& row) { row.cells.push_back(rate_cell(row.summary.context_switches)); });
  for (const CounterColumn& column : kCounterColumns) {
    bool any = false;
    for_each_row(std::as_const(result), [&](const Row& row) {
      any = any || counter_of(row.summary, column.counter).has_value();
    });
    if (!any) continue;
    result.columns.push_back(
        {column.title, column.short_title, "/iter", std::string(column.meaning), true});
    for_each_row(result, [&](Row& row) {
      row.cells.push_back(rate_cell(counter_of(row.summary, column.counter)));
    });
  }
}

}  // namespace

std::string with_separators(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

std::string with_separators(double number, int decimals) {
  constexpr double kTooLong = 1e15;  // more digits than a double has, or than anybody reads
  if (std::abs(number) >= kTooLong) return fmt::format("{:.4g}", number);
  std::string text = fmt::format("{:.{}f}", number, decimals);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  const std::size_t end = std::min(text.find('.'), text.size());
  for (std::size_t i = end; i > first + 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string rate(double per_iteration) {
  if (per_iteration == 0) return "0";
  // The limits are where rounding to fewer digits starts, so that 9.996 is "10.0", not "10.00".
  if (per_iteration < 0.005) return "<0.01";
  return with_separators(per_iteration, per_iteration < 9.995 ? 2 : per_iteration < 99.95 ? 1 : 0);
}

std::string three_digits(double number) {
  if (number == 0) return "0";
  return std::abs(number) < 999.5 ? fmt::format("{:.3g}", number) : with_separators(number, 0);
}

std::string with_prefix(double number) {
  constexpr std::array<std::string_view, 9> kPrefixes{"",   " k", " M", " G", " T",
                                                      " P", " E", " Z", " Y"};
  std::size_t prefix = 0;
  double scaled = number;
  while (std::abs(scaled) >= 999.5 && prefix + 1 < kPrefixes.size()) {
    scaled /= 1000;
    ++prefix;
  }
  return fmt::format("{:.3g}{}", scaled, kPrefixes[prefix]);
}

TimeUnit time_unit(double shortest_ns) {
  constexpr std::array<TimeUnit, 4> kUnits = {
      {{"s", 1e9, 0}, {"ms", 1e6, 0}, {"µs", 1e3, 0}, {"ns", 1, 0}}};
  if (!std::isfinite(shortest_ns)) return kUnits.back();
  TimeUnit unit = *std::find_if(kUnits.begin(), kUnits.end() - 1,
                                [shortest_ns](const TimeUnit& u) { return shortest_ns >= u.ns; });
  const double shortest = shortest_ns / unit.ns;
  unit.decimals = shortest < 10 ? 3 : shortest < 100 ? 2 : shortest < 1000 ? 1 : 0;
  return unit;
}

std::string time_in(const TimeUnit& unit, double ns) {
  return with_separators(ns / unit.ns, unit.decimals);
}

std::string time_text(double ns, const TimeUnit& unit) {
  return fmt::format("{} {}", time_in(unit, ns), unit.name);
}

std::string time_text(double ns) {
  constexpr double kLeastShown = 0.0005;  // what is less would be 0.000 ns
  return ns > 0 && ns < kLeastShown ? fmt::format("{:.3g} ns", ns) : time_text(ns, time_unit(ns));
}

std::string time_range(double least_ns, double most_ns, const TimeUnit& unit) {
  return fmt::format("{} … {}", time_in(unit, least_ns), time_text(most_ns, unit));
}

std::string ns_cell(std::optional<double> ns) {
  return ns ? with_separators(*ns, *ns < 100 ? 2 : *ns < 1000 ? 1 : 0) : std::string(kNone);
}

Figures figures(const model::Run& run) {
  Figures result;
  for (const model::Case& measured : run.cases) sort_into(result, measured);
  add_times(result);
  add_counters(result);
  return result;
}

std::string changed_parameters(const model::Case& measured) {
  const std::string plain =
      fmt::format("{}/{}/workers:{}/", measured.workload, measured.scheduler, measured.workers);
  if (!measured.name.starts_with(plain)) return "";
  std::string rest = measured.name.substr(plain.size());
  std::replace(rest.begin(), rest.end(), '/', ' ');
  return rest;
}

std::vector<std::string> explanation(const Figures& figures, bool short_titles) {
  std::vector<std::string> meanings;
  bool counters_begun = false;
  for (const Column& column : figures.columns) {
    if (column.is_counter && !std::exchange(counters_begun, true)) {
      meanings.emplace_back("/iter: per iteration");
    }
    if (!column.meaning.empty()) {
      meanings.push_back(
          fmt::format("{}: {}", short_titles ? column.short_title : column.title, column.meaning));
    }
  }
  return {basis(figures), fmt::format("{}.", fmt::join(meanings, "; "))};
}

std::string provenance(const model::Environment& environment) {
  std::vector<std::string> parts;
  const auto add = [&parts](std::string part) {
    if (!part.empty()) parts.push_back(std::move(part));
  };
  add(environment.cpu_model);
  if (environment.cpu_count > 0) {
    add(fmt::format("{} CPU{}", environment.cpu_count, environment.cpu_count == 1 ? "" : "s"));
  }
  if (environment.hypervisor != "none" && !environment.hypervisor.empty()) {
    add(fmt::format("virtual ({})", environment.hypervisor));
  }
  add(environment.kernel);
  add(environment.compiler);
  add(environment.build_type);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace taskbench::reports::render
