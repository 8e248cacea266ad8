// Semaphore: counting, fairness, giving up, closing. Numbers such as S2 are the invariants of
// semaphore.hpp.
#include "runtime/sync/semaphore.hpp"

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "runtime/sync/join_set.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/sync_support.hpp"

namespace taskbench::rt {
namespace {

using sync::Semaphore;
using tests::HandPolled;
using tests::Waiting;
using Permits = std::optional<Semaphore::Permit>;

Task<Permits> acquire(Semaphore& semaphore, std::size_t count = 1) {
  co_return co_await semaphore.acquire(count);
}

TEST(Semaphore, may_start_with_no_permits) {
  Semaphore semaphore(0);
  EXPECT_EQ(semaphore.available_permits(), 0U);
  EXPECT_FALSE(semaphore.try_acquire());
}

TEST(Semaphore, try_acquire_takes_a_permit_and_its_destruction_gives_it_back) {
  Semaphore semaphore(1);
  {
    const Permits permit = semaphore.try_acquire();
    EXPECT_TRUE(permit);
    EXPECT_EQ(semaphore.available_permits(), 0U);
    EXPECT_FALSE(semaphore.try_acquire());
  }
  EXPECT_EQ(semaphore.available_permits(), 1U);
  EXPECT_TRUE(semaphore.try_acquire());
}

TEST(Semaphore, acquire_does_not_suspend_while_there_are_permits) {
  Semaphore semaphore(3);
  HandPolled task(acquire(semaphore, 3));
  EXPECT_TRUE(task.poll());
  const Permits permits = task.result();
  ASSERT_TRUE(permits);
  EXPECT_EQ(permits->count(), 3U);
  EXPECT_EQ(semaphore.available_permits(), 0U);
}

TEST(Semaphore, acquire_waits_until_permits_are_added) {
  Semaphore semaphore(0);
  Waiting task(acquire(semaphore));
  EXPECT_FALSE(task.is_woken());
  semaphore.add_permits(1);
  EXPECT_TRUE(task.resumes());
}

TEST(Semaphore, acquire_waits_until_a_permit_is_given_back) {
  Semaphore semaphore(1);
  Permits held = semaphore.try_acquire();
  Waiting task(acquire(semaphore));
  held.reset();
  EXPECT_TRUE(task.resumes());
  EXPECT_EQ(semaphore.available_permits(), 0U);  // held by the task's result
  task.result().reset();
  EXPECT_EQ(semaphore.available_permits(), 1U);
}

TEST(Semaphore, permits_go_to_those_who_wait_in_their_order) {
  Semaphore semaphore(0);
  Waiting first(acquire(semaphore));
  Waiting second(acquire(semaphore));
  Waiting third(acquire(semaphore));
  semaphore.add_permits(1);
  EXPECT_TRUE(first.is_woken());
  EXPECT_FALSE(second.is_woken());
  semaphore.add_permits(2);
  EXPECT_TRUE(second.is_woken());
  EXPECT_TRUE(third.resumes());
  EXPECT_TRUE(second.poll());
  EXPECT_TRUE(first.poll());
}

TEST(Semaphore, nobody_overtakes_a_big_request) {
  Semaphore semaphore(2);
  HandPolled big(acquire(semaphore, 3));
  HandPolled small(acquire(semaphore, 1));
  EXPECT_FALSE(big.poll());
  EXPECT_FALSE(small.poll());  // although two permits are available
  EXPECT_FALSE(semaphore.try_acquire());
  semaphore.add_permits(1);
  EXPECT_TRUE(big.is_woken());
  EXPECT_FALSE(small.is_woken());
  EXPECT_TRUE(big.poll());
  big.result().reset();
  EXPECT_TRUE(small.resumes());
}

TEST(Semaphore, S2_smaller_requests_go_on_when_the_big_one_before_them_is_given_up) {
  Semaphore semaphore(2);
  Waiting big(acquire(semaphore, 3));
  Waiting first(acquire(semaphore, 1));
  Waiting second(acquire(semaphore, 1));
  Waiting third(acquire(semaphore, 1));
  big.drop();
  EXPECT_TRUE(first.is_woken());
  EXPECT_TRUE(second.is_woken());
  EXPECT_FALSE(third.is_woken());
  EXPECT_TRUE(first.poll());
  EXPECT_TRUE(second.poll());
}

TEST(Semaphore, S3_a_grant_that_is_given_up_before_it_is_seen_goes_to_the_next) {
  Semaphore semaphore(0);
  Waiting first(acquire(semaphore));
  Waiting second(acquire(semaphore));
  semaphore.add_permits(1);
  EXPECT_TRUE(first.is_woken());
  EXPECT_FALSE(second.is_woken());
  first.drop();
  EXPECT_TRUE(second.resumes());
}

TEST(Semaphore, S3_a_grant_that_nobody_else_wants_becomes_available_when_given_up) {
  Semaphore semaphore(1);
  Waiting task(acquire(semaphore, 5));
  semaphore.add_permits(4);
  EXPECT_EQ(semaphore.available_permits(), 0U);
  task.drop();
  EXPECT_EQ(semaphore.available_permits(), 5U);
}

TEST(Semaphore, one_that_gives_up_in_the_middle_of_the_queue_only_loses_its_place) {
  Semaphore semaphore(0);
  Waiting first(acquire(semaphore));
  Waiting second(acquire(semaphore));
  Waiting third(acquire(semaphore));
  second.drop();
  semaphore.add_permits(2);
  EXPECT_TRUE(first.poll());
  EXPECT_TRUE(third.resumes());
}

TEST(Semaphore, a_spurious_poll_neither_acquires_nor_queues_again) {
  Semaphore semaphore(0);
  Waiting first(acquire(semaphore));
  Waiting second(acquire(semaphore));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(first.poll());
  semaphore.add_permits(1);
  EXPECT_TRUE(first.poll());
  EXPECT_FALSE(second.is_woken());
  semaphore.add_permits(1);
  EXPECT_TRUE(second.poll());
}

TEST(Semaphore, acquiring_nothing_never_waits) {
  Semaphore semaphore(0);
  Waiting waits(acquire(semaphore, 1));
  HandPolled task(acquire(semaphore, 0));
  EXPECT_TRUE(task.poll());
  const Permits none = task.result();
  ASSERT_TRUE(none);
  EXPECT_EQ(none->count(), 0U);
  EXPECT_TRUE(semaphore.try_acquire(0));
}

TEST(Semaphore, an_acquire_that_is_never_awaited_does_nothing) {
  Semaphore semaphore(1);
  { const auto unused = semaphore.acquire(); }
  EXPECT_EQ(semaphore.available_permits(), 1U);
}

Task<int> acquire_twice_through_one_awaiter(Semaphore& semaphore) {
  auto wanted = semaphore.acquire();
  const Permits first = co_await wanted;
  const Permits second = co_await wanted;
  co_return (first ? 1 : 0) + (second ? 1 : 0);
}

TEST(Semaphore, each_await_of_an_acquire_takes_permits_of_its_own) {
  Semaphore semaphore(1);
  Waiting task(acquire_twice_through_one_awaiter(semaphore));
  semaphore.add_permits(1);
  EXPECT_EQ(task.finish(), 2);
  EXPECT_EQ(semaphore.available_permits(), 2U);
}

TEST(Semaphore, a_wait_that_one_task_has_begun_goes_on_in_another) {
  Semaphore semaphore(0);
  auto wanted = semaphore.acquire();
  tests::expect_to_go_on_in_another_task(wanted, [&] { semaphore.add_permits(1); });
}

TEST(Semaphore, forget_takes_permits_out_for_good) {
  Semaphore semaphore(2);
  {
    Permits permit = semaphore.try_acquire();
    ASSERT_TRUE(permit);
    permit->forget();
    EXPECT_EQ(permit->count(), 0U);
  }
  EXPECT_EQ(semaphore.available_permits(), 1U);
}

TEST(Semaphore, permits_can_be_merged_and_split) {
  Semaphore semaphore(3);
  {
    Permits one = semaphore.try_acquire();
    Permits two = semaphore.try_acquire(2);
    ASSERT_TRUE(one && two);
    one->merge(std::move(*two));
    EXPECT_EQ(one->count(), 3U);
    EXPECT_EQ(two->count(), 0U);
    two.reset();
    EXPECT_EQ(semaphore.available_permits(), 0U);
    EXPECT_FALSE(one->split(4));
    const Permits split = one->split(2);
    ASSERT_TRUE(split);
    EXPECT_EQ(split->count(), 2U);
    one.reset();
    EXPECT_EQ(semaphore.available_permits(), 1U);
  }
  EXPECT_EQ(semaphore.available_permits(), 3U);
}

TEST(Semaphore, moving_a_permit_moves_the_duty_to_give_it_back) {
  Semaphore semaphore(2);
  Permits first = semaphore.try_acquire();
  Permits second = semaphore.try_acquire();
  ASSERT_TRUE(first && second);
  *first = std::move(*second);  // gives back the first one's permit
  EXPECT_EQ(semaphore.available_permits(), 1U);
  second.reset();
  EXPECT_EQ(semaphore.available_permits(), 1U);
  first->release();
  first->release();
  EXPECT_EQ(semaphore.available_permits(), 2U);
}

TEST(Semaphore, all_permits_can_be_split_off_and_none_of_what_was_given_back) {
  Semaphore semaphore(2);
  Permits permit = semaphore.try_acquire(2);
  ASSERT_TRUE(permit);
  EXPECT_TRUE(permit->split(2));
  EXPECT_EQ(permit->count(), 0U);
  permit->release();
  EXPECT_FALSE(permit->split(0));
  permit->forget();
  EXPECT_EQ(semaphore.available_permits(), 2U);
}

TEST(Semaphore, a_permit_assigned_to_itself_is_kept) {
  Semaphore semaphore(1);
  Permits permit = semaphore.try_acquire();
  ASSERT_TRUE(permit);
  Semaphore::Permit& itself = *permit;
  *permit = std::move(itself);
  EXPECT_EQ(permit->count(), 1U);
  EXPECT_EQ(semaphore.available_permits(), 0U);
}

TEST(Semaphore, close_ends_every_wait_without_permits) {
  Semaphore semaphore(1);
  Waiting first(acquire(semaphore, 2));
  Waiting second(acquire(semaphore, 1));
  semaphore.close();
  EXPECT_TRUE(semaphore.is_closed());
  EXPECT_TRUE(first.is_woken());
  EXPECT_TRUE(second.is_woken());
  EXPECT_FALSE(first.finish());
  second.drop();
  EXPECT_EQ(semaphore.available_permits(), 1U);
}

TEST(Semaphore, nobody_acquires_after_close_but_permits_that_are_out_come_back) {
  Semaphore semaphore(2);
  Permits held = semaphore.try_acquire();
  semaphore.close();
  EXPECT_FALSE(semaphore.try_acquire());
  EXPECT_FALSE(semaphore.try_acquire(0));
  HandPolled task(acquire(semaphore));
  EXPECT_FALSE(task.finish());
  held.reset();
  EXPECT_EQ(semaphore.available_permits(), 2U);
}

TEST(Semaphore, a_grant_from_before_close_is_still_a_permit) {
  Semaphore semaphore(0);
  Waiting task(acquire(semaphore));
  semaphore.add_permits(1);
  semaphore.close();
  EXPECT_TRUE(task.finish());
}

TEST(Semaphore, wakes_more_tasks_than_fit_one_batch) {
  for (const bool by_close : {false, true}) {
    Semaphore semaphore(0);
    const auto tasks = tests::many_waiting([&] { return acquire(semaphore); });
    if (by_close) {
      semaphore.close();
    } else {
      semaphore.add_permits(100);
    }
    for (const auto& task : tasks) {
      EXPECT_TRUE(task->is_woken());
      EXPECT_TRUE(task->poll());
      EXPECT_EQ(task->result().has_value(), !by_close);
    }
    EXPECT_EQ(semaphore.available_permits(), by_close ? 0U : 100U);
  }
}

TEST(Semaphore, S4_who_waits_at_the_close_gets_none_of_the_permits_that_come_meanwhile) {
  Semaphore semaphore(0);
  const auto tasks = tests::many_waiting([&] { return acquire(semaphore); });
  tasks.front()->on_wake([&] { semaphore.add_permits(100); });
  semaphore.close();
  for (const auto& task : tasks) EXPECT_FALSE(task->finish());
  EXPECT_EQ(semaphore.available_permits(), 100U);
}

/// A semaphore that can be destroyed; any later use reads null pointers.
class Destroyed {
 public:
  explicit Destroyed(std::size_t permits) {
    std::construct_at(reinterpret_cast<Semaphore*>(memory_), permits);
  }
  Semaphore& get() { return *std::launder(reinterpret_cast<Semaphore*>(memory_)); }
  void destroy() {
    std::destroy_at(&get());
    std::memset(memory_, 0, sizeof(memory_));
  }

