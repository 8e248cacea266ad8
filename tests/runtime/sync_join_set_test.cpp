// JoinSet: members are joined as they finish, however they end, and aborted together.
#include "runtime/sync/join_set.hpp"

#include <new>
#include <stdexcept>

#include "runtime/sync/notify.hpp"
#include "runtime/sync/oneshot.hpp"
#include "runtime/sync/semaphore.hpp"
#include "tests/runtime/allocations.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/sync_support.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using sync::JoinResult;
using sync::JoinSet;
using tests::Counted;
using tests::HandPolled;
using tests::nothing;
using tests::NothingLeaks;
using tests::number;
using tests::Waiting;

Task<int> number_later(int value) {
  for (int i = 0; i < value; ++i) co_await yield_now();
  co_return value;
}
Task<int> wait_forever(Counted) {
  co_await tests::forever();
  co_return 0;
}
Task<int> fail() {
  co_await yield_now();
  throw std::runtime_error("a member failed");
}

/// Joins all members; returns how often each value came.
Task<std::vector<int>> join_values(JoinSet<int>& set, std::size_t values) {
  std::vector<int> seen(values, 0);
  while (auto result = co_await set.join_next()) {
    EXPECT_TRUE(result->has_value());
    ++seen[static_cast<std::size_t>(std::move(*result).get())];
  }
  co_return seen;
}

TEST(JoinSet, an_empty_set_has_nobody_to_join) {
  JoinSet<int> set;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.size(), 0U);
  EXPECT_FALSE(set.try_join_next());
  set.abort_all();
  set.detach_all();
  EXPECT_FALSE(HandPolled(set.join_next()).finish());
}

TEST(JoinSet, spawn_outside_of_a_runtime_is_refused_and_leaves_the_set_empty) {
  const NothingLeaks check;
  JoinSet<int> set;
  EXPECT_THROW(set.spawn(wait_forever(Counted())), std::logic_error);
  EXPECT_TRUE(set.empty());
}

TEST(JoinSet, members_that_the_end_of_their_runtime_cancelled_are_joined_as_cancelled) {
  const NothingLeaks check;
  JoinSet<int> set;
  std::optional<Handle> handle;
  {
    Runtime runtime = Runtime::Builder{}.scheduler("current_thread").build();
    handle.emplace(runtime.handle());
    set.spawn_on(runtime, wait_forever(Counted()));
  }
  // This member is refused, and destroyed at once.
  set.spawn_on(*handle, wait_forever(Counted()));
  EXPECT_EQ(set.size(), 2U);
  for (int i = 0; i < 2; ++i) {
    HandPolled task(set.join_next());
    EXPECT_TRUE(task.poll());
    const std::optional<JoinResult<int>> result = task.result();
    ASSERT_TRUE(result);
    EXPECT_TRUE(result->is_cancelled());
    EXPECT_TRUE(result->failure());
  }
  EXPECT_TRUE(set.empty());
}

TEST(JoinSet, a_wait_that_is_given_up_loses_no_member) {
  const NothingLeaks check;
  Runtime runtime = Runtime::Builder{}.scheduler("current_thread").build();
  JoinSet<int> set;
  set.spawn_on(runtime, number_later(3));
  Waiting first(set.join_next());
  first.drop();
  Waiting second(set.join_next());
  runtime.block_on(tests::let_others_wait());
  EXPECT_FALSE(first.is_woken());
  EXPECT_TRUE(second.is_woken());
  second.drop();  // after it was woken
  HandPolled third(set.join_next());
  EXPECT_EQ(third.finish().value().has_value(), true);
  EXPECT_TRUE(set.empty());
}

TEST(JoinSet, members_are_joined_in_the_order_in_which_they_finish) {
  Runtime runtime = Runtime::Builder{}.scheduler("current_thread").build();
  JoinSet<int> set;
  for (const int value : {3, 0, 2, 1}) set.spawn_on(runtime, number_later(value));
  runtime.block_on(tests::let_others_wait());
  for (int expected = 0; expected < 4; ++expected) {
    std::optional<JoinResult<int>> result = set.try_join_next();
    ASSERT_TRUE(result);
    EXPECT_EQ(std::move(*result).get(), expected);
  }
  EXPECT_FALSE(set.try_join_next());
}

Task<Counted> counted(int value) { co_return Counted(value); }

