// A descriptor that the driver watches.
#pragma once

#include <cstdint>

namespace taskbench::rt::driver {

class Registration {
 public:
  virtual ~Registration() = default;

  /// What epoll_wait said of it. By the thread that has the driver.
  virtual void on_events(std::uint32_t epoll_events) noexcept = 0;

  Registration* next_retired = nullptr;  ///< the driver's
};

}  // namespace taskbench::rt::driver
