// The timing wheel: timers fire in time, whatever level they are on, and can be cancelled.
#include "runtime/driver/wheel.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "runtime/driver/driver.hpp"
#include "runtime/runtime.hpp"
#include "runtime/task/leaf.hpp"
#include "runtime/time/sleep.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/hand_polled.hpp"

namespace taskbench::rt::driver {
namespace {

using namespace std::chrono_literals;
using tests::HandPolled;

/// Waits in a wheel whose time the test moves.
class At : private task::Leaf {
 public:
  At(Driver& driver, Tick when) : Leaf(&At::poll_timer), driver_(driver), when_(when) {}
  ~At() {
    if (timer_.wheel != nullptr && !timer_.fired.load()) timer_.wheel->cancel(timer_);
  }
  At(const At&) = delete;
  At& operator=(const At&) = delete;

  [[nodiscard]] bool await_ready() const { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_on(*this, coroutine);
  }
  void await_resume() const {}

 private:
  static bool poll_timer(task::Leaf* leaf, task::Header* task) {
    At& self = *static_cast<At*>(leaf);
    if (self.timer_.wheel != nullptr) return self.timer_.fired.load();
    self.driver_.outside_wheel().insert(self.timer_, self.driver_.time_of(self.when_),
                                        task::reference_in_poll(task));
    return false;
  }

  Driver& driver_;
  const Tick when_;
  Timer timer_;
};

Task<void> waits(Driver& driver, Tick when) { co_await At(driver, when); }

class WheelTest : public ::testing::Test {
 protected:
  /// Ahead of the clock, to which an empty wheel is advanced.
  static constexpr Tick kStart = 1'000'000;

  WheelTest() { fire(kStart); }

  struct Waiting {
    Tick when;
    std::unique_ptr<HandPolled<>> task;
  };

  Waiting wait(Tick when) {
    Waiting waiting{when, std::make_unique<HandPolled<>>(waits(*driver_, when))};
    EXPECT_FALSE(waiting.task->poll());
    return waiting;
  }
  Wheel& wheel() { return driver_->outside_wheel(); }
  void fire(Tick now) { wheel().fire(now, Wheel::By::visitor); }

