// The local queue, its owner against thieves: no value is lost, duplicated or reordered, and no
// slot is read and written at once.
#include "runtime/queue/local_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

struct TwoSlots {
  static constexpr std::uint32_t kLocalQueueCapacity = 2;
};
struct FourSlots {
  static constexpr std::uint32_t kLocalQueueCapacity = 4;
};

/// Values taken by one thread, in the order in which it took them.
class Taken {
 public:
  void add(int value) { values_.push_back(value); }
  template <class Queue>
  bool pop(Queue& queue) {
    int value = 0;
    const bool found = queue.pop_front(value);
    if (found) add(value);
    return found;
  }
  template <class Queue>
  void drain(Queue& queue) {
    while (pop(queue)) continue;
  }
  [[nodiscard]] const std::vector<int>& values() const { return values_; }

 private:
  std::vector<int> values_;
};

void never(std::span<const int>) { mc::require(false, "no overflow"); }

/// Requires each of 1 to `count` exactly once.
void require_all(int count, std::initializer_list<const Taken*> parts) {
  std::vector<int> all;
  for (const Taken* part : parts) {
    all.insert(all.end(), part->values().begin(), part->values().end());
  }
  std::ranges::sort(all);
  mc::require(static_cast<int>(all.size()) == count, "as many values as were pushed");
  for (int i = 0; i < count; ++i) {
    mc::require(all[static_cast<std::size_t>(i)] == i + 1, "each value once");
  }
}

template <class Queue>
void steal(Queue& victim, Queue& own, Taken& taken) {
  const auto stolen = victim.steal_into(own);
  if (stolen.count > 0) taken.add(stolen.first);
  taken.drain(own);
}

/// Adds what a full queue moves out to `taken`.
auto into(Taken& taken) {
  return [&taken](std::span<const int> values) {
    for (const int value : values) taken.add(value);
  };
}

template <class Lock>
void push_and_pop_against_a_thief() {
  holds([] {
    using Queue = queue::LocalQueue<int, FourSlots, Lock>;
    Queue victim;
    Queue own;
    Taken by_owner;
    Taken by_thief;
    victim.push_back(1, never);
    victim.push_back(2, never);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    victim.push_back(3, never);
    by_owner.pop(victim);
    thief.join();
    by_owner.drain(victim);
    mc::sometimes("something is stolen", !by_thief.values().empty());
    if (std::is_same_v<Lock, base::BiasedLock>) {  // its thief does not wait for the owner
      mc::sometimes("nothing is stolen", by_thief.values().empty());
    }
    mc::require(std::ranges::is_sorted(by_owner.values()), "in order");
    mc::require(std::ranges::is_sorted(by_thief.values()), "in order");
    require_all(3, {&by_owner, &by_thief});
  });
}

TEST(LocalQueueModel, pushes_and_pops_against_a_thief) {
  push_and_pop_against_a_thief<base::BiasedLock>();
}

TEST(LocalQueueModel, pushes_and_pops_against_a_thief_under_an_even_lock) {
  push_and_pop_against_a_thief<base::EvenLock>();
}

TEST(LocalQueueModel, pushes_against_a_thief_that_takes_two) {
  holds([] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue victim;
    Queue own;
    Taken by_owner;
    Taken by_thief;
    victim.push_back(1, never);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    victim.push_back(2, never);
    victim.push_back(3, never);
    thief.join();
    by_owner.drain(victim);
    mc::sometimes("two are stolen", by_thief.values().size() == 2);
    require_all(3, {&by_owner, &by_thief});
  });
}

template <class Lock>
void overflow_against_a_thief() {
  holds([] {
    using Queue = queue::LocalQueue<int, TwoSlots, Lock>;
    Queue victim;
    Queue own;
    Taken by_owner;
    Taken by_thief;
    Taken overflown;
    const auto overflow = into(overflown);
    victim.push_back(1, overflow);
    victim.push_back(2, overflow);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    victim.push_back(3, overflow);
    thief.join();
    by_owner.drain(victim);
    mc::sometimes("half overflows", overflown.values().size() == 2);
    mc::sometimes("the thief has made room", overflown.values().empty());
    require_all(3, {&by_owner, &by_thief, &overflown});
  });
}

