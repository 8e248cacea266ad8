// The injection queue: order, batches, closing, and exact counts under threads.
#include "runtime/queue/injector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <random>
#include <thread>
#include <vector>

#include "tests/runtime/allocations.hpp"

namespace taskbench::rt::queue {
namespace {

struct Node {
  int value = 0;
  Node* queue_next = nullptr;
};

constexpr auto kNothing = [] {};

class InjectorTest : public ::testing::Test {
 protected:
  InjectorTest() : nodes_(16) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i].value = static_cast<int>(i);
  }

  bool push(std::size_t index, Admit admit = Admit::if_open) {
    return injector_.push(&nodes_[index], admit, kNothing);
  }
  std::vector<int> pop(std::size_t at_most) {
    std::vector<Node*> out(at_most);
    const std::size_t taken = injector_.pop_batch(out);
    std::vector<int> values;
    for (std::size_t i = 0; i < taken; ++i) values.push_back(out[i]->value);
    return values;
  }

  std::vector<Node> nodes_;
  Injector<Node> injector_;
};

TEST_F(InjectorTest, gives_back_in_order_what_was_pushed) {
  EXPECT_TRUE(injector_.looks_empty());
  EXPECT_TRUE(pop(4).empty());
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(push(i));
  EXPECT_EQ(injector_.size(), 5U);
  EXPECT_EQ(pop(2), (std::vector<int>{0, 1}));
  EXPECT_TRUE(push(5));
  EXPECT_EQ(pop(100), (std::vector<int>{2, 3, 4, 5}));
  EXPECT_TRUE(injector_.looks_empty());
  EXPECT_TRUE(push(6));
  EXPECT_EQ(pop(1), std::vector<int>{6});
}

