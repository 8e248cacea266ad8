#include "runtime/scheduler/root.hpp"

#include <chrono>

#include "runtime/task/context.hpp"

namespace taskbench::rt::scheduler {
namespace {

/// How long the thread spins for the wake-up before it sleeps: about the cost of going to sleep and
/// being woken, so that spinning in vain at most doubles that cost.
constexpr std::chrono::nanoseconds kSpinTime = base::patience(std::chrono::nanoseconds{50'000});

}  // namespace

void Root::run(task::Header* root) noexcept {
  root->scheduler = this;
  const task::EnterContext enter(&engine_, nullptr);
  for (;;) {
    switch (task::poll(root)) {
      case task::Polled::finished:
        return;
      case task::Polled::idle:
        sleep();
        break;
      case task::Polled::yielded:
      case task::Polled::woken:
        break;
    }
  }
}

void Root::sleep() noexcept {
  for (bool woken = false; !woken;) {
    woken = parker_.park_once(kSpinTime);
    engine_.driver().dispatch(nullptr);
  }
}

}  // namespace taskbench::rt::scheduler
