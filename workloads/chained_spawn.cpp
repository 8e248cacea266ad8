// A task spawns the next one and ends. Nothing runs in parallel: this times the path from a spawn
// to the first poll of the spawned task.
#include <array>

#include "runtime/runtime.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

rt::Task<> link(Countdown* links) {
  if (!links->count_in_turn()) rt::spawn(link(links)).detach();
  co_return;
}

class ChainedSpawn final : public Instance {
 public:
  ChainedSpawn(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime), length_(values.at("length")) {}

  void run_iteration() override { runtime_.block_on(drive()); }

  std::optional<std::string> verify() override { return links_.verify("links of the chain"); }

 private:
  rt::Task<> drive() {
    SignalReceiver last = links_.begin(length_);
    rt::spawn(link(&links_)).detach();
    require_heard(co_await std::move(last));
  }

  rt::Runtime& runtime_;
  const std::uint64_t length_;
  Countdown links_;
};

}  // namespace

const Workload& chained_spawn() {
  static constexpr std::array kParameters{
      Parameter{"length", 1'000, 1, 1'000'000'000, "tasks in the chain"},
  };
  static const Workload kWorkload{
      .name = "chained_spawn",
      .summary = "a task spawns the next and ends",
      .operation = "spawn",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("length"); },
      .make = make<ChainedSpawn>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
