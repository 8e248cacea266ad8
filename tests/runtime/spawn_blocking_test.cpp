// Blocking calls have threads of their own, and end like tasks.
#include "runtime/blocking/spawn_blocking.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "tests/runtime/allocations.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt::tests {
namespace {

class SpawnBlocking : public OnOneRuntime {};

void block_until(const std::atomic<bool>& flag) {
  EXPECT_TRUE(eventually([&flag] { return flag.load(); }));
}

Task<> raise(std::atomic<bool>* flag) {
  flag->store(true);
  co_return;
}

/// Occupies a thread of the pool until the flag is set; returns once the thread is running.
JoinHandle<void> occupy(Runtime& runtime, const std::atomic<bool>& release) {
  auto begun = std::make_shared<std::atomic<bool>>(false);
  JoinHandle<void> handle = runtime.spawn_blocking([begun, &release] {
    begun->store(true);
    block_until(release);
  });
  block_until(*begun);
  return handle;
}

TEST_P(SpawnBlocking, a_call_gives_its_handle_what_it_returns_or_throws) {
  const int answer = run([&]() -> Task<int> {
    // Not in the expression of the co_await: there, g++ 12 destroys a lambda's captures twice.
    JoinHandle<std::unique_ptr<int>> handle =
        spawn_blocking([own = std::make_unique<int>(40)]() mutable {
          ++*own;
          return std::move(own);
        });
    const std::unique_ptr<int> value = co_await handle;
    co_await spawn_blocking([] {});
    JoinHandle<void> failing = spawn_blocking([] { throw std::runtime_error("in vain"); });
    bool caught = false;
    try {
      co_await failing;
    } catch (const std::runtime_error&) {
      caught = true;
    }
    co_return *value + (caught ? 1 : 0);
  });
  EXPECT_EQ(answer, 42);
}

TEST_P(SpawnBlocking, tasks_run_while_calls_block_however_many) {
  std::atomic<bool> flag{false};
  run([&]() -> Task<> {
    std::vector<JoinHandle<void>> calls;
    for (int i = 0; i < 6; ++i) calls.push_back(spawn_blocking([&] { block_until(flag); }));
    co_await spawn(raise(&flag));
    co_await join_all(calls);
  });
  EXPECT_GE(runtime_.stats().blocking.peak_threads, 6U);
  EXPECT_EQ(runtime_.stats().blocking.calls, 6U);
}

TEST_P(SpawnBlocking, what_a_call_spawns_runs_on_the_workers) {
  std::atomic<bool> task_ran{false};
  std::atomic<bool> call_ran{false};
  run([&]() -> Task<> {
    co_await spawn_blocking([&] {
      spawn(raise(&task_ran)).detach();
      Handle::current().spawn_blocking([&] { call_ran.store(true); }).detach();
      block_until(task_ran);
      block_until(call_ran);
    });
  });
  EXPECT_TRUE(task_ran.load());
}

TEST_P(SpawnBlocking, a_call_may_block_on_a_task_but_that_one_may_not) {
  const int answer = run([&]() -> Task<int> {
    co_return co_await spawn_blocking([this] {
      const int awaited = runtime_.block_on([]() -> Task<int> {
        const int value = co_await spawn(number(20));
        co_return value;
      }());
      EXPECT_THROW(runtime_.block_on([](Runtime& runtime) -> Task<> {
        runtime.block_on(number(1));
        co_return;
      }(runtime_)),
                   std::logic_error);
      return awaited + runtime_.block_on(number(1));
    });
  });
  EXPECT_EQ(answer, 21);
}

TEST_P(SpawnBlocking, a_shutdown_waits_for_the_call_that_runs_and_drops_the_one_that_waits) {
  Runtime runtime = builder(GetParam()).max_blocking_threads(1).build();
  std::atomic<bool> release{false};
  JoinHandle<void> running = occupy(runtime, release);
  JoinHandle<int> waiting = runtime.spawn_blocking([resident = Resident(census_)] { return 1; });
  EXPECT_FALSE(runtime.shutdown_timeout(1ms));
  EXPECT_FALSE(running.is_finished());
  EXPECT_TRUE(waiting.is_finished());
  EXPECT_EQ(census_.living(), 0);
  release.store(true);
  runtime.shutdown();
  EXPECT_TRUE(running.is_finished());
  EXPECT_EQ(runtime.stats().blocking.threads, 0U);
  JoinHandle<int> late = runtime.spawn_blocking([resident = Resident(census_)] { return 1; });
  EXPECT_THROW(build(kTwoWorkers).block_on([](JoinHandle<int>& handle) -> Task<> {
    static_cast<void>(co_await handle);
  }(late)),
               JoinError);
}

TEST_P(SpawnBlocking, a_shutdown_in_a_call_only_begins) {
  auto runtime = std::make_unique<Runtime>(build_runtime());
  std::atomic<bool> done{false};
  runtime
      ->spawn_blocking([&] {
        EXPECT_FALSE(runtime->shutdown_timeout(1h));
        runtime->shutdown();
        runtime.reset();
        done.store(true);
      })
      .detach();
  block_until(done);
}

TEST_P(SpawnBlocking, a_shutdown_by_what_a_call_held_that_never_began_only_begins) {
  Runtime runtime = builder(GetParam()).max_blocking_threads(1).build();
  std::atomic<bool> release{false};
  JoinHandle<void> running = occupy(runtime, release);
  JoinHandle<void> waiting = runtime.spawn_blocking([held = ShutsDown(runtime)] {});
  EXPECT_FALSE(runtime.shutdown_timeout(1ms));
  EXPECT_TRUE(waiting.is_finished());
  release.store(true);
  runtime.shutdown();
  EXPECT_TRUE(running.is_finished());
}

/// Says when its destruction begins, and waits in it for its release.
class EndsSlowly {
 public:
  EndsSlowly(std::atomic<bool>& begun, const std::atomic<bool>& release)
      : begun_(&begun), release_(&release) {}
  EndsSlowly(EndsSlowly&& other) noexcept
      : begun_(std::exchange(other.begun_, nullptr)), release_(other.release_) {}
  EndsSlowly& operator=(EndsSlowly&&) = delete;
  ~EndsSlowly() {
    if (begun_ == nullptr) return;
    begun_->store(true);
    block_until(*release_);
  }

