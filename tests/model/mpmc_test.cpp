// Mpmc channels between two to four threads, each of which polls one task. Numbers such as C2 are
// the invariants of mpmc_channel.hpp.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>

#include "runtime/sync/mpmc.hpp"
#include "tests/model/on_a_thread.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

namespace mpmc = sync::mpmc;

/// A message that must not be moved while another thread uses the same slot.
class Message {
 public:
  explicit Message(int number) : number_(number) {}
  Message(Message&& other) noexcept : number_(other.number_.get()) { other.number_.set(-1); }
  [[nodiscard]] int number() const { return number_.get(); }

 private:
  base::Cell<int> number_;
};

using Sender = mpmc::Sender<Message>;
using Receiver = mpmc::Receiver<Message>;

Task<int> sends(Sender sender, int number) {
  const bool sent = co_await sender.send(Message(number));
  co_return sent ? number : 0;
}

Task<int> sends_two(Sender sender) {
  (void)co_await sender.send(Message(1));
  (void)co_await sender.send(Message(2));
  co_return 0;
}

/// Returns the number of the message, or 0 if there was none.
Task<int> receives_from(const Receiver& receiver) {
  const std::optional<Message> message = co_await receiver.recv();
  co_return message ? message->number() : 0;
}
Task<int> receives(Receiver receiver) {
  const std::optional<Message> message = co_await receiver.recv();
  co_return message ? message->number() : 0;
}

Task<int> sum_of(Receiver receiver) {
  int sum = 0;
  for (;;) {
    const std::optional<Message> message = co_await receiver.recv();
    if (!message) break;
    sum += message->number();
  }
  co_return sum;
}

int received_now(const Receiver& receiver) {
  const std::optional<Message> message = receiver.try_recv();
  return message ? message->number() : 0;
}

TEST(MpmcModel, a_slot_is_used_again_once_it_is_empty) {
  holds([] {
    auto [sender, receiver] = mpmc::channel<Message>(1);
    base::Cell<int> sent{1};
    base::Thread other([sender, &sent] {
      mc::require(sender.try_send(Message(1)) == sync::TrySend::sent, "empty");
      if (sender.try_send(Message(2)) == sync::TrySend::sent) sent.set(3);
    });
    const int now = received_now(receiver) + received_now(receiver);
    other.join();
    mc::sometimes("in vain", now == 0);
    mc::sometimes("used again", now == 3);
    mc::require(now + received_now(receiver) == sent.get(), "each once");
  });
}

TEST(MpmcModel, two_senders_and_two_receivers_that_do_not_wait) {
  holds(
      [] {
        auto [sender, receiver] = mpmc::channel<Message>(2);
        base::Cell<int> sum{0};
        base::Thread first(
            [sender] { mc::require(sender.try_send(Message(1)) == sync::TrySend::sent, "room"); });
        base::Thread second(
            [sender] { mc::require(sender.try_send(Message(2)) == sync::TrySend::sent, "room"); });
        base::Thread third([receiver, &sum] { sum.set(received_now(receiver)); });
        const int here = received_now(receiver);
        first.join();
        second.join();
        third.join();
        const int now = here + sum.get();
        mc::sometimes("both received", now == 3);
        mc::require(now + received_now(receiver) + received_now(receiver) == 3, "each once");
      },
      {.preemptions = 1});
}

TEST(MpmcModel, a_full_channel_holds_the_sender_back) {
  holds(
      [] {
        auto [sender, receiver] = mpmc::channel<Message>(1);
        base::Thread other(
            [sender = std::move(sender)]() mutable { run_here(sends_two(std::move(sender))); });
        mc::require(run_here(sum_of(std::move(receiver))) == 3, "both, then the end");
        other.join();
      },
      {.preemptions = 2, .stale = 1});
}

TEST(MpmcModel, receivers_hear_of_the_end_one_from_the_other) {
  holds(
      [] {
        auto [sender, receiver] = mpmc::channel<Message>(1);
        base::Cell<int> sum{0};
        base::Thread other([receiver = receiver, &sum]() mutable {
          sum.set(run_here(sum_of(std::move(receiver))));
        });
        base::Thread third([sender = std::move(sender)]() mutable {
          mc::require(sender.try_send(Message(7)) == sync::TrySend::sent, "room");
          const auto gone = std::move(sender);
        });
        const int here = run_here(sum_of(std::move(receiver)));
        other.join();
        third.join();
        mc::sometimes("here", here == 7);
        mc::require(here + sum.get() == 7, "one of the two");
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 1});
}

/// C2: of two messages, the second may arrive first.
TEST(MpmcModel, two_senders_end_the_waits_of_two_receivers) {
  for (const std::size_t capacity : {1U, 2U}) {
    holds(
        [capacity] {
          auto [sender, receiver] = mpmc::channel<Message>(capacity);
          base::Cell<int> got{0};
          base::Thread first([sender] { run_here(sends(sender, 1)); });
          base::Thread second([sender] { run_here(sends(sender, 2)); });
          base::Thread other([receiver, &got] { got.set(run_here(receives(receiver))); });
          const int here = run_here(receives(receiver));
          first.join();
          second.join();
          other.join();
          mc::require(here + got.get() == 3, "both");
        },
        {.preemptions = 1, .weak_failures = 0, .stale = 1});
  }
}

