// select(): which branch wins, what becomes of the others, exceptions, yields, and abandoned waits.
#include "runtime/task/select.hpp"

#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "runtime/sync/cancellation.hpp"
#include "runtime/sync/mpsc.hpp"
#include "runtime/sync/mutex.hpp"
#include "runtime/sync/notify.hpp"
#include "runtime/sync/semaphore.hpp"
#include "runtime/task/join.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/sync_support.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using sync::Notify;
using sync::Semaphore;
using tests::Census;
using tests::Counted;
using tests::HandPolled;
using tests::NothingLeaks;
using tests::number;
using tests::Resident;
using tests::Waiting;
using tests::yield_times;

Task<std::string> name_after(Notify& gate, Resident, const char* name) {
  co_await gate.notified();
  co_return name;
}

TEST(Select, gives_what_ended_first_and_says_which_it_was) {
  Census census;
  Notify first;
  Notify second;
  Waiting task([](Notify& one, Notify& two, Census& residents) -> Task<std::string> {
    auto selected = select(name_after(one, Resident(residents), "one"),
                           name_after(two, Resident(residents), "two"));
    const auto result = co_await selected;
    EXPECT_EQ(residents.living(), 0);
    co_return std::to_string(result.index()) + std::get<1>(result);
  }(first, second, census));
  second.notify_one();
  EXPECT_TRUE(task.resumes());
  EXPECT_EQ(task.result(), "1two");
  first.notify_one();  // has no receiver
}

TEST(Select, of_two_that_are_ready_the_first_wins_and_the_second_does_not_begin) {
  int begun = 0;
  HandPolled task([](int& count) -> Task<int> {
    const auto counts = [](int& to) -> Task<int> {
      ++to;
      co_return to;
    };
    const auto result = co_await select(counts(count), counts(count));
    co_return static_cast<int>(result.index());
  }(begun));
  EXPECT_EQ(task.finish(), 0);
  EXPECT_EQ(begun, 1);
}

TEST(Select, of_nothing_returned_a_monostate_is_left) {
  HandPolled task([]() -> Task<bool> {
    const auto result = co_await select(tests::forever(), tests::nothing(), number(3));
    static_assert(std::is_same_v<decltype(result), const std::variant<bool, std::monostate, int>>);
    co_return result.index() == 1;
  }());
  EXPECT_TRUE(task.finish());
}

TEST(Select, an_exception_counts_as_an_end) {
  Census census;
  HandPolled task([](Census& residents) -> Task<std::string> {
    try {
      co_await select(tests::wait_forever(Resident(residents)), []() -> Task<int> {
        throw std::runtime_error("it failed");
        co_return 1;
      }());
    } catch (const std::runtime_error& error) {
      co_return error.what() + std::to_string(residents.living());
    }
    co_return "nothing";
  }(census));
  EXPECT_EQ(task.finish(), "it failed0");
}

TEST(Select, an_exception_of_a_branch_without_a_result_is_thrown) {
  const auto fails = []() -> Task<> {
    throw std::runtime_error("it failed");
    co_return;
  };
  const auto selects = [&]() -> Task<> { co_await select(tests::forever(), fails()); };
  HandPolled task(selects());
  EXPECT_THROW(task.finish(), std::runtime_error);
  const auto selects_of_a_vector = [&]() -> Task<> {
    std::vector<Task<>> tasks;
    tasks.push_back(fails());
    co_await select(std::move(tasks));
  };
  HandPolled of_a_vector(selects_of_a_vector());
  EXPECT_THROW(of_a_vector.finish(), std::runtime_error);
}

TEST(Select, a_branch_that_yields_goes_on_until_another_ends) {
  Notify gate;
  Census census;
  HandPolled task([](Notify& place, Census& residents) -> Task<int> {
    const auto result = co_await select(tests::yield_forever(Resident(residents)),
                                        name_after(place, Resident(residents), "end"));
    co_return static_cast<int>(result.index());
  }(gate, census));
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(task.poll());
    EXPECT_TRUE(task.is_woken());  // by its own yield
  }
  gate.notify_one();
  EXPECT_TRUE(task.resumes());
  EXPECT_EQ(task.result(), 1);
}