 private:
  alignas(Semaphore) std::byte memory_[sizeof(Semaphore)];
};

TEST(Semaphore, who_is_woken_as_another_gives_up_may_destroy_the_semaphore) {
  Destroyed semaphore(1);
  Waiting big(acquire(semaphore.get(), 2));
  Waiting small(acquire(semaphore.get(), 1));
  small.on_wake([&] {
    EXPECT_TRUE(small.finish());
    semaphore.destroy();
  });
  big.drop();
  EXPECT_FALSE(small.is_woken());
}

TEST(Semaphore, an_acquire_that_does_not_wait_may_outlive_the_semaphore) {
  Destroyed semaphore(1);
  HandPolled task([](Destroyed& its) -> Task<> {
    auto wanted = its.get().acquire();
    { const Permits permit = co_await wanted; }
    its.destroy();
  }(semaphore));
  EXPECT_TRUE(task.poll());
}

TEST(Semaphore, S2_holds_when_giving_up_frees_more_tasks_than_fit_one_batch) {
  Semaphore semaphore(100);
  Waiting big(acquire(semaphore, 101));
  const auto tasks = tests::many_waiting([&] { return acquire(semaphore); });
  big.drop();
  for (const auto& task : tasks) EXPECT_TRUE(task->is_woken());
}

TEST(Semaphore, holds_up_to_kMaxPermits) {
  Semaphore semaphore(Semaphore::kMaxPermits - 1);
  semaphore.add_permits(1);
  EXPECT_EQ(semaphore.available_permits(), Semaphore::kMaxPermits);
  EXPECT_TRUE(semaphore.try_acquire(Semaphore::kMaxPermits));
}

TEST(SemaphoreDeathTest, more_than_kMaxPermits_is_a_programming_error) {
  EXPECT_DEATH(Semaphore(Semaphore::kMaxPermits + 1), "kMaxPermits");
  EXPECT_DEATH(static_cast<void>(Semaphore(1).acquire(Semaphore::kMaxPermits + 1)), "kMaxPermits");
  EXPECT_DEATH(
      {
        Semaphore semaphore(1);
        semaphore.add_permits(Semaphore::kMaxPermits);
      },
      "kMaxPermits");
  EXPECT_DEATH(
      {
        Semaphore semaphore(1);
        Permits taken = semaphore.try_acquire();
        semaphore.add_permits(Semaphore::kMaxPermits);
        taken->forget();  // which could not be given back
      },
      "kMaxPermits");
}

TEST(SemaphoreDeathTest, merging_permits_of_two_semaphores_is_a_programming_error) {
  EXPECT_DEATH(
      {
        Semaphore one(1);
        Semaphore other(1);
        Permits first = one.try_acquire();
        first->merge(*other.try_acquire());
      },
      "the same semaphore");
}

class SemaphoreOn : public tests::OnEverySync {};
TASKBENCH_SYNC_ON_EVERY_SCHEDULER(SemaphoreOn);

struct Load {
  explicit Load(std::size_t permits) : semaphore(permits) {}
  Semaphore semaphore;
  std::atomic<std::size_t> inside{0};
  std::atomic<std::size_t> most{0};
};

/// Counts the permits in use, so that too many at once are noticed.
class InUse {
 public:
  InUse(Load& load, std::size_t count) : load_(load), count_(count) {
    const std::size_t now = load_.inside.fetch_add(count_) + count_;
    std::size_t most = load_.most.load();
    while (most < now && !load_.most.compare_exchange_weak(most, now)) {
    }
  }
  ~InUse() { load_.inside.fetch_sub(count_); }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  Load& load_;
  const std::size_t count_;
};

Task<> use_permits(Load& load, std::size_t count, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const Permits permits = co_await load.semaphore.acquire(count);
    EXPECT_TRUE(permits);
    const InUse in_use(load, count);
    co_await yield_now();
  }
}

Task<> run_users(Load& load) {
  sync::JoinSet<> users;
  for (int i = 0; i < 40; ++i) users.spawn(use_permits(load, static_cast<std::size_t>(i % 5), 50));
  while (auto user = co_await users.join_next()) EXPECT_TRUE(user->has_value());
}

TEST_P(SemaphoreOn, never_more_permits_are_out_than_there_are) {
  Load load(5);
  build_runtime().block_on(run_users(load));
  EXPECT_LE(load.most.load(), 5U);
  EXPECT_EQ(load.semaphore.available_permits(), 5U);
}

TEST_P(SemaphoreOn, S3_no_permit_is_lost_when_users_are_aborted_at_any_moment) {
  Load load(3);
  run([&]() -> Task<> {
    std::mt19937 random(tests::test_seed());
    for (const tests::StressTime time; time.left();) {
      co_await tests::abort_some_of(
          16, random, [&](int i) { return use_permits(load, static_cast<std::size_t>(i % 4), 3); });
      EXPECT_EQ(load.semaphore.available_permits(), 3U);
    }
  });
  EXPECT_LE(load.most.load(), 3U);
}

Task<> wait_forever_behind(Semaphore& semaphore) {
  co_await semaphore.acquire(2);
  ADD_FAILURE() << "there is one permit only";
}

TEST_P(SemaphoreOn, the_end_of_the_runtime_ends_waits_and_gives_places_up) {
  Semaphore semaphore(1);
  {
    Runtime runtime = build_runtime();
    for (int i = 0; i < 10; ++i) runtime.spawn(wait_forever_behind(semaphore)).detach();
    runtime.block_on(tests::let_others_wait());
  }
  EXPECT_EQ(semaphore.available_permits(), 1U);
  EXPECT_TRUE(semaphore.try_acquire());
}

TEST_P(SemaphoreOn, permits_pass_between_runtimes) {
  Runtime one = build_runtime();
  Load load(2);
  Runtime other = build_runtime();
  std::thread thread([&] { one.block_on(run_users(load)); });
  // With two permits, requests for four would wait forever.
  load.semaphore.add_permits(2);
  other.block_on(run_users(load));
  thread.join();
  EXPECT_EQ(load.semaphore.available_permits(), 4U);
}

}  // namespace
}  // namespace taskbench::rt
