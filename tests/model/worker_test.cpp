// Workers of work_stealing whose turns are given by the model, one by one: what they look at and
// what they leave alone, whom they wake, and in which round they continue. Whole pools are in
// pool_test.cpp.
#include "runtime/scheduler/work_stealing/worker_set.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/park/parker.hpp"
#include "runtime/runtime.hpp"
#include "runtime/task/context.hpp"
#include "runtime/task/fork_join.hpp"
#include "runtime/task/harness.hpp"
#include "runtime/task/task.hpp"
#include "runtime/task/yield.hpp"
#include "runtime/trace/trace.hpp"
#include "tests/model/kernel.hpp"
#include "tests/model/near_end.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// The number of polls between two looks at the injector and at another worker.
enum class LooksAround : std::uint32_t { before_each_poll = 1, hardly_ever = 61 };

/// Without a LIFO slot, so that everything a worker has can be stolen.
RuntimeOptions options_by_hand(unsigned workers, LooksAround looks) {
  RuntimeOptions options;
  options.workers = workers;
  options.injector_interval = static_cast<std::uint32_t>(looks);
  options.lifo_slot = false;
  return options;
}

/// The workers of a pool without its threads.
class WorkersByHand final : public work_stealing::WorkerSet {
 public:
  explicit WorkersByHand(RuntimeOptions options)
      : WorkerSet(std::move(options), work_stealing::Worker::Pace::clock) {}

  /// Queues a task as a thread outside would.
  task::Header* add(Task<> made) {
    task::Header* const header = std::move(made).release_for_spawn(this);
    spawn(header);
    task::join_drop(header);
    return header;
  }
  /// Queues a task as a task of worker `index` would.
  task::Header* add_to(std::uint32_t index, Task<> made) {
    const task::EnterContext enter(this, &worker(index));
    return add(std::move(made));
  }

  using WorkerSet::retire;

  /// Gives worker `index` a turn on the calling thread. False: it sleeps.
  bool take_turn(std::uint32_t index) {
    const task::EnterContext enter(this, &worker(index));
    return worker(index).take_turn();
  }
  /// Runs worker `index` on a thread of its own, until the end.
  [[nodiscard]] base::Thread run(std::uint32_t index) {
    return base::Thread([this, index] {
      const task::EnterContext enter(this, &worker(index));
      worker(index).run();
    });
  }
  /// Makes worker `index` fall asleep as if it had found nothing.
  void fall_asleep(std::uint32_t index) {
    if (idle.park(index, false)) notify_if_work_is_visible(worker(index));
  }
  /// Whether the worker has been woken since.
  [[nodiscard]] bool is_woken(std::uint32_t index) { return worker(index).parker.try_park(); }

  /// Another Worker takes the place of worker `index`, whose thread blocks and comes back, and gets
  /// a turn.
  void hand_on(std::uint32_t index) {
    work_stealing::Worker& blocked = worker(index);
    blocked.begin_blocking();
    mc::require(take_over(blocked, blocked.lease.look()) != nullptr, "it is in a section");
    mc::require(!blocked.end_blocking(), "it was handed on");
    blocked.resign();
  }

  /// Destroys what is left. No thread may be running a worker.
  void end() {
    close();
    drain();
  }

  void run_root(task::Header*) noexcept override {}
  [[nodiscard]] bool join(Clock::time_point) noexcept override { return true; }
  [[nodiscard]] bool has_ended() noexcept override { return true; }
};

base::Ref<WorkersByHand> workers_by_hand(unsigned workers, LooksAround looks) {
  return base::Ref<WorkersByHand>(new WorkersByHand(options_by_hand(workers, looks)));
}

Task<> ends_at_once() { co_return; }

/// The bounds of models with two threads.
constexpr mc::Options kTwoAtMost{.preemptions = 2, .weak_failures = 0, .stale = 0};

// Half of the workers search already. What an uncounted searcher has in its hands is invisible to a
// worker that falls asleep meanwhile, and the searcher does not look again once it has found
// something.
TEST(WorkerModel, one_that_may_not_search_leaves_the_queues_of_others_alone) {
  holds([] {
    const auto workers = workers_by_hand(2, LooksAround::before_each_poll);
    workers->add_to(1, ends_at_once());
    mc::require(workers->idle.try_start_searching(), "nobody else does");
    mc::require(!workers->take_turn(0), "it may not search");
    mc::require(!workers->worker(1).queue.looks_empty(), "the task is where it was");
    workers->end();
  });
}

