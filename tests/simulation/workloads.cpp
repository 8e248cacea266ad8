#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/random.hpp"
#include "runtime/runtime.hpp"
#include "runtime/sync/oneshot.hpp"
#include "tests/simulation/arena.hpp"
#include "tests/simulation/experiment.hpp"
#include "tests/simulation/machine.hpp"
#include "tests/simulation/pool.hpp"

namespace taskbench::rt::simulation {
namespace {

using sim::Experiment;
using sim::Ns;
using Engine = base::Ref<scheduler::Engine>;

void work(Ns time) {
  sim::spend(sim::Share::task, time);
  sim::machine->give_way();
}

/// The counts of a run up to some moment. Taking them costs no simulated time.
struct Moment {
  explicit Moment(scheduler::Engine& pool)
      : at(sim::current->now),
        spent(sim::machine->spent()),
        heavy_fences(sim::machine->heavy_fences()) {
    sim::Machine* const machine = std::exchange(sim::machine, nullptr);
    total = pool.stats().total();
    sim::machine = machine;
  }

  Ns at;
  std::vector<sim::Spent> spent;
  std::uint64_t heavy_fences;
  WorkerCounters total;
};

/// What all tasks of an iteration share. Counting is free here, or it would hide the pool.
class Load {
 public:
  Load(const Experiment& experiment, Engine pool, std::uint64_t tasks)
      : engine(std::move(pool)),
        workers(experiment.workers),
        task_ns(experiment.task_ns),
        seed(experiment.seed),
        total(tasks),
        left_(tasks) {}

  void count() {
    --left_;
    if (left_ == total - total / 4) first_quarter_.emplace(*engine);
    if (left_ == total / 4) last_quarter_.emplace(*engine);
    if (left_ == 0) static_cast<void>(std::move(*done_).send(sync::oneshot::Unit{}));
  }
  [[nodiscard]] sync::oneshot::Receiver<sync::oneshot::Unit> begin() {
    auto channel = sync::oneshot::channel<sync::oneshot::Unit>();
    done_.emplace(std::move(channel.first));
    return std::move(channel.second);
  }
  /// Called once all tasks have been counted.
  [[nodiscard]] sim::Outcome middle() const;

  [[nodiscard]] std::uint64_t per_worker() const { return total / workers; }
  /// Spawns from a thread that is no worker of the pool.
  void spawn_from_outside(Task<> task) { task::spawn_on<void>(*engine, std::move(task)).detach(); }

  const Engine engine;
  const std::uint32_t workers;
  const Ns task_ns;
  const std::uint64_t seed;
  const std::uint64_t total;
  base::Atomic<std::uint64_t> line{0};  // for tasks that count as in the benchmarks

