// taskbench_many_cores: the work_stealing pool on more cores than the machine has.
//
//   taskbench_many_cores [tables | changes | check | epoll | measure] [OPTION...]
//
// docs/design/many_cores.md describes what is simulated, and the results.
// docs/design/many_cores.md says what is simulated, and what came of it.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/simulation/experiment.hpp"
#include "tests/simulation/measure.hpp"

namespace sim {
namespace {

constexpr std::string_view kUsage = R"(usage: taskbench_many_cores [MODE] [OPTION...]

modes
  tables   a table for each workload and length of task: how fast, and where the time goes
  changes  how much faster with each change, and with each cost that were nothing
  check    one worker and two, against what docs/performance.md has measured
  epoll    how many workers one epoll feeds (a formula)
  measure  the costs of this machine, as far as two CPUs show them

options
  --workload NAME     one of the workloads below; may be given several times
  --length TIME       of a task: 100ns, 1us; several times
  --workers N         several times
  --seed N
  --cluster N         cores that share a cache: a line is dearer from outside (line_near, line)
  --socket N          cores of a socket, of some clusters: a line is dearest from outside
  --only TEXT         changes whose name contains it; several times
  --searchers N|half|root   how many workers may search
  --enough N          others are woken while fewer than N search
  --bitmap            a bit for each queue says whether it has something
  --all-near          all lines cost line_near
  --injector-of N|cluster   workers that share an injector
  --spins N           looks at a mutex that is held, before a thread sleeps
  --try               who would take from an injector goes on where somebody is at it
  --wait              busy workers wait for an injector as searchers do, as they once did
  --interval N        polls between two looks of a busy worker at the injector
  --fences balance|weighted|even|targeted|shared
  --free SHARE        what costs nothing: workers, injector, idle_word, fences, waking
  --cost NAME=TIME    several times
)";

struct Options {
  std::string_view mode = "tables";
  std::vector<std::string_view> workloads;
  std::vector<Ns> lengths;
  std::vector<std::uint32_t> workers;
  std::vector<std::string_view> only;
  Experiment experiment;
};

constexpr std::array<std::string_view, kShares> kShareNames{"task",     "runtime",   "workers",
                                                            "injector", "idle_word", "fences",
                                                            "waking",   "searching", "asleep"};

void print_usage(std::FILE* to) {
  std::fprintf(to, "%.*s\nworkloads\n", static_cast<int>(kUsage.size()), kUsage.data());
  for (const WorkloadRow& row : workloads()) {
    std::fprintf(to, "  %-12s %s\n", row.name.data(), row.what.data());
  }
  std::fputs("\ncosts, in nanoseconds\n", to);
  for (const CostRow& row : kCostRows) {
    std::fprintf(to, "  %-14s %-7g %s\n", row.name.data(), Costs{}.*row.value, row.what.data());
  }
}

[[noreturn]] void refuse(std::string_view what) {
  std::fprintf(stderr, "taskbench_many_cores: %.*s\n\n", static_cast<int>(what.size()),
               what.data());
  print_usage(stderr);
  std::exit(2);
}

double number(std::string_view text, std::string_view& rest) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) refuse("not a number: " + std::string(text));
  rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return value;
}

Ns duration(std::string_view text) {
  std::string_view unit;
  const double value = number(text, unit);
  if (unit.empty() || unit == "ns") return value;
  if (unit == "us") return value * 1'000;
  if (unit == "ms") return value * 1'000'000;
  refuse("not a time: " + std::string(text));
}

std::uint32_t count(std::string_view text) {
  std::string_view rest;
  const double value = number(text, rest);
  if (!rest.empty() || value != std::floor(value) || value > 1e9) {
    refuse("not a count: " + std::string(text));
  }
  return static_cast<std::uint32_t>(value);
}

void set_cost(Costs& costs, std::string_view text) {
  const std::size_t sign = text.find('=');
  const auto row = std::ranges::find(kCostRows, text.substr(0, sign), &CostRow::name);
  if (sign == text.npos || row == kCostRows.end()) refuse("no such cost: " + std::string(text));
  costs.*row->value = duration(text.substr(sign + 1));
  if (row->name == "line") costs.probe = costs.line;
}

Share share_named(std::string_view name) {
  const auto at = std::ranges::find(kShareNames, name);
  if (at == kShareNames.end()) refuse("no such share: " + std::string(name));
  return static_cast<Share>(at - kShareNames.begin());
}

