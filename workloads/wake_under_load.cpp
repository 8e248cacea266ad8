// How long a woken task waits for its turn while the workers are busy. Tasks that compute and yield
// keep them busy. At random intervals the thread outside wakes a sleeping task; that task, from its
// worker, wakes another, which wakes the thread outside.
#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "runtime/runtime.hpp"
#include "runtime/sync/notify.hpp"
#include "workloads/base/compute.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/base/latencies.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

using Clock = std::chrono::steady_clock;

struct WakesShared {
  Countdown tasks;
  std::atomic<bool> is_over{false};
  rt::sync::Notify first;
  rt::sync::Notify second;
  rt::sync::Notify answered;
  // Times of wakes, each written before a notification and read by the task that it wakes.
  Clock::time_point woke_first;
  Clock::time_point woke_second;
  // From just before a wake until the woken task runs.
  Latencies from_outside;
  Latencies by_a_task;
};

rt::Task<> keep_busy(WakesShared* shared, std::uint64_t steps) {
  // relaxed: it only has to be seen eventually.
  while (!shared->is_over.load(std::memory_order_relaxed)) {
    compute(steps);
    co_await rt::yield_now();
  }
  shared->tasks.count();
}

rt::Task<> sleep_first(WakesShared* shared, std::uint64_t wakes) {
  for (std::uint64_t i = 0; i < wakes; ++i) {
    co_await shared->first.notified();
    const Clock::time_point now = Clock::now();
    shared->from_outside.add(now - shared->woke_first);
    shared->woke_second = Clock::now();
    shared->second.notify_one();
  }
  shared->tasks.count();
}

rt::Task<> sleep_second(WakesShared* shared, std::uint64_t wakes) {
  for (std::uint64_t i = 0; i < wakes; ++i) {
    co_await shared->second.notified();
    shared->by_a_task.add(Clock::now() - shared->woke_second);
    shared->answered.notify_one();
  }
  shared->tasks.count();
}

class WakeUnderLoad final : public Instance {
 public:
  WakeUnderLoad(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime),
        wakes_(values.at("wakes")),
        pause_us_(0, static_cast<int>(values.at("pause_us"))),
        tasks_(values.at("tasks")),
        steps_(values.at("steps")) {}

  void run_iteration() override { runtime_.block_on(drive()); }

  std::optional<std::string> verify() override { return shared_.tasks.verify("tasks"); }

  Figures take_figures() override {
    Figures figures;
    shared_.from_outside.take("outside", figures);
    shared_.by_a_task.take("task", figures);
    return figures;
  }

 private:
  /// Runs on the thread outside or, if no other thread runs tasks, interleaved with them.
  rt::Task<> drive() {
    SignalReceiver last = shared_.tasks.begin(tasks_ + 2);
    shared_.is_over.store(false, std::memory_order_relaxed);  // relaxed: the spawns publish it
    rt::spawn(sleep_first(&shared_, wakes_)).detach();
    rt::spawn(sleep_second(&shared_, wakes_)).detach();
    for (std::uint64_t i = 0; i < tasks_; ++i) rt::spawn(keep_busy(&shared_, steps_)).detach();
    for (std::uint64_t i = 0; i < wakes_; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(pause_us_(random_)));
      shared_.woke_first = Clock::now();
      shared_.first.notify_one();
      co_await shared_.answered.notified();
    }
    shared_.is_over.store(true, std::memory_order_relaxed);
    require_heard(co_await std::move(last));
  }

  rt::Runtime& runtime_;
  const std::uint64_t wakes_;
  std::uniform_int_distribution<int> pause_us_;
  const std::uint64_t tasks_;
  const std::uint64_t steps_;
  std::minstd_rand random_;  // the same pauses in every run
  WakesShared shared_;
};

}  // namespace

const Workload& wake_under_load() {
  static constexpr std::array kParameters{
      Parameter{"wakes", 100, 1, 10'000'000, "wakes from outside, and as many by a task"},
      Parameter{"pause_us", 100, 1, 1'000'000, "longest pause before each, in microseconds"},
      Parameter{"tasks", 256, 1, 1'000'000, "tasks that keep the workers busy"},
      Parameter{"steps", 1'000, 1, 1'000'000,
                "of each of these in a turn: multiplications in a row"},
  };
  static const Workload kWorkload{
      .name = "wake_under_load",
      .summary = "tasks that sleep are woken while others keep the workers busy",
      .operation = "wake",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return 2 * values.at("wakes"); },
      .make = make<WakeUnderLoad>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
