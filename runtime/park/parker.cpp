#include "runtime/park/parker.hpp"

namespace taskbench::rt::park {

namespace {
// A look at the clock costs about as much as a few pauses.
constexpr int kPausesPerClockRead = 8;
}  // namespace

void Parker::park(std::chrono::nanoseconds spin) noexcept {
  if (take_token()) return;
  if (spin.count() > 0) {
    const auto give_up = std::chrono::steady_clock::now() + spin;
    do {
      for (int i = 0; i < kPausesPerClockRead; ++i) {
        base::spin_hint();
        if (take_token()) return;
      }
    } while (std::chrono::steady_clock::now() < give_up);
  }
  while (!take_token()) {
    announce_sleep();
    base::futex_wait(token_, kSleeping);
  }
}

bool Parker::park_until(std::chrono::steady_clock::time_point deadline) noexcept {
  while (!take_token()) {
    announce_sleep();
    if (base::futex_wait_until(token_, kSleeping, deadline)) continue;
    std::uint32_t expected = kSleeping;
    // relaxed: takes back the announcement; a token that came meanwhile is taken below
    token_.compare_exchange_strong(expected, kNone, base::relaxed, base::relaxed);
    return take_token();
  }
  return true;
}

}  // namespace taskbench::rt::park
