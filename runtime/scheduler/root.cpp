#include "runtime/scheduler/root.hpp"

#include <chrono>
#include <cstdint>

#include "runtime/task/context.hpp"

namespace taskbench::rt::scheduler {
namespace {

/// How long the thread spins for the wake-up before it sleeps: about the cost of going to sleep and
/// being woken, so that spinning in vain at most doubles that cost.
constexpr std::chrono::nanoseconds kSpinTime = base::patience(std::chrono::nanoseconds{50'000});

/// How often a root yields between two looks at the driver: as many polls as a worker by default.
constexpr std::uint32_t kYieldsPerLook = 61;

}  // namespace

void Root::run(task::Header* root) noexcept {
  root->scheduler = this;
  const task::EnterContext enter(&engine_, nullptr);
  for (std::uint32_t yields = 0;;) {
    const task::Polled polled = task::poll(root);
    if (polled == task::Polled::finished) return;
    if (polled == task::Polled::idle) {
      sleep();
    } else if (++yields % kYieldsPerLook == 0) {
      // Otherwise nobody may look: the workers may all be in long polls, or have ended.
      engine_.driver().look(nullptr);
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
