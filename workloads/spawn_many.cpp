// Many tasks are spawned from a thread outside the scheduler, and each counts down. This times the
// entry: the injector, and waking the workers.
#include <array>

#include "runtime/runtime.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

rt::Task<> count_down(Countdown* tasks) {
  tasks->count();
  co_return;
}

class SpawnMany final : public Instance {
 public:
  SpawnMany(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime), count_(values.at("tasks")) {}

  void run_iteration() override { runtime_.block_on(drive()); }

  std::optional<std::string> verify() override { return tasks_.verify("tasks"); }

 private:
  // block_on polls this on the calling thread, which is not a worker: the spawns come from outside.
  rt::Task<> drive() {
    SignalReceiver last = tasks_.begin(count_);
    for (std::uint64_t i = 0; i < count_; ++i) rt::spawn(count_down(&tasks_)).detach();
    require_heard(co_await std::move(last));
  }

  rt::Runtime& runtime_;
  const std::uint64_t count_;
  Countdown tasks_;
};

}  // namespace

const Workload& spawn_many() {
  static constexpr std::array kParameters{
      Parameter{"tasks", 10'000, 1, 10'000'000, "tasks spawned from outside the scheduler"},
  };
  static const Workload kWorkload{
      .name = "spawn_many",
      .summary = "many tasks spawned from a thread outside the scheduler",
      .operation = "spawn",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("tasks"); },
      .make = make<SpawnMany>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
