// What a traced runtime records: complete, in order, and in agreement with the counters.
#include "runtime/trace/trace.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "runtime/sync/oneshot.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;
namespace oneshot = sync::oneshot;

constexpr std::uint32_t kPlenty = 1U << 17;

Task<> drop_what_comes(oneshot::Receiver<int> receiver) {
  const auto value = co_await std::move(receiver);
  static_cast<void>(value);
}
/// Spawns tasks that yield, and tasks that wait and are woken, more than a local queue holds.
Task<> busy(int count) {
  std::vector<JoinHandle<void>> handles;
  std::vector<oneshot::Sender<int>> senders;
  for (int i = 0; i < count; ++i) {
    auto [sender, receiver] = oneshot::channel<int>();
    handles.push_back(spawn(drop_what_comes(std::move(receiver))));
    senders.push_back(std::move(sender));
    handles.push_back(spawn(yield_times(i % 4)));
  }
  co_await yield_now();
  for (auto& sender : senders) static_cast<void>(std::move(sender).send(1));
  co_await join_all(handles);
}
/// Spawns the next task and ends, so that its memory is soon another's.
Task<> chain(int left, oneshot::Sender<int> end) {
  if (left > 1) {
    spawn(chain(left - 1, std::move(end))).detach();
  } else {
    static_cast<void>(end.send(1));
  }
  co_return;
}
Task<> from_outside_and_inside(Runtime& runtime) {
  auto end_of_chain = oneshot::channel<int>();
  runtime.spawn(chain(200, std::move(end_of_chain.first))).detach();
  std::vector<JoinHandle<void>> handles;
  for (int i = 0; i < 300; ++i) handles.push_back(runtime.spawn(yield_times(i % 3)));
  co_await spawn(busy(300));
  co_await join_all(handles);
  const auto heard = co_await std::move(end_of_chain.second);
  EXPECT_TRUE(heard.has_value());
}

std::uint64_t count(const TraceRow& row, TraceEventKind kind) {
  return static_cast<std::uint64_t>(std::ranges::count(row.events, kind, &TraceEvent::kind));
}
std::uint64_t sum(const TraceRow& row, TraceEventKind kind) {
  std::uint64_t result = 0;
  for (const TraceEvent& event : row.events) {
    if (event.kind == kind) result += event.count;
  }
  return result;
}

struct Poll {
  std::int64_t begin_ns;
  std::int64_t end_ns;
  PollEnd end;
};

/// All that is known of one task, with polls and wakes in order of time.
struct Life {
  std::vector<std::int64_t> spawns;
  std::vector<std::int64_t> wakes;
  std::vector<Poll> polls;
};

std::map<std::uint64_t, Life> lives_of(const Trace& trace) {
  std::map<std::uint64_t, Life> lives;
  const auto add = [&](const TraceRow& row) {
    std::int64_t begin_ns = 0;
    for (const TraceEvent& event : row.events) {
      if (event.kind == TraceEventKind::spawn) lives[event.task].spawns.push_back(event.at_ns);
      if (event.kind == TraceEventKind::wake) lives[event.task].wakes.push_back(event.at_ns);
      if (event.kind == TraceEventKind::poll_start) begin_ns = event.at_ns;
      if (event.kind == TraceEventKind::poll_end) {
        lives[event.task].polls.push_back({begin_ns, event.at_ns, event.poll_end});
      }
    }
  };
  for (const TraceRow& row : trace.workers) add(row);
  add(trace.outside);
  for (auto& [task, life] : lives) {
    std::ranges::sort(life.wakes);
    // At equal beginnings, the shorter one first: a task polled twice within one nanosecond.
    std::ranges::sort(life.polls, {},
                      [](const Poll& poll) { return std::pair(poll.begin_ns, poll.end_ns); });
  }
  return lives;
}

