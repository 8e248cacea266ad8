// The schedulers that run tasks on the threads that call block_on: which thread drives, what the
// others leave to it, and when it looks at what. What all schedulers promise is tested elsewhere.

#include <algorithm>
#include <stdexcept>

#include "runtime/time/sleep.hpp"
#include "runtime/time/timeout.hpp"
#include "tests/runtime/allocations.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

class OnCaller : public OnOneRuntime {
 protected:
  /// Polls `body` once, as the root of a thread that drives.
  template <class Body>
  static void drive_for_one_poll(Runtime& runtime, Body body) {
    runtime.block_on([](Body& run_once) -> Task<> {
      run_once();
      co_return;
    }(body));
  }
  /// Runs `body` on another thread, and waits for its end.
  template <class Body>
  static void elsewhere(Body body) {
    std::thread(std::move(body)).join();
  }
};

/// Whether a trace is available, that is, whether nothing can run any more.
bool has_ended(Runtime& runtime) {
  try {
    static_cast<void>(runtime.trace());
    return true;
  } catch (const std::logic_error&) {
    return false;
  }
}

TEST_P(OnCaller, who_does_not_drive_leaves_the_drivers_place_and_its_tasks_alone) {
  Runtime runtime = builder(GetParam()).trace(64).build();
  runtime.spawn(wait_forever(Resident(census_))).detach();
  runtime.block_on(yield_times(10));  // so that the task waits
  drive_for_one_poll(runtime, [&] {
    elsewhere([&] { runtime.block_on(nothing()); });
    elsewhere([&] {
      // Only in_turn's driver can end the runtime, so the shutdown waits for it.
      EXPECT_EQ(runtime.shutdown_timeout(0s), GetParam().scheduler == "current_thread");
    });
    EXPECT_FALSE(has_ended(runtime));
    elsewhere([&] { runtime.block_on(nothing()); });
    EXPECT_FALSE(has_ended(runtime));
    EXPECT_EQ(census_.living(), 1);
  });
  EXPECT_EQ(census_.living(), 0);
  EXPECT_TRUE(has_ended(runtime));
}

TEST_P(OnCaller, a_root_that_shuts_down_has_no_task_left) {
  run([&]() -> Task<> {
    for (int i = 0; i < 9; ++i) spawn(yield_forever(Resident(census_))).detach();
    spawn(wait_forever(Resident(census_))).detach();
    co_await yield_times(50);
    runtime_.shutdown();
    EXPECT_EQ(census_.living(), 0);
  });
}

TEST_P(OnCaller, a_task_that_shuts_down_and_ends_the_root_leaves_no_task) {
  const auto shut_down = [&](Resident) -> Task<> {
    co_await yield_now();
    EXPECT_EQ(runtime_.shutdown_timeout(1h), GetParam().scheduler == "current_thread");
    gate_.open();
    co_await forever();
  };
  run([&]() -> Task<> {
    spawn(wait_forever(Resident(census_))).detach();
    spawn(shut_down(Resident(census_))).detach();
    co_await gate_.passed();
  });
  EXPECT_EQ(census_.living(), 0);
}

TEST_P(OnCaller, nothing_runs_after_the_root_has_ended) {
  bool ran = false;
  const auto set = [&]() -> Task<> {
    ran = true;
    co_return;
  };
  run([&]() -> Task<> {
    spawn(set()).detach();
    co_return;
  });
  EXPECT_FALSE(ran);
  run([] { return yield_times(10); });
  EXPECT_TRUE(ran);
}

TEST_P(OnCaller, between_two_turns_of_a_root_that_yields_a_few_tasks_run) {
  constexpr int kInterval = 3;
  const int expected = GetParam().scheduler == "current_thread" ? kInterval : 1;
  int turns = 0;
  const auto take_turns = [&]() -> Task<> {
    for (;;) {
      ++turns;
      co_await yield_now();
    }
  };
  Runtime runtime = builder(GetParam()).global_queue_interval(kInterval).build();
  runtime.block_on([&]() -> Task<> {
    for (int i = 0; i < 12; ++i) spawn(take_turns()).detach();
    co_await yield_times(40);
    for (int round = 0; round < 20; ++round) {
      const int before = turns;
      co_await yield_now();
      EXPECT_EQ(turns - before, expected);
    }
  }());
}