/// A spawner whose only task is polled by hand.
struct ByHand {
  std::optional<HandPolled<int>> task;
  JoinHandle<int> spawn(Task<int> spawned) {
    task.emplace(std::move(spawned));
    return std::move(task->handle());
  }
};

TEST(JoinSet, a_member_is_joined_once_its_task_is_complete) {
  ByHand by_hand;
  JoinSet<int> set;
  const AbortHandle member = set.spawn_on(by_hand, number(7));
  Waiting joiner(set.join_next());
  // Polls the joiner as early as another worker could.
  std::vector<bool> member_finished;
  std::vector<bool> joined;
  joiner.on_wake([&] {
    member_finished.push_back(member.is_finished());
    joined.push_back(joiner.poll());
  });
  EXPECT_TRUE(by_hand.task->poll());
  EXPECT_EQ(member_finished, std::vector<bool>{true});
  EXPECT_EQ(joined, member_finished);
  EXPECT_EQ(joiner.result().value().has_value(), true);
}

/// A spawner on which each task ends before spawn() returns.
struct AtOnce {
  std::size_t spawned = 0;
  template <class T>
  JoinHandle<T> spawn(Task<T> made) {
    ++spawned;
    HandPolled<T> task(std::move(made));
    EXPECT_TRUE(task.poll());
    return std::move(task.handle());
  }
};

TEST(JoinSet, a_member_may_end_before_the_set_listens_and_after_it_has_gone) {
  AtOnce at_once;
  const NothingLeaks check;
  JoinSet<Counted> early;
  early.spawn_on(at_once, counted(1));
  EXPECT_TRUE(early.try_join_next());
  EXPECT_TRUE(early.empty());
  early.spawn_on(at_once, counted(2));  // destroyed with the set, like its value

  ByHand by_hand;
  {
    JoinSet<int> set;
    set.spawn_on(by_hand, number(7));
    set.detach_all();
  }
  EXPECT_TRUE(by_hand.task->poll());
}

TEST(JoinSet, a_member_that_ends_between_two_joins_comes_after_those_before_it) {
  ByHand first;
  ByHand second;
  ByHand third;
  JoinSet<int> set;
  set.spawn_on(first, number(1));
  set.spawn_on(second, number(2));
  set.spawn_on(third, number(3));
  const auto next = [&set] {
    auto result = set.try_join_next();
    return result ? std::move(*result).get() : 0;
  };
  EXPECT_TRUE(first.task->poll());
  EXPECT_TRUE(second.task->poll());
  EXPECT_EQ(next(), 1);
  EXPECT_TRUE(third.task->poll());
  EXPECT_EQ(next(), 2);
  EXPECT_EQ(next(), 3);
}

TEST(JoinSet, a_member_without_a_value_can_fail_too) {
  AtOnce at_once;
  JoinSet<> set;
  set.spawn_on(at_once, []() -> Task<> {
    throw std::runtime_error("a member failed");
    co_return;
  }());
  const std::optional<JoinResult<void>> result = set.try_join_next();
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->has_value());
  EXPECT_TRUE(result->failure());
}

TEST(JoinSet, nothing_is_spawned_without_the_memory_for_it) {
  AtOnce at_once;
  JoinSet<int> set;
  set.spawn_on(at_once, number(0));
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 20; ++i) tasks.push_back(number(i));
  const auto spawn_all = [&] {
    for (Task<int>& task : tasks) set.spawn_on(at_once, std::move(task));
  };
  {
    const tests::NoMemory no_memory;
    EXPECT_THROW(spawn_all(), std::bad_alloc);
  }
  EXPECT_EQ(set.size(), at_once.spawned);
}

TEST(JoinSet, a_set_grows_seldom) {
  AtOnce at_once;
  JoinSet<int> set;
  std::vector<Task<int>> tasks;
  for (int i = 0; i < 100; ++i) tasks.push_back(number(i));
  const std::size_t before = tests::allocations();
  for (Task<int>& task : tasks) set.spawn_on(at_once, std::move(task));
  EXPECT_LE(tests::allocations() - before, 10U);
}

using sync::detail::Completions;

TEST(Completions, D1_a_member_is_the_last_in_the_list_wherever_it_was_queued_before) {
  const base::Ref list(new Completions);
  HandPolled member(number(1));
  HandPolled behind_it(number(2));
  list->watch(member.handle().header());
  member.handle().header()->queue_next = behind_it.handle().header();
  EXPECT_TRUE(member.poll());
  EXPECT_EQ(list->front(), member.handle().header());
  list->pop_front();
  EXPECT_EQ(list->front(), nullptr);
}

