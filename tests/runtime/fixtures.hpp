// What the tests of the runtime share: the schedulers as a parameter, objects that count their live
// instances, gates at which tasks wait, and waiting with a limit.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"

namespace taskbench::rt::tests {

using namespace std::chrono_literals;

#if defined(TASKBENCH_NO_COUNTERS)
inline constexpr bool kCounted = false;
#else
inline constexpr bool kCounted = true;
#endif

/// A runtime to run a test on.
struct Kind {
  std::string_view scheduler;
  unsigned workers;
  const char* name;

  [[nodiscard]] bool is_pool() const { return !find_scheduler(scheduler)->runs_on_caller; }
};

inline void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

inline constexpr Kind kCurrentThread{"current_thread", 1, "current_thread"};
inline constexpr Kind kOneWorker{"work_stealing", 1, "work_stealing_1"};
inline constexpr Kind kTwoWorkers{"work_stealing", 2, "work_stealing_2"};
inline constexpr Kind kFourWorkers{"work_stealing", 4, "work_stealing_4"};
inline constexpr Kind kInTurn{"in_turn", 3, "in_turn_3"};
inline constexpr Kind kGlobalQueue{"global_queue", 3, "global_queue_3"};
inline constexpr Kind kSharded{"sharded", 3, "sharded_3"};
inline constexpr Kind kChannel{"channel", 1, "channel"};
inline constexpr Kind kTokio01{"tokio01", 3, "tokio01_3"};
inline constexpr Kind kGo{"go", 2, "go_2"};

inline Runtime::Builder builder(const Kind& kind) {
  return Runtime::Builder{}.scheduler(kind.scheduler).workers(kind.workers);
}

inline Runtime build(const Kind& kind) { return builder(kind).build(); }

/// Base of test suites that run on every scheduler: see TASKBENCH_ON_EVERY_SCHEDULER.
class OnEveryScheduler : public ::testing::TestWithParam<Kind> {
 protected:
  static Runtime build_runtime() { return build(GetParam()); }
};

/// Base of test suites that run on every pool: see TASKBENCH_ON_EVERY_POOL.
using OnEveryPool = OnEveryScheduler;

/// The schedulers that work_stealing is compared with.
#define TASKBENCH_OTHER_POOLS                                             \
  ::taskbench::rt::tests::kGlobalQueue, ::taskbench::rt::tests::kSharded, \
      ::taskbench::rt::tests::kChannel, ::taskbench::rt::tests::kTokio01, \
      ::taskbench::rt::tests::kGo

#define TASKBENCH_ON_EVERY_SCHEDULER(Suite)                                                      \
  INSTANTIATE_TEST_SUITE_P(                                                                      \
      Schedulers, Suite,                                                                         \
      ::testing::Values(::taskbench::rt::tests::kCurrentThread, ::taskbench::rt::tests::kInTurn, \
                        ::taskbench::rt::tests::kOneWorker, ::taskbench::rt::tests::kTwoWorkers, \
                        ::taskbench::rt::tests::kFourWorkers, TASKBENCH_OTHER_POOLS),            \
      [](const auto& instance) { return std::string(instance.param.name); })

#define TASKBENCH_ON_POOLS(Suite, ...)                                                           \
  INSTANTIATE_TEST_SUITE_P(                                                                      \
      Pools, Suite,                                                                              \
      ::testing::Values(::taskbench::rt::tests::kOneWorker, ::taskbench::rt::tests::kTwoWorkers, \
                        ::taskbench::rt::tests::kFourWorkers __VA_OPT__(, ) __VA_ARGS__),        \
      [](const auto& instance) { return std::string(instance.param.name); })

#define TASKBENCH_ON_EVERY_POOL(Suite) TASKBENCH_ON_POOLS(Suite, TASKBENCH_OTHER_POOLS)

/// Pools of several workers, each of which runs what any other has queued.
#define TASKBENCH_ON_SHARING_POOLS(Suite)                                                          \
  INSTANTIATE_TEST_SUITE_P(                                                                        \
      Pools, Suite,                                                                                \
      ::testing::Values(::taskbench::rt::tests::kTwoWorkers, ::taskbench::rt::tests::kFourWorkers, \
                        ::taskbench::rt::tests::kGlobalQueue, ::taskbench::rt::tests::kTokio01,    \
                        ::taskbench::rt::tests::kGo),                                              \
      [](const auto& instance) { return std::string(instance.param.name); })

/// Far longer than anything takes, even under a sanitizer on a loaded machine: a test that reaches
/// it has hung.
inline constexpr auto kPatience = 60s;

/// The number of levels, or rounds, that would use up 8 MiB of stack if each took as little as 80
/// bytes, or 200 under a sanitizer, which enlarges frames and slows everything down.
#if defined(TASKBENCH_SYSTEM_BLOCKS)
inline constexpr bool kWatched = true;
inline constexpr int kDeep = 40'000;
#else
inline constexpr bool kWatched = false;
inline constexpr int kDeep = 100'000;
#endif

/// How often a test tries what depends on chance, or on great numbers: under a sanitizer, where
/// each try costs up to ten times as much, a quarter of `wanted`. The storms try the same there for
/// longer.
constexpr int tries(int wanted) { return kWatched ? wanted / 4 : wanted; }

/// Waits until `condition` holds. False: it did not hold in time.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition, std::chrono::nanoseconds limit = kPatience) {
  const auto give_up = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > give_up) return false;
    std::this_thread::sleep_for(50us);
  }
  return true;
}

