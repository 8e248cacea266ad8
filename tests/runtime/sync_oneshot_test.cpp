// oneshot: one value or none, whichever end goes first, on whatever thread.
#include "runtime/sync/oneshot.hpp"

#include <array>

#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/sync_support.hpp"

namespace taskbench::rt {
namespace {

namespace oneshot = sync::oneshot;
using tests::Counted;
using tests::HandPolled;
using tests::NothingLeaks;
using tests::Waiting;

template <class T>
Task<std::optional<T>> receive(oneshot::Receiver<T> receiver) {
  co_return co_await std::move(receiver);
}

template <class T>
Task<std::optional<T>> receive_from(oneshot::Receiver<T>& receiver) {
  co_return co_await receiver;
}

TEST(Oneshot, a_value_sent_before_the_wait_is_there_at_once) {
  auto ends = oneshot::channel<int>();
  EXPECT_TRUE(ends.first.send(7));
  EXPECT_EQ(HandPolled(receive(std::move(ends.second))).finish(), 7);
}

TEST(Oneshot, send_wakes_the_receiver_that_waits) {
  auto ends = oneshot::channel<int>();
  Waiting task(receive(std::move(ends.second)));
  EXPECT_FALSE(task.is_woken());
  EXPECT_TRUE(ends.first.send(7));
  EXPECT_TRUE(task.resumes());
  EXPECT_EQ(task.result(), 7);
}

TEST(Oneshot, dropping_the_sender_wakes_the_receiver_with_nothing) {
  auto ends = oneshot::channel<int>();
  Waiting task(receive(std::move(ends.second)));
  { const auto dropped = std::move(ends.first); }
  EXPECT_TRUE(task.resumes());
  EXPECT_EQ(task.result(), std::nullopt);
}

TEST(Oneshot, a_sender_dropped_before_the_wait_gives_nothing_at_once) {
  auto ends = oneshot::channel<int>();
  { const auto dropped = std::move(ends.first); }
  EXPECT_EQ(HandPolled(receive(std::move(ends.second))).finish(), std::nullopt);
}

TEST(Oneshot, send_fails_when_the_receiver_is_gone_and_destroys_the_value) {
  const NothingLeaks check;
  auto ends = oneshot::channel<Counted>();
  EXPECT_FALSE(ends.first.is_closed());
  { const auto dropped = std::move(ends.second); }
  EXPECT_TRUE(ends.first.is_closed());
  EXPECT_FALSE(ends.first.send(Counted(1)));
}

TEST(Oneshot, a_value_that_nobody_takes_is_destroyed_once) {
  const NothingLeaks check;
  {
    auto ends = oneshot::channel<Counted>();
    EXPECT_TRUE(ends.first.send(Counted(1)));
    EXPECT_EQ(Counted::living(), 1);
  }
  {
    auto ends = oneshot::channel<Counted>();
    EXPECT_TRUE(ends.first.send(Counted(1)));
    { const auto dropped = std::move(ends.second); }
    EXPECT_EQ(Counted::living(), 0);
  }
}

TEST(Oneshot, both_ends_may_go_unused_in_either_order) {
  {
    auto ends = oneshot::channel<Counted>();
    const auto receiver = std::move(ends.second);
    const auto sender = std::move(ends.first);
  }
  {
    auto ends = oneshot::channel<Counted>();
    const auto sender = std::move(ends.first);
    const auto receiver = std::move(ends.second);
  }
}

TEST(Oneshot, assigning_over_an_end_drops_what_it_was) {
  const NothingLeaks check;
  auto one = oneshot::channel<Counted>();
  auto other = oneshot::channel<Counted>();
  Waiting task(receive(std::move(one.second)));
  one.first = std::move(other.first);
  EXPECT_TRUE(task.resumes());
  EXPECT_FALSE(task.result());
  EXPECT_TRUE(one.first.send(Counted(5)));
  EXPECT_EQ(HandPolled(receive(std::move(other.second))).finish()->number(), 5);

  auto third = oneshot::channel<Counted>();
  auto fourth = oneshot::channel<Counted>();
  third.second = std::move(fourth.second);
  EXPECT_TRUE(third.first.is_closed());
  EXPECT_TRUE(fourth.first.send(Counted(6)));
  EXPECT_EQ(HandPolled(receive(std::move(third.second))).finish()->number(), 6);
}

TEST(Oneshot, an_end_assigned_to_itself_is_kept) {
  auto ends = oneshot::channel<int>();
  auto& sender = ends.first;
  auto& receiver = ends.second;
  ends.first = std::move(sender);
  ends.second = std::move(receiver);
  EXPECT_TRUE(ends.first.send(7));
  EXPECT_TRUE(ends.first.is_closed());  // a sender sends once
  EXPECT_EQ(HandPolled(receive(std::move(ends.second))).finish(), 7);
}

TEST(Oneshot, a_receiver_that_waits_and_is_dropped_is_not_woken) {
  const NothingLeaks check;
  auto ends = oneshot::channel<Counted>();
  Waiting task(receive(std::move(ends.second)));
  task.drop();
  EXPECT_TRUE(ends.first.is_closed());
  EXPECT_FALSE(ends.first.send(Counted(1)));
  EXPECT_FALSE(task.is_woken());
}

TEST(Oneshot, a_value_that_arrived_is_destroyed_with_a_receiver_that_is_aborted_before_it_looks) {
  const NothingLeaks check;
  auto ends = oneshot::channel<Counted>();
  Waiting task(receive(std::move(ends.second)));
  EXPECT_TRUE(ends.first.send(Counted(1)));
  EXPECT_TRUE(task.is_woken());
  task.drop();
}

TEST(Oneshot, a_spurious_poll_of_the_receiver_changes_nothing) {
  auto ends = oneshot::channel<int>();
  HandPolled task(receive(std::move(ends.second)));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(task.poll());
  EXPECT_TRUE(ends.first.send(7));
  EXPECT_EQ(task.finish(), 7);
}

TEST(Oneshot, a_receiver_may_wait_in_another_task_after_the_first_gave_up) {
  auto ends = oneshot::channel<int>();
  HandPolled first(receive_from(ends.second));
  HandPolled second(receive_from(ends.second));
  EXPECT_FALSE(first.poll());
  first.drop();
  EXPECT_FALSE(second.poll());
  EXPECT_TRUE(ends.first.send(7));
  EXPECT_FALSE(first.is_woken());
  EXPECT_TRUE(second.resumes());
  EXPECT_EQ(second.result(), 7);
}

TEST(Oneshot, the_value_is_not_lost_when_the_wait_is_given_up_after_it_arrived) {
  auto ends = oneshot::channel<int>();
  Waiting first(receive_from(ends.second));
  EXPECT_TRUE(ends.first.send(7));
  first.drop();
  EXPECT_EQ(HandPolled(receive_from(ends.second)).finish(), 7);
}

using Large = std::array<std::uint64_t, 100>;

TEST(Oneshot, carries_large_values) {
  auto ends = oneshot::channel<Large>();
  Large large{};
  large.front() = 1;
  large.back() = 2;
  EXPECT_TRUE(ends.first.send(large));
  EXPECT_EQ(HandPolled(receive(std::move(ends.second))).finish(), large);
}

struct alignas(64) Aligned {
  explicit Aligned(int number) : value(number) {}
  Aligned(Aligned&& other) noexcept : value(other.value) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(this) % alignof(Aligned), 0U);
  }
  int value;
};

