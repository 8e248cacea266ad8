// A descriptor that the driver watches, from its first use to its end.
//
// Threads: on_events() by the thread that has the driver; close() by the one that ends it; retire()
// once, by whoever owns the registration; the readiness: see readiness.hpp.
//
// It is added to epoll once, for both directions and for edges, and its address is what an event
// carries. So it must outlive every event that was fetched: retire() takes it out of epoll and
// leaves it to the driver, which frees it when nobody has the driver, and what was fetched has been
// dispatched.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/base/shared.hpp"
#include "runtime/driver/readiness.hpp"

namespace taskbench::rt::driver {

class Driver;

class Registration {
 public:
  /// Has `driver` watch `descriptor`. Throws std::system_error: not every descriptor can be
  /// watched.
  Registration(Driver& driver, int descriptor);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] Driver& driver() const noexcept { return *driver_; }
  [[nodiscard]] Readiness& reading() noexcept { return reading_; }
  [[nodiscard]] Readiness& writing() noexcept { return writing_; }

  /// What epoll_wait said of it.
  void on_events(std::uint32_t epoll_events) noexcept;

  /// Nobody will tell of events any more. Returns the tasks that wait, to be woken, or nullptr.
  [[nodiscard]] std::array<task::Header*, 2> close() noexcept {
    return {reading_.close(), writing_.close()};
  }

  /// Ends the watch, while the descriptor is still open, and gives this to the driver.
  void retire() noexcept;

  // The driver's (D1): its list of those that it watches, or of those that are retired.
  Registration* next = nullptr;
  Registration** link = nullptr;  ///< to this, in the list of those that are watched

 private:
  Readiness reading_;
  Readiness writing_;
  base::Ref<Driver> driver_;
  const int descriptor_;
};

}  // namespace taskbench::rt::driver
