// The end of a runtime: what is cancelled, what is waited for, who may ask for it, and what may
// still happen during and after it.

#include <memory>

#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

/// However the runtime ends, nothing that its tasks held is left.
class Shutdown : public OnEveryScheduler {
 protected:
  void TearDown() override {
    runtime_.reset();
    EXPECT_EQ(census_.living(), 0);
  }

  [[nodiscard]] Resident resident() { return Resident(census_); }

  Census census_;
  Gate gate_;
  std::optional<Runtime> runtime_ = build_runtime();
};

Task<> wake_itself_forever(Resident) {
  for (;;) co_await wake_itself();
}
// `again` is always true; without it, a compiler would warn of infinite recursion.
Task<> respawn_itself_forever(Resident resident, bool again = true) {
  if (again) spawn(respawn_itself_forever(resident, again)).detach();
  co_return;
}
/// Opens the next gate when it is destroyed.
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
/// Spawns `left` more tasks, each when the previous one is destroyed.
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
Task<> hold(ShutsDown, Resident) { co_await forever(); }
SpawnsNext::~SpawnsNext() {
  if (left_ > 0) spawn(hold(SpawnsNext(census_, left_ - 1), Resident(*census_))).detach();
}

TEST_P(Shutdown, destroys_tasks_that_were_spawned_and_never_polled) {
  for (int i = 0; i < 1000; ++i) runtime_->spawn(wait_forever(resident())).detach();
  runtime_.reset();
  EXPECT_GE(census_.ever(), 1000);
}

TEST_P(Shutdown, destroys_tasks_in_every_state) {
  for (int round = 0; round < 20; ++round) {
    Runtime runtime = build_runtime();
    for (int i = 0; i < 20; ++i) {
      runtime.spawn(wait_at(&gate_, resident())).detach();
      runtime.spawn(wait_forever(resident())).detach();
      runtime.spawn(yield_forever(resident())).detach();
      runtime.spawn(wake_itself_forever(resident())).detach();
      runtime.spawn(respawn_itself_forever(resident())).detach();
    }
    runtime.block_on(yield_times(50));  // lets current_thread poll some of them, too
    runtime.shutdown();
    EXPECT_EQ(census_.living(), 0);
  }
}

TEST_P(Shutdown, delivers_join_error_for_what_it_cancelled) {
  JoinHandle<void> idle = runtime_->spawn(wait_forever(resident()));
  JoinHandle<void> busy = runtime_->spawn(yield_forever(resident()));
  runtime_->shutdown();
  EXPECT_TRUE(idle.is_finished());
  EXPECT_TRUE(busy.is_finished());
  EXPECT_EQ(census_.living(), 0);
  Runtime other = build_runtime();
  EXPECT_THROW(other.block_on([&]() -> Task<> { co_await idle; }()), JoinError);
}

TEST_P(Shutdown, cancels_what_is_spawned_afterwards) {
  const Handle handle = runtime_->handle();
  runtime_->shutdown();
  EXPECT_TRUE(handle.spawn(wait_forever(resident())).is_finished());
  runtime_.reset();
  EXPECT_TRUE(handle.spawn(wait_forever(resident())).is_finished()) << "outlives the runtime";
}

TEST_P(Shutdown, block_on_afterwards_leaves_no_task_behind) {
  runtime_->shutdown();
  runtime_->block_on([&]() -> Task<> {
    spawn(wait_forever(resident())).detach();
    spawn(yield_forever(resident())).detach();
    co_return;
  }());
}

TEST_P(Shutdown, a_task_may_ask_for_it) {
  std::atomic<bool> asked{false};
  const auto ask = [&](Resident) -> Task<> {
    co_await yield_now();
    co_await wake_itself();  // once suspended, it is among the tasks that shutdown must end
    runtime_->shutdown();
    asked.store(true);
  };
  runtime_->spawn(wait_forever(resident())).detach();
  runtime_->spawn(ask(resident())).detach();
  runtime_->block_on(until([&] { return asked.load(); }));
  runtime_.reset();
  EXPECT_TRUE(eventually([&] { return census_.living() == 0; }));
}

