// Channels, locks and notifications between two threads, each of which polls one task.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/sync/cancellation.hpp"
#include "runtime/sync/join_set.hpp"
#include "runtime/sync/mpsc.hpp"
#include "runtime/sync/mutex.hpp"
#include "runtime/sync/notify.hpp"
#include "runtime/sync/oneshot.hpp"
#include "runtime/sync/semaphore.hpp"
#include "runtime/task/join.hpp"
#include "runtime/task/select.hpp"
#include "tests/model/on_a_thread.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

Task<std::optional<int>> received(sync::oneshot::Receiver<int> receiver) {
  co_return co_await std::move(receiver);
}

TEST(OneshotModel, a_value_that_is_sent_is_received) {
  holds([] {
    auto [sender, receiver] = sync::oneshot::channel<int>();
    base::Thread other([sender = std::move(sender)]() mutable {
      mc::require(sender.send(7), "the receiver is there");
    });
    mc::require(run_here(received(std::move(receiver))) == 7, "the value");
    other.join();
  });
}

TEST(OneshotModel, a_sender_that_goes_is_seen) {
  holds([] {
    auto [sender, receiver] = sync::oneshot::channel<int>();
    base::Thread other([sender = std::move(sender)]() mutable {
      const sync::oneshot::Sender<int> gone = std::move(sender);
    });
    mc::require(run_here(received(std::move(receiver))) == std::nullopt, "no value");
    other.join();
  });
}

TEST(OneshotModel, a_receiver_that_goes_frees_what_was_sent) {
  holds([] {
    auto [sender, receiver] = sync::oneshot::channel<int*>();
    base::Thread other([sender = std::move(sender)]() mutable {
      const bool sent = sender.send(nullptr);
      mc::sometimes("sent", sent);
      mc::sometimes("not sent", !sent);
    });
    { const auto gone = std::move(receiver); }
    other.join();
  });
}

TEST(OneshotModel, both_ends_may_go_unused) {
  holds([] {
    auto [sender, receiver] = sync::oneshot::channel<int>();
    base::Thread other([sender = std::move(sender)]() mutable {
      const sync::oneshot::Sender<int> gone = std::move(sender);
    });
    { const auto gone = std::move(receiver); }
    other.join();
  });
}

/// A message that must be handed over, and freed once.
using Box = std::unique_ptr<base::Cell<int>>;
Box box(int value) { return std::make_unique<base::Cell<int>>(value); }

Task<int> value_of(sync::oneshot::Receiver<Box>& receiver) {
  const std::optional<Box> got = co_await receiver;
  co_return got.has_value() ? (*got)->get() : 0;
}

TEST(OneshotModel, a_receiver_that_waited_may_go_while_something_is_sent) {
  holds(
      [] {
        auto [sender, receiver] = sync::oneshot::channel<Box>();
        {
          const sync::oneshot::Receiver<Box> goes = std::move(receiver);
          mc::require(
              polled_and_given_up(value_of(const_cast<sync::oneshot::Receiver<Box>&>(goes))),
              "nothing was sent");
          base::Thread other([sender = std::move(sender)]() mutable {
            mc::sometimes("sent", sender.send(box(7)));
          });
          other.detach();
        }
      },
      kNoWeakFailures);
}

TEST(OneshotModel, a_receiver_may_wait_in_one_task_after_another) {
  holds(
      [] {
        auto [sender, receiver] = sync::oneshot::channel<Box>();
        mc::require(polled_and_given_up(value_of(receiver)), "nothing was sent");
        base::Thread other([sender = std::move(sender)]() mutable {
          mc::require(sender.send(box(7)), "the receiver is there");
        });
        mc::require(run_here(value_of(receiver)) == 7, "the value");
        other.join();
      },
      kNoWeakFailures);
}

Task<int> sum_of(sync::mpsc::Receiver<int> receiver) {
  int sum = 0;
  int last = 0;
  while (const std::optional<int> value = co_await receiver.recv()) {
    mc::require(*value > last, "in the order of the one sender");
    last = *value;
    sum += *value;
  }
  co_return sum;
}

