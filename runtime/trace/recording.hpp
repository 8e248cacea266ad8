// Where scheduling events are recorded: a ring for each worker and one for all other threads.
//
// A Recorder is what the scheduler holds: a pointer to a ring, or to none when nothing is traced.
// Recording then costs one test of a pointer that its worker alone uses.
//
// Threads: a worker's ring is written by the thread that runs the worker; the ring of the other
// threads under the lock that guards the scheduler's counters of them. discard() by one thread, at
// any time; collect() by the same thread, after the writers have ended.
//
// Invariants
//   R1  At any time a ring has one writer, and the writers of one ring are ordered by the lock or
//       the join that made the next one the writer.
//   R2  Slots are read only in collect(), and all writers are ordered before it: a pool's workers
//       by the mutex under which they count themselves out, the driver of current_thread by the
//       inbox's mutex. So recording needs no order of its own.
//   R3  The slots at the positions [max(0, written - capacity), written) hold the newest events,
//       in the order in which they were recorded.
//   R4  A cause is recorded before it is made visible: a spawn or wake before the task can be
//       taken, so that it is older than the poll that it leads to.
//
// Rejected: one ring for all (a locked instruction an event, and its cache lines travel); handing
// full buffers to a thread that writes them out while the workers run (docs/adr/0011).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/cell.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/trace/clock.hpp"
#include "runtime/trace/trace.hpp"

namespace taskbench::rt::trace {

/// An event as it lies in the ring.
struct PackedEvent {
  std::uint64_t ticks = 0;
  std::uint64_t word = 0;  ///< the kind in the lowest byte, what it is about above

  [[nodiscard]] TraceEventKind kind() const noexcept {
    return static_cast<TraceEventKind>(word & 0xFF);
  }
  /// What the event is about; of an address the low 56 bits, which is all that user space has.
  [[nodiscard]] std::uint64_t payload() const noexcept { return word >> 8; }
};
static_assert(sizeof(PackedEvent) == kTraceEventBytes);

class alignas(base::kFalseSharingBytes) Ring {
 public:
  /// Keeps the newest `capacity` events: 1 to kMaxTraceEvents, rounded up to a power of two.
  Ring(std::size_t capacity, const Clock& clock);

  /// By the writer (R1). Out of line, to stay out of the hot path when nothing is traced.
  [[gnu::noinline, gnu::cold]] void record(TraceEventKind kind, std::uint64_t payload) noexcept {
    // relaxed: only the writer, this thread, stores it (R1)
    const std::uint64_t position = written_.load(base::relaxed);
    slots_[position & mask_].set({clock_.ticks(), static_cast<std::uint64_t>(kind) | payload << 8});
    // relaxed: a count; readers of the slots are ordered by R2
    written_.store(position + 1, base::relaxed);
  }

  /// Leaves what was recorded until now out of read() and lost().
  void discard() noexcept {
    discarded_ = written_.load(base::relaxed);  // relaxed: some recent count will do
  }

  /// The events, oldest first. All writers have ended (R2).
  [[nodiscard]] std::vector<PackedEvent> read() const;
  /// How many events were overwritten. All writers have ended (R2).
  [[nodiscard]] std::uint64_t lost() const noexcept;

 private:
  /// The position of the oldest event that is still there and was not discarded.
  [[nodiscard]] std::uint64_t oldest() const noexcept;

  const std::uint64_t mask_;
  const Clock clock_;
  std::unique_ptr<base::Cell<PackedEvent>[]> slots_;
  base::Atomic<std::uint64_t> written_{0};
  std::uint64_t discarded_ = 0;  // of the thread that may collect
};

/// One function for each event, to be called where it happens; the meaning is in trace.hpp.
class Recorder {
 public:
  Recorder() = default;
  explicit Recorder(Ring* ring) noexcept : ring_(ring) {}

  [[nodiscard]] bool is_on() const noexcept { return __builtin_expect(ring_ != nullptr, 0); }

  void spawn(const void* task) noexcept { record(TraceEventKind::spawn, address(task)); }
  void wake(const void* task) noexcept { record(TraceEventKind::wake, address(task)); }
  void poll_start(const void* task) noexcept { record(TraceEventKind::poll_start, address(task)); }
  void poll_end(PollEnd how) noexcept {
    record(TraceEventKind::poll_end, static_cast<std::uint8_t>(how));
  }
  void steal(std::uint32_t victim, std::uint32_t count) noexcept {
    record(TraceEventKind::steal, std::uint64_t{victim} << 32 | count);
  }
  void overflow(std::size_t count) noexcept { record(TraceEventKind::overflow, count); }
  void injector_take(std::size_t count) noexcept { record(TraceEventKind::injector_take, count); }
  void search_start() noexcept { record(TraceEventKind::search_start, 0); }
  void search_end() noexcept { record(TraceEventKind::search_end, 0); }
  void park() noexcept { record(TraceEventKind::park, 0); }
  void unpark() noexcept { record(TraceEventKind::unpark, 0); }
  void notify(std::uint32_t worker) noexcept {
    record(TraceEventKind::notify, std::uint64_t{worker} << 32);
  }

 private:
  static std::uint64_t address(const void* task) noexcept {
    return reinterpret_cast<std::uintptr_t>(task);
  }
  void record(TraceEventKind kind, std::uint64_t payload) noexcept {
    if (is_on()) ring_->record(kind, payload);
  }

  Ring* ring_ = nullptr;
};

/// All rings of one runtime.
class Recording {
 public:
  /// `capacity` is that of each ring; with 0 nothing is recorded, and no memory taken. Throws
  /// bad_alloc.
  Recording(std::size_t workers, std::size_t capacity);

  [[nodiscard]] bool is_on() const noexcept { return !rings_.empty(); }
  [[nodiscard]] Recorder worker(std::size_t index) const noexcept {
    return is_on() ? Recorder(rings_[index].get()) : Recorder();
  }
  [[nodiscard]] Recorder outside() const noexcept {
    return is_on() ? Recorder(rings_.back().get()) : Recorder();
  }

  void discard() noexcept;
  /// All writers have ended (R2). Only where is_on().
  [[nodiscard]] Trace collect() const;

 private:
  std::unique_ptr<Clock> clock_;
  std::vector<std::unique_ptr<Ring>> rings_;  // one a worker, and that of the threads outside
};

}  // namespace taskbench::rt::trace
