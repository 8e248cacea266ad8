// A work_stealing worker whose thread blocks is handed on with everything it has queued, and the
// returning thread leaves nothing behind in it. Sections depend on each other or on queued tasks,
// so a watcher that is not called, or a task left behind, is a deadlock.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include "runtime/park/parker.hpp"
#include "runtime/runtime.hpp"
#include "runtime/task/yield.hpp"
#include "tests/model/calls.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// Every interleaving with at most `preemptions` preemptions, plus as many as
/// TASKBENCH_DEEPER_MODELS says. Waits may time out, or nobody would notice that a section lasts.
mc::Options sections(int preemptions) {
  const char* deeper = std::getenv("TASKBENCH_DEEPER_MODELS");
  const int more = deeper != nullptr ? std::atoi(deeper) : 0;
  return {.preemptions = preemptions + more, .weak_failures = 0, .stale = 0, .timeouts = true};
}

/// Stand-by threads have no timeout, so one that is not called is a deadlock.
Runtime::Builder work_stealing(unsigned workers, unsigned blocking_threads) {
  return Runtime::Builder{}
      .scheduler("work_stealing")
      .workers(workers)
      .max_blocking_threads(blocking_threads)
      .blocking_idle_timeout(std::chrono::nanoseconds::max());
}

Task<int> returns(int value) { co_return value; }

Task<int> awaits(JoinHandle<int>& handle) { co_return co_await handle; }

Task<int> awaits_both(JoinHandle<int>& one, JoinHandle<int>& two) {
  co_return co_await one + co_await two;
}

Task<int> blocks_until_another_has_run() {
  Calls one(1);
  JoinHandle<int> other = spawn(makes_a_call(one));
  block_in_place([&] { one.await(); });
  co_return co_await other;
}

// When the task blocks, one of those it has spawned is in the queue, the other in the LIFO slot.
TEST(HandOverModel, what_was_queued_and_what_was_next_is_run_while_the_thread_blocks) {
  holds(
      [] {
        Runtime runtime = work_stealing(1, 1).build();
        const int sum = runtime.block_on([]() -> Task<int> {
          co_return co_await spawn([]() -> Task<int> {
            Calls both(2);
            JoinHandle<int> one = spawn(makes_a_call(both));
            JoinHandle<int> two = spawn(makes_a_call(both));
            block_in_place([&] { both.await(); });
            co_return co_await one + co_await two;
          }());
        }());
        mc::require(sum == 2, "both have run");
        mc::require(runtime.stats().total().hand_offs == 1, "once");
      },
      sections(2));
}

// The returning thread has a worker that no other thread knows, and the yield puts the task into
// its queue.
TEST(HandOverModel, a_task_that_comes_back_spawns_and_yields) {
  holds(
      [] {
        Runtime runtime = work_stealing(1, 1).global_queue_interval(1).build();
        const int sum = runtime.block_on([]() -> Task<int> {
          co_return co_await spawn([]() -> Task<int> {
            Calls one(1);
            JoinHandle<int> first = spawn(makes_a_call(one));
            block_in_place([&] { one.await(); });
            JoinHandle<int> second = spawn(returns(1));
            co_await yield_now();
            co_return co_await first + co_await second;
          }());
        }());
        mc::require(sum == 2, "both have run");
      },
      sections(2));
}

// The section may end at any point of the watcher's two looks; the task continues either way.
TEST(HandOverModel, a_section_ends_while_the_watcher_decides) {
  holds(
      [] {
        Calls one(1);
        Runtime runtime = work_stealing(1, 1).build();
        JoinHandle<int> task = runtime.spawn([](Calls& own) -> Task<int> {
          JoinHandle<int> other = spawn(returns(1));
          block_in_place([&] { own.await(); });
          co_await yield_now();
          co_return co_await other;
        }(one));
        one.call();
        mc::require(runtime.block_on(awaits(task)) == 1, "it has ended");
        const auto hand_offs = runtime.stats().total().hand_offs;
        mc::sometimes("handed on", hand_offs == 1);
        mc::sometimes("not handed on", hand_offs == 0);
        mc::require(hand_offs <= 1, "once");
      },
      sections(2));
}

// A watcher that has seen nothing leaves, and a section that begins then calls another.
TEST(HandOverModel, of_two_sections_the_second_is_watched_though_the_first_was_short) {
  holds(
      [] {
        Runtime runtime = work_stealing(1, 1).build();
        const int sum = runtime.block_on([]() -> Task<int> {
          co_return co_await spawn([]() -> Task<int> {
            block_in_place([] {});
            Calls one(1);
            JoinHandle<int> other = spawn(makes_a_call(one));
            block_in_place([&] { one.await(); });
            co_return co_await other;
          }());
        }());
        mc::require(sum == 1, "it has run");
      },
      sections(2));
}

