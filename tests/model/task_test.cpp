// A task's life between two threads: the one that polls it, and the one that joins, wakes or drops.
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "runtime/park/parker.hpp"
#include "runtime/task/poll_fn.hpp"
#include "runtime/task/waker.hpp"
#include "tests/model/on_a_thread.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

void hand_over_by_token() {
  park::Parker parker;
  base::Cell<int> data{0};
  base::Thread other([&] {
    data.set(1);
    (void)parker.unpark();
  });
  parker.park();
  mc::require(data.get() == 1, "handed over");
  other.join();
}

TEST(ParkerModel, what_was_written_before_the_token_is_seen) { holds(hand_over_by_token); }

TEST(ParkerModel, spurious_wake_ups_do_not_end_the_sleep) {
  holds(hand_over_by_token, {.spurious = 2});
}

TEST(ParkerModel, a_token_that_comes_at_the_deadline_is_not_lost) {
  holds(
      [] {
        park::Parker parker;
        base::Thread other([&] { (void)parker.unpark(); });
        const bool in_time = parker.park_until(base::Clock::time_point{});
        mc::sometimes("in time", in_time);
        mc::sometimes("too late", !in_time);
        if (!in_time) parker.park();
        mc::require(!parker.try_park(), "one token");
        other.join();
      },
      {.timeouts = true});
}

Task<int> seven() { co_return 7; }

Task<int> awaits(JoinHandle<int> handle) { co_return co_await std::move(handle); }

TEST(JoinModel, the_output_is_delivered) {
  holds([] {
    OnAThread thread;
    task::Header* const header = seven().release_for_spawn(&thread);
    JoinHandle<int> handle(header);
    base::Thread other([&] { thread.run(header); });
    mc::require(run_here(awaits(std::move(handle))) == 7, "the output");
    other.join();
  });
}

TEST(JoinModel, a_handle_may_be_dropped_while_the_task_ends) {
  holds([] {
    OnAThread thread;
    task::Header* const header = seven().release_for_spawn(&thread);
    std::optional<JoinHandle<int>> handle = JoinHandle<int>(header);
    base::Thread other([&] { thread.run(header); });
    handle.reset();
    other.join();
  });
}

/// A place where a task leaves its waker for another thread.
class Mailbox {
 public:
  void leave(Waker waker) {
    const base::LockGuard guard(mutex_);
    waker_ = std::move(waker);
  }
  [[nodiscard]] Waker take() {
    const base::LockGuard guard(mutex_);
    return std::move(waker_);
  }

 private:
  base::Mutex mutex_;
  Waker waker_;
};

Task<int> waits_until(Mailbox& mailbox, base::Atomic<int>& ready, int wanted) {
  co_return co_await poll_fn([&](PollContext& context) -> std::optional<int> {
    mailbox.leave(context.waker());
    if (ready.load(base::acquire) < wanted) return std::nullopt;
    (void)mailbox.take();
    return wanted;
  });
}

TEST(WakerModel, a_wake_is_not_lost_wherever_it_comes) {
  holds([] {
    Mailbox mailbox;
    base::Atomic<int> ready{0};
    base::Thread other([&] {
      ready.store(1, base::release);
      mailbox.take().wake_by_ref();
    });
    mc::require(run_here(waits_until(mailbox, ready, 1)) == 1, "woken");
    other.join();
  });
}

TEST(WakerModel, a_waker_that_is_consumed_or_outlives_the_task_leaks_nothing) {
  holds([] {
    Mailbox mailbox;
    base::Atomic<int> ready{0};
    base::Thread other([&] {
      Waker waker = mailbox.take();
      ready.store(1, base::release);
      std::move(waker).wake();
      std::move(mailbox.take()).wake();
    });
    mc::require(run_here(waits_until(mailbox, ready, 1)) == 1, "woken");
    other.join();
  });
}

TEST(WakerModel, what_each_of_two_wakers_wrote_is_seen) {
  holds(
      [] {
        Mailbox mailboxes[2];
        base::Atomic<int> ready[2]{0, 0};
        const auto wake = [&](int i) {
          ready[i].store(1, base::relaxed);
          mailboxes[i].take().wake_by_ref();
        };
        base::Thread other([&] {
          run_here([](Mailbox* places, base::Atomic<int>* flags) -> Task<int> {
            bool left = false;  // once: another look at the mailboxes would hand over the flags
            co_return co_await poll_fn([=, &left](PollContext& context) -> std::optional<int> {
              for (int i = 0; i < 2 && !left; ++i) places[i].leave(context.waker());
              left = true;
              if (flags[0].load(base::relaxed) + flags[1].load(base::relaxed) < 2) {
                return std::nullopt;
              }
              return 2;
            });
          }(mailboxes, ready));
        });
        base::Thread first(wake, 0);
        base::Thread second(wake, 1);
        other.join();
        first.join();
        second.join();
      },
      {.preemptions = 1});
}

TEST(WakerModel, a_task_without_a_handle_may_end_in_the_poll_that_hands_out_a_waker) {
  holds([] {
    Mailbox mailbox;
    base::Thread other([&] { std::move(mailbox.take()).wake(); });
    OnAThread thread;
    task::Header* const header = [](Mailbox& place) -> Task<int> {
      co_return co_await poll_fn([&](PollContext& context) -> std::optional<int> {
        place.leave(context.waker());
        return 1;
      });
    }(mailbox)
                                                           .release_for_spawn(&thread);
    { const JoinHandle<int> dropped(header); }
    thread.run(header);
    other.join();
  });
}

TEST(WakerModel, of_several_wakes_the_last_is_seen) {
  holds(
      [] {
        Mailbox mailbox;
        base::Atomic<int> ready{0};
        base::Thread other([&] {
          for (int i = 1; i <= 2; ++i) {
            ready.store(i, base::release);
            mailbox.take().wake_by_ref();
          }
        });
        mc::require(run_here(waits_until(mailbox, ready, 2)) == 2, "woken each time");
        other.join();
      },
      {.preemptions = 3});
}

}  // namespace
}  // namespace taskbench::rt::model
