// What a task that waits for others makes its worker do: the newest task has its turn before the
// oldest, for a while (docs/adr/0056).

#include <algorithm>
#include <functional>

#include "runtime/sync/join_set.hpp"
#include "runtime/time/sleep.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/order.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

/// The most polls in a row for which the oldest task waits (kDescent in worker.cpp).
constexpr int kDescent = 256;

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

TEST_P(Descent, ends_with_a_task_that_yields) {
  const auto body = [](Log* log) -> Task<> {
    spawn(note_id(log, 9)).detach();
    co_await spawn(note_and_yield(log, 1, 3));
  };
  EXPECT_EQ(log_of(build(GetParam()), body, 4), (Log{1, 9, 1, 1}));
}

TEST_P(Descent, ends_with_a_task_that_yields_and_has_woken_another) {
  const auto yields_behind_another = [](Log* log) -> Task<> {
    spawn(note_id(log, 2)).detach();
    co_await note_and_yield(log, 1, 3);
  };
  Runtime runtime = build(GetParam());
  Log log;
  run_as_task(runtime, [&]() -> Task<> {
    spawn(note_id(&log, 9)).detach();
    co_await spawn(yields_behind_another(&log));
  });
  EXPECT_EQ(log, (Log{1, 2, 9, 1, 1}));
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
  if (leaves > 1 && tree.goes_on()) {
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

TEST_P(Descent, the_oldest_has_its_turn_after_a_while) {
  Runtime runtime = build(GetParam());
  Tree tree;
  int before = 0;
  const auto notes_the_nodes = [&]() -> Task<> {
    before = tree.nodes;
    co_return;
  };
  run_as_task(runtime, [&]() -> Task<> {
    spawn(notes_the_nodes()).detach();
    co_await spawn(grow(tree, 100'000));
  });
  EXPECT_GE(before, kDescent);
  EXPECT_LE(before, kDescent + 33) << "with the turns of the LIFO slot";
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
  for (const int polls : arrivals.polls_between()) EXPECT_LE(polls, kDescent + 2);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Descent,
                         ::testing::Values(kOneWorker, Kind{"in_turn", 1, "in_turn_1"}),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace taskbench::rt