TEST_P(Shutdown, a_root_may_ask_for_it) {
  runtime_->block_on([&]() -> Task<> {
    JoinHandle<void> task = spawn(wait_forever(resident()));
    co_await yield_now();
    runtime_->shutdown();
    // On current_thread, it is this thread that must end the task.
    while (!task.is_finished()) co_await yield_now();
    EXPECT_TRUE(spawn(wait_forever(resident())).is_finished());
  }());
}

TEST_P(Shutdown, twice_is_once) {
  runtime_->spawn(wait_forever(resident())).detach();
  runtime_->shutdown();
  EXPECT_EQ(census_.living(), 0);
  runtime_->shutdown();
  EXPECT_TRUE(runtime_->shutdown_timeout(0s));
}

// It would wait for the task that is being destroyed, or for a call that waits for that.
TEST_P(Shutdown, asked_for_by_what_a_task_held_only_begins) {
  JoinHandle<void> task = runtime_->spawn(hold(ShutsDown(*runtime_), resident()));
  runtime_->block_on(yield_times(10));  // so that the task waits
  std::atomic<bool> begun{false};
  runtime_
      ->spawn_blocking([&begun, awaited = task.abort_handle()] {
        begun.store(true);
        EXPECT_TRUE(eventually([&awaited] { return awaited.is_finished(); }));
      })
      .detach();
  EXPECT_TRUE(eventually([&] { return begun.load(); }));
  runtime_->shutdown();
  EXPECT_TRUE(task.is_finished());
}

TEST_P(Shutdown, asked_for_by_a_task_and_then_by_what_another_held_ends_both) {
  runtime_->spawn(hold(ShutsDown(*runtime_), resident())).detach();
  runtime_->block_on(yield_times(10));  // so that the task waits
  const auto ask = [](Runtime* runtime, Resident) -> Task<> {
    runtime->shutdown();
    co_await forever();
  };
  runtime_->spawn(ask(&*runtime_, resident())).detach();
  runtime_->block_on(until([&] { return census_.living() == 0; }));
  runtime_->shutdown();  // waits for what is being destroyed
}

TEST_P(Shutdown, with_the_longest_limit_that_there_is_waits) {
  runtime_->spawn(yield_forever(resident())).detach();
  EXPECT_TRUE(runtime_->shutdown_timeout(std::chrono::nanoseconds::max()));
  EXPECT_EQ(census_.living(), 0);
}