TEST(Oneshot, aligns_its_value) {
  auto ends = oneshot::channel<Aligned>();
  EXPECT_TRUE(ends.first.send(Aligned(7)));
}

TEST(OneshotDeathTest, sending_twice_is_a_programming_error) {
  EXPECT_DEATH(
      {
        auto ends = oneshot::channel<int>();
        ends.first.send(1);
        ends.first.send(2);
      },
      "sends once");
}

class OneshotOn : public tests::OnEverySync {};
TASKBENCH_SYNC_ON_EVERY_SCHEDULER(OneshotOn);

Task<> answer(oneshot::Receiver<Counted> question, oneshot::Sender<Counted> reply) {
  std::optional<Counted> asked = co_await std::move(question);
  if (asked) reply.send(Counted(asked->number() + 1));
}

Task<int> ask(int number) {
  auto question = oneshot::channel<Counted>();
  auto reply = oneshot::channel<Counted>();
  spawn(answer(std::move(question.second), std::move(reply.first))).detach();
  question.first.send(Counted(number));
  const std::optional<Counted> answered = co_await std::move(reply.second);
  co_return answered ? answered->number() : -1;
}

TEST_P(OneshotOn, values_go_to_and_fro_between_tasks) {
  run([&]() -> Task<> {
    std::vector<JoinHandle<int>> asking;
    for (int i = 0; i < 1000; ++i) asking.push_back(spawn(ask(i)));
    for (int i = 0; i < 1000; ++i) {
      const int answered = co_await asking[static_cast<std::size_t>(i)];
      EXPECT_EQ(answered, i + 1);
    }
  });
}