/// Counts the live Residents. Must be zero again once everything that held one has ended; a double
/// destruction would make it negative.
class Census {
 public:
  [[nodiscard]] long living() const { return living_.load(); }
  [[nodiscard]] long ever() const { return ever_.load(); }

 private:
  friend class Resident;
  std::atomic<long> living_{0};
  std::atomic<long> ever_{0};
};

/// Counts itself, as do copies and moved-from shells.
class Resident {
 public:
  explicit Resident(Census& census) : census_(&census) { enter(); }
  Resident(const Resident& other) : census_(other.census_) { enter(); }
  Resident(Resident&& other) noexcept : census_(other.census_) { enter(); }
  Resident& operator=(const Resident&) = delete;
  ~Resident() { census_->living_.fetch_sub(1); }

 private:
  void enter() {
    census_->living_.fetch_add(1);
    census_->ever_.fetch_add(1);
  }
  Census* census_;
};

/// Shuts a runtime down when it is destroyed.
class ShutsDown {
 public:
  explicit ShutsDown(Runtime& runtime) : runtime_(&runtime) {}
  ShutsDown(ShutsDown&& other) noexcept : runtime_(std::exchange(other.runtime_, nullptr)) {}
  ShutsDown& operator=(ShutsDown&&) = delete;
  ~ShutsDown() {
    if (runtime_ != nullptr) runtime_->shutdown();
  }

 private:
  Runtime* runtime_;
};

/// A gate at which tasks wait until a thread opens it. Must outlive its waiters.
class Gate {
 public:
  void open() {
    std::vector<Waker> waiting;
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
      waiting.swap(waiting_);
    }
    for (Waker& waker : waiting) std::move(waker).wake();
  }

  /// An awaitable that is ready once the gate is open.
  [[nodiscard]] auto passed() {
    return poll_fn([this](PollContext& context) -> std::optional<bool> {
      const std::lock_guard lock(mutex_);
      if (open_) return true;
      waiting_.push_back(context.waker());
      return std::nullopt;
    });
  }

  /// The number of polls that found the gate closed.
  [[nodiscard]] std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_.size();
  }

  /// Takes the wakers left here; the caller must wake them.
  [[nodiscard]] std::vector<Waker> take_wakers() {
    const std::lock_guard lock(mutex_);
    return std::exchange(waiting_, {});
  }

 private:
  std::mutex mutex_;
  bool open_ = false;
  std::vector<Waker> waiting_;
};

/// Base of tests with a runtime of their own and objects that its tasks may hold; none of these may
/// be left at the end.
class OnOneRuntime : public OnEveryScheduler {
 protected:
  void TearDown() override { EXPECT_EQ(census_.living(), 0); }

  /// Runs the coroutine that `body` makes, and returns its result. The coroutine may refer to
  /// captures of `body`.
  template <class Body>
  auto run(Body body) {
    return runtime_.block_on(body());
  }

  Census census_;
  Gate gate_;
  Runtime runtime_ = build_runtime();
};

/// An awaitable that is never ready and never woken.
[[nodiscard]] inline auto forever() {
  return poll_fn([](PollContext&) -> std::optional<bool> { return std::nullopt; });
}

/// Occupies the worker until `flag` is set. False: it was not set in time.
inline bool block_worker_until(const std::atomic<bool>& flag) {
  return eventually([&flag] { return flag.load(); });
}

}  // namespace taskbench::rt::tests
