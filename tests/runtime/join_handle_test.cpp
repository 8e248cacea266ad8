// JoinHandle: what it delivers, that an exception stays in its task until then, and that it may be
// dropped, moved or awaited at every stage of its task.
#include "runtime/task/join_handle.hpp"

#include <stdexcept>

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

class Joining : public OnOneRuntime {};

Task<std::string> say(std::string what, int yields) {
  co_await yield_times(yields);
  co_return what;
}
Task<> fail(int yields, Resident) {
  co_await yield_times(yields);
  throw std::runtime_error("in the task");
}
Task<Resident> deliver(Resident resident, Gate* gate) {
  co_await gate->passed();
  co_return resident;
}
Task<> until_finished(const JoinHandle<void>& handle) {
  return until([&] { return handle.is_finished(); });
}

TEST_P(Joining, delivers_the_value) {
  EXPECT_EQ(run([&]() -> Task<std::string> {
              JoinHandle<std::string> soon = spawn(say("now", 0));
              JoinHandle<std::string> late = spawn(say("later", 10));
              std::string heard = co_await std::move(soon);
              heard += co_await late;
              co_return heard;
            }),
            "nowlater");
}

TEST_P(Joining, delivers_through_a_chain_of_tasks) {
  EXPECT_EQ(run([&]() -> Task<std::string> {
              co_return co_await spawn(
                  []() -> Task<std::string> { co_return co_await spawn(say("hello", 1)); }());
            }),
            "hello");
}

TEST_P(Joining, an_exception_is_isolated_and_delivered_on_join) {
  run([&]() -> Task<> {
    JoinHandle<void> failing = spawn(fail(1, Resident(census_)));
    JoinHandle<std::string> other = spawn(say("unharmed", 5));
    bool caught = false;
    try {
      co_await std::move(failing);
    } catch (const std::runtime_error& failure) {
      caught = std::string(failure.what()) == "in the task";
    }
    EXPECT_TRUE(caught);
    EXPECT_EQ(census_.living(), 0);
    const std::string heard = co_await std::move(other);
    EXPECT_EQ(heard, "unharmed");
  });
}

TEST_P(Joining, an_exception_that_nobody_joins_is_dropped_and_the_worker_goes_on) {
  for (int i = 0; i < 100; ++i) runtime_.spawn(fail(i % 3, Resident(census_))).detach();
  EXPECT_EQ(runtime_.block_on(say("alive", 3)), "alive");
  runtime_.shutdown();
}

TEST_P(Joining, is_empty_after_the_await_whether_it_returned_or_threw) {
  run([&]() -> Task<> {
    JoinHandle<std::string> value = spawn(say("x", 1));
    co_await value;
    EXPECT_TRUE(value.is_finished());
    value.abort();
    value.detach();
    JoinHandle<void> failing = spawn(fail(1, Resident(census_)));
    try {
      co_await failing;
    } catch (const std::runtime_error&) {
    }
    EXPECT_TRUE(failing.is_finished());
    const AbortHandle nobody = failing.abort_handle();
    const AbortHandle copy = nobody;
    copy.abort();
    EXPECT_TRUE(copy.is_finished());
    // The moved-from handle knows nothing; the target knows of the await.
    JoinHandle<void> moved = std::move(failing);
    EXPECT_TRUE(moved.is_finished());
    JoinHandle<void> assigned = spawn(nothing());
    assigned = std::move(moved);
    EXPECT_TRUE(assigned.is_finished());
    assigned.abort();
  });
}

TEST_P(Joining, is_finished_tells_whether_the_task_has_ended) {
  run([&]() -> Task<> {
    JoinHandle<Resident> handle = spawn(deliver(Resident(census_), &gate_));
    const AbortHandle other = handle.abort_handle();
    while (gate_.waiting() == 0) co_await yield_now();
    EXPECT_FALSE(handle.is_finished());
    EXPECT_FALSE(other.is_finished());
    gate_.open();
    co_await handle;
    EXPECT_TRUE(other.is_finished());
  });
}

/// The stage of its task at which a handle is dropped.
enum class Stage { queued, waiting, woken, finished };

class DroppedHandle : public ::testing::TestWithParam<std::tuple<Kind, Stage>> {};

