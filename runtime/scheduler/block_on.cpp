#include "runtime/scheduler/block_on.hpp"

#include <chrono>
#include <stdexcept>

#include "runtime/task/context.hpp"

namespace taskbench::rt::scheduler {
namespace {

/// How long the thread looks for the wake before it sleeps: about what going to sleep and being
/// woken costs, so that looking in vain at most doubles that cost.
constexpr std::chrono::nanoseconds kSpinTime{50'000};

}  // namespace

void PoolRoot::run(task::Header* root, task::Schedule& pool) noexcept {
  const task::EnterContext enter(&pool, nullptr);
  for (;;) {
    switch (task::poll(root)) {
      case task::Polled::finished:
        return;
      case task::Polled::idle:
        parker_.park(kSpinTime);
        break;
      case task::Polled::yielded:
      case task::Polled::woken:
        break;
    }
  }
}

void refuse_nested_runtime() {
  if (task::thread_context().scheduler == nullptr) return;
  throw std::logic_error(
      "block_on was called on a thread that already runs tasks of a runtime: it would block every "
      "task of that thread. Use co_await instead, or call block_on on a thread of its own.");
}

}  // namespace taskbench::rt::scheduler
