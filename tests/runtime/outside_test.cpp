// Counters of threads outside, and a closed engine, which counts and admits nothing.
#include "runtime/scheduler/outside.hpp"

#include <gtest/gtest.h>

#include "runtime/task/header.hpp"
#include "tests/runtime/fixtures.hpp"

namespace taskbench::rt::scheduler {
namespace {

void expect_counted(const Outside& outside, WorkerCounters expected) {
  const WorkerCounters counted = outside.counters();
  if (!tests::kCounted) expected = {};
  EXPECT_EQ(counted.tasks_spawned, expected.tasks_spawned);
  EXPECT_EQ(counted.remote_schedules, expected.remote_schedules);
  EXPECT_EQ(counted.unparks, expected.unparks);
}

TEST(Outside, a_spawn_is_on_its_way_until_the_task_is_queued) {
  Outside outside{trace::Recorder()};
  task::Header task;
  bool is_queued = false;
  EXPECT_TRUE(outside.spawn(&task, [&] {
    EXPECT_TRUE(outside.is_spawning());
    is_queued = true;
  }));
  EXPECT_TRUE(is_queued);
  EXPECT_FALSE(outside.is_spawning());
}

TEST(Outside, spawns_wakes_and_notifications_are_counted_until_it_is_closed) {
  Outside outside{trace::Recorder()};
  task::Header task;
  const WorkerCounters counted{.remote_schedules = 2, .unparks = 1, .tasks_spawned = 1};
  EXPECT_TRUE(outside.spawn(&task, [] {}));
  outside.wake(&task);
  outside.notify(0);
  expect_counted(outside, counted);
  outside.close();
  EXPECT_FALSE(outside.spawn(&task, [] { ADD_FAILURE() << "queued"; }));
  EXPECT_FALSE(outside.is_spawning());
  outside.wake(&task);
  outside.notify(0);
  expect_counted(outside, counted);
}

}  // namespace
}  // namespace taskbench::rt::scheduler
