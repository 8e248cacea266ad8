// The monitor of `go` hands on the processor of a machine that blocks, and the returning machine
// gets one again: every order of machines, processors and the monitor.
#include <gtest/gtest.h>

#include <utility>

#include "runtime/park/parker.hpp"
#include "runtime/runtime.hpp"
#include "runtime/task/yield.hpp"
#include "tests/model/calls.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// Waits may time out, or the monitor would never look; twice, as it looks repeatedly.
mc::Options retaken(int preemptions) {
  return {.preemptions = preemptions, .weak_failures = 0, .stale = 0, .timeouts = true, .early = 2};
}

Runtime go(unsigned processors) {
  return Runtime::Builder{}.scheduler("go").workers(processors).build();
}

// When the task blocks, one of those it has spawned is in the queue, the other next in line.
TEST(GoHandOverModel, what_was_queued_and_what_was_next_is_run_while_the_machine_blocks) {
  holds(
      [] {
        Runtime runtime = go(1);
        const int sum = runtime.block_on([]() -> Task<int> {
          co_return co_await spawn([]() -> Task<int> {
            Calls both(2);
            JoinHandle<int> one = spawn(makes_a_call(both));
            JoinHandle<int> two = spawn(makes_a_call(both));
            block_in_place([&] { both.await(); });
            co_await yield_now();
            co_return co_await one + co_await two;
          }());
        }());
        mc::require(sum == 2, "both have run");
        mc::require(runtime.stats().total().hand_offs == 1, "once");
      },
      retaken(1));
}

/// A section that may end at any point between the monitor's looks, while a task is queued.
void a_section_that_ends_meanwhile() {
  Calls one(1);
  Runtime runtime = go(1);
  JoinHandle<int> task = runtime.spawn([](Calls& own) -> Task<int> {
    JoinHandle<int> other = spawn([]() -> Task<int> { co_return 1; }());
    block_in_place([&] { own.await(); });
    co_return co_await other;
  }(one));
  one.call();
  const int got = runtime.block_on(
      [](JoinHandle<int>& handle) -> Task<int> { co_return co_await handle; }(task));
  mc::require(got == 1, "it has ended");
}

TEST(GoHandOverModel, a_section_ends_while_the_monitor_decides) {
  holds(a_section_that_ends_meanwhile, retaken(1));
}

// The machine continues after the monitor has seen it block for long enough: only one of the two
// gets the processor, for as long as the task keeps running.
TEST(GoHandOverModel, a_section_ends_between_the_monitor_s_look_and_its_taking) {
  holds(
      [] {
        Calls begun(1);
        Calls end(1);
        Calls ended(1);
        Calls last(1);
        Runtime runtime = go(1);
        JoinHandle<int> task =
            runtime.spawn([](Calls& a, Calls& b, Calls& c, Calls& d) -> Task<int> {
              JoinHandle<int> other = spawn([]() -> Task<int> { co_return 1; }());
              block_in_place([&] {
                a.call();
                b.await();
              });
              c.call();
              d.await();
              co_return co_await other;
            }(begun, end, ended, last));
        begun.await();
        end.call();
        ended.await();
        last.call();
        const int got = runtime.block_on(
            [](JoinHandle<int>& handle) -> Task<int> { co_return co_await handle; }(task));
        mc::require(got == 1, "it has ended");
      },
      retaken(1));
}

/// The first section ends when the second has begun, and the second when a third task has run.
void two_sections_and_a_task(unsigned processors) {
  Calls first(1);
  Calls second(1);
  Runtime runtime = go(processors);
  JoinHandle<int> one = runtime.spawn(blocks_until(first));
  JoinHandle<int> two = runtime.spawn(calls_and_blocks_until(first, second));
  runtime.spawn(makes_a_call(second)).detach();
  const int sum = runtime.block_on([](JoinHandle<int>& a, JoinHandle<int>& b) -> Task<int> {
    co_return co_await a + co_await b;
  }(one, two));
  mc::require(sum == 2, "both have ended");
}

TEST(GoHandOverModel, two_machines_wait_in_sections_for_each_other_and_for_a_third_task) {
  holds([] { two_sections_and_a_task(1); }, retaken(1));
}

TEST(GoHandOverModel, of_two_processors_both_are_retaken_from_machines_that_wait_for_each_other) {
  holds([] { two_sections_and_a_task(2); }, retaken(0));
}

// The system gives no other thread: only the returning machine can continue.
TEST(GoHandOverModel, a_machine_comes_back_to_a_processor_for_which_there_is_no_thread) {
  mc::Options options = retaken(1);
  options.threads = 3;
  holds(a_section_that_ends_meanwhile, options);
}

// The machine comes back while a processor without a thread has been taken from the idle ones, for
// a task from outside, and is about to be put back.
TEST(GoHandOverModel, a_machine_comes_back_while_a_task_from_outside_finds_no_thread) {
  mc::Options options = retaken(1);
  options.threads = 3;
  holds(
      [] {
        Calls end(1);
        Runtime runtime = go(1);
        JoinHandle<int> blocked = runtime.spawn(blocks_until(end));
        while (runtime.stats().total().hand_offs == 0) base::yield_thread();
        end.call();
        JoinHandle<int> other = runtime.spawn([]() -> Task<int> { co_return 1; }());
        const int sum = runtime.block_on([](JoinHandle<int>& a, JoinHandle<int>& b) -> Task<int> {
          co_return co_await a + co_await b;
        }(other, blocked));
        mc::require(sum == 2, "both have run");
      },
      options);
}