TEST(MpmcModel, a_receive_that_is_given_up_leaves_its_message_to_the_next) {
  holds(
      [] {
        auto [sender, receiver] = mpmc::channel<Message>(1);
        base::Thread other(
            [receiver] { mc::sometimes("in time", polled_and_given_up(receives_from(receiver))); });
        base::Thread third([sender] {
          run_here(sends(sender, 1));
          run_here(sends(sender, 1));
        });
        mc::require(run_here(receives(receiver)) == 1, "the other has taken one at most");
        other.join();
        (void)received_now(receiver);
        third.join();
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 0});
}

TEST(MpmcModel, a_send_that_is_given_up_leaves_its_room_to_the_next) {
  holds(
      [] {
        auto [sender, receiver] = mpmc::channel<Message>(1);
        mc::require(sender.try_send(Message(1)) == sync::TrySend::sent, "room");
        base::Thread other(
            [sender] { mc::sometimes("in vain", polled_and_given_up(sends(sender, 2))); });
        base::Thread third([sender] { run_here(sends(sender, 3)); });
        int sum = 0;
        while (sum != 4 && sum != 6) sum += run_here(receives(receiver));
        other.join();
        third.join();
        (void)received_now(receiver);
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 0});
}

TEST(MpmcModel, closing_against_sending_and_receiving) {
  holds(
      [] {
        auto [sender, receiver] = mpmc::channel<Message>(1);
        base::Cell<int> sent{0};
        base::Thread other(
            [sender, &sent] { sent.set(run_here(sends(sender, 1)) + run_here(sends(sender, 2))); });
        receiver.close();
        const int got = run_here(sum_of(receiver));
        mc::sometimes("nothing", got == 0);
        mc::sometimes("something", got != 0);
        other.join();
        mc::require(got + received_now(receiver) == sent.get(), "what was sent, and no more");
        mc::require(receiver.is_drained(), "nothing comes after the close");
      },
      {.preemptions = 3, .weak_failures = 0, .stale = 1});
}

TEST(MpmcModel, the_end_of_the_senders_shows_what_they_did_before) {
  holds([] {
    auto [sender, receiver] = mpmc::channel<Message>(1);
    base::Cell<int> before{0};
    base::Thread other([sender = std::move(sender), &before]() mutable {
      before.set(1);
      const auto gone = std::move(sender);
    });
    const bool drained = receiver.is_drained();
    mc::sometimes("drained", drained);
    mc::require(!drained || before.get() == 1, "written before");
    other.join();
  });
}

TEST(MpmcModel, who_sees_that_it_is_closed_sees_what_came_before) {
  holds([] {
    auto [sender, receiver] = mpmc::channel<Message>(1);
    base::Cell<int> before{0};
    base::Thread other([receiver = receiver, &before] {
      before.set(1);
      receiver.close();
    });
    const bool closed = sender.is_closed();
    mc::sometimes("closed", closed);
    mc::require(!closed || before.get() == 1, "written before");
    other.join();
  });
}

TEST(MpmcModel, what_each_sender_did_comes_before_the_end_of_all) {
  holds([] {
    auto [sender, receiver] = mpmc::channel<Message>(1);
    base::Cell<int> before{0};
    base::Thread other([sender = sender, &before]() mutable {
      before.set(1);
      const auto gone = std::move(sender);
    });
    { const auto gone = std::move(sender); }
    mc::require(!receiver.is_drained() || before.get() == 1, "written before");
    other.join();
  });
}

/// Messages whose slot was claimed before the receiver leaves, and filled afterwards, are included.
TEST(MpmcModel, the_last_receiver_to_go_destroys_what_is_there) {
  holds(
      [] {
        auto [sender, receiver] = mpmc::channel<std::unique_ptr<Message>>(1);
        base::Thread other([sender = std::move(sender)] {
          const sync::TrySend sent = sender.try_send(std::make_unique<Message>(1));
          mc::sometimes("sent", sent == sync::TrySend::sent);
          mc::sometimes("refused", sent == sync::TrySend::closed);
        });
        { const auto gone = std::move(receiver); }
        other.join();
      },
      kNoWeakFailures);
}

/// A receiver that was woken in vain stays first in line, but does not hold up those that come
/// later.
TEST(MpmcModel, who_is_overtaken_is_first_and_holds_nobody_up) {
  holds(
      [] {
        auto [sender, receiver] = mpmc::channel<Message>(2);
        base::Cell<int> got{0};
        base::Thread other([receiver, &got] { got.set(run_here(receives(receiver))); });
        base::Thread third([sender] {
          run_here(sends(sender, 1));
          run_here(sends(sender, 2));
          run_here(sends(sender, 4));
        });
        const int first = received_now(receiver);
        const int second = run_here(receives(receiver));
        other.join();
        third.join();
        mc::sometimes("overtaken", first != 0 && got.get() > first);
        mc::require(first + second + got.get() + received_now(receiver) == 7, "each once");
      },
      {.preemptions = 2, .weak_failures = 0, .stale = 0});
}

}  // namespace
}  // namespace taskbench::rt::model
