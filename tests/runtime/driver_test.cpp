// A socket wakes a task on every scheduler: while all workers sleep, while all are busy, and while
// the one that watched computes. One of the sleeping threads is appointed to watch.
#include "runtime/driver/driver.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <new>
#include <string>
#include <thread>

#include "runtime/net/async_fd.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/runtime.hpp"
#include "tests/runtime/allocations.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/net_support.hpp"

namespace taskbench::rt {
namespace {

using namespace std::chrono_literals;

/// The two ends of a socket; what is written to one can be read from the other.
class Pair {
 public:
  Pair() {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends_), 0);
  }
  ~Pair() {
    for (const int end : ends_) close(end);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  void write() const { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
  [[nodiscard]] int to_be_read() const { return ends_[0]; }

 private:
  int ends_[2] = {-1, -1};
};

class SocketsWake : public tests::OnEveryScheduler {};
TASKBENCH_ON_EVERY_SCHEDULER(SocketsWake);

class SocketsWakeBesideOthers : public tests::OnEveryPool {};
TASKBENCH_ON_SHARING_POOLS(SocketsWakeBesideOthers);

Task<void> reads(const Pair& pair, std::atomic<bool>& waits, std::atomic<bool>& woken) {
  AsyncFd end = AsyncFd::borrow(pair.to_be_read());
  waits = true;
  co_await end.readable();
  woken = true;
}

TEST_P(SocketsWake, a_task_while_nobody_has_anything_to_do) {
  const Pair pair;
  std::atomic<bool> waits{false};
  std::atomic<bool> woken{false};
  std::thread writer([&] {
    EXPECT_TRUE(tests::eventually([&] { return waits.load(); }));
    std::this_thread::sleep_for(2ms);  // so that all workers are usually asleep
    pair.write();
  });
  build_runtime().block_on(
      [](const Pair& ends, std::atomic<bool>& begun, std::atomic<bool>& ended) -> Task<void> {
        co_await spawn(reads(ends, begun, ended));
      }(pair, waits, woken));
  EXPECT_TRUE(woken.load());
  writer.join();
}

Task<void> yields_until(const std::atomic<bool>& end) {
  while (!end.load()) co_await yield_now();
}

TEST_P(SocketsWake, a_task_while_all_workers_are_busy) {
  const Pair pair;
  std::atomic<bool> waits{false};
  std::atomic<bool> woken{false};
  std::thread writer([&] {
    EXPECT_TRUE(tests::eventually([&] { return waits.load(); }));
    pair.write();
  });
  Runtime runtime = build_runtime();
  for (int i = 0; i < 8; ++i) runtime.spawn(yields_until(woken)).detach();
  runtime.block_on(
      [](const Pair& ends, std::atomic<bool>& begun, std::atomic<bool>& ended) -> Task<void> {
        co_await spawn(reads(ends, begun, ended));
      }(pair, waits, woken));
  writer.join();
}

TEST_P(SocketsWakeBesideOthers, a_task_while_the_one_woken_before_computes) {
  const Pair first;
  const Pair second;
  std::atomic<bool> waits[2] = {false, false};
  std::atomic<bool> woken{false};
  std::atomic<bool> computes{false};
  std::thread writer([&] {
    EXPECT_TRUE(tests::eventually([&] { return waits[0].load() && waits[1].load(); }));
    std::this_thread::sleep_for(2ms);
    first.write();
    EXPECT_TRUE(tests::eventually([&] { return computes.load(); }));
    second.write();
  });
  Runtime runtime = build_runtime();
  JoinHandle<bool> computing =
      runtime.spawn([](const Pair& pair, std::atomic<bool>& begun, std::atomic<bool>& busy,
                       std::atomic<bool>& other) -> Task<bool> {
        AsyncFd end = AsyncFd::borrow(pair.to_be_read());
        begun = true;
        co_await end.readable();
        busy = true;
        co_return tests::eventually([&] { return other.load(); });
      }(first, waits[0], computes, woken));
  runtime.spawn(reads(second, waits[1], woken)).detach();
  EXPECT_TRUE(runtime.block_on([](JoinHandle<bool>& handle) -> Task<bool> {
    const bool in_time = co_await handle;
    co_return in_time;
  }(computing)));
  writer.join();
}

/// A thread that sleeps in a driver until it gets a token or, for an event, the driver.
class Sleeping {
 public:
  /// Returns once the thread sleeps.
  Sleeping(driver::Driver& driver, park::Sleeper& sleeper) : driver_(driver), parker_(sleeper) {
    EXPECT_TRUE(tests::eventually([this] { return is_asleep(); }));
  }
  ~Sleeping() { wake(); }
  Sleeping(const Sleeping&) = delete;
  Sleeping& operator=(const Sleeping&) = delete;

  void wake() {
    if (!thread_.joinable()) return;
    parker_.unpark();
    thread_.join();
  }
  [[nodiscard]] bool has_had_the_driver() const { return has_had_the_driver_; }

 private:
  void sleep() {
    number_ = gettid();
    has_had_the_driver_ = !parker_.park_once();
    driver_.dispatch(nullptr);
  }
  [[nodiscard]] bool is_asleep() const {
    const std::string path = "/proc/self/task/" + std::to_string(number_.load()) + "/stat";
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    // The state follows the name, which is in parentheses.
    const std::size_t name_ends = text.rfind(')');
    return name_ends != std::string::npos && text.substr(name_ends, 3) == ") S";
  }

  driver::Driver& driver_;
  park::Parker parker_;
  std::atomic<int> number_{-1};
  std::atomic<bool> has_had_the_driver_{false};
  std::thread thread_{[this] { sleep(); }};
};

TEST(Watch, is_the_matter_of_the_worker_that_went_to_sleep_last) {
  const Pair pair;
  const base::Ref<driver::Driver> driver(new driver::Driver(0));
  Sleeping inside(*driver, *driver);
  const Sleeping reserve_before(*driver, driver->reserve());
  const Sleeping worker_before(*driver, *driver);
  const Sleeping worker(*driver, *driver);
  Sleeping reserve_meanwhile(*driver, driver->reserve());
  const Sleeping reserve_after(*driver, driver->reserve());
  reserve_meanwhile.wake();
  inside.wake();
  // The driver is free now, and a watcher is appointed because there is something to watch.
  driver::Registration& watched = driver->registrations().add(*driver, pair.to_be_read());
  EXPECT_TRUE(tests::eventually([&] { return worker.has_had_the_driver(); }, 5s));
  for (const Sleeping* other : {&reserve_before, &worker_before, &reserve_after}) {
    EXPECT_FALSE(other->has_had_the_driver());
  }
  watched.retire();
}

TEST(Drivers, that_have_no_memory_to_watch_descriptors_leave_none_open_and_may_try_again) {
  const base::Ref<driver::Driver> driver(new driver::Driver(0));
  const auto before = tests::open_descriptors();
  bool has_failed = false;
  try {
    const tests::NoMemory none;
    static_cast<void>(driver->epoll_descriptor());
  } catch (const std::bad_alloc&) {
    has_failed = true;
  }
  EXPECT_TRUE(has_failed);
  EXPECT_EQ(tests::open_descriptors(), before);
  EXPECT_GE(driver->epoll_descriptor(), 0);
  EXPECT_EQ(tests::open_descriptors(), before + 2);
}

}  // namespace
}  // namespace taskbench::rt