TEST_P(DroppedHandle, detaches_and_its_output_is_destroyed_once) {
  const auto [kind, stage] = GetParam();
  Census census;
  Gate gate;
  Runtime runtime = build(kind);
  runtime.block_on([&, when = stage]() -> Task<> {
    std::optional<JoinHandle<Resident>> handle = spawn(deliver(Resident(census), &gate));
    if (when != Stage::queued) {
      while (gate.waiting() == 0) co_await yield_now();
    }
    if (when == Stage::woken || when == Stage::finished) gate.open();
    if (when == Stage::finished) {
      while (!handle->is_finished()) co_await yield_now();
      EXPECT_GT(census.living(), 0) << "the output waits for the handle";
    }
    handle.reset();
    gate.open();
    while (census.living() > 0) co_await yield_now();
  }());
  runtime.shutdown();
  EXPECT_EQ(census.living(), 0);
}

INSTANTIATE_TEST_SUITE_P(Stages, DroppedHandle,
                         ::testing::Combine(::testing::Values(kCurrentThread, kOneWorker,
                                                              kFourWorkers),
                                            ::testing::Values(Stage::queued, Stage::waiting,
                                                              Stage::woken, Stage::finished)));

TEST_P(Joining, dropped_while_the_task_completes_on_another_thread) {
  for (int round = 0; round < tries(300); ++round) {
    Gate gate;
    std::optional<JoinHandle<Resident>> handle = runtime_.spawn(deliver(Resident(census_), &gate));
    const AbortHandle task = handle->abort_handle();
    std::thread opener([&gate] { gate.open(); });
    runtime_.block_on(say("turn", round % 3));
    handle.reset();
    opener.join();
    // The gate must outlive the task.
    runtime_.block_on(until([&] { return task.is_finished(); }));
  }
  runtime_.shutdown();
}

TEST_P(Joining, dropped_while_another_task_awaits_it) {
  const auto join = [&]() -> Task<> { co_await spawn(deliver(Resident(census_), &gate_)); };
  run([&]() -> Task<> {
    // The waiting task is aborted, and its handle goes with it while the waker is registered.
    JoinHandle<void> waiter = spawn(join());
    while (gate_.waiting() == 0) co_await yield_now();
    co_await yield_times(10);
    waiter.abort();
    co_await until_finished(waiter);
    EXPECT_GT(census_.living(), 0) << "the awaited task goes on, detached";
    gate_.open();
    while (census_.living() > 0) co_await yield_now();
  });
}

TEST_P(Joining, may_be_awaited_by_another_task_after_a_first_gave_up) {
  run([&]() -> Task<> {
    std::optional handle = spawn(deliver(Resident(census_), &gate_));
    const auto join = [&]() -> Task<> { co_await *handle; };
    JoinHandle<void> first = spawn(join());
    co_await yield_times(20);
    first.abort();
    co_await until_finished(first);
    JoinHandle<void> second = spawn(join());
    co_await yield_times(20);
    EXPECT_FALSE(second.is_finished());
    gate_.open();
    co_await std::move(second);
    handle.reset();
    EXPECT_EQ(census_.living(), 0);
  });
}

TEST_P(Joining, move_assignment_detaches_what_was_held) {
  gate_.open();
  run([&]() -> Task<> {
    JoinHandle<Resident> handle = spawn(deliver(Resident(census_), &gate_));
    handle = spawn(deliver(Resident(census_), &gate_));
    JoinHandle<Resident>& self = handle;
    handle = std::move(self);
    co_await handle;
    while (census_.living() > 0) co_await yield_now();
  });
}

TEST_P(Joining, a_thousand_handles_in_any_order) {
  EXPECT_EQ(run([&]() -> Task<int> {
              std::vector<JoinHandle<std::string>> handles;
              for (int i = 0; i < 1000; ++i)
                handles.push_back(spawn(say(std::to_string(i), i % 5)));
              int sum = 0;
              for (std::size_t i = handles.size(); i-- > 0;) {
                const std::string heard = co_await handles[i];
                sum += std::stoi(heard);
              }
              co_return sum;
            }),
            999 * 1000 / 2);
}

TASKBENCH_ON_EVERY_SCHEDULER(Joining);

}  // namespace
}  // namespace taskbench::rt
