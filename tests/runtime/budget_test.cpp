// The cooperative budget: even tasks whose channels and locks are always ready give way.

#include "runtime/base/sync_primitives.hpp"
#include "runtime/sync/cancellation.hpp"
#include "runtime/sync/join_set.hpp"
#include "runtime/sync/mpsc.hpp"
#include "runtime/sync/mutex.hpp"
#include "runtime/sync/notify.hpp"
#include "runtime/sync/oneshot.hpp"
#include "runtime/sync/semaphore.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/join.hpp"
#include "runtime/task/select.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/sync_support.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using task::kBudget;
using tests::HandPolled;

constexpr int kTurns = 10;
constexpr int kOperations = kTurns * static_cast<int>(kBudget);

/// Polls `task`, which never waits, to its end. Returns the number of polls.
int polls_of(Task<> task) {
  HandPolled polled(std::move(task));
  int polls = 1;
  for (; !polled.poll(); ++polls) EXPECT_TRUE(polled.is_woken());
  return polls;
}

Task<> lock_often(sync::Mutex& mutex, int times) {
  for (int i = 0; i < times; ++i) const auto guard = co_await mutex.lock();
}

TEST(Budget, a_poll_has_so_many_operations) {
  sync::Mutex mutex;
  EXPECT_EQ(polls_of(lock_often(mutex, static_cast<int>(kBudget))), 1);
  EXPECT_EQ(polls_of(lock_often(mutex, static_cast<int>(kBudget) + 1)), 2);
  EXPECT_EQ(polls_of(lock_often(mutex, kOperations)), kTurns);
}

TEST(Budget, is_spent_by_semaphores_notifications_channels_and_join_sets) {
  sync::Semaphore semaphore(1);
  EXPECT_EQ(polls_of([](sync::Semaphore& permits) -> Task<> {
              for (int i = 0; i < kOperations; ++i) {
                const auto permit = co_await permits.acquire();
              }
            }(semaphore)),
            kTurns);
  sync::Notify notify;
  EXPECT_EQ(polls_of([](sync::Notify& place) -> Task<> {
              for (int i = 0; i < kOperations; ++i) {
                place.notify_one();
                co_await place.notified();
              }
            }(notify)),
            kTurns);
  EXPECT_EQ(polls_of([]() -> Task<> {
              auto ends = sync::mpsc::channel<int>(1);
              for (int i = 0; i < kOperations / 2; ++i) {
                const bool sent = co_await ends.first.send(i);
                const auto got = co_await ends.second.recv();
                EXPECT_TRUE(sent && got == i);
              }
            }()),
            kTurns);
}

TEST(Budget, is_not_spent_by_what_is_awaited_once) {
  EXPECT_EQ(polls_of([]() -> Task<> {
              for (int i = 0; i < kOperations; ++i) {
                auto ends = sync::oneshot::channel<int>();
                ends.first.send(i);
                const auto got = co_await std::move(ends.second);
                EXPECT_EQ(got, i);
              }
            }()),
            1);
}

TEST(Budget, is_new_in_each_poll) {
  sync::Mutex mutex;
  EXPECT_EQ(polls_of([](sync::Mutex& lock) -> Task<> {
              for (int i = 0; i < 3; ++i) {
                co_await lock_often(lock, static_cast<int>(kBudget));
                co_await yield_now();
              }
            }(mutex)),
            4);
}

TEST(Budget, is_shared_by_the_branches_of_a_task) {
  sync::Mutex mutex;
  EXPECT_EQ(polls_of([](sync::Mutex& lock) -> Task<> {
              const int half = static_cast<int>(kBudget) / 2;
              co_await lock_often(lock, 10);
              co_await join(lock_often(lock, half), lock_often(lock, half - 10));
              co_await lock_often(lock, 1);
            }(mutex)),
            2);
}

TEST(Budget, holds_for_a_loop_of_selects) {
  CancellationToken never;
  sync::Semaphore semaphore(1);
  EXPECT_EQ(polls_of([](sync::Semaphore& permits, CancellationToken stop) -> Task<> {
              for (int i = 0; i < kOperations; ++i) {
                co_await select(stop.cancelled(), permits.acquire());
              }
            }(semaphore, never)),
            kTurns);
}

TEST(Budget, a_branch_that_spends_all_does_not_starve_the_next) {
  sync::Mutex mutex;
  HandPolled task([](sync::Mutex& lock) -> Task<> {
    co_await select(lock_often(lock, 1'000'000), lock_often(lock, 3));
  }(mutex));
  int polls = 1;
  for (; !task.poll(); ++polls) ASSERT_LT(polls, 10);
}

TEST(Budget, an_operation_that_gave_way_has_not_begun) {
  sync::Semaphore semaphore(1);
  HandPolled task([](sync::Semaphore& permits) -> Task<> {
    for (std::uint32_t i = 0; i < kBudget; ++i) const auto permit = co_await permits.acquire();
    const auto last = co_await permits.acquire();
    co_await tests::forever();
  }(semaphore));
  EXPECT_FALSE(task.poll());
  EXPECT_TRUE(task.is_woken());
  EXPECT_EQ(semaphore.available_permits(), 1U);
  EXPECT_FALSE(task.poll());
  EXPECT_EQ(semaphore.available_permits(), 0U);
  task.drop();
  EXPECT_EQ(semaphore.available_permits(), 1U);
}

TEST(Budget, is_spent_when_the_time_slice_is_over_and_not_before) {
  sync::Mutex mutex;
  base::Atomic<bool> is_over{false};
  const task::EnterContext context(nullptr, nullptr);
  task::thread_context().slice_is_over = &is_over;
  EXPECT_EQ(polls_of(lock_often(mutex, 5)), 1);
  is_over.store(true, base::relaxed);
  EXPECT_EQ(polls_of(lock_often(mutex, 5)), 6);
}

class BudgetEverywhere : public tests::OnEveryScheduler {
 protected:
  /// How often `spend` can be awaited before another task of the same worker gets a turn.
  static int operations_before_another_runs(Task<> (*spend)(sync::Mutex&)) {
    constexpr int kStarved = 4'000;  // few enough for the stack of a build without tail calls
    Runtime runtime = tests::builder(GetParam()).workers(1).build();
    return tests::run_as_task(runtime, [spend]() -> Task<int> {
      bool ran = false;
      auto other = spawn([](bool& flag) -> Task<> {
        flag = true;
        co_return;
      }(ran));
      sync::Mutex mutex;
      int operations = 0;
      for (; !ran && operations < kStarved; ++operations) co_await spend(mutex);
      co_await other;
      co_return operations;
    });
  }
};
TASKBENCH_ON_EVERY_SCHEDULER(BudgetEverywhere);

TEST_P(BudgetEverywhere, a_task_whose_locks_are_free_lets_others_run) {
  // Some schedulers poll a yielding task a few more times before the others.
  EXPECT_LE(operations_before_another_runs(
                [](sync::Mutex& mutex) -> Task<> { co_await lock_often(mutex, 1); }),
            10 * static_cast<int>(kBudget));
}

TEST_P(BudgetEverywhere, a_task_that_selects_what_is_ready_lets_others_run) {
  EXPECT_LE(operations_before_another_runs([](sync::Mutex& mutex) -> Task<> {
              co_await select(tests::forever(), mutex.lock());
            }),
            10 * static_cast<int>(kBudget));
}

}  // namespace
}  // namespace taskbench::rt
