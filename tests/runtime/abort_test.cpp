// Aborting a task at every stage, by itself, by another task, and while it completes: each future
// is destroyed exactly once, and the handle reports the abort.

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

class Aborting : public OnOneRuntime {};

Task<int> end_at_once(Resident) { co_return 1; }

/// Returns whether awaiting the handle throws JoinError.
template <class T>
Task<bool> was_cancelled(JoinHandle<T> handle) {
  try {
    co_await std::move(handle);
  } catch (const JoinError&) {
    co_return true;
  }
  co_return false;
}

TEST_P(Aborting, before_the_first_poll) {
  const auto spawn_and_abort_at_once = [&]() -> Task<bool> {
    JoinHandle<void> handle = spawn(wait_forever(Resident(census_)));
    handle.abort();
    co_return co_await was_cancelled(std::move(handle));
  };
  EXPECT_TRUE(run(spawn_and_abort_at_once));
  // From a task: its worker polls neither of the two before the abort.
  EXPECT_TRUE(run_as_task(runtime_, spawn_and_abort_at_once));
}

TEST_P(Aborting, while_it_waits) {
  EXPECT_TRUE(run([&]() -> Task<bool> {
    JoinHandle<void> handle = spawn(wait_at(&gate_, Resident(census_)));
    while (gate_.waiting() == 0) co_await yield_now();
    handle.abort();
    handle.abort();
    const bool cancelled = co_await was_cancelled(std::move(handle));
    EXPECT_EQ(census_.living(), 0) << "destroyed when the handle hears of it";
    co_return cancelled;
  }));
}

TEST_P(Aborting, while_it_runs) {
  EXPECT_TRUE(run([&]() -> Task<bool> {
    JoinHandle<void> handle = spawn(yield_forever(Resident(census_)));
    co_await yield_times(20);
    handle.abort();
    co_return co_await was_cancelled(std::move(handle));
  }));
}

TEST_P(Aborting, from_another_thread) {
  for (int round = 0; round < tries(100); ++round) {
    JoinHandle<void> handle = runtime_.spawn(yield_forever(Resident(census_)));
    std::thread other([abort = handle.abort_handle()] { abort.abort(); });
    EXPECT_TRUE(runtime_.block_on(was_cancelled(std::move(handle))));
    other.join();
    EXPECT_EQ(census_.living(), 0);
  }
}

TEST_P(Aborting, and_the_handle_dropped_at_once) {
  run([&]() -> Task<> {
    {
      JoinHandle<void> handle = spawn(wait_at(&gate_, Resident(census_)));
      while (gate_.waiting() == 0) co_await yield_now();
      handle.abort();
    }
    while (census_.living() > 0) co_await yield_now();
  });
}

TEST_P(Aborting, one_that_has_finished_changes_nothing) {
  EXPECT_EQ(run([&]() -> Task<int> {
              JoinHandle<int> handle = spawn(end_at_once(Resident(census_)));
              while (!handle.is_finished()) co_await yield_now();
              handle.abort();
              co_return co_await std::move(handle);
            }),
            1);
}

TEST_P(Aborting, itself_takes_effect_at_the_next_suspension) {
  int reached = 0;
  std::optional<AbortHandle> own;
  const auto abort_itself = [&](Resident) -> Task<> {
    co_await gate_.passed();
    own->abort();
    reached = 1;
    co_await yield_now();
    reached = 2;
  };
  JoinHandle<void> handle = runtime_.spawn(abort_itself(Resident(census_)));
  own = handle.abort_handle();
  gate_.open();
  EXPECT_TRUE(runtime_.block_on(was_cancelled(std::move(handle))));
  EXPECT_EQ(reached, 1);
}

TEST_P(Aborting, itself_and_ending_without_another_suspension_finishes) {
  std::optional<AbortHandle> own;
  const auto abort_itself = [&]() -> Task<int> {
    co_await gate_.passed();
    own->abort();
    co_return 3;
  };
  JoinHandle<int> handle = runtime_.spawn(abort_itself());
  own = handle.abort_handle();
  gate_.open();
  EXPECT_EQ(run([&]() -> Task<int> { co_return co_await handle; }), 3);
}

