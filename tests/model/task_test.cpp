// A task's life between two threads: one that polls it, and one that joins, wakes or drops it.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "runtime/park/parker.hpp"
#include "runtime/task/context.hpp"
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

TEST(ParkerModel, its_owner_may_destroy_it_once_it_has_the_token) {
  holds([] {
    auto parker = std::make_unique<park::Parker>();
    base::Thread other([&giver = *parker] { (void)giver.unpark(); });
    parker->park();
    parker.reset();
    other.join();
  });
}

TEST(ParkerModel, of_two_tokens_the_second_is_not_lost) {
  holds([] {
    park::Parker parker;
    base::Atomic<int> given{0};
    const auto give = [&] {
      given.fetch_add(1, base::relaxed);
      (void)parker.unpark();
    };
    base::Thread first(give);
    base::Thread second(give);
    while (given.load(base::relaxed) < 2) parker.park();
    first.join();
    second.join();
  });
}

/// An output that must be handed over before it is moved or destroyed.
struct Boxed {
  explicit Boxed(int number) : value(number) {}
  Boxed(Boxed&& other) noexcept : value(other.value.get()) {}
  ~Boxed() { static_cast<void>(value.get()); }
  base::Cell<int> value;
};

Task<Boxed> seven() { co_return Boxed(7); }

Task<int> awaits(JoinHandle<Boxed> handle) {
  const Boxed box = co_await std::move(handle);
  co_return box.value.get();
}

TEST(JoinModel, the_output_is_delivered) {
  holds([] {
    OnAThread thread;
    task::Header* const header = seven().release_for_spawn(&thread);
    JoinHandle<Boxed> handle(header);
    base::Thread other([&] { thread.run(header); });
    mc::require(run_here(awaits(std::move(handle))) == 7, "the output");
    other.join();
  });
}

TEST(JoinModel, a_handle_that_sees_the_end_sees_the_output) {
  holds([] {
    OnAThread thread;
    task::Header* const header = seven().release_for_spawn(&thread);
    JoinHandle<Boxed> handle(header);
    base::Thread other([&] { thread.run(header); });
    const bool is_finished = handle.is_finished();
    mc::sometimes("at once", is_finished);
    if (is_finished) mc::require(run_here(awaits(std::move(handle))) == 7, "the output");
    other.join();
  });
}

TEST(JoinModel, a_handle_may_be_dropped_while_the_task_ends) {
  holds([] {
    OnAThread thread;
    task::Header* const header = seven().release_for_spawn(&thread);
    JoinHandle<Boxed> handle(header);
    base::Thread other([&] { thread.run(header); });
    handle.detach();
    other.join();
  });
}

TEST(JoinModel, a_handle_that_was_polled_may_be_dropped_while_the_task_ends) {
  holds(
      [] {
        OnAThread thread;
        task::Header* const header = seven().release_for_spawn(&thread);
        Task<int> waiter = awaits(JoinHandle<Boxed>(header));
        base::Thread other([&] { thread.run(header); });
        const bool given_up = polled_and_given_up(std::move(waiter));
        mc::sometimes("dropped", given_up);
        mc::sometimes("in time", !given_up);
        other.join();
      },
      kNoWeakFailures);
}

Task<int> awaits_there(JoinHandle<Boxed>& handle) {
  const Boxed box = co_await handle;
  co_return box.value.get();
}

TEST(JoinModel, a_handle_may_be_awaited_by_one_task_after_another_while_the_task_ends) {
  holds(
      [] {
        OnAThread thread;
        task::Header* const header = seven().release_for_spawn(&thread);
        JoinHandle<Boxed> handle(header);
        mc::require(polled_and_given_up(awaits_there(handle)), "it has not begun");
        base::Thread other([&] { thread.run(header); });
        mc::require(run_here(awaits_there(handle)) == 7, "the output");
        other.join();
      },
      kNoWeakFailures);
}

// Once a waker has been taken back, the completer cannot tell the next one from it.
TEST(JoinModel, a_handle_may_be_awaited_by_a_third_task_while_the_task_ends) {
  holds(
      [] {
        OnAThread thread;
        task::Header* const header = seven().release_for_spawn(&thread);
        JoinHandle<Boxed> handle(header);
        for (int i = 0; i < 2; ++i) {
          mc::require(polled_and_given_up(awaits_there(handle)), "it has not begun");
        }
        base::Thread other([&] { thread.run(header); });
        mc::require(run_here(awaits_there(handle)) == 7, "the output");
        other.join();
      },
      kNoWeakFailures);
}

