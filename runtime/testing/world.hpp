// The state of a test with a seed: the clock, which only the test moves, the agenda of later
// actions, the random numbers, and the record of what has happened.
//
// Threads: only the test's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "runtime/base/random.hpp"
#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::testing {

/// Hosts are numbered in the order in which they are first named; 0 is the default host.
using HostNumber = std::uint32_t;

class World {
 public:
  using Time = base::Clock::time_point;

  World(std::uint64_t seed, bool traces) : random_(seed), traces_(traces) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] Time now() const noexcept { return now_; }
  [[nodiscard]] std::chrono::nanoseconds elapsed() const noexcept { return now_ - kStart; }
  /// Moves the clock, never backwards.
  void move_to(Time time);

  /// Runs `action` `delay` from now, unless it is no longer needed then. Actions due at the same
  /// time run in the order of these calls.
  void later(std::chrono::nanoseconds delay, std::function<void()> action,
             std::function<bool()> is_needed = nullptr);
  /// Brings next_action() up to date: drops actions that are not needed any more.
  void forget_needless();
  /// When the next action is due; the end of time: there is none.
  [[nodiscard]] Time next_action() const noexcept {
    return agenda_.empty() ? Time::max() : agenda_.begin()->first.first;
  }
  /// Runs one action that is due, if it is still needed. False: none is due.
  bool do_what_is_due();

  [[nodiscard]] std::uint32_t below(std::uint32_t bound) noexcept { return random_.below(bound); }
  /// Draws nothing where `probability` is 0.
  [[nodiscard]] bool chance(double probability) noexcept;
  [[nodiscard]] std::chrono::nanoseconds between(std::chrono::nanoseconds least,
                                                 std::chrono::nanoseconds most) noexcept;

  [[nodiscard]] bool traces() const noexcept { return traces_; }
  /// Adds a line to the trace, with the time.
  void note(const std::string& what);
  [[nodiscard]] const std::string& trace() const noexcept { return trace_; }

  /// Adds to a number that tells whether two tests took the same course, traced or not.
  void mark(std::uint64_t what) noexcept {
    fingerprint_ = (fingerprint_ ^ what ^ static_cast<std::uint64_t>(elapsed().count())) *
                   0x100000001b3U;  // FNV-1a, by words
  }
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return fingerprint_; }

  // The current host and task, which the engine sets.
  HostNumber host = 0;     ///< of the task that is being polled, or that is to be spawned
  std::uint64_t task = 0;  ///< its number; 0: none is being polled

 private:
  /// Far from zero, so that times before the start can be represented, too.
  static constexpr Time kStart{std::chrono::hours{24}};

  struct Action {
    std::function<void()> run;
    std::function<bool()> is_needed;  // null: always

    [[nodiscard]] bool is_still_needed() const { return is_needed == nullptr || is_needed(); }
  };

  Time now_ = kStart;
  std::map<std::pair<Time, std::uint64_t>, Action> agenda_;
  std::uint64_t agreed_ = 0;  // actions so far
  base::FastRandom random_;
  const bool traces_;
  std::string trace_;
  std::uint64_t fingerprint_ = 0xcbf29ce484222325U;
};

/// A time since the start, as traces and messages show it.
[[nodiscard]] std::string as_seconds(std::chrono::nanoseconds time);

}  // namespace taskbench::rt::testing