TEST(WorkerModel, one_that_may_not_search_for_a_while_leaves_the_queues_of_others_alone) {
  holds(
      [] {
        const auto workers = workers_by_hand(2, LooksAround::before_each_poll);
        workers->add_to(1, ends_at_once());
        mc::require(workers->idle.try_start_searching(), "nobody else does");
        base::Thread thread = workers->run(0);
        workers->close();
        thread.join();
        mc::require(!workers->worker(1).queue.looks_empty(), "the task is where it was");
        workers->end();
      },
      kTwoAtMost);
}

TEST(WorkerModel, one_that_falls_asleep_without_a_search_records_the_end_of_none) {
  holds([] {
    RuntimeOptions options = options_by_hand(2, LooksAround::before_each_poll);
    options.trace_events = 8;
    const base::Ref<WorkersByHand> workers(new WorkersByHand(options));
    mc::require(workers->idle.try_start_searching(), "nobody else does");
    mc::require(!workers->take_turn(0), "it may not search");
    const Trace trace = workers->recording().collect();
    const auto& events = trace.workers[0].events;
    mc::require(events.size() == 1 && events[0].kind == TraceEventKind::park, "only the sleep");
    workers->end();
  });
}

// Two tasks are moving from the injector to a queue while the other worker looks for the last time;
// the first of them may block the thread until the second has run.
TEST(WorkerModel, what_one_takes_from_the_injector_is_seen_by_one_that_falls_asleep_meanwhile) {
  holds(
      [] {
        const auto workers = workers_by_hand(2, LooksAround::before_each_poll);
        workers->add(ends_at_once());
        workers->add(ends_at_once());
        base::Thread sleeper([&] { workers->fall_asleep(1); });
        mc::require(workers->take_turn(0), "it runs the first");
        sleeper.join();
        mc::require(!workers->worker(0).queue.looks_empty(), "and has queued the second");
        mc::require(workers->is_woken(1), "for which the other is woken");
        workers->end();
      },
      kTwoAtMost);
}

// A worker that falls asleep looks at one queue after the other. Two tasks move from a queue that
// it has not looked at yet to one where it has found nothing, and the rest is run meanwhile. The
// seed makes the first worker compare itself with the second.
TEST(WorkerModel, what_one_takes_over_from_another_is_seen_by_a_third_that_falls_asleep_meanwhile) {
  holds(
      [] {
        const auto workers = workers_by_hand(3, LooksAround::before_each_poll);
        for (int i = 0; i < 4; ++i) workers->add_to(1, ends_at_once());
        for (int i = 0; i < 20; ++i) workers->worker(0).rounds.count_turn_alone();
        base::Thread sleeper([&] { workers->fall_asleep(2); });
        mc::require(workers->take_turn(0), "it takes two over, and runs one");
        for (int i = 0; i < 2; ++i) mc::require(workers->take_turn(1), "it runs its own");
        sleeper.join();
        mc::require(workers->worker(1).queue.looks_empty(), "it had two left");
        mc::require(workers->worker(0).queue.size() == 1, "one is left");
        mc::require(workers->is_woken(2), "for which the third is woken");
        workers->end();
      },
      kTwoAtMost);
}

/// Which worker has run which of two tasks.
using RanBy = std::array<void*, 2>;

Task<> waits_for_the_older_of_two(RanBy& ran_by) {
  const auto note = [&ran_by](std::size_t id) -> Task<> {
    ran_by[id] = task::thread_context().worker;
    co_return;
  };
  JoinHandle<void> older = spawn(note(0));
  spawn(note(1)).detach();
  co_await older;
}

// The worker takes the newest of its tasks while a thief takes the oldest.
TEST(WorkerModel, one_whose_task_waits_for_another_shares_its_queue_with_a_thief) {
  holds(
      [] {
        const auto workers = workers_by_hand(2, LooksAround::hardly_ever);
        RanBy ran_by{};
        workers->add_to(0, waits_for_the_older_of_two(ran_by));
        mc::require(workers->take_turn(0), "it waits for one of two tasks");
        base::Thread thief([&] { mc::sometimes("it steals one", workers->take_turn(1)); });
        mc::require(workers->take_turn(0), "it runs one");
        thief.join();
        while (workers->take_turn(0) || workers->take_turn(1)) continue;
        mc::require(ran_by[1] == &workers->worker(0), "the newer one stays");
        mc::sometimes("the older one is stolen", ran_by[0] == &workers->worker(1));
        mc::sometimes("the older one stays, too", ran_by[0] == &workers->worker(0));
        workers->end();
      },
      kTwoAtMost);
}