TEST(LocalQueueModel, overflow_against_a_thief) { overflow_against_a_thief<base::BiasedLock>(); }

TEST(LocalQueueModel, overflow_against_a_thief_under_an_even_lock) {
  overflow_against_a_thief<base::EvenLock>();
}

/// `push` pushes a value into a queue that a thief may have emptied, and takes what overflows.
template <class Push>
void push_into_what_a_thief_has_emptied(const Push& push) {
  holds([&push] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue victim;
    Queue own;
    Taken by_owner;
    Taken by_thief;
    Taken overflown;
    for (const int value : {1, 2, 3, 4}) victim.push_back(value, never);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    for (const int value : {5, 6}) push(victim, value, into(overflown));
    thief.join();
    by_owner.drain(victim);
    mc::sometimes("it overflows", !overflown.values().empty());
    mc::sometimes("no overflow", overflown.values().empty());
    require_all(6, {&by_owner, &by_thief, &overflown});
  });
}

TEST(LocalQueueModel, pushes_into_what_a_thief_has_emptied) {
  push_into_what_a_thief_has_emptied(
      [](auto& queue, int value, auto overflow) { queue.push_back(value, overflow); });
}

TEST(LocalQueueModel, pushes_behind_others_into_what_a_thief_has_emptied) {
  push_into_what_a_thief_has_emptied([](auto& queue, int value, auto overflow) {
    mc::require(queue.push_behind(value, overflow), "it is not empty");
  });
}

/// The owner puts each value behind the others and takes the oldest instead, against a thief.
template <class Slots>
void rotates_against_a_thief(int others) {
  holds([others] {
    using Queue = queue::LocalQueue<int, Slots>;
    Queue victim;
    Queue own;
    Taken by_owner;
    Taken by_thief;
    for (int value = 1; value <= others; ++value) victim.push_back(value, never);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    for (const int value : {others + 1, others + 2}) {
      int each = value;
      const bool was_behind = victim.rotate(each, [](int) {});
      mc::require(was_behind == (each != value), "another comes out, or the same is left");
      by_owner.add(each);
    }
    thief.join();
    mc::sometimes("something is stolen", !by_thief.values().empty());
    by_owner.drain(victim);
    mc::require(std::ranges::is_sorted(by_owner.values()), "in order");
    mc::require(std::ranges::is_sorted(by_thief.values()), "in order");
    require_all(others + 2, {&by_owner, &by_thief});
  });
}

TEST(LocalQueueModel, rotates_against_a_thief) { rotates_against_a_thief<FourSlots>(2); }

TEST(LocalQueueModel, rotates_though_it_is_full_against_a_thief) {
  rotates_against_a_thief<TwoSlots>(2);
}

TEST(LocalQueueModel, rotates_what_a_thief_leaves) { rotates_against_a_thief<FourSlots>(1); }

TEST(LocalQueueModel, never_looks_empty_while_it_rotates) {
  holds([] {
    queue::LocalQueue<int, TwoSlots> queue;
    queue.push_back(1, never);
    base::Thread other([&] { mc::require(!queue.looks_empty(), "one is there at all times"); });
    int value = 2;
    mc::require(queue.rotate(value, [](int) {}), "one is there");
    other.join();
  });
}

/// The owner takes `pops` values from the back, and pushes another after the first, against a
/// thief.
void pops_from_the_back_against_a_thief(int values, int pops) {
  holds([values, pops] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue victim(UINT32_MAX);
    Queue own;
    Taken by_owner;
    Taken by_thief;
    for (int value = 1; value <= values; ++value) victim.push_back(value, never);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    bool pushed = false;
    for (int i = 0; i < pops; ++i) {
      int value = 0;
      const bool found = victim.pop_back(value);
      mc::require(found || i > 0 || values == 1, "a thief leaves half of them");
      if (found) by_owner.add(value);
      if (!std::exchange(pushed, true)) victim.push_back(values + 1, never);
    }
    thief.join();
    mc::sometimes("something is stolen", !by_thief.values().empty());
    mc::sometimes("nothing is stolen", by_thief.values().empty());
    mc::require(std::ranges::is_sorted(by_thief.values()), "thieves take the oldest, in order");
    by_owner.drain(victim);
    require_all(values + 1, {&by_owner, &by_thief});
  });
}