/// Expects that the worker has done one thing after the other.
void expect_row_in_order(const TraceRow& row) {
  std::int64_t latest_ns = 0;
  std::uint64_t polled = 0;
  bool is_parked = false;
  bool is_searching = false;
  for (const TraceEvent& event : row.events) {
    EXPECT_GE(event.at_ns, latest_ns);
    latest_ns = event.at_ns;
    switch (event.kind) {
      case TraceEventKind::poll_start:
        ASSERT_EQ(polled, 0U) << "polls of one worker overlap";
        ASSERT_NE(event.task, 0U);
        ASSERT_FALSE(is_parked || is_searching);
        polled = event.task;
        break;
      case TraceEventKind::poll_end:
        ASSERT_EQ(event.task, polled) << "a poll ends that was not begun";
        polled = 0;
        break;
      case TraceEventKind::park:
        ASSERT_FALSE(is_parked || is_searching || polled != 0);
        is_parked = true;
        break;
      case TraceEventKind::unpark:
        ASSERT_TRUE(is_parked);
        is_parked = false;
        break;
      case TraceEventKind::search_start:
        ASSERT_FALSE(is_parked || is_searching || polled != 0);
        is_searching = true;
        break;
      case TraceEventKind::search_end:
        ASSERT_TRUE(is_searching);
        is_searching = false;
        break;
      case TraceEventKind::injector_take:
        ASSERT_FALSE(is_parked);
        ASSERT_GT(event.count, 0U);
        break;
      default:
        ASSERT_FALSE(is_parked);
        break;
    }
  }
  EXPECT_EQ(polled, 0U) << "a poll has no end";
  EXPECT_FALSE(is_parked);
}

/// Expects that a task was spawned, polled, woken once for each poll that left it idle, and has
/// ended.
void expect_whole_life(const Life& life) {
  ASSERT_EQ(life.spawns.size(), 1U);
  ASSERT_FALSE(life.polls.empty()) << "spawned and never polled";
  EXPECT_LE(life.spawns[0], life.polls[0].begin_ns);
  std::size_t wakes = 0;
  for (std::size_t i = 0; i + 1 < life.polls.size(); ++i) {
    const Poll& poll = life.polls[i];
    const Poll& next = life.polls[i + 1];
    ASSERT_NE(poll.end, PollEnd::finished) << "polled after its end";
    if (poll.end != PollEnd::idle) {
      EXPECT_LE(poll.end_ns, next.begin_ns) << "polls of one task overlap";
      continue;
    }
    // The end of a poll is recorded after the task was released; the wake shows that it was.
    ASSERT_LT(wakes, life.wakes.size()) << "polled without a wake";
    EXPECT_LE(poll.begin_ns, life.wakes[wakes]);
    EXPECT_LE(life.wakes[wakes], next.begin_ns);
    ++wakes;
  }
  EXPECT_EQ(wakes, life.wakes.size());
  EXPECT_EQ(life.polls.back().end, PollEnd::finished);
}

void expect_counted(const TraceRow& row, const WorkerCounters& counters) {
  if (!kCounted) return;
  EXPECT_EQ(count(row, TraceEventKind::spawn), counters.tasks_spawned);
  EXPECT_EQ(count(row, TraceEventKind::poll_start), counters.polls);
  EXPECT_EQ(count(row, TraceEventKind::steal), counters.steal_operations);
  EXPECT_EQ(sum(row, TraceEventKind::steal), counters.stolen_tasks);
  EXPECT_EQ(count(row, TraceEventKind::overflow), counters.overflows);
  EXPECT_EQ(sum(row, TraceEventKind::injector_take), counters.injector_polls);
  EXPECT_EQ(count(row, TraceEventKind::park), counters.parks);
  EXPECT_EQ(count(row, TraceEventKind::notify), counters.unparks);
  std::uint64_t finished = 0;
  std::uint64_t yielded = 0;
  for (const TraceEvent& event : row.events) {
    if (event.kind != TraceEventKind::poll_end) continue;
    if (event.poll_end == PollEnd::finished) ++finished;
    if (event.poll_end == PollEnd::yielded) ++yielded;
  }
  EXPECT_EQ(finished, counters.tasks_completed);
  EXPECT_EQ(yielded, counters.yields);
}

class TraceOf : public OnEveryScheduler {};

