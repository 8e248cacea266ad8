// Where one thread waits for events of descriptors: epoll, and an eventfd that ends the wait.
//
// Threads: open() by one at a time; wait() and event() by one at a time, once it is open; the
// others by any.
#pragma once

#include "runtime/base/sync_primitives.hpp"

#if !defined(TASKBENCH_MODEL)

#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace taskbench::rt::base {

class Poller {
 public:
  struct Event {
    void* data;
    std::uint32_t events;  ///< the bits of epoll
  };

  Poller() = default;
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// Makes the descriptors. Throws std::system_error.
  void open();
  [[nodiscard]] bool is_open() const noexcept { return descriptor() >= 0; }
  /// The epoll descriptor, or -1 if it is not open. Descriptors added to it must carry data other
  /// than nullptr.
  [[nodiscard]] int descriptor() const noexcept {
    // acquire: pairs with the release in open(): wake_ and events_ are there
    return epoll_.load(acquire);
  }

  /// Waits for events or wake(), at most until `deadline`. Returns how many events there are.
  [[nodiscard]] std::size_t wait(Clock::time_point deadline) noexcept;
  /// One of the events that the last wait() has found.
  [[nodiscard]] Event event(std::size_t index) const noexcept;

  /// Ends the wait() under way, or else the next one. Call it only once the poller is open.
  void wake() noexcept;

 private:
  Atomic<int> epoll_{-1};
  int wake_ = -1;
  bool has_pwait2_ = true;  // until wait() finds otherwise
  std::unique_ptr<epoll_event[]> events_;
};

}  // namespace taskbench::rt::base

#endif  // !TASKBENCH_MODEL
