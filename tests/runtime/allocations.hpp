// Allocations of the test program: its global allocation functions are replaced by ones that count,
// and that can be made to fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace taskbench::rt::tests {

/// The number of allocations so far, by all threads.
[[nodiscard]] std::size_t allocations() noexcept;
/// The number of them that have been freed.
[[nodiscard]] std::size_t deallocations() noexcept;

/// Makes allocations of its thread fail for as long as it lives, or only the next `times`; `before`
/// others succeed first.
class NoMemory {
 public:
  explicit NoMemory(std::size_t times = SIZE_MAX, std::size_t before = 0) noexcept;
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
  ~NoMemory();
};

/// The calling thread's own, for hooks of threads; it ends with the thread at the latest.
[[nodiscard]] std::optional<NoMemory>& lack_of_memory_of_this_thread();

}  // namespace taskbench::rt::tests
