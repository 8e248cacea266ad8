// The thread that holds the driver, or watches it, while others leave it to run tasks: an event or
// a timer that nobody else would see ends the sleep of a thread that is still there (invariant D4
// of driver.hpp).
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <utility>

#include "runtime/time/sleep.hpp"
#include "tests/model/near_end.hpp"
#include "tests/model/on_a_thread.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// With timeouts, as the watcher's sleep has a limit.
mc::Options watched(int preemptions) {
  return {.preemptions = preemptions, .weak_failures = 0, .stale = 0, .timeouts = true};
}

/// Threads that sleep in a driver, and a task that waits for a byte or for a timer. When the task
/// ends, it wakes all of them.
class Sleepers {
 public:
  enum class Waits : std::uint8_t {
    for_a_byte,
    for_a_timer,
    for_the_first_timer,  ///< of a driver that was not in use before
  };

  explicit Sleepers(Waits waits) : waits_(waits) {
    if (waits == Waits::for_a_byte) stream_.emplace(peer_);
    if (waits == Waits::for_a_timer) (void)driver().epoll_descriptor();
    header_ = run(*this).release_for_spawn(&runs_);
    handle_ = JoinHandle<int>(header_);
    if (waits == Waits::for_a_byte) runs_.schedule(header_);
  }

  /// Sleeps until the task has ended, as a worker or as a thread of the reserve.
  void sleep() { sleep(workers_[next_worker_++]); }
  void sleep_in_reserve() { sleep(reserve_); }
  /// Like sleep(), but leaves the driver at the first token, and then computes until the task has
  /// ended.
  void sleep_and_compute() {
    park::Parker& own = leavers_[next_leaver_++];
    until_woken(own);
    busy_[busy_count_++].park();
  }
  /// Gives its token to the thread that is to compute.
  void wake_leaver(int index) { (void)leavers_[index].unpark(); }

  /// Delivers the byte, or starts the task that waits for the timer.
  void lets_it_happen() {
    if (waits_ == Waits::for_a_byte) {
      peer_.deliver(1);
    } else {
      runs_.schedule(header_);
    }
  }

 private:
  driver::Driver& driver() { return runtime_->driver(); }
  void until_woken(park::Parker& parker) {
    while (!parker.park_once()) driver().dispatch(nullptr);
    driver().dispatch(nullptr);
  }
  void sleep(park::Parker& parker) { until_woken(parker); }

  static Task<int> run(Sleepers& all) {
    if (all.waits_ == Waits::for_a_byte) {
      std::array<char, 2> bytes;
      co_await all.stream_->read(bytes.data(), bytes.size());
    } else {
      co_await time::sleep(std::chrono::milliseconds(1));
    }
    for (park::Parker* each :
         {&all.workers_[0], &all.workers_[1], &all.reserve_, &all.busy_[0], &all.busy_[1]}) {
      (void)each->unpark();
    }
    co_return 0;
  }

  const Waits waits_;
  const base::Ref<NetOnly> runtime_{new NetOnly};
  const task::EnterContext enter_{runtime_.get(), nullptr};
  Connection peer_{0, Connection::Reports::by_a_poller};
  std::optional<NearEnd> stream_;
  park::Parker workers_[2]{park::Parker(driver()), park::Parker(driver())};
  park::Parker leavers_[2]{park::Parker(driver()), park::Parker(driver())};
  park::Parker reserve_{driver().reserve()};
  park::Parker busy_[2];
  int next_worker_ = 0;
  int next_leaver_ = 0;
  int busy_count_ = 0;
  WhereWoken runs_;
  task::Header* header_ = nullptr;
  JoinHandle<int> handle_{nullptr};
};
using Waits = Sleepers::Waits;

void one_leaves(Waits waits) {
  Sleepers all(waits);
  base::Thread leaver([&] { all.sleep_and_compute(); });
  base::Thread sleeper([&] { all.sleep(); });
  all.wake_leaver(0);
  all.lets_it_happen();
  leaver.join();
  sleeper.join();
}

TEST(WatcherModel, a_byte_is_seen_by_who_sleeps_on_when_the_one_inside_leaves) {
  holds([] { one_leaves(Waits::for_a_byte); }, watched(3));
}

TEST(WatcherModel, a_timer_is_seen_by_who_sleeps_on_when_the_one_inside_leaves) {
  holds([] { one_leaves(Waits::for_a_timer); }, watched(3));
}

// Nobody has watched so far, as there was nothing to watch.
TEST(WatcherModel, the_first_timer_is_seen_by_who_sleeps_on_when_the_one_inside_has_left) {
  holds([] { one_leaves(Waits::for_the_first_timer); }, watched(3));
}

// The remaining sleeper may be in block_on, and takes the driver in no other way than by watching.
TEST(WatcherModel, a_byte_is_seen_by_a_thread_of_the_reserve_when_the_one_inside_leaves) {
  holds(
      [] {
        Sleepers all(Waits::for_a_byte);
        base::Thread leaver([&] { all.sleep_and_compute(); });
        base::Thread sleeper([&] { all.sleep_in_reserve(); });
        all.wake_leaver(0);
        all.lets_it_happen();
        leaver.join();
        sleeper.join();
      },
      watched(3));
}

// The first to sleep outside watches; when it leaves as well, the next one takes over.
void two_leave(Waits waits) {
  Sleepers all(waits);
  base::Thread first([&] { all.sleep_and_compute(); });
  base::Thread second([&] { all.sleep_and_compute(); });
  base::Thread sleeper([&] { all.sleep(); });
  all.wake_leaver(1);
  all.wake_leaver(0);
  all.lets_it_happen();
  first.join();
  second.join();
  sleeper.join();
}

TEST(WatcherModel, a_byte_is_seen_by_the_last_one_when_the_watcher_leaves_too) {
  holds([] { two_leave(Waits::for_a_byte); }, watched(2));
}

TEST(WatcherModel, a_timer_is_seen_by_the_last_one_when_the_watcher_leaves_too) {
  holds([] { two_leave(Waits::for_a_timer); }, watched(2));
}

}  // namespace
}  // namespace taskbench::rt::model