/// Counts the live objects of its kind.
class Alive {
 public:
  explicit Alive(int& count) : count_(count) { ++count_; }
  Alive(Alive&& other) noexcept : count_(other.count_) { ++count_; }
  ~Alive() { --count_; }

 private:
  int& count_;
};

TEST(JoinModel, a_handle_that_two_tasks_awaited_may_be_dropped_while_the_task_ends) {
  holds(
      [] {
        int alive = 0;
        OnAThread thread;
        task::Header* const header =
            [](int& count) -> Task<Alive> { co_return Alive(count); }(alive).release_for_spawn(
                               &thread);
        JoinHandle<Alive> handle(header);
        const auto awaits_it = [](JoinHandle<Alive>& own) -> Task<> { (void)co_await own; };
        for (int i = 0; i < 2; ++i) {
          mc::require(polled_and_given_up(awaits_it(handle)), "it has not begun");
        }
        base::Thread other([&] { thread.run(header); });
        handle.detach();
        other.join();
        mc::require(alive == 0, "the output is destroyed");
      },
      kNoWeakFailures);
}

/// A thread that has one task next in line, as a worker has.
class NextInLine {
 public:
  explicit NextInLine(Task<Boxed> task)
      : header_(std::move(task).release_for_spawn(&thread_)), handle_(header_) {
    task::thread_context().next = header_;
  }
  [[nodiscard]] JoinHandle<Boxed>& handle() { return handle_; }
  void run() { run(take()); }
  /// Takes the task out of the line. run() may then be called by another thread.
  [[nodiscard]] task::Header* take() { return std::exchange(task::thread_context().next, nullptr); }
  void run(task::Header* header) { thread_.run(header); }
  /// Polls the task as if it were not in line; it is in line once this thread has woken it.
  void poll() { mc::require(!thread_.poll(header_), "it waits"); }

 private:
  const task::EnterContext enter_{nullptr, nullptr};
  OnAThread thread_;
  task::Header* const header_;
  JoinHandle<Boxed> handle_;
};

// Dropping the handle of a task that is next in line needs no read-modify-write, unless somebody
// else refers to the task: an abort handle may do anything at any moment.
TEST(UnsharedModel, an_abort_handle_of_a_task_whose_handle_is_dropped_while_it_is_next_in_line) {
  holds(
      [] {
        NextInLine next(seven());
        const int use = mc::choose(4);
        base::Thread other([use, abort = next.handle().abort_handle()] {
          if (use == 0) abort.abort();
          if (use == 1) static_cast<void>(abort.is_finished());
          if (use == 2) AbortHandle(abort).abort();
        });
        next.handle().detach();
        next.run();
        other.join();
      },
      {.preemptions = 3, .weak_failures = 0});
}

TEST(UnsharedModel, an_abort_handle_outlives_the_task_whose_handle_was_dropped_while_it_was_next) {
  holds([] {
    std::optional<AbortHandle> abort;
    {
      NextInLine next(seven());
      const int order = mc::choose(3);
      if (order == 0) {
        abort = next.handle().abort_handle();
      } else if (order == 1) {
        const AbortHandle first = next.handle().abort_handle();
        abort = first;
      } else {
        AbortHandle(next.handle().abort_handle()).abort();
      }
      next.handle().detach();
      next.run();
    }
    if (abort) {
      abort->abort();
      mc::require(abort->is_finished(), "it has run");
    }
  });
}

TEST(UnsharedModel, a_task_that_was_aborted_does_not_run_though_its_handle_is_dropped) {
  holds([] {
    int runs = 0;
    NextInLine next([](int& count) -> Task<Boxed> {
      ++count;
      co_return Boxed(7);
    }(runs));
    next.handle().abort();
    next.handle().detach();
    next.run();
    mc::require(runs == 0, "it was cancelled");
  });
}

