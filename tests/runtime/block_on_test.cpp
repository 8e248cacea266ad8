// block_on: values and exceptions, several threads at once, under load, and the refusal to nest.

#include <stdexcept>

#include "runtime/sync/oneshot.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace testing;

class BlockOn : public OnOneRuntime {};

/// Wakes itself by its waker, where yield_now() needs none.
Task<> wake_itself_forever() {
  co_await poll_fn([](PollContext& context) -> std::optional<bool> {
    context.waker().wake_by_ref();
    return std::nullopt;
  });
}

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
  EXPECT_THROW(runtime_.block_on([](Resident) -> Task<int> {
    co_await yield_now();
    throw std::out_of_range("from the root");
  }(Resident(census_))),
               std::out_of_range);
  EXPECT_EQ(census_.living(), 0);
  EXPECT_EQ(runtime_.block_on(number(1)), 1) << "the runtime_ is unharmed";
}

TEST_P(BlockOn, propagates_the_exception_of_a_joined_task) {
  EXPECT_THROW(run([&]() -> Task<> {
                 co_await spawn([]() -> Task<> {
                   co_await yield_now();
                   throw std::out_of_range("from a task");
                 }());
               }),
               std::out_of_range);
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
    // So does a task that waits for the same.
    co_await spawn([](Gate* open) -> Task<> { co_await open->passed(); }(&gate_));
  });
  opener.join();
}

TEST_P(BlockOn, a_task_completes_under_self_waking_load) {
  std::thread opener;
  run([&]() -> Task<> {
    JoinHandle<void> waiting =
        spawn([](Gate* waited) -> Task<> { co_await waited->passed(); }(&gate_));
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
  run([&]() -> Task<> {
    spawn([](std::atomic<bool>* set) -> Task<> {
      for (int i = 0; i < 100; ++i) co_await yield_now();
      set->store(true);
    }(&ran))
        .detach();
    while (!ran.load()) co_await yield_now();
  });
  EXPECT_TRUE(ran.load());
}

TEST_P(BlockOn, from_several_threads_at_once) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 100;
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, &ran, i] {
      for (int round = 0; round < kRounds; ++round) {
        const int sum = runtime_.block_on([](std::atomic<int>* count, int value) -> Task<int> {
          JoinHandle<int> task = spawn([](std::atomic<int>* counter, int v) -> Task<int> {
            co_await yield_now();
            counter->fetch_add(1);
            co_return v;
          }(count, value));
          co_await yield_now();
          co_return co_await std::move(task) + 1;
        }(&ran, i));
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
        // By way of &first task, which whoever drives the runtime_ then has to run.
        spawn([](Gate* last) -> Task<> {
          co_await yield_now();
          last->open();
        }(&third))
            .detach();
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
  // The first thread drives while the second waits for a task that only a driver can run.
  std::thread second;
  run([&]() -> Task<> {
    second = std::thread([this, &second_waits] {
      run([&]() -> Task<> {
        JoinHandle<void> task = spawn([](Gate* waited) -> Task<> {
          co_await waited->passed();
          for (int i = 0; i < 10; ++i) co_await yield_now();
        }(&gate_));
        second_waits.store(true);
        co_await std::move(task);
      });
    });
    while (!second_waits.load()) co_await yield_now();
  });
  gate_.open();
  second.join();
}

/// What block_on says when it is called by `task`, or "" when it does not refuse.
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
    const std::string what = runtime_.block_on([](Runtime* in) -> Task<std::string> {
      co_return co_await spawn(ask_for_refusal(in));
    }(inner));
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
  runtime_.block_on([](std::optional<Runtime>* made, Kind kind) -> Task<> {
    Runtime temporary = build(kind);
    temporary.spawn(yield_forever()).detach();
    *made = build(kind);
    co_return;
  }(&inner, GetParam()));
  EXPECT_EQ(inner->block_on(number(4)), 4);
}

TASKBENCH_ON_EVERY_SCHEDULER(BlockOn);

}  // namespace
}  // namespace taskbench::rt
