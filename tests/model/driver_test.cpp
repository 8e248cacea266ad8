// The driver: a thread that sleeps inside or outside is woken by a token, and by a timer that is
// set at that moment; a timer either fires or is cancelled, never both.
#include "runtime/driver/driver.hpp"

#include <gtest/gtest.h>

#include <sys/epoll.h>

#include <chrono>
#include <optional>
#include <utility>

#include "runtime/task/context.hpp"
#include "runtime/task/leaf.hpp"
#include "runtime/time/sleep.hpp"
#include "tests/model/on_a_thread.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

using driver::Driver;

/// Waits for a timer that is due at `when`, by default at once.
class Due : private task::Leaf {
 public:
  explicit Due(driver::Wheel& wheel, base::Clock::time_point when = {})
      : Leaf(&Due::poll_timer), wheel_(wheel), when_(when) {}
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
    self.wheel_.insert(self.timer_, self.when_, task::reference_in_poll(task));
    return false;
  }

  driver::Wheel& wheel_;
  const base::Clock::time_point when_;
  driver::Timer timer_;
};

/// Gives `parker` a token once the timer has fired.
Task<int> waits(driver::Wheel& wheel, park::Parker* parker, base::Clock::time_point when = {}) {
  co_await Due(wheel, when);
  if (parker != nullptr) (void)parker->unpark();
  co_return 0;
}

/// Sleeps in `driver` until there is a token.
void sleep(Driver& driver, park::Parker& parker) {
  while (!parker.park_once()) {
    mc::require(driver.has_it(), "there is something else than a token");
    driver.dispatch(nullptr);
  }
  driver.dispatch(nullptr);
}

/// A task that waits for a timer of `wheel`.
class WaitsForATimer {
 public:
  explicit WaitsForATimer(driver::Wheel& wheel, park::Parker* parker = nullptr,
                          base::Clock::time_point when = {})
      : header_(waits(wheel, parker, when).release_for_spawn(&runs_)), handle_(header_) {
    runs_.schedule(header_);
  }
  [[nodiscard]] bool has_fired() const { return handle_.is_finished(); }

 private:
  WhereWoken runs_;
  task::Header* const header_;
  const JoinHandle<int> handle_;
};

/// A thread whose sleep has ended for a timer: it holds the driver until it dispatches.
class HasTheDriver {
 public:
  explicit HasTheDriver(Driver& driver) : driver_(driver), timer_(driver.outside_wheel()) {
    park::Parker parker(driver);
    mc::require(!parker.park_once() && driver.has_it(), "the timer is due");
  }
  ~HasTheDriver() { driver_.dispatch(nullptr); }
  HasTheDriver(const HasTheDriver&) = delete;
  HasTheDriver& operator=(const HasTheDriver&) = delete;

 private:
  Driver& driver_;
  const WaitsForATimer timer_;
};

/// Sleeps in `sleeper` until woken by a token of its own, which nobody else should touch.
class Untouched {
 public:
  explicit Untouched(park::Sleeper& sleeper) : sleeper_(sleeper) {}
  void sleep() { (void)sleeper_.sleep(token_, kSleeps, base::Clock::time_point::max()); }
  void wake() {
    mc::require(token_.load(base::relaxed) == kSleeps, "its token has not been touched");
    token_.store(kWoken, base::relaxed);
    sleeper_.wake(&token_);
  }

 private:
  static constexpr std::uint32_t kSleeps = 1;
  static constexpr std::uint32_t kWoken = 2;

  park::Sleeper& sleeper_;
  park::Token token_{kSleeps};
};

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

// Otherwise descriptors that become ready in epoll would wake nobody.
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

/// A thread goes to sleep while another one opens epoll. Then `wake` ends the sleep, on a thread
/// that learns of epoll only from the sleeping one.
template <class Wake>
void wakes_who_has_seen_epoll_opened(const Wake& wake) {
  const base::Ref<Driver> driver(new Driver(0));
  park::Parker parker(*driver);
  base::Thread sleeper([&] { sleep(*driver, parker); });
  base::Thread opener([&] { (void)driver->epoll_descriptor(); });
  wake(*driver, parker);
  sleeper.join();
  opener.join();
}

