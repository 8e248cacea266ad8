// A rung of the ladder: work_stealing with one or more of its steps undone. This file is compiled
// once for each rung, with its name as TASKBENCH_RUNG: the sources of the scheduler with the rung's
// policy in place of their own, and its name in place of their namespace (docs/adr/0041).
//
// Policies go downward from the scheduler's own: that of each rung is the one above with the last
// step undone.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "runtime/base/biased_lock.hpp"
#include "runtime/scheduler/engine.hpp"
#include "runtime/scheduler/tokio01/costs.hpp"
#include "runtime/scheduler/work_stealing/policy.hpp"

namespace taskbench::rt::policies {

// What steps replaced.

struct NoRounds {
  static constexpr bool kKeepsLoneTasks = false;
  static void forget(const task::Header*) {}
  static bool has_yielded(const task::Header*) { return false; }
  static bool count_yield(const task::Header*) { return false; }
  static void count_turn_alone() {}
  static void count_turn(const auto&) {}
  static void adopt(const NoRounds&) {}
  static void take_over(const NoRounds&) {}
  static std::uint32_t level_with(const NoRounds&, const auto&, const auto&) { return 0; }
};

template <class Queue>
struct WithoutLookAhead : Queue {
  bool pop_front(task::Header*& out) { return Queue::pop_front(out); }
  bool pop_front(task::Header*& out, const auto&) { return Queue::pop_front(out); }
};

template <class Queue>
struct WithoutHalves : Queue {
  auto steal_into(Queue& thief, std::uint32_t) { return Queue::steal_into(thief, 1); }
};

template <class Injector>
struct WithoutBatches : Injector {
  void push_batch(std::span<task::Header* const> tasks) {
    for (std::size_t i = 0; i < tasks.size(); ++i) Injector::push_batch(tasks.subspan(i, 1));
  }
};

// The rungs, from the highest to the lowest.

struct ladder_prefetch : work_stealing::Policy {
  using Rounds = NoRounds;
  // What rungs choose besides:
  static constexpr bool kHasLifoSlot = true;
  static constexpr bool kHasPatience = true;
  static constexpr std::uint32_t kDescent = 0;
  static void begin(task::Header*, task::Spawner&) noexcept {}
  static void enter_queue(task::Header*) noexcept {}
};
struct ladder_patience : ladder_prefetch {
  using LocalQueue = WithoutLookAhead<queue::LocalQueue<task::Header*>>;
};
struct ladder_biased_lock : ladder_patience {
  static constexpr bool kHasPatience = false;
  static constexpr bool searches_once(bool) { return true; }
};
struct ladder_batch_overflow : ladder_biased_lock {
  using LocalQueue =
      WithoutLookAhead<queue::LocalQueue<task::Header*, queue::ProductionLimits, base::EvenLock>>;
  using OwnedTasks = task::OwnedTasks;
  static constexpr auto* pusher_fence = base::full_fence;
  static constexpr auto* leaver_fence = base::full_fence;
};
struct ladder_no_references : ladder_batch_overflow {
  using Injector = WithoutBatches<queue::Injector<task::Header>>;
};
struct ladder_one_allocation : ladder_no_references, scheduler::TaskCosts<false> {
  using TaskCosts<false>::begin, TaskCosts<false>::enter_queue;
  using TaskCosts<false>::poll, TaskCosts<false>::cancel;
};
struct ladder_few_wakeups : ladder_one_allocation, scheduler::TaskCosts<true> {
  using TaskCosts<true>::begin, TaskCosts<true>::enter_queue;
  using TaskCosts<true>::poll, TaskCosts<true>::cancel;
};
struct ladder_few_searchers : ladder_few_wakeups {
  static constexpr bool enough_search(std::uint32_t) { return false; }
};
struct ladder_lifo_slot : ladder_few_searchers {
  static constexpr bool may_search(std::uint32_t, std::uint32_t) { return true; }
};
struct ladder_steal_half : ladder_lifo_slot {
  static constexpr bool kHasLifoSlot = false;
};
struct ladder_queue : ladder_steal_half {
  using LocalQueue = WithoutHalves<ladder_steal_half::LocalQueue>;
};

}  // namespace taskbench::rt::policies

// From here on it stands for the namespace of the rung.
#define work_stealing TASKBENCH_RUNG

namespace taskbench::rt::work_stealing {
using Policy = policies::TASKBENCH_RUNG;
}

#include "runtime/scheduler/work_stealing/idle.cpp"
#include "runtime/scheduler/work_stealing/pool.cpp"
#include "runtime/scheduler/work_stealing/worker.cpp"
#include "runtime/scheduler/work_stealing/worker_set.cpp"

namespace taskbench::rt {
namespace work_stealing {

class Rung final : public Pool {
 public:
  [[nodiscard]] static base::Ref<Pool> make(RuntimeOptions options) {
    options.lifo_slot = options.lifo_slot && Policy::kHasLifoSlot;
    return start(base::Ref<Pool>(new Rung(std::move(options))));
  }

  void spawn(task::Header* task) noexcept override {
    Policy::begin(task, *this);
    Policy::enter_queue(task);
    Pool::spawn(task);
  }
  void schedule(task::Header* task) noexcept override {
    Policy::enter_queue(task);
    Pool::schedule(task);
  }

  /// A cell tells by the worker whether the drain ended its task, so no rung hands workers on.
  [[nodiscard]] void* begin_blocking() noexcept override { return nullptr; }

 private:
  explicit Rung(RuntimeOptions options)
      : Pool(std::move(options), Policy::kHasPatience ? Worker::Pace::clock : Worker::Pace::none) {}
};

}  // namespace work_stealing

namespace rungs {

base::Ref<scheduler::Engine> TASKBENCH_RUNG(RuntimeOptions options) {
  return work_stealing::Rung::make(std::move(options));
}

}  // namespace rungs
}  // namespace taskbench::rt
