// The pool of threads for blocking calls: threads go idle, are reused, end, and are waited for.
#include <gtest/gtest.h>

#include <chrono>
#include <system_error>
#include <utility>

#include "runtime/blocking/pool.hpp"
#include "runtime/blocking/spawn_blocking.hpp"
#include "runtime/driver/driver.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// A runtime that consists only of its pool of threads for blocking calls.
class Owner final : public task::Spawner {
 public:
  explicit Owner(std::uint32_t max_threads, std::chrono::nanoseconds idle_timeout = {})
      : pool(*this, {.max_threads = max_threads, .idle_timeout = idle_timeout, .thread_name = ""}) {
  }

  void schedule(task::Header*) noexcept override {}
  void spawn(task::Header*) noexcept override {}
  void spawn_blocking(task::Header* call) override { pool.run(call); }
  void run_root(task::Header*) noexcept override {}
  driver::Driver& driver() noexcept override { return *driver_; }
  driver::Wheel& timers() noexcept override { return driver_->outside_wheel(); }

  blocking::Pool pool;

 private:
  const base::Ref<driver::Driver> driver_{new driver::Driver(0)};
};

/// A call that runs until it may end.
struct HeldCall {
  explicit HeldCall(Owner& owner) {
    blocking::spawn_on(owner, [this] {
      begun.unpark();
      may_end.park();
    }).detach();
  }
  park::Parker begun;
  park::Parker may_end;
};

void end(Owner& owner) {
  owner.pool.close();
  mc::require(owner.pool.join(base::Clock::time_point::max()), "all have ended");
}

TEST(BlockingPoolModel, a_thread_that_tires_of_waiting_misses_no_call) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(1));
        base::Cell<int> runs{0};
        park::Parker parker;
        const auto run = [&] {
          runs.set(runs.get() + 1);
          parker.unpark();
        };
        for (int i = 0; i < 2; ++i) {
          blocking::spawn_on(*owner, run).detach();
          parker.park();
        }
        end(*owner);
        mc::require(runs.get() == 2, "each once");
      },
      {.preemptions = 2, .weak_failures = 0, .timeouts = true});
}

// A leftover token would end the thread as soon as it is idle again.
TEST(BlockingPoolModel, a_thread_that_was_called_as_it_tired_of_waiting_keeps_no_token) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(1, std::chrono::hours(1)));
        park::Parker parker;
        base::Clock::time_point begun;
        for (int i = 0; i < 2; ++i) {
          blocking::spawn_on(*owner, [&] {
            begun = base::Clock::now();
            parker.unpark();
          }).detach();
          parker.park();
        }
        const std::uint64_t threads = owner->pool.counters().threads;
        // A wait that ends at its deadline advances the clock by a second.
        const bool tired = base::Clock::now() - begun >= std::chrono::seconds(1);
        mc::require(threads == 1 || tired, "it has not waited for long");
        end(*owner);
      },
      {.preemptions = 2, .weak_failures = 0, .timeouts = true});
}

TEST(BlockingPoolModel, a_call_against_the_shutdown_is_run_or_cancelled) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(2));
        int ran = 0;
        base::Thread other([&] {
          const JoinHandle<void> handle = blocking::spawn_on(*owner, [&ran] { ++ran; });
          end(*owner);
          mc::require(handle.is_finished(), "run or cancelled");
        });
        owner->pool.close();
        other.join();
        mc::sometimes("run", ran == 1);
        mc::sometimes("cancelled", ran == 0);
      },
      {.preemptions = 2, .weak_failures = 0, .timeouts = true});
}

TEST(BlockingPoolModel, threads_that_were_left_alone_end_the_runtime) {
  holds(
      [] {
        park::Parker parkers[2];
        {
          const base::Ref<Owner> owner(new Owner(2));
          for (park::Parker& parker : parkers) {
            blocking::spawn_on(*owner, [&parker] { parker.unpark(); }).detach();
          }
          for (park::Parker& parker : parkers) parker.park();
          owner->pool.close();
          if (!owner->pool.join(base::Clock::time_point::min())) owner->pool.detach();
        }
      },
      {.preemptions = 2, .weak_failures = 0, .timeouts = true});
}

