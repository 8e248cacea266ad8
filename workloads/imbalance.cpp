// All work begins on one worker: a single task spawns many, each of which computes for about a
// microsecond. This times how soon the other workers help, and how much of the work they do.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "runtime/runtime.hpp"
#include "workloads/base/compute.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

using Clock = std::chrono::steady_clock;
using Nanoseconds = std::chrono::duration<double, std::nano>;

constexpr std::uint64_t kSample = 100'000;  // steps timed to calibrate the work

/// Notes when the last of the expected threads runs its first task of an iteration.
class Arrivals {
 public:
  void begin(unsigned threads, Clock::time_point now) {
    expected_ = threads;
    begun_ = now;
    // relaxed, as below: the spawns that follow and the end of the iteration order everything.
    arrived_.store(0, std::memory_order_relaxed);
    iteration_.fetch_add(1, std::memory_order_relaxed);
  }

  void arrive() {
    // iteration_ counts for the whole process, so that no two instances of a workload share a
    // number.
    thread_local std::uint64_t last_seen = 0;
    const std::uint64_t current = iteration_.load(std::memory_order_relaxed);
    if (std::exchange(last_seen, current) == current) return;
    if (arrived_.fetch_add(1, std::memory_order_relaxed) + 1 == expected_) {
      all_there_ = Clock::now() - begun_;
    }
  }

  /// The time until then; empty if some thread never ran a task. Call it once all tasks have run.
  [[nodiscard]] std::optional<Clock::duration> take() { return std::exchange(all_there_, {}); }

 private:
  static inline std::atomic<std::uint64_t> iteration_{0};
  std::atomic<unsigned> arrived_{0};
  unsigned expected_ = 0;
  Clock::time_point begun_;
  std::optional<Clock::duration> all_there_;
};

/// How long `steps` steps take on an otherwise idle thread.
Clock::duration time_of(std::uint64_t steps) {
  Clock::duration best = Clock::duration::max();
  for (int look = 0; look < 5; ++look) {
    const Clock::time_point begin = Clock::now();
    compute(steps);
    best = std::min(best, Clock::now() - begin);
  }
  return best;
}

struct ImbalanceShared {
  Countdown tasks;
  Arrivals arrivals;
};

rt::Task<> compute_once(ImbalanceShared* shared, std::uint64_t steps) {
  shared->arrivals.arrive();
  compute(steps);
  shared->tasks.count();
  co_return;
}

rt::Task<> spawn_all(ImbalanceShared* shared, std::uint64_t tasks, std::uint64_t steps) {
  for (std::uint64_t i = 0; i < tasks; ++i) rt::spawn(compute_once(shared, steps)).detach();
  co_return;
}

class Imbalance final : public Instance {
 public:
  Imbalance(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime),
        tasks_(values.at("tasks")),
        steps_(values.at("steps")),
        threads_(runtime.worker_count()),
        ideal_(time_of(kSample) / std::clamp(std::thread::hardware_concurrency(), 1U, threads_)) {}

  void run_iteration() override {
    const Clock::time_point begin = Clock::now();
    runtime_.block_on(drive(begin));
    ++iterations_;
    elapsed_ += Clock::now() - begin;
    if (const auto all_there = shared_.arrivals.take()) {
      ++complete_;
      until_all_ += *all_there;
    }
  }

  std::optional<std::string> verify() override { return shared_.tasks.verify("tasks"); }

  Figures take_figures() override {
    Figures figures;
    const auto iterations = static_cast<double>(std::exchange(iterations_, 0));
    const auto complete = static_cast<double>(std::exchange(complete_, 0));
    const Nanoseconds until_all = std::exchange(until_all_, {});
    const Nanoseconds elapsed = std::exchange(elapsed_, {});
    if (iterations > 0) {
      const double steps = static_cast<double>(tasks_) * static_cast<double>(steps_);
      figures["all_busy"] = complete / iterations;
      figures["of_ideal"] = ideal_ * steps / kSample * iterations / elapsed;
    }
    if (complete > 0) figures["all_busy_ns"] = until_all.count() / complete;
    return figures;
  }

 private:
  rt::Task<> drive(Clock::time_point begin) {
    SignalReceiver last = shared_.tasks.begin(tasks_);
    shared_.arrivals.begin(threads_, begin);
    rt::spawn(spawn_all(&shared_, tasks_, steps_)).detach();
    require_heard(co_await std::move(last));
  }

  rt::Runtime& runtime_;
  const std::uint64_t tasks_;
  const std::uint64_t steps_;
  const unsigned threads_;
  const Nanoseconds ideal_;  // for kSample steps, spread over all workers that have a CPU
  ImbalanceShared shared_;
  std::uint64_t iterations_ = 0;
  std::uint64_t complete_ = 0;  // iterations in which every worker ran a task
  Clock::duration until_all_{};
  Clock::duration elapsed_{};
};

}  // namespace

const Workload& imbalance() {
  static constexpr std::array kParameters{
      Parameter{"tasks", 2'000, 1, 10'000'000, "tasks that compute, all spawned by one task"},
      Parameter{"steps", 1'000, 1, 1'000'000, "of each: multiplications, one after the other"},
  };
  static const Workload kWorkload{
      .name = "imbalance",
      .summary = "one task spawns all the work; the other workers must come for it",
      .operation = "task",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("tasks"); },
      .make = make<Imbalance>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
