// block_on: values and exceptions, several threads at once, under load, and the refusal to nest.

#include <stdexcept>

#include "runtime/sync/oneshot.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

class BlockOn : public OnOneRuntime {};

/// Wakes itself by its waker, which yield_now() does not need.
Task<> wake_itself_forever() {
  co_await poll_fn([](PollContext& context) -> std::optional<bool> {
    context.waker().wake_by_ref();
    return std::nullopt;
  });
}

Task<> pass(Gate& gate) { co_await gate.passed(); }

TEST_P(BlockOn, returns_the_value) {
  bool ran = false;
  EXPECT_EQ(runtime_.block_on(number(3)), 3);
  run([&]() -> Task<> {
    ran = true;
    co_return;
  });
  EXPECT_TRUE(ran);
}

TEST_P(BlockOn, propagates_the_exception) {
  const auto fail = [](Resident) -> Task<> {
    co_await yield_now();
    throw std::out_of_range("from the root");
  };
  EXPECT_THROW(runtime_.block_on(fail(Resident(census_))), std::out_of_range);
  EXPECT_EQ(census_.living(), 0);
  EXPECT_EQ(runtime_.block_on(number(1)), 1) << "the runtime is unharmed";
}

TEST_P(BlockOn, propagates_the_exception_of_a_joined_task) {
  const auto fail = []() -> Task<> {
    co_await yield_now();
    throw std::out_of_range("from a task");
  };
  EXPECT_THROW(run_as_task(runtime_, fail), std::out_of_range);
}

TEST_P(BlockOn, waits_for_another_thread) {
  std::thread sender;
  const std::string heard = run([&]() -> Task<std::string> {
    auto ends = sync::oneshot::channel<std::string>();
    sender = std::thread([end = std::move(ends.first)]() mutable {
      std::this_thread::sleep_for(10ms);
      EXPECT_TRUE(end.send("hello"));
    });
    const std::optional<std::string> message = co_await std::move(ends.second);
    co_return message.value_or("nothing");
  });
  sender.join();
  EXPECT_EQ(heard, "hello");
}

TEST_P(BlockOn, thousands_in_a_row) {
  for (int i = 0; i < 3000; ++i) ASSERT_EQ(runtime_.block_on(number(i)), i);
}

TEST_P(BlockOn, completes_under_self_waking_load) {
  for (int i = 0; i < 10; ++i) {
    runtime_.spawn(yield_forever()).detach();
    runtime_.spawn(wake_itself_forever()).detach();
  }
  std::thread opener([this] {
    std::this_thread::sleep_for(10ms);
    gate_.open();
  });
  run([&]() -> Task<> {
    co_await gate_.passed();
    // A task that waits for the same gate completes, too.
    co_await spawn(pass(gate_));
  });
  opener.join();
}

TEST_P(BlockOn, a_task_completes_under_self_waking_load) {
  std::thread opener;
  run([&]() -> Task<> {
    JoinHandle<void> waiting = spawn(pass(gate_));
    for (int i = 0; i < 8; ++i) {
      spawn(yield_forever()).detach();
      spawn(wake_itself_forever()).detach();
    }
    while (gate_.waiting() == 0) co_await yield_now();
    opener = std::thread([this] {
      std::this_thread::sleep_for(10ms);
      gate_.open();
    });
    co_await std::move(waiting);
  });
  opener.join();
}

TEST_P(BlockOn, a_root_that_wakes_itself_does_not_starve_the_tasks) {
  std::atomic<bool> ran{false};
  const auto set_later = [&]() -> Task<> {
    co_await yield_times(100);
    ran.store(true);
  };
  run([&]() -> Task<> {
    spawn(set_later()).detach();
    while (!ran.load()) co_await yield_now();
  });
  EXPECT_TRUE(ran.load());
}

