// Whoever falls asleep while something is pushed is woken, or sees it: otherwise nobody runs it.
#include "runtime/scheduler/work_stealing/idle.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "runtime/park/parker.hpp"
#include "runtime/queue/injector.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

using work_stealing::Idle;

struct Node {
  Node* queue_next = nullptr;
};

/// Workers that take nodes from one injector, and sleep in between.
class Workers {
 public:
  explicit Workers(std::uint32_t count) : idle_(count) {}

  void push(Node& node, Idle::Pusher pusher) {
    (void)injector_.push(&node, queue::Admit::always, [] {});
    wake(idle_.worker_to_notify(pusher));
  }

  /// As worker `index`, until it has taken `count` nodes.
  void take(std::uint32_t index, int count) {
    bool searching = false;
    while (count > 0) {
      Node* node = nullptr;
      if (injector_.pop_batch({&node, 1}) == 1) {
        --count;
        if (searching && idle_.stop_searching()) look_again();
        searching = false;
        continue;
      }
      if (idle_.park(index, searching)) look_again();
      parkers_[index].park();
      searching = true;
    }
    if (searching && idle_.stop_searching()) look_again();
  }

 private:
  void look_again() {
    if (!injector_.looks_empty()) wake(idle_.worker_to_notify_again());
  }
  void wake(std::uint32_t index) {
    if (index != Idle::kNobody) (void)parkers_[index].unpark();
  }

  queue::Injector<Node> injector_;
  Idle idle_;
  park::Parker parkers_[2];
};

TEST(IdleModel, a_push_from_outside_is_seen_by_a_worker_that_falls_asleep) {
  holds([] {
    Workers workers(1);
    Node node;
    base::Thread worker([&] { workers.take(0, 1); });
    workers.push(node, Idle::Pusher::outside);
    worker.join();
  });
}

TEST(IdleModel, two_pushes_from_outside_are_both_seen) {
  holds(
      [] {
        Workers workers(1);
        Node nodes[2];
        base::Thread worker([&] { workers.take(0, 2); });
        for (Node& node : nodes) workers.push(node, Idle::Pusher::outside);
        worker.join();
      },
      {.preemptions = 3});
}

TEST(IdleModel, a_push_by_another_worker_is_seen_behind_a_light_fence) {
  holds([] {
    Workers workers(2);
    Node node;
    base::Thread worker([&] { workers.take(0, 1); });
    workers.push(node, Idle::Pusher::worker);
    worker.join();
  });
}

TEST(IdleModel, of_two_workers_each_gets_one_of_two_nodes) {
  holds(
      [] {
        Workers workers(2);
        Node nodes[2];
        base::Thread first([&] { workers.take(0, 1); });
        base::Thread second([&] { workers.take(1, 1); });
        for (Node& node : nodes) workers.push(node, Idle::Pusher::outside);
        first.join();
        second.join();
      },
      {.preemptions = 1});
}

}  // namespace
}  // namespace taskbench::rt::model