TEST(Completions, D2_nothing_is_in_the_list_once_it_is_abandoned) {
  const base::Ref list(new Completions);
  HandPolled before(number(1));
  HandPolled after(number(2));
  list->watch(before.handle().header());
  list->watch(after.handle().header());
  EXPECT_TRUE(before.poll());
  EXPECT_EQ(list->front(), before.handle().header());
  list->abandon();
  EXPECT_EQ(list->front(), nullptr);
  EXPECT_TRUE(after.poll());
  EXPECT_EQ(list->front(), nullptr);
}

TEST(Completions, D2_a_set_that_goes_abandons_its_list) {
  struct Noted {
    std::optional<HandPolled<int>> task;
    task::Header* member = nullptr;
    JoinHandle<int> spawn(Task<int> spawned) {
      task.emplace(std::move(spawned));
      member = task->handle().header();
      return std::move(task->handle());
    }
  } place;
  std::optional<JoinSet<int>> set(std::in_place);
  set->spawn_on(place, number(1));
  constexpr std::uintptr_t kListenerTag = 1;
  auto* const listener = reinterpret_cast<task::JoinListener*>(
      task::trailer_of(place.member).join_waker.load() & ~kListenerTag);
  const base::Ref list(static_cast<Completions*>(listener));
  set.reset();
  // Stands for a member that was just ending when the set was destroyed.
  HandPolled late(number(2));
  EXPECT_TRUE(late.poll());
  list->watch(late.handle().header());
  EXPECT_EQ(list->front(), nullptr);
}

TEST(Completions, D3_an_await_that_is_never_begun_takes_no_wake_from_the_one_that_waits) {
  const base::Ref list(new Completions);
  HandPolled member(number(1));
  list->watch(member.handle().header());
  Waiting joiner([](Completions& completions) -> Task<> {
    co_await Completions::NextDone(completions);
  }(*list));
  { const Completions::NextDone unused(*list); }
  EXPECT_TRUE(member.poll());
  EXPECT_TRUE(joiner.resumes());
}

// Otherwise the await would look into memory that is gone.
TEST(CompletionsDeathTest, a_set_that_goes_while_an_await_has_yet_to_see_why_it_was_woken) {
  ByHand by_hand;
  auto set = std::make_unique<JoinSet<int>>();
  set->spawn_on(by_hand, number(7));
  Waiting joiner(set->join_next());
  EXPECT_TRUE(by_hand.task->poll());
  EXPECT_TRUE(joiner.is_woken());
  EXPECT_DEATH(set.reset(), "a JoinSet must outlive the task that waits on it");
  joiner.drop();
}

class JoinSetOn : public tests::OnEverySync {};
TASKBENCH_SYNC_ON_EVERY_SCHEDULER(JoinSetOn);

TEST_P(JoinSetOn, every_member_is_joined_once_and_the_set_can_be_used_again) {
  run([&]() -> Task<> {
    JoinSet<int> set;
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 10; ++i) {
        set.spawn(number_later(i));
        EXPECT_EQ(set.size(), static_cast<std::size_t>(i) + 1);
      }
      const std::vector<int> seen = co_await join_values(set, 10);
      EXPECT_EQ(seen, std::vector<int>(10, 1));
      EXPECT_TRUE(set.empty());
    }
  });
}

TEST_P(JoinSetOn, spawns_and_joins_may_alternate) {
  run([&]() -> Task<> {
    JoinSet<> set;
    set.spawn(nothing());
    set.spawn(nothing());
    for (int i = 0; i < 16; ++i) {
      const auto result = co_await set.join_next();
      EXPECT_TRUE(result && result->has_value());
      EXPECT_EQ(set.size(), 1U);
      set.spawn(nothing());
      EXPECT_EQ(set.size(), 2U);
    }
  });
}

TEST_P(JoinSetOn, a_member_s_exception_is_its_result_and_harms_no_other) {
  run([&]() -> Task<> {
    JoinSet<int> set;
    set.spawn(fail());
    set.spawn(number(7));
    int values = 0;
    int failures = 0;
    while (auto result = co_await set.join_next()) {
      if (result->has_value()) {
        EXPECT_EQ(std::move(*result).get(), 7);
        ++values;
      } else {
        EXPECT_FALSE(result->is_cancelled());
        EXPECT_THROW(std::move(*result).get(), std::runtime_error);
        ++failures;
      }
    }
    EXPECT_EQ(values, 1);
    EXPECT_EQ(failures, 1);
  });
}

