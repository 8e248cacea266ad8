// The tracer's rings, its clock, and the identification of tasks, without a scheduler.
#include "runtime/trace/recording.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "runtime/trace/clock.hpp"

namespace taskbench::rt::trace {
namespace {

using namespace std::chrono_literals;

std::vector<std::uint64_t> payloads(const Ring& ring) {
  std::vector<std::uint64_t> result;
  for (const PackedEvent& event : ring.read()) result.push_back(event.payload());
  return result;
}

void record_numbers(Ring& ring, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t i = first; i <= last; ++i) ring.record(TraceEventKind::overflow, i);
}

using Numbers = std::vector<std::uint64_t>;

TEST(Ring, holds_events_in_order_until_it_is_full) {
  Ring ring(4, Clock());
  EXPECT_EQ(payloads(ring), Numbers{});
  record_numbers(ring, 1, 4);
  EXPECT_EQ(payloads(ring), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(ring.lost(), 0U);
}

TEST(Ring, R3_newest_events_take_the_place_of_the_oldest_which_are_counted) {
  Ring ring(4, Clock());
  record_numbers(ring, 1, 5);
  EXPECT_EQ(payloads(ring), (Numbers{2, 3, 4, 5}));
  EXPECT_EQ(ring.lost(), 1U);
  record_numbers(ring, 6, 15);
  EXPECT_EQ(payloads(ring), (Numbers{12, 13, 14, 15}));
  EXPECT_EQ(ring.lost(), 11U);
}

TEST(Ring, capacity_is_rounded_up_to_a_power_of_two) {
  Ring ring(5, Clock());
  record_numbers(ring, 1, 9);
  EXPECT_EQ(payloads(ring), (Numbers{2, 3, 4, 5, 6, 7, 8, 9}));
  Ring least(1, Clock());
  record_numbers(least, 1, 3);
  EXPECT_EQ(payloads(least), (Numbers{3}));
  EXPECT_EQ(least.lost(), 2U);
}

TEST(Ring, discarded_events_are_neither_read_nor_counted_as_lost) {
  Ring ring(4, Clock());
  record_numbers(ring, 1, 6);
  ring.discard();
  EXPECT_EQ(payloads(ring), Numbers{});
  EXPECT_EQ(ring.lost(), 0U);
  record_numbers(ring, 7, 9);
  EXPECT_EQ(payloads(ring), (Numbers{7, 8, 9}));
  EXPECT_EQ(ring.lost(), 0U);
  record_numbers(ring, 10, 12);
  EXPECT_EQ(payloads(ring), (Numbers{9, 10, 11, 12}));
  EXPECT_EQ(ring.lost(), 2U);
}

TEST(Ring, keeps_kinds_and_times) {
  Ring ring(8, Clock());
  ring.record(TraceEventKind::notify, 1);
  ring.record(TraceEventKind::spawn, (std::uint64_t{1} << 56) - 1);
  const std::vector<PackedEvent> events = ring.read();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].kind(), TraceEventKind::notify);
  EXPECT_EQ(events[1].kind(), TraceEventKind::spawn);
  EXPECT_EQ(events[1].payload(), (std::uint64_t{1} << 56) - 1);
  EXPECT_LE(events[0].ticks, events[1].ticks);
}

TEST(Recorder, of_nothing_records_nothing) {
  Recorder recorder;
  recorder.park();
  recorder.steal(1, 2);
  const Recording off(3, 0);
  EXPECT_FALSE(off.is_on());
  off.worker(2).unpark();
  off.outside().notify(0);
}

TEST(TraceClock, ticks_are_converted_to_steady_time) {
  for (const bool counter_allowed : {false, true}) {
    const Clock clock(counter_allowed);
    SCOPED_TRACE(clock.name());
    struct Look {
      std::chrono::steady_clock::time_point before, after;
      std::uint64_t ticks;
    };
    std::vector<Look> looks;
    for (int i = 0; i < 100; ++i) {
      const auto before = std::chrono::steady_clock::now();
      const std::uint64_t ticks = clock.ticks();
      looks.push_back({before, std::chrono::steady_clock::now(), ticks});
      std::this_thread::sleep_for(50us);
    }
    const TickScale scale = clock.scale();
    for (const Look& look : looks) {
      const std::chrono::nanoseconds at(scale.ns(look.ticks));
      // Covers the error of reading both clocks, and irregularities of the kernel's clock.
      constexpr auto kTolerance = 20us;
      EXPECT_GE(at + kTolerance, look.before.time_since_epoch());
      EXPECT_LE(at - kTolerance, look.after.time_since_epoch());
    }
  }
}

