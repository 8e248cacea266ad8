// CancellationToken: waiting, trees, and destroyed tokens. Numbers such as C2 are the invariants of
// cancellation.hpp.
#include "runtime/sync/cancellation.hpp"

#include <vector>

#include "runtime/task/select.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/sync_support.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using tests::HandPolled;
using tests::Waiting;

Task<> waits(CancellationToken token) { co_await token.cancelled(); }

TEST(CancellationToken, is_cancelled_once_and_for_good) {
  const CancellationToken token;
  EXPECT_FALSE(token.is_cancelled());
  token.cancel();
  token.cancel();
  EXPECT_TRUE(token.is_cancelled());
  HandPolled task(waits(token));
  EXPECT_TRUE(task.poll());
}

TEST(CancellationToken, copies_are_the_same_token) {
  CancellationToken token;
  const CancellationToken copy = token;
  token = CancellationToken();
  Waiting task(waits(copy));
  token.cancel();
  EXPECT_FALSE(copy.is_cancelled());
  EXPECT_FALSE(task.is_woken());
  copy.cancel();
  EXPECT_TRUE(task.resumes());
}

TEST(CancellationToken, wakes_all_who_wait) {
  const CancellationToken token;
  auto tasks = tests::many_waiting([&] { return waits(token); });
  token.cancel();
  for (auto& task : tasks) EXPECT_TRUE(task->resumes());
}

TEST(CancellationToken, a_spurious_poll_goes_on_waiting) {
  const CancellationToken token;
  Waiting task(waits(token));
  EXPECT_FALSE(task.poll());
  EXPECT_FALSE(task.poll());
  token.cancel();
  EXPECT_TRUE(task.resumes());
}

TEST(CancellationToken, a_poll_before_its_wake_finds_it_cancelled) {
  const CancellationToken token;
  auto tasks = tests::many_waiting([&]() -> Task<> {
    co_await token.cancelled();
    co_await tests::forever();
  });
  // The first task woken polls the last one, which the same cancel() has yet to wake.
  tasks.front()->on_wake([&] { EXPECT_FALSE(tasks.back()->poll()); });
  token.cancel();
  EXPECT_TRUE(tasks[98]->is_woken());
  EXPECT_FALSE(tasks.back()->is_woken());  // its wait has ended, so nobody wakes it any more
}

TEST(CancellationToken, a_wait_that_is_given_up_leaves_nothing_behind) {
  const CancellationToken token;
  Waiting stays(waits(token));
  {
    Waiting goes(waits(token));
    goes.drop();
  }
  token.cancel();
  EXPECT_TRUE(stays.resumes());
  Waiting select_loser([](CancellationToken stop) -> Task<> {
    co_await select(stop.cancelled(), yield_now());
    co_await tests::forever();
  }(CancellationToken()));
}

TEST(CancellationToken, a_wait_that_one_task_has_begun_goes_on_in_another) {
  const CancellationToken token;
  auto cancelled = token.cancelled();
  tests::expect_to_go_on_in_another_task(cancelled, [&] { token.cancel(); });
}

TEST(CancellationToken, C2_children_are_cancelled_with_their_parent_but_not_the_other_way) {
  const CancellationToken parent;
  const CancellationToken first = parent.child();
  const CancellationToken second = parent.child();
  const CancellationToken grandchild = first.child();
  Waiting in_parent(waits(parent));
  Waiting in_second(waits(second));
  Waiting in_grandchild(waits(grandchild));
  first.cancel();
  EXPECT_TRUE(grandchild.is_cancelled());
  EXPECT_TRUE(in_grandchild.resumes());
  EXPECT_FALSE(parent.is_cancelled());
  EXPECT_FALSE(second.is_cancelled());
  parent.cancel();
  EXPECT_TRUE(in_second.resumes());
  EXPECT_TRUE(in_parent.resumes());
}

TEST(CancellationToken, C2_a_child_of_a_cancelled_token_begins_cancelled) {
  const CancellationToken token;
  token.cancel();
  EXPECT_TRUE(token.child().child().is_cancelled());
}