// The waker of an awaiting task is left there in the same way, and the awaited task may then go
// anywhere.
TEST(UnsharedModel, a_task_is_awaited_while_it_is_next_in_line_and_runs_elsewhere) {
  holds([] {
    NextInLine next(seven());
    std::optional<AbortHandle> abort;
    if (mc::choose(2) == 1) abort = next.handle().abort_handle();
    base::Thread third([own = std::move(abort)] {});
    OnAThread here;
    task::Header* const waiter = awaits_there(next.handle()).release_for_spawn(&here);
    JoinHandle<int> result(waiter);
    mc::require(!here.poll(waiter), "it has not begun");
    base::Thread other([&next, taken = next.take()] { next.run(taken); });
    here.run_once_woken(waiter);
    mc::require(std::move(result).operator co_await().await_resume() == 7, "the output");
    other.join();
    third.join();
  });
}

/// Leaves a waker in its first poll, and finishes in its second.
Task<Boxed> waits_once(std::optional<Waker>& waker) {
  co_await poll_fn([&](PollContext& context) -> std::optional<int> {
    if (waker) return 2;
    waker = context.waker();
    return {};
  });
  co_return Boxed(7);
}

// The holder of a waker may use it, and let go of the task, at any moment.
TEST(UnsharedModel, the_handle_of_a_task_is_dropped_that_was_woken_and_is_next_in_line) {
  holds([] {
    std::optional<Waker> waker;
    NextInLine next(waits_once(waker));
    next.poll();
    waker->wake_by_ref();
    base::Thread other([use = mc::choose(3), own = std::move(*waker)]() mutable {
      if (use == 0) own.wake_by_ref();
      if (use == 1) std::move(own).wake();
    });
    next.handle().detach();
    next.run();
    other.join();
  });
}

TEST(AbortModel, an_abort_comes_before_the_end_or_after_it) {
  holds([] {
    OnAThread thread;
    task::Header* const header = seven().release_for_spawn(&thread);
    JoinHandle<Boxed> handle(header);
    base::Thread other([&, abort = handle.abort_handle()] { abort.abort(); });
    thread.run(header);
    other.join();
    bool is_cancelled = false;
    try {
      const Boxed box = std::move(handle).operator co_await().await_resume();
      mc::require(box.value.get() == 7, "the output");
    } catch (const JoinError&) {
      is_cancelled = true;
    }
    mc::sometimes("cancelled", is_cancelled);
    mc::sometimes("finished", !is_cancelled);
  });
}

TEST(AbortModel, an_abort_handle_may_be_dropped_while_the_task_ends) {
  holds([] {
    OnAThread thread;
    task::Header* const header = seven().release_for_spawn(&thread);
    JoinHandle<Boxed> handle(header);
    base::Thread other([&, abort = handle.abort_handle()] {});
    base::Thread third([&] { thread.run(header); });
    handle.detach();
    other.join();
    third.join();
  });
}

