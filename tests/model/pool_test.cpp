// Whole pools: tasks are spawned, woken and joined, and the runtime shuts down.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include "runtime/park/parker.hpp"
#include "runtime/runtime.hpp"
#include "runtime/sync/oneshot.hpp"
#include "runtime/task/poll_fn.hpp"
#include "runtime/task/yield.hpp"
#include "runtime/time/sleep.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// Every interleaving with at most `preemptions` preemptions, plus as many as
/// TASKBENCH_DEEPER_MODELS says.
mc::Options interleavings(int preemptions) {
  const char* deeper = std::getenv("TASKBENCH_DEEPER_MODELS");
  const int more = deeper != nullptr ? std::atoi(deeper) : 0;
  return {.preemptions = preemptions + more, .weak_failures = 0, .stale = 0};
}

/// Fewer preemptions, but stale values.
constexpr mc::Options kStale{.preemptions = 1, .weak_failures = 0, .stale = 1};

Runtime::Builder work_stealing(unsigned workers) {
  return Runtime::Builder{}.scheduler("work_stealing").workers(workers);
}

Task<int> number(int value) { co_return value; }

Task<int> one_task() {
  const int value = co_await spawn(number(1));
  co_return value;
}

Task<int> two_tasks() {
  JoinHandle<int> one = spawn(number(1));
  JoinHandle<int> two = spawn(number(2));
  co_return co_await one + co_await two;
}

void runs_two_tasks(unsigned workers) {
  Runtime runtime = work_stealing(workers).build();
  mc::require(runtime.block_on(two_tasks()) == 3, "both have run");
}

TEST(PoolModel, of_one_worker_runs_what_is_spawned) {
  holds([] { runs_two_tasks(1); }, interleavings(2));
}

TEST(PoolModel, of_two_workers_runs_what_is_spawned) {
  holds([] { runs_two_tasks(2); }, interleavings(2));
}

TEST(PoolModel, of_three_workers_runs_what_is_spawned) {
  holds([] { runs_two_tasks(3); }, interleavings(1));
}

TEST(PoolModel, of_one_worker_runs_what_is_spawned_though_values_are_stale) {
  holds([] { runs_two_tasks(1); }, kStale);
}

TEST(PoolModel, of_two_workers_runs_a_task_though_values_are_stale) {
  holds(
      [] {
        Runtime runtime = work_stealing(2).build();
        mc::require(runtime.block_on(one_task()) == 1, "it has run");
      },
      kStale);
}

TEST(PoolModel, a_task_spawns_another) {
  holds(
      [] {
        Runtime runtime = work_stealing(2).build();
        const int value = runtime.block_on([]() -> Task<int> {
          const int inner = co_await spawn(one_task());
          co_return inner;
        }());
        mc::require(value == 1, "both have run");
      },
      interleavings(1));
}

Fork<int> forked(int value) { co_return value; }

Task<int> two_forks() {
  const auto [one, two] = co_await fork_join(forked(1), forked(2));
  co_return one + two;
}

TEST(PoolModel, of_two_workers_runs_forks) {
  holds(
      [] {
        Runtime runtime = work_stealing(2).build();
        mc::require(runtime.block_on(two_forks()) == 3, "both have run");
      },
      interleavings(1));
}

TEST(PoolModel, what_a_blocked_worker_has_forked_is_stolen) {
  holds(
      [] {
        park::Parker parker;
        Runtime runtime = work_stealing(2).build();
        runtime.block_on([](park::Parker& place) -> Task<int> {
          const auto blocked = [](park::Parker& inner) -> Fork<int> {
            inner.park();
            co_return 0;
          };
          const auto helper = [](park::Parker& inner) -> Fork<int> {
            (void)inner.unpark();
            co_return 0;
          };
          co_await fork_join(blocked(place), helper(place));
          co_return 0;
        }(parker));
      },
      interleavings(2));
}

TEST(PoolModel, a_shutdown_against_forks) {
  holds(
      [] {
        std::optional<JoinHandle<int>> handle;
        {
          Runtime runtime = work_stealing(2).build();
          handle = runtime.spawn(two_forks());
        }
        bool is_cancelled = false;
        try {
          const int sum = std::move(*handle).operator co_await().await_resume();
          mc::require(sum == 3, "both have run");
        } catch (const JoinError&) {
          is_cancelled = true;
        }
        mc::sometimes("run", !is_cancelled);
        mc::sometimes("cancelled", is_cancelled);
      },
      interleavings(2));
}

Task<int> unblocks(park::Parker& parker) {
  (void)parker.unpark();
  co_return 0;
}

Task<int> blocks(park::Parker& parker) {
  parker.park();
  co_return 0;
}

TEST(PoolModel, what_a_blocked_worker_has_queued_is_stolen) {
  holds(
      [] {
        park::Parker parker;
        Runtime runtime = work_stealing(2).lifo_slot(false).build();
        runtime.block_on([](park::Parker& place) -> Task<int> {
          const int done = co_await spawn([](park::Parker& inner) -> Task<int> {
            JoinHandle<int> other = spawn(unblocks(inner));
            inner.park();
            co_return co_await other;
          }(place));
          co_return done;
        }(parker));
      },
      interleavings(1));
}

