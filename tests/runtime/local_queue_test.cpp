// The ring of a worker, filled with integers: order, wrap-around, overflow, stealing, and exact
// counts with several threads. The models explore every interleaving of the small cases.
#include "runtime/queue/local_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "runtime/base/random.hpp"

namespace taskbench::rt::queue {
namespace {

struct SmallLimits {
  static constexpr std::uint32_t kLocalQueueCapacity = 4;
};

using Queue = LocalQueue<int>;
using SmallQueue = LocalQueue<int, SmallLimits>;
constexpr int kCapacity = static_cast<int>(Queue::kCapacity);

/// Collects what overflows.
struct Sink {
  std::vector<int>* values;
  void operator()(std::span<const int> batch) const {
    values->insert(values->end(), batch.begin(), batch.end());
  }
};

template <class AnyQueue>
std::vector<int> pop_all(AnyQueue& queue) {
  std::vector<int> values;
  for (int value = 0; queue.pop_front(value);) values.push_back(value);
  return values;
}

std::vector<int> range(int first, int end) {
  std::vector<int> values(static_cast<std::size_t>(end - first));
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// Pushes first..end-1; nothing may overflow.
template <class AnyQueue>
void push_range(AnyQueue& queue, int first, int end) {
  for (int i = first; i < end; ++i) {
    ASSERT_TRUE(queue.push_back(i, [](std::span<const int>) { FAIL() << "overflow"; }));
  }
}

/// Positions from which the 32-bit counters wrap, or their sign bit changes, sooner or later.
class LocalQueueAt : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  Queue queue_{GetParam()};
  Queue other_{GetParam() * 7 + 3};
};

TEST_P(LocalQueueAt, is_empty_at_first) {
  int value = 0;
  EXPECT_FALSE(queue_.pop_front(value));
  EXPECT_TRUE(queue_.looks_empty());
  EXPECT_EQ(queue_.size(), 0U);
  EXPECT_EQ(queue_.free_slots(), Queue::kCapacity);
  EXPECT_EQ(queue_.steal_into(other_).count, 0U);
}

TEST_P(LocalQueueAt, ring_gives_back_in_order_what_was_pushed) {
  push_range(queue_, 0, kCapacity);
  EXPECT_EQ(queue_.size(), Queue::kCapacity);
  EXPECT_EQ(queue_.free_slots(), 0U);
  EXPECT_EQ(pop_all(queue_), range(0, kCapacity));
  EXPECT_TRUE(queue_.looks_empty());
}

TEST_P(LocalQueueAt, positions_wrap_around) {
  int value = 0;
  for (int i = 0; i < 5 * kCapacity; ++i) {
    push_range(queue_, i, i + 1);
    if (i % 3 == 2) continue;
    ASSERT_TRUE(queue_.pop_front(value));
    if (queue_.size() > Queue::kCapacity / 2) pop_all(queue_);
  }
  pop_all(queue_);
  push_range(queue_, 0, kCapacity);
  EXPECT_EQ(pop_all(queue_), range(0, kCapacity));
}

TEST_P(LocalQueueAt, full_queue_moves_half_of_itself_in_order) {
  push_range(queue_, 0, kCapacity);
  std::vector<int> overflow;
  EXPECT_FALSE(queue_.push_back(kCapacity, Sink{&overflow}));
  std::vector<int> expected = range(0, kCapacity / 2);
  expected.push_back(kCapacity);
  EXPECT_EQ(overflow, expected);
  EXPECT_EQ(queue_.size(), Queue::kCapacity / 2);
  EXPECT_EQ(pop_all(queue_), range(kCapacity / 2, kCapacity));
}

TEST_P(LocalQueueAt, overflows_again_after_another_half) {
  push_range(queue_, 0, kCapacity);
  std::vector<int> overflow;
  for (int round = 0; round < 10; ++round) {
    EXPECT_FALSE(queue_.push_back(-1, Sink{&overflow}));
    EXPECT_EQ(overflow.size(), static_cast<std::size_t>((round + 1) * (kCapacity / 2 + 1)));
    push_range(queue_, 0, kCapacity / 2);
  }
}

TEST_P(LocalQueueAt, steal_takes_half_in_one_go) {
  push_range(queue_, 0, 10);
  const Stolen<int> stolen = queue_.steal_into(other_);
  EXPECT_EQ(stolen.count, 5U);
  EXPECT_EQ(stolen.first, 0);
  EXPECT_EQ(pop_all(other_), range(1, 5));
  EXPECT_EQ(pop_all(queue_), range(5, 10));
}

TEST_P(LocalQueueAt, steal_rounds_up) {
  push_range(queue_, 0, 7);
  EXPECT_EQ(queue_.steal_into(other_).count, 4U);
  EXPECT_EQ(queue_.size(), 3U);
}

TEST_P(LocalQueueAt, steal_takes_the_only_one) {
  push_range(queue_, 42, 43);
  const Stolen<int> stolen = queue_.steal_into(other_);
  EXPECT_EQ(stolen.count, 1U);
  EXPECT_EQ(stolen.first, 42);
  EXPECT_TRUE(other_.looks_empty());
  EXPECT_TRUE(queue_.looks_empty());
}

TEST_P(LocalQueueAt, steals_half_of_a_full_queue_into_one_that_is_half_full) {
  push_range(queue_, 0, kCapacity);
  push_range(other_, 1000, 1000 + kCapacity / 2);
  const Stolen<int> stolen = queue_.steal_into(other_);
  EXPECT_EQ(stolen.count, Queue::kCapacity / 2);
  EXPECT_EQ(other_.size(), Queue::kCapacity - 1);
  std::vector<int> expected = range(1000, 1000 + kCapacity / 2);
  const std::vector<int> taken = range(1, kCapacity / 2);
  expected.insert(expected.end(), taken.begin(), taken.end());
  EXPECT_EQ(pop_all(other_), expected);
}

TEST_P(LocalQueueAt, steals_no_more_than_fits) {
  push_range(queue_, 0, kCapacity);
  push_range(other_, 1000, 1000 + kCapacity - 10);
  EXPECT_EQ(queue_.steal_into(other_).count, 10U);
  EXPECT_EQ(other_.size(), Queue::kCapacity - 1);
  push_range(other_, 0, 1);
  EXPECT_EQ(queue_.steal_into(other_).count, 0U);
  EXPECT_EQ(queue_.size(), Queue::kCapacity - 10);
}

TEST_P(LocalQueueAt, steals_no_more_than_the_limit) {
  push_range(queue_, 0, 100);
  const Stolen<int> stolen = queue_.steal_into(other_, 3);
  EXPECT_EQ(stolen.count, 3U);
  EXPECT_EQ(stolen.first, 0);
  EXPECT_EQ(pop_all(other_), range(1, 3));
  EXPECT_EQ(queue_.size(), 97U);
}

TEST_P(LocalQueueAt, takes_a_batch_up_to_its_free_slots) {
  push_range(queue_, 0, 100);
  const std::vector<int> batch = range(100, kCapacity);
  ASSERT_EQ(queue_.free_slots(), batch.size());
  queue_.push_batch(batch);
  EXPECT_EQ(queue_.free_slots(), 0U);
  EXPECT_EQ(pop_all(queue_), range(0, kCapacity));
  queue_.push_batch({});
  EXPECT_TRUE(queue_.looks_empty());
}

TEST_P(LocalQueueAt, names_what_is_popped_after_the_next) {
  std::vector<int> after_next;
  const auto pop = [&] {
    int value = 0;
    return queue_.pop_front(value, [&](int ahead) { after_next.push_back(ahead); }) ? value : -1;
  };
  EXPECT_EQ(pop(), -1);
  push_range(queue_, 5, 9);
  EXPECT_EQ(pop(), 5);
  EXPECT_EQ(pop(), 6);
  EXPECT_EQ(pop(), 7);
  EXPECT_EQ(pop(), 8);
  EXPECT_EQ(pop(), -1);
  EXPECT_EQ(after_next, (std::vector<int>{7, 8}));
}

TEST_P(LocalQueueAt, is_pushed_to_behind_others_only) {
  std::vector<int> overflowed;
  const Sink sink{&overflowed};
  EXPECT_FALSE(queue_.push_behind(1, sink));
  EXPECT_TRUE(queue_.looks_empty());
  push_range(queue_, 0, 1);
  for (int i = 1; i < kCapacity; ++i) EXPECT_TRUE(queue_.push_behind(i, sink));
  EXPECT_TRUE(overflowed.empty());
  EXPECT_TRUE(queue_.push_behind(kCapacity, sink)) << "half of it has gone elsewhere with it";
  std::vector<int> expected = range(0, kCapacity / 2);
  expected.push_back(kCapacity);
  EXPECT_EQ(overflowed, expected);
  EXPECT_EQ(pop_all(queue_), range(kCapacity / 2, kCapacity));
}

TEST_P(LocalQueueAt, gives_the_oldest_for_what_is_put_behind_the_others) {
  std::vector<int> after_next;
  const auto rotate = [&](int value) {
    return queue_.rotate(value, [&](int ahead) { after_next.push_back(ahead); }) ? value : -1;
  };
  EXPECT_EQ(rotate(1), -1);
  EXPECT_TRUE(queue_.looks_empty());
  push_range(queue_, 0, 1);
  EXPECT_EQ(rotate(1), 0);
  EXPECT_TRUE(after_next.empty());
  push_range(queue_, 2, 3);
  EXPECT_EQ(rotate(3), 1);
  EXPECT_EQ(rotate(4), 2);
  EXPECT_EQ(after_next, (std::vector<int>{3, 4})) << "the second of those that are left";
  Queue thief;
  EXPECT_EQ(queue_.steal_into(thief).first, 3) << "thieves may come in";
  EXPECT_EQ(pop_all(queue_), std::vector<int>{4});
}

TEST_P(LocalQueueAt, rotates_without_overflow_when_it_is_full) {
  push_range(queue_, 0, kCapacity);
  for (int i = 0; i < 2 * kCapacity; ++i) {
    int value = kCapacity + i;
    ASSERT_TRUE(queue_.rotate(value, [](int) {}));
    ASSERT_EQ(value, i);
  }
  EXPECT_EQ(queue_.size(), Queue::kCapacity);
  EXPECT_EQ(pop_all(queue_), range(2 * kCapacity, 3 * kCapacity));
}

TEST_P(LocalQueueAt, gives_the_newest_back) {
  int value = 0;
  EXPECT_FALSE(queue_.pop_back(value));
  push_range(queue_, 0, kCapacity);
  for (int i = kCapacity - 1; i >= 2; --i) {
    ASSERT_TRUE(queue_.pop_back(value));
    ASSERT_EQ(value, i);
  }
  EXPECT_EQ(queue_.size(), 2U);
  push_range(queue_, 2, 4);
  EXPECT_EQ(queue_.steal_into(other_).count, 2U) << "thieves may come in";
  ASSERT_TRUE(queue_.pop_back(value));
  EXPECT_EQ(value, 3);
  EXPECT_EQ(pop_all(queue_), std::vector<int>{2});
  EXPECT_FALSE(queue_.pop_back(value));
  EXPECT_TRUE(queue_.looks_empty());
}

TEST_P(LocalQueueAt, does_what_a_deque_does) {
  std::deque<int> reference;
  base::FastRandom random(GetParam());
  for (int i = 0; i < 40 * kCapacity; ++i) {
    int value = -1;
    const bool fills = i / (4 * kCapacity) % 2 == 0;
    const std::uint32_t choice = random.below(fills ? 9 : 5);
    switch (choice > 4 ? 0 : choice) {
      case 0:
      case 1:
        if (reference.size() == Queue::kCapacity) break;
        push_range(queue_, i, i + 1);
        reference.push_back(i);
        break;
      case 2:
        ASSERT_EQ(queue_.pop_front(value), !reference.empty());
        if (reference.empty()) break;
        ASSERT_EQ(value, reference.front());
        reference.pop_front();
        break;
      case 3:
        ASSERT_EQ(queue_.pop_back(value), !reference.empty());
        if (reference.empty()) break;
        ASSERT_EQ(value, reference.back());
        reference.pop_back();
        break;
      default:
        value = i;
        ASSERT_EQ(queue_.rotate(value, [](int) {}), !reference.empty());
        if (reference.empty()) break;
        ASSERT_EQ(value, reference.front());
        reference.pop_front();
        reference.push_back(i);
    }
    ASSERT_EQ(queue_.size(), reference.size());
  }
}

constexpr std::uint32_t kPositions[] = {0,
                                        1,
                                        Queue::kCapacity - 1,
                                        0x7fff'ffffU,
                                        0x8000'0000U - Queue::kCapacity / 2,
                                        0xffff'ffffU,
                                        0U - Queue::kCapacity / 2,
                                        0U - Queue::kCapacity - 1};
INSTANTIATE_TEST_SUITE_P(Positions, LocalQueueAt, ::testing::ValuesIn(kPositions));

TEST(LocalQueue, of_four_slots_keeps_the_same_rules) {
  SmallQueue queue(0xffff'fffeU);
  SmallQueue thief(3);
  push_range(queue, 0, 4);
  std::vector<int> overflow;
  EXPECT_FALSE(queue.push_back(4, Sink{&overflow}));
  EXPECT_EQ(overflow, (std::vector<int>{0, 1, 4}));
  push_range(queue, 5, 7);
  EXPECT_EQ(queue.steal_into(thief).count, 2U);
  EXPECT_EQ(pop_all(thief), std::vector<int>{3});
  EXPECT_EQ(pop_all(queue), (std::vector<int>{5, 6}));
}

/// A value whose copy can be delayed by the test: holds up a thief in the middle of a steal.
struct Slow {
  int value = 0;
  static inline std::atomic<bool> hold{false};
  static inline std::atomic<bool> held{false};
  static inline thread_local bool thief = false;

  Slow() = default;
  explicit Slow(int v) : value(v) {}
  Slow(const Slow& other) noexcept : value(other.value) { wait(); }
  Slow& operator=(const Slow& other) noexcept {
    value = other.value;
    wait();
    return *this;
  }

 private:
  static void wait() {
    if (!thief || !hold.load()) return;
    held.store(true);
    while (hold.load()) std::this_thread::yield();
  }
};

constexpr int kHeld = 100;

/// A thief has claimed half of the kHeld values in queue_ and is still copying them.
class WhileAThiefIsAtWork : public ::testing::Test {
 protected:
  WhileAThiefIsAtWork() {
    push(0, kHeld);
    Slow::held.store(false);
    Slow::hold.store(true);
    thief_ = std::thread([this] {
      Slow::thief = true;
      stolen_ = queue_.steal_into(loot_).count;
    });
    while (!Slow::held.load()) std::this_thread::yield();
  }
  ~WhileAThiefIsAtWork() override { release(); }

  void push(int first, int end) {
    for (int i = first; i < end; ++i) {
      EXPECT_TRUE(queue_.push_back(Slow(i), [](std::span<const Slow>) { FAIL(); }));
    }
  }
  /// Lets the thief finish.
  void release() {
    Slow::hold.store(false);
    if (thief_.joinable()) thief_.join();
  }

  LocalQueue<Slow> queue_{0U - 50U};
  LocalQueue<Slow> loot_;
  LocalQueue<Slow> second_;
  std::uint32_t stolen_ = 0;
  std::thread thief_;
};

TEST_F(WhileAThiefIsAtWork, the_owner_pushes_as_long_as_there_is_room) {
  push(kHeld, kCapacity);
  release();
  EXPECT_EQ(stolen_, static_cast<std::uint32_t>(kHeld / 2));
  EXPECT_EQ(loot_.size(), static_cast<std::uint32_t>(kHeld / 2 - 1));
  Slow out;
  for (int i = kHeld / 2; i < kCapacity; ++i) {
    ASSERT_TRUE(queue_.pop_front(out));
    ASSERT_EQ(out.value, i);
  }
  EXPECT_FALSE(queue_.pop_front(out));
}

TEST_F(WhileAThiefIsAtWork, the_owner_pops_none_of_what_the_thief_took) {
  std::atomic<int> popped{-1};
  // This thread hands its ownership to another one for a single pop.
  std::thread owner([&] {
    Slow out;
    EXPECT_TRUE(queue_.pop_front(out));
    popped.store(out.value);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  release();
  owner.join();
  EXPECT_EQ(popped.load(), kHeld / 2);
}

TEST_F(WhileAThiefIsAtWork, the_owner_overflows_none_of_what_the_thief_took) {
  push(kHeld, kCapacity);
  std::vector<int> overflow;
  std::atomic<bool> fitted{false};
  std::thread owner([&] {
    fitted.store(queue_.push_back(Slow(kCapacity), [&](std::span<const Slow> batch) {
      for (const Slow& slow : batch) overflow.push_back(slow.value);
    }));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  release();
  owner.join();
  EXPECT_EQ(fitted.load(), overflow.empty());
  EXPECT_EQ(stolen_ + overflow.size() + queue_.size(), static_cast<std::size_t>(kCapacity + 1));
  for (const int value : overflow) EXPECT_GE(value, kHeld / 2);
}

TEST_F(WhileAThiefIsAtWork, a_second_thief_takes_nothing) {
  EXPECT_EQ(queue_.steal_into(second_).count, 0U);
  EXPECT_TRUE(second_.looks_empty());
  release();
  EXPECT_EQ(queue_.steal_into(second_).count, static_cast<std::uint32_t>(kHeld / 4));
}

TEST_F(WhileAThiefIsAtWork, a_third_cannot_rob_the_thief_of_what_it_has_not_published) {
  EXPECT_EQ(loot_.steal_into(second_).count, 0U);
  release();
  EXPECT_GT(loot_.steal_into(second_).count, 0U);
}

/// What all threads took: exactly the values that were pushed, each once.
class Ledger {
 public:
  explicit Ledger(int values) : seen_(static_cast<std::size_t>(values)) {}
  void take(int value) { seen_[static_cast<std::size_t>(value)].fetch_add(1); }
  void expect_each_once() const {
    const auto wrong = std::count_if(seen_.begin(), seen_.end(),
                                     [](const std::atomic<int>& times) { return times != 1; });
    EXPECT_EQ(wrong, 0);
  }

 private:
  std::vector<std::atomic<int>> seen_;
};

/// One owner pushes in bursts and pops, `thieves` threads steal from it, and one more steals from
/// the first thief's queue.
template <class AnyQueue>
void count_in_is_count_out(int values, int thieves, std::uint32_t position) {
  AnyQueue queue(position);
  Ledger ledger(values);
  std::atomic<bool> done{false};
  std::vector<std::unique_ptr<AnyQueue>> loot;
  for (int i = 0; i <= thieves; ++i) loot.push_back(std::make_unique<AnyQueue>(position + 1));
  const auto rob = [&](AnyQueue& victim, AnyQueue& own) {
    const bool last_round = done.load();
    const Stolen<int> stolen = victim.steal_into(own);
    if (stolen.count > 0) ledger.take(stolen.first);
    for (int value = 0; own.pop_front(value);) ledger.take(value);
    return stolen.count > 0 || !last_round;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < thieves; ++i) {
    threads.emplace_back([&, i] {
      while (rob(queue, *loot[static_cast<std::size_t>(i)])) std::this_thread::yield();
    });
  }
  threads.emplace_back([&] {
    while (rob(*loot.front(), *loot.back())) std::this_thread::yield();
  });

  const auto overflow = [&ledger](std::span<const int> batch) {
    for (const int value : batch) ledger.take(value);
  };
  int popped = 0;
  for (int i = 0; i < values; ++i) {
    queue.push_back(i, overflow);
    if (i % 7 == 0 && queue.pop_front(popped)) ledger.take(popped);
    if (i % 1021 == 0) std::this_thread::yield();
  }
  while (queue.pop_front(popped)) ledger.take(popped);
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  // A thief that was robbed while at work may have left something.
  for (const auto& own : loot) {
    while (own->pop_front(popped)) ledger.take(popped);
  }
  ledger.expect_each_once();
}

constexpr int kValues = 200'000;

/// Base of tests with several threads; its FenceBalance gives them the fences that pools use.
class LocalQueueThreads : public ::testing::Test {
 protected:
  base::FenceBalance fences_;
};

TEST_F(LocalQueueThreads, count_in_is_count_out_with_one_thief) {
  count_in_is_count_out<Queue>(kValues, 1, 0U - 1000U);
}
TEST_F(LocalQueueThreads, count_in_is_count_out_with_three_thieves) {
  count_in_is_count_out<Queue>(kValues, 3, 0U - 1000U);
}
TEST_F(LocalQueueThreads, count_in_is_count_out_when_a_small_queue_overflows) {
  count_in_is_count_out<SmallQueue>(kValues, 2, 0U - 2U);
}

}  // namespace
}  // namespace taskbench::rt::queue
