// Allocations of the test program: its global allocation functions are replaced by ones that count,
// and that can be made to fail.
#pragma once

#include <cstddef>

namespace taskbench::rt::tests {

/// The number of allocations so far, by all threads.
[[nodiscard]] std::size_t allocations() noexcept;
/// The number of them that have been freed.
[[nodiscard]] std::size_t deallocations() noexcept;

/// Makes allocations of its thread fail for as long as it lives.
class NoMemory {
 public:
  NoMemory() noexcept;
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
  ~NoMemory();
};

}  // namespace taskbench::rt::tests
