// join(): results, exceptions, aborts and yields of branches.
#include "runtime/task/join.hpp"

#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/sync/mpsc.hpp"
#include "runtime/sync/notify.hpp"
#include "runtime/sync/oneshot.hpp"
#include "runtime/sync/semaphore.hpp"
#include "runtime/task/select.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/sync_support.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using sync::Semaphore;
using tests::Census;
using tests::Counted;
using tests::HandPolled;
using tests::NothingLeaks;
using tests::number;
using tests::Resident;
using tests::Waiting;
using tests::yield_times;

Task<int> number_after(Semaphore& gate, int value) {
  const auto permit = co_await gate.acquire();
  co_return value;
}

Task<int> fails_after(Semaphore& gate, const char* what) {
  const auto permit = co_await gate.acquire();
  throw std::runtime_error(what);
}

Task<> stays(Resident) { co_await tests::forever(); }

Task<int> note(std::string& order, char name, int yields) {
  for (int i = 0; i < yields; ++i) {
    order += name;
    co_await yield_now();
  }
  order += name;
  co_return yields;
}

TEST(Join, gives_what_the_branches_returned_in_their_order) {
  const NothingLeaks check;
  HandPolled task([]() -> Task<std::string> {
    const auto [first, second, nothing, third] = co_await join(
        number(1), []() -> Task<Counted> { co_return Counted(2); }(), tests::nothing(),
        []() -> Task<std::string> { co_return "3"; }());
    static_assert(std::is_same_v<decltype(nothing), const std::monostate>);
    co_return std::to_string(first) + std::to_string(second.number()) + third;
  }());
  EXPECT_EQ(task.finish(), "123");
}

TEST(Join, waits_until_the_last_has_ended) {
  Semaphore first(0);
  Semaphore second(0);
  Waiting task([](Semaphore& one, Semaphore& two) -> Task<int> {
    const auto [a, b] = co_await join(number_after(one, 1), number_after(two, 2));
    co_return 10 * a + b;
  }(first, second));
  second.add_permits(1);
  EXPECT_TRUE(task.is_woken());
  EXPECT_FALSE(task.poll());
  EXPECT_FALSE(task.is_woken());
  EXPECT_FALSE(task.poll());  // a spurious poll
  first.add_permits(1);
  EXPECT_TRUE(task.resumes());
  EXPECT_EQ(task.result(), 12);
}

TEST(Join, that_was_given_up_goes_on_where_the_same_task_awaits_it_again) {
  std::string order;
  HandPolled task([](std::string& to) -> Task<int> {
    auto both = join(note(to, 'a', 3), note(to, 'b', 2));
    co_await select(both, yield_now());
    to += '|';
    const auto [a, b] = co_await both;
    co_return a + b;
  }(order));
  while (!task.poll()) {
  }
  EXPECT_EQ(order, "abab|aba");
  EXPECT_EQ(task.result(), 5);
}

TEST(Join, branches_may_refer_to_what_the_awaiting_coroutine_holds) {
  HandPolled task([]() -> Task<int> {
    int sum = 0;
    const auto add = [](int& to, int value) -> Task<> {
      for (int i = 0; i < 3; ++i) {
        to += value;
        co_await yield_now();
      }
    };
    co_await join(add(sum, 1), add(sum, 10));
    co_return sum;
  }());
  while (!task.poll()) {
  }
  EXPECT_EQ(task.result(), 33);
}

TEST(Join, a_branch_that_yields_goes_on_where_it_was_and_makes_the_task_yield) {
  std::string order;
  HandPolled task([](std::string& to) -> Task<int> {
    const auto [a, b] = co_await join(note(to, 'a', 2), note(to, 'b', 1));
    co_return a + b;
  }(order));
  EXPECT_FALSE(task.poll());
  EXPECT_TRUE(task.is_woken());  // by its own yield
  EXPECT_EQ(order, "ab");
  EXPECT_FALSE(task.poll());
  EXPECT_EQ(order, "abab");
  EXPECT_TRUE(task.resumes());
  EXPECT_EQ(order, "ababa");
  EXPECT_EQ(task.result(), 3);
}

