// mpmc: order, capacity, closing, giving up, precedence. Numbers such as C2 are the invariants of
// mpmc_channel.hpp.
#include "runtime/sync/mpmc.hpp"

#include <memory>
#include <string>

#include "runtime/sync/join_set.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/sync_support.hpp"

namespace taskbench::rt {
namespace {

namespace mpmc = sync::mpmc;
using sync::TrySend;
using tests::Counted;
using tests::HandPolled;
using tests::NothingLeaks;
using tests::Waiting;

template <class T>
Task<bool> send(mpmc::Sender<T> sender, T value) {
  co_return co_await sender.send(std::move(value));
}

template <class T>
Task<std::optional<T>> receive(mpmc::Receiver<T> receiver) {
  co_return co_await receiver.recv();
}

Task<bool> receives_something(mpmc::Receiver<int> receiver) {
  const std::optional<int> message = co_await receiver.recv();
  co_return message.has_value();
}

TrySend try_send(const mpmc::Sender<Counted>& sender, int number) {
  return sender.try_send(Counted(number));
}

/// The number of the next message, or -1 if there is none.
int next_number(const mpmc::Receiver<Counted>& receiver) {
  const std::optional<Counted> message = receiver.try_recv();
  return message ? message->number() : -1;
}

TEST(Mpmc, messages_arrive_in_the_order_in_which_they_were_sent) {
  const NothingLeaks check;
  for (const std::size_t capacity : {1U, 2U, 3U, 4U, 7U}) {
    auto ends = mpmc::channel<Counted>(capacity);
    int sent = 0;
    int received = 0;
    for (int lap = 0; lap < 10; ++lap) {
      while (try_send(ends.first, sent) == TrySend::sent) ++sent;
      EXPECT_EQ(ends.second.size(), capacity);
      EXPECT_EQ(static_cast<std::size_t>(sent - received), capacity);
      for (std::size_t i = 0; i < capacity; ++i) EXPECT_EQ(next_number(ends.second), received++);
      EXPECT_EQ(next_number(ends.second), -1);
      EXPECT_EQ(ends.first.size(), 0U);
    }
  }
}

TEST(Mpmc, the_ring_is_as_large_as_asked_for) {
  auto ends = mpmc::channel<int>(3);
  EXPECT_EQ(ends.first.capacity(), 3U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ends.first.try_send(int{i}), TrySend::sent);
  EXPECT_EQ(ends.first.try_send(3), TrySend::full);
}

TEST(Mpmc, nothing_behind_the_ring_is_touched) {
  mpmc::detail::SlotHead slots[4];
  slots[3].turn.store(77, base::relaxed);
  const mpmc::detail::Channel channel(3, slots, sizeof(slots[0]));
  EXPECT_EQ(slots[2].turn.load(base::relaxed), 2U);
  EXPECT_EQ(slots[3].turn.load(base::relaxed), 77U);
}

TEST(Mpmc, ends_are_counted_through_copies_moves_and_assignments) {
  const NothingLeaks check;
  auto one = mpmc::channel<Counted>(1);
  auto other = mpmc::channel<Counted>(1);
  EXPECT_EQ(try_send(one.first, 1), TrySend::sent);
  const mpmc::Sender<Counted> sender = std::move(other.first);
  const mpmc::Sender<Counted> copy = other.first;  // NOLINT(bugprone-use-after-move)
  one.second = other.second;
  EXPECT_TRUE(one.first.is_closed());
  one.first = sender;
  EXPECT_EQ(try_send(one.first, 2), TrySend::sent);
  { const auto dropped = std::move(other.second); }
  EXPECT_FALSE(sender.is_closed());
  EXPECT_EQ(next_number(one.second), 2);
}

TEST(Mpmc, recv_waits_and_a_message_wakes_it) {
  auto ends = mpmc::channel<int>(1);
  Waiting task(receive(ends.second));
  EXPECT_FALSE(task.is_woken());
  EXPECT_EQ(ends.first.try_send(7), TrySend::sent);
  EXPECT_TRUE(task.resumes());
  EXPECT_EQ(task.result(), 7);
}

TEST(Mpmc, a_wait_that_one_task_has_begun_goes_on_in_another) {
  auto ends = mpmc::channel<int>(1);
  auto receiving = ends.second.recv();
  tests::expect_to_go_on_in_another_task(receiving,
                                         [&] { EXPECT_EQ(ends.first.try_send(1), TrySend::sent); });
  EXPECT_EQ(ends.first.try_send(2), TrySend::sent);
  auto sending = ends.first.send(3);
  tests::expect_to_go_on_in_another_task(sending, [&] { EXPECT_EQ(ends.second.try_recv(), 2); });
  EXPECT_EQ(ends.second.try_recv(), 3);
}

TEST(Mpmc, those_who_wait_are_woken_in_order_one_for_each_message) {
  auto ends = mpmc::channel<int>(4);
  Waiting first(receive(ends.second));
  Waiting second(receive(ends.second));
  Waiting third(receive(ends.second));
  EXPECT_EQ(ends.first.try_send(1), TrySend::sent);
  EXPECT_TRUE(first.is_woken());
  EXPECT_FALSE(second.is_woken());
  EXPECT_EQ(ends.first.try_send(2), TrySend::sent);
  EXPECT_TRUE(second.is_woken());
  EXPECT_FALSE(third.is_woken());
  EXPECT_EQ(first.finish(), 1);
  EXPECT_EQ(second.finish(), 2);
}

TEST(Mpmc, send_waits_for_room_in_order) {
  auto ends = mpmc::channel<int>(1);
  EXPECT_EQ(ends.first.try_send(0), TrySend::sent);
  Waiting first(send(ends.first, 1));
  Waiting second(send(ends.first, 2));
  EXPECT_EQ(ends.second.try_recv(), 0);
  EXPECT_TRUE(first.is_woken());
  EXPECT_FALSE(second.is_woken());
  EXPECT_TRUE(first.finish());
  EXPECT_EQ(ends.second.try_recv(), 1);
  EXPECT_TRUE(second.resumes());
  EXPECT_EQ(ends.second.try_recv(), 2);
}

TEST(Mpmc, who_does_not_wait_may_overtake_who_was_woken_but_not_for_ever) {
  auto ends = mpmc::channel<int>(2);
  Waiting waits(receive(ends.second));
  for (int i = 0; i < mpmc::detail::Channel::kPatience; ++i) {
    EXPECT_EQ(ends.first.try_send(int{i}), TrySend::sent);
    EXPECT_TRUE(waits.is_woken());
    EXPECT_EQ(ends.second.try_recv(), i);
    EXPECT_FALSE(waits.poll());
  }
  EXPECT_EQ(ends.first.try_send(7), TrySend::sent);
  EXPECT_EQ(ends.second.try_recv(), std::nullopt);
  Waiting comes_later(receive(ends.second));
  EXPECT_TRUE(waits.resumes());
  EXPECT_EQ(waits.result(), 7);
  EXPECT_EQ(ends.first.try_send(8), TrySend::sent);
  EXPECT_TRUE(comes_later.resumes());
  EXPECT_EQ(ends.first.try_send(9), TrySend::sent);
  EXPECT_EQ(ends.second.try_recv(), 9);
}

TEST(Mpmc, a_sender_that_was_overtaken_is_first_too) {
  auto ends = mpmc::channel<int>(1);
  EXPECT_EQ(ends.first.try_send(0), TrySend::sent);
  Waiting waits(send(ends.first, 7));
  for (int i = 0; i < mpmc::detail::Channel::kPatience; ++i) {
    EXPECT_TRUE(ends.second.try_recv());
    EXPECT_EQ(ends.first.try_send(int{i}), TrySend::sent);
    EXPECT_FALSE(waits.poll());
  }
  EXPECT_TRUE(ends.second.try_recv());
  EXPECT_EQ(ends.first.try_send(8), TrySend::full);
  EXPECT_TRUE(waits.resumes());
  EXPECT_EQ(ends.second.try_recv(), 7);
  EXPECT_EQ(ends.first.try_send(8), TrySend::sent);
}

TEST(Mpmc, one_that_is_first_and_given_up_wakes_those_behind_it) {
  auto ends = mpmc::channel<int>(1);
  HandPolled waits(receive(ends.second));
  EXPECT_FALSE(waits.poll());
  for (int i = 0; i < mpmc::detail::Channel::kPatience; ++i) {
    EXPECT_EQ(ends.first.try_send(int{i}), TrySend::sent);
    EXPECT_TRUE(ends.second.try_recv());
    EXPECT_FALSE(waits.poll());
  }
  EXPECT_EQ(ends.first.try_send(7), TrySend::sent);
  Waiting comes_later(receive(ends.second));
  EXPECT_FALSE(comes_later.is_woken());
  waits.drop();
  EXPECT_TRUE(comes_later.resumes());
  EXPECT_EQ(comes_later.result(), 7);
  EXPECT_EQ(ends.first.try_send(8), TrySend::sent);
  EXPECT_EQ(ends.second.try_recv(), 8);  // nobody has precedence any more
}

TEST(Mpmc, C4_who_comes_after_the_end_hears_of_it_before_one_that_is_first_does) {
  for (const bool sends : {false, true}) {
    auto ends = mpmc::channel<int>(1);
    if (sends) static_cast<void>(ends.first.try_send(0));
    const auto make = [&]() -> Task<bool> {
      return sends ? send(ends.first, 7) : receives_something(ends.second);
    };
    Waiting is_first(make());
    for (int i = 0; i < mpmc::detail::Channel::kPatience; ++i) {
      if (sends) static_cast<void>(ends.second.try_recv());
      EXPECT_EQ(ends.first.try_send(int{i}), TrySend::sent);
      if (!sends) static_cast<void>(ends.second.try_recv());
      EXPECT_FALSE(is_first.poll());
    }
    ends.first.close();
    EXPECT_FALSE(HandPolled(make()).finish());
    EXPECT_FALSE(is_first.finish());
  }
}

TEST(Mpmc, C2_one_that_was_overtaken_takes_what_it_is_woken_for_though_another_is_first) {
  auto ends = mpmc::channel<int>(2);
  Waiting first(receive(ends.second));
  for (int i = 1; i < mpmc::detail::Channel::kPatience; ++i) {
    EXPECT_EQ(ends.first.try_send(int{i}), TrySend::sent);
    EXPECT_TRUE(ends.second.try_recv());
    EXPECT_FALSE(first.poll());
  }
  Waiting second(receive(ends.second));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ends.first.try_send(int{i}), TrySend::sent);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ends.second.try_recv(), i);
  EXPECT_FALSE(first.poll());
  EXPECT_FALSE(second.poll());
  EXPECT_EQ(ends.first.try_send(7), TrySend::sent);
  EXPECT_EQ(first.resumes() + second.resumes(), 1);
}

