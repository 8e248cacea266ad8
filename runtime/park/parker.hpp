// Lets one thread sleep until another hands it a token.
//
// Threads: park, park_until and try_park by the owning thread only; unpark by any. A token given
// before the owner sleeps makes the next park return at once; tokens do not add up. What the giver
// wrote before unpark is visible to the owner after park.
//
// A Sleeper decides where the thread sleeps, so that the driver, which waits for timers and
// sockets, can take the place of the system's futex (docs/adr/0017). The token is the parker's own:
// giving and taking it changes a word in memory, and the Sleeper is called only when a thread
// really goes to sleep or really sleeps.
//
// The giver touches the parker's memory for the last time when it sets the token; calls after that
// get only the address. So the owner may destroy the parker once it has the token. The Sleeper must
// outlive all givers of tokens.
#pragma once

#include <chrono>
#include <cstdint>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::park {

using Token = base::Atomic<std::uint32_t>;

/// Where threads sleep. One may serve several parkers.
class Sleeper {
 public:
  /// Sleeps while `token` holds `expected`, at most until `deadline`; may wake up spuriously.
  /// False: the deadline has passed, or the thread must look at something other than its token.
  [[nodiscard]] virtual bool sleep(Token& token, std::uint32_t expected,
                                   base::Clock::time_point deadline) noexcept = 0;

  /// `token` has changed: lets the thread that sleeps on it, or is about to, return from sleep().
  /// Only the address may be used. Any thread.
  virtual void wake(const Token* token) noexcept = 0;

 protected:
  ~Sleeper() = default;
};

/// The system's sleeper: a futex for each token.
class Futex final : public Sleeper {
 public:
  [[nodiscard]] bool sleep(Token& token, std::uint32_t expected,
                           base::Clock::time_point deadline) noexcept override;
  void wake(const Token* token) noexcept override;
};
inline constinit Futex futex;

class Parker {
 public:
  explicit Parker(Sleeper& sleeper = futex) noexcept : sleeper_(sleeper) {}

  /// Sleeps until there is a token, and takes it. Looks for it for up to `spin` before it sleeps.
  void park(std::chrono::nanoseconds spin = {}) noexcept;

  /// Like park(), but returns false, as park_until() does, when the Sleeper says that there is
  /// something else.
  [[nodiscard]] bool park_once(std::chrono::nanoseconds spin = {}) noexcept;

  /// Sleeps until there is a token, and takes it; returns false without one when the Sleeper says
  /// that there is something else, at `deadline` for instance.
  [[nodiscard]] bool park_until(base::Clock::time_point deadline) noexcept;

  /// Takes the token if there is one; never sleeps.
  [[nodiscard]] bool try_park() noexcept { return take_token(); }

  /// Gives the token. Returns whether the owner slept and had to be woken.
  bool unpark() noexcept {
    Sleeper& sleeper = sleeper_;  // read now: afterwards the parker may be gone
    // release: pairs with the acquire in take_token; what was written before is handed over. An
    // exchange even if the token was given already, to continue the release sequence of that one
    if (token_.exchange(kGiven, base::release) != kSleeping) return false;
    sleeper.wake(&token_);
    return true;
  }

 private:
  /// Looks for the token for up to `spin`. True: it has been taken.
  [[nodiscard]] bool await_token(std::chrono::nanoseconds spin) noexcept;

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
  void announce_sleep() noexcept {
    std::uint32_t expected = kNone;
    // relaxed: announces only that the owner must be woken; the token synchronises
    token_.compare_exchange_strong(expected, kSleeping, base::relaxed, base::relaxed);
  }

  Sleeper& sleeper_;
  Token token_{kNone};
};

}  // namespace taskbench::rt::park