Changes::Fences fences_named(std::string_view name) {
  // In the order of Fences.
  constexpr std::array<std::string_view, 5> kNames{"balance", "weighted", "even", "targeted",
                                                   "shared"};
  const auto at = std::ranges::find(kNames, name);
  if (at == kNames.end()) refuse("no such fences: " + std::string(name));
  return static_cast<Changes::Fences>(at - kNames.begin());
}

Options parse(std::span<char*> arguments) {
  Options options;
  Changes& changes = options.experiment.changes;
  Topology& topology = options.experiment.topology;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view name = arguments[i];
    const auto value = [&]() -> std::string_view {
      if (++i == arguments.size()) refuse(std::string(name) + " needs a value");
      return arguments[i];
    };
    if (name == "--help") {
      print_usage(stdout);
      std::exit(0);
    } else if (!name.starts_with("--")) {
      options.mode = name;
    } else if (name == "--workload") {
      options.workloads.push_back(value());
    } else if (name == "--length") {
      options.lengths.push_back(duration(value()));
    } else if (name == "--workers") {
      options.workers.push_back(count(value()));
    } else if (name == "--seed") {
      options.experiment.seed = count(value());
    } else if (name == "--cluster") {
      topology.cluster = count(value());
    } else if (name == "--socket") {
      topology.socket = count(value());
    } else if (name == "--only") {
      options.only.push_back(value());
    } else if (name == "--searchers") {
      const std::string_view most = value();
      changes.searchers = most == "half" ? 0U : most == "root" ? Changes::kRoot : count(most);
    } else if (name == "--enough") {
      changes.enough = count(value());
    } else if (name == "--bitmap") {
      changes.bitmap = true;
    } else if (name == "--injector-of") {
      const std::string_view which = value();
      changes.injector_of_cluster = which == "cluster";
      if (!changes.injector_of_cluster) changes.workers_per_injector = count(which);
    } else if (name == "--all-near") {
      changes.all_near = true;
    } else if (name == "--spins") {
      changes.spins = count(value());
    } else if (name == "--try") {
      changes.tries = true;
    } else if (name == "--wait") {
      changes.waits = true;
    } else if (name == "--interval") {
      changes.interval = count(value());
      if (changes.interval == 0) refuse("an interval of at least 1");
    } else if (name == "--fences") {
      changes.fences = fences_named(value());
    } else if (name == "--free") {
      changes.free = share_named(value());
    } else if (name == "--cost") {
      set_cost(options.experiment.costs, value());
    } else {
      refuse("no such option: " + std::string(name));
    }
  }
  for (const std::string_view name : options.workloads) {
    if (std::ranges::find(workloads(), name, &WorkloadRow::name) == workloads().end()) {
      refuse("no such workload: " + std::string(name));
    }
  }
  for (const std::uint32_t workers : options.workers) {
    if (workers < 1 || workers > 256) refuse("1 to 256 workers");
  }
  const bool asks_for_clusters =
      topology.socket != 0 || changes.all_near || changes.injector_of_cluster;
  if (topology.cluster == 0 && asks_for_clusters) refuse("needs --cluster");
  if (topology.cluster != 0 && topology.socket % topology.cluster != 0) {
    refuse("a socket of some whole clusters");
  }
  if (options.workloads.empty()) {
    options.workloads = {"one_spawner", "tree", "balanced", "trickle", "yielding"};
  }
  return options;
}