TEST_P(BlockOn, from_several_threads_at_once) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 100;
  std::atomic<int> ran{0};
  const auto count = [&](int value) -> Task<int> {
    co_await yield_now();
    ran.fetch_add(1);
    co_return value;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < kRounds; ++round) {
        const int sum = run([&]() -> Task<int> {
          JoinHandle<int> task = spawn(count(i));
          co_await yield_now();
          co_return co_await std::move(task) + 1;
        });
        EXPECT_EQ(sum, i + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ran.load(), kThreads * kRounds);
}

TEST_P(BlockOn, on_several_threads_that_wait_for_each_other) {
  for (int round = 0; round < 50; ++round) {
    Gate first;
    Gate second;
    Gate third;
    const auto open_later = [&]() -> Task<> {
      co_await yield_now();
      third.open();
    };
    std::thread one([&] {
      run([&]() -> Task<> {
        co_await first.passed();
        second.open();
      });
    });
    std::thread two([&] {
      run([&]() -> Task<> {
        first.open();
        co_await second.passed();
        // Opened by a task, which must be run by the thread that drives the runtime then.
        spawn(open_later()).detach();
        co_await third.passed();
      });
    });
    std::thread three([&] { run([&]() -> Task<> { co_await third.passed(); }); });
    one.join();
    two.join();
    three.join();
  }
}

TEST_P(BlockOn, another_thread_takes_over_when_the_driver_leaves) {
  std::atomic<bool> second_waits{false};
  const auto pass_and_yield = [&]() -> Task<> {
    co_await gate_.passed();
    co_await yield_times(10);
  };
  // The first thread drives while the second waits for a task that only a driver can run.
  std::thread second;
  run([&]() -> Task<> {
    second = std::thread([&] {
      run([&]() -> Task<> {
        JoinHandle<void> task = spawn(pass_and_yield());
        second_waits.store(true);
        co_await std::move(task);
      });
    });
    while (!second_waits.load()) co_await yield_now();
  });
  gate_.open();
  second.join();
}

/// The message with which block_on refuses to run here, or "" if it does not refuse.
std::string refusal(Runtime& inner) {
  try {
    inner.block_on(number(1));
  } catch (const std::logic_error& failure) {
    return failure.what();
  }
  return "";
}

Task<std::string> ask_for_refusal(Runtime* inner) { co_return refusal(*inner); }

TEST_P(BlockOn, is_refused_inside_block_on) {
  Runtime other = build(kCurrentThread);
  for (Runtime* inner : {&runtime_, &other}) {
    const std::string what = runtime_.block_on(ask_for_refusal(inner));
    EXPECT_NE(what.find("block_on"), std::string::npos) << what;
    EXPECT_NE(what.find("co_await"), std::string::npos) << "says what to do instead: " << what;
  }
  EXPECT_EQ(other.block_on(number(2)), 2);
}

TEST_P(BlockOn, is_refused_inside_a_task) {
  Runtime other = build(kTwoWorkers);
  for (Runtime* inner : {&runtime_, &other}) {
    const std::string what = run_as_task(runtime_, [&] { return ask_for_refusal(inner); });
    EXPECT_NE(what.find("block_on"), std::string::npos) << what;
  }
}

TEST_P(BlockOn, a_refused_task_is_destroyed) {
  run([&]() -> Task<> {
    EXPECT_THROW(runtime_.block_on([](Resident) -> Task<> { co_return; }(Resident(census_))),
                 std::logic_error);
    co_return;
  });
}

TEST_P(BlockOn, a_runtime_may_be_built_and_destroyed_inside_block_on) {
  std::optional<Runtime> inner;
  run([&]() -> Task<> {
    Runtime temporary = build_runtime();
    temporary.spawn(yield_forever()).detach();
    inner = build_runtime();
    co_return;
  });
  EXPECT_EQ(inner->block_on(number(4)), 4);
}

TASKBENCH_ON_EVERY_SCHEDULER(BlockOn);

}  // namespace
}  // namespace taskbench::rt