TEST(Mpmc, C2_a_change_wakes_nobody_who_cannot_go_on) {
  auto ends = mpmc::channel<int>(2);
  Waiting first(receive(ends.second));
  Waiting second(receive(ends.second));
  EXPECT_EQ(ends.first.try_send(1), TrySend::sent);
  EXPECT_EQ(first.finish(), 1);
  EXPECT_FALSE(second.is_woken());
}

Task<int> receives_twice(mpmc::Receiver<int> receiver) {
  auto wanted = receiver.recv();
  const std::optional<int> first = co_await wanted;
  const std::optional<int> second = co_await wanted;
  co_return first.value_or(0) * 10 + second.value_or(0);
}

TEST(Mpmc, each_await_of_a_receive_begins_at_the_end_of_the_queue) {
  auto ends = mpmc::channel<int>(1);
  Waiting twice(receives_twice(ends.second));
  Waiting once(receive(ends.second));
  EXPECT_EQ(ends.first.try_send(1), TrySend::sent);
  EXPECT_FALSE(twice.poll());
  EXPECT_EQ(ends.first.try_send(2), TrySend::sent);
  EXPECT_TRUE(once.resumes());
  EXPECT_EQ(once.result(), 2);
  EXPECT_EQ(ends.first.try_send(3), TrySend::sent);
  EXPECT_TRUE(twice.resumes());
  EXPECT_EQ(twice.result(), 13);
}

