// Memory for task blocks and channel cells: a cache per thread, exchanged by the magazine.
//
// Threads: allocate and deallocate from any thread; each uses its own cache without synchronising.
// A thread that only frees hands its full magazines to the depot, one that only allocates takes
// them from there: one lock per kMagazineBlocks operations.
//
// Blocks are whole cache lines, cache-line aligned. Memory once taken from the system is kept for
// reuse for the life of the process. Under the sanitizers every block comes from the system's
// allocator, so that they see each use after free.
//
// Rejected: malloc (64-aligned, about ten times the cost, and slow when another thread frees);
// returning each block to the thread that allocated it (a contended line per task).
//
// Reference: Bonwick & Adams, "Magazines and Vmem" (USENIX 2001).
#pragma once

#include <cstddef>
#include <cstdint>

namespace taskbench::rt::task {

/// Blocks of more units than this go to the system's allocator.
inline constexpr std::uint32_t kMaxCachedUnits = 32;
inline constexpr std::uint32_t kMagazineBlocks = 64;

/// At least `units` cache lines (two or more), aligned to one. Throws std::bad_alloc.
[[nodiscard]] void* allocate_block(std::uint32_t units);

/// Takes back what allocate_block(units) gave.
void deallocate_block(void* block, std::uint32_t units) noexcept;

/// Bytes taken from the system for cached blocks so far, in use or not.
[[nodiscard]] std::size_t reserved_block_bytes() noexcept;

}  // namespace taskbench::rt::task