TEST(Join, a_branch_that_yields_lets_the_others_wait) {
  Semaphore gate(0);
  HandPolled task([](Semaphore& place) -> Task<int> {
    const auto results = co_await join(yield_times(2), number_after(place, 7));
    co_return std::get<1>(results);
  }(gate));
  EXPECT_FALSE(task.poll());
  EXPECT_FALSE(task.poll());
  EXPECT_TRUE(task.is_woken());
  EXPECT_FALSE(task.poll());
  EXPECT_FALSE(task.is_woken());
  gate.add_permits(1);
  EXPECT_EQ(task.finish(), 7);
}

TEST(Join, the_first_exception_ends_the_others_and_is_thrown) {
  Census census;
  Semaphore gate(0);
  Waiting task([](Semaphore& place, Census& residents) -> Task<std::string> {
    try {
      co_await join(stays(Resident(residents)), fails_after(place, "first"),
                    fails_after(place, "second"), stays(Resident(residents)));
    } catch (const std::runtime_error& error) {
      co_return error.what() + std::to_string(residents.living());
    }
    co_return "nothing";
  }(gate, census));
  EXPECT_EQ(census.living(), 4);  // with the temporaries of the join expression
  gate.add_permits(2);
  EXPECT_EQ(task.finish(), "first0");
  EXPECT_EQ(gate.available_permits(), 2U);
}

TEST(Join, an_exception_in_the_first_poll_keeps_the_branches_after_it_from_beginning) {
  std::string order;
  HandPolled task([](std::string& to) -> Task<> {
    co_await join(
        []() -> Task<> {
          throw std::runtime_error("at once");
          co_return;
        }(),
        note(to, 'b', 0));
  }(order));
  EXPECT_THROW(task.finish(), std::runtime_error);
  EXPECT_EQ(order, "");
}

TEST(Join, may_be_nested) {
  Semaphore gate(0);
  Waiting task([](Semaphore& place) -> Task<int> {
    const auto pair = [](Semaphore& at, int value) -> Task<int> {
      const auto [a, b] = co_await join(number_after(at, value), number_after(at, 10 * value));
      co_await yield_now();
      co_return a + b;
    };
    const auto [a, b, c] = co_await join(pair(place, 1), number_after(place, 500), pair(place, 2));
    co_return a + b + c;
  }(gate));
  for (int i = 0; i < 4; ++i) {
    gate.add_permits(1);
    task.poll();
  }
  gate.add_permits(5);
  while (!task.poll()) EXPECT_TRUE(task.is_woken());
  EXPECT_EQ(task.result(), 533);
}

TEST(Join, a_vector_gives_a_vector) {
  HandPolled task([]() -> Task<int> {
    std::vector<Task<int>> tasks;
    for (int i = 0; i < 100; ++i) tasks.push_back(number(i));
    int sum = 0;
    for (const int each : co_await join(std::move(tasks))) sum += each;
    const auto none = co_await join(std::vector<Task<>>());
    co_return sum + static_cast<int>(none.size());
  }());
  EXPECT_EQ(task.finish(), 4950);
}

TEST(Join, a_vector_ends_with_the_first_exception) {
  Census census;
  HandPolled task([](Census& residents) -> Task<> {
    std::vector<Task<>> tasks;
    tasks.push_back(stays(Resident(residents)));
    tasks.push_back([]() -> Task<> {
      throw std::runtime_error("second");
      co_return;
    }());
    tasks.push_back(stays(Resident(residents)));
    co_await join(std::move(tasks));
  }(census));
  EXPECT_THROW(task.finish(), std::runtime_error);
  EXPECT_EQ(census.living(), 0);
}

TEST(Join, destroys_its_branches_with_the_task_wherever_they_are) {
  for (const int polls : {0, 1, 2, 3}) {
    Census census;
    Semaphore gate(0);
    {
      HandPolled task([](Semaphore& place, Census& residents) -> Task<> {
        const auto inner = [](Semaphore& at, Resident) -> Task<> {
          co_await yield_now();
          co_await join(number_after(at, 1), tests::forever());
        };
        co_await join(inner(place, Resident(residents)), number(3), yield_times(1),
                      stays(Resident(residents)));
      }(gate, census));
      for (int i = 0; i < polls; ++i) EXPECT_FALSE(task.poll());
      EXPECT_EQ(census.living() > 0, polls > 0);
      if (polls == 3) gate.add_permits(1);  // a grant that its branch has not seen
    }
    EXPECT_EQ(census.living(), 0);
    EXPECT_EQ(gate.available_permits(), polls == 3 ? 1U : 0U);
  }
}

