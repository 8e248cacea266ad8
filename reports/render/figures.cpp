#include "reports/render/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "reports/model/lookup.hpp"
#include "reports/render/bars.hpp"
#include "reports/render/numbers.hpp"
#include "reports/render/sentences.hpp"
#include "reports/stats/summary.hpp"

namespace taskbench::reports::render {
namespace {

/// The counters of Repetition::counters that explain a time; the others are only in the files.
struct CounterColumn {
  std::string_view counter;
  std::string_view title;
  std::string_view short_title;
  std::string_view meaning;
  bool is_rare = false;  ///< shown only if it ever happened
};
constexpr std::array<CounterColumn, 7> kCounterColumns = {
    {{"steals", "steals", "steals", "successful ones"},
     {"parks", "parks", "parks", "workers that went to sleep"},
     {"wakeups", "wakes", "wakes", "workers woken"},
     {"overflows", "overflows", "ovfl", "full local queues that moved half to the injector"},
     {"hand_offs", "hand-offs", "h-offs", "workers taken from threads that blocked", true},
     {"minor_faults", "faults", "faults", "pages that the kernel gave it"},
     {"peak_memory_bytes", "peak bytes", "peak", "the most memory of its largest process"}}};

constexpr std::string_view kTimeSuffix = "_ns";

std::string observed_text(std::string_view name, double value) {
  return is_time(name) ? time_text(value) : three_digits(value);
}

/// A case with its figures.
struct Summarized {
  const model::Case* measured;
  stats::CaseSummary summary;
};

/// The cases with figures, by workload, in the order in which workloads first appear.
using Measured = InOrder<std::vector<Summarized>>;

template <class Function>
void for_each_case(const Measured& measured, Function function) {
  for (const auto& [workload, cases] : measured) {
    for (const Summarized& each : cases) function(each);
  }
}

std::string with_parameters(const std::string& text, const model::Case& measured) {
  const std::string parameters = changed_parameters(measured);
  return parameters.empty() ? text : text + ' ' + parameters;
}

/// "of one spawn (chained_spawn, spawn_many), one yield (yield_many)"; empty if no case names its
/// operations.
std::string operations_meaning(const Measured& measured) {
  InOrder<std::vector<std::string>> workloads;
  for (const auto& [workload, cases] : measured) {
    const std::string& operation = cases.front().measured->operation;
    if (!operation.empty()) workloads[operation].push_back(workload);
  }
  std::vector<std::string> parts;
  for (const auto& [operation, names] : workloads) {
    add(parts, "one {} ({})", operation, fmt::join(names, ", "));
  }
  return parts.empty() ? "" : fmt::format("of {}", fmt::join(parts, ", "));
}

/// A histogram of the repetitions, from the fastest to the slowest.
std::string distribution(const model::Case& measured) {
  constexpr std::size_t kCells = 10;
  constexpr std::size_t kFewest = 3;  // with fewer, median and spread say it all
  const auto values = each_of(stats::complete_repetitions(measured), &model::Repetition::real_ns);
  return values.size() < kFewest ? std::string(kNone) : sparkline(values, kCells);
}

void add_times(const Measured& measured, bool of_processes, Table& table) {
  double shortest = std::numeric_limits<double>::infinity();
  for_each_case(measured, [&](const Summarized& each) {
    const double median = each.summary.real_ns.median;
    if (median > 0) shortest = std::min(shortest, median);
  });
  const TimeUnit unit = time_unit(std::isfinite(shortest) ? shortest : 1);
  const std::string name(unit.name);
  const auto column = [&](std::string title, std::string of, std::string meaning) {
    table.columns.push_back({.title = std::move(title),
                             .is_number = true,
                             .unit = std::move(of),
                             .meaning = std::move(meaning),
                             .part = 1});
  };
  column("median", name, "wall time of one iteration");
  column("± MAD", name, "");
  column("± MAD", "%", "");
  const std::string operations = operations_meaning(measured);
  if (!operations.empty()) column("per op", "ns", operations);
  column("CPU", name, of_processes ? "what the program reports" : "of all threads of the process");
  column("distribution", "min–max",
         fmt::format("how many {} lie where, from the fastest to the slowest",
                     of_processes ? "processes" : "repetitions"));
  table.columns.back().short_title = "distrib.";
  table.columns.back().is_extra = true;
  auto row = table.rows.begin();
  for_each_case(measured, [&](const Summarized& each) {
    const stats::CaseSummary& of = each.summary;
    const auto time = [&](std::optional<double> ns) {
      return Cell(ns ? time_in(unit, *ns) : std::string(kNone), Tone::plain, ns);
    };
    const double percent = 100 * of.spread().value_or(0);
    std::vector<Cell>& cells = (row++)->cells;
    cells.push_back(time(of.real_ns.median));
    cells.push_back(time(of.real_ns.mad));
    cells.emplace_back(of.real_ns.mad ? with_separators(percent, 1) : std::string(kNone),
                       tone_of_spread(percent));
    if (!operations.empty()) {
      cells.emplace_back(ns_cell(of.ns_per_operation), Tone::plain, of.ns_per_operation);
    }
    cells.push_back(time(of.cpu_ns.median > 0 ? std::optional(of.cpu_ns.median) : std::nullopt));
    cells.emplace_back(distribution(*each.measured));
  });
}

/// Adds a column of counts per iteration.
template <class ValueOf>
void add_counter(const Measured& measured, const CounterColumn& column, const ValueOf& value_of,
                 Table& table) {
  table.columns.push_back({.title = std::string(column.title),
                           .is_number = true,
                           .unit = "/iter",
                           .short_title = std::string(column.short_title),
                           .meaning = std::string(column.meaning),
                           .part = 2});
  auto row = table.rows.begin();
  for_each_case(measured, [&](const Summarized& each) {
    const std::optional<double> value = value_of(each.summary);
    (row++)->cells.emplace_back(value ? rate(*value) : std::string(kNone), Tone::plain, value);
  });
}

Measured measured_of(const model::Run& run) {
  Measured measured;
  for (const model::Case& each : run.cases) {
    if (auto summary = stats::summarize(each)) {
      measured[each.workload].push_back({&each, std::move(*summary)});
    }
  }
  return measured;
}

std::string engine_of(const model::Case& measured) {
  return fmt::format("{} ×{}", measured.scheduler, measured.workers);
}

/// Whether each sample of the run is a process of another program.
bool has_processes(const model::Run& run) { return run.settings.processes > 0; }

/// A table with a row for each case, and so far only their names as a column. If all cases share
/// the scheduler and the number of workers, common_engine() states these.
Table table_of(const Measured& measured, bool is_common, bool of_processes) {
  const bool has_schedulers = measured.begin() == measured.end() ||
                              !measured.begin()->second.front().measured->scheduler.empty();
  const char* const of_others = of_processes ? "benchmark" : "command";
  const char* const title = has_schedulers ? "workload" : of_others;
  Table table{.columns = {{.title = is_common ? title : "scheduler"}},
              .group_title = is_common ? "" : "workload"};
  for_each_case(measured, [&](const Summarized& each) {
    const model::Case& of = *each.measured;
    const std::string workload = of.workload.empty() ? of.name : with_parameters(of.workload, of);
    table.add({is_common ? workload : engine_of(*each.measured)}, workload);
  });
  return table;
}

bool has_common_engine(const Measured& measured) {
  std::set<std::string> engines;
  for_each_case(measured, [&](const auto& each) { engines.insert(engine_of(*each.measured)); });
  return engines.size() == 1;
}

}  // namespace

Table figures(const model::Run& run) {
  const Measured measured = measured_of(run);
  const bool of_processes = has_processes(run);
  Table table = table_of(measured, has_common_engine(measured), of_processes);
  add_times(measured, of_processes, table);
  const auto switches = [](const stats::CaseSummary& summary) { return summary.switches.both; };
  bool has_switches = !of_processes;  // few programs report them
  for_each_case(measured, [&](const Summarized& each) {
    has_switches = has_switches || switches(each.summary).has_value();
  });
  if (has_switches) {
    add_counter(measured, {"", "switches", "switches", "context switches of the process"}, switches,
                table);
  }
  for (const CounterColumn& column : kCounterColumns) {
    bool any = false;
    for_each_case(measured, [&](const Summarized& each) {
      const auto counted = model::value_at(each.summary.counters, std::string(column.counter));
      any = any || (counted && !(column.is_rare && *counted == 0));
    });
    if (!any) continue;
    const auto value = [&](const stats::CaseSummary& summary) {
      return model::value_at(summary.counters, std::string(column.counter));
    };
    add_counter(measured, column, value, table);
  }
  return table;
}

std::vector<Table> observations(const model::Run& run) {
  std::vector<Table> tables;
  const Measured measured = measured_of(run);
  for (const auto& [workload, cases] : measured) {
    std::map<std::string_view, std::string_view> names;  // by title, so that p99 precedes p99_9
    for (const Summarized& each : cases) {
      for (const std::string& name : each.measured->observed) names[observed_title(name)] = name;
    }
    if (names.empty()) continue;
    Measured one;
    one[workload] = cases;
    Table& table =
        tables.emplace_back(table_of(one, has_common_engine(measured), has_processes(run)));
    table.caption = fmt::format("{}: medians over the repetitions.", workload);
    for (const auto& [title, name] : names) {
      table.columns.push_back({.title = std::string(title), .is_number = true, .part = 1});
      auto row = table.rows.begin();
      for (const Summarized& each : cases) {
        const auto value = model::value_at(each.summary.counters, std::string(name));
        (row++)->cells.emplace_back(value ? observed_text(name, *value) : std::string(kNone),
                                    Tone::plain, value);
      }
    }
  }
  return tables;
}

std::string common_engine(const model::Run& run) {
  const Measured measured = measured_of(run);
  if (!has_common_engine(measured)) return {};
  const model::Case& any = *measured.begin()->second.front().measured;
  if (any.scheduler.empty()) return {};  // commands have none
  return fmt::format("{}, {}", any.scheduler, counted(any.workers, "worker"));
}

std::string basis(const model::Run& run) {
  Extent samples;
  for_each_case(measured_of(run), [&](const Summarized& each) {
    samples.take(static_cast<double>(each.summary.real_ns.samples));
  });
  if (samples.most < 1) return {};
  const bool of_processes = has_processes(run);
  if (samples.most == 1) {
    return fmt::format("Each figure rests on a single {}: nothing is known of its spread.",
                       of_processes ? "process" : "repetition");
  }
  return fmt::format(
      "Each figure is the median of {} {}; half of them lie within ± MAD (median absolute "
      "deviation) of it.",
      range_text(fmt::format("{}", samples.least), fmt::format("{}", samples.most)),
      of_processes ? fmt::format("fresh processes of the kind {}", run.settings.kind)
                   : "repetitions");
}

std::string_view observed_title(std::string_view name) {
  if (is_time(name)) name.remove_suffix(kTimeSuffix.size());
  return name;
}

bool is_time(std::string_view name) { return name.ends_with(kTimeSuffix); }

std::string changed_parameters(const model::Case& measured) {
  const std::string plain =
      fmt::format("{}/{}/workers:{}/", measured.workload, measured.scheduler, measured.workers);
  if (!measured.name.starts_with(plain)) return "";
  std::string rest = measured.name.substr(plain.size());
  std::replace(rest.begin(), rest.end(), '/', ' ');
  return rest;
}

std::vector<Paragraph> notices(const model::Run& run) {
  std::vector<Paragraph> list;
  if (run.cases.empty()) list.emplace_back("Nothing was measured.");
  for (const model::Case& each : run.cases) {
    const bool has_failed = !each.error.empty();
    if (!has_failed && stats::summarize(each)) continue;
    list.emplace_back(fmt::format(" {}: {}", each.name, stats::why_unmeasured(each)),
                      has_failed ? Tone::bad : Tone::doubtful,
                      has_failed ? "Failed" : "Not measured");
  }
  if (run.partial) {
    list.emplace_back(": ended early, some repetitions that were asked for are missing.",
                      Tone::doubtful, "Partial");
  }
  if (run.environment.build_type == "Debug") {
    list.emplace_back("This is a Debug build: its times say nothing about an optimised one.",
                      Tone::doubtful);
  }
  return list;
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
  if (cpus > 0) parts.push_back(counted(cpus, "CPU"));
  parts.insert(parts.end(), more.begin(), more.end());
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace taskbench::reports::render
