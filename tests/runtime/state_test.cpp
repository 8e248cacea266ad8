// Every transition of a task's state word, from every state in which it can be requested.
#include "runtime/task/state.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace taskbench::rt::task {
namespace {

using Wake = State::Wake;
using Suspend = State::Suspend;
using Start = State::Start;

/// A task that was just spawned: queued, with its JoinHandle.
struct Spawned : State {
  Spawned() { init_spawned(); }
};
/// A task that waits for a wake; `references` wakers exist.
struct Idle : Spawned {
  explicit Idle(std::uint32_t references = 0) {
    EXPECT_EQ(start_poll(), Start::poll);
    EXPECT_EQ(suspend(references), Suspend::idle);
  }
};
/// A completed task, with its JoinHandle and `references` wakers.
struct Complete : Spawned {
  explicit Complete(std::uint32_t references = 0) {
    const Completed completed = complete(references);
    EXPECT_FALSE(completed.owns_output);
    EXPECT_FALSE(release_active());
  }
};

TEST(State, a_spawned_task_is_polled) {
  Spawned state;
  EXPECT_EQ(state.start_poll(), Start::poll);
  EXPECT_FALSE(state.is_complete());
  EXPECT_FALSE(state.ending().has_sole_owner());
  EXPECT_FALSE(state.has_join_waker());
}

TEST(State, a_wake_of_an_idle_task_gives_the_poll_right_once) {
  Idle state;
  EXPECT_EQ(state.wake_by_ref(), Wake::schedule);
  EXPECT_EQ(state.wake_by_ref(), Wake::nothing);
  EXPECT_EQ(state.start_poll(), Start::poll);
  EXPECT_EQ(state.suspend(0), Suspend::idle);
  EXPECT_EQ(state.wake_by_ref(), Wake::schedule);
}

TEST(State, a_wake_before_the_poll_is_answered_by_that_poll) {
  Spawned state;
  EXPECT_EQ(state.wake_by_ref(), Wake::nothing);
  EXPECT_EQ(state.start_poll(), Start::poll);
  EXPECT_EQ(state.suspend(0), Suspend::idle);
}

TEST(State, a_wake_during_the_poll_has_it_polled_again) {
  Spawned state;
  EXPECT_EQ(state.start_poll(), Start::poll);
  EXPECT_EQ(state.wake_by_ref(), Wake::nothing);
  EXPECT_EQ(state.wake_by_ref(), Wake::nothing);
  EXPECT_EQ(state.suspend(0), Suspend::again);
  EXPECT_EQ(state.start_poll(), Start::poll);
  EXPECT_EQ(state.suspend(0), Suspend::idle);
}

TEST(State, a_wake_that_consumes_gives_up_its_reference_in_the_same_step) {
  Idle state(2);
  EXPECT_EQ(state.wake(), Wake::schedule);
  EXPECT_EQ(state.wake(), Wake::nothing);
  EXPECT_FALSE(state.drop_complete_join());
  EXPECT_TRUE(state.ending().has_sole_owner());
}

TEST(State, a_wake_of_a_complete_task_does_nothing) {
  Complete state(1);
  EXPECT_EQ(state.wake_by_ref(), Wake::nothing);
  EXPECT_EQ(state.wake(), Wake::nothing);
}

TEST(State, waking_and_polling_change_no_reference_count) {
  Idle state(1);
  EXPECT_FALSE(state.drop_join().complete);
  EXPECT_EQ(state.wake_by_ref(), Wake::schedule);
  EXPECT_EQ(state.start_poll(), Start::poll);
  EXPECT_EQ(state.wake_by_ref(), Wake::nothing);
  EXPECT_EQ(state.suspend(0), Suspend::again);
  EXPECT_FALSE(state.ending().has_sole_owner());
  // The single reference handed out is the only one to give back.
  EXPECT_FALSE(state.drop_reference());
  EXPECT_TRUE(state.ending().has_sole_owner());
}

TEST(State, the_last_wake_of_a_complete_task_frees_it) {
  Spawned state;
  EXPECT_FALSE(state.drop_join().complete);
  EXPECT_TRUE(state.complete(2).owns_output);
  EXPECT_FALSE(state.release_active());
  EXPECT_EQ(state.wake(), Wake::nothing);
  EXPECT_EQ(state.wake(), Wake::free);
}

TEST(State, the_last_reference_to_a_complete_task_frees_it) {
  Complete state(1);
  EXPECT_FALSE(state.drop_complete_join());
  EXPECT_TRUE(state.drop_reference());
}

TEST(State, the_handle_frees_a_complete_task_that_nobody_else_refers_to) {
  Complete state;
  const State::JoinDrop dropped = state.drop_join();
  EXPECT_TRUE(dropped.complete);
  EXPECT_FALSE(dropped.has_waker);
  EXPECT_TRUE(state.drop_complete_join());
}

TEST(State, the_completer_frees_a_task_that_nobody_else_refers_to) {
  Spawned state;
  EXPECT_FALSE(state.drop_join().complete);
  EXPECT_TRUE(state.complete(0).owns_output);
  EXPECT_TRUE(state.release_active());
}

TEST(State, the_completer_is_the_last_while_it_is_active) {
  Spawned state;
  EXPECT_FALSE(state.complete(1).owns_output);
  EXPECT_TRUE(state.is_complete());
  EXPECT_FALSE(state.drop_complete_join());
  EXPECT_EQ(state.wake(), Wake::nothing);
  EXPECT_TRUE(state.release_active());
}

TEST(State, abort_of_a_queued_task_is_seen_by_its_poller) {
  Spawned state;
  EXPECT_EQ(state.abort(), Wake::nothing);
  EXPECT_EQ(state.start_poll(), Start::cancel);
}

TEST(State, abort_during_the_poll_is_seen_at_its_end) {
  Spawned state;
  EXPECT_EQ(state.start_poll(), Start::poll);
  EXPECT_EQ(state.abort(), Wake::nothing);
  EXPECT_EQ(state.suspend(0), Suspend::cancel);
}

TEST(State, abort_beats_a_wake_during_the_poll) {
  Spawned state;
  EXPECT_EQ(state.start_poll(), Start::poll);
  EXPECT_EQ(state.wake_by_ref(), Wake::nothing);
  EXPECT_EQ(state.abort(), Wake::nothing);
  EXPECT_EQ(state.suspend(0), Suspend::cancel);
}

TEST(State, abort_of_an_idle_task_gives_the_poll_right_once) {
  Idle state;
  EXPECT_EQ(state.abort(), Wake::schedule);
  EXPECT_EQ(state.abort(), Wake::nothing);
  EXPECT_EQ(state.wake_by_ref(), Wake::nothing);
  EXPECT_EQ(state.start_poll(), Start::cancel);
}

TEST(State, abort_of_a_complete_task_does_nothing) {
  Complete state;
  EXPECT_EQ(state.abort(), Wake::nothing);
}

TEST(State, the_join_waker_is_the_completers_once_it_is_set) {
  Spawned state;
  EXPECT_TRUE(state.set_join_waker());
  EXPECT_TRUE(state.has_join_waker());
  const State::Completed completed = state.complete(0);
  EXPECT_FALSE(completed.owns_output);
  EXPECT_TRUE(completed.has_waker);
  EXPECT_FALSE(state.unset_join_waker());
}

TEST(State, the_join_waker_can_be_taken_back_before_completion) {
  Spawned state;
  EXPECT_TRUE(state.set_join_waker());
  EXPECT_TRUE(state.unset_join_waker());
  EXPECT_FALSE(state.has_join_waker());
  EXPECT_FALSE(state.complete(0).has_waker);
}

TEST(State, completes_in_one_step_what_has_a_handle) {
  Spawned state;
  EXPECT_TRUE(state.set_join_waker());
  State::Ending ending = state.ending();
  EXPECT_TRUE(ending.has_handle());
  EXPECT_TRUE(ending.has_waker());
  EXPECT_FALSE(ending.waker_may_change());
  EXPECT_TRUE(state.try_complete(ending, 1));
  EXPECT_TRUE(state.is_complete());
  EXPECT_TRUE(state.drop_join().complete);
  EXPECT_FALSE(state.drop_complete_join());
  EXPECT_TRUE(state.drop_reference());
}

TEST(State, completes_in_one_step_only_what_is_as_it_was_seen) {
  Spawned state;
  EXPECT_TRUE(state.set_join_waker());
  State::Ending ending = state.ending();
  EXPECT_TRUE(state.unset_join_waker());
  EXPECT_TRUE(state.set_join_waker());
  EXPECT_FALSE(state.try_complete(ending, 0)) << "it may be another waker";
  EXPECT_FALSE(state.is_complete());
  EXPECT_TRUE(ending.has_waker());
  EXPECT_TRUE(ending.waker_may_change());
  EXPECT_FALSE(state.drop_join().complete);
  EXPECT_FALSE(state.try_complete(ending, 0));
  EXPECT_FALSE(ending.has_handle());
}

TEST(State, completes_in_one_step_what_has_no_handle) {
  Spawned state;
  EXPECT_FALSE(state.drop_join().complete);
  EXPECT_TRUE(state.complete_detached(0)) << "nobody is left";
  Spawned referred_to;
  EXPECT_FALSE(referred_to.drop_join().complete);
  EXPECT_FALSE(referred_to.complete_detached(1));
  EXPECT_TRUE(referred_to.drop_reference());
}

TEST(State, a_join_waker_is_left_without_a_locked_instruction_only_in_what_nobody_else_has) {
  Spawned state;
  state.add_reference();
  EXPECT_FALSE(state.set_join_waker_unshared());
  EXPECT_FALSE(state.drop_reference());
  EXPECT_TRUE(state.set_join_waker_unshared());
  EXPECT_TRUE(state.has_join_waker());
  EXPECT_FALSE(state.set_join_waker_unshared());
  Complete complete;
  EXPECT_FALSE(complete.set_join_waker_unshared());
}

TEST(State, the_join_waker_is_refused_after_completion) {
  Complete state;
  EXPECT_FALSE(state.set_join_waker());
  EXPECT_FALSE(state.has_join_waker());
}

TEST(State, a_dropped_handle_takes_its_waker_along) {
  Idle state;
  EXPECT_TRUE(state.set_join_waker());
  const State::JoinDrop dropped = state.drop_join();
  EXPECT_FALSE(dropped.complete);
  EXPECT_TRUE(dropped.has_waker);
  const State::Completed completed = state.complete(0);
  EXPECT_TRUE(completed.owns_output);
  EXPECT_FALSE(completed.has_waker);
}

TEST(State, references_given_up_before_they_were_counted_balance) {
  // A waker made in a poll may be consumed on another thread before the end of the poll counts it.
  Spawned state;
  EXPECT_EQ(state.start_poll(), Start::poll);
  EXPECT_EQ(state.wake(), Wake::nothing);
  EXPECT_EQ(state.suspend(1), Suspend::again);
  EXPECT_FALSE(state.drop_join().complete);
  EXPECT_TRUE(state.ending().has_sole_owner());
}

TEST(State, counts_many_references) {
  Complete state(1'000'000);
  for (int i = 0; i < 1000; ++i) state.add_reference();
  EXPECT_FALSE(state.drop_complete_join());
  for (int i = 0; i < 1'000'999; ++i) ASSERT_FALSE(state.drop_reference());
  EXPECT_TRUE(state.drop_reference());
}

TEST(StateThreads, of_many_wakes_exactly_one_schedules) {
  for (int round = 0; round < 500; ++round) {
    Idle state;
    std::atomic<int> scheduled{0};
    std::vector<std::thread> wakers;
    for (int i = 0; i < 3; ++i) {
      wakers.emplace_back([&] {
        if (state.wake_by_ref() == Wake::schedule) scheduled.fetch_add(1);
      });
    }
    for (std::thread& waker : wakers) waker.join();
    EXPECT_EQ(scheduled.load(), 1);
  }
}

TEST(StateThreads, no_wake_is_lost_against_the_end_of_a_poll) {
  for (int round = 0; round < 500; ++round) {
    Spawned state;
    std::atomic<bool> written{false};
    EXPECT_EQ(state.start_poll(), Start::poll);
    Wake woken{};
    std::thread waker([&] {
      written.store(true, std::memory_order_relaxed);
      woken = state.wake_by_ref();
    });
    const Suspend suspended = state.suspend(0);
    if (suspended == Suspend::again) {
      EXPECT_TRUE(written.load(std::memory_order_relaxed));
    }
    waker.join();
    EXPECT_EQ(woken == Wake::schedule, suspended == Suspend::idle);
  }
}

TEST(StateThreads, exactly_one_party_frees) {
  for (int round = 0; round < 500; ++round) {
    Spawned state;
    state.add_reference();
    std::atomic<int> freed{0};
    std::thread handle([&] {
      if (!state.drop_join().complete) return;
      if (state.drop_complete_join()) freed.fetch_add(1);
    });
    std::thread waker([&] {
      if (state.wake() == Wake::free) freed.fetch_add(1);
    });
    static_cast<void>(state.complete(0));
    if (state.release_active()) freed.fetch_add(1);
    handle.join();
    waker.join();
    EXPECT_EQ(freed.load(), 1);
  }
}

}  // namespace
}  // namespace taskbench::rt::task