TEST_P(JoinSetOn, members_aborted_one_by_one_are_joined_as_cancelled) {
  run([&]() -> Task<> {
    JoinSet<int> set;
    for (int i = 0; i < 16; ++i) {
      if (i % 2 == 0) {
        set.spawn(number_later(i));
      } else {
        const AbortHandle handle = set.spawn(wait_forever(Counted()));
        if (i % 4 == 1) co_await yield_now();
        handle.abort();
      }
    }
    int finished = 0;
    int cancelled = 0;
    while (auto result = co_await set.join_next()) {
      if (result->is_cancelled()) {
        EXPECT_THROW(std::move(*result).get(), JoinError);
        ++cancelled;
      } else {
        EXPECT_EQ(std::move(*result).get() % 2, 0);
        ++finished;
      }
    }
    EXPECT_EQ(finished, 8);
    EXPECT_EQ(cancelled, 8);
  });
}

TEST_P(JoinSetOn, abort_all_ends_every_member_and_all_are_still_joined) {
  run([&]() -> Task<> {
    JoinSet<int> set;
    for (int i = 0; i < 5; ++i) set.spawn(wait_forever(Counted()));
    for (int i = 0; i < 5; ++i) set.spawn(number(i));
    co_await tests::let_others_wait();
    set.abort_all();
    EXPECT_EQ(set.size(), 10U);
    int joined = 0;
    int cancelled = 0;
    while (auto result = co_await set.join_next()) {
      ++joined;
      if (result->is_cancelled()) ++cancelled;
    }
    EXPECT_EQ(joined, 10);
    EXPECT_GE(cancelled, 5);
  });
}

using Signal = sync::oneshot::Receiver<sync::oneshot::Unit>;

Task<> hold_sender(sync::oneshot::Sender<sync::oneshot::Unit> held) {
  co_await tests::forever();
  held.send({});
}

/// Spawns members that never end. Returns signals that show when each of them was destroyed.
std::vector<Signal> spawn_holders(JoinSet<>& set, int count) {
  std::vector<Signal> ended;
  for (int i = 0; i < count; ++i) {
    auto ends = sync::oneshot::channel<sync::oneshot::Unit>();
    ended.push_back(std::move(ends.second));
    set.spawn(hold_sender(std::move(ends.first)));
  }
  return ended;
}

Task<> all_ended(std::vector<Signal>& ended) {
  for (Signal& signal : ended) {
    const auto sent = co_await signal;
    EXPECT_FALSE(sent);
  }
}

TEST_P(JoinSetOn, dropping_the_set_aborts_its_members) {
  run([&]() -> Task<> {
    for (const bool they_wait : {false, true}) {
      std::vector<Signal> ended;
      {
        JoinSet<> set;
        ended = spawn_holders(set, 16);
        if (they_wait) co_await tests::let_others_wait();
      }
      co_await all_ended(ended);
    }
  });
}

TEST_P(JoinSetOn, shutdown_waits_until_all_members_are_gone) {
  run([&]() -> Task<> {
    JoinSet<> set;
    std::vector<Signal> ended = spawn_holders(set, 16);
    EXPECT_FALSE(set.try_join_next());
    co_await set.shutdown();
    EXPECT_TRUE(set.empty());
    co_await all_ended(ended);
  });
}

Task<> detached_member(sync::Notify& go, sync::Semaphore& done) {
  co_await go.notified();
  done.add_permits(1);
  go.notify_one();
}

TEST_P(JoinSetOn, detached_members_go_on) {
  sync::Notify go;  // outlives the runtime: a member still uses it after the root has heard of all
  sync::Semaphore done(0);
  run([&]() -> Task<> {
    JoinSet<> set;
    for (int i = 0; i < 10; ++i) set.spawn(detached_member(go, done));
    set.detach_all();
    EXPECT_TRUE(set.empty());
    const auto none = co_await set.join_next();
    EXPECT_FALSE(none);
    set.spawn(nothing());  // the set is reusable
    const auto joined = co_await set.join_next();
    EXPECT_TRUE(joined);
    go.notify_one();
    const auto all = co_await done.acquire(10);
    EXPECT_TRUE(all);
  });
}

