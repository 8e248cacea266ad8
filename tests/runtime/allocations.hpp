// What the test program allocates: its global allocation functions are replaced by ones that count,
// and that may refuse.
#pragma once

#include <cstddef>

namespace taskbench::rt::tests {

/// Allocations so far, by all threads.
[[nodiscard]] std::size_t allocations() noexcept;
/// How many of them have been freed.
[[nodiscard]] std::size_t deallocations() noexcept;

/// While it lives, its thread gets no memory.
class NoMemory {
 public:
  NoMemory() noexcept;
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
  ~NoMemory();
};

}  // namespace taskbench::rt::tests