TEST(BlockingPoolModel, threads_that_were_left_alone_are_counted_until_they_end) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(1));
        HeldCall held(*owner);
        held.begun.park();
        owner->pool.close();
        mc::require(!owner->pool.join(base::Clock::time_point::min()), "it runs");
        owner->pool.detach();
        mc::require(owner->pool.counters().threads == 1, "still");
        held.may_end.unpark();
        while (owner->pool.counters().threads != 0) base::yield_thread();
      },
      {.preemptions = 2, .weak_failures = 0});
}

/// Calls that run at the same time, at most `most` of them.
class AtOnce {
 public:
  explicit AtOnce(int most) : most_(most) {}
  void run() {
    // relaxed: only counted
    const int now = running_.fetch_add(1, base::relaxed) + 1;
    mc::require(now <= most_, "no more threads than are allowed");
    peak_ = now > peak_ ? now : peak_;
    base::yield_thread();
    running_.fetch_sub(1, base::relaxed);  // relaxed: only counted
    ++done_;
  }
  [[nodiscard]] int peak() const { return peak_; }
  [[nodiscard]] int done() const { return done_; }

 private:
  const int most_;
  base::Atomic<int> running_{0};
  int peak_ = 0;
  int done_ = 0;
};

// The calls wait for each other: with one thread fewer they would deadlock.
TEST(BlockingPoolModel, as_many_calls_run_at_once_as_there_may_be_threads) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(2));
        park::Parker first;
        park::Parker second;
        blocking::spawn_on(*owner, [&] { first.park(); }).detach();
        blocking::spawn_on(*owner, [&] {
          first.unpark();
          second.unpark();
        }).detach();
        second.park();
        end(*owner);
        mc::require(owner->pool.counters().calls == 2, "both were counted");
        mc::require(owner->pool.counters().peak_threads == 2, "both threads");
        mc::require(owner->pool.counters().threads == 0, "all have ended");
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(BlockingPoolModel, no_more_calls_run_at_once_than_there_may_be_threads) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(2));
        AtOnce calls(2);
        park::Parker done;
        for (int i = 0; i < 3; ++i) {
          blocking::spawn_on(*owner, [&] {
            calls.run();
            if (calls.done() == 3) done.unpark();
          }).detach();
        }
        done.park();
        end(*owner);
        mc::sometimes("one at a time", calls.peak() == 1);
        mc::sometimes("two at a time", calls.peak() == 2);
        mc::require(owner->pool.counters().peak_threads <= 2, "no more threads");
      },
      {.preemptions = 1, .weak_failures = 0});
}

// There is no idle timeout here: only the token of the next call ends the wait.
TEST(BlockingPoolModel, a_thread_that_is_idle_is_woken_for_the_next_call) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(2, std::chrono::nanoseconds::max()));
        park::Parker parker;
        int runs = 0;
        for (int i = 0; i < 2; ++i) {
          blocking::spawn_on(*owner, [&] {
            ++runs;
            parker.unpark();
          }).detach();
          parker.park();
        }
        end(*owner);
        mc::require(runs == 2, "each once");
        mc::sometimes("by the same thread", owner->pool.counters().peak_threads == 1);
      },
      {.preemptions = 2, .weak_failures = 0});
}

// The second round has two idle threads and two calls: waking one of them twice is a deadlock.
TEST(BlockingPoolModel, of_two_idle_threads_each_gets_a_call) {
  holds(
      [] {
        park::Parker parkers[4];
        const base::Ref<Owner> owner(new Owner(2, std::chrono::nanoseconds::max()));
        for (int i = 0; i < 2; ++i) {
          park::Parker& first = parkers[2 * i];
          park::Parker& second = parkers[2 * i + 1];
          blocking::spawn_on(*owner, [&] { first.park(); }).detach();
          blocking::spawn_on(*owner, [&] {
            first.unpark();
            second.unpark();
          }).detach();
          second.park();
        }
        end(*owner);
      },
      {.preemptions = 1, .weak_failures = 0});
}