 private:
  std::uint64_t left_;
  std::optional<sync::oneshot::Sender<sync::oneshot::Unit>> done_;
  std::optional<Moment> first_quarter_;
  std::optional<Moment> last_quarter_;
};

sim::Outcome Load::middle() const {
  const Moment& begin = *first_quarter_;
  const Moment& end = *last_quarter_;
  const Ns time = end.at - begin.at;
  sim::Outcome outcome;
  outcome.rate = static_cast<double>(total - total / 4 - total / 4) * 1'000 / time;
  // The workers' threads were started first.
  for (std::uint32_t i = 1; i <= workers; ++i) {
    for (std::size_t share = 0; share < sim::kShares; ++share) {
      outcome.shares[share] += (end.spent[i][share] - begin.spent[i][share]) / time / workers;
    }
  }
  outcome.heavy_fences = end.heavy_fences - begin.heavy_fences;
  outcome.steals = end.total.steal_operations - begin.total.steal_operations;
  outcome.parks = end.total.parks - begin.total.parks;
  return outcome;
}

Task<> leaf(Load* load) {
  work(load->task_ns);
  load->count();
  co_return;
}

/// Like workloads/spawn_local.cpp.
Task<> spawn_all(Load* load) {
  for (std::uint64_t i = 0; i < load->total; ++i) spawn(leaf(load)).detach();
  co_return;
}
void one_spawner(Load& load) { load.spawn_from_outside(spawn_all(&load)); }

/// Counts down in one shared word, like the tasks of spawn_local.
Task<> counting_leaf(Load* load) {
  load->line.fetch_add(1, base::acq_rel);
  load->count();
  co_return;
}
Task<> spawn_all_counting(Load* load) {
  for (std::uint64_t i = 0; i < load->total; ++i) spawn(counting_leaf(load)).detach();
  co_return;
}
void spawn_local(Load& load) { load.spawn_from_outside(spawn_all_counting(&load)); }
void spawn_many(Load& load) {
  for (std::uint64_t i = 0; i < load.total; ++i) load.spawn_from_outside(counting_leaf(&load));
}

/// A tree with `leaves` leaves, three quarters of them below one child.
Task<> branch(Load* load, std::uint64_t leaves) {
  if (leaves == 1) {
    work(load->task_ns);
    load->count();
    co_return;
  }
  const std::uint64_t most = std::max<std::uint64_t>(leaves / 2, leaves * 3 / 4);
  spawn(branch(load, leaves - most)).detach();
  spawn(branch(load, most)).detach();
}
void tree(Load& load) { load.spawn_from_outside(branch(&load, load.total)); }

/// A root for each worker, which spawns its tasks in batches.
Task<> root(Load* load, std::uint64_t left) {
  constexpr std::uint64_t kSome = 64;
  const std::uint64_t some = std::min(kSome, left);
  if (left > some) spawn(root(load, left - some)).detach();
  for (std::uint64_t i = 0; i < some; ++i) spawn(leaf(load)).detach();
  co_return;
}
void balanced(Load& load) {
  for (std::uint32_t i = 0; i < load.workers; ++i) {
    load.spawn_from_outside(root(&load, load.per_worker()));
  }
}

Task<> yielder(Load* load, std::uint64_t yields) {
  for (std::uint64_t i = 0; i < yields; ++i) {
    work(load->task_ns);
    load->count();
    co_await yield_now();
  }
}
constexpr std::uint64_t kYielders = 32;  // for each worker
Task<> yielding_root(Load* load) {
  const std::uint64_t yields = load->per_worker() / kYielders;
  for (std::uint64_t i = 0; i < kYielders; ++i) spawn(yielder(load, yields)).detach();
  co_return;
}
void yielding(Load& load) {
  for (std::uint32_t i = 0; i < load.workers; ++i) load.spawn_from_outside(yielding_root(&load));
}

/// Like workloads/yield_many.cpp.
void yield_many(Load& load) {
  constexpr std::uint64_t kTasks = 200;
  for (std::uint64_t i = 0; i < kTasks; ++i) {
    load.spawn_from_outside(yielder(&load, load.total / kTasks));
  }
}

/// Threads outside, one for four workers, which together spawn enough to keep 70 % of them busy.
void trickle(Load& load) {
  constexpr double kBusy = 0.7;
  const std::uint32_t threads = std::max(load.workers / 4, 1U);
  const Ns gap = load.task_ns / kBusy / load.workers * threads;
  std::vector<base::Thread> all;
  for (std::uint32_t i = 0; i < threads; ++i) {
    all.emplace_back([&load, gap, i, threads] {
      base::FastRandom random(load.seed * 1000 + i);
      Ns due = sim::current->now;
      const std::uint64_t rest = i < load.total % threads ? 1 : 0;
      for (std::uint64_t left = load.total / threads + rest; left > 0; --left) {
        due += gap * 2 * random.below(1000) / 1000;
        sim::spend(sim::Share::searching, std::max(due - sim::current->now, 0.0));
        sim::machine->give_way();
        load.spawn_from_outside(leaf(&load));
      }
    });
  }
  for (base::Thread& each : all) each.join();
}

struct Row {
  sim::WorkloadRow shown;
  /// The number of tasks.
  std::uint64_t (*tasks)(const Experiment&);
  void (*spawn)(Load&);
};

/// Enough to keep a worker busy for two milliseconds, if tasks are short.
std::uint64_t for_each(const Experiment& experiment) {
  const double each = std::clamp(2e6 / (experiment.task_ns + 100), 192.0, 4096.0);
  return experiment.workers * (static_cast<std::uint64_t>(each) / 64 * 64);
}

constexpr std::array kRows{
    Row{{"one_spawner", "one task spawns 20,000"},
        [](const Experiment&) { return std::uint64_t{20'000}; },
        one_spawner},
    Row{{"tree", "a tree of tasks, three quarters below one child"}, for_each, tree},
    Row{{"balanced", "a root for each worker, which spawns its own"}, for_each, balanced},
    Row{{"trickle", "threads outside spawn what keeps 70 % of the workers busy"},
        for_each,
        trickle},
    Row{{"yielding", "32 tasks for each worker, which yield"}, for_each, yielding},
    Row{{"spawn_local", "that of the benchmarks, to be compared"},
        [](const Experiment&) { return std::uint64_t{10'000}; },
        spawn_local},
    Row{{"spawn_many", "that of the benchmarks, to be compared"},
        [](const Experiment&) { return std::uint64_t{10'000}; },
        spawn_many},
    Row{{"yield_many", "that of the benchmarks, to be compared"},
        [](const Experiment&) { return std::uint64_t{200'000}; },
        yield_many},
};

Task<> wait_for(sync::oneshot::Receiver<sync::oneshot::Unit> all_done) {
  static_cast<void>(co_await std::move(all_done));
}

sim::Outcome run(const Experiment& experiment) {
  const auto row = std::ranges::find(kRows, experiment.workload,
                                     [](const Row& each) { return each.shown.name; });
  if (row == kRows.end()) std::abort();
  const bool even = experiment.changes.fences == sim::Changes::Fences::even;
  if (even) base::detail::fences.ask_passers();
  RuntimeOptions options;
  options.workers = experiment.workers;
  options.seed = experiment.seed;
  options.injector_interval = experiment.changes.interval;
  const Engine pool = simulated_pool(std::move(options));
  // Long enough for all workers to start and find nothing.
  base::sleep_for(std::chrono::milliseconds{1});

  sim::Outcome outcome;
  Ns time = 0;
  for (std::uint32_t i = 0; i < experiment.iterations; ++i) {
    Load load(experiment, pool, row->tasks(experiment));
    const Ns begin = sim::current->now;
    auto all_done = load.begin();
    row->spawn(load);
    task::block_on<void>(base::Ref<task::Spawner>(pool), wait_for(std::move(all_done)));
    if (i > 0 || experiment.iterations == 1) time += sim::current->now - begin;
    outcome = load.middle();
  }
  outcome.thefts = sim::machine->thefts();
  outcome.time = time / std::max(experiment.iterations - 1, 1U);

  pool->close();
  static_cast<void>(pool->join(base::Clock::time_point::max()));
  pool->blocking_pool().close();
  static_cast<void>(pool->blocking_pool().join(base::Clock::time_point::max()));
  pool->driver().registrations().close();
  if (even) base::detail::fences.end_asking();
  return outcome;
}

}  // namespace
}  // namespace taskbench::rt::simulation

namespace sim {

namespace simulated = taskbench::rt;

std::span<const WorkloadRow> workloads() {
  static constexpr auto kShown = [] {
    std::array<WorkloadRow, simulated::simulation::kRows.size()> rows{};
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = simulated::simulation::kRows[i].shown;
    return rows;
  }();
  return kShown;
}

Outcome simulate(const Experiment& experiment) {
  // The first FenceBalance changes the fences of the whole process.
  static const simulated::base::FenceBalance first;
  const Arena arena;
  Outcome outcome;
  Machine machine_of_run(experiment.costs, experiment.changes, experiment.topology);
  machine_of_run.run([&] { outcome = simulated::simulation::run(experiment); });
  return outcome;
}

}  // namespace sim
