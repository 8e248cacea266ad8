// Memory for task blocks and channel cells: a cache per thread, exchanged by the magazine.
//
// Threads: allocate and deallocate from any thread; each uses its own cache without synchronising.
// A thread that only frees hands its full magazines to the depot, one that only allocates takes
// them from there: one lock per kMagazineBlocks operations.
//
// Blocks are whole cache lines, cache-line aligned. kMagazineBlocks of them are carved from a slab.
// A slab's pages can go back to the system when all of its blocks are in the depot: those of as
// many slabs as no thread has needed for a while, or of all such slabs when trim() is called. The
// addresses are kept. Under the sanitizers every block comes from the system's allocator, so that
// they see each use after free.
//
// A thread of the cache's own, "taskbench-trim", gives idle memory back. It starts when there is
// enough in the depot to be worth it, looks every half second at first, less and less often
// (at most once in 64 s) while nothing can be given back, and ends when the depot is almost empty.
//
// Rejected: malloc (64-aligned, about ten times the cost, and slow when another thread frees);
// returning each block to the thread that allocated it (a contended line per task); workers that
// sleep only until the next look (each sleep would set a timer: 10 to 20 % of chained_spawn on a
// virtual machine).
//
// Reference: Bonwick & Adams, "Magazines and Vmem" (USENIX 2001).
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::task {

/// Blocks of more units than this go to the system's allocator.
inline constexpr std::uint32_t kMaxCachedUnits = 32;
inline constexpr std::uint32_t kMagazineBlocks = 64;

/// At least `units` cache lines (two or more), aligned to one. Throws std::bad_alloc.
[[nodiscard]] void* allocate_block(std::uint32_t units);

/// Takes back what allocate_block(units) gave.
void deallocate_block(void* block, std::uint32_t units) noexcept;

/// Bytes that were taken from the system for cached blocks and not given back, in use or not.
[[nodiscard]] std::size_t reserved_block_bytes() noexcept;

/// Gives the free blocks in the depot and in the calling thread's cache back to the system. Other
/// threads keep up to two magazines of each size. Returns how many bytes. Any thread.
std::size_t trim() noexcept;

/// While one of these exists, only trim() gives memory back. For counting instructions: how much is
/// idle when the trim thread looks differs from run to run. Any thread.
class [[nodiscard]] KeepsIdleBlocks {
 public:
  KeepsIdleBlocks() noexcept;
  ~KeepsIdleBlocks();
  KeepsIdleBlocks(const KeepsIdleBlocks&) = delete;
  KeepsIdleBlocks& operator=(const KeepsIdleBlocks&) = delete;
};

}  // namespace taskbench::rt::task
