// Aborting: a task at every stage, itself, another, one that completes at that moment; each future
// is destroyed exactly once, and the handle hears of it.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "runtime/runtime.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace testing;

class Aborting : public OnEveryScheduler {};

Task<int> end_at_once(Resident) { co_return 1; }

/// True when awaiting the handle throws JoinError.
template <class T>
Task<bool> was_cancelled(JoinHandle<T> handle) {
  try {
    co_await std::move(handle);
  } catch (const JoinError&) {
    co_return true;
  }
  co_return false;
}

Task<bool> spawn_and_abort_at_once(Census* census) {
  JoinHandle<void> handle = spawn(wait_forever(Resident(*census)));
  handle.abort();
  co_return co_await was_cancelled(std::move(handle));
}

TEST_P(Aborting, before_the_first_poll) {
  Census census;
  Runtime runtime = build_runtime();
  EXPECT_TRUE(runtime.block_on(spawn_and_abort_at_once(&census)));
  // From a task, so that its own worker polls neither before the abort.
  EXPECT_TRUE(runtime.block_on([](Census* counted) -> Task<bool> {
    co_return co_await spawn(spawn_and_abort_at_once(counted));
  }(&census)));
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Aborting, while_it_waits) {
  Census census;
  Gate gate;
  Runtime runtime = build_runtime();
  EXPECT_TRUE(runtime.block_on([](Gate* closed, Census* counted) -> Task<bool> {
    JoinHandle<void> handle = spawn(wait_at(closed, Resident(*counted)));
    while (closed->waiting() == 0) co_await yield_now();
    handle.abort();
    handle.abort();
    const bool cancelled = co_await was_cancelled(std::move(handle));
    EXPECT_EQ(counted->living(), 0) << "destroyed when the handle hears of it";
    co_return cancelled;
  }(&gate, &census)));
}

TEST_P(Aborting, while_it_runs) {
  Census census;
  Runtime runtime = build_runtime();
  EXPECT_TRUE(runtime.block_on([](Census* counted) -> Task<bool> {
    JoinHandle<void> handle = spawn(yield_forever(Resident(*counted)));
    for (int i = 0; i < 20; ++i) co_await yield_now();
    handle.abort();
    co_return co_await was_cancelled(std::move(handle));
  }(&census)));
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Aborting, from_another_thread) {
  Census census;
  Runtime runtime = build_runtime();
  for (int round = 0; round < 100; ++round) {
    JoinHandle<void> handle = runtime.spawn(yield_forever(Resident(census)));
    std::thread other([abort = handle.abort_handle()] { abort.abort(); });
    EXPECT_TRUE(runtime.block_on(was_cancelled(std::move(handle))));
    other.join();
    EXPECT_EQ(census.living(), 0);
  }
}

TEST_P(Aborting, and_the_handle_dropped_at_once) {
  Census census;
  Gate gate;
  Runtime runtime = build_runtime();
  runtime.block_on([](Gate* closed, Census* counted) -> Task<> {
    {
      JoinHandle<void> handle = spawn(wait_at(closed, Resident(*counted)));
      while (closed->waiting() == 0) co_await yield_now();
      handle.abort();
    }
    while (counted->living() > 0) co_await yield_now();
  }(&gate, &census));
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Aborting, one_that_has_finished_changes_nothing) {
  Census census;
  Runtime runtime = build_runtime();
  EXPECT_EQ(runtime.block_on([](Census* counted) -> Task<int> {
    JoinHandle<int> handle = spawn(end_at_once(Resident(*counted)));
    while (!handle.is_finished()) co_await yield_now();
    handle.abort();
    co_return co_await std::move(handle);
  }(&census)),
            1);
}

TEST_P(Aborting, itself_takes_effect_at_the_next_suspension) {
  Census census;
  int reached = 0;
  Runtime runtime = build_runtime();
  EXPECT_TRUE(runtime.block_on([](Census* counted, int* mark) -> Task<bool> {
    Gate handed_over;
    std::optional<AbortHandle> own;
    JoinHandle<void> handle =
        spawn([](Gate* gate, std::optional<AbortHandle>* self, int* at, Resident) -> Task<> {
          co_await gate->passed();
          (*self)->abort();
          *at = 1;
          co_await yield_now();
          *at = 2;
        }(&handed_over, &own, mark, Resident(*counted)));
    own = handle.abort_handle();
    handed_over.open();
    co_return co_await was_cancelled(std::move(handle));
  }(&census, &reached)));
  EXPECT_EQ(reached, 1);
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Aborting, itself_and_ending_without_another_suspension_finishes) {
  Runtime runtime = build_runtime();
  EXPECT_EQ(runtime.block_on([]() -> Task<int> {
    Gate handed_over;
    std::optional<AbortHandle> own;
    JoinHandle<int> handle = spawn([](Gate* gate, std::optional<AbortHandle>* self) -> Task<int> {
      co_await gate->passed();
      (*self)->abort();
      co_return 3;
    }(&handed_over, &own));
    own = handle.abort_handle();
    handed_over.open();
    co_return co_await std::move(handle);
  }()),
            3);
}

