// mpsc: order, capacity, closing, giving up. Numbers such as M2 are the invariants of
// mpsc_channel.hpp.
#include "runtime/sync/mpsc.hpp"

#include <memory>
#include <stdexcept>

#include "runtime/sync/join_set.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/sync_support.hpp"

namespace taskbench::rt {
namespace {

namespace mpsc = sync::mpsc;
using mpsc::TrySend;
using tests::Counted;
using tests::HandPolled;
using tests::NothingLeaks;
using tests::Refuses;
using tests::Waiting;

template <class T>
Task<bool> send(mpsc::Sender<T> sender, T value) {
  co_return co_await sender.send(std::move(value));
}

template <class T>
Task<std::optional<T>> receive(mpsc::Receiver<T>& receiver) {
  co_return co_await receiver.recv();
}

TrySend try_send(const mpsc::Sender<Counted>& sender, int number) {
  return sender.try_send(Counted(number));
}

/// The number of the next message, or -1 if there is none.
int next_number(mpsc::Receiver<Counted>& receiver) {
  const std::optional<Counted> message = receiver.try_recv();
  return message ? message->number() : -1;
}

TEST(Mpsc, messages_arrive_in_the_order_in_which_they_were_sent) {
  const NothingLeaks check;
  auto ends = mpsc::channel<Counted>(16);
  EXPECT_EQ(try_send(ends.first, 1), TrySend::sent);
  HandPolled sending(send(ends.first, Counted(2)));
  EXPECT_TRUE(sending.finish());
  EXPECT_EQ(try_send(ends.first, 3), TrySend::sent);
  EXPECT_EQ(ends.second.size(), 3U);
  for (int i = 1; i <= 3; ++i) {
    HandPolled receiving(receive(ends.second));
    EXPECT_EQ(receiving.finish()->number(), i);
  }
  EXPECT_EQ(ends.second.size(), 0U);
}

TEST(Mpsc, recv_waits_and_a_message_wakes_it) {
  auto ends = mpsc::channel<int>(1);
  Waiting task(receive(ends.second));
  EXPECT_FALSE(task.is_woken());
  EXPECT_EQ(ends.first.try_send(7), TrySend::sent);
  EXPECT_TRUE(task.resumes());
  EXPECT_EQ(task.result(), 7);
}

TEST(Mpsc, a_send_wakes_a_receive_that_waits_and_a_receive_a_send) {
  auto ends = mpsc::channel<int>(1);
  Waiting receiving(receive(ends.second));
  EXPECT_TRUE(HandPolled(send(ends.first, 1)).finish());
  EXPECT_TRUE(receiving.resumes());
  EXPECT_EQ(ends.first.try_send(2), TrySend::sent);
  Waiting sending(send(ends.first, 3));
  EXPECT_EQ(HandPolled(receive(ends.second)).finish(), 2);
  EXPECT_TRUE(sending.resumes());
}

TEST(Mpsc, send_waits_for_room_in_order) {
  auto ends = mpsc::channel<int>(1);
  EXPECT_EQ(ends.first.try_send(0), TrySend::sent);
  Waiting first(send(ends.first, 1));
  Waiting second(send(ends.first, 2));
  EXPECT_EQ(ends.second.try_recv(), 0);
  EXPECT_TRUE(first.is_woken());
  EXPECT_FALSE(second.is_woken());
  EXPECT_EQ(ends.first.try_send(9), TrySend::full);  // the slot belongs to the first (M2)
  EXPECT_FALSE(second.poll());
  EXPECT_TRUE(first.finish());
  EXPECT_EQ(ends.second.try_recv(), 1);
  EXPECT_TRUE(second.poll());
  EXPECT_EQ(ends.second.try_recv(), 2);
}

TEST(Mpsc, a_send_that_one_task_has_begun_goes_on_in_another) {
  auto ends = mpsc::channel<int>(1);
  EXPECT_EQ(ends.first.try_send(1), TrySend::sent);
  auto sending = ends.first.send(2);
  tests::expect_to_go_on_in_another_task(sending, [&] { EXPECT_EQ(ends.second.try_recv(), 1); });
  EXPECT_EQ(ends.second.try_recv(), 2);
}

TEST(Mpsc, room_is_counted) {
  auto ends = mpsc::channel<int>(3);
  EXPECT_EQ(ends.first.capacity(), 3U);
  EXPECT_EQ(ends.first.room(), 3U);
  EXPECT_EQ(ends.first.try_send(1), TrySend::sent);
  EXPECT_EQ(ends.first.try_send(2), TrySend::sent);
  EXPECT_EQ(ends.first.room(), 1U);
  EXPECT_EQ(ends.first.try_send(3), TrySend::sent);
  EXPECT_EQ(ends.first.try_send(4), TrySend::full);
  EXPECT_EQ(ends.second.try_recv(), 1);
  EXPECT_EQ(ends.first.room(), 1U);
  EXPECT_EQ(ends.first.capacity(), 3U);
}

TEST(Mpsc, try_send_to_a_full_channel_leaves_the_value) {
  auto ends = mpsc::channel<std::string>(1);
  std::string value = "a value that is long enough to be moved";
  EXPECT_EQ(ends.first.try_send("first"), TrySend::sent);
  EXPECT_EQ(ends.first.try_send(std::move(value)), TrySend::full);
  EXPECT_FALSE(value.empty());
  EXPECT_TRUE(ends.second.try_recv());
  EXPECT_EQ(ends.first.try_send(std::move(value)), TrySend::sent);
}

TEST(Mpsc, try_recv_takes_what_is_there) {
  auto ends = mpsc::channel<int>(5);
  EXPECT_EQ(ends.second.try_recv(), std::nullopt);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(ends.first.try_send(int{i}), TrySend::sent);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(ends.second.try_recv(), i);
    EXPECT_EQ(ends.second.try_recv(), std::nullopt);
    EXPECT_FALSE(ends.second.is_drained());
  }
}

TEST(Mpsc, unbounded_send_never_waits_and_wakes_the_receiver) {
  const NothingLeaks check;
  auto ends = mpsc::unbounded_channel<Counted>();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(ends.first.send(Counted(i)));
  EXPECT_EQ(ends.second.size(), 1000U);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(next_number(ends.second), i);
  EXPECT_EQ(next_number(ends.second), -1);
  Waiting task(receive(ends.second));
  EXPECT_TRUE(ends.first.send(Counted(7)));
  EXPECT_TRUE(task.resumes());
  EXPECT_EQ(task.result()->number(), 7);
}

TEST(Mpsc, the_last_sender_to_go_wakes_the_receiver_with_nothing) {
  auto ends = mpsc::channel<int>(1);
  Waiting task(receive(ends.second));
  {
    const mpsc::Sender<int> last = ends.first;
    { const auto dropped = std::move(ends.first); }
    EXPECT_FALSE(task.is_woken());
    EXPECT_FALSE(ends.second.is_drained());
  }
  EXPECT_TRUE(task.is_woken());
  EXPECT_TRUE(ends.second.is_drained());
  EXPECT_EQ(task.finish(), std::nullopt);
}

TEST(Mpsc, what_is_queued_is_received_after_the_senders_are_gone) {
  auto ends = mpsc::unbounded_channel<int>();
  EXPECT_TRUE(ends.first.send(1));
  { const auto dropped = std::move(ends.first); }
  EXPECT_FALSE(ends.second.is_drained());
  HandPolled first(receive(ends.second));
  HandPolled second(receive(ends.second));
  EXPECT_EQ(first.finish(), 1);
  EXPECT_EQ(second.finish(), std::nullopt);
}

TEST(Mpsc, senders_are_counted_through_copies_moves_and_assignments) {
  auto ends = mpsc::channel<int>(1);
  auto other = mpsc::channel<int>(1);
  {
    mpsc::Sender<int> copy = ends.first;
    const mpsc::Sender<int> moved = std::move(copy);
    mpsc::Sender<int> assigned = other.first;
    assigned = moved;
    ends.first = std::move(assigned);
    other.first = ends.first;
    EXPECT_TRUE(other.second.is_drained());
    other.first = mpsc::Sender<int>(moved);
  }
  EXPECT_FALSE(ends.second.is_drained());
  { const auto dropped = std::move(ends.first); }
  EXPECT_FALSE(ends.second.is_drained());
  { const auto dropped = std::move(other.first); }
  EXPECT_TRUE(ends.second.is_drained());
}

TEST(Mpsc, a_sender_that_was_moved_from_may_be_copied) {
  auto ends = mpsc::channel<int>(1);
  {
    const mpsc::Sender<int> moved = std::move(ends.first);
    const mpsc::Sender<int> copy = ends.first;  // NOLINT(bugprone-use-after-move)
    EXPECT_FALSE(ends.second.is_drained());
  }
  EXPECT_TRUE(ends.second.is_drained());
}

TEST(Mpsc, assigning_over_a_receiver_drops_what_it_was) {
  const NothingLeaks check;
  auto one = mpsc::channel<Counted>(1);
  auto other = mpsc::channel<Counted>(1);
  EXPECT_EQ(try_send(one.first, 1), TrySend::sent);
  EXPECT_EQ(try_send(other.first, 2), TrySend::sent);
  one.second = std::move(other.second);
  EXPECT_TRUE(one.first.is_closed());
  EXPECT_FALSE(other.first.is_closed());
  mpsc::Receiver<Counted>& itself = one.second;
  one.second = std::move(itself);
  EXPECT_EQ(next_number(one.second), 2);
}

TEST(Mpsc, dropping_the_receiver_destroys_what_is_queued_and_fails_sends) {
  const NothingLeaks check;
  auto ends = mpsc::channel<Counted>(1);
  EXPECT_EQ(try_send(ends.first, 1), TrySend::sent);
  Waiting waits(send(ends.first, Counted(2)));
  const int living = Counted::living();
  EXPECT_FALSE(ends.first.is_closed());
  { const auto dropped = std::move(ends.second); }
  EXPECT_EQ(Counted::living(), living - 1);  // the queued one; the waiting one is its sender's
  EXPECT_TRUE(ends.first.is_closed());
  EXPECT_TRUE(waits.resumes());
  EXPECT_FALSE(waits.result());
  EXPECT_EQ(try_send(ends.first, 3), TrySend::closed);
  EXPECT_FALSE(HandPolled(send(ends.first, Counted(4))).finish());
}

TEST(Mpsc, unbounded_send_fails_once_the_receiver_is_gone) {
  const NothingLeaks check;
  auto ends = mpsc::unbounded_channel<Counted>();
  EXPECT_TRUE(ends.first.send(Counted(1)));
  { const auto dropped = std::move(ends.second); }
  EXPECT_EQ(Counted::living(), 0);
  EXPECT_FALSE(ends.first.send(Counted(2)));
  EXPECT_TRUE(ends.first.is_closed());
}

TEST(Mpsc, ends_may_go_in_either_order) {
  const NothingLeaks check;
  {
    auto ends = mpsc::channel<Counted>(2);
    EXPECT_EQ(try_send(ends.first, 1), TrySend::sent);
    const auto sender = std::move(ends.first);
    const auto receiver = std::move(ends.second);
  }
  {
    auto ends = mpsc::channel<Counted>(2);
    EXPECT_EQ(try_send(ends.first, 1), TrySend::sent);
    const auto receiver = std::move(ends.second);
    const auto sender = std::move(ends.first);
  }
}

TEST(Mpsc, a_message_that_holds_a_sender_of_its_own_channel_leaks_nothing) {
  struct Letter {
    std::optional<mpsc::UnboundedSender<std::shared_ptr<Letter>>> reply;
    Counted counted;
  };
  const NothingLeaks check;
  auto ends = mpsc::unbounded_channel<std::shared_ptr<Letter>>();
  auto letter = std::make_shared<Letter>();
  letter->reply.emplace(ends.first);
  EXPECT_TRUE(ends.first.send(std::move(letter)));
}

TEST(Mpsc, close_ends_sends_and_keeps_what_is_queued) {
  const NothingLeaks check;
  auto ends = mpsc::channel<Counted>(1);
  EXPECT_EQ(try_send(ends.first, 1), TrySend::sent);
  Waiting waits(send(ends.first, Counted(2)));
  ends.second.close();
  EXPECT_TRUE(waits.resumes());
  EXPECT_FALSE(waits.result());
  EXPECT_TRUE(ends.first.is_closed());
  EXPECT_EQ(try_send(ends.first, 3), TrySend::closed);
  EXPECT_FALSE(ends.second.is_drained());
  EXPECT_EQ(next_number(ends.second), 1);
  EXPECT_TRUE(ends.second.is_drained());
  EXPECT_FALSE(HandPolled(receive(ends.second)).finish());
}

TEST(Mpsc, M5_close_ends_a_receive_in_another_branch_of_the_receiver_s_task) {
  auto ends = mpsc::channel<int>(1);
  HandPolled both([](mpsc::Receiver<int>& end) -> Task<bool> {
    const auto closes = [](mpsc::Receiver<int>& closed) -> Task<int> {
      co_await yield_now();
      closed.close();
      co_return 0;
    };
    const auto results = co_await join(receive(end), closes(end));
    co_return std::get<0>(results).has_value();
  }(ends.second));
  EXPECT_FALSE(both.poll());
  EXPECT_FALSE(both.poll());
  EXPECT_TRUE(both.resumes());
  EXPECT_FALSE(both.result());
}

TEST(Mpsc, M4_a_slot_granted_before_close_does_not_let_a_message_in_after_it) {
  const NothingLeaks check;
  auto ends = mpsc::channel<Counted>(1);
  EXPECT_EQ(try_send(ends.first, 1), TrySend::sent);
  Waiting waits(send(ends.first, Counted(2)));
  EXPECT_EQ(next_number(ends.second), 1);
  EXPECT_TRUE(waits.is_woken());
  ends.second.close();
  EXPECT_TRUE(ends.second.is_drained());
  EXPECT_FALSE(waits.finish());
  EXPECT_TRUE(ends.second.is_drained());
}

TEST(Mpsc, a_send_that_is_given_up_takes_no_room_and_sends_nothing) {
  const NothingLeaks check;
  auto ends = mpsc::channel<Counted>(1);
  EXPECT_EQ(try_send(ends.first, 1), TrySend::sent);
  Waiting first(send(ends.first, Counted(2)));
  Waiting second(send(ends.first, Counted(3)));
  first.drop();
  EXPECT_EQ(next_number(ends.second), 1);
  EXPECT_TRUE(second.poll());
  EXPECT_EQ(next_number(ends.second), 3);
  EXPECT_EQ(ends.first.room(), 1U);
}

TEST(Mpsc, M2_a_slot_granted_to_a_send_that_is_given_up_goes_to_the_next) {
  const NothingLeaks check;
  auto ends = mpsc::channel<Counted>(1);
  EXPECT_EQ(try_send(ends.first, 1), TrySend::sent);
  Waiting first(send(ends.first, Counted(2)));
  Waiting second(send(ends.first, Counted(3)));
  EXPECT_EQ(next_number(ends.second), 1);
  EXPECT_TRUE(first.is_woken());
  EXPECT_FALSE(second.is_woken());
  first.drop();
  EXPECT_TRUE(second.resumes());
  EXPECT_EQ(next_number(ends.second), 3);
}

TEST(Mpsc, M3_a_slot_granted_to_the_only_sender_and_given_up_is_free_again) {
  auto ends = mpsc::channel<int>(1);
  EXPECT_EQ(ends.first.try_send(1), TrySend::sent);
  Waiting waits(send(ends.first, 2));
  EXPECT_EQ(ends.second.try_recv(), 1);
  EXPECT_EQ(ends.first.room(), 0U);
  waits.drop();
  EXPECT_EQ(ends.first.room(), 1U);
  EXPECT_EQ(ends.first.try_send(3), TrySend::sent);
}

TEST(Mpsc, M6_a_receive_that_is_given_up_after_its_wake_leaves_the_message) {
  const NothingLeaks check;
  auto ends = mpsc::channel<Counted>(1);
  Waiting first(receive(ends.second));
  EXPECT_EQ(try_send(ends.first, 7), TrySend::sent);
  EXPECT_TRUE(first.is_woken());
  first.drop();
  EXPECT_EQ(HandPolled(receive(ends.second)).finish()->number(), 7);
}

TEST(Mpsc, a_receive_may_be_given_up_and_begun_by_another_task) {
  auto ends = mpsc::channel<int>(1);
  Waiting first(receive(ends.second));
  first.drop();
  Waiting second(receive(ends.second));
  EXPECT_EQ(ends.first.try_send(7), TrySend::sent);
  EXPECT_FALSE(first.is_woken());
  EXPECT_TRUE(second.resumes());
}

TEST(Mpsc, spurious_polls_change_nothing) {
  auto ends = mpsc::channel<int>(1);
  HandPolled receiving(receive(ends.second));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(receiving.poll());
  EXPECT_EQ(ends.first.try_send(1), TrySend::sent);
  EXPECT_TRUE(receiving.poll());
  EXPECT_EQ(ends.first.try_send(2), TrySend::sent);
  HandPolled sending(send(ends.first, 3));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(sending.poll());
  EXPECT_EQ(ends.second.try_recv(), 2);
  EXPECT_TRUE(sending.poll());
  EXPECT_EQ(ends.second.try_recv(), 3);
  EXPECT_EQ(ends.first.room(), 1U);
}

TEST(Mpsc, awaitables_that_are_never_awaited_do_nothing) {
  const NothingLeaks check;
  auto ends = mpsc::channel<Counted>(1);
  { const auto unsent = ends.first.send(Counted(1)); }
  { const auto unused = ends.second.recv(); }
  EXPECT_EQ(ends.first.room(), 1U);
  EXPECT_EQ(ends.second.size(), 0U);
}

TEST(Mpsc, a_receive_that_is_never_awaited_takes_no_wake_from_the_one_that_waits) {
  auto ends = mpsc::channel<int>(1);
  Waiting task(receive(ends.second));
  { const auto unused = ends.second.recv(); }
  EXPECT_EQ(ends.first.try_send(7), TrySend::sent);
  EXPECT_TRUE(task.resumes());
}

TEST(Mpsc, M3_a_send_takes_room_and_once_more_awaited_sends_nothing_more) {
  auto ends = mpsc::channel<int>(2);
  HandPolled sending([](const mpsc::Sender<int>& sender) -> Task<bool> {
    auto message = sender.send(1);
    const bool sent = co_await message;
    const bool still_sent = co_await message;
    co_return sent&& still_sent;
  }(ends.first));
  EXPECT_TRUE(sending.finish());
  EXPECT_EQ(ends.first.room(), 1U);
  EXPECT_EQ(ends.second.size(), 1U);
}

TEST(Mpsc, close_wakes_more_senders_than_fit_one_batch) {
  const NothingLeaks check;
  auto ends = mpsc::channel<Counted>(1);
  EXPECT_EQ(try_send(ends.first, 0), TrySend::sent);
  const auto tasks = tests::many_waiting([&] { return send(ends.first, Counted(1)); });
  ends.second.close();
  for (const auto& task : tasks) {
    EXPECT_TRUE(task->is_woken());
    EXPECT_TRUE(task->poll());
    EXPECT_FALSE(task->result());
  }
}

/// Throws when it is moved more than `moves` times.
struct Fragile {
  explicit Fragile(int moves) : moves_left(moves) {}
  Fragile(Fragile&& other) : moves_left(other.moves_left - 1) {
    if (moves_left < 0) throw std::runtime_error("moved too often");
  }
  int moves_left;
  Counted counted;
};

TEST(Mpsc, a_value_that_cannot_be_moved_takes_no_room) {
  const NothingLeaks check;
  auto ends = mpsc::channel<Fragile>(1);
  EXPECT_THROW(ends.first.try_send(Fragile(0)), std::runtime_error);
  EXPECT_EQ(ends.first.room(), 1U);
  EXPECT_EQ(ends.first.try_send(Fragile(1)), TrySend::sent);
  EXPECT_THROW(static_cast<void>(ends.second.try_recv()), std::runtime_error);
  EXPECT_EQ(ends.first.room(), 1U);
}

TEST(Mpsc, M2_a_slot_that_is_given_back_goes_to_a_send_that_has_begun_to_wait_for_it) {
  auto ends = mpsc::channel<Refuses>(1);
  HandPolled waits(send(ends.first, Refuses(nullptr)));
  const auto begin_to_wait = [&] { EXPECT_FALSE(waits.poll()); };
  EXPECT_THROW(ends.first.try_send(Refuses(begin_to_wait)), std::runtime_error);
  EXPECT_TRUE(waits.resumes());
  EXPECT_TRUE(waits.result());
}

/// Closes the channel when it is moved.
struct Closing {
  explicit Closing(mpsc::Receiver<Closing>& end) : receiver(&end) {}
  Closing(Closing&& other) noexcept : receiver(other.receiver) { receiver->close(); }
  mpsc::Receiver<Closing>* receiver;
  Counted counted;
};

TEST(Mpsc, M4_a_channel_that_is_closed_while_a_message_is_made_refuses_it) {
  const NothingLeaks check;
  auto ends = mpsc::channel<Closing>(1);
  EXPECT_EQ(ends.first.try_send(Closing(ends.second)), TrySend::closed);
  EXPECT_TRUE(ends.second.is_drained());
}

TEST(MpscDeathTest, a_bounded_channel_without_room_is_a_programming_error) {
  EXPECT_DEATH(static_cast<void>(mpsc::channel<int>(0)), "at least one");
  EXPECT_DEATH(static_cast<void>(mpsc::channel<int>(SIZE_MAX)), "fewer than SIZE_MAX");
}

TEST(MpscDeathTest, two_receives_at_a_time_are_a_programming_error) {
  EXPECT_DEATH(
      {
        auto ends = mpsc::channel<int>(1);
        HandPolled first(receive(ends.second));
        HandPolled second(receive(ends.second));
        first.poll();
        second.poll();
      },
      "one receive at a time");
}

TEST(MpscDeathTest, two_receives_in_one_task_are_a_programming_error) {
  EXPECT_DEATH(
      {
        auto ends = mpsc::channel<int>(1);
        HandPolled both([](mpsc::Receiver<int>& end) -> Task<> {
          co_await join(receive(end), receive(end));
        }(ends.second));
        both.poll();
      },
      "one receive at a time");
}

class MpscOn : public tests::OnEverySync {};
TASKBENCH_SYNC_ON_EVERY_SCHEDULER(MpscOn);

/// Knows its sender and its number in the sender's sequence. It has a constructor, as g++ 12
/// destroys the members of an aggregate twice when it is made in an awaited expression.
struct Letter {
  Letter(int sender, int number) : who(sender), counted(number) {}
  int who;
  Counted counted;
};

Task<> send_numbered(mpsc::Sender<Letter> sender, int who, int count) {
  for (int i = 0; i < count; ++i) {
    const bool sent = co_await sender.send(Letter(who, i));
    EXPECT_TRUE(sent);
  }
}

Task<> send_numbered_unbounded(mpsc::UnboundedSender<Letter> sender, int who, int count) {
  for (int i = 0; i < count; ++i) {
    EXPECT_TRUE(sender.send(Letter(who, i)));
    if (i % 32 == 0) co_await yield_now();
  }
}

/// Receives until the channel is drained; each sender's letters must be in order. Returns their
/// number.
Task<int> receive_ordered(mpsc::Receiver<Letter>& receiver, std::size_t senders) {
  std::vector<int> expected(senders, 0);
  int count = 0;
  for (;;) {
    const std::optional<Letter> letter = co_await receiver.recv();
    if (!letter) co_return count;
    const auto who = static_cast<std::size_t>(letter->who);
    EXPECT_EQ(letter->counted.number(), expected[who]++);
    ++count;
  }
}

TEST_P(MpscOn, every_message_of_many_senders_arrives_once_and_in_its_sender_s_order) {
  for (const std::size_t capacity : {1U, 2U, 100U}) {
    EXPECT_EQ(run([&]() -> Task<int> {
                auto ends = mpsc::channel<Letter>(capacity);
                for (int who = 0; who < 10; ++who) {
                  spawn(send_numbered(ends.first, who, 200)).detach();
                }
                { const auto dropped = std::move(ends.first); }
                co_return co_await receive_ordered(ends.second, 10);
              }),
              2000);
  }
}

TEST_P(MpscOn, every_message_of_an_unbounded_channel_arrives_once_and_in_order) {
  EXPECT_EQ(run([&]() -> Task<int> {
              auto ends = mpsc::unbounded_channel<Letter>();
              for (int who = 0; who < 10; ++who) {
                spawn(send_numbered_unbounded(ends.first, who, 500)).detach();
              }
              { const auto dropped = std::move(ends.first); }
              co_return co_await receive_ordered(ends.second, 10);
            }),
            5000);
}

TEST_P(MpscOn, plain_threads_and_other_runtimes_send_to_a_task) {
  Runtime one = build_runtime();
  Runtime other = build_runtime();
  auto bounded = mpsc::channel<Letter>(4);
  auto unbounded = mpsc::unbounded_channel<Letter>();
  std::thread plain([sender = unbounded.first] {
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(sender.send(Letter(0, i)));
  });
  std::thread driver([&other, sender = bounded.first]() mutable {
    other.block_on(send_numbered(std::move(sender), 0, 1000));
  });
  { const auto dropped = std::move(bounded.first); }
  { const auto dropped = std::move(unbounded.first); }
  EXPECT_EQ(one.block_on(receive_ordered(bounded.second, 1)), 1000);
  EXPECT_EQ(one.block_on(receive_ordered(unbounded.second, 1)), 1000);
  plain.join();
  driver.join();
}

TEST_P(MpscOn, the_end_of_a_runtime_drops_the_senders_that_its_tasks_held) {
  auto ends = mpsc::channel<Letter>(2);
  {
    Runtime runtime = build_runtime();
    for (int who = 0; who < 3; ++who) {
      runtime.spawn(send_numbered(ends.first, who, 10)).detach();
    }
    runtime.block_on(tests::let_others_wait());
  }
  { const auto dropped = std::move(ends.first); }
  int received = 0;
  while (ends.second.try_recv()) ++received;
  EXPECT_LE(received, 2);
  EXPECT_TRUE(ends.second.is_drained());
}

/// Sends until it is aborted or the receiver is gone; counts what is known to be sent.
Task<> send_on_and_on(mpsc::Sender<Letter> sender, int who, std::atomic<int>& sent) {
  for (int i = 0;; ++i) {
    const bool ok = co_await sender.send(Letter(who, i));
    if (!ok) co_return;
    sent.fetch_add(1);
  }
}

Task<int> receive_some(mpsc::Receiver<Letter>& receiver, std::atomic<int>& received) {
  for (;;) {
    const std::optional<Letter> letter = co_await receiver.recv();
    if (!letter) co_return 0;
    received.fetch_add(1);
  }
}

TEST_P(MpscOn, M3_M6_no_message_and_no_room_is_lost_when_both_sides_are_aborted) {
  run([&]() -> Task<> {
    std::mt19937 random(tests::test_seed());
    for (const tests::StressTime time; time.left();) {
      auto ends = mpsc::channel<Letter>(1 + random() % 3);
      std::atomic<int> sent{0};
      std::atomic<int> received{0};
      sync::JoinSet<> senders;
      std::vector<AbortHandle> handles;
      for (int who = 0; who < 6; ++who) {
        handles.push_back(senders.spawn(send_on_and_on(ends.first, who, sent)));
      }
      for (const AbortHandle& sender : handles) {
        JoinHandle<int> receiver = spawn(receive_some(ends.second, received));
        for (auto pause = random() % 4; pause > 0; --pause) co_await yield_now();
        sender.abort();
        receiver.abort();
        try {
          co_await receiver;
        } catch (const JoinError&) {
        }
      }
      while (auto sender = co_await senders.join_next()) EXPECT_TRUE(sender->is_cancelled());
      // All slots are free again, and what was sent but not received is still there.
      int left = 0;
      while (ends.second.try_recv()) ++left;
      EXPECT_EQ(sent.load(), received.load() + left);
      EXPECT_EQ(ends.first.room(), ends.first.capacity());
    }
  });
}

TEST_P(MpscOn, a_receiver_dropped_under_load_ends_all_senders) {
  run([&]() -> Task<> {
    std::mt19937 random(tests::test_seed());
    for (const tests::StressTime time; time.left();) {
      auto ends = mpsc::channel<Letter>(2);
      std::atomic<int> sent{0};
      sync::JoinSet<> senders;
      for (int who = 0; who < 6; ++who) senders.spawn(send_on_and_on(ends.first, who, sent));
      for (auto i = random() % 20; i > 0; --i) {
        const std::optional<Letter> letter = co_await ends.second.recv();
        EXPECT_TRUE(letter);
      }
      { const auto dropped = std::move(ends.second); }
      while (auto sender = co_await senders.join_next()) EXPECT_TRUE(sender->has_value());
    }
  });
}

}  // namespace
}  // namespace taskbench::rt
