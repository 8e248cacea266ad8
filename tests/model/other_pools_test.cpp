// The schedulers that work_stealing is compared with, each as a whole: tasks are spawned, woken and
// joined, and the runtime shuts down.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "runtime/runtime.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

Task<int> one() { co_return 1; }

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

TEST_P(OtherPoolModel, of_one_worker_runs_what_is_spawned_from_outside) {
  holds(
      [] {
        Runtime runtime = pool(1);
        mc::require(runtime.block_on(sum()) == 2, "both have run");
      },
      {.preemptions = 1});
}

TEST_P(OtherPoolModel, of_two_workers_if_it_may_have_them_runs_what_a_task_spawns) {
  holds(
      [] {
        Runtime runtime = pool(find_scheduler(GetParam())->single_worker ? 1 : 2);
        mc::require(runtime.block_on([]() -> Task<int> { co_return co_await spawn(sum()); }()) == 2,
                    "both have run");
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 0});
}

INSTANTIATE_TEST_SUITE_P(Schedulers, OtherPoolModel,
                         ::testing::Values("global_queue", "sharded", "channel", "tokio01"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace taskbench::rt::model
