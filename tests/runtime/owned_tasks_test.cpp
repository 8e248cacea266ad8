// The list of live tasks: which tasks are in it, and what shutdown takes out of it.
#include "runtime/task/owned_tasks.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "runtime/runtime.hpp"

namespace taskbench::rt::task {
namespace {

/// A schedule that only records what it was told.
class Recorder final : public Schedule {
 public:
  void schedule(Header* task) noexcept override { scheduled.push_back(task); }
  void adopt(Header* task) noexcept override { owned.insert(task, next_shard++ % 2); }
  void disown(Header* task) noexcept override {
    owned.remove(task);
    ++disowned;
  }

  OwnedTasks owned{2};
  std::vector<Header*> scheduled;
  std::size_t next_shard = 0;
  int disowned = 0;
};

Task<> wait_forever() {
  co_await poll_fn([](PollContext&) -> std::optional<bool> { return std::nullopt; });
}
Task<> end_at_once() { co_return; }

class OwnedTasksTest : public ::testing::Test {
 protected:
  /// Adds a detached, waiting task, which is therefore in the list.
  Header* add_idle() {
    Header* const task = wait_forever().release_for_spawn(&recorder_);
    join_drop(task);
    EXPECT_EQ(poll(task), Polled::idle);
    return task;
  }
  std::set<Header*> claim() {
    std::set<Header*> claimed;
    for (Header* task = recorder_.owned.claim_all(); task != nullptr; task = task->queue_next) {
      claimed.insert(task);
    }
    return claimed;
  }

  Recorder recorder_;
};

TEST_F(OwnedTasksTest, a_task_enters_when_it_first_waits_and_leaves_when_it_is_complete) {
  EXPECT_TRUE(recorder_.owned.empty());
  Header* const task = add_idle();
  EXPECT_FALSE(recorder_.owned.empty());
  abort(task);
  EXPECT_FALSE(recorder_.owned.empty()) << "it is queued: the list's reference keeps it";
  ASSERT_EQ(recorder_.scheduled, std::vector<Header*>{task});
  EXPECT_EQ(poll(task), Polled::finished);
  EXPECT_TRUE(recorder_.owned.empty());
}

TEST_F(OwnedTasksTest, a_task_that_ends_in_its_first_poll_is_never_in_it) {
  Header* const task = end_at_once().release_for_spawn(&recorder_);
  join_drop(task);
  EXPECT_EQ(poll(task), Polled::finished);
  EXPECT_EQ(recorder_.next_shard, 0U);
}

TEST_F(OwnedTasksTest, wake_by_ref_queues_without_a_reference) {
  Header* const task = add_idle();
  EXPECT_TRUE(task->state.ending().has_sole_owner()) << "nobody holds a reference but the list";
  wake_by_ref(task);
  EXPECT_TRUE(task->state.ending().has_sole_owner());
  wake_by_ref(task);
  EXPECT_EQ(recorder_.scheduled.size(), 1U) << "a queued task is not queued again";
  cancel(task);
}

TEST_F(OwnedTasksTest, shutdown_claims_every_idle_task_once) {
  std::set<Header*> added;
  for (int i = 0; i < 9; ++i) added.insert(add_idle());
  EXPECT_EQ(claim(), added);
  EXPECT_TRUE(claim().empty());
  for (Header* task : added) cancel(task);
  EXPECT_TRUE(recorder_.owned.empty());
}

TEST_F(OwnedTasksTest, shutdown_leaves_a_queued_task_to_its_queue_and_has_it_cancelled_there) {
  Header* const task = add_idle();
  wake_by_ref(task);
  EXPECT_TRUE(claim().empty());
  EXPECT_FALSE(recorder_.owned.empty());
  EXPECT_EQ(poll(task), Polled::finished);
  EXPECT_TRUE(recorder_.owned.empty());
}

TEST_F(OwnedTasksTest, tasks_leave_from_anywhere_in_the_list) {
  std::vector<Header*> tasks;
  for (int i = 0; i < 12; ++i) tasks.push_back(add_idle());
  // Middle, newest, oldest, then the rest.
  for (const std::size_t index : {5U, 11U, 0U, 4U, 6U, 10U, 1U, 2U, 3U, 7U, 9U, 8U}) {
    abort(tasks[index]);
    EXPECT_EQ(poll(tasks[index]), Polled::finished);
  }
  EXPECT_TRUE(recorder_.owned.empty());
}

TEST_F(OwnedTasksTest, a_task_that_was_taken_out_is_not_taken_out_at_its_end) {
  Header* const task = add_idle();
  wake_by_ref(task);
  recorder_.owned.remove(task);
  EXPECT_TRUE(recorder_.owned.empty());
  cancel(task);
  EXPECT_EQ(recorder_.disowned, 0);
}

TEST_F(OwnedTasksTest, a_complete_task_outlives_the_list_by_its_references) {
  Header* const task = add_idle();
  add_reference(task);
  Waker waker = waker_from_reference(task);
  abort(task);
  EXPECT_EQ(poll(task), Polled::finished);
  EXPECT_TRUE(recorder_.owned.empty());
  waker.wake_by_ref();
  std::move(waker).wake();
  EXPECT_EQ(recorder_.scheduled.size(), 1U) << "the abort, not the wakes";
}

TEST(OwnedTasksThreads, insertions_and_removals_on_several_threads_balance) {
  OwnedTasks owned(2);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&owned, i] {
      Recorder unused;
      std::vector<Header*> tasks;
      for (int n = 0; n < 50; ++n) {
        Header* const task = end_at_once().release_for_spawn(&unused);
        join_drop(task);
        tasks.push_back(task);
      }
      for (int round = 0; round < 200; ++round) {
        for (std::size_t n = 0; n < tasks.size(); ++n) {
          owned.insert(tasks[n], (n + static_cast<std::size_t>(i)) % 2);
        }
        for (Header* task : tasks) owned.remove(task);
      }
      for (Header* task : tasks) cancel(task);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(owned.empty());
}

}  // namespace
}  // namespace taskbench::rt::task
