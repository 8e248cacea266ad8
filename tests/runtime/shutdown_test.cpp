// The end of a runtime: what is cancelled, what is waited for, who may ask for it, and what may
// still happen during and after it.

#include <memory>

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace testing;

class Shutdown : public OnEveryScheduler {};

Task<> wake_itself_forever(Resident) {
  for (;;) {
    bool again = false;
    co_await poll_fn([&again](PollContext& context) -> std::optional<bool> {
      if (std::exchange(again, true)) return true;
      context.wake_now();
      return std::nullopt;
    });
  }
}
// `again` is true; a compiler that saw no way out would warn.
Task<> respawn_itself_forever(Resident resident, bool again = true) {
  if (again) spawn(respawn_itself_forever(resident, again)).detach();
  co_return;
}
/// Wakes the next of `gates` when it is destroyed.
class WakesNext {
 public:
  explicit WakesNext(Gate* next) : next_(next) {}
  WakesNext(WakesNext&& other) noexcept : next_(std::exchange(other.next_, nullptr)) {}
  WakesNext& operator=(WakesNext&&) = delete;
  ~WakesNext() {
    if (next_ != nullptr) next_->open();
  }

 private:
  Gate* next_;
};
Task<> wait_and_wake_next(Gate* own, WakesNext, Resident) { co_await own->passed(); }
/// Spawns `left` more tasks, each when the one before is destroyed.
class SpawnsNext {
 public:
  SpawnsNext(Census* census, int left) : census_(census), left_(left) {}
  SpawnsNext(SpawnsNext&& other) noexcept
      : census_(other.census_), left_(std::exchange(other.left_, 0)) {}
  SpawnsNext& operator=(SpawnsNext&&) = delete;
  ~SpawnsNext();

 private:
  Census* census_;
  int left_;
};
Task<> hold(SpawnsNext, Resident) { co_await forever(); }
SpawnsNext::~SpawnsNext() {
  if (left_ > 0) spawn(hold(SpawnsNext(census_, left_ - 1), Resident(*census_))).detach();
}

constexpr int kRounds = 50;

TEST_P(Shutdown, destroys_tasks_that_were_spawned_and_never_polled) {
  Census census;
  {
    Runtime runtime = build_runtime();
    for (int i = 0; i < 1000; ++i) runtime.spawn(wait_forever(Resident(census))).detach();
  }
  EXPECT_EQ(census.living(), 0);
  EXPECT_GE(census.ever(), 1000);
}

TEST_P(Shutdown, destroys_tasks_in_every_state) {
  Census census;
  Gate gate;
  for (int round = 0; round < 20; ++round) {
    Runtime runtime = build_runtime();
    for (int i = 0; i < 20; ++i) {
      runtime.spawn(wait_at(&gate, Resident(census))).detach();
      runtime.spawn(wait_forever(Resident(census))).detach();
      runtime.spawn(yield_forever(Resident(census))).detach();
      runtime.spawn(wake_itself_forever(Resident(census))).detach();
      runtime.spawn(respawn_itself_forever(Resident(census))).detach();
    }
    // Lets current_thread poll some of them, too.
    runtime.block_on([]() -> Task<> {
      for (int i = 0; i < kRounds; ++i) co_await yield_now();
    }());
    runtime.shutdown();
    EXPECT_EQ(census.living(), 0);
  }
}

TEST_P(Shutdown, delivers_join_error_for_what_it_cancelled) {
  Census census;
  Runtime runtime = build_runtime();
  JoinHandle<void> idle = runtime.spawn(wait_forever(Resident(census)));
  JoinHandle<void> busy = runtime.spawn(yield_forever(Resident(census)));
  runtime.shutdown();
  EXPECT_TRUE(idle.is_finished());
  EXPECT_TRUE(busy.is_finished());
  EXPECT_EQ(census.living(), 0);

  Runtime other = build_runtime();
  EXPECT_THROW(other.block_on([](JoinHandle<void> handle) -> Task<> {
    co_await std::move(handle);
  }(std::move(idle))),
               JoinError);
}

