// The schedulers that work_stealing is compared with, each as a whole: tasks are spawned, woken and
// joined, and the runtime shuts down.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/park/parker.hpp"
#include "runtime/runtime.hpp"
#include "runtime/task/poll_fn.hpp"
#include "runtime/time/sleep.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

Task<int> one() { co_return 1; }

Task<int> spawns_one() { co_return co_await spawn(one()); }

Task<int> sum() {
  JoinHandle<int> first = spawn(one());
  JoinHandle<int> second = spawn(one());
  co_return co_await first + co_await second;
}

class OtherPoolModel : public ::testing::TestWithParam<std::string_view> {
 protected:
  static Runtime pool(unsigned workers) {
    return Runtime::Builder{}.scheduler(GetParam()).workers(workers).build();
  }
};

/// Those of which another worker runs what was queued behind a task that blocks.
class StealingPoolModel : public OtherPoolModel {};

/// Those without a monitor, whose waits would time out, too.
class TimedPoolModel : public OtherPoolModel {};

TEST_P(OtherPoolModel, of_one_worker_runs_what_is_spawned_from_outside) {
  holds(
      [] {
        Runtime runtime = pool(1);
        mc::require(runtime.block_on(sum()) == 2, "both have run");
      },
      {.preemptions = 1, .stale = GetParam() == "go" ? 1 : -1});
}

// A task is spawned while the worker goes to sleep, after its last look and before it sleeps. That
// takes two preemptions, and the spawner must read an old count of sleepers.
TEST_P(OtherPoolModel, of_one_worker_is_woken_for_what_is_spawned_while_it_goes_to_sleep) {
  holds(
      [] {
        Runtime runtime = pool(1);
        mc::require(runtime.block_on(spawns_one()) == 1, "it has run");
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 1});
}

TEST_P(OtherPoolModel, of_two_workers_if_it_may_have_them_runs_what_a_task_spawns) {
  holds(
      [] {
        Runtime runtime = pool(find_scheduler(GetParam())->single_worker ? 1 : 2);
        mc::require(runtime.block_on([]() -> Task<int> { co_return co_await spawn(sum()); }()) == 2,
                    "both have run");
      },
      {.preemptions = GetParam() == "go" ? 1 : 2, .weak_failures = 0, .stale = 0});
}

Task<int> lets_go_on(park::Parker& parker) {
  parker.unpark();
  co_return 0;
}

Task<int> spawns_and_blocks() {
  park::Parker parker;
  JoinHandle<int> other = spawn(lets_go_on(parker));
  parker.park();
  co_return co_await other;
}

TEST_P(StealingPoolModel, of_two_workers_one_runs_what_the_other_has_queued_and_waits_for) {
  holds(
      [] {
        Runtime runtime = pool(2);
        runtime.block_on([]() -> Task<int> { co_return co_await spawn(spawns_and_blocks()); }());
      },
      {.preemptions = 1, .weak_failures = 0, .stale = GetParam() == "go" ? 0 : 1});
}

Task<int> blocks_until(park::Parker& parker) {
  parker.park();
  co_return 0;
}

TEST_P(StealingPoolModel, of_two_workers_one_runs_what_was_spawned_behind_a_task_that_blocks) {
  holds(
      [] {
        park::Parker parker;
        Runtime runtime = pool(2);
        JoinHandle<int> first = runtime.spawn(blocks_until(parker));
        runtime.spawn(lets_go_on(parker)).detach();
        runtime.block_on(
            [](JoinHandle<int>& handle) -> Task<int> { co_return co_await handle; }(first));
      },
      {.preemptions = 1, .weak_failures = 0, .stale = 0});
}

// Of two threads that wake the worker at the same moment, one finds it awake and counts nothing.
TEST_P(OtherPoolModel, of_one_worker_runs_what_two_threads_spawn_at_once_and_what_comes_later) {
  holds(
      [] {
        Runtime runtime = pool(1);
        base::Thread other([&] { runtime.spawn(one()).detach(); });
        mc::require(runtime.block_on(spawns_one()) == 1, "it has run");
        other.join();
        mc::require(runtime.block_on(spawns_one()) == 1, "it has run, too");
      },
      {.preemptions = GetParam() == "global_queue" ? 2 : 1, .weak_failures = 0, .stale = 0});
}

Task<int> sleeps_and_lets_go_on(park::Parker& parker) {
  co_await time::sleep(std::chrono::milliseconds(1));
  parker.unpark();
  co_return 0;
}

// The worker sleeps in the driver, which ends the sleep for the timer, without a token.
TEST_P(TimedPoolModel, of_one_worker_runs_a_task_whose_timer_is_due) {
  holds(
      [] {
        park::Parker parker;
        Runtime runtime = pool(1);
        runtime.spawn(sleeps_and_lets_go_on(parker)).detach();
        parker.park();
      },
      {.preemptions = 1, .weak_failures = 0, .stale = 0, .timeouts = true, .early = 1});
}

TEST_P(OtherPoolModel, a_spawn_from_another_thread_against_the_shutdown_leaves_nothing) {
  holds(
      [] {
        base::Thread other;
        {
          Runtime runtime = pool(1);
          other = base::Thread([handle = runtime.handle()] { handle.spawn(one()).detach(); });
        }
        other.join();
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 0});
}

Task<int> waits_and_then_reads(base::Cell<int>& data, park::Parker& left) {
  struct Local {
    base::Cell<int>& read;
    ~Local() { mc::require(read.get() == 1, "written before the shutdown"); }
  };
  const Local local{data};
  left.unpark();
  co_return co_await poll_fn([](PollContext&) -> std::optional<int> { return {}; });
}

TEST_P(OtherPoolModel, what_was_written_before_the_shutdown_is_seen_by_the_tasks_that_it_destroys) {
  holds(
      [] {
        base::Cell<int> data{0};
        park::Parker left;
        Runtime runtime = pool(1);
        runtime.spawn(waits_and_then_reads(data, left)).detach();
        left.park();
        data.set(1);
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 0});
}

/// `all` at night; by day only the scheduler meant for use, if it is one of them.
std::vector<std::string_view> checked(std::vector<std::string_view> all) {
  if (std::getenv("TASKBENCH_COMPARED_MODELS") == nullptr) {
    std::erase_if(all, [](std::string_view name) { return name != "go"; });
  }
  return all;
}

std::string name_of(const ::testing::TestParamInfo<std::string_view>& instance) {
  return std::string(instance.param);
}

INSTANTIATE_TEST_SUITE_P(
    Schedulers, OtherPoolModel,
    ::testing::ValuesIn(checked({"go", "global_queue", "sharded", "channel", "tokio01"})), name_of);
INSTANTIATE_TEST_SUITE_P(Schedulers, StealingPoolModel,
                         ::testing::ValuesIn(checked({"go", "global_queue", "tokio01"})), name_of);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TimedPoolModel);  // by day
INSTANTIATE_TEST_SUITE_P(
    Schedulers, TimedPoolModel,
    ::testing::ValuesIn(checked({"global_queue", "sharded", "channel", "tokio01"})), name_of);

}  // namespace
}  // namespace taskbench::rt::model
