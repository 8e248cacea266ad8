// What a task that waits for others makes its worker do: the newest task has its turn before the
// oldest, for a while (docs/adr/0056).

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/sync/join_set.hpp"
#include "runtime/time/sleep.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/order.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

/// The most tasks in a row that are taken before the oldest (kDescent in policy.hpp).
constexpr int kDescent = 256;

Task<> ends_at_once() { co_return; }

Task<> waits_for_the_older_of_two() {
  JoinHandle<void> older = spawn(ends_at_once());
  spawn(ends_at_once()).detach();
  co_await older;
}

class Descent : public ::testing::TestWithParam<Kind> {};

TEST_P(Descent, a_task_that_waits_for_another_lets_the_newest_run_next) {
  const auto body = [](Log* log) -> Task<> {
    JoinHandle<void> first = spawn(note_id(log, 1));
    spawn(note_id(log, 2)).detach();
    spawn(note_id(log, 3)).detach();
    spawn(note_id(log, 4)).detach();
    co_await first;
  };
  EXPECT_EQ(log_of(build(GetParam()), body, 4), (Log{4, 3, 2, 1}));
}

TEST_P(Descent, a_task_that_waits_for_a_set_lets_the_newest_run_next) {
  const auto body = [](Log* log) -> Task<> {
    sync::JoinSet<> set;
    for (int id = 1; id <= 4; ++id) set.spawn(note_id(log, id));
    while (co_await set.join_next()) continue;
  };
  EXPECT_EQ(log_of(build(GetParam()), body, 4), (Log{4, 3, 2, 1}));
}

TEST_P(Descent, a_task_that_waits_for_no_other_leaves_the_order_as_it_is) {
  const auto body = [](Log* log) -> Task<> {
    for (int id = 1; id <= 4; ++id) spawn(note_id(log, id)).detach();
    co_await time::sleep(std::chrono::milliseconds{1});
  };
  EXPECT_EQ(log_of(build(GetParam()), body, 4), (Log{4, 1, 2, 3}));
}

TEST_P(Descent, has_ended_when_its_queue_was_empty) {
  const auto body = [](Log* log) -> Task<> {
    co_await waits_for_the_older_of_two();
    co_await time::sleep(std::chrono::milliseconds{1});
    for (int id = 1; id <= 4; ++id) spawn(note_id(log, id)).detach();
    co_await time::sleep(std::chrono::milliseconds{1});
  };
  EXPECT_EQ(log_of(build(GetParam()), body, 4), (Log{4, 1, 2, 3}));
}

// Sleeps, not yields: those would end a descent.
TEST_P(Descent, a_task_that_waits_for_the_one_that_is_next_anyway_leaves_the_order_as_it_is) {
  const auto body = [](Log* log) -> Task<> {
    for (int id = 1; id <= 3; ++id) spawn(note_id(log, id)).detach();
    co_await spawn(note_id(log, 4));
    co_await time::sleep(std::chrono::milliseconds{1});
  };
  EXPECT_EQ(log_of(build(GetParam()), body, 4), (Log{4, 1, 2, 3}));
}

TEST_P(Descent, a_task_that_waits_for_a_set_leaves_the_order_as_it_is_if_some_task_is_next_anyway) {
  const auto body = [](Log* log) -> Task<> {
    for (int id = 1; id <= 3; ++id) spawn(note_id(log, id)).detach();
    sync::JoinSet<> set;
    set.spawn(note_id(log, 4));
    while (co_await set.join_next()) continue;
    co_await time::sleep(std::chrono::milliseconds{1});
  };
  EXPECT_EQ(log_of(build(GetParam()), body, 4), (Log{4, 1, 2, 3}));
}

Task<> pass(Gate* gate) { co_await gate->passed(); }

/// An awaitable that is ready at once, and leaves a waker of the task in `own`.
auto leave_waker(Waker* own) {
  return poll_fn([own](PollContext& context) -> std::optional<bool> {
    *own = context.waker();
    return true;
  });
}

