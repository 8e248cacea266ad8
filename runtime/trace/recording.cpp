#include "runtime/trace/recording.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <tuple>
#include <utility>

#include "runtime/base/assert.hpp"

namespace taskbench::rt {
namespace trace {

Ring::Ring(std::size_t capacity, const Clock& clock)
    : mask_(std::bit_ceil(capacity) - 1),
      clock_(clock),
      // Value-initialised, which also touches every page: not while something is traced.
      slots_(std::make_unique<base::Cell<PackedEvent>[]>(mask_ + 1)) {
  TASKBENCH_ASSERT(capacity > 0 && capacity <= kMaxTraceEvents, "a ring has its limits");
}

std::uint64_t Ring::oldest() const noexcept {
  // relaxed: all writers are ordered before this (R2)
  const std::uint64_t written = written_.load(base::relaxed);
  return std::max(discarded_, written > mask_ ? written - mask_ - 1 : 0);
}

std::uint64_t Ring::lost() const noexcept { return oldest() - discarded_; }

std::vector<PackedEvent> Ring::read() const {
  // relaxed: all writers are ordered before this (R2)
  const std::uint64_t written = written_.load(base::relaxed);
  std::vector<PackedEvent> events;
  events.reserve(written - oldest());
  for (std::uint64_t position = oldest(); position < written; ++position) {
    events.push_back(slots_[position & mask_].get());
  }
  return events;
}

Recording::Recording(std::size_t workers, std::size_t capacity) {
  if (capacity == 0) return;
  clock_ = std::make_unique<Clock>();
  for (std::size_t i = 0; i < workers + 1; ++i) {
    rings_.push_back(std::make_unique<Ring>(capacity, *clock_));
  }
}

void Recording::discard() noexcept {
  for (const auto& ring : rings_) ring->discard();
}

namespace {

/// One event of a task, to be numbered.
struct Sighting {
  std::uint64_t address;
  std::uint64_t ticks;
  TraceEvent* event;
  bool is_last;  ///< the poll after which the task is gone, and its memory may be reused

  [[nodiscard]] bool is_spawn() const { return event->kind == TraceEventKind::spawn; }
};

/// A row with its times and all but the tasks' numbers; events to be numbered go to `sightings`.
TraceRow unpack(const Ring& ring, const TickScale& scale, std::vector<Sighting>& sightings) {
  TraceRow row;
  row.lost = ring.lost();
  const std::vector<PackedEvent> packed = ring.read();
  row.events.resize(packed.size());
  std::size_t open_poll = sightings.size();  // where its sighting is
  bool is_open = false;
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const std::uint64_t payload = packed[i].payload();
    TraceEvent& event = row.events[i];
    event.at_ns = scale.ns(packed[i].ticks);
    event.kind = packed[i].kind();
    switch (event.kind) {
      case TraceEventKind::poll_start:
        open_poll = sightings.size();
        is_open = true;
        [[fallthrough]];
      case TraceEventKind::spawn:
      case TraceEventKind::wake:
        sightings.push_back({payload, packed[i].ticks, &event, false});
        break;
      case TraceEventKind::poll_end:
        event.poll_end = static_cast<PollEnd>(payload);
        if (!is_open) break;  // its beginning has been overwritten
        sightings[open_poll].is_last = event.poll_end == PollEnd::finished;
        is_open = false;
        break;
      default:
        event.worker = static_cast<std::uint32_t>(payload >> 32);
        event.count = static_cast<std::uint32_t>(payload);
        break;
    }
  }
  return row;
}

/// Numbers the tasks, and tells apart those that had the same memory one after another.
void number_tasks(std::vector<Sighting>& sightings) {
  // Events of one task are ordered by cause and effect, and so are their ticks (Clock, R4).
  std::ranges::sort(sightings, {}, [](const Sighting& each) {
    return std::tuple(each.address, each.ticks, !each.is_spawn());
  });
  std::vector<std::pair<std::uint64_t, std::size_t>> first_seen;  // of each task: ticks, place
  for (std::size_t i = 0; i < sightings.size(); ++i) {
    const Sighting& each = sightings[i];
    const bool is_new = i == 0 || sightings[i - 1].address != each.address ||
                        sightings[i - 1].is_last || each.is_spawn();
    if (is_new) first_seen.emplace_back(each.ticks, first_seen.size());
    each.event->task = first_seen.size() - 1;  // for now
  }
  std::ranges::sort(first_seen);
  std::vector<std::uint64_t> numbers(first_seen.size());
  for (std::size_t i = 0; i < first_seen.size(); ++i) numbers[first_seen[i].second] = i + 1;
  for (const Sighting& each : sightings) each.event->task = numbers[each.event->task];
}

/// Gives the end of each poll the number of its beginning.
void number_poll_ends(TraceRow& row) {
  std::uint64_t task = 0;
  for (TraceEvent& event : row.events) {
    if (event.kind == TraceEventKind::poll_start) task = event.task;
    if (event.kind == TraceEventKind::poll_end) event.task = std::exchange(task, 0);
  }
}

}  // namespace

Trace Recording::collect() const {
  TASKBENCH_ASSERT(is_on(), "only what was recorded can be collected");
  const TickScale scale = clock_->scale();
  Trace trace;
  trace.clock = clock_->name();
  std::vector<Sighting> sightings;
  // Rows are moved, their events are not.
  for (const auto& ring : rings_) trace.workers.push_back(unpack(*ring, scale, sightings));
  number_tasks(sightings);
  for (TraceRow& row : trace.workers) number_poll_ends(row);
  trace.outside = std::move(trace.workers.back());
  trace.workers.pop_back();
  return trace;
}

}  // namespace trace

double trace_event_cost_ns() {
  using Time = base::Clock;
  constexpr std::uint64_t kEvents = 4'096;
  constexpr int kLooks = 20;
  trace::Ring ring(kEvents, trace::Clock());
  trace::Recorder recorder(&ring);
  Time::duration least = Time::duration::max();
  for (int i = 0; i < kLooks; ++i) {
    const Time::time_point start = Time::now();
    for (std::uint64_t event = 0; event < kEvents; ++event) recorder.poll_start(&ring);
    least = std::min(least, Time::now() - start);
  }
  return std::chrono::duration<double, std::nano>(least).count() / kEvents;
}

}  // namespace taskbench::rt
