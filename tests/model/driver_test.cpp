// Whoever sleeps in the driver or beside it is woken: by a token, and by a timer that somebody sets
// at that moment; and a timer fires or is cancelled, never both.
#include "runtime/driver/driver.hpp"

#include <gtest/gtest.h>

#include "runtime/task/leaf.hpp"
#include "tests/model/on_a_thread.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

using driver::Driver;

/// Waits for a timer that is due as soon as it is set.
class Due : private task::Leaf {
 public:
  explicit Due(driver::Wheel& wheel) : Leaf(&Due::poll_timer), wheel_(wheel) {}
  ~Due() {
    if (timer_.wheel != nullptr && !has_fired()) wheel_.cancel(timer_);
  }
  Due(const Due&) = delete;
  Due& operator=(const Due&) = delete;

  bool await_ready() const { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> coroutine) {
    return task::suspend_on(*this, coroutine);
  }
  void await_resume() const {}

 private:
  bool has_fired() const { return timer_.fired.load(base::acquire); }
  static bool poll_timer(task::Leaf* leaf, task::Header* task) {
    Due& self = *static_cast<Due*>(leaf);
    if (self.timer_.wheel != nullptr) return self.has_fired();
    self.wheel_.insert(self.timer_, base::Clock::time_point{}, task::reference_in_poll(task));
    return false;
  }

  driver::Wheel& wheel_;
  driver::Timer timer_;
};

/// Gives `parker` a token when the timer has fired.
Task<int> waits(driver::Wheel& wheel, park::Parker* parker) {
  co_await Due(wheel);
  if (parker != nullptr) (void)parker->unpark();
  co_return 0;
}

/// Sleeps in `driver` until there is a token.
void sleep(Driver& driver, park::Parker& parker) {
  while (!parker.park_once()) driver.dispatch(nullptr);
  driver.dispatch(nullptr);
}

enum class Use : std::uint8_t { none, epoll };

void token_wakes(Use use) {
  const base::Ref<Driver> driver(new Driver(0));
  if (use == Use::epoll) (void)driver->epoll_descriptor();
  park::Parker parker(*driver);
  base::Thread sleeper([&] { sleep(*driver, parker); });
  (void)parker.unpark();
  sleeper.join();
}

TEST(DriverModel, a_token_wakes_who_sleeps_inside) {
  holds([] { token_wakes(Use::none); });
}

TEST(DriverModel, a_token_wakes_who_sleeps_in_epoll) {
  holds([] { token_wakes(Use::epoll); });
}

TEST(DriverModel, a_token_wakes_who_goes_over_to_epoll) {
  holds([] {
    const base::Ref<Driver> driver(new Driver(0));
    park::Parker parker(*driver);
    base::Thread sleeper([&] { sleep(*driver, parker); });
    (void)driver->epoll_descriptor();
    (void)parker.unpark();
    sleeper.join();
  });
}

// Otherwise what becomes ready in epoll would wake nobody.
TEST(DriverModel, who_sleeps_inside_goes_over_to_epoll_when_that_is_opened) {
  holds([] {
    const base::Ref<Driver> driver(new Driver(0));
    park::Parker parker(*driver);
    base::Thread sleeper([&] { sleep(*driver, parker); });
    (void)driver->epoll_descriptor();
    base::Poller::opened->await_entry();
    (void)parker.unpark();
    sleeper.join();
  });
}

void tokens_wake_two(Use use) {
  const base::Ref<Driver> driver(new Driver(0));
  if (use == Use::epoll) (void)driver->epoll_descriptor();
  park::Parker one(*driver);
  // With epoll it is of the reserve, which does not watch before it is appointed.
  park::Parker two(use == Use::epoll ? driver->reserve() : static_cast<park::Sleeper&>(*driver));
  base::Thread first([&] { sleep(*driver, one); });
  base::Thread second([&] { sleep(*driver, two); });
  (void)one.unpark();
  (void)two.unpark();
  first.join();
  second.join();
}

TEST(DriverModel, tokens_wake_two_of_whom_one_sleeps_inside) {
  holds([] { tokens_wake_two(Use::none); }, kNoWeakFailures);
}

TEST(DriverModel, tokens_wake_two_of_whom_one_may_be_told_to_watch) {
  holds([] { tokens_wake_two(Use::epoll); }, {.preemptions = 3, .weak_failures = 0});
}

TEST(DriverModel, nobody_has_to_be_told_to_watch_who_went_to_sleep_beside_somebody_inside) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        (void)driver->epoll_descriptor();
        park::Parker one(*driver);
        constexpr std::uint32_t kSleeps = 1;
        park::Token two{kSleeps};
        base::Thread first([&] { sleep(*driver, one); });
        base::Thread second(
            [&] { (void)driver->sleep(two, kSleeps, base::Clock::time_point::max()); });
        (void)one.unpark();
        first.join();
        mc::require(two.load(base::relaxed) == kSleeps, "its token has not been touched");
        two.store(2, base::relaxed);
        driver->wake(&two);
        second.join();
      },
      {.preemptions = 3, .weak_failures = 0});
}

TEST(DriverModel, the_watcher_takes_a_driver_that_was_left) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        (void)driver->epoll_descriptor();
        park::Parker one(*driver);
        park::Parker two(*driver);
        base::Thread first([&] { sleep(*driver, one); });
        base::Thread second([&] { sleep(*driver, two); });
        (void)two.unpark();
        second.join();
        (void)one.unpark();
        first.join();
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 1, .timeouts = true});
}

/// A timer is set while a thread goes to sleep, and nothing else would wake it.
void timer_wakes(Use use) {
  const base::Ref<Driver> driver(new Driver(0));
  if (use == Use::epoll) (void)driver->epoll_descriptor();
  park::Parker parker(*driver);
  base::Thread sleeper([&] { sleep(*driver, parker); });
  WhereWoken runs;
  task::Header* const header = waits(driver->outside_wheel(), &parker).release_for_spawn(&runs);
  const JoinHandle<int> handle(header);
  runs.schedule(header);
  sleeper.join();
}

TEST(DriverModel, a_timer_set_meanwhile_ends_the_sleep_inside) {
  holds([] { timer_wakes(Use::none); }, {.preemptions = 3, .weak_failures = 0});
}

TEST(DriverModel, a_timer_set_meanwhile_ends_the_sleep_in_epoll) {
  holds([] { timer_wakes(Use::epoll); }, {.preemptions = 2, .weak_failures = 0});
}

TEST(DriverModel, a_timer_fires_or_is_cancelled) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        OnAThread runs;
        task::Header* const header =
            waits(driver->outside_wheel(), nullptr).release_for_spawn(&runs);
        const JoinHandle<int> handle(header);
        mc::require(!runs.poll(header), "it waits");
        base::Thread fires([&] { driver->look(nullptr); });
        const bool claimed = task::claim_for_shutdown(header);
        if (claimed) {
          task::cancel(header);
        } else {
          runs.run_once_woken(header);
        }
        fires.join();
        mc::sometimes("cancelled", claimed);
        mc::sometimes("fired", !claimed);
      },
      kNoWeakFailures);
}

}  // namespace
}  // namespace taskbench::rt::model