/// Calls `print_table` with the experiment for each pair of a workload and a task length.
template <class PrintTable>
void for_each_table(const Options& options, const PrintTable& print_table) {
  for (const std::string_view workload : options.workloads) {
    for (const Ns length : options.lengths) {
      Experiment experiment = options.experiment;
      experiment.workload = workload;
      experiment.task_ns = length;
      std::printf("\n%.*s, tasks of %g us\n", static_cast<int>(workload.size()), workload.data(),
                  length / 1'000);
      print_table(experiment);
    }
  }
}

void print_tables(Options options) {
  if (options.lengths.empty()) options.lengths = {100, 1'000, 10'000};
  if (options.workers.empty()) options.workers = {2, 4, 8, 16, 32, 64, 128, 256};
  for_each_table(options, [&](Experiment experiment) {
    std::printf("%7s %9s %9s %6s", "workers", "all,us", "tasks/us", "ideal");
    for (const std::string_view name : kShareNames) std::printf(" %9s", name.data());
    std::printf(" %7s %7s %7s", "fences", "steals", "parks");
    const bool has_clusters = experiment.topology.cluster != 0;
    std::puts(has_clusters ? "  thefts: cluster, socket, machine" : "");
    for (const std::uint32_t workers : options.workers) {
      experiment.workers = workers;
      const Outcome outcome = simulate(experiment);
      const double ideal = 1'000 * workers / experiment.task_ns;
      std::printf("%7u %9.1f %9.3f %5.1f%%", workers, outcome.time / 1'000, outcome.rate,
                  100 * outcome.rate / ideal);
      for (const double share : outcome.shares) std::printf(" %8.1f%%", 100 * share);
      std::printf(" %7llu %7llu %7llu", static_cast<unsigned long long>(outcome.heavy_fences),
                  static_cast<unsigned long long>(outcome.steals),
                  static_cast<unsigned long long>(outcome.parks));
      for (std::size_t i = 0; has_clusters && i < kDistances; ++i) {
        std::printf(" %10llu", static_cast<unsigned long long>(outcome.thefts[i]));
      }
      std::puts("");
      std::fflush(stdout);
    }
  });
}

/// Returns the mean of three seeds.
Outcome simulate_thrice(Experiment experiment) {
  constexpr std::uint64_t kSeeds = 3;
  Outcome mean;
  for (std::uint64_t i = 0; i < kSeeds; ++i, ++experiment.seed) {
    const Outcome one = simulate(experiment);
    mean.rate += one.rate / kSeeds;
    mean.time += one.time / kSeeds;
  }
  return mean;
}

struct ChangeRow {
  std::string name;
  Changes changes;
};

std::vector<ChangeRow> change_rows(const Topology& topology) {
  using Fences = Changes::Fences;
  std::vector<ChangeRow> rows{
      {"(1) mutexes spin", {.spins = 100}},
      {"(1) busy workers wait, as they did", {.waits = true}},
      {"(1) searchers only try, too", {.tries = true}},
      {"(1) 488 polls between two looks", {.interval = 488}},
      {"(1) an injector for 16, only try", {.workers_per_injector = 16, .tries = true}},
      {"(1) an injector for 16 workers", {.workers_per_injector = 16}},
      {"(1) the injector costs nothing", {.free = Share::injector}},
      {"(2) 4 searchers", {.searchers = 4}},
      {"(2) 8 searchers", {.searchers = 8}},
      {"(2) the root of all search", {.searchers = Changes::kRoot}},
      {"(2) a bitmap", {.bitmap = true}},
      {"(2) a bitmap, 4 searchers", {.searchers = 4, .bitmap = true}},
      {"(2) probing costs nothing", {.free = Share::workers}},
      {"(3) fences weighed by cores", {.fences = Fences::weighted}},
      {"(3) a thief's for its victim alone", {.fences = Fences::targeted}},
      {"(3) one for all who wait", {.fences = Fences::shared}},
      {"(3) full fences always", {.fences = Fences::even}},
      {"(3) fences cost nothing", {.free = Share::fences}},
      {"(1, 3) only try, victim alone", {.tries = true, .fences = Fences::targeted}},
      {"(1, 2, 3) the same, 8 searchers",
       {.searchers = 8, .tries = true, .fences = Fences::targeted}},
      {"(1, 2, 3) the same, injectors of 16",
       {.searchers = 8, .workers_per_injector = 16, .tries = true, .fences = Fences::targeted}},
      {"(4) the idle word costs nothing", {.free = Share::idle_word}},
      {"(6) wakes while fewer than 4 search", {.enough = 4}},
      {"(6) waking costs nothing", {.free = Share::waking}},
  };
  if (topology.cluster == 0) return rows;
  const std::array<ChangeRow, 3> placed{{
      {"injectors of clusters", {.injector_of_cluster = true}},
      {"thefts cost nothing", {.free = Share::workers}},
      {"all cores are near", {.all_near = true}},
  }};
  for (const ChangeRow& row : placed) rows.push_back({"(7) " + row.name, row.changes});
  for (ChangeRow row : placed) {
    row.changes.tries = true;
    row.changes.fences = Fences::targeted;
    rows.push_back({"(1, 3, 7) " + row.name, row.changes});
  }
  return rows;
}

bool contains_one(std::string_view name, std::span<const std::string_view> texts) {
  return std::ranges::any_of(texts,
                             [&](std::string_view text) { return name.find(text) != name.npos; });
}

void print_changes(Options options) {
  if (options.lengths.empty()) options.lengths = {1'000};
  if (options.workers.empty()) options.workers = {16, 64, 128};
  for_each_table(options, [&](Experiment experiment) {
    std::printf("%-36s", "workers");
    for (const std::uint32_t workers : options.workers) std::printf(" %17u", workers);
    std::printf("\n%-36s", "as it is: tasks/us, us for all");
    std::vector<Outcome> before;
    for (const std::uint32_t workers : options.workers) {
      experiment.workers = workers;
      before.push_back(simulate_thrice(experiment));
      std::printf(" %9.3f %7.0f", before.back().rate, before.back().time / 1'000);
    }
    std::puts("");
    for (const ChangeRow& row : change_rows(experiment.topology)) {
      if (!options.only.empty() && !contains_one(row.name, options.only)) continue;
      std::printf("%-36s", row.name.c_str());
      for (std::size_t i = 0; i < options.workers.size(); ++i) {
        experiment.workers = options.workers[i];
        experiment.changes = row.changes;
        const Outcome after = simulate_thrice(experiment);
        std::printf(" %8.2fx %6.2fx", after.rate / before[i].rate, after.time / before[i].time);
        std::fflush(stdout);
      }
      std::puts("");
    }
  });
}

void print_check(const Options& options) {
  std::printf("%-12s %9s %9s %9s %9s %9s %9s\n", "", "1, us", "measured", "2, us", "measured",
              "ratio", "measured");
  for (const Measured& measured : kMeasured) {
    Experiment experiment = options.experiment;
    experiment.workload = measured.workload;
    experiment.task_ns = 0;
    experiment.iterations = 6;
    experiment.workers = 1;
    const Ns one = simulate(experiment).time;
    experiment.workers = 2;
    const Ns two = simulate(experiment).time;
    std::printf("%-12s %9.0f %9.0f %9.0f %9.0f %9.2f %9.2f\n", measured.workload.data(),
                one / 1'000, measured.one_us, two / 1'000, measured.two_us, two / one,
                measured.two_us / measured.one_us);
  }
}

/// One epoll hands out an event every kEvent: the kernel's work and the wake-up of the task, both
/// on the worker inside. A handler of given length therefore keeps a limited number of workers
/// busy, and events wait as in a queue with one server (M/D/1, Pollaczek and Khinchine).
void print_epoll() {
  constexpr Ns kEvent = 220;  // 4 to 5 million events a second
  constexpr double kBatch = 256;
  std::printf("an event takes %.0f ns of the worker inside, a full batch %.0f us\n\n", kEvent,
              kBatch * kEvent / 1'000);
  std::printf("%-16s %12s", "handler", "most workers");
  constexpr std::array kWorkers{8, 16, 32, 64, 128};
  for (const int workers : kWorkers) std::printf("   %3d: busy, wait", workers);
  std::puts("");
  for (const Ns handler : {1'000.0, 2'000.0, 6'650.0, 20'000.0}) {
    std::printf("%13.2f us %12.1f", handler / 1'000, handler / kEvent);
    for (const int workers : kWorkers) {
      // The workers are busy 70 % of the time, unless the epoll feeds fewer of them.
      const double busy = 0.7 * workers * kEvent / handler;
      if (busy >= 1) {
        std::printf("   %3d workers fed", static_cast<int>(handler / kEvent));
      } else {
        std::printf("  %4.0f %% %6.2f us", 100 * busy, busy * kEvent / (2 * (1 - busy)) / 1'000);
      }
    }
    std::puts("");
  }
}

int run(std::span<char*> arguments) {
  const Options options = parse(arguments);
  if (options.mode == "tables") {
    print_tables(options);
  } else if (options.mode == "changes") {
    print_changes(options);
  } else if (options.mode == "check") {
    print_check(options);
  } else if (options.mode == "epoll") {
    print_epoll();
  } else if (options.mode == "measure") {
    measure_costs();
  } else {
    refuse("no such mode: " + std::string(options.mode));
  }
  return 0;
}

}  // namespace
}  // namespace sim

int main(int argc, char** argv) { return sim::run({argv, static_cast<std::size_t>(argc)}); }
