// The place where threads wait for work: a thread whose sleep ends without a token, before and
// after somebody has chosen to wake it.
#include "runtime/park/condition.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace taskbench::rt::park {
namespace {

/// Sleeps as the test says: returns what `sleeps` returns for the number of the sleep.
class Scripted final : public Sleeper {
 public:
  explicit Scripted(std::function<bool(int)> sleeps) : sleeps_(std::move(sleeps)) {}

  bool sleep(Token&, std::uint32_t, base::Clock::time_point) noexcept override {
    return sleeps_(++count_);
  }
  void wake(const Token*) noexcept override {}
  [[nodiscard]] int count() const { return count_; }

 private:
  std::function<bool(int)> sleeps_;
  int count_ = 0;
};

struct Waiter {
  explicit Waiter(Sleeper& sleeper) : parker(sleeper) {}
  Parker parker;
  Waiter* next_waiting = nullptr;
};

class ConditionTest : public ::testing::Test {
 protected:
  bool wait(Waiter& self) {
    mutex_.lock();
    const bool chosen = condition_.wait(mutex_, self);
    EXPECT_TRUE(is_locked());
    mutex_.unlock();
    return chosen;
  }

  Waiter* take_one() {
    const base::LockGuard lock(mutex_);
    return condition_.take_one();
  }

  /// Whether another thread fails to lock the mutex; if so, it is waiting for the mutex by then.
  bool is_locked() TASKBENCH_UNCHECKED {
    std::atomic<bool> has_it{false};
    std::thread other([&] {
      const base::LockGuard lock(mutex_);
      has_it = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const bool locked = !has_it;
    if (locked) mutex_.unlock();
    other.join();
    mutex_.lock();
    return locked;
  }

  base::Mutex mutex_;
  Condition<Waiter> condition_;
};

TEST_F(ConditionTest, a_waiter_whose_sleeper_has_something_else_takes_itself_out) {
  Scripted sleeper([](int) { return false; });
  Waiter self(sleeper);
  EXPECT_FALSE(wait(self));
  EXPECT_EQ(take_one(), nullptr);
}

TEST_F(ConditionTest, a_waiter_takes_out_nobody_but_itself) {
  std::atomic<bool> other_waits{false};
  std::atomic<bool> is_chosen{false};
  Scripted sleeper_of_other([&](int) {
    other_waits = true;
    while (!is_chosen) std::this_thread::yield();
    return true;
  });
  Waiter other(sleeper_of_other);
  std::thread second;
  Scripted sleeper([&](int) {
    second = std::thread([&] { EXPECT_TRUE(wait(other)); });
    while (!other_waits) std::this_thread::yield();
    return false;
  });
  Waiter self(sleeper);
  EXPECT_FALSE(wait(self));
  EXPECT_EQ(take_one(), &other);
  EXPECT_EQ(take_one(), nullptr);
  static_cast<void>(other.parker.unpark());
  is_chosen = true;
  second.join();
}

TEST_F(ConditionTest, a_waiter_that_is_chosen_while_its_sleep_ends_otherwise_waits_for_its_token) {
  Waiter* chosen = nullptr;
  Scripted sleeper([&](int sleep) {
    if (sleep == 1) {
      chosen = take_one();
      return false;
    }
    const base::LockGuard lock(mutex_);  // the thread that has chosen it may need the mutex
    static_cast<void>(chosen->parker.unpark());
    return true;
  });
  Waiter self(sleeper);
  EXPECT_TRUE(wait(self));
  EXPECT_EQ(chosen, &self);
  EXPECT_EQ(sleeper.count(), 2);
}

TEST_F(ConditionTest, a_sleep_that_ends_for_no_reason_is_gone_on_with) {
  Waiter* waiter = nullptr;
  Scripted sleeper([&](int sleep) {
    if (sleep == 3) static_cast<void>(waiter->parker.unpark());
    return true;
  });
  Waiter self(sleeper);
  waiter = &self;
  EXPECT_TRUE(self.parker.park_once());
  EXPECT_EQ(sleeper.count(), 3);
}

}  // namespace
}  // namespace taskbench::rt::park
