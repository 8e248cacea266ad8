// Lets one thread sleep until another hands it a token.
//
// Threads: park and park_until by the owning thread only; unpark by any. A token given before the
// owner sleeps makes the next park return at once; tokens do not add up. What the giver wrote
// before unpark is visible to the owner after park.
//
// The giver touches the parker's memory for the last time when it sets the token; the system call
// after it uses only the address. So the owner may destroy the parker once it has the token.
#pragma once

#include <chrono>
#include <cstdint>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::park {

class Parker {
 public:
  /// Sleeps until there is a token, and takes it. Looks for it for up to `spin` before it sleeps.
  void park(std::chrono::nanoseconds spin = {}) noexcept;

  /// The same, but gives up at `deadline`: then returns false.
  [[nodiscard]] bool park_until(std::chrono::steady_clock::time_point deadline) noexcept;

  /// Takes the token if there is one; never sleeps.
  [[nodiscard]] bool try_park() noexcept { return take_token(); }

  /// Gives the token. True when that took a system call, because the owner slept.
  bool unpark() noexcept {
    // acq_rel: pairs with the acquire in take_token; what was written before is handed over
    if (token_.exchange(kGiven, base::acq_rel) != kSleeping) return false;
    base::futex_wake_one(&token_);
    return true;
  }

 private:
  static constexpr std::uint32_t kNone = 0;
  static constexpr std::uint32_t kSleeping = 1;
  static constexpr std::uint32_t kGiven = 2;

  bool take_token() noexcept {
    // relaxed: only a look; the exchange below synchronises
    if (token_.load(base::relaxed) != kGiven) return false;
    // acquire: pairs with the release half of unpark
    token_.exchange(kNone, base::acquire);
    return true;
  }
  bool announce_sleep() noexcept {
    std::uint32_t expected = kNone;
    // relaxed: announces only that a system call is needed; the token synchronises
    return token_.compare_exchange_strong(expected, kSleeping, base::relaxed, base::relaxed);
  }

  base::Atomic<std::uint32_t> token_{kNone};
};

}  // namespace taskbench::rt::park