TEST(Join, awaitables_other_than_tasks_are_branches_as_well) {
  const NothingLeaks check;
  HandPolled task([]() -> Task<int> {
    auto ends = sync::mpsc::unbounded_channel<Counted>();
    auto once = sync::oneshot::channel<int>();
    ends.first.send(Counted(1));
    once.first.send(20);
    const auto [message, reply, empty] =
        co_await join(ends.second.recv(), std::move(once.second), yield_now());
    static_assert(std::is_same_v<decltype(empty), const std::monostate>);
    co_return message->number() + *reply;
  }());
  EXPECT_FALSE(task.poll());
  EXPECT_EQ(task.finish(), 21);
}

TEST(Join, one_that_is_never_awaited_runs_nothing) {
  Census census;
  std::string order;
  { const auto unused = join(note(order, 'a', 0), stays(Resident(census))); }
  EXPECT_EQ(order, "");
  EXPECT_EQ(census.living(), 0);
}

class JoinEverywhere : public tests::OnEverySync {};
TASKBENCH_SYNC_ON_EVERY_SCHEDULER(JoinEverywhere);

TEST_P(JoinEverywhere, branches_are_woken_by_other_tasks) {
  constexpr int kRounds = 200;
  const auto exchange = [](sync::mpsc::Receiver<int> from,
                           sync::mpsc::Sender<int> to) -> Task<int> {
    int sum = 0;
    while (const std::optional<int> got = co_await from.recv()) {
      sum += *got;
      if (*got == kRounds) break;
      const bool sent = co_await to.send(*got + 1);
      if (!sent) break;
    }
    co_return sum;
  };
  const int total = this->run([&]() -> Task<int> {
    std::vector<JoinHandle<int>> others;
    std::vector<Task<int>> branches;
    for (int i = 0; i < 4; ++i) {
      auto there = sync::mpsc::channel<int>(1);
      auto back = sync::mpsc::channel<int>(1);
      const bool sent = co_await there.first.send(1);
      EXPECT_TRUE(sent);
      others.push_back(spawn(exchange(std::move(there.second), std::move(back.first))));
      branches.push_back(exchange(std::move(back.second), std::move(there.first)));
    }
    int sum = 0;
    for (const int each : co_await join(std::move(branches))) sum += each;
    for (auto& other : others) sum += co_await other;
    co_return sum;
  });
  EXPECT_EQ(total, 4 * kRounds * (kRounds + 1) / 2);
}

TEST_P(JoinEverywhere, an_abort_ends_the_branches_at_any_time) {
  Census census;
  this->run([&census]() -> Task<> {
    std::mt19937 random(tests::test_seed());
    sync::Notify notify;
    const auto waits = [](sync::Notify& at, Resident) -> Task<> {
      for (;;) co_await at.notified();
    };
    const auto yields = [](Resident) -> Task<> {
      for (int i = 0; i < 20; ++i) co_await yield_now();
    };
    const auto body = [&](int) -> Task<> {
      co_await join(waits(notify, Resident(census)), yields(Resident(census)),
                    waits(notify, Resident(census)));
    };
    sync::JoinSet<> tasks;
    std::vector<AbortHandle> handles;
    for (int i = 0; i < 50; ++i) handles.push_back(tasks.spawn(body(i)));
    for (const AbortHandle& handle : handles) {
      notify.notify_one();
      if (random() % 2 == 0) co_await yield_now();
      handle.abort();
    }
    while (auto ended = co_await tasks.join_next()) EXPECT_TRUE(ended->is_cancelled());
  });
  EXPECT_EQ(census.living(), 0);
}

}  // namespace
}  // namespace taskbench::rt