/// Reads `data` when it is destroyed.
class Reads {
 public:
  explicit Reads(const base::Cell<int>& data) : data_(&data) {}
  Reads(Reads&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  ~Reads() {
    if (data_ != nullptr) mc::require(data_->get() == 1, "written before the abort");
  }

 private:
  const base::Cell<int>* data_;
};

Task<int> waits_forever(Reads) {
  const int never = co_await poll_fn([](PollContext&) -> std::optional<int> { return {}; });
  co_return never;
}

TEST(AbortModel, what_was_written_before_an_abort_is_seen_when_the_task_is_destroyed) {
  holds([] {
    base::Cell<int> data{0};
    OnAThread thread;
    task::Header* const header = waits_forever(Reads(data)).release_for_spawn(&thread);
    const JoinHandle<int> handle(header);
    base::Thread other([&, abort = handle.abort_handle()] {
      data.set(1);
      abort.abort();
    });
    thread.run(header);
    other.join();
  });
}

TEST(AbortModel, an_abort_against_a_wake) {
  holds(
      [] {
        std::optional<Waker> waker;
        OnAThread thread;
        task::Header* const header =
            [](std::optional<Waker>& place) -> Task<int> {
          const int polls = co_await poll_fn([&](PollContext& context) -> std::optional<int> {
            if (place) return 2;
            place = context.waker();
            return {};
          });
          co_return polls;
        }(waker)
                                                   .release_for_spawn(&thread);
        const JoinHandle<int> handle(header);
        mc::require(!thread.poll(header), "waits");
        base::Thread other([&, abort = handle.abort_handle()] { abort.abort(); });
        base::Thread third([&] { std::move(*waker).wake(); });
        thread.run_once_woken(header);
        other.join();
        third.join();
      },
      kNoWeakFailures);
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

/// Waits until both flags are set, and leaves two wakers.
Task<int> waits_for_both(std::optional<Waker>* wakers, base::Atomic<int>* flags) {
  const int both = co_await poll_fn([=](PollContext& context) -> std::optional<int> {
    for (int i = 0; i < 2 && !wakers[1]; ++i) wakers[i] = context.waker();
    if (flags[0].load(base::relaxed) + flags[1].load(base::relaxed) < 2) return {};
    return 2;
  });
  co_return both;
}

TEST(WakerModel, what_each_of_two_wakers_wrote_is_seen) {
  holds(
      [] {
        std::optional<Waker> wakers[2];
        base::Atomic<int> flags[2]{0, 0};
        OnAThread thread;
        task::Header* const header = waits_for_both(wakers, flags).release_for_spawn(&thread);
        const JoinHandle<int> handle(header);
        mc::require(!thread.poll(header), "waits");
        const auto wake = [&](int i) {
          flags[i].store(1, base::relaxed);
          wakers[i]->wake_by_ref();
        };
        base::Thread first(wake, 0);
        base::Thread second(wake, 1);
        thread.run_once_woken(header);
        first.join();
        second.join();
      },
      kNoWeakFailures);
}

TEST(WakerModel, what_each_of_two_wakers_wrote_is_seen_by_a_task_that_was_queued) {
  holds(
      [] {
        std::optional<Waker> wakers[2];
        base::Atomic<int> flags[2]{0, 0};
        OnAThread thread;
        task::Header* const header = waits_for_both(wakers, flags).release_for_spawn(&thread);
        const JoinHandle<int> handle(header);
        mc::require(!thread.poll(header), "waits");
        wakers[0]->wake_by_ref();
        const auto wake = [&](int i) {
          flags[i].store(1, base::relaxed);
          wakers[i]->wake_by_ref();
        };
        base::Thread first(wake, 0);
        base::Thread second(wake, 1);
        thread.run_once_woken(header);
        first.join();
        second.join();
      },
      kNoWeakFailures);
}

TEST(WakerModel, a_task_may_be_polled_by_one_thread_after_another) {
  holds([] {
    Mailbox mailbox;
    park::Parker left;
    WhereWoken where;
    int ended = 0;
    task::Header* const header = [](Mailbox& place, park::Parker& parker,
                                    int& ended_after) -> Task<int> {
      base::Cell<int> polls{0};
      const int last = co_await poll_fn([&](PollContext& context) -> std::optional<int> {
        polls.set(polls.get() + 1);
        if (polls.get() == 2) return 2;
        place.leave(context.waker());
        (void)parker.unpark();
        return {};
      });
      ended_after = last;
      co_return last;
    }(mailbox, left, ended)
                                                             .release_for_spawn(&where);
    { const JoinHandle<int> dropped(header); }
    base::Thread other([&] {
      left.park();
      std::move(mailbox.take()).wake();
    });
    where.schedule(header);
    other.join();
    mc::require(ended == 2, "polled twice");
  });
}

TEST(WakerModel, wakers_may_be_dropped_while_the_task_is_queued) {
  holds([] {
    std::optional<Waker> waker;
    OnAThread thread;
    task::Header* const header = [](std::optional<Waker>& place) -> Task<int> {
      const int polls = co_await poll_fn([&](PollContext& context) -> std::optional<int> {
        if (place) return 2;
        place = context.waker();
        return {};
      });
      co_return polls;
    }(waker)
                                                                        .release_for_spawn(&thread);
    { const JoinHandle<int> dropped(header); }
    mc::require(!thread.poll(header), "waits");
    base::Thread other([waker = std::move(*waker)] { waker.wake_by_ref(); });
    thread.run_once_woken(header);
    other.join();
  });
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
      kNoWeakFailures);
}

}  // namespace
}  // namespace taskbench::rt::model