TEST(Mpmc, a_receive_that_was_first_in_one_await_may_become_so_in_the_next) {
  auto ends = mpmc::channel<int>(1);
  Waiting twice(receives_twice(ends.second));
  for (const int message : {7, 8}) {
    for (int i = 0; i < mpmc::detail::Channel::kPatience; ++i) {
      EXPECT_EQ(ends.first.try_send(int{i}), TrySend::sent);
      EXPECT_EQ(ends.second.try_recv(), i);
      EXPECT_FALSE(twice.poll());
    }
    EXPECT_EQ(ends.first.try_send(int{message}), TrySend::sent);
    EXPECT_EQ(ends.second.try_recv(), std::nullopt);
    EXPECT_EQ(twice.poll(), message == 8);
  }
  EXPECT_EQ(twice.result(), 78);
}

template <class T, class Operation>
Task<T> once_more(Operation& kept) {
  co_return co_await kept;
}

TEST(Mpmc, a_receive_that_is_awaited_again_at_the_end_gives_no_message_twice) {
  auto ends = mpmc::channel<int>(1);
  auto wanted = ends.second.recv();
  const auto next = [&] { return once_more<std::optional<int>>(wanted); };
  EXPECT_EQ(ends.first.try_send(1), TrySend::sent);
  EXPECT_EQ(HandPolled(next()).finish(), 1);
  ends.first.close();
  EXPECT_EQ(HandPolled(next()).finish(), std::nullopt);
}

