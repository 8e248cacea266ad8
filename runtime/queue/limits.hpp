// The sizes of the queues, in one place so that the permutation tester can shrink them.
#pragma once

#include <cstdint>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::queue {

struct ProductionLimits {
  /// Slots of a local queue; a power of two. 256 as in Go and Tokio: deep enough to batch, small
  /// enough (2 KiB of pointers) to stay in the first-level cache.
  static constexpr std::uint32_t kLocalQueueCapacity = base::capacity(256);
};

}  // namespace taskbench::rt::queue