TEST_P(JoinSetOn, a_set_can_be_moved) {
  run([&]() -> Task<> {
    JoinSet<int> first;
    first.spawn(number(0));
    first.spawn(number(1));
    JoinSet<int> second = std::move(first);
    EXPECT_TRUE(first.empty());
    first.spawn(number(2));
    JoinSet<int> third;
    third.spawn(wait_forever(Counted()));
    third = std::move(second);  // aborts the members it had
    third.spawn(number(3));
    const std::vector<int> seen = co_await join_values(third, 4);
    EXPECT_EQ(seen, (std::vector<int>{1, 1, 0, 1}));
    const std::vector<int> rest = co_await join_values(first, 4);
    EXPECT_EQ(rest, (std::vector<int>{0, 0, 1, 0}));
  });
}

TEST_P(JoinSetOn, values_that_are_not_joined_are_destroyed) {
  run([&]() -> Task<> {
    JoinSet<Counted> set;
    for (int i = 0; i < 10; ++i) set.spawn(counted(i));
    for (int i = 0; i < 5; ++i) {
      auto result = co_await set.join_next();
      EXPECT_TRUE(result && result->has_value());
    }
    // The other five may have finished, but were never taken.
  });
}

TEST_P(JoinSetOn, try_join_next_finds_every_member_in_the_end) {
  run([&]() -> Task<> {
    JoinSet<int> set;
    for (int i = 0; i < 1000; ++i) set.spawn(number(i));
    int joined = 0;
    while (!set.empty()) {
      if (set.try_join_next()) {
        ++joined;
      } else {
        co_await yield_now();
      }
    }
    EXPECT_EQ(joined, 1000);
  });
}

TEST_P(JoinSetOn, members_may_run_on_several_runtimes) {
  Runtime one = build_runtime();
  Runtime other = Runtime::Builder{}.workers(2).build();
  one.block_on([&]() -> Task<> {
    JoinSet<int> set;
    for (int i = 0; i < 100; ++i) {
      if (i % 2 == 0) {
        set.spawn_on(other, number(i));
      } else {
        set.spawn(number(i));
      }
    }
    const std::vector<int> seen = co_await join_values(set, 100);
    EXPECT_EQ(seen, std::vector<int>(100, 1));
  }());
}

Task<> hold_a_set(std::atomic<bool>& holds) {
  JoinSet<int> set;
  for (int i = 0; i < 8; ++i) set.spawn(wait_forever(Counted()));
  holds.store(true);
  const auto never = co_await set.join_next();
  ADD_FAILURE() << "no member ends by itself";
}

TEST_P(JoinSetOn, aborting_the_task_that_waits_on_a_set_aborts_the_members) {
  std::atomic<bool> holds{false};
  run([&]() -> Task<> {
    JoinHandle<void> holder = spawn(hold_a_set(holds));
    while (!holds.load()) co_await yield_now();
    co_await tests::let_others_wait();
    holder.abort();
    try {
      co_await holder;
      ADD_FAILURE() << "the holder was aborted";
    } catch (const JoinError&) {
    }
  });
}

TEST_P(JoinSetOn, the_end_of_the_runtime_ends_sets_that_are_waited_on) {
  std::atomic<bool> holds{false};
  Runtime runtime = build_runtime();
  runtime.spawn(hold_a_set(holds)).detach();
  runtime.block_on(tests::let_others_wait());
}

Task<int> some_member(int kind) {
  for (int i = 0; i < kind % 5; ++i) co_await yield_now();
  if (kind % 7 == 3) throw std::runtime_error("one of many");
  co_return kind;
}

TEST_P(JoinSetOn, storms_of_spawn_abort_and_join_lose_no_member) {
  run([&]() -> Task<> {
    std::mt19937 random(tests::test_seed());
    for (const tests::StressTime time; time.left();) {
      JoinSet<int> set;
      std::size_t joined = 0;
      for (int i = 0; i < 32; ++i) {
        const AbortHandle handle = set.spawn(some_member(static_cast<int>(random() % 100)));
        if (random() % 4 == 0) handle.abort();
        if (random() % 4 == 0 && set.try_join_next()) ++joined;
        if (random() % 8 == 0) co_await yield_now();
      }
      if (random() % 4 == 0) set.abort_all();
      const std::size_t rest = set.size();
      EXPECT_EQ(joined + rest, 32U);
      if (random() % 4 == 0) continue;  // dropped with the remaining members
      std::size_t more = 0;
      while (auto result = co_await set.join_next()) ++more;
      EXPECT_EQ(more, rest);
    }
  });
}

}  // namespace
}  // namespace taskbench::rt
