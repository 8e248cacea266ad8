// Whole pools: tasks are spawned, woken and joined, and the runtime shuts down.
#include <gtest/gtest.h>

#include "runtime/runtime.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

Task<int> number(int value) { co_return value; }

Task<int> nested() {
  JoinHandle<int> one = spawn(number(1));
  JoinHandle<int> two = spawn(number(2));
  co_return co_await one + co_await two;
}

Runtime pool(unsigned workers) {
  return Runtime::Builder{}.scheduler("work_stealing").workers(workers).build();
}

TEST(PoolModel, a_spawned_task_is_run_and_joined) {
  holds(
      [] {
        Runtime runtime = pool(1);
        mc::require(runtime.block_on(nested()) == 3, "both have run");
      },
      {.preemptions = 1, .stale = 1});
}

TEST(PoolModel, of_two_workers_nested_spawns_are_run) {
  holds(
      [] {
        Runtime runtime = pool(2);
        mc::require(runtime.block_on(nested()) == 3, "both have run");
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 0});
}

}  // namespace
}  // namespace taskbench::rt::model
