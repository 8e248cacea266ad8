#include "runtime/scheduler/in_turn.hpp"

#include <chrono>

#include "runtime/task/context.hpp"

namespace taskbench::rt::scheduler {
namespace {

/// How long a thread sleeps between two looks for what other threads have queued, or for the
/// driver's place. A worker that is woken has no thread that would be, and this one sleeps on its
/// root alone.
constexpr std::chrono::microseconds kNap{100};

}  // namespace

void InTurnRoot::run(task::Header* root) noexcept {
  const task::EnterContext enter(&pool_, nullptr);
  bool drives = pool_.try_begin_turns();
  for (bool woken = true;;) {
    if (woken || parker_.try_park()) {
      const task::Polled polled = task::poll(root);
      if (polled == task::Polled::finished) break;
      woken = polled != task::Polled::idle;
    }
    // A root that yields lets a worker pass each time.
    const bool ran = drives && pool_.take_turn();
    if (!ran && !woken) {
      woken = parker_.park_until(std::chrono::steady_clock::now() + kNap);
      if (!drives) drives = pool_.try_begin_turns();
    }
  }
  if (drives) pool_.end_turns();
}

}  // namespace taskbench::rt::scheduler