TEST(CancellationToken, C3_grandchildren_stay_connected_when_the_tokens_between_are_gone) {
  const CancellationToken root;
  std::vector<CancellationToken> grandchildren;
  {
    const CancellationToken child = root.child();
    for (int i = 0; i < 3; ++i) grandchildren.push_back(child.child().child());
  }
  grandchildren.erase(grandchildren.begin() + 1);
  Waiting task(waits(grandchildren.back()));
  root.cancel();
  EXPECT_TRUE(task.resumes());
  for (const CancellationToken& each : grandchildren) EXPECT_TRUE(each.is_cancelled());
}

TEST(CancellationToken, C3_children_may_outlive_the_root) {
  auto root = std::make_unique<CancellationToken>();
  const CancellationToken child = root->child();
  root.reset();
  EXPECT_FALSE(child.is_cancelled());
  child.child().child().cancel();
  EXPECT_FALSE(child.is_cancelled());
  child.cancel();
  EXPECT_TRUE(child.is_cancelled());
}

TEST(CancellationToken, a_long_chain_is_cancelled_and_destroyed_without_a_stack) {
  const CancellationToken root;
  std::vector<CancellationToken> chain{root};
  for (int i = 0; i < 100'000; ++i) chain.push_back(chain.back().child());
  const CancellationToken middle = chain[50'000];
  const CancellationToken last = chain.back();
  middle.cancel();
  EXPECT_FALSE(chain[49'999].is_cancelled());
  EXPECT_TRUE(last.is_cancelled());
  chain.clear();
  root.cancel();
}

TEST(CancellationToken, who_is_woken_may_destroy_the_last_token) {
  auto token = std::make_unique<CancellationToken>();
  Waiting task([](CancellationToken& stop) -> Task<> { co_await stop.cancelled(); }(*token));
  task.on_wake([&] { token.reset(); });
  const CancellationToken* const cancelled = token.get();
  cancelled->cancel();
  EXPECT_EQ(token, nullptr);
  EXPECT_TRUE(task.poll());
}

TEST(CancellationToken, who_is_woken_first_may_destroy_the_token_before_others_are_woken) {
  const CancellationToken root;
  std::optional<CancellationToken> token(root.child());
  const CancellationToken below = token->child();
  const auto tasks = tests::many_waiting([&] { return waits(below); });
  std::optional<CancellationToken> in_its_place;
  tasks.front()->on_wake([&] {
    token.reset();
    in_its_place.emplace();  // usually at the same address
  });
  token->cancel();
  for (const auto& task : tasks) EXPECT_TRUE(task->resumes());
  EXPECT_FALSE(in_its_place->is_cancelled());
}

class CancellationEverywhere : public tests::OnEverySync {};
TASKBENCH_SYNC_ON_EVERY_SCHEDULER(CancellationEverywhere);

TEST_P(CancellationEverywhere, a_thread_outside_ends_tasks_that_make_children) {
  const CancellationToken stop;
  std::atomic<int> rounds{0};
  const auto serves = [](CancellationToken token, std::atomic<int>& count) -> Task<> {
    while (!token.is_cancelled()) {
      const CancellationToken request = token.child();
      const CancellationToken detached = request.child();
      auto part = spawn(waits(detached));
      if (count.fetch_add(1) % 3 == 0) request.cancel();
      co_await select(token.cancelled(), part, tests::yield_times(3));
      part.abort();
    }
  };
  std::thread outside([&] {
    EXPECT_TRUE(tests::eventually([&] { return rounds.load() >= 100; }));
    stop.cancel();
  });
  this->run([&]() -> Task<> {
    sync::JoinSet<> tasks;
    for (int i = 0; i < 8; ++i) tasks.spawn(serves(stop.child(), rounds));
    while (auto ended = co_await tasks.join_next()) EXPECT_TRUE(ended->has_value());
  });
  outside.join();
}

}  // namespace
}  // namespace taskbench::rt
