// Tasks that sleep, each for its own time, and how late they wake. The time counts from a task's
// request: waiting for its first turn does not count, but rounding up to whole milliseconds does.
#include <array>
#include <chrono>
#include <random>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "runtime/time/sleep.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/base/latencies.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

using Clock = std::chrono::steady_clock;

struct TimerShared {
  explicit TimerShared(std::uint64_t task_count) : late(task_count) {}

  Countdown tasks;
  std::vector<Clock::duration> late;  // of each task; handed on by the count-down
};

rt::Task<> sleep_once(TimerShared* shared, std::uint64_t self, std::chrono::milliseconds time) {
  const Clock::time_point begin = Clock::now();
  co_await rt::time::sleep(time);
  shared->late[self] = Clock::now() - begin - time;
  shared->tasks.count();
}

class Timer final : public Instance {
 public:
  Timer(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime),
        sleep_ms_(1, static_cast<int>(values.at("sleep_ms"))),
        shared_(values.at("tasks")) {}

  void run_iteration() override {
    runtime_.block_on(drive());
    for (const Clock::duration late : shared_.late) {
      if (late < Clock::duration::zero()) ++early_;
      lateness_.add(late);
    }
  }

  std::optional<std::string> verify() override {
    const std::uint64_t early = std::exchange(early_, 0);
    if (auto wrong = shared_.tasks.verify("sleeps")) return wrong;
    return compare_counts("sleeps that ended early", 0, early);
  }

  Figures take_figures() override {
    Figures figures;
    lateness_.take("late", figures);
    return figures;
  }

 private:
  rt::Task<> drive() {
    SignalReceiver last = shared_.tasks.begin(shared_.late.size());
    random_.seed();  // the same sleeps in every iteration
    for (std::uint64_t i = 0; i < shared_.late.size(); ++i) {
      const std::chrono::milliseconds time(sleep_ms_(random_));
      rt::spawn(sleep_once(&shared_, i, time)).detach();
    }
    require_heard(co_await std::move(last));
  }

  rt::Runtime& runtime_;
  std::uniform_int_distribution<int> sleep_ms_;
  std::minstd_rand random_;
  TimerShared shared_;
  Latencies lateness_;
  std::uint64_t early_ = 0;
};

}  // namespace

const Workload& timer() {
  static constexpr std::array kParameters{
      Parameter{"tasks", 1'000, 1, 10'000'000, "tasks that sleep"},
      Parameter{"sleep_ms", 10, 1, 60'000, "longest sleep, in milliseconds; the shortest is 1"},
  };
  static const Workload kWorkload{
      .name = "timer",
      .summary = "tasks sleep, each for a time of its own; observed: how late they wake",
      .operation = "sleep",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("tasks"); },
      .make = make<Timer>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