 private:
  std::atomic<bool>* begun_;
  const std::atomic<bool>* release_;
};
Task<> wait_and_end_slowly(EndsSlowly) { co_await forever(); }

// If the one in the call waited, too, the other would sleep on.
TEST_P(SpawnBlocking, a_shutdown_in_a_call_lets_that_of_another_thread_wait) {
  for (const bool for_a_task : {false, true}) {
    std::atomic<bool> begun{false};
    std::atomic<bool> asks{false};
    std::atomic<bool> has_asked{false};
    std::atomic<bool> ends{false};
    std::atomic<bool> release{false};
    Runtime runtime = build_runtime();
    if (for_a_task) runtime.spawn(wait_and_end_slowly(EndsSlowly(ends, release))).detach();
    JoinHandle<void> call = runtime.spawn_blocking([&] {
      begun.store(true);
      block_until(asks);
      runtime.shutdown();
      has_asked.store(true);
    });
    block_until(begun);
    std::thread other([&] {
      if (for_a_task) block_until(ends);
      std::this_thread::sleep_for(5ms);  // so that the shutdown below sleeps
      asks.store(true);
      block_until(has_asked);
      release.store(true);
    });
    runtime.shutdown();
    EXPECT_TRUE(call.is_finished());
    other.join();
  }
}

TEST_P(SpawnBlocking, a_shutdown_waits_for_the_task_that_one_in_a_call_destroys) {
  std::atomic<bool> ends{false};
  std::atomic<bool> release{false};
  Runtime runtime = build_runtime();
  JoinHandle<void> task = runtime.spawn(wait_and_end_slowly(EndsSlowly(ends, release)));
  runtime.spawn_blocking([&] { runtime.shutdown(); }).detach();
  block_until(ends);
  std::thread other([&] {
    std::this_thread::sleep_for(5ms);  // as above
    release.store(true);
  });
  runtime.shutdown();
  EXPECT_TRUE(task.is_finished());
  other.join();
}

TEST_P(SpawnBlocking, a_shutdown_in_a_task_does_not_wait_for_a_call_that_waits_for_the_task) {
  std::atomic<bool> begun{false};
  std::atomic<bool> release{false};
  run([&]() -> Task<> {
    spawn_blocking([&] {
      begun.store(true);
      block_until(release);
    }).detach();
    spawn([](Runtime* runtime, std::atomic<bool>* in, std::atomic<bool>* out) -> Task<> {
      block_until(*in);
      runtime->shutdown();
      out->store(true);
      co_return;
    }(&runtime_, &begun, &release))
        .detach();
    co_await until([&] { return release.load(); });
  });
  runtime_.shutdown();
}

TEST_P(SpawnBlocking, a_shutdown_in_a_call_does_not_wait_for_a_task_that_waits_for_the_call) {
  std::atomic<bool> begun{false};
  std::atomic<bool> release{false};
  run([&]() -> Task<> {
    spawn_blocking([&] {
      block_until(begun);
      runtime_.shutdown();
      release.store(true);
    }).detach();
    co_await spawn([](std::atomic<bool>* in, std::atomic<bool>* out) -> Task<> {
      in->store(true);
      block_until(*out);
      co_return;
    }(&begun, &release));
  });
  runtime_.shutdown();
}

/// A call that goes on for a while after somebody has asked for the shutdown.
class LastsOn {
 public:
  explicit LastsOn(Runtime& runtime)
      : handle_(runtime.spawn_blocking([this] {
          begun_.store(true);
          block_until(asked_);
          std::this_thread::sleep_for(5ms);  // so that the shutdown has to wait
        })) {
    block_until(begun_);
  }
  void ask() { asked_.store(true); }
  [[nodiscard]] bool is_finished() const { return handle_.is_finished(); }

