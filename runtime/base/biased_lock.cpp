#include "runtime/base/biased_lock.hpp"

namespace taskbench::rt::base {

[[gnu::noinline]] void BiasedLock::owner_enter_by_full_fence() noexcept {
  for (;;) {
    full_fence();  // seq_cst: the owner's half of the story in the header
    // acquire: pairs with the release in visitor_leave
    std::uint32_t seen = gate_.load(acquire);
    if (seen == kAjar && ++turns_ajar_ == kTurnsAjar) {
      turns_ajar_ = 0;
      // release: pairs with the acquire of visitors that enter: the owner is seen inside. relaxed:
      // on failure a visitor has come, which sees the owner by the fences
      gate_.compare_exchange_strong(seen, kOpen, release, relaxed);
      return;
    }
    if (seen != kShut) return;
    // release: pairs with the acquire of visitors that enter; the owner has done nothing inside
    owner_inside_.store(0, release);
    // Waits for the gate to look passable; the load above decides.
    spin_until(gate_, patience(256), [](std::uint32_t gate) { return gate != kShut; });
    // relaxed: ordered before the load of gate_ by the full fence
    owner_inside_.store(1, relaxed);
  }
}

[[gnu::noinline]] void BiasedLock::visitor_enter() noexcept {
  // acquire: pairs with the release in visitor_leave, and in the owner's exchange
  std::uint32_t before = gate_.exchange(kShut, acquire);
  while (before == kShut) {
    spin_until(gate_, patience(256), [](std::uint32_t gate) { return gate != kShut; });
    before = gate_.exchange(kShut, acquire);  // acquire: as above
  }
  fence_behind(before);
  // acquire: pairs with the release in owner_leave, and where the owner steps back
  while (owner_inside_.load(acquire) != 0) {
    spin_until(owner_inside_, patience(256), [](std::uint32_t inside) { return inside == 0; });
  }
}

}  // namespace taskbench::rt::base