Task<> wait_for_a_task(Gate* gate, Waker* own) {
  co_await leave_waker(own);
  JoinHandle<void> other = spawn(pass(gate));
  co_await other;
}

Task<> wait_for_a_set(Gate* gate, Waker* own) {
  co_await leave_waker(own);
  sync::JoinSet<> set;
  set.spawn(pass(gate));
  while (co_await set.join_next()) continue;
}

/// Wakes a task that waits on, and has four others run behind it.
Task<> wake_in_vain(Log* log, Task<> (*wait)(Gate*, Waker*)) {
  Gate gate;
  Waker waker;
  JoinHandle<void> waiting = spawn(wait(&gate, &waker));
  while (gate.waiting() == 0) co_await yield_now();
  for (int id = 1; id <= 4; ++id) spawn(note_id(log, id)).detach();
  waker.wake_by_ref();  // displaces task 4
  co_await time::sleep(std::chrono::milliseconds{1});
  while (log->size() < 4) co_await yield_now();
  gate.open();
  co_await waiting;
}

TEST_P(Descent, a_task_that_is_woken_in_vain_while_it_waits_leaves_the_order_as_it_is) {
  const auto for_a_task = [](Log* log) { return wake_in_vain(log, &wait_for_a_task); };
  EXPECT_EQ(log_of(build(GetParam()), for_a_task, 4), (Log{1, 2, 3, 4}));
  const auto for_a_set = [](Log* log) { return wake_in_vain(log, &wait_for_a_set); };
  EXPECT_EQ(log_of(build(GetParam()), for_a_set, 4), (Log{1, 2, 3, 4}));
}

TEST_P(Descent, ends_with_a_task_that_yields) {
  const auto body = [](Log* log) -> Task<> {
    spawn(note_id(log, 8)).detach();
    spawn(note_id(log, 9)).detach();
    JoinHandle<void> yields = spawn(note_and_yield(log, 1, 3));
    spawn(note_id(log, 2)).detach();
    co_await yields;
  };
  EXPECT_EQ(log_of(build(GetParam()), body, 6), (Log{2, 1, 8, 9, 1, 1}));
}

TEST_P(Descent, ends_with_a_task_that_yields_and_has_woken_another) {
  const auto body = [](Log* log) -> Task<> {
    const auto yields_behind_another = [](Log* inner) -> Task<> {
      spawn(note_id(inner, 3)).detach();
      co_await note_and_yield(inner, 1, 3);
    };
    spawn(note_id(log, 9)).detach();
    JoinHandle<void> yields = spawn(yields_behind_another(log));
    spawn(note_id(log, 2)).detach();
    co_await yields;
  };
  EXPECT_EQ(log_of(build(GetParam()), body, 6), (Log{2, 1, 3, 9, 1, 1}));
}

TEST_P(Descent, does_not_begin_again_before_the_oldest_has_had_its_turn) {
  Runtime runtime = build(GetParam());
  bool has_run = false;
  int turns = 0;
  run_as_task(runtime, [&]() -> Task<> {
    spawn([&]() -> Task<> {
      has_run = true;
      co_return;
    }).detach();
    JoinHandle<void> yields = spawn([&]() -> Task<> {
      for (; !has_run && turns < 1000; ++turns) {
        spawn(waits_for_the_older_of_two()).detach();
        co_await yield_now();
      }
    });
    spawn(ends_at_once()).detach();
    co_await yields;
  });
  EXPECT_LE(turns, 2);
}

TEST_P(Descent, ends_before_a_task_that_has_yielded) {
  const auto body = [](Log* log) -> Task<> {
    spawn(waits_for_the_older_of_two()).detach();
    spawn(note_id(log, 2)).detach();
    co_await spawn(note_and_yield(log, 1, 2));  // yields before the first one waits
  };
  EXPECT_EQ(log_of(build(GetParam()), body, 3), (Log{1, 2, 1}));
}