// The first call begins; the system refuses a thread for the second, which waits its turn.
TEST(BlockingPoolModel, calls_wait_their_turn_if_the_system_gives_one_thread) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(2, std::chrono::nanoseconds::max()));
        park::Parker done;
        int runs = 0;
        for (int i = 0; i < 2; ++i) {
          blocking::spawn_on(*owner, [&] {
            if (++runs == 2) done.unpark();
          }).detach();
        }
        done.park();
        end(*owner);
      },
      {.preemptions = 2, .weak_failures = 0, .threads = 2});
}

TEST(BlockingPoolModel, a_call_for_which_the_system_gives_no_thread_is_cancelled) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(2));
        bool refused = false;
        try {
          blocking::spawn_on(*owner, [] { mc::require(false, "it has no thread"); }).detach();
        } catch (const std::system_error&) {
          refused = true;
        }
        mc::require(refused, "said so");
        end(*owner);
        mc::require(owner->pool.counters().calls == 0, "not counted");
      },
      {.weak_failures = 0, .threads = 1});
}

/// A running call that ends when allowed to, and a queued one that must not begin.
struct RunningAndWaiting {
  const base::Ref<Owner> owner{new Owner(1)};
  park::Parker begun;
  park::Parker may_end;
  const JoinHandle<void> running = blocking::spawn_on(*owner, [this] {
    begun.unpark();
    may_end.park();
  });
  const JoinHandle<void> waiting =
      blocking::spawn_on(*owner, [] { mc::require(false, "it has not begun"); });
};