TEST(LocalQueueModel, pops_from_the_back_against_a_thief) {
  pops_from_the_back_against_a_thief(3, 1);
}

TEST(LocalQueueModel, pops_the_last_from_the_back_against_a_thief) {
  pops_from_the_back_against_a_thief(1, 2);
}

TEST(LocalQueueModel, never_looks_empty_while_it_is_popped_from_the_back) {
  holds([] {
    queue::LocalQueue<int, TwoSlots> queue;
    queue.push_back(1, never);
    base::Thread other([&] { mc::require(!queue.looks_empty(), "one is there at all times"); });
    int value = 0;
    queue.push_back(2, never);
    mc::require(queue.pop_front(value) && value == 1, "the oldest");
    queue.push_back(3, never);
    mc::require(queue.pop_back(value) && value == 3, "the newest");
    other.join();
  });
}

TEST(LocalQueueModel, never_looks_empty_while_it_is_robbed_and_popped_from_the_back) {
  holds([] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue victim;
    Queue own;
    Taken by_thief;
    for (const int value : {1, 2, 3, 4}) victim.push_back(value, never);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    base::Thread other([&] {
      const std::uint32_t size = victim.size();
      mc::require(size >= 1 && size <= 4, "one is there at all times");
    });
    int value = 0;
    mc::require(victim.pop_back(value) && value == 4, "the newest");
    thief.join();
    other.join();
    mc::sometimes("two are stolen", by_thief.values().size() == 2);
  });
}

TEST(LocalQueueModel, positions_that_wrap_around_while_it_overflows) {
  holds([] {
    using Queue = queue::LocalQueue<int, TwoSlots>;
    Queue victim(UINT32_MAX);
    Queue own(UINT16_MAX);
    Taken by_owner;
    Taken by_thief;
    Taken overflown;
    const auto overflow = into(overflown);
    victim.push_back(1, overflow);
    victim.push_back(2, overflow);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    victim.push_back(3, overflow);
    thief.join();
    by_owner.drain(victim);
    require_all(3, {&by_owner, &by_thief, &overflown});
  });
}

TEST(LocalQueueModel, two_thieves) {
  holds([] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue victim;
    Queue own[2];
    Taken by_owner;
    Taken by_thief[2];
    victim.push_back(1, never);
    victim.push_back(2, never);
    base::Thread first([&] { steal(victim, own[0], by_thief[0]); });
    base::Thread second([&] { steal(victim, own[1], by_thief[1]); });
    first.join();
    second.join();
    by_owner.drain(victim);
    mc::sometimes("both steal", !by_thief[0].values().empty() && !by_thief[1].values().empty());
    require_all(2, {&by_owner, &by_thief[0], &by_thief[1]});
  });
}

TEST(LocalQueueModel, pops_against_a_thief_that_comes_again) {
  holds([] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue victim;
    Queue own;
    Taken by_owner;
    Taken by_thief;
    for (const int value : {1, 2, 3}) victim.push_back(value, never);
    base::Thread thief([&] {
      steal(victim, own, by_thief);
      steal(victim, own, by_thief);
    });
    by_owner.pop(victim);
    thief.join();
    by_owner.drain(victim);
    require_all(3, {&by_owner, &by_thief});
  });
}

TEST(LocalQueueModel, overflow_and_pop_against_a_thief) {
  holds([] {
    using Queue = queue::LocalQueue<int, TwoSlots>;
    Queue victim;
    Queue own;
    Taken by_owner;
    Taken by_thief;
    Taken overflown;
    const auto overflow = into(overflown);
    victim.push_back(1, overflow);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    victim.push_back(2, overflow);
    victim.push_back(3, overflow);
    by_owner.pop(victim);
    thief.join();
    by_owner.drain(victim);
    mc::sometimes("half overflows", overflown.values().size() == 2);
    require_all(3, {&by_owner, &by_thief, &overflown});
  });
}

