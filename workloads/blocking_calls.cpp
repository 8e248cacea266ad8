// Tasks that block their thread for a while, among tasks that do not. All of them are timed; the
// delay of the others is reported separately. A scheduler whose workers are threads has no thread
// left for the others when as many tasks block as it has workers.
#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "runtime/runtime.hpp"
#include "workloads/base/compute.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

using Clock = std::chrono::steady_clock;

struct BlockingCallsShared {
  Countdown all;
  std::atomic<std::uint64_t> others_left{0};
  Clock::time_point others_done;
};

rt::Task<> block(BlockingCallsShared* shared, std::chrono::microseconds time) {
  rt::block_in_place([time] { std::this_thread::sleep_for(time); });
  shared->all.count();
  co_return;
}

rt::Task<> compute_once(BlockingCallsShared* shared, std::uint64_t steps) {
  compute(steps);
  // acq_rel: only the last task writes the time, which the count-down hands to the reader.
  if (shared->others_left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    shared->others_done = Clock::now();
  }
  shared->all.count();
  co_return;
}

class BlockingCalls final : public Instance {
 public:
  BlockingCalls(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime),
        calls_(values.at("calls")),
        time_(values.at("block_us")),
        tasks_(values.at("tasks")),
        steps_(values.at("steps")) {}

  void run_iteration() override {
    const Clock::time_point begin = Clock::now();
    runtime_.block_on(drive());
    others_ += shared_.others_done - begin;
    ++iterations_;
  }

  std::optional<std::string> verify() override { return shared_.all.verify("tasks"); }

  Figures take_figures() override {
    const auto iterations = static_cast<double>(std::exchange(iterations_, 0));
    const std::chrono::duration<double, std::nano> others = std::exchange(others_, {});
    if (iterations == 0) return {};
    return {{"others_done_ns", others.count() / iterations}};
  }

 private:
  rt::Task<> drive() {
    SignalReceiver last = shared_.all.begin(calls_ + tasks_);
    // relaxed: the spawns that follow publish it.
    shared_.others_left.store(tasks_, std::memory_order_relaxed);
    for (std::uint64_t i = 0; i < calls_; ++i) rt::spawn(block(&shared_, time_)).detach();
    for (std::uint64_t i = 0; i < tasks_; ++i) rt::spawn(compute_once(&shared_, steps_)).detach();
    require_heard(co_await std::move(last));
  }

  rt::Runtime& runtime_;
  const std::uint64_t calls_;
  const std::chrono::microseconds time_;
  const std::uint64_t tasks_;
  const std::uint64_t steps_;
  BlockingCallsShared shared_;
  std::uint64_t iterations_ = 0;
  Clock::duration others_{};
};

}  // namespace

const Workload& blocking_calls() {
  static constexpr std::array kParameters{
      Parameter{"calls", 8, 1, 100'000, "tasks that block"},
      Parameter{"block_us", 1'000, 1, 10'000'000, "how long each blocks, in microseconds"},
      Parameter{"tasks", 1'000, 1, 10'000'000, "tasks that do not"},
      Parameter{"steps", 1'000, 1, 1'000'000, "of each of these: multiplications in a row"},
  };
  static const Workload kWorkload{
      .name = "blocking_calls",
      .summary = "tasks that block the thread for a while, among tasks that do not",
      .operation = "task",
      .parameters = kParameters,
      .operations =
          [](const ParameterValues& values) { return values.at("calls") + values.at("tasks"); },
      .make = make<BlockingCalls>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