TEST_P(Aborting, another_from_inside_a_task) {
  run([&]() -> Task<> {
    JoinHandle<void> victim = spawn(wait_forever(Resident(census_)));
    const auto abort = [&]() -> Task<> {
      victim.abort();
      co_return;
    };
    co_await spawn(abort());
    const bool cancelled = co_await was_cancelled(std::move(victim));
    EXPECT_TRUE(cancelled);
  });
}

TEST_P(Aborting, each_other) {
  for (int round = 0; round < 50; ++round) {
    Gate start;
    std::optional<AbortHandle> targets[2];
    const auto rival = [&](int target, Resident) -> Task<> {
      co_await start.passed();
      targets[target]->abort();
      co_await yield_now();
    };
    JoinHandle<void> first = runtime_.spawn(rival(1, Resident(census_)));
    JoinHandle<void> second = runtime_.spawn(rival(0, Resident(census_)));
    targets[0] = first.abort_handle();
    targets[1] = second.abort_handle();
    start.open();
    // Either task may cancel the other first, or both at once; neither is left behind.
    runtime_.block_on(until([&] { return first.is_finished() && second.is_finished(); }));
    EXPECT_EQ(census_.living(), 0);
  }
}

TEST_P(Aborting, one_that_completes_at_that_moment_gives_either_outcome_and_never_both) {
  int finished = 0;
  int cancelled = 0;
  for (int round = 0; round < tries(400); ++round) {
    Gate gate;
    JoinHandle<void> handle = runtime_.spawn(wait_at(&gate, Resident(census_)));
    const AbortHandle abort = handle.abort_handle();
    std::thread opener([&gate] { gate.open(); });
    std::thread aborter([&abort] { abort.abort(); });
    const bool was = runtime_.block_on(was_cancelled(std::move(handle)));
    ++(was ? cancelled : finished);
    opener.join();
    aborter.join();
    ASSERT_EQ(census_.living(), 0);
  }
  EXPECT_EQ(finished + cancelled, tries(400));
}

TEST_P(Aborting, at_shutdown_by_several_threads_destroys_each_future_once) {
  for (int round = 0; round < tries(30); ++round) {
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
  run([&]() -> Task<> {
    const auto middle = [&](Resident own) -> Task<> { co_await wait_at(&gate_, own); };
    const auto outer = [&](Resident own) -> Task<> { co_await middle(own); };
    JoinHandle<void> handle = spawn(outer(Resident(census_)));
    while (gate_.waiting() == 0) co_await yield_now();
    EXPECT_GE(census_.living(), 3);
    handle.abort();
    const bool cancelled = co_await was_cancelled(std::move(handle));
    EXPECT_TRUE(cancelled);
    EXPECT_EQ(census_.living(), 0);
  });
}

TEST_P(Aborting, a_thousand_tasks) {
  run([&]() -> Task<> {
    std::vector<JoinHandle<void>> handles;
    for (int i = 0; i < 1000; ++i) handles.push_back(spawn(wait_forever(Resident(census_))));
    co_await yield_times(5);
    for (const JoinHandle<void>& handle : handles) handle.abort();
    for (JoinHandle<void>& handle : handles) {
      const bool cancelled = co_await was_cancelled(std::move(handle));
      EXPECT_TRUE(cancelled);
    }
  });
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
    EXPECT_FALSE(second.is_finished()) << "a move is a copy";
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

TEST(AbortHandles, that_are_assigned_end_the_other_task) {
  Census census;
  Waiting one(wait_forever(Resident(census)));
  Waiting two(wait_forever(Resident(census)));
  AbortHandle handle = one.handle().abort_handle();
  handle = two.handle().abort_handle();
  handle.abort();
  EXPECT_FALSE(one.is_woken());
  EXPECT_TRUE(two.resumes());
}

TASKBENCH_ON_EVERY_SCHEDULER(Aborting);

}  // namespace
}  // namespace taskbench::rt