TEST_P(Shutdown, cancels_what_is_spawned_afterwards) {
  Census census;
  Runtime runtime = build_runtime();
  const Handle handle = runtime.handle();
  runtime.shutdown();
  JoinHandle<void> refused = handle.spawn(wait_forever(Resident(census)));
  EXPECT_TRUE(refused.is_finished());
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Shutdown, a_handle_that_outlives_the_runtime_cancels_what_it_spawns) {
  Census census;
  std::optional<Handle> handle;
  {
    Runtime runtime = build_runtime();
    handle = runtime.handle();
  }
  EXPECT_TRUE(handle->spawn(wait_forever(Resident(census))).is_finished());
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Shutdown, block_on_afterwards_leaves_no_task_behind) {
  Census census;
  {
    Runtime runtime = build_runtime();
    runtime.shutdown();
    runtime.block_on([](Census* counted) -> Task<> {
      spawn(wait_forever(Resident(*counted))).detach();
      spawn(yield_forever(Resident(*counted))).detach();
      co_return;
    }(&census));
  }
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Shutdown, a_task_may_ask_for_it) {
  Census census;
  std::atomic<bool> asked{false};
  {
    Runtime runtime = build_runtime();
    runtime.spawn(wait_forever(Resident(census))).detach();
    runtime
        .spawn([](Runtime* own, std::atomic<bool>* done, Resident) -> Task<> {
          co_await yield_now();
          // Suspended once: now the task is in the list of what shutdown has to end.
          int polls = 0;
          co_await poll_fn([&polls](PollContext& context) -> std::optional<bool> {
            if (polls++ > 0) return true;
            context.wake_now();
            return std::nullopt;
          });
          own->shutdown();
          done->store(true);
        }(&runtime, &asked, Resident(census)))
        .detach();
    runtime.block_on([](std::atomic<bool>* done) -> Task<> {
      while (!done->load()) co_await yield_now();
    }(&asked));
    EXPECT_TRUE(asked.load());
  }
  EXPECT_TRUE(eventually([&] { return census.living() == 0; }));
}

TEST_P(Shutdown, a_root_may_ask_for_it) {
  Census census;
  {
    Runtime runtime = build_runtime();
    runtime.block_on([](Runtime* own, Census* counted) -> Task<> {
      JoinHandle<void> task = spawn(wait_forever(Resident(*counted)));
      co_await yield_now();
      own->shutdown();
      // On current_thread it is this thread that has to end the task.
      while (!task.is_finished()) co_await yield_now();
      EXPECT_TRUE(spawn(wait_forever(Resident(*counted))).is_finished());
    }(&runtime, &census));
  }
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Shutdown, twice_is_once) {
  Census census;
  Runtime runtime = build_runtime();
  runtime.spawn(wait_forever(Resident(census))).detach();
  runtime.shutdown();
  EXPECT_EQ(census.living(), 0);
  runtime.shutdown();
  EXPECT_TRUE(runtime.shutdown_timeout(0s));
}

