// The local variant of spawn_many: the same tasks, spawned from inside one task. This times the
// local queue: its overflow, and how well other workers get a share.
#include <array>

#include "runtime/runtime.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

rt::Task<> count_here(Countdown* tasks) {
  tasks->count();
  co_return;
}

rt::Task<> spawn_all(Countdown* tasks, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) rt::spawn(count_here(tasks)).detach();
  co_return;
}

class SpawnLocal final : public Instance {
 public:
  SpawnLocal(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime), count_(values.at("tasks")) {}

  void run_iteration() override { runtime_.block_on(drive()); }

  std::optional<std::string> verify() override { return tasks_.verify("tasks"); }

 private:
  rt::Task<> drive() {
    SignalReceiver last = tasks_.begin(count_);
    rt::spawn(spawn_all(&tasks_, count_)).detach();
    require_heard(co_await std::move(last));
  }

  rt::Runtime& runtime_;
  const std::uint64_t count_;
  Countdown tasks_;
};

}  // namespace

const Workload& spawn_local() {
  static constexpr std::array kParameters{
      Parameter{"tasks", 10'000, 1, 10'000'000, "tasks spawned from inside one task"},
  };
  static const Workload kWorkload{
      .name = "spawn_local",
      .summary = "many tasks spawned from inside one task",
      .operation = "spawn",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("tasks"); },
      .make = make<SpawnLocal>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
