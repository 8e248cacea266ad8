// A worker that falls asleep while something is pushed is woken, or sees it: otherwise nobody runs
// it.
#include "runtime/scheduler/work_stealing/idle.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "runtime/park/parker.hpp"
#include "runtime/queue/injector.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

using work_stealing::Idle;

/// A count of tasks, published with relaxed operations only, as the injector publishes its size.
class Count {
 public:
  void push() { count_.fetch_add(1, base::relaxed); }
  [[nodiscard]] bool take() {
    int seen = count_.load(base::relaxed);
    while (seen > 0) {
      if (count_.compare_exchange_strong(seen, seen - 1, base::relaxed, base::relaxed)) return true;
    }
    return false;
  }
  [[nodiscard]] bool looks_empty() const { return count_.load(base::relaxed) == 0; }

 private:
  base::Atomic<int> count_{0};
};

/// Tasks in the injector itself.
class Queued {
 public:
  void push() {
    (void)injector_.push(&nodes_[pushed_++], queue::Admit::always, [] {});
  }
  [[nodiscard]] bool take() {
    Node* node = nullptr;
    return injector_.pop_batch({&node, 1}) == 1;
  }
  [[nodiscard]] bool looks_empty() const { return injector_.looks_empty(); }

 private:
  struct Node {
    Node* queue_next = nullptr;
  };
  Node nodes_[2];
  int pushed_ = 0;
  queue::Injector<Node> injector_;
};

/// Workers that take from one place and sleep when it is empty.
template <class Work>
class Workers {
 public:
  explicit Workers(std::uint32_t count) : idle_(count) {}

  /// Worker `index` is asleep, or about to be, without having looked.
  void sleeps(std::uint32_t index) {
    if (idle_.park(index, false)) look_again();
  }
  [[nodiscard]] bool searches() { return idle_.try_start_searching(); }

  void push(Idle::Pusher pusher) {
    work_.push();
    wake(idle_.worker_to_notify(pusher));
  }

  /// Runs worker `index` until it has taken a task.
  void take(std::uint32_t index, bool searching = false) {
    while (!work_.take()) {
      if (idle_.park(index, searching)) look_again();
      parkers_[index].park();
      searching = true;
    }
    if (searching && idle_.stop_searching()) look_again();
  }
  /// Runs worker `index` until one of the workers has taken the only task. `looks`: it looks before
  /// it falls asleep for the first time.
  void take_the_only_one(std::uint32_t index, bool looks) {
    for (bool searching = false; !(looks && work_.take()); searching = looks = true) {
      if (idle_.park(index, searching)) look_again();
      parkers_[index].park();
      if (is_taken_.load(base::relaxed) != 0) return;
    }
    is_taken_.store(1, base::relaxed);
    for (park::Parker& parker : parkers_) (void)parker.unpark();
  }
  /// A searcher has found several tasks: it queues one and runs another.
  void queue_and_stop_searching() {
    work_.push();
    if (idle_.stop_searching()) look_again();
  }
  /// Runs worker `index`, initially asleep, until it has taken a task.
  void wake_up_and_take(std::uint32_t index) {
    parkers_[index].park();
    take(index, true);
  }

 private:
  void look_again() {
    if (!work_.looks_empty()) wake(idle_.worker_to_notify_again());
  }
  void wake(std::uint32_t index) {
    if (index != Idle::kNobody) (void)parkers_[index].unpark();
  }

  Work work_;
  Idle idle_;
  base::Atomic<int> is_taken_{0};
  park::Parker parkers_[3];
};

TEST(IdleModel, a_push_from_outside_is_seen_by_a_worker_that_falls_asleep) {
  holds([] {
    Workers<Queued> workers(1);
    base::Thread worker([&] { workers.take(0); });
    workers.push(Idle::Pusher::outside);
    worker.join();
  });
}

TEST(IdleModel, two_pushes_from_outside_are_both_seen) {
  holds([] {
    Workers<Count> workers(1);
    base::Thread worker([&] {
      workers.take(0);
      workers.take(0);
    });
    workers.push(Idle::Pusher::outside);
    workers.push(Idle::Pusher::outside);
    worker.join();
  });
}

