// Forks between two threads: the deque they are stolen from, joins, and how a task moves to the
// thread that completes its join.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/queue/fork_deque.hpp"
#include "runtime/scheduler/work_stealing/idle.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/fork_join.hpp"
#include "tests/model/on_a_thread.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

using CellDeque = queue::ForkDeque<base::Cell<int>*>;

/// Values in cells: reading one that was not handed over is a data race.
class CellValues {
 public:
  base::Cell<int>* make(int value) {
    base::Cell<int>& cell = cells_[static_cast<std::size_t>(made_++)];
    cell.set(value);
    return &cell;
  }

 private:
  std::array<base::Cell<int>, 8> cells_;
  int made_ = 0;
};

void push(CellDeque& deque, CellValues& values, int value) {
  base::Cell<int>* const made[] = {values.make(value)};
  mc::require(deque.push_backwards(made), "there is room");
}

void note_taken(std::vector<int>& taken, base::Cell<int>* value) {
  taken.push_back(value->get());
  value->set(0);
}
void pop(CellDeque& deque, std::vector<int>& taken) {
  base::Cell<int>* value = nullptr;
  if (deque.pop(value)) note_taken(taken, value);
}
void steal(CellDeque& deque, std::vector<int>& taken) {
  base::Cell<int>* value = nullptr;
  if (deque.steal(value)) note_taken(taken, value);
}

void require_each_once(const std::vector<int>& one, const std::vector<int>& two, int count) {
  std::vector<int> all = one;
  all.insert(all.end(), two.begin(), two.end());
  std::ranges::sort(all);
  mc::require(static_cast<int>(all.size()) == count, "as many as were pushed");
  for (int i = 0; i < count; ++i) {
    mc::require(all[static_cast<std::size_t>(i)] == i + 1, "each once");
  }
}

TEST(ForkDequeModel, the_owner_and_a_thief_take_the_last_value) {
  holds([] {
    CellDeque deque;
    CellValues values;
    std::vector<int> own;
    std::vector<int> stolen;
    base::Thread thief([&] { steal(deque, stolen); });
    push(deque, values, 1);
    pop(deque, own);
    mc::sometimes("stolen", own.empty());
    push(deque, values, 2);
    pop(deque, own);
    thief.join();
    require_each_once(own, stolen, 2);
  });
}

TEST(ForkDequeModel, the_owner_takes_the_newest_and_thieves_the_oldest) {
  holds(
      [] {
        CellDeque deque;
        CellValues values;
        std::vector<int> own;
        std::vector<int> stolen;
        push(deque, values, 1);
        push(deque, values, 2);
        push(deque, values, 3);
        base::Thread thief([&] {
          steal(deque, stolen);
          steal(deque, stolen);
        });
        pop(deque, own);
        pop(deque, own);
        pop(deque, own);
        thief.join();
        mc::sometimes("one is stolen", stolen.size() == 1);
        mc::sometimes("two are stolen", stolen.size() == 2);
        mc::require(std::ranges::is_sorted(stolen), "the oldest first");
        mc::require(std::ranges::is_sorted(own, std::greater<>{}), "the newest first");
        require_each_once(own, stolen, 3);
      },
      {.preemptions = 3});
}

TEST(ForkDequeModel, what_a_pop_leaves_is_handed_over) {
  holds(
      [] {
        CellDeque deque;
        CellValues values;
        std::vector<int> own;
        std::vector<int> stolen;
        base::Thread thief([&] { steal(deque, stolen); });
        push(deque, values, 1);
        push(deque, values, 2);
        pop(deque, own);
        thief.join();
        pop(deque, own);
        require_each_once(own, stolen, 2);
      },
      {.preemptions = 3});
}

TEST(ForkDequeModel, two_thieves_and_the_owner) {
  holds(
      [] {
        CellDeque deque;
        CellValues values;
        std::vector<int> own;
        std::vector<int> one;
        std::vector<int> two;
        push(deque, values, 1);
        push(deque, values, 2);
        base::Thread first([&] { steal(deque, one); });
        base::Thread second([&] { steal(deque, two); });
        pop(deque, own);
        pop(deque, own);
        first.join();
        second.join();
        one.insert(one.end(), two.begin(), two.end());
        require_each_once(own, one, 2);
      },
      {.preemptions = 2});
}