TEST(Mpmc, a_send_that_is_awaited_again_sends_nothing_more) {
  auto ends = mpmc::channel<std::unique_ptr<int>>(2);
  auto sending = ends.first.send(std::make_unique<int>(7));
  const auto again = [&] { return once_more<bool>(sending); };
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(HandPolled(again()).finish());
  EXPECT_EQ(ends.second.size(), 1U);
}

TEST(Mpmc, try_send_that_fails_leaves_the_value) {
  auto ends = mpmc::channel<std::string>(1);
  std::string value = "a value that is long enough to be moved";
  EXPECT_EQ(ends.first.try_send("first"), TrySend::sent);
  EXPECT_EQ(ends.first.try_send(std::move(value)), TrySend::full);
  ends.first.close();
  EXPECT_EQ(ends.first.try_send(std::move(value)), TrySend::closed);
  EXPECT_FALSE(value.empty());
}

TEST(Mpmc, messages_need_not_be_copied) {
  auto ends = mpmc::channel<std::unique_ptr<int>>(1);
  EXPECT_EQ(ends.first.try_send(std::make_unique<int>(7)), TrySend::sent);
  HandPolled receiving(receive(ends.second));
  const std::optional<std::unique_ptr<int>> message = receiving.finish();
  EXPECT_EQ(**message, 7);
}

TEST(Mpmc, close_lets_what_is_there_be_received_and_fails_sends) {
  const NothingLeaks check;
  for (const bool by_sender : {true, false}) {
    auto ends = mpmc::channel<Counted>(1);
    EXPECT_EQ(try_send(ends.first, 1), TrySend::sent);
    Waiting waits(send(ends.first, Counted(2)));
    by_sender ? ends.first.close() : ends.second.close();
    EXPECT_TRUE(waits.resumes());
    EXPECT_FALSE(waits.result());
    EXPECT_TRUE(ends.first.is_closed());
    EXPECT_TRUE(ends.second.is_closed());
    EXPECT_EQ(try_send(ends.first, 3), TrySend::closed);
    EXPECT_FALSE(ends.second.is_drained());
    EXPECT_EQ(next_number(ends.second), 1);
    EXPECT_TRUE(ends.second.is_drained());
    EXPECT_FALSE(HandPolled(receive(ends.second)).finish());
    EXPECT_EQ(next_number(ends.second), -1);
  }
}