TEST_F(InjectorTest, takes_a_batch_in_order) {
  push(0);
  const std::array<Node*, 3> batch{&nodes_[1], &nodes_[2], &nodes_[3]};
  injector_.push_batch(batch);
  push(4);
  injector_.push_batch({});
  EXPECT_EQ(injector_.size(), 5U);
  EXPECT_EQ(pop(100), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST_F(InjectorTest, a_block_that_is_taken_in_parts_keeps_its_place) {
  const std::array<Node*, 3> first{&nodes_[0], &nodes_[1], &nodes_[2]};
  const std::array<Node*, 2> second{&nodes_[5], &nodes_[6]};
  injector_.push_batch(first);
  push(3);
  push(4);
  injector_.push_batch(second);
  push(7);
  EXPECT_EQ(pop(1), std::vector<int>{0});
  EXPECT_EQ(pop(3), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(pop(2), (std::vector<int>{4, 5}));
  push(8);
  EXPECT_EQ(injector_.size(), 3U);
  EXPECT_EQ(pop(100), (std::vector<int>{6, 7, 8}));
}

TEST_F(InjectorTest, batch_of_one_into_an_empty_queue) {
  const std::array<Node*, 1> batch{&nodes_[7]};
  injector_.push_batch(batch);
  EXPECT_EQ(pop(100), std::vector<int>{7});
}

TEST_F(InjectorTest, moves_all_in_one_go_behind_what_a_list_has) {
  Fifo<Node> list;
  list.push_back(&nodes_[9]);
  EXPECT_EQ(injector_.take_all(list), 0U);
  for (std::size_t i = 0; i < 5; ++i) push(i);
  EXPECT_EQ(pop(2), (std::vector<int>{0, 1}));
  EXPECT_EQ(injector_.take_all(list), 3U);
  EXPECT_TRUE(injector_.looks_empty());
  list.push_back(&nodes_[10]);
  std::vector<int> values;
  while (Node* const node = list.pop_front()) values.push_back(node->value);
  EXPECT_EQ(values, (std::vector<int>{9, 2, 3, 4, 10}));
  EXPECT_TRUE(push(5));
  EXPECT_EQ(pop(100), std::vector<int>{5});
}

TEST_F(InjectorTest, a_batch_of_exactly_all_leaves_an_empty_queue) {
  push(0);
  push(1);
  EXPECT_EQ(pop(2), (std::vector<int>{0, 1}));
  EXPECT_TRUE(push(2));
  EXPECT_EQ(pop(2), std::vector<int>{2});
}

TEST_F(InjectorTest, nodes_bring_no_link_of_an_earlier_queue_along) {
  nodes_[0].queue_next = &nodes_[8];
  push(0);
  Fifo<Node> list;
  EXPECT_EQ(injector_.take_all(list), 1U);
  EXPECT_EQ(list.pop_front(), &nodes_[0]);
  EXPECT_EQ(list.pop_front(), nullptr);
  nodes_[1].queue_next = &nodes_[8];
  list.push_back(&nodes_[1]);
  EXPECT_EQ(list.pop_front(), &nodes_[1]);
  EXPECT_TRUE(list.empty());
  nodes_[3].queue_next = &nodes_[8];
  const std::array<Node*, 2> batch{&nodes_[2], &nodes_[3]};
  injector_.push_batch(batch);
  EXPECT_EQ(injector_.take_all(list), 2U);
  EXPECT_EQ(list.pop_front(), &nodes_[2]);
  EXPECT_EQ(list.pop_front(), &nodes_[3]);
  EXPECT_EQ(list.pop_front(), nullptr);
}

TEST_F(InjectorTest, drains_in_order_also_what_comes_meanwhile) {
  for (std::size_t i = 0; i < 3; ++i) push(i);
  std::vector<int> values;
  injector_.drain([&](Node* node) {
    values.push_back(node->value);
    if (node->value == 1) push(3);
  });
  EXPECT_EQ(values, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_TRUE(injector_.looks_empty());
}

TEST_F(InjectorTest, once_closed_refuses_new_nodes_and_takes_old_ones) {
  EXPECT_TRUE(push(0));
  EXPECT_TRUE(injector_.close());
  EXPECT_FALSE(injector_.close());
  EXPECT_FALSE(push(1));
  EXPECT_EQ(injector_.size(), 1U);
  EXPECT_TRUE(push(2, Admit::always));
  const std::array<Node*, 1> batch{&nodes_[3]};
  injector_.push_batch(batch);
  EXPECT_EQ(pop(100), (std::vector<int>{0, 2, 3}));
}

TEST_F(InjectorTest, runs_the_callers_section_only_for_what_it_took) {
  int calls = 0;
  const auto count = [&calls] { ++calls; };
  EXPECT_TRUE(injector_.push(&nodes_[0], Admit::if_open, count));
  injector_.close();
  EXPECT_FALSE(injector_.push(&nodes_[1], Admit::if_open, count));
  EXPECT_EQ(calls, 1);
  injector_.locked(count);
  EXPECT_EQ(calls, 2);
}

TEST(InjectorProperty, is_first_in_first_out_whatever_comes_in_batches_and_goes_in_parts) {
  std::mt19937 random(26);
  const auto below = [&](std::size_t count) { return random() % count; };
  std::vector<Node> nodes(200'000);
  std::size_t next = 0;
  Injector<Node> injector;
  std::deque<Node*> reference;
  const auto expect_oldest = [&](Node* node) {
    ASSERT_FALSE(reference.empty());
    ASSERT_EQ(node, reference.front());
    reference.pop_front();
  };
  while (next + 400 < nodes.size()) {
    switch (below(8)) {
      case 0:
      case 1:
      case 2: {
        std::vector<Node*> batch(below(2) == 0 ? 129 : below(400));
        for (Node*& node : batch) node = &nodes[next++];
        injector.push_batch(batch);
        reference.insert(reference.end(), batch.begin(), batch.end());
        break;
      }
      case 3:
        for (std::size_t i = below(4); i > 0; --i) {
          reference.push_back(&nodes[next++]);
          EXPECT_TRUE(injector.push(reference.back(), Admit::if_open, kNothing));
        }
        break;
      case 4: {
        if (below(20) != 0) break;
        Fifo<Node> list;
        EXPECT_EQ(injector.take_all(list), reference.size());
        while (Node* const node = list.pop_front()) expect_oldest(node);
        EXPECT_TRUE(reference.empty());
        break;
      }
      default: {
        std::vector<Node*> out(below(2) == 0 ? 129 : below(500));
        const std::size_t taken = injector.pop_batch(out);
        EXPECT_EQ(taken, std::min(out.size(), reference.size()));
        for (std::size_t i = 0; i < taken; ++i) expect_oldest(out[i]);
        break;
      }
    }
    ASSERT_EQ(injector.size(), reference.size());
    if (HasFatalFailure()) return;
  }
}

/// An overflow that repeats one task.
std::array<Node*, 129> overflow_of(Node& node) {
  std::array<Node*, 129> nodes;
  nodes.fill(&node);
  return nodes;
}

TEST(InjectorMemory, keeps_the_blocks_of_sixteen_overflows_for_the_next) {
  Node node;
  Injector<Node> injector;
  for (const std::size_t expected : {40U, 24U, 24U}) {
    const std::size_t before = tests::allocations();
    for (int i = 0; i < 40; ++i) injector.push_batch(overflow_of(node));
    EXPECT_EQ(tests::allocations() - before, expected);
    const std::size_t freed_before = tests::deallocations();
    std::array<Node*, 129> out;
    for (int i = 0; i < 40; ++i) ASSERT_EQ(injector.pop_batch(out), 129U);
    EXPECT_EQ(tests::deallocations() - freed_before, 24U);
  }
}

TEST(InjectorMemory, is_not_taken_for_single_tasks) {
  Node nodes[2];
  Injector<Node> injector;
  const std::size_t before = tests::allocations();
  const std::array<Node*, 1> batch{&nodes[0]};
  injector.push_batch(batch);
  injector.push(&nodes[1], Admit::always, kNothing);
  EXPECT_EQ(tests::allocations() - before, 0U);
}

TEST(InjectorMemory, is_given_back_at_the_end_queued_or_kept) {
  Node node;
  const std::size_t before = tests::allocations();
  const std::size_t freed_before = tests::deallocations();
  {
    Injector<Node> injector;
    for (int i = 0; i < 5; ++i) injector.push_batch(overflow_of(node));
    std::array<Node*, 258> out;
    ASSERT_EQ(injector.pop_batch(out), 258U);
  }
  EXPECT_EQ(tests::allocations() - before, 5U);
  EXPECT_EQ(tests::deallocations() - freed_before, 5U);
}

TEST_F(InjectorTest, links_a_batch_where_there_is_no_memory_for_a_block) {
  const std::array<Node*, 2> first{&nodes_[0], &nodes_[1]};
  const std::array<Node*, 3> second{&nodes_[2], &nodes_[3], &nodes_[4]};
  injector_.push_batch(first);
  {
    const tests::NoMemory no_memory;
    injector_.push_batch(second);
  }
  EXPECT_EQ(injector_.size(), 5U);
  EXPECT_EQ(pop(3), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(pop(100), (std::vector<int>{3, 4}));
}

TEST_F(InjectorTest, is_passed_while_another_is_inside_and_then_waited_for) {
  push(0);
  std::array<Node*, 2> out;
  std::uint32_t passed = 0;
  std::size_t taken = 0;
  std::jthread waits;
  injector_.locked([&] {
    for (std::uint32_t i = 0; i < Injector<Node>::kMostPasses; ++i) {
      std::jthread([&] { taken = injector_.pop_batch_in_passing(out, passed); }).join();
      EXPECT_EQ(taken, 0U);
    }
    waits = std::jthread([&] { taken = injector_.pop_batch_in_passing(out, passed); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(injector_.size(), 1U);
  });
  waits.join();
  EXPECT_EQ(taken, 1U);
  EXPECT_EQ(passed, 0U) << "it may be passed again";
}

TEST(InjectorThreads, count_in_is_count_out) {
  constexpr std::size_t kPushers = 3;
  constexpr std::size_t kEach = 20'000;
  Injector<Node> injector;
  std::vector<std::vector<Node>> nodes(kPushers, std::vector<Node>(kEach));
  std::atomic<std::size_t> taken{0};
  std::atomic<std::size_t> out_of_order{0};
  std::vector<std::thread> threads;
  for (std::size_t pusher = 0; pusher < kPushers; ++pusher) {
    threads.emplace_back([&, pusher] {
      for (std::size_t i = 0; i < kEach; ++i) {
        Node& node = nodes[pusher][i];
        node.value = static_cast<int>(pusher * kEach + i);
        if (i % 3 == 0) {
          Node* const one[] = {&node};
          injector.push_batch(one);
        } else {
          injector.push(&node, Admit::if_open, kNothing);
        }
      }
    });
  }
  for (int popper = 0; popper < 2; ++popper) {
    threads.emplace_back([&] {
      // Each popper sees each pusher's nodes in the order of the pushes.
      std::array<int, kPushers> last;
      last.fill(-1);
      std::array<Node*, 17> out;
      while (taken.load() < kPushers * kEach) {
        const std::size_t count = injector.pop_batch(out);
        if (count == 0) std::this_thread::yield();
        for (std::size_t i = 0; i < count; ++i) {
          int& previous = last[static_cast<std::size_t>(out[i]->value) / kEach];
          if (out[i]->value <= previous) out_of_order.fetch_add(1);
          previous = out[i]->value;
        }
        taken.fetch_add(count);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken.load(), kPushers * kEach);
  EXPECT_EQ(out_of_order.load(), 0U);
  EXPECT_TRUE(injector.looks_empty());
}

}  // namespace
}  // namespace taskbench::rt::queue