TEST(ForkDequeModel, a_slot_is_used_again_once_its_value_was_stolen) {
  holds(
      [] {
        CellDeque deque;
        CellValues values;
        std::vector<int> own;
        std::vector<int> stolen;
        for (int i = 1; i <= 4; ++i) push(deque, values, i);  // full
        base::Thread thief([&] { steal(deque, stolen); });
        base::Cell<int>* const fifth[] = {values.make(5)};
        if (!deque.push_backwards(fifth)) note_taken(own, fifth[0]);
        mc::sometimes("there was room", own.empty());
        thief.join();
        for (int i = 0; i < 5; ++i) pop(deque, own);
        require_each_once(own, stolen, 5);
      },
      {.preemptions = 3});
}

/// A thread that runs forks: the one that polls the task, or a thief.
class ForkWorker {
 public:
  ForkWorker() : strand_(deque_, {&state_, 0, nullptr, nullptr}) {}

  void enter() { task::thread_context().strand = &strand_; }

  /// Runs one fork of `victim`, if it offers any.
  bool steal_from(ForkWorker& victim) {
    void* frame = nullptr;
    if (!victim.deque_.steal(frame)) return false;
    task::ForkJoinBase::run_stolen(strand_, frame);
    mc::require(deque_.looks_empty(), "J1");
    return true;
  }
  void close() { strand_.close(); }

 private:
  base::Atomic<std::uint64_t> state_{0};
  task::Strand::Deque deque_;
  task::Strand strand_;
};

/// Runs the task on this thread, which is `worker`, until it has finished. Null: it was cancelled.
std::optional<int> run_on(ForkWorker& worker, OnAThread& thread, JoinHandle<int> handle) {
  worker.enter();
  thread.run(handle.header());
  try {
    return std::move(handle).operator co_await().await_resume();
  } catch (const JoinError&) {
    return std::nullopt;
  }
}

Fork<> set_cell(base::Cell<int>& cell, int value) {
  cell.set(cell.get() + value);
  co_return;
}

Fork<int> two_forks() {
  base::Cell<int> one{0};
  base::Cell<int> two{0};
  co_await fork_join(set_cell(one, 1), set_cell(two, 2));
  co_return one.get() + two.get();
}

/// Forks a second time on the thread that completes the first join.
Fork<int> forks_twice() {
  const int first = co_await two_forks();
  const int second = co_await two_forks();
  co_return first + second;
}

Task<int> task_of_two() {
  base::Cell<int> one{0};
  base::Cell<int> two{0};
  co_await fork_join(set_cell(one, 1), set_cell(two, 2));
  co_return one.get() + two.get();
}

void beside_a_thief(Task<int> (*make)(), int expected, int thefts) {
  ForkWorker own;
  ForkWorker other;
  OnAThread thread;
  JoinHandle<int> handle(make().release_for_spawn(&thread));
  int stolen = 0;
  base::Thread thief([&] {
    other.enter();
    for (int i = 0; i < thefts; ++i) stolen += other.steal_from(own) ? 1 : 0;
  });
  const std::optional<int> result = run_on(own, thread, std::move(handle));
  mc::require(result == expected, "the result");
  thief.join();
  mc::sometimes("stolen", stolen != 0);
  mc::sometimes("not stolen", stolen == 0);
}

TEST(ForkJoinModel, a_task_joins_a_fork_that_may_be_stolen) {
  holds([] { beside_a_thief(task_of_two, 3, 1); }, {.preemptions = 3});
}

TEST(ForkJoinModel, a_fork_goes_on_where_its_last_child_has_ended) {
  holds([] { beside_a_thief([]() -> Task<int> { co_return co_await forks_twice(); }, 6, 2); },
        {.preemptions = 2, .weak_failures = 0});
}

