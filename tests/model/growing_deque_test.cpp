// The growing deque and the epochs that free its buffers: nothing is lost or taken twice, and
// nobody reads a freed buffer.
#include "runtime/queue/growing_deque.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "runtime/queue/epochs.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

using Deque = queue::GrowingDeque<int>;

struct Link {
  base::Cell<int> value{0};
};

TEST(EpochsModel, what_was_unlinked_is_freed_after_its_last_reader) {
  holds([] {
    queue::Epochs<std::unique_ptr<Link>> epochs(2);
    auto first = std::make_unique<Link>();
    auto second = std::make_unique<Link>();
    first->value.set(1);
    second->value.set(2);
    base::Atomic<Link*> link{first.get()};
    base::Thread reader([&] {
      epochs.pin(0);
      const int value = link.load(base::acquire)->value.get();
      epochs.unpin(0);
      epochs.pin(0);  // a second section, so that nobody may overlook the first
      epochs.unpin(0);
      mc::require(value == 1 || value == 2, "one of the two");
      mc::sometimes("the old one", value == 1);
      mc::sometimes("the new one", value == 2);
    });
    link.store(second.get(), base::release);
    epochs.defer(1, std::move(first));
    // Each defer advances the epoch if it may; the first value is freed here at the earliest.
    epochs.defer(1, nullptr);
    epochs.defer(1, nullptr);
    reader.join();
  });
}

TEST(EpochsModel, what_another_thread_lets_go_is_freed_after_its_last_reader) {
  holds(
      [] {
        queue::Epochs<std::unique_ptr<Link>> epochs(2);
        auto first = std::make_unique<Link>();
        auto second = std::make_unique<Link>();
        base::Atomic<Link*> link{first.get()};
        base::Thread reader([&] {
          epochs.pin(0);
          static_cast<void>(link.load(base::acquire)->value.get());
          epochs.unpin(0);
        });
        base::Thread advancer([&] {
          epochs.advance();
          epochs.advance();
        });
        link.store(second.get(), base::release);
        epochs.defer(1, std::move(first));
        epochs.defer(1, nullptr);
        reader.join();
        advancer.join();
      },
      {.preemptions = 2});
}

TEST(EpochsModel, frees_what_nobody_can_be_reading) {
  holds([] {
    queue::Epochs<std::shared_ptr<int>> epochs(2);
    auto first = std::make_shared<int>();
    auto second = std::make_shared<int>();
    const std::weak_ptr<int> first_seen = first;
    const std::weak_ptr<int> second_seen = second;

    epochs.pin(0);
    epochs.defer(1, std::move(first));
    epochs.defer(1, nullptr);
    epochs.defer(1, nullptr);
    mc::require(!first_seen.expired(), "kept while a reader from before is pinned");
    epochs.unpin(0);
    epochs.defer(1, nullptr);
    mc::require(first_seen.expired(), "freed with the second epoch after");

    epochs.pin(0);
    epochs.defer(1, std::move(second));
    mc::require(!second_seen.expired(), "kept for readers of its epoch");
    epochs.unpin(0);
    epochs.pin(0);
    epochs.defer(1, nullptr);
    mc::require(second_seen.expired(), "readers in the current epoch hold nobody up");
    epochs.unpin(0);
  });
}

void take(Deque& deque, std::size_t participant, std::vector<int>& taken) {
  int value = 0;
  if (deque.take(value, participant)) taken.push_back(value);
}

void require_each_once(std::vector<int> all, int count) {
  std::ranges::sort(all);
  mc::require(static_cast<int>(all.size()) == count, "as many as were pushed");
  for (int i = 0; i < count; ++i) {
    mc::require(all[static_cast<std::size_t>(i)] == i + 1, "each once");
  }
}

TEST(GrowingDequeModel, grows_against_a_thief) {
  holds(
      [] {
        Deque::Domain epochs(2);
        Deque deque(1, epochs, 0);
        std::vector<int> stolen;
        std::vector<int> own;
        deque.push(1);
        base::Thread thief([&] {
          take(deque, 1, stolen);
          take(deque, 1, stolen);
        });
        deque.push(2);
        deque.push(3);
        thief.join();
        for (int i = 0; i < 3; ++i) take(deque, 0, own);
        mc::sometimes("one is stolen", stolen.size() == 1);
        mc::sometimes("two are stolen", stolen.size() == 2);
        mc::require(std::ranges::is_sorted(stolen) && std::ranges::is_sorted(own), "in order");
        own.insert(own.end(), stolen.begin(), stolen.end());
        require_each_once(own, 3);
      },
      {.preemptions = 3});
}

TEST(GrowingDequeModel, the_owner_and_two_thieves_take) {
  holds(
      [] {
        Deque::Domain epochs(3);
        Deque deque(2, epochs, 0);
        std::vector<int> taken[3];
        deque.push(1);
        deque.push(2);
        base::Thread first([&] { take(deque, 1, taken[1]); });
        base::Thread second([&] { take(deque, 2, taken[2]); });
        take(deque, 0, taken[0]);
        first.join();
        second.join();
        for (int i = 0; i < 2; ++i) take(deque, 0, taken[0]);
        for (int i = 1; i < 3; ++i) {
          taken[0].insert(taken[0].end(), taken[i].begin(), taken[i].end());
        }
        require_each_once(taken[0], 2);
      },
      {.preemptions = 2});
}

}  // namespace
}  // namespace taskbench::rt::model
