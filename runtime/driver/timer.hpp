// What a wheel keeps of somebody who waits for a time. Lies in the awaiter.
#pragma once

#include <cstdint>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/header.hpp"

namespace taskbench::rt::driver {

/// Milliseconds since the driver was made.
using Tick = std::uint64_t;
inline constexpr Tick kNever = UINT64_MAX;

/// Guarded by the wheel's lock while it is in one, but for `fired`: see wheel.hpp.
struct Timer {
  Timer* next = nullptr;  // of the slot's ring
  Timer* previous = nullptr;
  Tick when = 0;
  Wheel* wheel = nullptr;          ///< that it was inserted in; nullptr: in none so far
  task::Header* waiter = nullptr;  ///< a counted reference, until it has fired
  std::uint16_t slot = 0;
  base::Atomic<bool> fired{false};
};

}  // namespace taskbench::rt::driver