TEST(Mpmc, the_last_sender_to_go_wakes_all_receivers_with_nothing) {
  auto ends = mpmc::channel<int>(1);
  const auto tasks = tests::many_waiting([&] { return receive(ends.second); });
  {
    const mpmc::Sender<int> last = ends.first;
    { const auto dropped = std::move(ends.first); }
    EXPECT_FALSE(tasks.front()->is_woken());
  }
  EXPECT_TRUE(ends.second.is_drained());
  for (const auto& task : tasks) {
    EXPECT_TRUE(task->resumes());
    EXPECT_EQ(task->result(), std::nullopt);
  }
}

TEST(Mpmc, close_wakes_all_senders) {
  const NothingLeaks check;
  auto ends = mpmc::channel<Counted>(1);
  EXPECT_EQ(try_send(ends.first, 0), TrySend::sent);
  const auto tasks = tests::many_waiting([&] { return send(ends.first, Counted(1)); });
  ends.second.close();
  for (const auto& task : tasks) {
    EXPECT_TRUE(task->resumes());
    EXPECT_FALSE(task->result());
  }
}

TEST(Mpmc, receivers_that_wait_at_the_end_hear_of_it_after_the_last_message) {
  auto ends = mpmc::channel<int>(2);
  EXPECT_EQ(ends.first.try_send(1), TrySend::sent);
  { const auto dropped = std::move(ends.first); }
  HandPolled first(receive(ends.second));
  HandPolled second(receive(ends.second));
  EXPECT_EQ(first.finish(), 1);
  EXPECT_EQ(second.finish(), std::nullopt);
}

TEST(Mpmc, the_last_receiver_to_go_destroys_what_is_there_and_fails_sends) {
  const NothingLeaks check;
  auto ends = mpmc::channel<Counted>(1);
  EXPECT_EQ(try_send(ends.first, 1), TrySend::sent);
  Waiting waits(send(ends.first, Counted(2)));
  const int living = Counted::living();
  {
    const mpmc::Receiver<Counted> last = ends.second;
    { const auto dropped = std::move(ends.second); }
    EXPECT_FALSE(ends.first.is_closed());
  }
  EXPECT_EQ(Counted::living(), living - 1);  // the waiting message still belongs to its sender
  EXPECT_TRUE(ends.first.is_closed());
  EXPECT_TRUE(waits.resumes());
  EXPECT_FALSE(waits.result());
}

TEST(Mpmc, ends_may_go_in_either_order) {
  const NothingLeaks check;
  for (const bool sender_first : {true, false}) {
    auto ends = mpmc::channel<Counted>(2);
    EXPECT_EQ(try_send(ends.first, 1), TrySend::sent);
    std::optional sender(std::move(ends.first));
    std::optional receiver(std::move(ends.second));
    if (sender_first) sender.reset();
    receiver.reset();
  }
}

TEST(Mpmc, C2_a_wake_that_is_given_up_goes_to_the_next) {
  const NothingLeaks check;
  auto ends = mpmc::channel<Counted>(1);
  Waiting first(receive(ends.second));
  Waiting second(receive(ends.second));
  EXPECT_EQ(try_send(ends.first, 7), TrySend::sent);
  EXPECT_TRUE(first.is_woken());
  first.drop();
  EXPECT_TRUE(second.resumes());
  EXPECT_EQ(second.result()->number(), 7);
}

