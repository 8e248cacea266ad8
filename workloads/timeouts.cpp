// Timeouts that never fire, like nearly all timeouts of a service: a timer is set before each
// await, and cancelled after it. The awaited operation here is one yield.
#include <array>
#include <atomic>
#include <chrono>
#include <utility>

#include "runtime/runtime.hpp"
#include "runtime/time/timeout.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

/// Longer than any task waits, and different for each timer, as in a service.
std::chrono::milliseconds time_limit(std::uint64_t timer) {
  return std::chrono::seconds(30) + std::chrono::milliseconds(timer % 30'000);
}

struct TimeoutsShared {
  Countdown tasks;
  alignas(kFalseSharingBytes) std::atomic<std::uint64_t> cancelled{0};
};

rt::Task<> set_and_cancel(TimeoutsShared* shared, std::uint64_t timers) {
  std::uint64_t cancelled = 0;
  for (std::uint64_t i = 0; i < timers; ++i) {
    const bool in_time = co_await rt::time::timeout(time_limit(i), rt::yield_now());
    if (in_time) ++cancelled;
  }
  // relaxed: only counted here; the count-down below orders it before verify() reads it.
  shared->cancelled.fetch_add(cancelled, std::memory_order_relaxed);
  shared->tasks.count();
}

class Timeouts final : public Instance {
 public:
  Timeouts(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime), tasks_(values.at("tasks")), timers_(values.at("timers")) {}

  void run_iteration() override {
    runtime_.block_on(drive());
    expected_ += tasks_ * timers_;
  }

  std::optional<std::string> verify() override {
    // relaxed: every task was counted down, and the driver notified, before this thread got here.
    const std::uint64_t cancelled = shared_.cancelled.exchange(0, std::memory_order_relaxed);
    const std::uint64_t expected = std::exchange(expected_, 0);
    if (auto wrong = shared_.tasks.verify("tasks")) return wrong;
    return compare_counts("timers that did not fire", expected, cancelled);
  }

 private:
  rt::Task<> drive() {
    SignalReceiver last = shared_.tasks.begin(tasks_);
    for (std::uint64_t i = 0; i < tasks_; ++i) {
      rt::spawn(set_and_cancel(&shared_, timers_)).detach();
    }
    require_heard(co_await std::move(last));
  }

  rt::Runtime& runtime_;
  const std::uint64_t tasks_;
  const std::uint64_t timers_;
  TimeoutsShared shared_;
  std::uint64_t expected_ = 0;
};

}  // namespace

const Workload& timeouts() {
  static constexpr std::array kParameters{
      Parameter{"tasks", 100, 1, 1'000'000, "tasks that set timers, one at a time"},
      Parameter{"timers", 1'000, 1, 1'000'000'000, "timers of each task"},
  };
  static const Workload kWorkload{
      .name = "timeouts",
      .summary = "tasks set timers and cancel them before they fire",
      .operation = "timer",
      .parameters = kParameters,
      .operations =
          [](const ParameterValues& values) { return values.at("tasks") * values.at("timers"); },
      .make = make<Timeouts>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
