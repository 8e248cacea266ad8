// A wheel's entry for a task that waits for a time. Lies in the awaiter.
#pragma once

#include <cstdint>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/header.hpp"

namespace taskbench::rt::driver {

/// Milliseconds since the driver was made.
using Tick = std::uint64_t;
inline constexpr Tick kNever = UINT64_MAX;

/// While it is in a wheel, all but `fired` is guarded by the wheel's lock: see wheel.hpp.
struct Timer {
  Timer* next = nullptr;  // in the slot's ring
  Timer* previous = nullptr;
  Tick when = 0;
  Wheel* wheel = nullptr;          ///< in which it was inserted; nullptr: in none so far
  task::Header* waiter = nullptr;  ///< a counted reference, until it has fired
  std::uint16_t slot = 0;
  base::Atomic<bool> fired{false};
};

}  // namespace taskbench::rt::driver