TEST(MpscModel, values_come_in_order_and_then_the_end) {
  holds([] {
    auto [sender, receiver] = sync::mpsc::unbounded_channel<int>();
    base::Thread other([sender = std::move(sender)]() mutable {
      mc::require(sender.send(1), "open");
      mc::require(sender.send(2), "open");
      const auto gone = std::move(sender);
    });
    mc::require(run_here(sum_of(std::move(receiver))) == 3, "both, then the end");
    other.join();
  });
}

TEST(MpscModel, the_messages_of_each_of_two_senders_come_in_its_order) {
  holds([] {
    auto [sender, receiver] = sync::mpsc::unbounded_channel<int>();
    base::Thread other([sender] {
      (void)sender.send(1);
      (void)sender.send(2);
    });
    (void)sender.send(11);
    (void)sender.send(12);
    int last[2] = {0, 10};
    const auto take = [&] {
      const std::optional<int> value = receiver.try_recv();
      if (!value) return;
      int& before = last[*value / 10];
      mc::require(*value == before + 1, "in the order of its sender");
      before = *value;
    };
    take();
    other.join();
    mc::require(receiver.size() == static_cast<std::size_t>(14 - last[0] - last[1]),
                "exactly as many as were sent and not taken");
    while (receiver.size() > 0) take();
    mc::require(last[0] == 2 && last[1] == 12, "all");
  });
}

TEST(MpscModel, closing_against_sending) {
  holds([] {
    auto [sender, receiver] = sync::mpsc::unbounded_channel<Box>();
    base::Thread other([sender = std::move(sender)]() mutable {
      const auto gone = std::move(sender);
      const bool sent = gone.send(box(1));
      mc::sometimes("sent", sent);
      mc::sometimes("refused", !sent);
    });
    receiver.close();
    const std::optional<Box> got = receiver.try_recv();
    mc::sometimes("received", got.has_value());
    other.join();
    mc::require(receiver.is_drained(), "nothing comes after the close");
  });
}

TEST(MpscModel, the_receiver_goes_while_something_is_sent) {
  holds([] {
    auto [sender, receiver] = sync::mpsc::unbounded_channel<Box>();
    (void)sender.send(box(1));
    base::Thread other([sender = std::move(sender)]() mutable {
      const auto gone = std::move(sender);
      (void)gone.send(box(2));
    });
    { const auto gone = std::move(receiver); }
    other.join();
  });
}

TEST(MpscModel, closing_ends_a_send_that_waits) {
  holds(
      [] {
        auto [sender, receiver] = sync::mpsc::channel<int>(1);
        mc::require(sender.try_send(1) == sync::mpsc::TrySend::sent, "there is room");
        base::Thread other([sender = std::move(sender)]() mutable {
          const int sent = run_here([](sync::mpsc::Sender<int> out) -> Task<int> {
            const bool done = co_await out.send(2);
            co_return done ? 1 : 0;
          }(std::move(sender)));
          mc::require(sent == 0, "there was no room");
        });
        receiver.close();
        other.join();
        mc::require(receiver.try_recv() == 1, "what was sent");
      },
      kNoWeakFailures);
}

TEST(MpscModel, a_full_channel_holds_the_sender_back) {
  holds(
      [] {
        auto [sender, receiver] = sync::mpsc::channel<int>(1);
        base::Thread other([sender = std::move(sender)]() mutable {
          run_here([](sync::mpsc::Sender<int> out) -> Task<int> {
            (void)co_await out.send(1);
            (void)co_await out.send(2);
            co_return 0;
          }(std::move(sender)));
        });
        mc::require(run_here(sum_of(std::move(receiver))) == 3, "both, then the end");
        other.join();
      },
      {.preemptions = 2});
}

Task<int> next_of(sync::mpsc::Receiver<int>& receiver) {
  const std::optional<int> value = co_await receiver.recv();
  co_return value.value_or(0);
}

Task<int> sends(const sync::mpsc::Sender<int>& sender, int value) {
  const bool sent = co_await sender.send(value);
  co_return sent ? 1 : 0;
}

