// Channels, locks and notifications between two threads, each of which polls one task.
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "runtime/sync/mpsc.hpp"
#include "runtime/sync/mutex.hpp"
#include "runtime/sync/notify.hpp"
#include "runtime/sync/oneshot.hpp"
#include "runtime/sync/semaphore.hpp"
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

TEST(SemaphoreModel, closing_wakes_who_waits) {
  holds([] {
    sync::Semaphore semaphore(0);
    base::Thread other([&] { semaphore.close(); });
    mc::require(run_here(takes(semaphore, 1)) == 0, "no permit");
    other.join();
  });
}

}  // namespace
}  // namespace taskbench::rt::model
