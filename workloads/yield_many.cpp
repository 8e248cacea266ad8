// Many tasks that go to the back of the queue repeatedly. This times the cost of a fair reschedule.
#include <array>
#include <atomic>

#include "runtime/runtime.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

struct YieldManyShared {
  Countdown tasks;
  // Each task adds once, at its end: counting every yield here would time how this line moves
  // between the cores.
  alignas(kFalseSharingBytes) std::atomic<std::uint64_t> yields{0};
};

rt::Task<> yield_often(YieldManyShared* shared, std::uint64_t yields) {
  std::uint64_t yielded = 0;
  while (yielded < yields) {
    co_await rt::yield_now();
    ++yielded;
  }
  // relaxed: only counted here; the count-down below orders it before verify() reads it.
  shared->yields.fetch_add(yielded, std::memory_order_relaxed);
  shared->tasks.count();
}

class YieldMany final : public Instance {
 public:
  YieldMany(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime), tasks_(values.at("tasks")), yields_(values.at("yields")) {}

  void run_iteration() override {
    runtime_.block_on(drive());
    expected_yields_ += tasks_ * yields_;
  }

  std::optional<std::string> verify() override {
    // relaxed: every task was counted down, and the driver notified, before this thread got here.
    const std::uint64_t yields = shared_.yields.exchange(0, std::memory_order_relaxed);
    const std::uint64_t expected = std::exchange(expected_yields_, 0);
    if (auto wrong = shared_.tasks.verify("tasks")) return wrong;
    return compare_counts("yields", expected, yields);
  }

 private:
  rt::Task<> drive() {
    SignalReceiver last = shared_.tasks.begin(tasks_);
    for (std::uint64_t i = 0; i < tasks_; ++i) rt::spawn(yield_often(&shared_, yields_)).detach();
    require_heard(co_await std::move(last));
  }

  rt::Runtime& runtime_;
  const std::uint64_t tasks_;
  const std::uint64_t yields_;
  std::uint64_t expected_yields_ = 0;
  YieldManyShared shared_;
};

}  // namespace

const Workload& yield_many() {
  static constexpr std::array kParameters{
      Parameter{"tasks", 200, 1, 1'000'000, "tasks that yield"},
      Parameter{"yields", 1'000, 1, 1'000'000'000, "yields of each task"},
  };
  static const Workload kWorkload{
      .name = "yield_many",
      .summary = "tasks that each yield many times, fairly",
      .operation = "yield",
      .parameters = kParameters,
      .operations =
          [](const ParameterValues& values) { return values.at("tasks") * values.at("yields"); },
      .make = make<YieldMany>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
