// Memory for task blocks and channel cells: a cache per thread, exchanged by the magazine.
//
// Threads: allocate and deallocate from any thread; each uses its own cache without synchronising.
// A thread that only frees hands its full magazines to the depot, one that only allocates takes
// them from there: one lock per kMagazineBlocks operations.
//
// Blocks are whole cache lines, cache-line aligned. kMagazineBlocks of them are carved from a slab,
// whose pages go back to the system when all of its blocks are in the depot: those of as many slabs
// as no thread has wanted for a while (a thread that sleeps looks, see Trimmer), or of all when
// trim() is called. Their addresses are kept. Under the sanitizers every block comes from the
// system's allocator, so that they see each use after free.
//
// Rejected: malloc (64-aligned, about ten times the cost, and slow when another thread frees);
// returning each block to the thread that allocated it (a contended line per task).
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

/// Gives back to the system what lies free in the depot, and what the calling thread has cached.
/// Other threads keep up to two magazines of each size. Returns how many bytes. Any thread.
std::size_t trim() noexcept;

/// Whose threads sleep until next_trim() at most, and call trim_idle() then.
class Trimmer {
 public:
  /// There is a next_trim() where there was none, set by a thread that may never sleep here.
  /// Called on any thread, with a lock held that remove_trimmer() takes.
  virtual void trim_has_come_up() noexcept = 0;

 protected:
  ~Trimmer() = default;
};
void add_trimmer(Trimmer& trimmer);
void remove_trimmer(Trimmer& trimmer) noexcept;

/// When to call trim_idle(); the end of time: there is nothing to be given back.
[[nodiscard]] base::Clock::time_point next_trim() noexcept;
/// After next_trim(): gives back as much as has lain idle in the depot since the last time.
void trim_idle() noexcept;

}  // namespace taskbench::rt::task