TEST(MpscModel, a_receive_that_is_given_up_leaves_the_message_to_the_next) {
  holds(
      [] {
        auto [sender, receiver] = sync::mpsc::channel<int>(1);
        base::Thread other([sender = std::move(sender)] {
          mc::require(sender.try_send(7) == sync::mpsc::TrySend::sent, "there is room");
        });
        const bool given_up = polled_and_given_up(next_of(receiver));
        mc::sometimes("given up", given_up);
        mc::require(!given_up || run_here_polled_twice(next_of(receiver)) == 7, "the message");
        other.join();
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(MpscModel, a_send_that_is_given_up_leaves_its_room_to_the_next) {
  holds(
      [] {
        auto [sender, receiver] = sync::mpsc::channel<int>(1);
        mc::require(sender.try_send(1) == sync::mpsc::TrySend::sent, "there is room");
        base::Thread other([sender = sender] {
          mc::sometimes("given up", polled_and_given_up(sends(sender, 2)));
        });
        mc::require(receiver.try_recv() == 1, "what was sent");
        other.join();
        mc::require(sender.room() + receiver.size() == 1, "free or taken");
      },
      kNoWeakFailures);
}

Task<int> increments(sync::Mutex& mutex, base::Cell<int>& count) {
  auto guard = co_await mutex.lock();
  count.set(count.get() + 1);
  co_return 0;
}

TEST(MutexModel, guards_plain_memory) {
  holds([] {
    sync::Mutex mutex;
    base::Cell<int> count{0};
    base::Thread other([&] { run_here(increments(mutex, count)); });
    run_here(increments(mutex, count));
    other.join();
    mc::require(count.get() == 2, "both have counted");
  });
}

Task<int> waits(sync::Notify& notify) {
  co_await notify.notified();
  co_return 0;
}

TEST(NotifyModel, a_notification_before_or_after_the_wait_ends_it) {
  holds([] {
    sync::Notify notify;
    base::Thread other([&] { notify.notify_one(); });
    run_here(waits(notify));
    other.join();
  });
}

Task<int> waits_and_passes_on(sync::Notify& notify, std::vector<int>& order, int number) {
  co_await notify.notified();
  order.push_back(number);
  notify.notify_one();
  co_return 0;
}

TEST(NotifyModel, either_of_two_who_wait_is_picked) {
  holds(
      [] {
        sync::Notify notify;
        std::vector<int> order;
        base::Thread first([&] { run_here(waits_and_passes_on(notify, order, 1)); });
        base::Thread second([&] { run_here(waits_and_passes_on(notify, order, 2)); });
        notify.notify_one();
        first.join();
        second.join();
        mc::sometimes("the first", order[0] == 1);
        mc::sometimes("the second", order[0] == 2);
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(NotifyModel, notify_waiters_ends_every_wait_that_was_asked_for_before) {
  holds(
      [] {
        sync::Notify notify;
        park::Parker asked;
        base::Thread other([&] {
          run_here([](sync::Notify& place, park::Parker& parker) -> Task<int> {
            auto notified = place.notified();
            (void)parker.unpark();
            co_await notified;
            co_return 0;
          }(notify, asked));
        });
        asked.park();
        notify.notify_waiters();
        other.join();
      },
      kNoWeakFailures);
}

TEST(NotifyModel, a_wait_that_is_given_up_passes_its_notification_on) {
  holds(
      [] {
        sync::Notify notify;
        base::Thread other([&] {
          if (!polled_and_given_up(waits(notify))) notify.notify_one();
        });
        base::Thread third([&] { notify.notify_one(); });
        run_here(waits(notify));
        other.join();
        third.join();
      },
      {.preemptions = 2, .weak_failures = 0});
}

/// More tasks wait than are woken at once, and the first to be woken polls the last.
TEST(NotifyModel, a_poll_before_its_wake_ends_the_wait) {
  holds([] {
    constexpr int kTasks = 34;
    sync::Notify notify;
    WhereWoken where[kTasks];
    std::vector<JoinHandle<int>> waiting;
    const auto waits_and_wakes_the_last = [](sync::Notify& place,
                                             std::vector<JoinHandle<int>>& all) -> Task<int> {
      co_await place.notified();
      task::wake_by_ref(all.back().header());
      mc::require(all.back().is_finished(), "it was polled");
      co_return 0;
    };
    for (int i = 0; i < kTasks; ++i) {
      auto task = i == 0 ? waits_and_wakes_the_last(notify, waiting) : waits(notify);
      task::Header* const header = std::move(task).release_for_spawn(&where[i]);
      waiting.emplace_back(header);
      where[i].schedule(header);
    }
    notify.notify_waiters();
    for (const JoinHandle<int>& each : waiting) mc::require(each.is_finished(), "all are woken");
  });
}

Task<int> takes(sync::Semaphore& semaphore, std::size_t count) {
  auto permit = co_await semaphore.acquire(count);
  co_return permit.has_value() ? 1 : 0;
}

TEST(SemaphoreModel, permits_that_are_added_wake_who_waits) {
  holds([] {
    sync::Semaphore semaphore(1);
    base::Thread other([&] { semaphore.add_permits(1); });
    mc::require(run_here(takes(semaphore, 2)) == 1, "two permits");
    other.join();
    mc::require(semaphore.available_permits() == 2, "given back");
  });
}

TEST(SemaphoreModel, a_wait_for_many_that_is_given_up_lets_the_next_have_what_there_is) {
  holds(
      [] {
        sync::Semaphore semaphore(1);
        base::Thread other([&] {
          mc::require(polled_and_given_up(takes(semaphore, 3)), "there are never three");
        });
        mc::require(run_here(takes(semaphore, 1)) == 1, "one");
        other.join();
        mc::require(semaphore.available_permits() == 1, "given back");
      },
      {.preemptions = 3, .weak_failures = 0});
}

TEST(SemaphoreModel, closing_wakes_who_waits) {
  holds([] {
    sync::Semaphore semaphore(0);
    base::Thread other([&] { semaphore.close(); });
    mc::require(run_here(takes(semaphore, 1)) == 0, "no permit");
    other.join();
  });
}

Task<int> cancelled(const CancellationToken& token, const base::Cell<int>& before) {
  co_await token.cancelled();
  co_return before.get();
}

/// A token that another thread cancels after a write.
struct CancelledElsewhere {
  const CancellationToken token;
  base::Cell<int> before{0};
  base::Thread other{[this] {
    before.set(1);
    token.cancel();
  }};
};

TEST(CancellationModel, whoever_waits_is_woken_and_sees_what_came_before) {
  holds([] {
    CancelledElsewhere its;
    mc::require(run_here(cancelled(its.token, its.before)) == 1, "written before");
    its.other.join();
  });
}

TEST(CancellationModel, asking_sees_what_came_before) {
  holds([] {
    CancelledElsewhere its;
    const bool asked = its.token.is_cancelled();
    mc::require(!asked || its.before.get() == 1, "written before");
    mc::sometimes("cancelled", asked);
    mc::sometimes("not yet", !asked);
    its.other.join();
  });
}

TEST(CancellationModel, a_wait_is_given_up_while_its_token_is_cancelled) {
  holds(
      [] {
        const CancellationToken token;
        const base::Cell<int> before{0};
        base::Thread other([&] { token.cancel(); });
        mc::sometimes("given up", polled_and_given_up(cancelled(token, before)));
        other.join();
        mc::require(token.is_cancelled(), "for good");
      },
      kNoWeakFailures);
}

TEST(CancellationModel, children_come_and_go_while_their_parent_is_cancelled) {
  holds(
      [] {
        const CancellationToken token;
        const base::Cell<int> before{0};
        base::Thread other([&] { token.cancel(); });
        CancellationToken last = token.child().child();
        mc::sometimes("not yet", !last.is_cancelled());
        run_here(cancelled(last, before));
        other.join();
      },
      {.preemptions = 3, .weak_failures = 0});
}

TEST(CancellationModel, a_child_goes_while_its_parent_is_cancelled) {
  holds([] {
    const CancellationToken token;
    std::optional<CancellationToken> child(token.child());
    base::Thread other([&] { token.cancel(); });
    child.reset();
    other.join();
  });
}

Task<int> both_received(sync::oneshot::Receiver<int> one, sync::oneshot::Receiver<int> two) {
  const auto [first, second] = co_await join(std::move(one), std::move(two));
  co_return *first + *second;
}

TEST(BranchesModel, are_woken_by_two_threads) {
  holds(
      [] {
        auto one = sync::oneshot::channel<int>();
        auto two = sync::oneshot::channel<int>();
        base::Thread first([&] { mc::require(one.first.send(1), "is awaited"); });
        base::Thread second([&] { mc::require(two.first.send(2), "is awaited"); });
        mc::require(run_here(both_received(std::move(one.second), std::move(two.second))) == 3,
                    "both");
        first.join();
        second.join();
      },
      {.preemptions = 2, .weak_failures = 0});
}

Task<int> received_or_cancelled(sync::oneshot::Receiver<int>& receiver,
                                const CancellationToken& token) {
  const auto result = co_await select(receiver, token.cancelled());
  co_return result.index() == 0 ? *std::get<0>(result) : 0;
}

TEST(BranchesModel, either_may_win_and_the_loser_leaves_nothing_behind) {
  holds(
      [] {
        auto ends = sync::oneshot::channel<int>();
        const CancellationToken token;
        base::Thread first([&] { mc::require(ends.first.send(1), "the receiver is there"); });
        base::Thread second([&] { token.cancel(); });
        const int got = run_here(received_or_cancelled(ends.second, token));
        mc::sometimes("received", got == 1);
        mc::sometimes("cancelled", got == 0);
        first.join();
        second.join();
      },
      {.preemptions = 2, .weak_failures = 0});
}

/// Lets a JoinSet spawn each task on a thread of its own.
class ThreadEach {
 public:
  ~ThreadEach() {
    for (base::Thread& thread : threads_) thread.join();
  }
  template <class T>
  JoinHandle<T> spawn(Task<T> task) {
    OnAThread& own = *polls_.emplace_back(std::make_unique<OnAThread>());
    task::Header* const header = std::move(task).release_for_spawn(&own);
    threads_.emplace_back([&own, header] { own.run(header); });
    return JoinHandle<T>(header);
  }

 private:
  std::vector<std::unique_ptr<OnAThread>> polls_;
  std::vector<base::Thread> threads_;
};

Task<int> gives(int value) { co_return value; }

Task<int> next_of(sync::JoinSet<int>& set) {
  auto result = co_await set.join_next();
  if (!result) co_return -1;
  co_return result->has_value() ? std::move(*result).get() : 0;
}

TEST(JoinSetModel, a_member_is_joined_when_it_ends) {
  holds(
      [] {
        ThreadEach threads;
        sync::JoinSet<int> set;
        set.spawn_on(threads, gives(1));
        mc::require(run_here(next_of(set)) == 1, "the member");
        mc::require(set.empty(), "joined");
      },
      {.preemptions = 3, .weak_failures = 0});
}

TEST(JoinSetModel, two_members_are_joined_in_the_order_in_which_they_end) {
  holds(
      [] {
        ThreadEach threads;
        sync::JoinSet<int> set;
        set.spawn_on(threads, gives(1));
        set.spawn_on(threads, gives(2));
        const int first = run_here(next_of(set));
        const int second = run_here(next_of(set));
        mc::sometimes("the first", first == 1);
        mc::sometimes("the second", first == 2);
        mc::require(first + second == 3, "both");
      },
      {.preemptions = 1, .weak_failures = 0});
}

TEST(JoinSetModel, a_wait_that_is_given_up_leaves_the_member_to_the_next) {
  holds(
      [] {
        ThreadEach threads;
        sync::JoinSet<int> set;
        set.spawn_on(threads, gives(1));
        const bool given_up = polled_and_given_up(next_of(set));
        mc::sometimes("given up", given_up);
        mc::require(given_up != set.empty(), "joined, or not yet");
        mc::require(!given_up || run_here_polled_twice(next_of(set)) == 1, "the member");
      },
      {.preemptions = 1, .weak_failures = 0, .stale = 0});
}

TEST(JoinSetModel, an_abort_of_all_comes_before_the_end_or_after_it) {
  holds(
      [] {
        ThreadEach threads;
        sync::JoinSet<int> set;
        set.spawn_on(threads, gives(1));
        set.abort_all();
        const int got = run_here(next_of(set));
        mc::sometimes("cancelled", got == 0);
        mc::sometimes("finished", got == 1);
      },
      {.preemptions = 2, .weak_failures = 0});
}

TEST(JoinSetModel, a_set_goes_while_its_members_end) {
  holds(
      [] {
        ThreadEach threads;
        sync::JoinSet<int> set;
        set.spawn_on(threads, gives(1));
      },
      kNoWeakFailures);
}

}  // namespace
}  // namespace taskbench::rt::model
