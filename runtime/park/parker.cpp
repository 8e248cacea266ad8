#include "runtime/park/parker.hpp"

namespace taskbench::rt::park {
namespace {

// A look at the clock costs about as much as a few pauses.
constexpr int kPausesPerClockRead = base::patience(8);

}  // namespace

bool Futex::sleep(Token& token, std::uint32_t expected, base::Clock::time_point deadline) noexcept {
  return base::futex_wait(token, expected, deadline);
}

void Futex::wake(const Token* token) noexcept { base::futex_wake_one(token); }

void Parker::park(std::chrono::nanoseconds spin) noexcept {
  if (await_token(spin)) return;
  while (!park_until(base::Clock::time_point::max())) continue;
}

bool Parker::park_once(std::chrono::nanoseconds spin) noexcept {
  return await_token(spin) || park_until(base::Clock::time_point::max());
}

bool Parker::await_token(std::chrono::nanoseconds spin) noexcept {
  if (spin.count() <= 0) return false;
  if (take_token()) return true;
  const auto give_up = base::Clock::now() + spin;
  do {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      base::spin_hint();
      if (take_token()) return true;
    }
  } while (base::Clock::now() < give_up);
  return false;
}

bool Parker::park_until(base::Clock::time_point deadline) noexcept {
  while (!take_token()) {
    announce_sleep();
    if (sleeper_.sleep(token_, kSleeping, deadline)) continue;
    std::uint32_t expected = kSleeping;
    // relaxed: takes back the announcement; a token that came meanwhile is taken below
    token_.compare_exchange_strong(expected, kNone, base::relaxed, base::relaxed);
    return take_token();
  }
  return true;
}

}  // namespace taskbench::rt::park