TEST_P(OneshotOn, a_plain_thread_may_send_to_a_task) {
  Runtime runtime = build_runtime();
  for (int i = 0; i < 50; ++i) {
    auto ends = oneshot::channel<Counted>();
    std::thread thread([sender = std::move(ends.first), i]() mutable {
      if (i % 3 != 0) sender.send(Counted(i));
    });
    const std::optional<Counted> received = runtime.block_on(receive(std::move(ends.second)));
    thread.join();
    EXPECT_EQ(received.has_value(), i % 3 != 0);
    EXPECT_EQ(received ? received->number() : 0, i % 3 != 0 ? i : 0);
  }
}

TEST_P(OneshotOn, connects_tasks_of_two_runtimes) {
  Runtime one = build_runtime();
  Runtime other = Runtime::Builder{}.workers(2).build();
  for (int i = 0; i < 100; ++i) {
    auto question = oneshot::channel<Counted>();
    auto reply = oneshot::channel<Counted>();
    other.spawn(answer(std::move(question.second), std::move(reply.first))).detach();
    question.first.send(Counted(i));
    const std::optional<Counted> answered = one.block_on(receive(std::move(reply.second)));
    ASSERT_TRUE(answered);
    EXPECT_EQ(answered->number(), i + 1);
  }
}

TEST_P(OneshotOn, a_receiver_outlives_the_runtime_of_its_sender) {
  auto question = oneshot::channel<Counted>();
  auto reply = oneshot::channel<Counted>();
  {
    Runtime runtime = build_runtime();
    runtime.spawn(answer(std::move(question.second), std::move(reply.first))).detach();
    runtime.block_on(tests::let_others_wait());
  }
  EXPECT_FALSE(question.first.send(Counted(1)));
  EXPECT_FALSE(HandPolled(receive(std::move(reply.second))).finish());
}

TEST_P(OneshotOn, send_and_drop_race_with_waiting_and_abort) {
  run([&]() -> Task<> {
    std::mt19937 random(tests::test_seed());
    for (const tests::StressTime time; time.left();) {
      auto ends = oneshot::channel<Counted>();
      JoinHandle<std::optional<Counted>> receiver = spawn(receive(std::move(ends.second)));
      const auto choice = random() % 8;
      if (choice % 2 == 0) co_await yield_now();
      std::atomic<bool> go{false};
      std::thread thread([&go, choice, sender = std::move(ends.first)]() mutable {
        while (!go.load()) {
        }
        if (choice < 5) sender.send(Counted(1));
      });
      go.store(true);
      if (choice % 3 == 0) receiver.abort();
      try {
        const std::optional<Counted> received = co_await receiver;
        EXPECT_EQ(received.has_value(), choice < 5);
      } catch (const JoinError&) {
        EXPECT_EQ(choice % 3, 0U);
      }
      thread.join();
    }
  });
}

}  // namespace
}  // namespace taskbench::rt
