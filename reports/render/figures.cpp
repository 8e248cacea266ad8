#include "reports/render/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

#include "reports/render/numbers.hpp"
#include "reports/render/sentences.hpp"

namespace taskbench::reports::render {
namespace {

/// The counters of Repetition::counters that explain a time; the others are in the files only.
struct CounterColumn {
  std::string_view counter;
  std::string_view title;
  std::string_view short_title;
  std::string_view meaning;
  bool is_rare = false;  ///< shown only where it ever happened
};
constexpr std::array<CounterColumn, 5> kCounterColumns = {
    {{"steals", "steals", "steals", "successful ones"},
     {"parks", "parks", "parks", "workers that went to sleep"},
     {"wakeups", "wakes", "wakes", "workers woken"},
     {"overflows", "overflows", "ovfl", "full local queues that moved a half to the injector"},
     {"hand_offs", "hand-offs", "h-offs", "workers taken from threads that blocked", true}}};

constexpr std::string_view kTimeSuffix = "_ns";

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
  group->rows.push_back({&measured, *summary, {}, 100 * summary->spread().value_or(0)});
}

template <class Groups, class Function>
void for_each_row(Groups& figures, Function function) {
  for (auto& group : figures.groups) {
    for (auto& row : group.rows) function(row);
  }
}

/// "of one spawn (chained_spawn, spawn_many), one yield (yield_many)"; empty when no case says what
/// its operations are.
std::string operations_meaning(const Figures& figures) {
  InOrder<std::vector<std::string>> workloads;
  for (const Group& group : figures.groups) {
    const std::string& operation = group.rows.front().measured->operation;
    if (!operation.empty()) workloads[operation].push_back(group.workload);
  }
  std::vector<std::string> parts;
  for (const auto& [operation, names] : workloads) {
    add(parts, "one {} ({})", operation, fmt::join(names, ", "));
  }
  return parts.empty() ? "" : fmt::format("of {}", fmt::join(parts, ", "));
}

/// "the median of 9 repetitions", and what the spread is.
std::string basis(const Figures& figures) {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  std::size_t most = 0;
  for_each_row(figures, [&](const Row& row) {
    fewest = std::min(fewest, row.summary.samples);
    most = std::max(most, row.summary.samples);
  });
  if (most == 1) return "Each figure rests on a single repetition: nothing is known of its spread.";
  return fmt::format(
      "Each figure is the median of {} repetitions; half of them lie within ± MAD (median absolute "
      "deviation) of it.",
      range_text(std::to_string(fewest), std::to_string(most)));
}

void add_times(Figures& result) {
  double shortest = std::numeric_limits<double>::infinity();
  for_each_row(result, [&](const Row& row) {
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
    const auto& mad = row.summary.real_ns_mad;
    row.cells = {time_in(unit, row.summary.real_ns_median),
                 mad ? time_in(unit, *mad) : std::string(kNone),
                 mad ? with_separators(row.spread_percent, 1) : std::string(kNone),
                 ns_cell(row.summary.ns_per_operation), time_in(unit, row.summary.cpu_ns_median)};
  });
}

void add_counters(Figures& result) {
  result.columns.push_back(
      {"switches", "switches", "/iter", "context switches of the process", true});
  for_each_row(result, [](Row& row) { row.cells.push_back(rate_cell(row.summary.switches.both)); });
  for (const CounterColumn& column : kCounterColumns) {
    bool any = false;
    for_each_row(result, [&](const Row& row) {
      const auto counted = counter_of(row.summary, column.counter);
      any = any || (counted && !(column.is_rare && *counted == 0));
    });
    if (!any) continue;
    result.columns.push_back(
        {column.title, column.short_title, "/iter", std::string(column.meaning), true});
    for_each_row(result, [&](Row& row) {
      row.cells.push_back(rate_cell(counter_of(row.summary, column.counter)));
    });
  }
}

void add_observed(std::string_view name, Figures& table) {
  const std::string_view title = observed_title(name);
  table.columns.push_back({title, title, "", "", false});
  for_each_row(table, [&](Row& row) {
    const auto value = counter_of(row.summary, name);
    row.cells.push_back(value ? observed_text(name, *value) : std::string(kNone));
  });
}

}  // namespace

Figures figures(const model::Run& run) {
  Figures result;
  for (const model::Case& measured : run.cases) sort_into(result, measured);
  add_times(result);
  add_counters(result);
  return result;
}

std::string_view observed_title(std::string_view name) {
  if (is_time(name)) name.remove_suffix(kTimeSuffix.size());
  return name;
}

bool is_time(std::string_view name) { return name.ends_with(kTimeSuffix); }

std::string observed_text(std::string_view name, double value) {
  return is_time(name) ? time_text(value) : three_digits(value);
}

std::vector<Figures> observations(const model::Run& run) {
  std::vector<Figures> tables;
  for (Group& group : figures(run).groups) {
    std::map<std::string_view, std::string_view> names;  // by title, so that p99 precedes p99_9
    for (const Row& row : group.rows) {
      for (const std::string& name : row.measured->observed) names[observed_title(name)] = name;
    }
    if (names.empty()) continue;
    for (Row& row : group.rows) row.cells.clear();
    Figures& table = tables.emplace_back();
    table.groups.push_back(std::move(group));
    for (const auto& [title, name] : names) add_observed(name, table);
  }
  return tables;
}

std::string changed_parameters(const model::Case& measured) {
  const std::string plain =
      fmt::format("{}/{}/workers:{}/", measured.workload, measured.scheduler, measured.workers);
  if (!measured.name.starts_with(plain)) return "";
  std::string rest = measured.name.substr(plain.size());
  std::replace(rest.begin(), rest.end(), '/', ' ');
  return rest;
}

std::vector<Notice> notices(const model::Run& run, const Figures& figures) {
  std::vector<Notice> list;
  if (run.cases.empty()) list.push_back({"", "Nothing was measured.", Tone::plain});
  for (const model::Case* failed : figures.failed) {
    list.push_back({"Failed", fmt::format(" {}: {}", failed->name, failed->error), Tone::bad});
  }
  for (const model::Case* each : figures.unmeasured) {
    list.push_back({"Not measured", fmt::format(" {}: no repetition was completed", each->name),
                    Tone::doubtful});
  }
  if (run.partial) {
    list.push_back({"Partial", ": interrupted, some repetitions that were asked for are missing.",
                    Tone::doubtful});
  }
  if (run.environment.build_type == "Debug") {
    list.push_back({"", "This is a Debug build: its times say nothing about an optimised one.",
                    Tone::doubtful});
  }
  return list;
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
  const std::string& hypervisor = environment.hypervisor;
  const bool is_virtual = !hypervisor.empty() && hypervisor != "none";
  return machine_text(environment.cpu_model, environment.cpu_count,
                      {is_virtual ? fmt::format("virtual ({})", hypervisor) : "",
                       environment.kernel, environment.compiler, environment.build_type});
}

std::string machine_text(const std::string& name, std::int64_t cpus,
                         const std::vector<std::string>& more) {
  std::vector<std::string> parts{name};
  if (cpus > 0) parts.push_back(counted(static_cast<std::size_t>(cpus), "CPU"));
  parts.insert(parts.end(), more.begin(), more.end());
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace taskbench::reports::render
