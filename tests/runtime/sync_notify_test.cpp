// Notify: which waits a notification ends, and that none is lost. Numbers such as N4 are the
// invariants of notify.hpp.
#include "runtime/sync/notify.hpp"

#include "runtime/sync/join_set.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/sync_support.hpp"

namespace taskbench::rt {
namespace {

using sync::Notify;
using tests::HandPolled;
using tests::Waiting;

Task<> wait(Notify& notify) { co_await notify.notified(); }

TEST(Notify, a_notification_without_a_waiter_is_stored_for_the_next) {
  Notify notify;
  notify.notify_one();
  EXPECT_TRUE(HandPolled(wait(notify)).poll());
}

TEST(Notify, only_one_notification_is_stored) {
  Notify notify;
  for (int i = 0; i < 3; ++i) notify.notify_one();
  HandPolled first(wait(notify));
  HandPolled second(wait(notify));
  EXPECT_TRUE(first.poll());
  EXPECT_FALSE(second.poll());
  notify.notify_one();
  EXPECT_TRUE(second.resumes());
}

TEST(Notify, notify_one_wakes_the_one_that_waits_longest) {
  Notify notify;
  Waiting first(wait(notify));
  Waiting second(wait(notify));
  notify.notify_one();
  EXPECT_TRUE(first.is_woken());
  EXPECT_FALSE(second.is_woken());
  notify.notify_one();  // before the first task has run
  EXPECT_TRUE(second.resumes());
  EXPECT_TRUE(first.poll());
}

TEST(Notify, a_wait_that_is_given_up_before_the_notification_gets_none) {
  Notify notify;
  Waiting first(wait(notify));
  Waiting second(wait(notify));
  first.drop();
  notify.notify_one();
  EXPECT_TRUE(second.resumes());
}

TEST(Notify, N4_a_notification_whose_receiver_is_given_up_goes_to_the_next) {
  Notify notify;
  Waiting first(wait(notify));
  Waiting second(wait(notify));
  notify.notify_one();
  EXPECT_FALSE(second.is_woken());
  first.drop();
  EXPECT_TRUE(second.resumes());
}

TEST(Notify, N4_a_notification_whose_receiver_is_given_up_is_stored_when_nobody_waits) {
  Notify notify;
  Waiting first(wait(notify));
  notify.notify_one();
  first.drop();
  EXPECT_TRUE(HandPolled(wait(notify)).poll());
}

TEST(Notify, notify_waiters_wakes_all_that_wait_and_stores_nothing) {
  Notify notify;
  Waiting first(wait(notify));
  Waiting second(wait(notify));
  notify.notify_waiters();
  EXPECT_TRUE(first.is_woken());
  EXPECT_TRUE(second.is_woken());
  EXPECT_TRUE(first.poll());
  EXPECT_TRUE(second.poll());
  Waiting later(wait(notify));
}

TEST(Notify, notify_waiters_leaves_a_stored_notification_where_it_is) {
  Notify notify;
  notify.notify_one();
  notify.notify_waiters();
  HandPolled first(wait(notify));
  HandPolled second(wait(notify));
  EXPECT_TRUE(first.poll());
  EXPECT_FALSE(second.poll());
}

TEST(Notify, N4_notify_one_after_notify_waiters_is_not_spent_on_those_that_were_released) {
  Notify notify;
  Waiting released(wait(notify));
  notify.notify_waiters();
  notify.notify_one();
  released.drop();
  HandPolled first(wait(notify));
  HandPolled second(wait(notify));
  EXPECT_TRUE(first.poll());
  EXPECT_FALSE(second.poll());
}

TEST(Notify, a_released_wait_that_is_given_up_passes_nothing_on) {
  Notify notify;
  Waiting released(wait(notify));
  notify.notify_waiters();
  released.drop();
  Waiting later(wait(notify));
}

/// Calls notified(), lets the test act, and only then awaits.
Task<> prepare_then_wait(Notify& notify) {
  auto notified = notify.notified();
  co_await yield_now();
  co_await notified;
}

TEST(Notify, N3_notify_waiters_reaches_a_wait_that_was_asked_for_and_not_awaited_yet) {
  Notify notify;
  Waiting task(prepare_then_wait(notify));
  notify.notify_waiters();
  EXPECT_TRUE(task.poll());
}

TEST(Notify, notify_one_reaches_a_wait_that_was_asked_for_and_not_awaited_yet) {
  Notify notify;
  Waiting task(prepare_then_wait(notify));
  notify.notify_one();
  EXPECT_TRUE(task.poll());
}

TEST(Notify, N3_a_wait_released_before_it_was_awaited_leaves_a_stored_notification) {
  Notify notify;
  Waiting task(prepare_then_wait(notify));
  notify.notify_waiters();
  notify.notify_one();
  EXPECT_TRUE(task.poll());
  EXPECT_TRUE(HandPolled(wait(notify)).poll());
}

Task<> await_twice(Notify& notify) {
  auto notified = notify.notified();
  co_await notified;
  co_await notified;
}

TEST(Notify, what_was_notified_stays_so) {
  Notify notify;
  Waiting task(await_twice(notify));
  notify.notify_one();
  EXPECT_TRUE(task.poll());
}

TEST(Notify, a_stored_notification_that_was_taken_stays_so) {
  Notify notify;
  notify.notify_one();
  EXPECT_TRUE(HandPolled(await_twice(notify)).poll());
}

TEST(Notify, a_wait_that_was_ended_by_a_notification_passes_nothing_on) {
  Notify notify;
  Waiting first(wait(notify));
  Waiting second(wait(notify));
  notify.notify_one();
  EXPECT_TRUE(first.poll());
  EXPECT_FALSE(second.is_woken());
}

TEST(Notify, a_spurious_poll_ends_no_wait_and_takes_no_second_place) {
  Notify notify;
  Waiting first(wait(notify));
  Waiting second(wait(notify));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(first.poll());
  notify.notify_one();
  EXPECT_FALSE(second.is_woken());
  EXPECT_TRUE(first.poll());
}

TEST(Notify, notify_waiters_wakes_more_tasks_than_fit_one_batch) {
  Notify notify;
  const auto tasks = tests::many_waiting([&] { return wait(notify); });
  notify.notify_waiters();
  for (const auto& task : tasks) {
    EXPECT_TRUE(task->is_woken());
    EXPECT_TRUE(task->poll());
  }
}

TEST(Notify, N3_who_comes_while_others_are_woken_waits_for_the_next) {
  Notify notify;
  const auto tasks = tests::many_waiting([&] { return wait(notify); });
  std::optional<Waiting<>> comes_later;
  tasks.front()->on_wake([&] { comes_later.emplace(wait(notify)); });
  notify.notify_waiters();
  EXPECT_FALSE(comes_later->is_woken());
  notify.notify_waiters();
  EXPECT_TRUE(comes_later->resumes());
}

TEST(Notify, a_poll_before_its_wake_ends_the_wait_and_its_wake) {
  Notify notify;
  const auto tasks = tests::many_waiting([&]() -> Task<> {
    co_await notify.notified();
    co_await tests::forever();
  });
  // The first task woken polls the last one, which the same notify_waiters() has yet to wake.
  tasks.front()->on_wake([&] { EXPECT_FALSE(tasks.back()->poll()); });
  notify.notify_waiters();
  EXPECT_TRUE(tasks[98]->is_woken());
  EXPECT_FALSE(tasks.back()->is_woken());
}

TEST(Notify, a_wait_that_one_task_has_begun_goes_on_in_another) {
  Notify notify;
  auto notified = notify.notified();
  tests::expect_to_go_on_in_another_task(notified, [&] { notify.notify_one(); });
}

class NotifyOn : public tests::OnEverySync {};
TASKBENCH_SYNC_ON_EVERY_SCHEDULER(NotifyOn);

/// A queue of numbers; Notify only says that it may have changed.
struct Mailbox {
  std::atomic<int> filled{0};
  std::atomic<int> taken{0};
  Notify notify;
};

Task<> fill(Mailbox& box, int times) {
  for (int i = 0; i < times; ++i) {
    box.filled.fetch_add(1);
    box.notify.notify_one();
    if (i % 16 == 0) co_await yield_now();
  }
}

Task<> take_all(Mailbox& box, int wanted) {
  while (box.taken.load() < wanted) {
    if (box.taken.load() < box.filled.load()) {
      box.taken.fetch_add(1);
    } else {
      co_await box.notify.notified();
    }
  }
}

TEST_P(NotifyOn, a_consumer_misses_no_change) {
  Mailbox box;
  run([&]() -> Task<> {
    JoinHandle<void> taker = spawn(take_all(box, 4000));
    for (int i = 0; i < 4; ++i) spawn(fill(box, 1000)).detach();
    co_await taker;
  });
  EXPECT_EQ(box.taken.load(), 4000);
}

TEST_P(NotifyOn, notifications_pass_between_runtimes_and_from_plain_threads) {
  Runtime one = build_runtime();
  Mailbox box;
  Runtime other = build_runtime();
  JoinHandle<void> taker = one.spawn(take_all(box, 3000));
  std::thread driver([&] { one.block_on([&]() -> Task<> { co_await taker; }()); });
  std::thread plain([&] {
    for (int i = 0; i < 1000; ++i) {
      box.filled.fetch_add(1);
      box.notify.notify_one();
    }
  });
  other.block_on(fill(box, 2000));
  plain.join();
  driver.join();
  EXPECT_EQ(box.taken.load(), 3000);
}

/// Passes one notification on to the next task.
Task<> pass_on(Notify& notify, std::atomic<int>& through) {
  co_await notify.notified();
  through.fetch_add(1);
  notify.notify_one();
}

TEST_P(NotifyOn, N4_no_notification_is_lost_when_receivers_are_aborted) {
  Notify notify;
  run([&]() -> Task<> {
    std::mt19937 random(tests::test_seed());
    for (const tests::StressTime time; time.left();) {
      std::atomic<int> through{0};
      sync::JoinSet<> tasks;
      std::vector<AbortHandle> handles;
      for (int i = 0; i < 24; ++i) handles.push_back(tasks.spawn(pass_on(notify, through)));
      // One notification passes through all tasks that are not aborted, whichever are aborted on
      // its way.
      notify.notify_one();
      for (std::size_t i = 0; i < handles.size(); i += 2) {
        if (random() % 3 == 0) co_await yield_now();
        handles[i].abort();
      }
      while (auto task = co_await tasks.join_next()) {
        EXPECT_TRUE(task->has_value() || task->is_cancelled());
      }
      EXPECT_GE(through.load(), 12);
      // The notification is still there, once.
      co_await notify.notified();
    }
  });
}

Task<> wait_for_rounds(Notify& notify, std::atomic<int>& round, int rounds) {
  for (int seen = 0; seen < rounds;) {
    auto changed = notify.notified();
    const int now = round.load();
    if (now == seen) co_await changed;
    seen = now;
  }
}

TEST_P(NotifyOn, N3_no_broadcast_is_missed_between_the_look_and_the_wait) {
  constexpr int kRounds = 300;
  Notify notify;
  std::atomic<int> round{0};
  run([&]() -> Task<> {
    sync::JoinSet<> tasks;
    for (int i = 0; i < 50; ++i) tasks.spawn(wait_for_rounds(notify, round, kRounds));
    for (int i = 0; i < kRounds; ++i) {
      round.fetch_add(1);
      notify.notify_waiters();
      if (i % 4 == 0) co_await yield_now();
    }
    while (auto task = co_await tasks.join_next()) EXPECT_TRUE(task->has_value());
  });
}

TEST_P(NotifyOn, the_end_of_the_runtime_passes_its_notification_on) {
  Notify notify;
  {
    Runtime runtime = build_runtime();
    for (int i = 0; i < 3; ++i) runtime.spawn(wait(notify)).detach();
    runtime.block_on(tests::let_others_wait());
  }
  notify.notify_one();
  EXPECT_TRUE(HandPolled(wait(notify)).poll());
}

}  // namespace
}  // namespace taskbench::rt