Task<> unparks(park::Parker& parker) {
  (void)parker.unpark();
  co_return;
}

/// More tasks than one descent takes.
Task<> waits_for_the_oldest_of_six() {
  JoinHandle<void> oldest = spawn(ends_at_once());
  for (int i = 1; i < 6; ++i) spawn(ends_at_once()).detach();
  co_await oldest;
}

TEST(WorkerModel, what_comes_from_outside_during_a_descent_is_run) {
  holds(
      [] {
        const auto workers = workers_by_hand(1, LooksAround::before_each_poll);
        park::Parker has_run;
        workers->add_to(0, waits_for_the_oldest_of_six());
        base::Thread worker = workers->run(0);
        workers->add(unparks(has_run));
        has_run.park();
        workers->close();
        worker.join();
        workers->end();
      },
      {.preemptions = 1, .weak_failures = 0, .stale = 0});
}

// The stand-in of a stand-in was in a descent when it was handed on.
TEST(WorkerModel, one_that_is_used_again_looks_at_the_injector) {
  holds(
      [] {
        const auto workers = workers_by_hand(1, LooksAround::before_each_poll);
        RanBy ran_by{};
        workers->add_to(0, waits_for_the_older_of_two(ran_by));
        for (int i = 0; i < 2; ++i) mc::require(workers->take_turn(0), "it is in a descent");
        work_stealing::Worker& first = workers->worker(0);
        workers->hand_on(0);
        workers->retire(first);
        mc::require(workers->take_turn(0), "another has its tasks");
        workers->hand_on(0);
        mc::require(&workers->worker(0) == &first, "it is used again");
        park::Parker has_run;
        workers->add(unparks(has_run));
        mc::require(workers->take_turn(0), "it has tasks");
        mc::require(has_run.try_park(), "the task from outside has run");
        workers->end();
      },
      kNoWeakFailures);
}

TEST(WorkerModel, one_that_takes_over_in_a_descent_looks_at_the_injector_if_a_look_was_put_off) {
  holds(
      [] {
        RuntimeOptions options = options_by_hand(1, LooksAround::before_each_poll);
        options.injector_interval = 3;
        const base::Ref<WorkersByHand> workers(new WorkersByHand(options));
        RanBy ran_by{};
        workers->add_to(0, waits_for_the_older_of_two(ran_by));
        for (int i = 0; i < 3; ++i) mc::require(workers->take_turn(0), "a look is put off");
        park::Parker has_run;
        workers->add(unparks(has_run));
        workers->hand_on(0);
        mc::require(workers->take_turn(0), "another has its tasks");
        mc::require(has_run.try_park(), "the task from outside has run");
        workers->end();
      },
      kTwoAtMost);
}

TEST(WorkerModel, one_that_has_slept_since_a_descent_takes_the_oldest_task) {
  holds([] {
    const auto workers = workers_by_hand(1, LooksAround::before_each_poll);
    RanBy ran_by{};
    workers->add_to(0, waits_for_the_older_of_two(ran_by));
    while (workers->take_turn(0)) continue;
    park::Parker second_has_run;
    workers->add(ends_at_once());
    workers->add(unparks(second_has_run));
    workers->add(ends_at_once());
    for (int i = 0; i < 2; ++i) mc::require(workers->take_turn(0), "it is awake");
    mc::require(second_has_run.try_park(), "the second has run before the third");
    workers->end();
  });
}

/// The tokens of a task that forks, and of another task.
struct Family {
  park::Parker first_fork_has_begun;
  park::Parker task_has_run;
  park::Parker second_fork_has_run;
  park::Parker is_over;
};

Fork<> waits_for_the_second_fork(Family& family) {
  (void)family.first_fork_has_begun.unpark();
  family.second_fork_has_run.park();
  co_return;
}

Fork<> waits_for_the_task(Family& family) {
  family.task_has_run.park();
  (void)family.second_fork_has_run.unpark();
  co_return;
}

Task<> forks_two(Family& family) {
  co_await fork_join(waits_for_the_second_fork(family), waits_for_the_task(family));
  (void)family.is_over.unpark();
}

Task<> lets_the_fork_go_on(Family& family) {
  (void)family.task_has_run.unpark();
  co_return;
}