TEST(TraceClock, a_short_trace_is_converted_as_well) {
  const Clock clock;
  const std::uint64_t first = clock.ticks();
  const std::uint64_t second = clock.ticks();
  const TickScale scale = clock.scale();
  EXPECT_LE(scale.ns(first), scale.ns(second));
  EXPECT_LE(scale.ns(second), std::chrono::steady_clock::now().time_since_epoch().count());
}

TEST(TickScale, counts_both_ways_from_its_origin) {
  const TickScale scale{1000, 5000, 0.5};
  EXPECT_EQ(scale.ns(1000), 5000);
  EXPECT_EQ(scale.ns(1010), 5005);
  EXPECT_EQ(scale.ns(990), 4995);
}

/// One thread records everything, and so in order; an event may be in any row.
class Numbering : public ::testing::Test {
 protected:
  void poll(std::size_t worker, const void* task, PollEnd end) {
    recording_.worker(worker).poll_start(task);
    recording_.worker(worker).poll_end(end);
  }

  static Numbers tasks(const TraceRow& row) {
    Numbers result;
    for (const TraceEvent& event : row.events) result.push_back(event.task);
    return result;
  }

  Recording recording_{2, 64};
  std::array<int, 3> memory_{};
};

TEST_F(Numbering, counts_tasks_as_they_appear_over_all_rows) {
  recording_.outside().spawn(&memory_[2]);
  recording_.worker(1).spawn(&memory_[0]);
  poll(0, &memory_[0], PollEnd::idle);
  poll(1, &memory_[2], PollEnd::finished);
  recording_.outside().wake(&memory_[0]);
  const Trace trace = recording_.collect();
  EXPECT_EQ(tasks(trace.outside), (Numbers{1, 2}));
  EXPECT_EQ(tasks(trace.workers[0]), (Numbers{2, 2}));
  EXPECT_EQ(tasks(trace.workers[1]), (Numbers{2, 1, 1}));
}

TEST_F(Numbering, a_spawn_in_used_memory_is_another_task) {
  recording_.worker(0).spawn(&memory_[0]);
  poll(1, &memory_[0], PollEnd::finished);
  recording_.worker(1).spawn(&memory_[0]);
  poll(0, &memory_[0], PollEnd::finished);
  const Trace trace = recording_.collect();
  EXPECT_EQ(tasks(trace.workers[0]), (Numbers{1, 2, 2}));
  EXPECT_EQ(tasks(trace.workers[1]), (Numbers{1, 1, 2}));
}

TEST_F(Numbering, a_spawn_after_a_cancel_without_a_poll_is_another_task) {
  recording_.worker(0).spawn(&memory_[0]);
  recording_.worker(0).spawn(&memory_[0]);
  poll(1, &memory_[0], PollEnd::finished);
  const Trace trace = recording_.collect();
  EXPECT_EQ(tasks(trace.workers[0]), (Numbers{1, 2}));
  EXPECT_EQ(tasks(trace.workers[1]), (Numbers{2, 2}));
}

TEST_F(Numbering, after_its_last_poll_a_task_is_gone_though_the_next_spawn_is_lost) {
  poll(0, &memory_[0], PollEnd::yielded);
  poll(0, &memory_[0], PollEnd::finished);
  poll(0, &memory_[0], PollEnd::idle);
  EXPECT_EQ(tasks(recording_.collect().workers[0]), (Numbers{1, 1, 1, 1, 2, 2}));
}

TEST_F(Numbering, a_poll_without_its_beginning_is_of_no_known_task) {
  recording_.worker(0).poll_end(PollEnd::woken);
  poll(0, &memory_[1], PollEnd::finished);
  const Trace trace = recording_.collect();
  EXPECT_EQ(tasks(trace.workers[0]), (Numbers{0, 1, 1}));
  EXPECT_EQ(trace.workers[0].events[0].poll_end, PollEnd::woken);
}

TEST_F(Numbering, other_events_have_their_worker_and_count_and_no_task) {
  Recorder recorder = recording_.worker(1);
  recorder.steal(0xABCDEF, 0x80000001U);
  recorder.overflow(129);
  recorder.injector_take(7);
  recorder.notify(3);
  const Trace trace = recording_.collect();
  const std::vector<TraceEvent>& events = trace.workers[1].events;
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].worker, 0xABCDEFU);
  EXPECT_EQ(events[0].count, 0x80000001U);
  EXPECT_EQ(events[1].count, 129U);
  EXPECT_EQ(events[2].count, 7U);
  EXPECT_EQ(events[3].worker, 3U);
  for (const TraceEvent& event : events) EXPECT_EQ(event.task, 0U);
}

TEST(TraceEventCost, is_measured) {
  const double ns = trace_event_cost_ns();
  EXPECT_GT(ns, 0);
  EXPECT_LT(ns, 1e6);
}

}  // namespace
}  // namespace taskbench::rt::trace