TEST(DriverModel, a_token_wakes_who_has_gone_over_to_epoll_that_a_third_thread_has_opened) {
  holds(
      [] {
        wakes_who_has_seen_epoll_opened(
            [](Driver&, park::Parker& parker) { (void)parker.unpark(); });
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(DriverModel, a_timer_ends_the_sleep_in_epoll_that_a_third_thread_has_opened) {
  holds(
      [] {
        std::optional<WaitsForATimer> timer;
        wakes_who_has_seen_epoll_opened([&](Driver& driver, park::Parker& parker) {
          timer.emplace(driver.outside_wheel(), &parker);
        });
      },
      {.preemptions = 1, .weak_failures = 0});
}

void tokens_wake_two(Use use) {
  const base::Ref<Driver> driver(new Driver(0));
  if (use == Use::epoll) (void)driver->epoll_descriptor();
  park::Parker one(*driver);
  // With epoll, the second thread is of the reserve, which does not watch until it is appointed.
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

void nobody_has_to_be_told(Use use) {
  const base::Ref<Driver> driver(new Driver(0));
  if (use == Use::epoll) (void)driver->epoll_descriptor();
  mc::require(driver->in_use() == (use == Use::epoll), "whether there is something to watch");
  mc::require(driver->watches_descriptors() == (use == Use::epoll), "and what");
  park::Parker one(*driver);
  Untouched two(*driver);
  base::Thread first([&] { sleep(*driver, one); });
  base::Thread second([&] { two.sleep(); });
  (void)one.unpark();
  first.join();
  two.wake();
  second.join();
}

TEST(DriverModel, nobody_has_to_be_told_to_watch_who_went_to_sleep_beside_somebody_inside) {
  holds([] { nobody_has_to_be_told(Use::epoll); }, {.preemptions = 3, .weak_failures = 0});
}

/// The number of waits in this execution that have ended at a deadline; each takes a second.
std::int64_t timeouts() {
  return std::chrono::floor<std::chrono::seconds>(base::Clock::now().time_since_epoch()).count();
}

TEST(DriverModel, nobody_has_to_watch_where_there_is_nothing_to_watch) {
  holds(
      [] {
        nobody_has_to_be_told(Use::none);
        mc::require(timeouts() == 0, "all have slept until they were woken");
      },
      {.preemptions = 2, .weak_failures = 0, .timeouts = true});
}

/// Waits end at their deadlines only when no thread can run.
constexpr mc::Options kPatient{.preemptions = 1, .weak_failures = 0, .timeouts = true, .early = 0};

/// Returns once all other threads sleep, if the options are kPatient.
void let_others_fall_asleep() {
  park::Parker parker;
  (void)parker.park_until(base::Clock::now() + std::chrono::seconds(1));
}

/// Two threads sleep in `sleeper` while another thread holds the driver. Returns how many watches
/// have ended.
std::int64_t watches_of_two(Driver& driver, park::Sleeper& sleeper) {
  const HasTheDriver here(driver);
  park::Parker one(sleeper);
  park::Parker two(sleeper);
  base::Thread first([&] { sleep(driver, one); });
  base::Thread second([&] { sleep(driver, two); });
  let_others_fall_asleep();
  const std::int64_t ended = timeouts() - 1;
  (void)one.unpark();
  (void)two.unpark();
  first.join();
  second.join();
  return ended;
}

TEST(DriverModel, of_those_that_sleep_beside_somebody_one_watches) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        const std::int64_t ended = watches_of_two(*driver, *driver);
        mc::require(ended <= 1, "one, and once");
        mc::sometimes("it has ended", ended == 1);
      },
      kPatient);
}

TEST(DriverModel, the_reserve_does_not_watch_while_somebody_has_the_driver) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        mc::require(watches_of_two(*driver, driver->reserve()) == 0, "none");
      },
      kPatient);
}

// While a thread holds the driver, a watcher that leaves need not be replaced.
TEST(DriverModel, nobody_is_told_to_watch_while_somebody_has_the_driver) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        park::Parker one(*driver);
        Untouched two(driver->reserve());
        std::optional<HasTheDriver> here(std::in_place, *driver);
        base::Thread first([&] { sleep(*driver, one); });
        base::Thread second([&] { two.sleep(); });
        (void)one.unpark();
        first.join();
        two.wake();
        second.join();
      },
      {.preemptions = 2, .weak_failures = 0});
}

// A watcher takes the driver only when its watch ends, and there are no timeouts here.
TEST(DriverModel, who_is_told_to_watch_lets_others_look_first) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        park::Parker parker(driver->reserve());
        base::Thread sleeper([&] { sleep(*driver, parker); });
        const WaitsForATimer timer(driver->outside_wheel());
        driver->look(nullptr);
        mc::require(timer.has_fired(), "nobody else has the driver");
        (void)parker.unpark();
        sleeper.join();
      },
      {.preemptions = 3, .weak_failures = 0});
}

// Otherwise it would appoint the next one, which appoints the first again once that is back in
// line.
TEST(DriverModel, who_is_told_to_watch_stays_in_the_line) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        park::Parker one(driver->reserve());
        park::Parker two(driver->reserve());
        base::Thread first([&] { sleep(*driver, one); });
        base::Thread second([&] { sleep(*driver, two); });
        (void)driver->epoll_descriptor();
        (void)one.unpark();
        (void)two.unpark();
        first.join();
        second.join();
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 0});
}