TEST(Select, a_task_that_yielded_in_a_branch_suspends_as_usual_afterwards) {
  Notify gate;
  HandPolled task([](Notify& place) -> Task<int> {
    co_await select(yield_times(1), tests::forever());
    co_await place.notified();
    co_return 1;
  }(gate));
  EXPECT_FALSE(task.poll());
  EXPECT_FALSE(task.poll());
  EXPECT_FALSE(task.is_woken());
  gate.notify_one();
  EXPECT_TRUE(task.resumes());
}

TEST(Select, a_task_suspends_as_usual_when_one_branch_has_yielded_and_another_ended) {
  HandPolled task([]() -> Task<> {
    co_await select(tests::yield_forever(), tests::nothing());
    co_await tests::forever();
  }());
  EXPECT_FALSE(task.poll());
  EXPECT_FALSE(task.is_woken());
}

TEST(Select, what_was_handed_to_a_loser_goes_to_the_next) {
  Semaphore semaphore(0);
  Notify gate;
  Waiting task([](Semaphore& permits, Notify& place) -> Task<int> {
    const auto result = co_await select(place.notified(), permits.acquire());
    co_return static_cast<int>(result.index());
  }(semaphore, gate));
  semaphore.add_permits(1);
  gate.notify_one();
  EXPECT_EQ(task.finish(), 0);
  EXPECT_EQ(semaphore.available_permits(), 1U);
}

TEST(Select, a_receive_that_loses_takes_no_message) {
  const NothingLeaks check;
  auto ends = sync::mpsc::unbounded_channel<Counted>();
  CancellationToken token;
  HandPolled task([](sync::mpsc::Receiver<Counted>& from, CancellationToken stop) -> Task<int> {
    const auto result = co_await select(stop.cancelled(), from.recv());
    co_return static_cast<int>(result.index());
  }(ends.second, token));
  EXPECT_FALSE(task.poll());
  token.cancel();
  ends.first.send(Counted(1));
  EXPECT_EQ(task.finish(), 0);
  EXPECT_EQ(ends.second.try_recv()->number(), 1);
}

TEST(Select, a_handle_that_loses_can_be_awaited_again) {
  HandPolled awaited([]() -> Task<int> {
    co_await yield_now();
    co_return 7;
  }());
  HandPolled task([](JoinHandle<int>& handle) -> Task<int> {
    const auto result = co_await select(handle, yield_times(1));
    EXPECT_EQ(result.index(), 1U);
    co_return co_await handle;
  }(awaited.handle()));
  EXPECT_FALSE(task.poll());
  EXPECT_FALSE(task.poll());
  EXPECT_FALSE(awaited.poll());
  EXPECT_TRUE(awaited.poll());
  EXPECT_EQ(task.finish(), 7);
}

TEST(Select, a_wait_that_loses_goes_on_wherever_it_is_awaited_next) {
  Notify gate;
  HandPolled task([](Notify& place) -> Task<int> {
    const auto joins = [](Notify::Notified& wait) -> Task<> { co_await join(wait, number(1)); };
    auto notified = place.notified();
    for (int i = 0; i < 2; ++i) {
      const auto result = co_await select(notified, yield_now());
      EXPECT_EQ(result.index(), 1U);
    }
    co_await select(yield_now(), joins(notified));
    co_await joins(notified);
    co_await notified;
    co_return 2;
  }(gate));
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(task.poll());
  EXPECT_FALSE(task.is_woken());
  gate.notify_one();
  EXPECT_TRUE(task.resumes());
  EXPECT_EQ(task.result(), 2);
}