TEST_P(OnCaller, timers_end_while_the_root_yields_whatever_the_interval) {
  for (const std::uint32_t interval : {1U, 61U}) {
    Runtime runtime = builder(GetParam()).global_queue_interval(interval).build();
    runtime.block_on([]() -> Task<> {
      JoinHandle<void> sleeper = spawn([]() -> Task<> { co_await time::sleep(1ms); }());
      while (!sleeper.is_finished()) co_await yield_now();
    }());
  }
}

TEST_P(OnCaller, timers_end_while_a_root_yields_though_the_driver_is_in_a_long_poll) {
  drive_for_one_poll(runtime_, [&] {
    elsewhere([&] {
      run([]() -> Task<> {
        const bool ended = co_await time::timeout(1ms, yield_forever());
        EXPECT_FALSE(ended);
      });
    });
  });
}

TEST_P(OnCaller, only_the_driver_counts_and_records_that_it_sleeps) {
  Runtime runtime = builder(GetParam()).trace(64).build();
  drive_for_one_poll(runtime, [&] {
    std::thread other([&] { runtime.block_on([&]() -> Task<> { co_await gate_.passed(); }()); });
    EXPECT_TRUE(eventually([&] { return gate_.waiting() == 1; }));
    gate_.open();
    other.join();
  });
  EXPECT_EQ(runtime.stats().workers[0].parks, 0U);
  runtime.shutdown();
  EXPECT_TRUE(runtime.trace().workers[0].events.empty());
}

TEST_P(OnCaller, a_root_is_polled_when_it_was_woken_and_not_before) {
  std::thread opener([&] {
    EXPECT_TRUE(eventually([&] { return gate_.waiting() > 0; }));
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(gate_.waiting(), 1U);
    gate_.open();
  });
  run([&]() -> Task<> { co_await gate_.passed(); });
  opener.join();
}

TEST_P(OnCaller, a_driver_that_has_nothing_to_do_sleeps) {
  if (!kCounted) GTEST_SKIP() << "whether it sleeps is told by the counters";
  Runtime runtime = builder(GetParam()).trace(64).build();
  std::thread opener([&] {
    EXPECT_TRUE(eventually([&] { return runtime.stats().total().parks > 0; }));
    gate_.open();
  });
  runtime.block_on([&]() -> Task<> { co_await gate_.passed(); }());
  opener.join();
  runtime.shutdown();
  if (GetParam().scheduler != "current_thread") return;  // in_turn wakes no worker at the end
  const Trace trace = runtime.trace();
  const auto count = [&](TraceEventKind kind) {
    return std::ranges::count(trace.workers[0].events, kind, &TraceEvent::kind);
  };
  EXPECT_EQ(count(TraceEventKind::park), count(TraceEventKind::unpark));
}

/// Where the thread in block_on is the worker. To in_turn, it is outside.
class OnDrivingCaller : public OnCaller {};

TEST_P(OnDrivingCaller, what_the_driver_and_what_other_threads_queue_is_counted_apart) {
  if (!kCounted) GTEST_SKIP() << "who has queued it is told by the counters";
  run([&]() -> Task<> {
    JoinHandle<void> waiter = spawn(wait_at(&gate_, Resident(census_)));
    co_await yield_now();
    gate_.open();
    co_await waiter;
  });
  RuntimeStats stats = runtime_.stats();
  EXPECT_EQ(stats.outside.tasks_spawned + stats.outside.remote_schedules, 0U);
  EXPECT_EQ(stats.total().injector_polls, 0U);
  drive_for_one_poll(runtime_, [&] {
    elsewhere([&] {
      for (int i = 0; i < 3; ++i) runtime_.spawn(nothing()).detach();
    });
  });
  runtime_.block_on(yield_times(10));
  stats = runtime_.stats();
  EXPECT_EQ(stats.outside.tasks_spawned, 3U);
  EXPECT_EQ(stats.total().injector_polls, 3U);
  EXPECT_EQ(stats.outside.unparks, 0U) << "the driver was awake";
  Gate second;
  std::thread waker([&] {
    EXPECT_TRUE(eventually([&] {
      runtime_.spawn(nothing()).detach();
      return runtime_.stats().outside.unparks > 0;
    }));
    second.open();
  });
  run([&]() -> Task<> { co_await second.passed(); });
  waker.join();
}

