// What a runtime that was built with Builder::trace() has recorded: every scheduling event, worker
// by worker, with its time. docs/design/tracing.md says how it is recorded and what it costs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace taskbench::rt {

enum class TraceEventKind : std::uint8_t {
  spawn,          ///< `task` is handed to the scheduler for the first time
  wake,           ///< `task` was idle and is about to be queued, to be polled or to be cancelled
  poll_start,     ///< of `task`
  poll_end,       ///< of `task`; `poll_end` says how
  steal,          ///< `count` tasks were taken from the queue of `worker`
  overflow,       ///< the local queue was full; `count` tasks went to the injector
  injector_take,  ///< `count` tasks were taken from the injector
  search_start,   ///< the worker has run out of tasks and looks everywhere
  search_end,     ///< it has found some, or is about to park
  park,           ///< the worker goes to sleep
  unpark,         ///< it goes on
  notify,         ///< `worker` is woken, or told not to go to sleep
};

/// What became of the task.
enum class PollEnd : std::uint8_t {
  finished,
  idle,     ///< it waits for a wake
  yielded,  ///< to the back of the queue
  woken,    ///< a wake came during the poll: to the back of the queue
};

struct TraceEvent {
  std::int64_t at_ns = 0;    ///< since the epoch of std::chrono::steady_clock
  std::uint64_t task = 0;    ///< a number, counted from 1 as tasks appear; 0: none, or not known
  std::uint32_t worker = 0;  ///< the other worker
  std::uint32_t count = 0;
  TraceEventKind kind = TraceEventKind::spawn;
  PollEnd poll_end = PollEnd::finished;
};

/// What one writer recorded, oldest first.
struct TraceRow {
  std::vector<TraceEvent> events;
  std::uint64_t lost = 0;  ///< older events that made room for these
};

/// Times of different rows can be compared: an effect comes after its cause. There is one
/// exception: a poll's end is recorded after the task has been let go, and may come after the
/// beginning of its next poll elsewhere, or the spawn of another task in its memory.
struct Trace {
  std::vector<TraceRow> workers;
  TraceRow outside;        ///< by threads that are not workers: spawn, wake and notify only
  std::string_view clock;  ///< what the times were read from: "tsc" or "CLOCK_MONOTONIC"
};

/// The most events that can be kept for each worker.
inline constexpr std::uint32_t kMaxTraceEvents = 1U << 24;

/// Bytes that each event takes.
inline constexpr std::uint32_t kTraceEventBytes = 16;

/// The time that recording one event takes on this machine: the least of several measurements,
/// which take about a millisecond.
[[nodiscard]] double trace_event_cost_ns();

}  // namespace taskbench::rt
