// The local queue, its owner against thieves: no value is lost, none comes twice, none out of
// order, and no slot is read and written at once.
#include "runtime/queue/local_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
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

/// Values that were taken, each in the order in which one thread took them.
class Taken {
 public:
  void add(int value) { values_.push_back(value); }
  template <class Queue>
  void drain(Queue& queue) {
    for (int value = 0; queue.pop_front(value);) add(value);
  }
  [[nodiscard]] const std::vector<int>& values() const { return values_; }

 private:
  std::vector<int> values_;
};

/// Each of 1 to `count` exactly once.
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

TEST(LocalQueueModel, pushes_and_pops_against_a_thief) {
  holds([] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue victim;
    Queue own;
    Taken by_owner;
    Taken by_thief;
    const auto never = [](std::span<const int>) { mc::require(false, "no overflow"); };
    victim.push_back(1, never);
    victim.push_back(2, never);
    base::Thread thief([&] { steal(victim, own, by_thief); });
    victim.push_back(3, never);
    int value = 0;
    if (victim.pop_front(value)) by_owner.add(value);
    thief.join();
    by_owner.drain(victim);
    mc::sometimes("something is stolen", !by_thief.values().empty());
    mc::sometimes("nothing is stolen", by_thief.values().empty());
    mc::require(std::ranges::is_sorted(by_owner.values()), "in order");
    mc::require(std::ranges::is_sorted(by_thief.values()), "in order");
    require_all(3, {&by_owner, &by_thief});
  });
}

TEST(LocalQueueModel, overflow_against_a_thief) {
  holds([] {
    using Queue = queue::LocalQueue<int, TwoSlots>;
    Queue victim;
    Queue own;
    Taken by_owner;
    Taken by_thief;
    Taken overflown;
    const auto overflow = [&](std::span<const int> values) {
      for (const int value : values) overflown.add(value);
    };
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

TEST(LocalQueueModel, two_thieves) {
  holds([] {
    using Queue = queue::LocalQueue<int, FourSlots>;
    Queue victim;
    Queue own[2];
    Taken by_owner;
    Taken by_thief[2];
    const auto never = [](std::span<const int>) { mc::require(false, "no overflow"); };
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

TEST(LocalQueueModel, positions_that_wrap_around) {
  holds([] {
    using Queue = queue::LocalQueue<int, TwoSlots>;
    Queue victim(UINT32_MAX);
    Queue own(UINT32_MAX - 1);
    Taken by_owner;
    Taken by_thief;
    Taken overflown;
    const auto overflow = [&](std::span<const int> values) {
      for (const int value : values) overflown.add(value);
    };
    base::Thread thief([&] { steal(victim, own, by_thief); });
    victim.push_back(1, overflow);
    victim.push_back(2, overflow);
    int value = 0;
    if (victim.pop_front(value)) by_owner.add(value);
    thief.join();
    by_owner.drain(victim);
    require_all(2, {&by_owner, &by_thief, &overflown});
  });
}

}  // namespace
}  // namespace taskbench::rt::model