// A task and a fork are available, and the fork waits for the task: a worker that held both would
// never run the task.
TEST(WorkerModel, one_that_has_found_a_task_steals_no_fork_beside) {
  holds(
      [] {
        const auto workers = workers_by_hand(2, LooksAround::hardly_ever);
        (void)workers->driver().epoll_descriptor();  // so that it looks everywhere once
        Family family;
        workers->add_to(0, forks_two(family));
        workers->add_to(0, lets_the_fork_go_on(family));
        base::Thread first = workers->run(0);
        family.first_fork_has_begun.park();
        base::Thread second = workers->run(1);
        family.is_over.park();
        workers->close();
        first.join();
        second.join();
        workers->end();
      },
      {.preemptions = 1, .weak_failures = 0, .stale = 0});
}

Task<> reads_a_byte(Connection& peer, bool& has_read) {
  NearEnd stream(peer);
  char byte = 0;
  co_await stream.read(&byte, 1);
  has_read = true;
}

/// Keeps the thread of worker 0, which runs it, until the byte has been read.
Task<> lets_worker_1_read(WorkersByHand& workers, Connection& peer, const bool& has_read) {
  base::Thread([&] { mc::require(!workers.take_turn(1), "it falls asleep"); }).join();
  peer.deliver(1);
  co_await yield_now();
  base::Thread([&] { mc::require(workers.take_turn(1), "it has been woken"); }).join();
  mc::require(has_read, "for the task that reads");
}

// A yielding task that is alone wakes nobody when it is queued, and is run once more before what
// the worker then finds in the driver. The sleeping worker is outside the driver, and sees neither.
TEST(WorkerModel, what_one_finds_in_the_driver_while_it_has_a_task_is_run_by_one_that_slept) {
  holds(
      [] {
        RuntimeOptions options = options_by_hand(2, LooksAround::before_each_poll);
        options.lifo_slot = true;  // otherwise whoever wakes the task notifies
        const base::Ref<WorkersByHand> workers(new WorkersByHand(options));
        Connection peer(0, Connection::Reports::by_a_poller);
        bool has_read = false;
        workers->add(reads_a_byte(peer, has_read));
        mc::require(workers->take_turn(0), "the task waits for the byte");
        workers->add(lets_worker_1_read(*workers, peer, has_read));
        for (int i = 0; i < 2; ++i) mc::require(workers->take_turn(0), "it yields, and ends");
        workers->end();
      },
      kNoWeakFailures);  // it takes what was added when it looks around, not when it searches
}

/// The round of a worker, as others see it.
std::uint32_t round_of(const work_stealing::Worker& worker) {
  work_stealing::Rounds other;
  other.adopt(worker.rounds);
  task::Header yields_for_the_first_time;
  static_cast<void>(other.count_yield(&yields_for_the_first_time));
  return yields_for_the_first_time.turn - 1U;
}

void pass_rounds(work_stealing::Worker& worker, int count) {
  for (int i = 0; i < count; ++i) worker.rounds.count_turn_alone();
}

TEST(WorkerModel, a_thief_goes_on_from_the_round_of_its_victim) {
  holds([] {
    const auto workers = workers_by_hand(2, LooksAround::hardly_ever);
    workers->add_to(0, ends_at_once());
    pass_rounds(workers->worker(0), 100);
    mc::require(workers->take_turn(1), "it steals the task");
    mc::require(round_of(workers->worker(1)) == 100, "its tasks had so many");
    workers->end();
  });
}

TEST(WorkerModel, who_goes_on_in_the_place_of_another_goes_on_from_its_round) {
  holds([] {
    const auto workers = workers_by_hand(1, LooksAround::hardly_ever);
    workers->add_to(0, ends_at_once());
    mc::require(workers->take_turn(0), "it runs the task");
    pass_rounds(workers->worker(0), 100);
    const std::uint32_t before = round_of(workers->worker(0));
    mc::require(before >= 100, "so many have passed");
    workers->hand_on(0);
    mc::require(round_of(workers->worker(0)) == before, "none is lost");
    workers->end();
  });
}

Task<> expects_a_round_for_each_turn(const work_stealing::Worker& worker) {
  std::uint32_t round = round_of(worker);
  for (int i = 0; i < 3; ++i) {
    co_await yield_now();
    mc::require(round_of(worker) == ++round, "its turn was one");
  }
}

// Otherwise others would be many rounds ahead by the time it has caught up.
TEST(WorkerModel, each_turn_of_a_task_that_is_alone_is_a_round_though_it_is_behind) {
  holds([] {
    const auto workers = workers_by_hand(1, LooksAround::hardly_ever);
    pass_rounds(workers->worker(0), 100);
    workers->add_to(0, expects_a_round_for_each_turn(workers->worker(0)))->turn = 1;
    mc::require(workers->take_turn(0), "it runs to its end");
    workers->end();
  });
}

}  // namespace
}  // namespace taskbench::rt::model