TEST_P(Descent, ends_with_a_chain_that_has_used_up_the_turns_of_the_lifo_slot) {
  Runtime runtime = build(GetParam());
  std::atomic<bool> stop{false};
  std::atomic<int> links{0};
  int before = 0;
  run_as_task(runtime, [&]() -> Task<> {
    JoinHandle<void> oldest = spawn([&]() -> Task<> {
      before = links.load();
      stop.store(true);
      co_return;
    });
    spawn(respawn_until(&stop, &links)).detach();
    co_await oldest;
  });
  EXPECT_GE(before, 32);
  EXPECT_LE(before, 34);
}

/// A task for each node of a tree, and how many exist at a time.
struct Tree {
  int alive = 0;
  int most = 0;
  int nodes = 0;
  std::function<bool()> goes_on = [] { return true; };
};

Task<> grow(Tree& tree, int leaves) {
  ++tree.nodes;
  if (tree.goes_on() && leaves > 1) {
    std::vector<JoinHandle<void>> children;
    for (int i = 0; i < 10; ++i) {
      tree.most = std::max(tree.most, ++tree.alive);
      children.push_back(spawn(grow(tree, leaves / 10)));
    }
    co_await join_all(children);
  }
  --tree.alive;
}

TEST_P(Descent, a_tree_of_tasks_is_not_walked_by_breadth) {
  Tree tree;
  Runtime runtime = build(GetParam());
  run_as_task(runtime, [&] { return grow(tree, 100'000); });
  EXPECT_EQ(tree.nodes, 111'111);
  EXPECT_LE(tree.most, 3000) << "46 on a path from the root, and what is begun between descents";
}

/// A task that is the newest in the queue when it has spawned the next one like it.
Task<> take_steps(int& taken, int left) {
  ++taken;
  if (left > 1) {
    spawn(take_steps(taken, left - 1)).detach();
    spawn(ends_at_once()).detach();  // displaces it from the LIFO slot
  }
  co_return;
}

TEST_P(Descent, the_oldest_has_its_turn_after_a_while) {
  int taken = 0;
  int before = 0;
  Runtime runtime = build(GetParam());
  run_as_task(runtime, [&]() -> Task<> {
    JoinHandle<void> oldest = spawn([&]() -> Task<> {
      before = taken;
      co_return;
    });
    spawn(take_steps(taken, 1000)).detach();
    spawn(ends_at_once()).detach();
    co_await oldest;
  });
  EXPECT_EQ(before, kDescent);
}

TEST_P(Descent, tasks_from_outside_have_their_turn_after_a_while) {
  Runtime runtime = build(GetParam());
  Arrivals arrivals(runtime);
  Tree tree;
  tree.goes_on = [&] {
    arrivals.count_poll();
    return !arrivals.are_over();
  };
  run_as_task(runtime, [&]() -> Task<> {
    JoinHandle<void> root = spawn(grow(tree, 1'000'000));
    arrivals.begin();
    co_await root;
  });
  ASSERT_TRUE(arrivals.are_over()) << "before the tree is";
  // One descent, and the look at the injector that ends it, with the turns of the LIFO slot.
  for (const int polls : arrivals.polls_between()) EXPECT_LE(polls, kDescent + 61 + 33);
}

TEST_P(Descent, tasks_from_outside_come_a_few_at_a_time_after_each) {
  Runtime runtime = build(GetParam());
  Tree tree;
  std::vector<int> seen;
  const auto notes_the_nodes = [&]() -> Task<> {
    seen.push_back(tree.nodes);
    co_return;
  };
  run_as_task(runtime, [&]() -> Task<> {
    JoinHandle<void> root = spawn(grow(tree, 100'000));
    std::thread([&] {
      for (int i = 0; i < 40; ++i) runtime.spawn(notes_the_nodes()).detach();
    }).join();
    co_await root;
  });
  ASSERT_EQ(seen.size(), 40U);
  for (std::size_t i = 12; i < seen.size(); ++i) {
    EXPECT_GE(seen[i] - seen[i - 8], kDescent / 2) << "of " << i;
  }
}

// Each look at the injector falls into a descent that ends before its time: by a task that yields.
TEST_P(Descent, a_look_at_the_injector_that_falls_into_one_is_taken_afterwards) {
  for (int offset = 0; offset < 61; ++offset) {
    Runtime runtime = build(GetParam());
    Arrivals arrivals(runtime);
    const auto count = [&](bool yields) -> Task<> {
      arrivals.count_poll();
      if (!yields) co_return;
      spawn(ends_at_once()).detach();
      co_await yield_now();
    };
    run_as_task(runtime, [&]() -> Task<> {
      JoinHandle<void> other = spawn([&]() -> Task<> {
        while (!arrivals.are_over()) {
          spawn(ends_at_once()).detach();
          co_await yield_now();
        }
      });
      co_await yield_times(offset);
      arrivals.begin();
      while (!arrivals.are_over()) {
        std::vector<JoinHandle<void>> children;
        for (int i = 0; i < 53; ++i) children.push_back(spawn(count(i == 1)));
        co_await join_all(children);
      }
      co_await other;
    });
    for (const int polls : arrivals.polls_between()) ASSERT_LE(polls, 2 * 61 + 53) << offset;
  }
}

// Each descent is short: a task that yields lets another one pass. With a look every five polls,
// each might fall into a descent, as these come every five polls, too.
TEST_P(Descent, looks_at_the_injector_come_in_time_beside_short_ones) {
  for (const int interval : {5, 61}) {
    for (int offset = 0; offset < 5; ++offset) {
      Runtime runtime =
          builder(GetParam()).global_queue_interval(static_cast<std::uint32_t>(interval)).build();
      Arrivals arrivals(runtime);
      const auto count = [&]() -> Task<> {
        arrivals.count_poll();
        co_return;
      };
      run_as_task(runtime, [&]() -> Task<> {
        JoinHandle<void> other = spawn([&]() -> Task<> {
          while (!arrivals.are_over()) {
            arrivals.count_poll();
            co_await yield_now();
          }
        });
        co_await yield_times(offset);
        arrivals.begin();
        while (!arrivals.are_over()) {
          arrivals.count_poll();
          JoinHandle<void> older = spawn(count());
          spawn(count()).detach();
          co_await older;
          arrivals.count_poll();
          co_await yield_now();
        }
        co_await other;
      });
      for (const int polls : arrivals.polls_between()) {
        ASSERT_LE(polls, 2 * interval) << offset;
        ASSERT_GE(polls, interval / 2) << offset;
      }
    }
  }
}

// One task, each of whose turns begins a descent and ends it.
TEST_P(Descent, a_task_that_waits_and_yields_at_each_turn_leaves_time_for_tasks_from_outside) {
  Runtime runtime = build(GetParam());
  bool has_run = false;
  int polls = 0;
  const auto notes = [&]() -> Task<> {
    has_run = true;
    co_return;
  };
  run_as_task(runtime, [&]() -> Task<> {
    sync::JoinSet<> set;
    set.spawn([]() -> Task<> { co_await forever(); });
    std::thread([&] { runtime.spawn(notes()).detach(); }).join();
    for (; !has_run && polls < 1000; ++polls) co_await select(set.join_next(), yield_now());
  });
  EXPECT_LE(polls, 2 * 61);
}

Task<> spawn_four(Log* log) {
  for (int id = 1; id <= 4; ++id) spawn(note_id(log, id)).detach();
  co_return;
}

TEST(DescentInTurn, is_none_of_a_worker_if_the_root_waits) {
  Runtime runtime = build({"in_turn", 1, "in_turn_1"});
  Log log;
  const auto root = [&]() -> Task<> {
    spawn(spawn_four(&log)).detach();
    while (log.empty()) co_await yield_now();
    co_await spawn(note_id(&log, 5));
  };
  runtime.block_on(root());
  EXPECT_EQ(log, (Log{4, 1, 2, 3, 5}));
}

INSTANTIATE_TEST_SUITE_P(Kinds, Descent,
                         ::testing::Values(kOneWorker, Kind{"in_turn", 1, "in_turn_1"}),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace taskbench::rt