TEST(Select, inside_join_inside_select) {
  Census census;
  Notify gates[3];
  Waiting task([](Notify* at, Census& residents) -> Task<int> {
    const auto either = [](Notify& one, Notify& two, Census& all) -> Task<std::string> {
      auto result =
          co_await select(name_after(one, Resident(all), "a"), name_after(two, Resident(all), "b"));
      co_return result.index() == 0 ? std::get<0>(result) : std::get<1>(result);
    };
    const auto both = [&](Census& all) -> Task<std::string> {
      auto [a, b] = co_await join(either(at[0], at[1], all), either(at[1], at[0], all));
      co_return a + b;
    };
    const auto result = co_await select(both(residents), at[2].notified());
    EXPECT_EQ(residents.living(), 0);
    co_return result.index() == 0 && std::get<0>(result) == "ab" ? 1 : 0;
  }(gates, census));
  EXPECT_EQ(census.living(), 8);  // with the temporaries of the select expressions
  gates[0].notify_one();
  EXPECT_FALSE(task.poll());
  EXPECT_EQ(census.living(), 4);
  gates[0].notify_one();
  EXPECT_EQ(task.finish(), 1);
}

TEST(Select, of_a_vector_gives_the_index_too) {
  Census census;
  HandPolled task([](Census& residents) -> Task<int> {
    std::vector<Task<>> none_ends;
    none_ends.push_back(tests::wait_forever(Resident(residents)));
    none_ends.push_back(tests::nothing());
    const auto [first, nothing] = co_await select(std::move(none_ends));
    EXPECT_EQ(nothing, std::monostate());
    std::vector<Task<int>> tasks;
    for (int i = 0; i < 5; ++i) tasks.push_back(number(10 * i));
    const auto [second, value] = co_await select(std::move(tasks));
    EXPECT_EQ(residents.living(), 0);
    co_return static_cast<int>(first) + static_cast<int>(second) + value;
  }(census));
  EXPECT_EQ(task.finish(), 1);
}

TEST(SelectDeathTest, of_no_tasks_ends_the_program) {
  EXPECT_DEATH((void)select(std::vector<Task<int>>()), "select\\(\\) needs at least one task");
}

class SelectEverywhere : public tests::OnEverySync {};
TASKBENCH_SYNC_ON_EVERY_SCHEDULER(SelectEverywhere);

TEST_P(SelectEverywhere, a_loop_over_messages_loses_none_to_other_branches) {
  constexpr int kMessages = 1000;
  const int got = this->run([&]() -> Task<int> {
    auto ends = sync::mpsc::channel<Counted>(4);
    Notify others;
    CancellationToken stop;
    auto sending = spawn([](sync::mpsc::Sender<Counted> to, Notify& other) -> Task<> {
      for (int i = 1; i <= kMessages; ++i) {
        if (i % 3 == 0) other.notify_one();
        Counted message(i);
        const bool sent = co_await to.send(std::move(message));
        EXPECT_TRUE(sent);
      }
    }(std::move(ends.first), others));
    int last = 0;
    for (bool more = true; more;) {
      auto result = co_await select(others.notified(), ends.second.recv(), stop.cancelled());
      if (result.index() == 0) continue;
      const auto& message = std::get<1>(result);
      more = message.has_value();
      if (!more) break;
      EXPECT_EQ(message->number(), last + 1);
      last = message->number();
    }
    co_await sending;
    co_return last;
  });
  EXPECT_EQ(got, kMessages);
}

TEST_P(SelectEverywhere, storm_of_permits_that_lose) {
  this->run([&]() -> Task<> {
    Semaphore semaphore(3);
    Notify gate;
    std::mt19937 random(tests::test_seed());
    const auto body = [&](int number) -> Task<> {
      for (int i = 0; i < 20; ++i) {
        if (number % 2 == 0) gate.notify_one();
        auto result = co_await select(gate.notified(), semaphore.acquire(number % 2 == 0 ? 1 : 3));
        co_await yield_now();
      }
    };
    co_await tests::abort_some_of(20, random, body);
    EXPECT_EQ(semaphore.available_permits(), 3U);
  });
}

}  // namespace
}  // namespace taskbench::rt