// A machine woken for a task meets a returning one before it finds the task. It must then stop
// searching, or nobody would be woken any more.
TEST(GoHandOverModel, a_machine_that_searches_gives_its_processor_to_one_that_comes_back) {
  holds(
      [] {
        const auto returns_one = []() -> Task<int> { co_return 1; };
        Calls end(1);
        Runtime runtime = go(1);
        JoinHandle<int> blocked = runtime.spawn([](Calls& own) -> Task<int> {
          spawn([]() -> Task<int> { co_return 1; }()).detach();
          block_in_place([&] { own.await(); });
          co_return 1;
        }(end));
        while (runtime.stats().total().parks == 0) base::yield_thread();
        runtime.spawn(returns_one()).detach();
        end.call();
        const auto join = [&](JoinHandle<int> handle) {
          const int got = runtime.block_on(
              [](JoinHandle<int>& own) -> Task<int> { co_return co_await own; }(handle));
          mc::require(got == 1, "it has run");
        };
        join(std::move(blocked));
        join(runtime.spawn(returns_one()));
        join(runtime.spawn(returns_one()));
      },
      retaken(0));
}

// Both machines come back while a third holds the only processor.
TEST(GoHandOverModel, two_machines_come_back_to_one_processor) {
  holds(
      [] {
        Calls ends[2]{Calls(1), Calls(1)};
        Runtime runtime = go(1);
        JoinHandle<int> one = runtime.spawn(blocks_until(ends[0]));
        JoinHandle<int> two = runtime.spawn(blocks_until(ends[1]));
        runtime
            .spawn([](Calls* both) -> Task<int> {
              both[0].call();
              both[1].call();
              co_return 1;
            }(ends))
            .detach();
        const int sum = runtime.block_on([](JoinHandle<int>& a, JoinHandle<int>& b) -> Task<int> {
          co_return co_await a + co_await b;
        }(one, two));
        mc::require(sum == 2, "both have ended");
      },
      retaken(1));
}

/// Two processors, one of them retaken from a machine that blocks, with no thread to run it.
mc::Options without_a_third_machine(int preemptions) {
  mc::Options options = retaken(preemptions);
  options.threads = 4;
  return options;
}

// The other machine falls asleep while somebody looks for one to take that processor.
TEST(GoHandOverModel, a_machine_that_falls_asleep_is_given_the_processor_without_a_thread) {
  holds(
      [] {
        Calls begun(1);
        Calls end(1);
        Runtime runtime = go(2);
        JoinHandle<int> blocked = runtime.spawn(calls_and_blocks_until(begun, end));
        begun.await();
        JoinHandle<int> other = runtime.spawn([]() -> Task<int> { co_return 1; }());
        const int got = runtime.block_on(
            [](JoinHandle<int>& first, JoinHandle<int>& second, Calls& ends) -> Task<int> {
              const int done = co_await first;
              ends.call();
              co_return done + co_await second;
            }(other, blocked, end));
        mc::require(got == 2, "both have run");
      },
      without_a_third_machine(1));
}

// The machine comes back while somebody looks for one to take that processor, and the other machine
// is held up until the first has continued.
TEST(GoHandOverModel, a_machine_that_comes_back_is_given_the_processor_without_a_thread) {
  holds(
      [] {
        Calls begun(1);
        Calls end(1);
        Calls gone_on(1);
        Calls may_end(1);
        base::Thread ends([&] {  // started before the pool can take its place
          may_end.await();
          end.call();
        });
        Runtime runtime = go(2);
        JoinHandle<int> blocked =
            runtime.spawn([](Calls& on, Calls& own, Calls& last) -> Task<int> {
              block_in_place([&] {
                on.call();
                own.await();
              });
              last.call();
              co_return 1;
            }(begun, end, gone_on));
        begun.await();
        may_end.call();
        JoinHandle<int> other = runtime.spawn([](Calls& own) -> Task<int> {
          own.await();
          co_return 1;
        }(gone_on));
        const int sum = runtime.block_on([](JoinHandle<int>& a, JoinHandle<int>& b) -> Task<int> {
          co_return co_await a + co_await b;
        }(other, blocked));
        mc::require(sum == 2, "both have run");
        ends.join();
      },
      [] {
        mc::Options options = without_a_third_machine(0);
        options.threads = 5;
        return options;
      }());
}

TEST(GoHandOverModel, a_pool_ends_while_a_machine_blocks_whose_processor_was_retaken) {
  holds(
      [] {
        Calls begun(1);
        Calls end(1);
        Runtime runtime = go(1);
        runtime
            .spawn([](Calls& on, Calls& own) -> Task<int> {
              for (int i = 0; i < 2; ++i) spawn([]() -> Task<int> { co_return 1; }()).detach();
              block_in_place([&] {
                on.call();
                own.await();
              });
              co_await yield_now();
              co_return 1;
            }(begun, end))
            .detach();
        begun.await();
        base::Thread ends([&] { end.call(); });
        runtime.shutdown();
        ends.join();
      },
      retaken(1));
}

}  // namespace
}  // namespace taskbench::rt::model