TEST(PoolModel, what_a_blocked_worker_took_from_the_injector_is_stolen) {
  holds(
      [] {
        park::Parker parker;
        Runtime runtime = work_stealing(2).global_queue_interval(1).build();
        JoinHandle<int> first = runtime.spawn(blocks(parker));
        runtime.spawn(unblocks(parker)).detach();
        runtime.block_on([](JoinHandle<int>& handle) -> Task<int> {
          const int done = co_await handle;
          co_return done;
        }(first));
      },
      interleavings(2));
}

Task<int> blocks_in_place(park::Parker& parker) {
  block_in_place([&] { parker.park(); });
  co_return co_await spawn(number(1));
}

TEST(PoolModel, a_worker_is_handed_on_whose_thread_blocks) {
  holds(
      [] {
        park::Parker parker;
        Runtime runtime = work_stealing(1).build();
        JoinHandle<int> first = runtime.spawn(blocks_in_place(parker));
        runtime.spawn(unblocks(parker)).detach();
        runtime.block_on([](JoinHandle<int>& handle) -> Task<int> {
          const int done = co_await handle;
          co_return done;
        }(first));
        mc::sometimes("handed on", runtime.stats().total().hand_offs != 0);
      },
      {.preemptions = 1, .weak_failures = 0, .stale = 0, .timeouts = true});
}

/// Two sections in a runtime whose limits allow no third thread. The first ends when the second has
/// begun, and the second when a third task has run.
void second_section_is_handed_on(Runtime::Builder builder) {
  park::Parker first_may_end;
  park::Parker second_may_end;
  Runtime runtime = builder.build();
  JoinHandle<int> first = runtime.spawn(blocks_in_place(first_may_end));
  JoinHandle<int> second = runtime.spawn([](park::Parker& other, park::Parker& own) -> Task<int> {
    block_in_place([&] {
      other.unpark();
      own.park();
    });
    co_return 0;
  }(first_may_end, second_may_end));
  runtime.spawn(unblocks(second_may_end)).detach();
  runtime.block_on([](JoinHandle<int>& one, JoinHandle<int>& two) -> Task<int> {
    const int done = co_await one;
    co_return done + co_await two;
  }(first, second));
}

TEST(PoolModel, a_worker_is_handed_on_to_a_thread_that_was_blocked_when_the_section_began) {
  holds([] { second_section_is_handed_on(work_stealing(1).max_blocking_threads(1)); },
        {.preemptions = 1, .weak_failures = 0, .stale = 0, .timeouts = true});
}

TEST(PoolModel, a_worker_is_handed_on_though_the_system_gave_no_thread_when_the_section_began) {
  holds([] { second_section_is_handed_on(work_stealing(1)); },
        {.preemptions = 1, .weak_failures = 0, .stale = 0, .timeouts = true, .threads = 3});
}

Task<int> receives(sync::oneshot::Receiver<int> receiver) {
  const std::optional<int> value = co_await std::move(receiver);
  co_return value.value_or(0);
}

TEST(PoolModel, a_task_is_woken_from_outside) {
  holds(
      [] {
        Runtime runtime = work_stealing(1).build();
        const int got = runtime.block_on([]() -> Task<int> {
          auto ends = sync::oneshot::channel<int>();
          JoinHandle<int> handle = spawn(receives(std::move(ends.second)));
          mc::require(ends.first.send(7), "somebody receives");
          const int value = co_await handle;
          co_return value;
        }());
        mc::require(got == 7, "the value");
      },
      interleavings(2));
}

Task<int> receives_and_unblocks(sync::oneshot::Receiver<int> receiver, park::Parker& parker) {
  const std::optional<int> value = co_await std::move(receiver);
  (void)parker.unpark();
  co_return value.value_or(0);
}

// A worker blocks until a task that has waited on it continues on another. Then another task waits
// for the first time on the one worker while the first task ends on the other: both change one
// list.
TEST(PoolModel, a_task_that_has_waited_on_one_worker_ends_on_another) {
  holds(
      [] {
        park::Parker parker;
        Runtime runtime = work_stealing(2).lifo_slot(false).build();
        const int sum = runtime.block_on([](park::Parker& place) -> Task<int> {
          co_return co_await spawn([](park::Parker& inner) -> Task<int> {
            auto first = sync::oneshot::channel<int>();
            auto second = sync::oneshot::channel<int>();
            JoinHandle<int> moves = spawn(receives_and_unblocks(std::move(first.second), inner));
            co_await yield_now();
            (void)first.first.send(1);
            inner.park();
            JoinHandle<int> stays = spawn(receives(std::move(second.second)));
            co_await yield_now();
            (void)second.first.send(2);
            co_return co_await moves + co_await stays;
          }(place));
        }(parker));
        mc::require(sum == 3, "both have ended");
        mc::sometimes("stolen", runtime.stats().total().steal_operations != 0);
      },
      interleavings(1));
}