TEST_P(TraceOf, every_poll_has_its_end_and_every_task_its_life_as_the_counters_say) {
  for (const bool lifo : {true, false}) {
    Runtime runtime = builder(GetParam()).lifo_slot(lifo).trace(kPlenty).build();
    runtime.block_on(from_outside_and_inside(runtime));
    runtime.shutdown();
    const Trace trace = runtime.trace();
    const RuntimeStats stats = runtime.stats();

    ASSERT_EQ(trace.workers.size(), GetParam().workers);
    for (std::size_t i = 0; i < trace.workers.size(); ++i) {
      EXPECT_EQ(trace.workers[i].lost, 0U);
      expect_row_in_order(trace.workers[i]);
      expect_counted(trace.workers[i], stats.workers[i]);
    }
    EXPECT_EQ(trace.outside.lost, 0U);
    expect_counted(trace.outside, stats.outside);

    const auto lives = lives_of(trace);
    EXPECT_EQ(lives.size(), 200U + 300 + 1 + 2 * 300);
    std::uint64_t expected = 0;
    for (const auto& [task, life] : lives) {
      EXPECT_EQ(task, ++expected);
      expect_whole_life(life);
    }
  }
}

TEST_P(TraceOf, threads_outside_are_recorded_apart_from_workers) {
  constexpr int kThreads = 3;
  constexpr int kEach = 100;
  Runtime runtime = builder(GetParam()).trace(kPlenty).build();
  std::vector<std::vector<JoinHandle<void>>> handles(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : handles) {
    threads.emplace_back([&runtime, &mine] {
      for (int i = 0; i < kEach; ++i) mine.push_back(runtime.spawn(yield_times(1)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& mine : handles) runtime.block_on(join_all(mine));
  runtime.shutdown();
  const Trace trace = runtime.trace();
  EXPECT_EQ(count(trace.outside, TraceEventKind::spawn), kThreads * kEach);
  EXPECT_EQ(count(trace.outside, TraceEventKind::poll_start), 0U);
  for (const TraceRow& row : trace.workers) EXPECT_EQ(count(row, TraceEventKind::spawn), 0U);
  for (const auto& [task, life] : lives_of(trace)) expect_whole_life(life);
}

TEST_P(TraceOf, a_full_ring_keeps_the_newest_and_counts_the_others) {
  constexpr std::uint32_t kFew = 64;
  Runtime runtime = builder(GetParam()).trace(kFew).build();
  run_as_task(runtime, [] { return busy(500); });
  runtime.shutdown();
  std::uint64_t polls_lost = 0;
  const Trace trace = runtime.trace();
  for (const TraceRow& row : trace.workers) {
    EXPECT_LE(row.events.size(), kFew);
    if (row.lost > 0) {
      EXPECT_EQ(row.events.size(), kFew);
    }
    polls_lost += row.lost;
    // The recorded events are in order; only the first poll may lack its beginning.
    bool is_first = true;
    bool is_polling = false;
    for (const TraceEvent& event : row.events) {
      if (event.kind == TraceEventKind::poll_start) {
        EXPECT_FALSE(is_polling);
        is_polling = true;
        is_first = false;
      } else if (event.kind == TraceEventKind::poll_end) {
        EXPECT_TRUE(is_polling || is_first);
        EXPECT_EQ(event.task == 0, !is_polling);
        is_polling = false;
        is_first = false;
      }
    }
    EXPECT_FALSE(is_polling);
  }
  EXPECT_GT(polls_lost, 0U);
}

TEST_P(TraceOf, discarded_events_are_left_out) {
  Runtime runtime = builder(GetParam()).trace(kPlenty).build();
  runtime.block_on(from_outside_and_inside(runtime));
  runtime.discard_trace();
  run_as_task(runtime, nothing);
  runtime.shutdown();
  const Trace trace = runtime.trace();
  std::uint64_t spawns = count(trace.outside, TraceEventKind::spawn);
  for (const TraceRow& row : trace.workers) spawns += count(row, TraceEventKind::spawn);
  EXPECT_EQ(spawns, 1U);
}

TEST_P(TraceOf, events_are_times_of_the_steady_clock) {
  const auto before = std::chrono::steady_clock::now();
  Runtime runtime = builder(GetParam()).trace(kPlenty).build();
  runtime.block_on(from_outside_and_inside(runtime));
  runtime.shutdown();
  const auto after = std::chrono::steady_clock::now();
  constexpr std::int64_t kTolerance_ns = 20'000;  // as in recording_test.cpp
  for (const TraceRow& row : runtime.trace().workers) {
    for (const TraceEvent& event : row.events) {
      EXPECT_GE(event.at_ns + kTolerance_ns, before.time_since_epoch().count());
      EXPECT_LE(event.at_ns - kTolerance_ns, after.time_since_epoch().count());
    }
  }
}

TEST_P(TraceOf, is_refused_while_workers_may_write) {
  Runtime runtime = builder(GetParam()).trace(16).build();
  EXPECT_THROW(static_cast<void>(runtime.trace()), std::logic_error);
  runtime.block_on([&]() -> Task<> {
    EXPECT_THROW(static_cast<void>(runtime.trace()), std::logic_error);
    co_return;
  }());
  runtime.shutdown();
  EXPECT_NO_THROW(static_cast<void>(runtime.trace()));
}

TEST_P(TraceOf, is_refused_where_nothing_was_traced) {
  Runtime runtime = build_runtime();
  runtime.discard_trace();
  runtime.shutdown();
  EXPECT_THROW(static_cast<void>(runtime.trace()), std::logic_error);
}

TEST_P(TraceOf, more_events_than_the_limit_are_refused) {
  EXPECT_THROW(static_cast<void>(builder(GetParam()).trace(kMaxTraceEvents + 1).build()),
               std::invalid_argument);
}

TASKBENCH_ON_EVERY_SCHEDULER(TraceOf);

TEST(TraceOfASection, ends_a_poll_and_begins_another_of_the_same_task) {
  Runtime runtime = builder(kOneWorker).trace(kPlenty).build();
  run_as_task(runtime, []() -> Task<> {
    block_in_place([] {});
    co_return;
  });
  runtime.shutdown();
  const Trace trace = runtime.trace();
  expect_row_in_order(trace.workers.front());
  EXPECT_EQ(lives_of(trace).size(), 1U);
}

// Both workers have polled a task before.
TEST(TraceOfASection, in_a_stolen_fork_is_part_of_no_poll) {
  Runtime runtime = builder(kTwoWorkers).trace(kPlenty).build();
  run_as_task(runtime, []() -> Task<> {
    std::atomic<bool> polled{false};
    std::atomic<bool> stolen{false};
    JoinHandle<void> other = spawn([&polled]() -> Task<> {
      polled = true;
      co_return;
    });
    JoinHandle<void> next = spawn(nothing());  // displaces `other` from the LIFO slot
    EXPECT_TRUE(block_worker_until(polled));
    const auto waits = [&stolen]() -> Fork<bool> { co_return block_worker_until(stolen); };
    const auto blocks = [&stolen]() -> Fork<> {
      block_in_place([&stolen] { stolen = true; });
      co_return;
    };
    const auto [in_time, nobody] = co_await fork_join(waits(), blocks());
    EXPECT_TRUE(in_time);
    co_await other;
    co_await next;
  });
  runtime.shutdown();
  const Trace trace = runtime.trace();
  for (const TraceRow& row : trace.workers) expect_row_in_order(row);
}

class TraceOfPool : public OnEveryPool {};

TEST_P(TraceOfPool, a_worker_that_is_woken_unparks_and_searches) {
  Runtime runtime = builder(GetParam()).trace(kPlenty).build();
  const auto all_parked = [&] { return runtime.stats().total().parks >= GetParam().workers; };
  if (!kCounted) GTEST_SKIP() << "whether workers sleep is told by the counters";
  ASSERT_TRUE(eventually(all_parked));
  run_as_task(runtime, nothing);
  runtime.shutdown();
  const Trace trace = runtime.trace();
  EXPECT_GE(count(trace.outside, TraceEventKind::notify), 1U);
  std::size_t unparks = 0;
  for (const TraceRow& row : trace.workers) {
    EXPECT_GE(count(row, TraceEventKind::park), 1U);
    unparks += count(row, TraceEventKind::unpark);
    for (std::size_t i = 0; i + 1 < row.events.size(); ++i) {
      if (row.events[i].kind != TraceEventKind::unpark) continue;
      EXPECT_EQ(row.events[i + 1].kind, TraceEventKind::search_start);
    }
  }
  EXPECT_GE(unparks, 1U);
}

TASKBENCH_ON_POOLS(TraceOfPool);

}  // namespace
}  // namespace taskbench::rt