// Each hand-over but the first reuses a Worker that was handed on before, once its thread has left.
TEST(HandOverModel, a_worker_is_handed_on_again_to_one_that_was_handed_on_before) {
  holds(
      [] {
        Runtime runtime = work_stealing(1, 1).build();
        const int sum = runtime.block_on([]() -> Task<int> {
          int done = 0;
          for (int i = 0; i < 2; ++i) {
            done += co_await spawn(blocks_until_another_has_run());
          }
          co_return done;
        }());
        mc::require(sum == 2, "both have run");
        mc::require(runtime.stats().total().hand_offs == 2, "twice");
      },
      sections(1));
}

// The stand-by thread gives up waiting just as it is called.
TEST(HandOverModel, a_thread_that_tires_of_standing_by_misses_no_call) {
  holds(
      [] {
        Runtime runtime = work_stealing(1, 1).blocking_idle_timeout({}).build();
        const int sum = runtime.block_on([]() -> Task<int> {
          int done = 0;
          for (int i = 0; i < 2; ++i) {
            done += co_await spawn(blocks_until_another_has_run());
          }
          co_return done;
        }());
        mc::require(sum == 2, "both have run");
      },
      sections(1));
}

// The first section ends when the second has begun, and the second when a third task has run. Both
// workers are in sections, and only one more thread is allowed.
TEST(HandOverModel, of_two_workers_two_wait_in_sections_for_each_other_and_for_a_third_task) {
  holds(
      [] {
        Calls first(1);
        Calls second(1);
        Runtime runtime = work_stealing(2, 1).build();
        JoinHandle<int> one = runtime.spawn(blocks_until(first));
        JoinHandle<int> two = runtime.spawn(calls_and_blocks_until(first, second));
        runtime.spawn(makes_a_call(second)).detach();
        mc::require(runtime.block_on(awaits_both(one, two)) == 2, "both have ended");
      },
      sections(0));
}

/// Three sections, each of which ends when the next has begun, and the last when another task has
/// run: a thread that takes over a worker must make sure that the next one is taken over, too.
void three_sections_and_a_task(unsigned workers, unsigned blocking_threads) {
  Calls first(1);
  Calls second(1);
  Calls third(1);
  base::Atomic<unsigned> threads{0};
  Runtime runtime =
      work_stealing(workers, blocking_threads)
          .on_thread_start([&](unsigned index) {
            mc::require(index < workers + blocking_threads, "no more threads than are allowed");
            // relaxed: only counted
            const unsigned before = threads.fetch_or(1U << index, base::relaxed);
            mc::require((before & 1U << index) == 0, "each has its own number");
          })
          .build();
  JoinHandle<int> one = runtime.spawn(blocks_until(first));
  JoinHandle<int> two = runtime.spawn(calls_and_blocks_until(first, second));
  JoinHandle<int> three = runtime.spawn(calls_and_blocks_until(second, third));
  runtime.spawn(makes_a_call(third)).detach();
  const int sum =
      runtime.block_on([](JoinHandle<int>& a, JoinHandle<int>& b, JoinHandle<int>& c) -> Task<int> {
        co_return co_await a + co_await b + co_await c;
      }(one, two, three));
  mc::require(sum == 3, "all have ended");
}

TEST(HandOverModel, three_sections_wait_for_each_other_and_two_threads_are_to_be_had) {
  holds([] { three_sections_and_a_task(1, 2); }, sections(0));
}

TEST(HandOverModel, of_two_workers_three_wait_in_sections_for_each_other) {
  holds([] { three_sections_and_a_task(2, 1); }, sections(0));
}

TEST(HandOverModel, three_sections_wait_for_each_other_though_the_system_gives_one_thread) {
  mc::Options options = sections(1);
  options.threads = 3;
  holds([] { three_sections_and_a_task(1, 3); }, options);
}

// Both workers are in sections, and the thread that takes over one of them is held up as well:
// before that, it must make sure that somebody watches the other.
TEST(HandOverModel, who_takes_over_one_of_two_blocked_workers_leaves_the_other_to_a_watcher) {
  holds(
      [] {
        Calls ends[3]{Calls(1), Calls(1), Calls(1)};
        Runtime runtime = work_stealing(2, 2).build();
        JoinHandle<int> one = runtime.spawn(blocks_until(ends[0]));
        JoinHandle<int> two = runtime.spawn(blocks_until(ends[1]));
        runtime
            .spawn([](Calls& own) -> Task<int> {
              own.await();
              co_return 0;
            }(ends[2]))
            .detach();
        runtime
            .spawn([](Calls* all) -> Task<int> {
              for (int i = 0; i < 3; ++i) all[i].call();
              co_return 0;
            }(ends))
            .detach();
        mc::require(runtime.block_on(awaits_both(one, two)) == 2, "both have ended");
      },
      sections(0));
}