Task<int> sleeps(park::Parker& begins) {
  (void)begins.unpark();
  co_await time::sleep(std::chrono::milliseconds(1));
  co_return 1;
}

// The worker sleeps inside the driver. It wakes up for the timer and is about to count itself as
// awake, when another thread does so for another task. The token from that thread must not end the
// worker's next sleep.
TEST(PoolModel, a_worker_whose_timer_is_due_is_woken_for_another_task) {
  holds(
      [] {
        park::Parker sleep_begins;
        Runtime runtime = work_stealing(1).build();
        JoinHandle<int> sleeper = runtime.spawn(sleeps(sleep_begins));
        sleep_begins.park();
        runtime.spawn(number(1)).detach();
        const int sum = runtime.block_on([](JoinHandle<int>& handle) -> Task<int> {
          const int slept = co_await handle;
          co_return slept + co_await spawn(number(1));
        }(sleeper));
        mc::require(sum == 2, "both have run");
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 0, .timeouts = true});
}

TEST(PoolModel, a_handle_that_was_polled_is_dropped) {
  holds(
      [] {
        Runtime runtime = work_stealing(1).build();
        runtime.block_on([]() -> Task<int> {
          JoinHandle<int> waiter = spawn([](JoinHandle<int> handle) -> Task<int> {
            const int value = co_await handle;
            co_return value;
          }(spawn(number(1))));
          waiter.abort();
          co_return 0;
        }());
      },
      interleavings(2));
}

Task<int> yields_twice() {
  co_await yield_now();
  co_await yield_now();
  co_return 0;
}

TEST(PoolModel, a_task_is_joined_beside_others_that_yield) {
  holds(
      [] {
        Runtime runtime = work_stealing(1).build();
        runtime.spawn(yields_twice()).detach();
        mc::require(runtime.block_on(one_task()) == 1, "it has run");
      },
      interleavings(1));
}

/// Leaves a waker in its first poll, and finishes in its second.
Task<int> waits_once(std::optional<Waker>& waker, park::Parker& left) {
  const int polls = co_await poll_fn([&](PollContext& context) -> std::optional<int> {
    if (waker) return 2;
    waker = context.waker();
    (void)left.unpark();
    return {};
  });
  co_return polls;
}

bool is_cancelled(JoinHandle<int> handle) {
  try {
    (void)std::move(handle).operator co_await().await_resume();
    return false;
  } catch (const JoinError&) {
    return true;
  }
}

TEST(PoolModel, a_task_that_was_just_spawned_is_run_or_cancelled_by_the_shutdown) {
  holds(
      [] {
        std::optional<JoinHandle<int>> handle;
        {
          Runtime runtime = work_stealing(1).build();
          // Only the close hands over what the other thread has spawned.
          base::Thread([&] { handle = runtime.spawn(number(1)); }).join();
        }
        const bool cancelled = is_cancelled(std::move(*handle));
        mc::sometimes("cancelled", cancelled);
        mc::sometimes("run", !cancelled);
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 3});
}

TEST(PoolModel, a_wake_against_the_shutdown) {
  holds(
      [] {
        std::optional<Waker> waker;
        park::Parker left;
        base::Thread other;
        std::optional<JoinHandle<int>> handle;
        {
          Runtime runtime = work_stealing(1).build();
          handle = runtime.spawn(waits_once(waker, left));
          left.park();
          other = base::Thread([waker = std::move(*waker)]() mutable { std::move(waker).wake(); });
        }
        other.join();
        const bool cancelled = is_cancelled(std::move(*handle));
        mc::sometimes("cancelled", cancelled);
        mc::sometimes("woken in time", !cancelled);
      },
      interleavings(2));
}

TEST(PoolModel, a_spawn_from_another_thread_against_the_shutdown) {
  holds(
      [] {
        base::Thread other;
        {
          Runtime runtime = work_stealing(1).build();
          other = base::Thread([handle = runtime.handle()] { handle.spawn(number(1)).detach(); });
        }
        other.join();
      },
      {.preemptions = 1, .weak_failures = 0, .stale = 3});
}

/// Spawns from its destructor, though the runtime may be shutting down.
struct Spawns {
  Spawns() = default;
  Spawns(Spawns&& other) noexcept : spawns(std::exchange(other.spawns, false)) {}
  ~Spawns() {
    if (spawns) spawn(number(1)).detach();
  }
  bool spawns = true;
};

Task<int> waits_forever(Spawns, park::Parker& left) {
  (void)left.unpark();
  const int never = co_await poll_fn([](PollContext&) -> std::optional<int> { return {}; });
  co_return never;
}

TEST(PoolModel, tasks_that_spawn_while_they_are_destroyed_by_the_shutdown) {
  holds(
      [] {
        park::Parker left;
        Runtime runtime = work_stealing(1).build();
        runtime.spawn(waits_forever({}, left)).detach();
        runtime.spawn(waits_forever({}, left)).detach();
        left.park();
      },
      interleavings(2));
}

}  // namespace
}  // namespace taskbench::rt::model
