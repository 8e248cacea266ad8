// The interface between the primitives and the tester. One execution at a time; all on one OS
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>

#include "tests/model/mc/check.hpp"

namespace mc {

enum class Order : std::uint8_t { relaxed, acquire, release, acq_rel, seq_cst };
using enum Order;

enum class Fence : std::uint8_t { acquire, release, acq_rel, seq_cst, light, heavy };

using Where = std::source_location;

/// Whether the caller is inside an execution.
[[nodiscard]] bool is_active();

// --- locations: objects of at most eight bytes that are accessed atomically

/// Begins a new object at `address`; the one there before is gone.
void location_begins(const void* address, std::uint64_t value);
void location_ends(const void* address);

[[nodiscard]] std::uint64_t load(const void* address, std::uint64_t raw, Order order, Where where);
void store(const void* address, std::uint64_t raw, std::uint64_t value, Order order, Where where);

/// The arithmetic of a read-modify-write: the new value from the old one and an operand.
using Modify = std::uint64_t (*)(std::uint64_t old, std::uint64_t operand);
[[nodiscard]] std::uint64_t modify(const void* address, std::uint64_t raw, Modify function,
                                   std::uint64_t operand, Order order, Where where);
/// Returns whether it exchanged; if not, `expected` becomes what was read.
[[nodiscard]] bool compare_exchange(const void* address, std::uint64_t raw, std::uint64_t& expected,
                                    std::uint64_t desired, bool weak, Order success, Order failure,
                                    Where where);
/// Whether a value is the awaited one. Must look at nothing else.
using IsDone = bool (*)(const void* context, std::uint64_t value);
/// A loop that loads until `is_done`; returns the last value read. Only its first look and its
/// last, which reads the newest value, are explored.
[[nodiscard]] std::uint64_t await(const void* address, std::uint64_t raw, IsDone is_done,
                                  const void* context, Order order, Where where);
void fence(Fence kind, Where where = Where::current());

// --- plain memory that is handed over

/// Begins a new cell at `address`, which location_ends() ends.
void cell_begins(const void* address);
void cell_read(const void* address, Where where);
void cell_written(const void* address, Where where);

// --- blocking

/// Begins a new mutex or condition at `address`, which location_ends() ends.
void lockable_begins(const void* address);
void lock(const void* mutex, Where where);
[[nodiscard]] bool try_lock(const void* mutex, Where where);
void unlock(const void* mutex);

/// Releases the mutex, waits to be notified, and takes the mutex again. False: timed out.
bool wait(const void* condition, const void* mutex, bool has_deadline, Where where);
void notify(const void* condition, bool all, Where where);

/// Like the kernel's futex. False: timed out.
bool futex_wait(const void* word, std::uint64_t raw, std::uint64_t expected, bool has_deadline,
                Where where = Where::current());
void futex_wake(const void* word, Where where = Where::current());

/// Continues only when another thread has written something, or after a spurious failure of this
/// one; for loops that spin.
void yield(Where where = Where::current());

/// Returns the new thread's number.
[[nodiscard]] int spawn(std::function<void()> body, Where where);
void join(int thread, Where where);

/// In nanoseconds; each look and each timeout advances it.
[[nodiscard]] std::int64_t now();

/// The calling thread's own block for `key`, initially zero.
[[nodiscard]] void* of_this_thread(const void* key, std::size_t size, std::size_t alignment,
                                   void (*destroy)(void*));

/// Ends the execution and the search with this failure. Does not return.
[[noreturn]] void fail(const std::string& message);

}  // namespace mc