  const base::Ref<Driver> driver_{new Driver(0)};
};

TEST_F(WheelTest, says_when_to_look_again) {
  EXPECT_EQ(wheel().next(), kNever);
  const Waiting later = wait(kStart + 5'000'000);
  const Waiting sooner = wait(kStart + 4'000'000);
  EXPECT_EQ(wheel().next(), kStart + 4'000'000);
  fire(kStart + 1'000);
  EXPECT_LE(wheel().next(), kStart + 4'000'000);
  EXPECT_GT(wheel().next(), kStart + 1'000);
}

TEST_F(WheelTest, fires_on_every_level_at_the_time_and_not_before) {
  for (const Tick first : {Tick{1}, Tick{63}, Tick{64}, Tick{65}, Tick{4095}, Tick{4096},
                           Tick{262'144}, Tick{16'777'216} + 5, Tick{1} << 36, Tick{1} << 40}) {
    const base::Ref<Driver> driver(new Driver(0));
    HandPolled<> task(waits(*driver, first + 100'000));
    EXPECT_FALSE(task.poll());
    // Approaches the time as the driver does: from one look to the next.
    Tick now = 0;
    int looks = 0;
    while (!task.is_woken()) {
      ASSERT_LE(now, first + 100'000) << "missed";
      now = driver->outside_wheel().next();
      driver->outside_wheel().fire(now - 1, Wheel::By::visitor);
      ASSERT_FALSE(task.is_woken());
      driver->outside_wheel().fire(now, Wheel::By::visitor);
      ++looks;
    }
    EXPECT_EQ(now, first + 100'000);
    EXPECT_LE(looks, 8) << "once for each level";
    EXPECT_TRUE(task.poll());
  }
}

TEST_F(WheelTest, of_many_timers_fires_those_that_are_due_and_no_others) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::vector<Waiting> waiting;
  Tick now = kStart;
  for (int round = 0; round < 300; ++round) {
    // Times of all magnitudes up to some hours.
    for (int i = 0; i < 5; ++i) waiting.push_back(wait(now + 1 + random() % (1U << random() % 24)));
    if (random() % 3 == 0)
      waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(random() % waiting.size()));
    now += random() % (1U << random() % 20);
    fire(now);
    std::erase_if(waiting, [&](const Waiting& each) {
      EXPECT_EQ(each.task->is_woken(), each.when <= now) << each.when << " at " << now;
      return each.task->is_woken() && each.task->poll();
    });
  }
}

TEST_F(WheelTest, what_is_cancelled_does_not_fire) {
  std::optional<Waiting> cancelled = wait(kStart + 10);
  const Waiting stays = wait(kStart + 10);
  const Waiting other = wait(kStart + 70);
  cancelled.reset();
  fire(kStart + 10);
  EXPECT_TRUE(stays.task->is_woken());
  EXPECT_FALSE(other.task->is_woken());
}

TEST_F(WheelTest, timers_of_the_same_tick_fire_in_the_order_in_which_they_were_set) {
  std::vector<Waiting> waiting;
  std::vector<std::size_t> fired;
  for (std::size_t i = 0; i < 5; ++i) {
    // Above level 0, to which they are moved from there.
    waiting.push_back(wait(kStart + 5'000));
    waiting.back().task->on_wake([&fired, i] { fired.push_back(i); });
  }
  waiting[3].task->drop();
  fire(kStart + 4'999);
  waiting[1].task->drop();
  fire(kStart + 5'000);
  EXPECT_EQ(fired, (std::vector<std::size_t>{0, 2, 4}));
}

// More than are taken from the wheel at a time.
TEST_F(WheelTest, all_that_are_due_fire_at_once) {
  std::vector<Waiting> waiting;
  for (int i = 0; i < 200; ++i) waiting.push_back(wait(kStart + 10));
  fire(kStart + 10);
  for (const Waiting& each : waiting) EXPECT_TRUE(each.task->is_woken());
  EXPECT_EQ(wheel().next(), kNever);
}

/// Timers set and cancelled, like timeouts that do not occur: only the coroutine is allocated.
Task<void> sets_and_cancels(int count) {
  for (int i = 0; i < count; ++i) {
    JoinHandle<void> handle = spawn([]() -> Task<void> { co_await time::sleep(30s); }());
    co_await yield_now();
    handle.abort();
    try {
      co_await handle;
    } catch (const JoinError&) {
    }
  }
}

TEST(Timers, by_the_hundred_thousand_are_set_and_cancelled) {
  Runtime runtime = tests::build(tests::kTwoWorkers);
  runtime.block_on([]() -> Task<void> {
    JoinHandle<void> one = spawn(sets_and_cancels(tests::tries(50'000)));
    JoinHandle<void> other = spawn(sets_and_cancels(tests::tries(50'000)));
    co_await one;
    co_await other;
  }());
}

#if defined(__OPTIMIZE__)
constexpr int kSleepers = 1'000'000;
#else
constexpr int kSleepers = tests::tries(100'000);
#endif

TEST(Timers, of_a_million_sleepers_all_fire) {
  Runtime runtime = tests::build(tests::kTwoWorkers);
  runtime.block_on([]() -> Task<void> {
    std::vector<JoinHandle<void>> sleepers;
    sleepers.reserve(kSleepers);
    for (int i = 0; i < kSleepers; ++i) {
      sleepers.push_back(spawn([](int after_ms) -> Task<void> {
        co_await time::sleep(std::chrono::milliseconds(after_ms));
      }(i % 500)));
    }
    for (auto& each : sleepers) co_await each;
  }());
}

}  // namespace
}  // namespace taskbench::rt::driver