TEST_P(OnCaller, a_thread_that_waits_for_the_drivers_place_needs_no_memory_however_often_it_wakes) {
  constexpr int kWakes = 200;
  std::atomic<int> polls{0};
  Waker waker;
  const auto wake_until = [&](int count) {
    for (int i = polls.load(); i < count; ++i) {
      waker.wake_by_ref();
      EXPECT_TRUE(eventually([&] { return polls.load() > i; }));
    }
  };
  drive_for_one_poll(runtime_, [&] {
    std::thread other([&] {
      run([&]() -> Task<> {
        co_await poll_fn([&](PollContext& context) -> std::optional<bool> {
          if (polls.load() == 0) waker = context.waker();
          if (polls.fetch_add(1) + 1 == 2 * kWakes) return true;
          return std::nullopt;
        });
      });
    });
    EXPECT_TRUE(eventually([&] { return polls.load() == 1; }));
    wake_until(kWakes);
    const std::size_t before = allocations();
    wake_until(2 * kWakes - 1);
    EXPECT_EQ(allocations(), before);
    wake_until(2 * kWakes);
    other.join();
    EXPECT_EQ(runtime_.stats().total().parks, 0U) << "only a driver counts that it sleeps";
  });
}

TEST_P(OnCaller, a_thread_that_no_longer_waits_for_the_drivers_place_leaves_it_to_who_came_later) {
  std::atomic<bool> second_waits{false};
  std::thread second;
  drive_for_one_poll(runtime_, [&] {
    std::thread first([&] { run([&]() -> Task<> { co_await gate_.passed(); }); });
    EXPECT_TRUE(eventually([&] { return gate_.waiting() == 1; }));
    second = std::thread([&] {
      run([&]() -> Task<> {
        JoinHandle<void> task = spawn(nothing());  // only a driver can run it
        second_waits.store(true);
        co_await task;
      });
    });
    EXPECT_TRUE(eventually([&] { return second_waits.load(); }));
    gate_.open();
    first.join();
  });
  second.join();
}

TEST_P(OnCaller, a_thread_that_does_not_get_the_drivers_place_needs_no_memory) {
  drive_for_one_poll(runtime_, [&] {
    elsewhere([&] {
      Task<> root = nothing();
      const NoMemory no_memory;
      runtime_.block_on(std::move(root));
    });
  });
}

TEST_P(OnCaller, a_shutdown_in_a_task_lets_that_of_another_thread_wait) {
  std::atomic<bool> in_call{false};
  std::atomic<bool> in_task{false};
  std::atomic<bool> asks{false};
  std::atomic<bool> release{false};
  runtime_
      .spawn_blocking([&] {
        in_call.store(true);
        EXPECT_TRUE(block_worker_until(release));
      })
      .detach();
  std::thread driving([&] {
    run([&]() -> Task<> {
      JoinHandle<void> asking = spawn([&]() -> Task<> {
        in_task.store(true);
        EXPECT_TRUE(block_worker_until(asks));
        runtime_.shutdown();
        release.store(true);
        co_return;
      });
      co_await asking;
    });
  });
  EXPECT_TRUE(eventually([&] { return in_call.load() && in_task.load(); }));
  std::thread other([&] {
    std::this_thread::sleep_for(5ms);  // so that the shutdown below sleeps
    asks.store(true);
  });
  runtime_.shutdown();
  driving.join();
  other.join();
}

INSTANTIATE_TEST_SUITE_P(Schedulers, OnCaller, ::testing::Values(kCurrentThread, kInTurn),
                         [](const auto& instance) { return std::string(instance.param.name); });
INSTANTIATE_TEST_SUITE_P(Schedulers, OnDrivingCaller, ::testing::Values(kCurrentThread),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace taskbench::rt
