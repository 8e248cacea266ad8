#include "runtime/base/biased_lock.hpp"

namespace taskbench::rt::base {

[[gnu::noinline]] void BiasedLock::owner_enter_by_full_fence() noexcept {
  for (;;) {
    full_fence();  // seq_cst: the owner's half of the story in the header
    // acquire: pairs with the release in visitor_leave
    std::uint32_t seen = gate_.load(acquire);
    if (seen == kAjar && ++turns_ajar_ == kTurnsAjar) {
      turns_ajar_ = 0;
      // release: pairs with the acquire in visitor_try_enter: the owner is seen inside. relaxed: on
      // failure a visitor has come, which sees the owner by the fences
      gate_.compare_exchange_strong(seen, kOpen, release, relaxed);
      return;
    }
    if (seen != kShut) return;
    // release: pairs with the acquire in visitor_try_enter; the owner has done nothing inside
    owner_inside_.store(0, release);
    // Waits for the gate to look passable; the load above decides.
    spin_until(gate_, patience(256), [](std::uint32_t gate) { return gate != kShut; });
    // relaxed: ordered before the load of gate_ by the full fence
    owner_inside_.store(1, relaxed);
  }
}

}  // namespace taskbench::rt::base