TEST(Mpmc, C3_a_send_that_is_given_up_takes_no_room_and_sends_nothing) {
  const NothingLeaks check;
  auto ends = mpmc::channel<Counted>(1);
  EXPECT_EQ(try_send(ends.first, 1), TrySend::sent);
  Waiting first(send(ends.first, Counted(2)));
  Waiting second(send(ends.first, Counted(3)));
  first.drop();
  EXPECT_EQ(next_number(ends.second), 1);
  EXPECT_TRUE(second.resumes());
  EXPECT_EQ(next_number(ends.second), 3);
  EXPECT_EQ(ends.second.size(), 0U);
}

TEST(Mpmc, awaitables_that_are_never_awaited_do_nothing) {
  const NothingLeaks check;
  auto ends = mpmc::channel<Counted>(1);
  { const auto unsent = ends.first.send(Counted(1)); }
  { const auto unused = ends.second.recv(); }
  EXPECT_EQ(ends.second.size(), 0U);
}

TEST(Mpmc, spurious_polls_change_nothing) {
  auto ends = mpmc::channel<int>(1);
  HandPolled receiving(receive(ends.second));
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(receiving.poll());
  EXPECT_EQ(ends.first.try_send(1), TrySend::sent);
  EXPECT_EQ(ends.second.try_recv(), 1);  // none of this counted as a wake in vain
  EXPECT_FALSE(receiving.poll());
  HandPolled comes_later(receive(ends.second));
  EXPECT_FALSE(comes_later.poll());
  EXPECT_EQ(ends.first.try_send(2), TrySend::sent);
  EXPECT_FALSE(comes_later.poll());  // the message is for the receiver that was woken
  EXPECT_EQ(receiving.finish(), 2);
}

TEST(MpmcDeathTest, a_channel_without_room_is_a_programming_error) {
  EXPECT_DEATH(static_cast<void>(mpmc::channel<int>(0)), "at least one");
  EXPECT_DEATH(static_cast<void>(mpmc::channel<int>((std::size_t{1} << 31) + 1)), "at most 2.31");
}

class MpmcOn : public tests::OnEverySync {};
TASKBENCH_SYNC_ON_EVERY_SCHEDULER(MpmcOn);

/// Knows its sender and its number in the sender's sequence. It has a constructor, as g++ 12
/// destroys the members of an aggregate twice when it is made in an awaited expression.
struct Post {
  Post(int sender, int number) : who(sender), counted(number) {}
  int who;
  Counted counted;
};

Task<> send_posts(mpmc::Sender<Post> sender, int who, int count) {
  for (int i = 0; i < count; ++i) {
    const bool sent = co_await sender.send(Post(who, i));
    EXPECT_TRUE(sent);
  }
}

/// Receives until the channel is drained; the posts of each sender that arrive here must be in
/// order. Returns the sum of their numbers, each increased by one.
Task<int> receive_posts(mpmc::Receiver<Post> receiver) {
  std::vector<int> last(10, -1);
  int sum = 0;
  for (;;) {
    const std::optional<Post> post = co_await receiver.recv();
    if (!post) co_return sum;
    int& before = last[static_cast<std::size_t>(post->who)];
    EXPECT_LT(before, post->counted.number());
    before = post->counted.number();
    sum += before + 1;
  }
}

TEST_P(MpmcOn, every_message_arrives_once_and_in_its_sender_s_order) {
  for (const std::size_t capacity : {1U, 2U, 100U}) {
    EXPECT_EQ(run([&]() -> Task<int> {
                auto ends = mpmc::channel<Post>(capacity);
                std::vector<JoinHandle<int>> receivers;
                for (int i = 0; i < 4; ++i) receivers.push_back(spawn(receive_posts(ends.second)));
                for (int who = 0; who < 10; ++who) spawn(send_posts(ends.first, who, 200)).detach();
                { const auto dropped = std::move(ends.first); }
                int sum = 0;
                for (JoinHandle<int>& each : receivers) sum += co_await each;
                co_return sum;
              }),
              10 * 200 * 201 / 2);
  }
}

}  // namespace
}  // namespace taskbench::rt