TEST(BlockingPoolModel, what_has_not_begun_is_cancelled_by_the_close) {
  holds(
      [] {
        RunningAndWaiting calls;
        calls.begun.park();
        calls.owner->pool.close();
        mc::require(calls.waiting.is_finished(), "cancelled");
        mc::require(!calls.running.is_finished(), "which runs to its end");
        calls.may_end.unpark();
        end(*calls.owner);
        mc::require(calls.running.is_finished(), "it did");
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(BlockingPoolModel, who_waits_for_the_end_waits_for_another_thread_that_cancels) {
  holds(
      [] {
        RunningAndWaiting calls;
        calls.begun.park();
        base::Thread other([&] { calls.owner->pool.close(); });
        calls.owner->pool.close();
        calls.may_end.unpark();
        end(*calls.owner);
        mc::require(calls.waiting.is_finished(), "cancelled");
        other.join();
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(BlockingPoolModel, what_was_aborted_before_it_began_is_cancelled_when_another_call_waits) {
  holds(
      [] {
        RunningAndWaiting calls;
        calls.begun.park();
        calls.waiting.abort();
        blocking::spawn_on(*calls.owner, [] {}).detach();
        mc::require(calls.waiting.is_finished(), "cancelled");
        mc::require(!calls.running.is_finished(), "which runs on");
        calls.may_end.unpark();
        end(*calls.owner);
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(BlockingPoolModel, what_was_aborted_before_it_began_is_cancelled_once_by_whoever_comes_first) {
  holds(
      [] {
        RunningAndWaiting calls;
        calls.begun.park();
        calls.waiting.abort();
        calls.may_end.unpark();
        blocking::spawn_on(*calls.owner, [] {}).detach();
        end(*calls.owner);
        mc::require(calls.waiting.is_finished(), "cancelled");
      },
      {.preemptions = 2, .weak_failures = 0});
}

/// Its destructor waits until it may go on, and then leaves a mark.
class LeavesAMark {
 public:
  LeavesAMark(base::Cell<int>& mark, park::Parker& begins, park::Parker& may_go_on)
      : mark_(&mark), begins_(begins), may_go_on_(may_go_on) {}
  LeavesAMark(LeavesAMark&& other) noexcept
      : mark_(std::exchange(other.mark_, nullptr)),
        begins_(other.begins_),
        may_go_on_(other.may_go_on_) {}
  ~LeavesAMark() {
    if (mark_ == nullptr) return;
    begins_.unpark();
    may_go_on_.park();
    mark_->set(1);
  }

 private:
  base::Cell<int>* mark_;
  park::Parker& begins_;
  park::Parker& may_go_on_;
};

// The last pool thread has ended before the other thread is done cancelling: only the mutex orders
// what that thread has done before the end of the join.
TEST(BlockingPoolModel, who_waits_for_the_end_sees_what_another_thread_has_done_as_it_cancelled) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(1));
        park::Parker cancels;
        park::Parker may_go_on;
        base::Cell<int> mark{0};
        base::Atomic<int> has_closed{0};
        HeldCall held(*owner);
        blocking::spawn_on(*owner, [leaves = LeavesAMark(mark, cancels, may_go_on)] {
          mc::require(false, "it has not begun");
        }).detach();
        held.begun.park();
        base::Thread other([&] {
          owner->pool.close();
          has_closed.store(1, base::relaxed);  // relaxed: hands over nothing
        });
        cancels.park();
        held.may_end.unpark();
        while (owner->pool.counters().threads != 0) base::yield_thread();
        may_go_on.unpark();
        while (has_closed.load(base::relaxed) == 0) base::yield_thread();  // relaxed: as above
        mc::require(owner->pool.join(base::Clock::time_point::max()), "all have ended");
        mc::require(mark.get() == 1, "what was cancelled is gone");
        other.join();
      },
      {.preemptions = 1, .weak_failures = 0});
}

// The same, where the other thread cancels as it brings another call.
TEST(BlockingPoolModel, who_waits_for_the_end_sees_what_another_thread_has_done_before_its_call) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(1));
        park::Parker cancels;
        park::Parker may_go_on;
        base::Cell<int> mark{0};
        HeldCall held(*owner);
        const JoinHandle<void> aborted =
            blocking::spawn_on(*owner, [leaves = LeavesAMark(mark, cancels, may_go_on)] {
              mc::require(false, "it has not begun");
            });
        aborted.abort();
        held.begun.park();
        base::Thread other([&] { blocking::spawn_on(*owner, [] {}).detach(); });
        cancels.park();
        held.may_end.unpark();
        owner->pool.close();
        may_go_on.unpark();
        mc::require(owner->pool.join(base::Clock::time_point::max()), "all have ended");
        mc::require(mark.get() == 1, "what was cancelled is gone");
        other.join();
      },
      {.preemptions = 1, .weak_failures = 0});
}

// It would take back what the one that waits has announced, which nobody would wake then.
TEST(BlockingPoolModel, who_does_not_wait_for_the_end_leaves_that_to_another_thread) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(1));
        HeldCall held(*owner);
        held.begun.park();
        owner->pool.close();
        base::Thread other([&] {
          mc::require(!owner->pool.join(base::Clock::time_point::min()), "it runs");
          held.may_end.unpark();
        });
        mc::require(owner->pool.join(base::Clock::time_point::max()), "all have ended");
        other.join();
      },
      {.preemptions = 1, .weak_failures = 0});
}

// The call runs on the pool's own thread, which cannot wait for itself.
TEST(BlockingPoolModel, a_call_that_ends_its_own_pool_is_told_that_it_cannot_wait) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(1));
        park::Parker parker;
        blocking::spawn_on(*owner, [&] {
          owner->pool.close();
          mc::require(!owner->pool.join(base::Clock::time_point::max()), "it runs itself");
          parker.unpark();
        }).detach();
        parker.park();
        end(*owner);
      },
      {.preemptions = 2, .weak_failures = 0});
}

}  // namespace
}  // namespace taskbench::rt::model