TEST(DriverModel, a_sleep_beside_somebody_else_ends_at_its_deadline) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        const HasTheDriver here(*driver);
        for (park::Sleeper* const sleeper :
             {static_cast<park::Sleeper*>(driver.get()), &driver->reserve()}) {
          base::Thread other([&] {
            park::Parker parker(*sleeper);
            mc::require(!parker.park_until(base::Clock::now() + std::chrono::seconds(1)),
                        "there is no token");
            mc::require(!driver->has_it(), "somebody else has it");
          });
          other.join();
        }
      },
      {.preemptions = 2, .weak_failures = 0, .timeouts = true});
}

// Like a worker that was chosen to be woken while its sleep ended for a timer: its token is on its
// way.
TEST(DriverModel, who_has_the_driver_may_sleep_again_before_it_dispatches) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        const HasTheDriver here(*driver);
        for (park::Sleeper* const sleeper :
             {static_cast<park::Sleeper*>(driver.get()), &driver->reserve()}) {
          park::Parker parker(*sleeper);
          base::Thread other([&] { (void)parker.unpark(); });
          const bool woken = parker.park_until(base::Clock::now() + std::chrono::seconds(1));
          mc::sometimes("a token", woken);
          mc::sometimes("the deadline", !woken);
          mc::require(driver->has_it(), "it has not dispatched");
          other.join();
        }
      },
      {.preemptions = 2, .weak_failures = 0, .timeouts = true});
}

TEST(DriverModel, a_token_that_is_there_ends_the_sleep_without_the_driver) {
  holds([] {
    const base::Ref<Driver> driver(new Driver(0));
    (void)driver->epoll_descriptor();
    // An earlier event, already dispatched.
    driver::Registration ready;
    base::Poller::opened->report(&ready, EPOLLIN);
    driver->look(nullptr);
    park::Token token{2};
    mc::require(driver->sleep(token, 1, base::Clock::time_point::max()), "for the token");
    mc::require(!driver->has_it(), "there is nothing to dispatch");
  });
}

// What the thread left behind inside must not stand for it while another thread holds the driver.
TEST(DriverModel, who_has_slept_inside_is_woken_from_its_next_sleep_beside) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        (void)driver->epoll_descriptor();
        park::Parker parker(*driver);
        park::Parker again;
        base::Thread sleeper([&] {
          sleep(*driver, parker);
          (void)again.unpark();
          sleep(*driver, parker);
        });
        base::Thread looker([&] { driver->look(nullptr); });
        (void)parker.unpark();
        again.park();
        (void)parker.unpark();
        sleeper.join();
        looker.join();
      },
      {.preemptions = 1, .weak_failures = 0});
}

// Otherwise events would go to one epoll instance, and wake-ups to the other.
TEST(DriverModel, of_two_that_need_epoll_at_once_one_opens_it) {
  holds([] {
    const base::Ref<Driver> driver(new Driver(0));
    base::Thread other([&] { (void)driver->epoll_descriptor(); });
    (void)driver->epoll_descriptor();
    other.join();
  });
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

/// A timer is set while a thread goes to sleep; nothing else would wake that thread.
void timer_wakes(Use use) {
  const base::Ref<Driver> driver(new Driver(0));
  if (use == Use::epoll) (void)driver->epoll_descriptor();
  park::Parker parker(*driver);
  base::Thread sleeper([&] { sleep(*driver, parker); });
  const WaitsForATimer timer(driver->outside_wheel(), &parker);
  sleeper.join();
}

TEST(DriverModel, a_timer_set_meanwhile_ends_the_sleep_inside) {
  holds([] { timer_wakes(Use::none); }, {.preemptions = 3, .weak_failures = 0});
}

TEST(DriverModel, a_timer_set_meanwhile_ends_the_sleep_in_epoll) {
  holds([] { timer_wakes(Use::epoll); }, {.preemptions = 2, .weak_failures = 0});
}

TEST(DriverModel, who_looks_fires_its_own_timers_though_somebody_else_has_the_driver) {
  holds([] {
    const base::Ref<Driver> driver(new Driver(1));
    const HasTheDriver here(*driver);
    base::Thread worker([&] {
      const WaitsForATimer timer(driver->wheel(0));
      driver->look(&driver->wheel(0));
      mc::require(timer.has_fired(), "its time has come");
    });
    worker.join();
  });
}

// If the wheel advanced with the clock while a timer waits, it would pass that timer's slot and
// come back to it only in the next turn.
TEST(DriverModel, a_timer_that_is_overdue_fires_though_another_was_set_before_anybody_looked) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        const WaitsForATimer overdue(driver->outside_wheel(), nullptr,
                                     base::Clock::now() + std::chrono::milliseconds(60));
        let_others_fall_asleep();  // for a second
        const WaitsForATimer due(driver->outside_wheel());
        driver->look(nullptr);
        mc::require(overdue.has_fired() && due.has_fired(), "both");
      },
      kPatient);
}

