// The descriptors that the driver watches, each from its first use to its end.
//
// Threads: on_events() by the thread that has the driver; add() and close() by any; remove() once,
// by the owner of the registration; the readiness: see readiness.hpp.
//
// A descriptor is added to epoll once, for both directions and for edges; an event carries the
// address of its registration. The registration belongs to the descriptor's number, for as long as
// the driver lives: an event that was fetched before its descriptor was closed may be reported to
// the next descriptor of that number, which tries in vain. An edge of its own comes later than
// that: the thread that has the driver passes all events on before it fetches more.
//
// Registrations are small, and two share a cache line: those whose numbers are 64 apart, so that
// they are hardly ever both busy.
//
// Invariants
//   G1  pages_ and closed_ are guarded by mutex_, which also orders what the owner of a number did
//       before what its next owner does.
//   G2  While a number has no owner, both of its directions can be taken, as in a new registration;
//       or they are closed.
//
// Rejected: a registration on the heap for each (64 bytes instead of 32, and a list of all of them;
// it could be freed only when all fetched events have been dispatched); a table of pointers by
// number (as large, and eight pointers share a cache line).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/shared.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/driver/readiness.hpp"

namespace taskbench::rt::driver {

class Driver;

class Registration {
 public:
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] Readiness& reading() noexcept { return reading_; }
  [[nodiscard]] Readiness& writing() noexcept { return writing_; }

  /// Passes on what epoll_wait reported.
  void on_events(std::uint32_t epoll_events) noexcept;

  /// Ends the watch, while the descriptor is still open. No task may be waiting.
  void retire() noexcept;

  bool is_owned = false;  ///< for the owner: it has to close the descriptor

 private:
  friend class Registrations;

  Readiness reading_;
  Readiness writing_;
  base::Ref<Driver> driver_;  // null while the number has no owner
  int descriptor_ = -1;
};

/// All registrations of a driver.
class Registrations {
 public:
  /// Makes `driver`, to which these belong, watch `descriptor`. Throws std::system_error: not every
  /// descriptor can be watched.
  [[nodiscard]] Registration& add(Driver& driver, int descriptor);

  /// Called when the runtime has ended: fails every operation that waits, or would have to wait,
  /// for what was added here; tasks of other runtimes may still use it.
  void close() noexcept;

 private:
  friend class Registration;

  struct alignas(base::kCacheLineBytes) Page {
    static constexpr std::size_t kSize = 128;
    std::array<Registration, kSize> all;
  };

  [[nodiscard]] Registration& of(int descriptor);
  void remove(Registration& registration) noexcept;

  base::Mutex mutex_;
  std::map<std::size_t, std::unique_ptr<Page>> pages_ TASKBENCH_GUARDED_BY(mutex_);
  bool closed_ TASKBENCH_GUARDED_BY(mutex_) = false;
};

}  // namespace taskbench::rt::driver