TEST(IdleModel, a_push_by_another_worker_is_seen_behind_a_light_fence) {
  holds([] {
    Workers<Queued> workers(2);
    base::Thread worker([&] { workers.take(0); });
    workers.push(Idle::Pusher::worker);
    worker.join();
  });
}

TEST(IdleModel, the_last_searcher_that_finds_work_wakes_a_worker_for_what_was_pushed_meanwhile) {
  holds([] {
    Workers<Count> workers(2);
    workers.sleeps(1);
    mc::require(workers.searches(), "nobody else does");
    workers.push(Idle::Pusher::outside);
    base::Thread searcher([&] { workers.take(0, true); });
    base::Thread sleeper([&] { workers.wake_up_and_take(1); });
    workers.push(Idle::Pusher::outside);
    searcher.join();
    sleeper.join();
  });
}

TEST(IdleModel, a_searcher_that_stops_sees_what_a_worker_pushed_behind_a_light_fence) {
  holds([] {
    Workers<Count> workers(3);
    workers.sleeps(1);
    mc::require(workers.searches(), "nobody else does");
    workers.push(Idle::Pusher::worker);
    base::Thread searcher([&] { workers.take(0, true); });
    base::Thread sleeper([&] { workers.wake_up_and_take(1); });
    workers.push(Idle::Pusher::worker);  // worker 2
    searcher.join();
    sleeper.join();
  });
}

TEST(IdleModel, a_searcher_that_stops_sees_what_one_pushed_that_fell_asleep_before) {
  holds([] {
    Workers<Count> workers(2);
    mc::require(workers.searches(), "nobody else does");
    workers.push(Idle::Pusher::outside);
    base::Thread other([&] {
      workers.push(Idle::Pusher::worker);
      workers.sleeps(1);
      workers.wake_up_and_take(1);
    });
    workers.take(0, true);
    other.join();
  });
}

TEST(IdleModel, the_last_worker_to_fall_asleep_sees_what_one_pushed_that_fell_asleep_before) {
  holds([] {
    Workers<Count> workers(2);
    base::Thread first([&] {
      workers.push(Idle::Pusher::worker);
      workers.take_the_only_one(0, false);
    });
    base::Thread second([&] { workers.take_the_only_one(1, true); });
    first.join();
    second.join();
  });
}

// Found by drawing unbounded interleavings of
// what_a_blocked_worker_took_from_the_injector_is_stolen: of two searchers, the one that does not
// stop last passes no fence.
TEST(IdleModel, the_last_searcher_sees_what_one_queued_that_stopped_before) {
  holds([] {
    Workers<Count> workers(4);
    mc::require(workers.searches() && workers.searches(), "half of the workers may");
    base::Thread finder([&] { workers.queue_and_stop_searching(); });
    workers.take(1, true);
    finder.join();
  });
}

TEST(IdleModel, of_two_pushers_one_wakes_a_worker_which_searches_for_both) {
  holds([] {
    Idle idle(2);
    static_cast<void>(idle.park(0, false));
    static_cast<void>(idle.park(1, false));
    std::uint32_t woken = Idle::kNobody;
    base::Thread other([&] { woken = idle.worker_to_notify(Idle::Pusher::outside); });
    const std::uint32_t own = idle.worker_to_notify(Idle::Pusher::outside);
    other.join();
    mc::require((own == Idle::kNobody) != (woken == Idle::kNobody), "one of two");
  });
}

TEST(IdleModel, of_two_workers_each_gets_one) {
  holds(
      [] {
        Workers<Count> workers(2);
        base::Thread first([&] { workers.take(0); });
        base::Thread second([&] { workers.take(1); });
        workers.push(Idle::Pusher::outside);
        workers.push(Idle::Pusher::outside);
        first.join();
        second.join();
      },
      {.preemptions = 2});
}

}  // namespace
}  // namespace taskbench::rt::model