/// The runtime of one worker, as its thread sees it: one of the driver's wheels is the worker's
/// own.
class OneWorker final : public task::Spawner {
 public:
  OneWorker(Driver& driver, driver::Wheel& own) : driver_(driver), own_(own) {}

  void schedule(task::Header*) noexcept override {}
  void spawn(task::Header*) noexcept override {}
  void spawn_blocking(task::Header*) override {}
  void run_root(task::Header*) noexcept override {}
  Driver& driver() noexcept override { return driver_; }
  driver::Wheel& timers() noexcept override { return own_; }

 private:
  Driver& driver_;
  driver::Wheel& own_;
};

/// What the owner of a wheel does until `is_over`: a visitor that finds the owner inside yields
/// until the owner has made progress.
void go_on(const base::Atomic<bool>& is_over) {
  base::Atomic<int> rounds{0};
  while (!is_over.load(base::relaxed)) {
    rounds.fetch_add(1, base::relaxed);
    base::yield_thread();
  }
}

// The visitor might store that nothing is due, over the time of the timer set meanwhile.
TEST(DriverModel, a_timer_that_a_worker_sets_while_another_thread_fires_its_wheel_fires) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(1));
        const base::Ref<OneWorker> worker(new OneWorker(*driver, driver->wheel(0)));
        const task::EnterContext enter(worker.get(), nullptr);
        base::Atomic<bool> is_over{false};
        const WaitsForATimer first(driver->wheel(0));
        base::Thread looks([&] {
          driver->look(nullptr);
          is_over.store(true, base::relaxed);
        });
        const WaitsForATimer second(driver->wheel(0));
        go_on(is_over);
        looks.join();
        driver->look(nullptr);
        mc::require(first.has_fired() && second.has_fired(), "both");
      },
      {.preemptions = 2, .weak_failures = 0});
}

/// One thread cancels `task`, which waits for a timer, while another fires the timer through
/// `look`, which gets the flag that says when the test is over. `later`: it is due in less than a
/// second.
template <class Look>
void fires_or_is_cancelled(Task<int> task, const Look& look, bool later = false) {
  OnAThread runs;
  task::Header* const header = std::move(task).release_for_spawn(&runs);
  const JoinHandle<int> handle(header);
  mc::require(!runs.poll(header), "it waits");
  if (later) let_others_fall_asleep();  // for a second
  base::Atomic<bool> is_over{false};
  base::Thread fires([&] { look(is_over); });
  const bool claimed = task::claim_for_shutdown(header);
  if (claimed) {
    task::cancel(header);
  } else {
    runs.run_once_woken(header);
  }
  is_over.store(true, base::relaxed);
  fires.join();
  mc::sometimes("cancelled", claimed);
  mc::sometimes("fired", !claimed);
}

TEST(DriverModel, a_timer_fires_or_is_cancelled) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        fires_or_is_cancelled(waits(driver->outside_wheel(), nullptr),
                              [&](const auto&) { driver->look(nullptr); });
      },
      kNoWeakFailures);
}

// The other thread is another worker or no worker at all.
TEST(DriverModel, a_timer_of_a_worker_fires_or_is_cancelled_by_another_thread) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(2));
        const base::Ref<OneWorker> worker(new OneWorker(*driver, driver->wheel(0)));
        const base::Ref<OneWorker> other(new OneWorker(*driver, driver->wheel(1)));
        const task::EnterContext enter(mc::choose(2) == 0 ? other.get() : nullptr, nullptr);
        fires_or_is_cancelled(waits(driver->wheel(0), nullptr),
                              [&](const base::Atomic<bool>& is_over) {
                                const task::EnterContext enter_worker(worker.get(), nullptr);
                                driver->look(&driver->wheel(0));
                                go_on(is_over);
                              });
      },
      {.preemptions = 2, .weak_failures = 0});
}

Task<int> sleeps() {
  co_await time::sleep(std::chrono::milliseconds(1));
  co_return 0;
}

// W4: an awaiter that sees that its timer has fired may go at once.
TEST(DriverModel, a_sleep_ends_or_is_given_up) {
  holds(
      [] {
        const base::Ref<Driver> driver(new Driver(0));
        const base::Ref<OneWorker> outside(new OneWorker(*driver, driver->outside_wheel()));
        const task::EnterContext enter(outside.get(), nullptr);
        fires_or_is_cancelled(
            sleeps(), [&](const auto&) { driver->look(nullptr); }, true);
      },
      {.preemptions = 2, .weak_failures = 0, .timeouts = true, .early = 0});
}

}  // namespace
}  // namespace taskbench::rt::model
