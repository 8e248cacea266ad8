// What C++20 allows although it hardly ever happens, and what it forbids although it mostly goes
// well.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <system_error>

#include "tests/model/mc/check.hpp"
#include "tests/model/mc/primitives.hpp"

namespace mc::testing {
namespace {

void expect_explored(const Options& options, const std::function<void()>& body) {
  const Result result = check(options, body);
  EXPECT_FALSE(result.failed) << result.message << '\n' << result.events;
  EXPECT_TRUE(result.complete);
}

void expect_message(const std::string& words, const Options& options,
                    const std::function<void()>& body) {
  const Result result = check(options, body);
  EXPECT_TRUE(result.failed);
  EXPECT_NE(result.message.find(words), std::string::npos) << result.message;
}

TEST(Allowed, a_try_lock_fails_while_another_thread_is_in_a_section_without_operations) {
  expect_explored({}, [] {
    Mutex mutex;
    Cell<int> guarded{0};
    Thread other([&] {
      const Guard guard(mutex);
      guarded.set(1);
    });
    const bool taken = mutex.try_lock();
    if (taken) {
      (void)guarded.get();
      mutex.unlock();
    }
    other.join();
    sometimes("taken", taken);
    sometimes("failed", !taken);
  });
}

TEST(Allowed, a_try_lock_fails_for_no_reason_as_often_as_asked_for) {
  const auto body = [] {
    Mutex mutex;
    require(mutex.try_lock(), "nobody holds it");
    mutex.unlock();
  };
  expect_message("not so: nobody holds it", {}, body);
  expect_explored({.weak_failures = 0}, body);
}

TEST(Allowed, a_loop_that_yields_goes_on_after_a_failure_for_no_reason) {
  expect_explored({}, [] {
    Mutex mutex;
    while (!mutex.try_lock()) yield();
    mutex.unlock();
    Atomic<int> x{0};
    int expected = 0;
    while (!x.compare_exchange_weak(expected, 1, relaxed, relaxed)) yield();
  });
}

// The hurried thread wakes the other one if it is woken itself. Notified just before its time is
// up, it wakes nobody.
TEST(Allowed, a_wait_that_was_notified_ends_at_its_deadline) {
  const auto body = [] {
    Mutex mutex;
    Condition condition;
    bool ready = false;
    Thread patient([&] {
      const Guard guard(mutex);
      if (!ready) condition.wait(mutex);
    });
    Thread hurried([&] {
      const Guard guard(mutex);
      if (!ready && condition.wait(mutex, true)) condition.notify_one();
    });
    {
      const Guard guard(mutex);
      ready = true;
      condition.notify_one();
    }
    patient.join();
    hurried.join();
  };
  expect_message("deadlock", {.timeouts = true}, body);
  expect_explored({.timeouts = true, .early = 0}, body);
}

TEST(Allowed, whichever_thread_comes_last_is_refused_another) {
  expect_explored({.threads = 4}, [] {
    bool refused[2] = {};
    const auto ask = [&](int number) {
      try {
        Thread another([] {});
        another.join();
      } catch (const std::system_error&) {
        refused[number] = true;
      }
    };
    Thread one(ask, 0);
    Thread two(ask, 1);
    one.join();
    two.join();
    require(refused[0] != refused[1], "one of them is");
    sometimes("the first", refused[0]);
    sometimes("the second", refused[1]);
  });
}

TEST(Forbidden, a_load_that_releases_and_a_store_that_acquires) {
  for (const Order order : {release, acq_rel}) {
    expect_message("a load must not be", {}, [order] {
      const Atomic<int> x{0};
      (void)x.load(order);
    });
    expect_message("a compare-exchange that fails must not be", {}, [order] {
      Atomic<int> x{0};
      int expected = 1;
      (void)x.compare_exchange_strong(expected, 2, acq_rel, order);
    });
  }
  for (const Order order : {acquire, acq_rel}) {
    expect_message("a store must not be", {}, [order] {
      Atomic<int> x{0};
      x.store(1, order);
    });
  }
}

TEST(Forbidden, to_try_to_lock_what_one_holds) {
  expect_message("tries to lock a mutex that it holds", {}, [] {
    Mutex mutex;
    mutex.lock();
    (void)mutex.try_lock();
  });
}

}  // namespace
}  // namespace mc::testing
