#include "runtime/base/biased_lock.hpp"

namespace taskbench::rt::base {

[[gnu::noinline]] void BiasedLock::owner_wait() noexcept {
  for (;;) {
    // release: pairs with the acquire in visitor_try_enter; the owner has done nothing inside
    owner_inside_.store(0, release);
    // relaxed: waits for the gate to look open; the load below decides
    for (int round = 0; gate_.load(relaxed) != 0; ++round) {
      if (round < patience(256)) {
        spin_hint();
      } else {
        yield_thread();
      }
    }
    // relaxed: ordered before the load of gate_ by the light fence
    owner_inside_.store(1, relaxed);
    light_fence();  // seq_cst: the owner's half of the story in the header
    // acquire: pairs with the release in visitor_leave
    if (gate_.load(acquire) == 0) return;
  }
}

}  // namespace taskbench::rt::base