TEST(ForkJoinModel, what_a_fork_has_forked_is_stolen_after_its_siblings) {
  holds(
      [] {
        beside_a_thief(
            []() -> Task<int> {
              const auto [one, two] = co_await fork_join(two_forks(), two_forks());
              co_return one + two;
            },
            6, 2);
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(ForkJoinModel, two_thieves_steal_from_one_join) {
  holds(
      [] {
        ForkWorker own;
        ForkWorker others[2];
        OnAThread thread;
        const auto three = []() -> Task<int> {
          base::Cell<int> cells[3];
          co_await fork_join(set_cell(cells[0], 1), set_cell(cells[1], 2), set_cell(cells[2], 3));
          co_return cells[0].get() + cells[1].get() + cells[2].get();
        };
        JoinHandle<int> handle(three().release_for_spawn(&thread));
        const auto thief = [&](ForkWorker& worker) {
          worker.enter();
          worker.steal_from(own);
        };
        base::Thread first([&] { thief(others[0]); });
        base::Thread second([&] { thief(others[1]); });
        mc::require(run_on(own, thread, std::move(handle)) == 6, "the result");
        first.join();
        second.join();
      },
      {.preemptions = 1, .weak_failures = 0});
}

TEST(ForkJoinModel, the_task_goes_on_where_it_is_woken) {
  holds(
      [] {
        ForkWorker own;
        ForkWorker other;
        WhereWoken wherever;
        JoinHandle<int> handle(task_of_two().release_for_spawn(&wherever));
        task::Header* const header = handle.header();
        base::Thread thief([&] {
          other.enter();
          other.steal_from(own);
        });
        own.enter();
        wherever.schedule(header);
        thief.join();
        mc::require(std::move(handle).operator co_await().await_resume() == 3, "the result");
      },
      {.preemptions = 3});
}

/// Like task_of_two(), but fails if it continues after a join that did not complete.
Task<int> task_of_two_or_none() {
  base::Cell<int> one{0};
  base::Cell<int> two{0};
  try {
    co_await fork_join(set_cell(one, 1), set_cell(two, 2));
  } catch (const JoinError&) {
    mc::require(false, "an aborted task does not go on");
  }
  co_return one.get() + two.get();
}

TEST(ForkJoinModel, an_abort_against_forks) {
  holds(
      [] {
        ForkWorker own;
        ForkWorker other;
        OnAThread thread;
        JoinHandle<int> handle(task_of_two_or_none().release_for_spawn(&thread));
        AbortHandle abort = handle.abort_handle();
        base::Thread thief([&] {
          other.enter();
          other.steal_from(own);
          abort.abort();
        });
        const std::optional<int> result = run_on(own, thread, std::move(handle));
        mc::sometimes("aborted", !result);
        mc::sometimes("finished", result == 3);
        thief.join();
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(ForkJoinModel, a_fork_is_seen_by_who_falls_asleep_or_wakes_somebody) {
  for (const bool searches : {false, true}) {
    holds([searches] {
      work_stealing::Idle idle(2);
      if (searches) mc::require(idle.try_start_searching(), "nobody else does");
      bool woken = false;
      struct Pusher {
        work_stealing::Idle& idle;
        bool& woken;
      } pusher{idle, woken};
      task::Strand::Deque deque;
      task::Strand strand(
          deque, {idle.state(), idle.all_awake(),
                  [](void* self) noexcept {
                    Pusher& own = *static_cast<Pusher*>(self);
                    own.woken = own.idle.worker_to_notify(work_stealing::Idle::Pusher::worker) !=
                                work_stealing::Idle::kNobody;
                  },
                  &pusher});
      bool seen = false;
      base::Thread leaver([&] { seen = idle.park(1, searches) && !deque.looks_empty(); });
      void* const frames[] = {&idle};
      mc::require(strand.offer(frames), "there is room");
      leaver.join();
      mc::sometimes("woken", woken);
      mc::sometimes("seen", seen);
      mc::require(woken || seen, "nobody comes for the fork");
    });
  }
}

TEST(ForkJoinModel, the_end_of_the_runtime_against_forks) {
  holds(
      [] {
        ForkWorker own;
        ForkWorker other;
        OnAThread thread;
        JoinHandle<int> handle(task_of_two().release_for_spawn(&thread));
        base::Thread thief([&] {
          other.enter();
          other.steal_from(own);
        });
        base::Thread closer([&] {
          own.close();
          other.close();
        });
        const std::optional<int> result = run_on(own, thread, std::move(handle));
        mc::sometimes("cancelled", !result);
        mc::sometimes("finished", result == 3);
        thief.join();
        closer.join();
      },
      {.preemptions = 1, .weak_failures = 0});
}

}  // namespace
}  // namespace taskbench::rt::model