TEST_P(Shutdown, with_the_longest_limit_that_there_is_waits) {
  Census census;
  Runtime runtime = build_runtime();
  runtime.spawn(yield_forever(Resident(census))).detach();
  EXPECT_TRUE(runtime.shutdown_timeout(std::chrono::nanoseconds::max()));
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Shutdown, is_prompt_whatever_the_interval_of_the_injector) {
  Census census;
  Runtime runtime = builder(GetParam()).global_queue_interval(4'000'000'000U).build();
  for (int i = 0; i < 10; ++i) runtime.spawn(yield_forever(Resident(census))).detach();
  runtime.block_on(nothing());
  EXPECT_TRUE(runtime.shutdown_timeout(20s));
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Shutdown, wakes_during_it_are_harmless) {
  for (int round = 0; round < 50; ++round) {
    Census census;
    Gate gate;
    std::optional<Runtime> runtime = build_runtime();
    for (int i = 0; i < 100; ++i) runtime->spawn(wait_at(&gate, Resident(census))).detach();
    runtime->block_on([](Gate* entered) -> Task<> {
      while (entered->waiting() < 100) co_await yield_now();
    }(&gate));
    std::thread waker([&gate] { gate.open(); });
    runtime.reset();
    EXPECT_EQ(census.living(), 0);
    waker.join();
  }
}

TEST_P(Shutdown, wakes_after_it_are_harmless) {
  Census census;
  Gate gate;
  {
    Runtime runtime = build_runtime();
    for (int i = 0; i < 10; ++i) runtime.spawn(wait_at(&gate, Resident(census))).detach();
    runtime.block_on([](Gate* entered) -> Task<> {
      while (entered->waiting() < 10) co_await yield_now();
    }(&gate));
  }
  EXPECT_EQ(census.living(), 0);
  std::vector<Waker> wakers = gate.take_wakers();
  ASSERT_EQ(wakers.size(), 10U);
  for (Waker& waker : wakers) {
    waker.wake_by_ref();
    const Waker copy = waker.clone();
    std::move(waker).wake();
    copy.wake_by_ref();
  }
}

TEST_P(Shutdown, join_and_abort_handles_outlive_the_runtime) {
  std::optional<JoinHandle<int>> value;
  std::optional<JoinHandle<void>> cancelled;
  std::optional<AbortHandle> abort;
  {
    Runtime runtime = build_runtime();
    value = runtime.spawn([]() -> Task<int> { co_return 7; }());
    runtime.block_on([](JoinHandle<int>* handle) -> Task<> {
      while (!handle->is_finished()) co_await yield_now();
    }(&*value));
    cancelled = runtime.spawn([]() -> Task<> { co_await forever(); }());
    abort = cancelled->abort_handle();
  }
  abort->abort();
  EXPECT_TRUE(abort->is_finished());
  Runtime other = build_runtime();
  EXPECT_EQ(other.block_on([](JoinHandle<int> handle) -> Task<int> {
    co_return co_await std::move(handle);
  }(std::move(*value))),
            7);
  cancelled.reset();
}

TEST_P(Shutdown, ten_thousand_tasks_that_wake_each_other_when_destroyed_need_no_stack) {
  constexpr std::size_t kTasks = 10'000;
  Census census;
  std::vector<Gate> gates(kTasks);
  {
    Runtime runtime = build_runtime();
    for (std::size_t i = 0; i < kTasks; ++i) {
      Gate* const next = i + 1 < kTasks ? &gates[i + 1] : nullptr;
      runtime.spawn(wait_and_wake_next(&gates[i], WakesNext(next), Resident(census))).detach();
    }
    runtime.block_on([](std::vector<Gate>* all) -> Task<> {
      for (Gate& gate : *all) {
        while (gate.waiting() == 0) co_await yield_now();
      }
    }(&gates));
  }
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Shutdown, destructors_that_spawn_have_their_tasks_cancelled) {
  Census census;
  {
    Runtime runtime = build_runtime();
    for (int i = 0; i < 10; ++i) {
      runtime.spawn(hold(SpawnsNext(&census, 100), Resident(census))).detach();
    }
    runtime.block_on(nothing());
  }
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Shutdown, a_thousand_tasks_that_spawn_each_other_when_destroyed_end) {
  Census census;
  {
    Runtime runtime = build_runtime();
    runtime.spawn(hold(SpawnsNext(&census, 1000), Resident(census))).detach();
    runtime.block_on(nothing());
  }
  EXPECT_EQ(census.living(), 0);
}

TEST_P(Shutdown, drops_the_runtime_inside_its_own_task) {
  Census census;
  auto runtime = std::make_shared<Runtime>(build_runtime());
  Runtime& driven = *runtime;
  runtime->spawn(wait_forever(Resident(census))).detach();
  JoinHandle<void> dropper = runtime->spawn([](std::shared_ptr<Runtime> last, Resident) -> Task<> {
    co_await yield_now();
    last.reset();
    co_await yield_now();
  }(runtime, Resident(census)));
  std::weak_ptr<Runtime> gone = runtime;
  if (GetParam().is_pool()) {
    runtime.reset();
  } else {
    // block_on is the only way to run it; the reference here goes before the task's does.
    driven.block_on([](std::shared_ptr<Runtime> here, std::weak_ptr<Runtime> there) -> Task<> {
      here.reset();
      while (!there.expired()) co_await yield_now();
    }(std::move(runtime), gone));
  }
  EXPECT_TRUE(eventually([&] { return gone.expired() && census.living() == 0; }));
  EXPECT_TRUE(dropper.is_finished());
}

TEST_P(Shutdown, drops_the_runtime_inside_its_own_root) {
  Census census;
  auto runtime = std::make_unique<Runtime>(build_runtime());
  Runtime& driven = *runtime;
  driven.block_on([](std::unique_ptr<Runtime> own, Census* counted) -> Task<> {
    spawn(wait_forever(Resident(*counted))).detach();
    co_await yield_now();
    own.reset();
    while (counted->living() > 0) co_await yield_now();
    // There is no runtime left to run this, but asking is not an error.
    EXPECT_TRUE(spawn(wait_forever(Resident(*counted))).is_finished());
    co_await yield_now();
  }(std::move(runtime), &census));
  EXPECT_EQ(census.living(), 0);
}

TASKBENCH_ON_EVERY_SCHEDULER(Shutdown);

class PoolShutdown : public OnEveryPool {};

TEST_P(PoolShutdown, ends_a_block_on_that_waits_for_a_task) {
  std::atomic<bool> waiting{false};
  Runtime runtime = build_runtime();
  std::thread blocked([&] {
    EXPECT_THROW(runtime.block_on([](std::atomic<bool>* flag) -> Task<> {
      JoinHandle<void> never = spawn([]() -> Task<> { co_await forever(); }());
      flag->store(true);
      co_await std::move(never);
    }(&waiting)),
                 JoinError);
  });
  ASSERT_TRUE(eventually([&] { return waiting.load(); }));
  runtime.shutdown();
  blocked.join();
}

/// Stays in its poll until `release`.
Task<> stuck(std::atomic<bool>* entered, const std::atomic<bool>* release, Resident) {
  entered->store(true);
  EXPECT_TRUE(block_worker_until(*release));
  co_await forever();
}

TEST_P(PoolShutdown, waits_for_the_poll_that_runs) {
  Census census;
  std::atomic<bool> entered{false};
  std::atomic<bool> release{false};
  std::optional<Runtime> runtime = build_runtime();
  runtime->spawn(stuck(&entered, &release, Resident(census))).detach();
  ASSERT_TRUE(eventually([&] { return entered.load(); }));
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);
    EXPECT_GT(census.living(), 0);
    release.store(true);
  });
  runtime.reset();
  EXPECT_EQ(census.living(), 0);
  later.join();
}