 private:
  std::atomic<bool> begun_{false};
  std::atomic<bool> asked_{false};
  JoinHandle<void> handle_;
};

TEST_P(SpawnBlocking, a_shutdown_in_a_task_of_another_runtime_waits) {
  Runtime other = build_runtime();
  LastsOn call(other);
  run_as_task(runtime_, [&]() -> Task<> {
    call.ask();
    other.shutdown();
    EXPECT_TRUE(call.is_finished());
    co_return;
  });
}

class SpawnBlockingOnPools : public OnOneRuntime {};
TASKBENCH_ON_EVERY_POOL(SpawnBlockingOnPools);

// The root is no task of a worker, which its wait would hold up.
TEST_P(SpawnBlockingOnPools, a_shutdown_in_the_root_waits) {
  LastsOn call(runtime_);
  run([&]() -> Task<> {
    call.ask();
    runtime_.shutdown();
    EXPECT_TRUE(call.is_finished());
    co_return;
  });
}

// The limit of the one in the call has not passed.
TEST_P(SpawnBlocking, a_destructor_waits_after_a_shutdown_with_a_limit_in_a_call) {
  std::atomic<bool> asked{false};
  std::atomic<bool> done{false};
  std::optional<Runtime> runtime = build_runtime();
  runtime
      ->spawn_blocking([&] {
        EXPECT_FALSE(runtime->shutdown_timeout(1h));
        asked.store(true);
        std::this_thread::sleep_for(5ms);  // so that the destructor has to wait
        done.store(true);
      })
      .detach();
  block_until(asked);
  runtime.reset();
  EXPECT_TRUE(done.load());
}

TEST_P(SpawnBlocking, a_destructor_waits_no_longer_than_the_limit_of_a_shutdown_in_a_call) {
  std::atomic<bool> asked{false};
  std::atomic<bool> release{false};
  std::atomic<bool> done{false};
  std::optional<Runtime> runtime = build_runtime();
  runtime
      ->spawn_blocking([&] {
        EXPECT_FALSE(runtime->shutdown_timeout(5ms));
        asked.store(true);
        block_until(release);
        done.store(true);
      })
      .detach();
  block_until(asked);
  runtime.reset();
  EXPECT_FALSE(done.load());
  release.store(true);
  block_until(done);
}

TASKBENCH_ON_EVERY_SCHEDULER(SpawnBlocking);

TEST(BlockingPool, runs_no_more_calls_at_once_than_it_may_have_threads) {
  Runtime runtime = builder(kOneWorker).max_blocking_threads(2).build();
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  runtime.block_on([&]() -> Task<> {
    std::vector<JoinHandle<void>> calls;
    for (int i = 0; i < 50; ++i) {
      calls.push_back(spawn_blocking([&] {
        const int now = inside.fetch_add(1) + 1;
        for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        std::this_thread::yield();
        inside.fetch_sub(1);
      }));
    }
    co_await join_all(calls);
  }());
  EXPECT_LE(most.load(), 2);
  EXPECT_EQ(runtime.stats().blocking.calls, 50U);
  EXPECT_LE(runtime.stats().blocking.peak_threads, 2U);
}

TEST(BlockingPool, a_call_that_was_aborted_before_it_began_is_never_called) {
  Runtime runtime = builder(kOneWorker).max_blocking_threads(1).build();
  std::atomic<bool> release{false};
  JoinHandle<void> running = occupy(runtime, release);
  bool called = false;
  JoinHandle<void> aborted = runtime.spawn_blocking([&] { called = true; });
  aborted.abort();
  running.abort();  // too late
  release.store(true);
  runtime.block_on([](JoinHandle<void>& ran, JoinHandle<void>& never) -> Task<> {
    co_await ran;
    bool cancelled = false;
    try {
      co_await never;
    } catch (const JoinError&) {
      cancelled = true;
    }
    EXPECT_TRUE(cancelled);
  }(running, aborted));
  EXPECT_FALSE(called);
}

TEST(BlockingPool, calls_that_were_aborted_do_not_pile_up_while_all_threads_are_busy) {
  Census census;
  std::atomic<bool> release{false};
  Runtime runtime = builder(kOneWorker).max_blocking_threads(1).build();
  JoinHandle<void> running = occupy(runtime, release);
  for (int i = 0; i < 1'000; ++i) {
    const JoinHandle<void> given_up = runtime.spawn_blocking([resident = Resident(census)] {});
    given_up.abort();
  }
  runtime.spawn_blocking([] {}).detach();
  EXPECT_FALSE(running.is_finished());
  EXPECT_LT(census.living(), 20);
  EXPECT_GE(census.ever(), 1'000);
  release.store(true);
}

TEST(BlockingPool, of_many_calls_that_were_aborted_at_once_each_later_one_ends_a_few) {
  Census census;
  std::atomic<bool> release{false};
  Runtime runtime = builder(kOneWorker).max_blocking_threads(1).build();
  JoinHandle<void> running = occupy(runtime, release);
  std::vector<JoinHandle<void>> calls;
  for (int i = 0; i < 100; ++i) {
    calls.push_back(runtime.spawn_blocking([resident = Resident(census)] {}));
  }
  JoinHandle<void> behind = runtime.spawn_blocking([resident = Resident(census)] {});
  EXPECT_EQ(census.living(), 101);
  for (const JoinHandle<void>& each : calls) each.abort();
  runtime.spawn_blocking([] {}).detach();
  EXPECT_LT(census.living(), 101);
  EXPECT_GT(census.living(), 50);
  for (int i = 0; i < 50; ++i) runtime.spawn_blocking([] {}).detach();
  EXPECT_EQ(census.living(), 1);
  EXPECT_FALSE(behind.is_finished());
  release.store(true);
  runtime.block_on(behind);
}

TEST(BlockingPool, a_runtime_that_has_given_up_leaves_the_call_to_itself) {
  struct Flags {
    std::atomic<bool> begun{false};
    std::atomic<bool> release{false};
    std::atomic<bool> ended{false};
  };
  const auto flags = std::make_shared<Flags>();
  {
    Runtime runtime = build(kOneWorker);
    runtime
        .spawn_blocking([flags] {
          flags->begun.store(true);
          block_until(flags->release);
          EXPECT_THROW(Runtime(build(kOneWorker)).block_on([]() -> Task<> {
            co_await spawn_blocking([] { throw std::logic_error("of another runtime"); });
          }()),
                       std::logic_error);
          spawn(nothing()).detach();  // cancelled at once
          flags->ended.store(true);
        })
        .detach();
    block_until(flags->begun);
    EXPECT_FALSE(runtime.shutdown_timeout(0ns));
  }
  flags->release.store(true);
  block_until(flags->ended);
}

TEST(BlockingPool, idle_threads_are_used_again_and_end_after_the_time_they_are_given) {
  Runtime runtime = build(kOneWorker);
  for (int i = 0; i < 100; ++i) {
    runtime.block_on([]() -> Task<> { co_await spawn_blocking([] {}); }());
  }
  // A thread may be slow to become idle.
  EXPECT_LT(runtime.stats().blocking.peak_threads, 50U);

  Runtime impatient = builder(kOneWorker).blocking_idle_timeout(0ns).build();
  for (int i = 0; i < 100; ++i) {
    impatient.block_on([]() -> Task<> { co_await spawn_blocking([] {}); }());
  }
  EXPECT_TRUE(eventually([&] { return impatient.stats().blocking.threads == 0; }));
  EXPECT_EQ(impatient.block_on(
                []() -> Task<int> { co_return co_await spawn_blocking([] { return 7; }); }()),
            7);
}

// Each ended thread is joined by the next one that ends.
TEST(BlockingPool, a_thread_that_has_ended_leaves_nothing_behind) {
  constexpr int kThreads = 40;
  Runtime impatient = builder(kOneWorker).blocking_idle_timeout(0ns).build();
  const auto living = [] { return allocations() - deallocations(); };
  const auto call = [&] {
    impatient.block_on([]() -> Task<> { co_await spawn_blocking([] {}); }());
    EXPECT_TRUE(eventually([&] { return impatient.stats().blocking.threads == 0; }));
  };
  call();
  const std::size_t before = living();
  for (int i = 0; i < kThreads; ++i) call();
  EXPECT_TRUE(eventually([&] { return living() < before + kThreads / 2; }, 5s));
}

// The memory for that was allocated when the thread was started.
TEST(BlockingPool, a_thread_that_gets_no_memory_falls_idle_all_the_same) {
  static thread_local std::optional<NoMemory> poor;
  Runtime impatient = builder(kOneWorker).blocking_idle_timeout(0ns).build();
  impatient.spawn_blocking([] { poor.emplace(); }).detach();
  EXPECT_TRUE(eventually([&] { return impatient.stats().blocking.threads == 0; }));
}

TEST(BlockingPool, its_threads_are_named_after_the_runtime) {
  Runtime runtime = builder(kOneWorker).thread_name("a-service-of-mine").build();
  EXPECT_EQ(runtime.block_on([]() -> Task<std::string> {
    co_return co_await spawn_blocking([] {
      char name[16] = {};
      pthread_getname_np(pthread_self(), name, sizeof(name));
      return std::string(name);
    });
  }()),
            "a-service-block");
}

TEST(BlockingPool, refuses_what_makes_no_sense) {
  EXPECT_THROW((void)spawn_blocking([] {}), std::logic_error);
  EXPECT_THROW(static_cast<void>(builder(kOneWorker).max_blocking_threads(0).build()),
               std::invalid_argument);
  EXPECT_THROW(static_cast<void>(builder(kOneWorker).blocking_idle_timeout(-1ns).build()),
               std::invalid_argument);
}

}  // namespace
}  // namespace taskbench::rt::tests
