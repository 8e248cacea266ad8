// Mutex: exclusion, order, giving up.
#include "runtime/sync/mutex.hpp"

#include <stdexcept>

#include "runtime/sync/join_set.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/sync_support.hpp"

namespace taskbench::rt {
namespace {

using sync::Mutex;
using tests::HandPolled;
using tests::Waiting;

Task<Mutex::Guard> lock(Mutex& mutex) { co_return co_await mutex.lock(); }

TEST(Mutex, lock_does_not_suspend_when_the_mutex_is_free) {
  Mutex mutex;
  for (int i = 0; i < 3; ++i) {
    HandPolled task(lock(mutex));
    EXPECT_TRUE(task.poll());
  }
}

TEST(Mutex, lock_waits_until_the_guard_is_destroyed) {
  Mutex mutex;
  HandPolled first(lock(mutex));
  HandPolled second(lock(mutex));
  EXPECT_TRUE(first.poll());
  std::optional<Mutex::Guard> guard(first.result());
  EXPECT_FALSE(second.poll());
  EXPECT_FALSE(second.is_woken());
  guard.reset();
  EXPECT_TRUE(second.resumes());
}

TEST(Mutex, the_lock_is_handed_over_in_order_and_nobody_overtakes) {
  Mutex mutex;
  std::optional<Mutex::Guard> guard = mutex.try_lock();
  Waiting first(lock(mutex));
  Waiting second(lock(mutex));
  guard.reset();
  EXPECT_TRUE(first.is_woken());
  EXPECT_FALSE(second.is_woken());
  EXPECT_FALSE(mutex.try_lock());  // it already belongs to the first task
  EXPECT_FALSE(second.poll());
  EXPECT_TRUE(first.poll());
  first.result().unlock();
  EXPECT_TRUE(second.resumes());
}

TEST(Mutex, try_lock_succeeds_when_the_mutex_is_free) {
  Mutex mutex;
  {
    const std::optional<Mutex::Guard> first = mutex.try_lock();
    EXPECT_TRUE(first);
    EXPECT_FALSE(mutex.try_lock());
  }
  EXPECT_TRUE(mutex.try_lock());
}

TEST(Mutex, unlock_before_the_end_of_the_guard) {
  Mutex mutex;
  std::optional<Mutex::Guard> guard = mutex.try_lock();
  ASSERT_TRUE(guard);
  EXPECT_TRUE(guard->owns_lock());
  guard->unlock();
  EXPECT_FALSE(guard->owns_lock());
  const std::optional<Mutex::Guard> other = mutex.try_lock();
  EXPECT_TRUE(other);
  guard->unlock();
  guard.reset();
  EXPECT_FALSE(mutex.try_lock());  // the other lock is untouched
}

TEST(Mutex, a_guard_can_be_moved) {
  Mutex mutex;
  std::optional<Mutex::Guard> first = mutex.try_lock();
  ASSERT_TRUE(first);
  {
    const Mutex::Guard second = std::move(*first);
    EXPECT_FALSE(first->owns_lock());
    first.reset();
    EXPECT_FALSE(mutex.try_lock());
  }
  EXPECT_TRUE(mutex.try_lock());
}

TEST(Mutex, giving_up_a_wait_leaves_the_lock_to_the_others) {
  Mutex mutex;
  std::optional<Mutex::Guard> guard = mutex.try_lock();
  Waiting first(lock(mutex));
  Waiting second(lock(mutex));
  first.drop();
  guard.reset();
  EXPECT_TRUE(second.resumes());
}

TEST(Mutex, a_wait_that_one_task_has_begun_goes_on_in_another) {
  Mutex mutex;
  std::optional<Mutex::Guard> guard = mutex.try_lock();
  auto wanted = mutex.lock();
  tests::expect_to_go_on_in_another_task(wanted, [&] { guard.reset(); });
}

TEST(Mutex, a_task_that_ends_after_it_got_the_lock_and_before_it_knows_hands_it_on) {
  Mutex mutex;
  std::optional<Mutex::Guard> guard = mutex.try_lock();
  Waiting first(lock(mutex));
  Waiting second(lock(mutex));
  guard.reset();
  first.drop();
  EXPECT_TRUE(second.is_woken());
  second.drop();
  EXPECT_TRUE(mutex.try_lock());
}

Task<> throw_inside(Mutex& mutex) {
  const auto guard = co_await mutex.lock();
  throw std::runtime_error("inside");
}

TEST(Mutex, an_exception_that_leaves_the_section_unlocks) {
  Mutex mutex;
  HandPolled task(throw_inside(mutex));
  EXPECT_TRUE(task.poll());
  EXPECT_THROW(task.result(), std::runtime_error);
  EXPECT_TRUE(mutex.try_lock());
}

class MutexOn : public tests::OnEverySync {};
TASKBENCH_SYNC_ON_EVERY_SCHEDULER(MutexOn);

/// Guarded by the mutex; plain members, so that a race is a data race.
struct Guarded {
  Mutex mutex;
  long count = 0;
  int inside = 0;
};

Task<> count_up(Guarded& guarded, int times) {
  for (int i = 0; i < times; ++i) {
    const auto guard = co_await guarded.mutex.lock();
    const long seen = guarded.count;
    EXPECT_EQ(++guarded.inside, 1);
    if (i % 3 == 0) co_await yield_now();
    --guarded.inside;
    guarded.count = seen + 1;
  }
}

Task<> run_counters(Guarded& guarded) {
  sync::JoinSet<> tasks;
  for (int i = 0; i < 20; ++i) tasks.spawn(count_up(guarded, 100));
  while (auto task = co_await tasks.join_next()) EXPECT_TRUE(task->has_value());
}

TEST_P(MutexOn, only_one_task_is_inside_across_suspensions) {
  Guarded guarded;
  build_runtime().block_on(run_counters(guarded));
  EXPECT_EQ(guarded.count, 2000);
}

TEST_P(MutexOn, excludes_tasks_of_other_runtimes) {
  Runtime one = build_runtime();
  Guarded guarded;
  Runtime other = build_runtime();
  std::thread thread([&] { one.block_on(run_counters(guarded)); });
  other.block_on(run_counters(guarded));
  thread.join();
  EXPECT_EQ(guarded.count, 4000);
}

Task<> hold(Mutex& mutex, bool& held) {
  const auto guard = co_await mutex.lock();
  held = true;
  co_await tests::forever();
}

TEST_P(MutexOn, aborting_the_holder_unlocks) {
  Mutex mutex;
  bool held = false;
  run([&]() -> Task<> {
    JoinHandle<void> holder = spawn(hold(mutex, held));
    co_await tests::let_others_wait();
    holder.abort();
    // Waits until the abort has taken effect.
    const auto guard = co_await mutex.lock();
  });
  EXPECT_TRUE(mutex.try_lock());
}

/// Restores `inside` even when the task is aborted inside.
class Inside {
 public:
  explicit Inside(Guarded& guarded) : guarded_(guarded) { EXPECT_EQ(++guarded_.inside, 1); }
  ~Inside() { --guarded_.inside; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Guarded& guarded_;
};

Task<> enter_often(Guarded& guarded) {
  for (int i = 0; i < 4; ++i) {
    const auto guard = co_await guarded.mutex.lock();
    const Inside inside(guarded);
    ++guarded.count;
    if (i % 2 == 0) co_await yield_now();
  }
}

TEST_P(MutexOn, is_free_again_whenever_its_users_are_aborted) {
  Guarded guarded;
  run([&]() -> Task<> {
    std::mt19937 random(tests::test_seed());
    for (const tests::StressTime time; time.left();) {
      co_await tests::abort_some_of(16, random, [&](int) { return enter_often(guarded); });
      EXPECT_TRUE(guarded.mutex.try_lock());
    }
  });
  EXPECT_GT(guarded.count, 0);
}

TEST_P(MutexOn, is_free_after_the_end_of_a_runtime_whose_tasks_held_it_and_waited) {
  Mutex mutex;
  bool held = false;
  {
    Runtime runtime = build_runtime();
    for (int i = 0; i < 5; ++i) runtime.spawn(hold(mutex, held)).detach();
    runtime.block_on(tests::let_others_wait());
  }
  EXPECT_TRUE(mutex.try_lock());
}

}  // namespace
}  // namespace taskbench::rt