TEST_P(PoolShutdown, with_a_limit_returns_false_while_a_worker_is_stuck_and_cleans_up_later) {
  Census census;
  std::atomic<bool> entered{false};
  std::atomic<bool> release{false};
  std::optional<Runtime> runtime = build_runtime();
  for (int i = 0; i < 100; ++i) runtime->spawn(wait_forever(Resident(census))).detach();
  runtime->spawn(stuck(&entered, &release, Resident(census))).detach();
  ASSERT_TRUE(eventually([&] { return entered.load(); }));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(runtime->shutdown_timeout(20ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 20ms);
  EXPECT_FALSE(runtime->shutdown_timeout(0s)) << "the worker is still in its poll";
  EXPECT_FALSE(runtime->shutdown_timeout(-1s));
  EXPECT_GT(census.living(), 0);
  release.store(true);
  EXPECT_TRUE(runtime->shutdown_timeout(kPatience));
  EXPECT_EQ(census.living(), 0);
}

TEST_P(PoolShutdown, without_a_limit_after_one_with_a_limit_waits_for_the_rest) {
  Census census;
  std::atomic<bool> entered{false};
  std::atomic<bool> release{false};
  Runtime runtime = build_runtime();
  runtime.spawn(stuck(&entered, &release, Resident(census))).detach();
  ASSERT_TRUE(eventually([&] { return entered.load(); }));
  EXPECT_FALSE(runtime.shutdown_timeout(1ms));
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);
    release.store(true);
  });
  runtime.shutdown();
  EXPECT_EQ(census.living(), 0);
  later.join();
}

TEST_P(PoolShutdown, with_a_limit_outlives_the_runtime) {
  Census census;
  std::atomic<bool> entered{false};
  std::atomic<bool> release{false};
  {
    Runtime runtime = build_runtime();
    runtime.spawn(wait_forever(Resident(census))).detach();
    runtime.spawn(stuck(&entered, &release, Resident(census))).detach();
    ASSERT_TRUE(eventually([&] { return entered.load(); }));
    EXPECT_FALSE(runtime.shutdown_timeout(0s));
    release.store(true);
  }
  EXPECT_TRUE(eventually([&] { return census.living() == 0; }));
}

TEST_P(PoolShutdown, with_a_limit_that_is_not_needed_returns_true) {
  Census census;
  Runtime runtime = build_runtime();
  for (int i = 0; i < 100; ++i) runtime.spawn(yield_forever(Resident(census))).detach();
  EXPECT_TRUE(runtime.shutdown_timeout(kPatience));
  EXPECT_EQ(census.living(), 0);
}

TEST_P(PoolShutdown, spawns_from_other_threads_meanwhile_leave_nothing_behind) {
  for (int round = 0; round < 30; ++round) {
    Census census;
    std::optional<Runtime> runtime = build_runtime();
    std::atomic<bool> stop{false};
    std::vector<std::thread> spawners;
    for (int i = 0; i < 2; ++i) {
      spawners.emplace_back([&census, &stop, handle = runtime->handle()] {
        while (!stop.load()) {
          handle.spawn(wait_forever(Resident(census))).detach();
          handle.spawn(nothing()).detach();
        }
      });
    }
    std::this_thread::sleep_for(1ms);
    runtime.reset();
    stop.store(true);
    for (std::thread& spawner : spawners) spawner.join();
    EXPECT_EQ(census.living(), 0);
  }
}

TASKBENCH_ON_EVERY_POOL(PoolShutdown);

}  // namespace
}  // namespace taskbench::rt
