// One task spawns many; each of them spawns a partner, sends it a message and waits for the answer.
// This times message passing between tasks: a wake-up in each direction.
#include <array>
#include <atomic>

#include "runtime/runtime.hpp"
#include "workloads/base/countdown.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

struct PingPongShared {
  Countdown tasks;
  // Written only in case of an error, but kept away from cells that are written often.
  alignas(kFalseSharingBytes) std::atomic<std::uint64_t> unanswered{0};
};

rt::Task<> pong(SignalReceiver question, SignalSender answer) {
  // A variable, not `if (co_await …)`: if the body of a coroutine declares none, g++ 12 puts the
  // promise where std::coroutine_handle does not look for it.
  const auto asked = co_await std::move(question);
  if (asked) (void)answer.send(Signal{});
}

rt::Task<> ping(PingPongShared* shared) {
  auto question = rt::sync::oneshot::channel<Signal>();
  auto answer = rt::sync::oneshot::channel<Signal>();
  rt::spawn(pong(std::move(question.second), std::move(answer.first))).detach();
  (void)question.first.send(Signal{});
  if (!co_await std::move(answer.second)) {
    // relaxed: only counted here; the count-down below orders it before verify() reads it.
    shared->unanswered.fetch_add(1, std::memory_order_relaxed);
  }
  shared->tasks.count();
}

rt::Task<> spawn_pings(PingPongShared* shared, std::uint64_t pings) {
  for (std::uint64_t i = 0; i < pings; ++i) rt::spawn(ping(shared)).detach();
  co_return;
}

class PingPong final : public Instance {
 public:
  PingPong(rt::Runtime& runtime, const ParameterValues& values)
      : runtime_(runtime), pings_(values.at("pings")) {}

  void run_iteration() override { runtime_.block_on(drive()); }

  std::optional<std::string> verify() override {
    // relaxed: every task was counted down, and the driver notified, before this thread got here.
    const std::uint64_t unanswered = shared_.unanswered.exchange(0, std::memory_order_relaxed);
    if (auto wrong = shared_.tasks.verify("pings")) return wrong;
    return compare_counts("pings without an answer", 0, unanswered);
  }

 private:
  rt::Task<> drive() {
    SignalReceiver last = shared_.tasks.begin(pings_);
    rt::spawn(spawn_pings(&shared_, pings_)).detach();
    require_heard(co_await std::move(last));
  }

  rt::Runtime& runtime_;
  const std::uint64_t pings_;
  PingPongShared shared_;
};

}  // namespace

const Workload& ping_pong() {
  static constexpr std::array kParameters{
      Parameter{"pings", 1'000, 1, 10'000'000,
                "pairs of tasks that exchange a message and an answer"},
  };
  static const Workload kWorkload{
      .name = "ping_pong",
      .summary = "pairs of tasks exchange a message and an answer over oneshot channels",
      .operation = "ping",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("pings"); },
      .make = make<PingPong>,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
