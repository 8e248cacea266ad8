// What the tests of runtime/sync share: the runtimes they run on, a counted value, and seeds.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/sync/join_set.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/hand_polled.hpp"

namespace taskbench::rt::tests {

inline constexpr Kind kEightWorkers{"work_stealing", 8, "work_stealing_8"};

#define TASKBENCH_SYNC_ON_EVERY_SCHEDULER(Suite)                                                 \
  INSTANTIATE_TEST_SUITE_P(                                                                      \
      Schedulers, Suite,                                                                         \
      ::testing::Values(::taskbench::rt::tests::kCurrentThread, ::taskbench::rt::tests::kInTurn, \
                        ::taskbench::rt::tests::kOneWorker, ::taskbench::rt::tests::kTwoWorkers, \
                        ::taskbench::rt::tests::kEightWorkers, TASKBENCH_OTHER_POOLS),           \
      [](const auto& instance) { return std::string(instance.param.name); })

/// A message that counts its instances, moved-from ones included. Move-only.
class Counted {
 public:
  explicit Counted(int number = 0) : number_(number) { living_.fetch_add(1); }
  Counted(Counted&& other) noexcept : number_(std::exchange(other.number_, -1)) {
    living_.fetch_add(1);
  }
  Counted& operator=(Counted&& other) noexcept {
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  ~Counted() { living_.fetch_sub(1); }

  /// -1 after a move.
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] static int living() { return living_.load(); }

 private:
  static inline std::atomic<int> living_{0};
  int number_;
};

/// Fails the test unless its scope ends with as many Counted as it began with.
class NothingLeaks {
 public:
  NothingLeaks() = default;
  NothingLeaks(const NothingLeaks&) = delete;
  NothingLeaks& operator=(const NothingLeaks&) = delete;
  ~NothingLeaks() { EXPECT_EQ(Counted::living(), before_); }

 private:
  const int before_ = Counted::living();
};

/// Base of test suites of sync primitives, on every scheduler: see
/// TASKBENCH_SYNC_ON_EVERY_SCHEDULER.
class OnEverySync : public OnEveryScheduler {
 protected:
  /// Runs the coroutine that `body` makes on a runtime of its own, and returns its result. The
  /// coroutine may refer to captures of `body`.
  template <class Body>
  auto run(Body body) {
    return build_runtime().block_on(body());
  }

  const NothingLeaks check_;
};

/// Lets the other tasks of the worker reach the point where they wait. With several workers this is
/// only likely, so tests must hold either way.
inline Task<> let_others_wait() {
  for (int i = 0; i < 8; ++i) co_await yield_now();
  std::this_thread::sleep_for(1ms);
}

/// Tasks that have each been polled once and wait: more than are woken in one batch.
template <class Make>
[[nodiscard]] auto many_waiting(Make make) {
  std::vector<std::unique_ptr<decltype(HandPolled(make()))>> tasks;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back(std::make_unique<decltype(HandPolled(make()))>(make()));
    EXPECT_FALSE(tasks.back()->poll());
  }
  return tasks;
}

/// Awaits `begun` until its task has had another turn.
template <class Awaitable>
Task<> gives_up(Awaitable& begun) {
  co_await select(begun, yield_now());
}

template <class Awaitable>
Task<> goes_on_with(Awaitable& begun) {
  static_cast<void>(co_await begun);
}

/// Expects that `wake` ends the wait of a task that awaits `begun` after another one, which has
/// begun the wait, has given it up.
template <class Awaitable, class Wake>
void expect_to_go_on_in_another_task(Awaitable& begun, Wake wake) {
  HandPolled first(gives_up(begun));
  EXPECT_FALSE(first.poll());
  EXPECT_TRUE(first.poll());
  Waiting second(goes_on_with(begun));
  wake();
  EXPECT_TRUE(second.resumes());
}

/// Spawns `count` tasks, aborts about half of them sooner or later, and joins all.
inline Task<> abort_some_of(int count, std::mt19937& random, std::function<Task<>(int)> make) {
  sync::JoinSet<> tasks;
  std::vector<AbortHandle> handles;
  for (int i = 0; i < count; ++i) handles.push_back(tasks.spawn(make(i)));
  for (const AbortHandle& handle : handles) {
    if (random() % 4 == 0) co_await yield_now();
    if (random() % 2 == 0) handle.abort();
  }
  while (auto task = co_await tasks.join_next()) {
    EXPECT_TRUE(task->has_value() || task->is_cancelled());
  }
}

/// The seed of this process's random choices; TASKBENCH_TEST_SEED repeats one.
inline std::uint32_t test_seed() {
  static const std::uint32_t seed = [] {
    const char* given = std::getenv("TASKBENCH_TEST_SEED");
    const auto chosen = given != nullptr
                            ? static_cast<std::uint32_t>(std::strtoul(given, nullptr, 10))
                            : static_cast<std::uint32_t>(std::random_device{}());
    std::cout << "TASKBENCH_TEST_SEED=" << chosen << '\n';
    return chosen;
  }();
  return seed;
}

/// Calls its function, if it has one, when it is moved, and then throws.
struct Refuses {
  explicit Refuses(std::function<void()> function) : meanwhile(std::move(function)) {}
  Refuses(Refuses&& other) : meanwhile(other.meanwhile) {
    if (!meanwhile) return;
    meanwhile();
    throw std::runtime_error("not moved");
  }
  std::function<void()> meanwhile;
};

/// The time, from its construction on, during which a stress loop begins new rounds.
class StressTime {
 public:
  [[nodiscard]] bool left() const { return std::chrono::steady_clock::now() < end_; }

 private:
  std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(tries(200));
};

}  // namespace taskbench::rt::tests