TEST_P(Shutdown, is_prompt_whatever_the_interval_of_the_injector) {
  Runtime runtime = builder(GetParam()).global_queue_interval(4'000'000'000U).build();
  for (int i = 0; i < 10; ++i) runtime.spawn(yield_forever(resident())).detach();
  runtime.block_on(nothing());
  EXPECT_TRUE(runtime.shutdown_timeout(20s));
}

TEST_P(Shutdown, wakes_during_it_are_harmless) {
  for (int round = 0; round < tries(50); ++round) {
    Gate gate;
    runtime_ = build_runtime();
    for (int i = 0; i < 100; ++i) runtime_->spawn(wait_at(&gate, resident())).detach();
    runtime_->block_on(until([&] { return gate.waiting() == 100; }));
    std::thread waker([&gate] { gate.open(); });
    runtime_.reset();
    EXPECT_EQ(census_.living(), 0);
    waker.join();
  }
}

TEST_P(Shutdown, wakes_after_it_are_harmless) {
  for (int i = 0; i < 10; ++i) runtime_->spawn(wait_at(&gate_, resident())).detach();
  runtime_->block_on(until([&] { return gate_.waiting() == 10; }));
  runtime_.reset();
  std::vector<Waker> wakers = gate_.take_wakers();
  ASSERT_EQ(wakers.size(), 10U);
  for (Waker& waker : wakers) {
    waker.wake_by_ref();
    const Waker copy = waker.clone();
    std::move(waker).wake();
    copy.wake_by_ref();
  }
}

TEST_P(Shutdown, join_and_abort_handles_outlive_the_runtime) {
  JoinHandle<int> value = runtime_->spawn(number(7));
  runtime_->block_on(until([&] { return value.is_finished(); }));
  std::optional<JoinHandle<void>> cancelled = runtime_->spawn(wait_forever(resident()));
  const AbortHandle abort = cancelled->abort_handle();
  runtime_.reset();
  abort.abort();
  EXPECT_TRUE(abort.is_finished());
  Runtime other = build_runtime();
  EXPECT_EQ(other.block_on([&]() -> Task<int> { co_return co_await value; }()), 7);
  cancelled.reset();
}

TEST_P(Shutdown, ten_thousand_tasks_that_wake_each_other_when_destroyed_need_no_stack) {
  constexpr std::size_t kTasks = 10'000;
  std::vector<Gate> gates(kTasks);
  for (std::size_t i = 0; i < kTasks; ++i) {
    Gate* const next = i + 1 < kTasks ? &gates[i + 1] : nullptr;
    runtime_->spawn(wait_and_wake_next(&gates[i], WakesNext(next), resident())).detach();
  }
  for (Gate& gate : gates) runtime_->block_on(until([&] { return gate.waiting() > 0; }));
  runtime_.reset();
}

TEST_P(Shutdown, destructors_that_spawn_have_their_tasks_cancelled) {
  for (int i = 0; i < 10; ++i) {
    runtime_->spawn(hold(SpawnsNext(&census_, 100), resident())).detach();
  }
  runtime_->spawn(hold(SpawnsNext(&census_, 1000), resident())).detach();
  runtime_->block_on(nothing());
}

TEST_P(Shutdown, drops_the_runtime_inside_its_own_task) {
  auto runtime = std::make_shared<Runtime>(build_runtime());
  Runtime& driven = *runtime;
  runtime->spawn(wait_forever(resident())).detach();
  JoinHandle<void> dropper = runtime->spawn([](std::shared_ptr<Runtime> last, Resident) -> Task<> {
    co_await yield_now();
    last.reset();
    co_await yield_now();
  }(runtime, resident()));
  std::weak_ptr<Runtime> gone = runtime;
  if (GetParam().is_pool()) {
    runtime.reset();
  } else {
    // Only block_on can run it; the reference here goes before the task's does.
    driven.block_on([&]() -> Task<> {
      runtime.reset();
      while (!gone.expired()) co_await yield_now();
    }());
  }
  EXPECT_TRUE(eventually([&] { return gone.expired() && census_.living() == 0; }));
  EXPECT_TRUE(dropper.is_finished());
}

TEST_P(Shutdown, drops_the_runtime_inside_its_own_root) {
  runtime_->block_on([&]() -> Task<> {
    spawn(wait_forever(resident())).detach();
    co_await yield_now();
    runtime_.reset();
    while (census_.living() > 0) co_await yield_now();
    // No runtime is left to run this, but asking is not an error.
    EXPECT_TRUE(spawn(wait_forever(resident())).is_finished());
    co_await yield_now();
  }());
}

TASKBENCH_ON_EVERY_SCHEDULER(Shutdown);

class PoolShutdown : public Shutdown {
 protected:
  /// Occupies a worker until `release_`.
  void get_stuck() {
    runtime_->spawn(stuck(resident())).detach();
    ASSERT_TRUE(eventually([&] { return entered_.load(); }));
  }
  [[nodiscard]] std::thread release_later() {
    return std::thread([this] {
      std::this_thread::sleep_for(20ms);
      EXPECT_GT(census_.living(), 0);
      release_.store(true);
    });
  }

  std::atomic<bool> release_{false};

 private:
  Task<> stuck(Resident) {
    entered_.store(true);
    EXPECT_TRUE(block_worker_until(release_));
    co_await forever();
  }

  std::atomic<bool> entered_{false};
};

TEST_P(PoolShutdown, ends_a_block_on_that_waits_for_a_task) {
  std::atomic<bool> waiting{false};
  std::thread blocked([&] {
    EXPECT_THROW(runtime_->block_on([&]() -> Task<> {
      JoinHandle<void> never = spawn(wait_forever(resident()));
      waiting.store(true);
      co_await std::move(never);
    }()),
                 JoinError);
  });
  ASSERT_TRUE(eventually([&] { return waiting.load(); }));
  runtime_->shutdown();
  blocked.join();
}

// A task that is alone is polled repeatedly, without a look at anything else.
TEST_P(PoolShutdown, is_prompt_while_one_task_has_a_worker_for_itself) {
  std::atomic<bool> has_begun{false};
  const auto begin_and_yield_forever = [&](Resident) -> Task<> {
    has_begun.store(true);
    for (;;) co_await yield_now();
  };
  Runtime runtime = builder(GetParam()).global_queue_interval(4'000'000'000U).build();
  runtime.spawn(begin_and_yield_forever(resident())).detach();
  EXPECT_TRUE(eventually([&] { return has_begun.load(); }));
  EXPECT_TRUE(runtime.shutdown_timeout(20s));
}

TEST_P(PoolShutdown, waits_for_the_poll_that_runs) {
  get_stuck();
  std::thread later = release_later();
  runtime_.reset();
  EXPECT_EQ(census_.living(), 0);
  later.join();
}

TEST_P(PoolShutdown, with_a_limit_returns_false_while_a_worker_is_stuck_and_cleans_up_later) {
  for (int i = 0; i < 100; ++i) runtime_->spawn(wait_forever(resident())).detach();
  get_stuck();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(runtime_->shutdown_timeout(20ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 20ms);
  EXPECT_FALSE(runtime_->shutdown_timeout(0s)) << "the worker is still in its poll";
  EXPECT_FALSE(runtime_->shutdown_timeout(-1s));
  EXPECT_GT(census_.living(), 0);
  release_.store(true);
  EXPECT_TRUE(runtime_->shutdown_timeout(kPatience));
  EXPECT_EQ(census_.living(), 0);
}

TEST_P(PoolShutdown, without_a_limit_after_one_with_a_limit_waits_for_the_rest) {
  get_stuck();
  EXPECT_FALSE(runtime_->shutdown_timeout(1ms));
  std::thread later = release_later();
  runtime_->shutdown();
  EXPECT_EQ(census_.living(), 0);
  later.join();
}

TEST_P(PoolShutdown, with_a_limit_outlives_the_runtime) {
  runtime_->spawn(wait_forever(resident())).detach();
  get_stuck();
  EXPECT_FALSE(runtime_->shutdown_timeout(0s));
  release_.store(true);
  runtime_.reset();
  EXPECT_TRUE(eventually([&] { return census_.living() == 0; }));
}

TEST_P(PoolShutdown, with_a_limit_that_is_not_needed_returns_true) {
  for (int i = 0; i < 100; ++i) runtime_->spawn(yield_forever(resident())).detach();
  EXPECT_TRUE(runtime_->shutdown_timeout(kPatience));
  EXPECT_EQ(census_.living(), 0);
}

TEST_P(PoolShutdown, spawns_from_other_threads_meanwhile_leave_nothing_behind) {
  for (int round = 0; round < tries(30); ++round) {
    runtime_ = build_runtime();
    std::atomic<bool> stop{false};
    std::vector<std::thread> spawners;
    for (int i = 0; i < 2; ++i) {
      spawners.emplace_back([&, handle = runtime_->handle()] {
        while (!stop.load()) {
          handle.spawn(wait_forever(resident())).detach();
          handle.spawn(nothing()).detach();
        }
      });
    }
    std::this_thread::sleep_for(1ms);
    runtime_.reset();
    stop.store(true);
    for (std::thread& spawner : spawners) spawner.join();
    EXPECT_EQ(census_.living(), 0);
  }
}

TASKBENCH_ON_EVERY_POOL(PoolShutdown);

}  // namespace
}  // namespace taskbench::rt