// No thread is left to take over: the other worker must be woken for the task in the LIFO slot.
TEST(HandOverModel, what_was_next_is_run_by_another_worker_if_the_system_gives_no_thread) {
  mc::Options options = sections(1);
  options.threads = 3;
  holds(
      [] {
        Runtime runtime = work_stealing(2, 1).build();
        const int sum = runtime.block_on([]() -> Task<int> {
          co_return co_await spawn([]() -> Task<int> {
            Calls one(1);
            JoinHandle<int> other = spawn(makes_a_call(one));
            block_in_place([&] { one.await(); });
            co_return co_await other;
          }());
        }());
        mc::require(sum == 1, "it has run");
      },
      options);
}

// Another worker looks for work while the tasks move from one Worker to the next, whose thread is
// held up by the first of them.
TEST(HandOverModel, what_is_moved_is_seen_by_a_worker_that_falls_asleep_meanwhile) {
  holds(
      [] {
        Runtime runtime = work_stealing(2, 1).build();
        const int sum = runtime.block_on([]() -> Task<int> {
          co_return co_await spawn([]() -> Task<int> {
            Calls ends[2]{Calls(1), Calls(1)};
            JoinHandle<int> first = spawn([](Calls& own) -> Task<int> {
              own.await();
              co_return 1;
            }(ends[0]));
            JoinHandle<int> second = spawn([](Calls* all) -> Task<int> {
              all[0].call();
              all[1].call();
              co_return 1;
            }(ends));
            block_in_place([&] { ends[1].await(); });
            co_return co_await first + co_await second;
          }());
        }());
        mc::require(sum == 2, "both have run");
      },
      sections(1));
}

// The returning thread has retired its Worker when another section reuses it.
TEST(HandOverModel, a_worker_is_handed_on_to_the_one_that_a_thread_is_just_leaving) {
  holds(
      [] {
        Calls first(1);
        Calls second(1);
        Runtime runtime = work_stealing(1, 2).global_queue_interval(1).build();
        JoinHandle<int> one = runtime.spawn([](Calls& own) -> Task<int> {
          block_in_place([&] { own.await(); });
          co_await yield_now();
          co_return 1;
        }(first));
        JoinHandle<int> two = runtime.spawn(calls_and_blocks_until(first, second));
        runtime.spawn(makes_a_call(second)).detach();
        mc::require(runtime.block_on(awaits_both(one, two)) == 2, "both have ended");
      },
      sections(1));
}

/// Counts its destruction once, however often it is moved.
class Once {
 public:
  explicit Once(base::Atomic<int>& count) : count_(&count) {}
  Once(Once&& other) noexcept : count_(std::exchange(other.count_, nullptr)) {}
  ~Once() {
    if (count_ != nullptr) count_->fetch_add(1, base::relaxed);  // relaxed: only counted
  }

 private:
  base::Atomic<int>* count_;
};

// The runtime ends during the section, while the worker is taken over, or afterwards.
TEST(HandOverModel, what_a_blocked_worker_has_queued_is_destroyed_once_by_the_shutdown) {
  holds(
      [] {
        base::Atomic<int> destroyed{0};
        {
          Calls begun(1);
          Calls end(1);
          base::Thread ends;
          Runtime runtime = work_stealing(1, 1).global_queue_interval(1).build();
          runtime
              .spawn([](Calls& on, Calls& own, base::Atomic<int>& count, Once) -> Task<int> {
                for (int i = 0; i < 2; ++i) {
                  spawn([](Once) -> Task<int> { co_return 1; }(Once(count))).detach();
                }
                block_in_place([&] {
                  on.call();
                  own.await();
                });
                spawn([](Once) -> Task<int> { co_return 1; }(Once(count))).detach();
                co_await yield_now();
                co_return 1;
              }(begun, end, destroyed, Once(destroyed)))
              .detach();
          begun.await();
          ends = base::Thread([&] { end.call(); });
          runtime.shutdown();
          ends.join();
        }
        mc::require(destroyed.load(base::relaxed) == 4, "each once");
      },
      sections(2));
}

}  // namespace
}  // namespace taskbench::rt::model