TEST_P(Aborting, another_from_inside_a_task) {
  Census census;
  Runtime runtime = build_runtime();
  runtime.block_on([](Census* counted) -> Task<> {
    JoinHandle<void> victim = spawn(wait_forever(Resident(*counted)));
    co_await spawn([](AbortHandle target) -> Task<> {
      target.abort();
      co_return;
    }(victim.abort_handle()));
    const bool cancelled = co_await was_cancelled(std::move(victim));
    EXPECT_TRUE(cancelled);
  }(&census));
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Aborting, each_other) {
  Census census;
  Runtime runtime = build_runtime();
  for (int round = 0; round < 50; ++round) {
    runtime.block_on([](Census* counted) -> Task<> {
      Gate start;
      std::optional<AbortHandle> targets[2];
      const auto rival = [](Gate* gate, std::optional<AbortHandle>* target, Resident) -> Task<> {
        co_await gate->passed();
        (*target)->abort();
        co_await yield_now();
      };
      JoinHandle<void> first = spawn(rival(&start, &targets[1], Resident(*counted)));
      JoinHandle<void> second = spawn(rival(&start, &targets[0], Resident(*counted)));
      targets[0] = first.abort_handle();
      targets[1] = second.abort_handle();
      start.open();
      // Whoever comes first cancels the other, perhaps both do; neither is left behind.
      while (!first.is_finished() || !second.is_finished()) co_await yield_now();
    }(&census));
    EXPECT_EQ(census.living(), 0);
  }
}

TEST_P(Aborting, one_that_completes_at_that_moment_gives_either_outcome_and_never_both) {
  Census census;
  int finished = 0;
  int cancelled = 0;
  Runtime runtime = build_runtime();
  for (int round = 0; round < 400; ++round) {
    Gate gate;
    JoinHandle<void> handle = runtime.spawn(wait_at(&gate, Resident(census)));
    const AbortHandle abort = handle.abort_handle();
    std::thread opener([&gate] { gate.open(); });
    std::thread aborter([&abort] { abort.abort(); });
    const bool was = runtime.block_on(was_cancelled(std::move(handle)));
    ++(was ? cancelled : finished);
    opener.join();
    aborter.join();
    ASSERT_EQ(census.living(), 0);
  }
  EXPECT_EQ(finished + cancelled, 400);
}

TEST_P(Aborting, at_shutdown_by_several_threads_destroys_each_future_once) {
  for (int round = 0; round < 30; ++round) {
    Census census;
    Gate gate;
    std::vector<AbortHandle> handles;
    std::optional<Runtime> runtime = build_runtime();
    for (int i = 0; i < 50; ++i) {
      handles.push_back(runtime->spawn(wait_at(&gate, Resident(census))).abort_handle());
      handles.push_back(runtime->spawn(yield_forever(Resident(census))).abort_handle());
    }
    runtime->block_on(end_at_once(Resident(census)));
    std::thread aborter([&handles] {
      for (const AbortHandle& handle : handles) handle.abort();
    });
    std::thread waker([&gate] { gate.open(); });
    runtime.reset();
    aborter.join();
    waker.join();
    EXPECT_EQ(census.living(), 0);
    for (const AbortHandle& handle : handles) EXPECT_TRUE(handle.is_finished());
  }
}

TEST_P(Aborting, a_task_that_awaits_a_chain_destroys_the_whole_chain) {
  Census census;
  Gate gate;
  Runtime runtime = build_runtime();
  runtime.block_on([](Gate* closed, Census* counted) -> Task<> {
    JoinHandle<void> handle = spawn([](Gate* g, Resident outer) -> Task<> {
      co_await [](Gate* g2, Resident middle) -> Task<> { co_await wait_at(g2, middle); }(g, outer);
    }(closed, Resident(*counted)));
    while (closed->waiting() == 0) co_await yield_now();
    EXPECT_GE(counted->living(), 3);
    handle.abort();
    const bool cancelled = co_await was_cancelled(std::move(handle));
    EXPECT_TRUE(cancelled);
    EXPECT_EQ(counted->living(), 0);
  }(&gate, &census));
}

TEST_P(Aborting, a_thousand_tasks) {
  Census census;
  Runtime runtime = build_runtime();
  runtime.block_on([](Census* counted) -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 1000; ++i) handles.push_back(spawn(wait_forever(Resident(*counted))));
    for (int i = 0; i < 5; ++i) co_await yield_now();
    for (const JoinHandle<void>& handle : handles) handle.abort();
    for (JoinHandle<void>& handle : handles) {
      const bool cancelled = co_await was_cancelled(std::move(handle));
      EXPECT_TRUE(cancelled);
    }
  }(&census));
  EXPECT_EQ(census.living(), 0);
}

TEST(AbortHandles, copies_and_assignments_keep_the_books) {
  Census census;
  std::optional<AbortHandle> last;
  {
    Runtime runtime = build(kCurrentThread);
    JoinHandle<void> handle = runtime.spawn(wait_forever(Resident(census)));
    AbortHandle first = handle.abort_handle();
    AbortHandle second = first;
    AbortHandle third = std::move(second);
    first = third;
    third = first;
    AbortHandle& self = first;
    first = self;
    last = first;
    EXPECT_FALSE(last->is_finished());
  }
  EXPECT_TRUE(last->is_finished());
  EXPECT_EQ(census.living(), 0);
}

TASKBENCH_ON_EVERY_SCHEDULER(Aborting);

}  // namespace
}  // namespace taskbench::rt
