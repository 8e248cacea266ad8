// Pauses between system calls that are retried because the system cannot announce success.
#pragma once

#include <algorithm>
#include <chrono>

#include "runtime/time/sleep.hpp"

namespace taskbench::rt::net::detail {

class Backoff {
 public:
  /// co_await waits: a millisecond at first, then twice as long each time, at most 64.
  [[nodiscard]] auto pause() {
    const std::chrono::milliseconds now = next_;
    next_ = std::min(2 * next_, std::chrono::milliseconds(64));
    return time::sleep(now);
  }

 private:
  std::chrono::milliseconds next_{1};
};

}  // namespace taskbench::rt::net::detail