TEST(LocalQueueModel, a_thief_is_robbed_while_it_steals) {
  holds([] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue queues[3];
    Taken taken[3];
    for (const int value : {1, 2, 3, 4}) queues[0].push_back(value, never);
    base::Thread first([&] {
      const auto stolen = queues[0].steal_into(queues[1]);
      if (stolen.count > 0) taken[1].add(stolen.first);
    });
    base::Thread second([&] { steal(queues[1], queues[2], taken[2]); });
    first.join();
    second.join();
    taken[1].drain(queues[1]);
    taken[0].drain(queues[0]);
    mc::sometimes("the second robs the first", !taken[2].values().empty());
    require_all(4, {&taken[0], &taken[1], &taken[2]});
  });
}

TEST(LocalQueueModel, a_batch_goes_where_a_thief_made_room) {
  holds([] {
    using Queue = queue::LocalQueue<int, TwoSlots>;
    Queue victim;
    Queue own;
    Taken by_owner;
    Taken by_thief;
    victim.push_back(1, never);
    victim.push_back(2, never);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    const std::array<int, 1> more{3};
    const bool has_room = victim.free_slots() > 0;
    if (has_room) victim.push_batch(more);
    thief.join();
    by_owner.drain(victim);
    mc::sometimes("room", has_room);
    require_all(has_room ? 3 : 2, {&by_owner, &by_thief});
  });
}

TEST(LocalQueueModel, a_batch_against_a_thief) {
  holds([] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue victim;
    Queue own;
    Taken by_owner;
    Taken by_thief;
    base::Thread thief([&] { steal(victim, own, by_thief); });
    const std::array<int, 3> batch{1, 2, 3};
    victim.push_batch(batch);
    thief.join();
    by_owner.drain(victim);
    mc::sometimes("two are stolen", by_thief.values().size() == 2);
    require_all(3, {&by_owner, &by_thief});
  });
}

TEST(LocalQueueModel, a_queue_that_is_never_empty_does_not_look_so_while_its_owner_pops) {
  holds([] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue queue;
    Taken taken;
    queue.push_back(1, never);
    base::Thread other([&] { mc::require(!queue.looks_empty(), "it has one at least"); });
    queue.push_back(2, never);
    taken.pop(queue);
    other.join();
  });
}

TEST(LocalQueueModel, a_queue_that_is_never_empty_does_not_look_so_while_it_overflows) {
  holds([] {
    using Queue = queue::LocalQueue<int, TwoSlots>;
    Queue queue;
    const auto overflow = [](std::span<const int>) {};
    queue.push_back(1, overflow);
    base::Thread other([&] { mc::require(!queue.looks_empty(), "it has one at least"); });
    queue.push_back(2, overflow);
    queue.push_back(3, overflow);
    other.join();
  });
}

TEST(LocalQueueModel, a_queue_that_is_never_empty_does_not_look_so_while_it_is_robbed) {
  holds([] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue victim;
    Queue own;
    Taken by_thief;
    victim.push_back(1, never);
    base::Thread thief([&] {
      if (victim.size() < 2) return;  // or it would take the only value
      steal(victim, own, by_thief);
    });
    base::Thread other([&] { mc::require(!victim.looks_empty(), "it has one at least"); });
    victim.push_back(2, never);
    thief.join();
    other.join();
    mc::sometimes("robbed", !by_thief.values().empty());
  });
}

TEST(LocalQueueModel, pops_one_after_the_other_against_a_thief) {
  holds([] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue victim;
    Queue own;
    Taken by_owner;
    Taken by_thief;
    for (const int value : {1, 2, 3}) victim.push_back(value, never);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    by_owner.pop(victim);
    by_owner.pop(victim);
    thief.join();
    by_owner.drain(victim);
    require_all(3, {&by_owner, &by_thief});
  });
}

TEST(LocalQueueModel, positions_that_wrap_around) {
  holds([] {
    using Queue = queue::LocalQueue<int, TwoSlots>;
    Queue victim(UINT32_MAX);
    Queue own(UINT32_MAX - 1);
    Taken by_owner;
    Taken by_thief;
    Taken overflown;
    const auto overflow = into(overflown);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    victim.push_back(1, overflow);
    victim.push_back(2, overflow);
    by_owner.pop(victim);
    thief.join();
    by_owner.drain(victim);
    require_all(2, {&by_owner, &by_thief, &overflown});
  });
}

}  // namespace
}  // namespace taskbench::rt::model
