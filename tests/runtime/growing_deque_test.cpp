// The growing deque frees buffers that it has outgrown. The models show that nothing is lost
// meanwhile.
#include "runtime/queue/growing_deque.hpp"

#include <gtest/gtest.h>

#include <cstddef>

#include "tests/runtime/allocations.hpp"
#include "tests/runtime/fixtures.hpp"

namespace taskbench::rt::queue {
namespace {

// A finished take reads no buffer any more, and so keeps none alive.
TEST(GrowingDequeMemory, is_given_back_for_all_but_two_of_the_buffers_after_a_take) {
  GrowingDeque<int>::Domain epochs(2);
  GrowingDeque<int> deque(1, epochs, 0);
  int taken = 0;
  deque.push(7);
  ASSERT_TRUE(deque.take(taken, 1));
  EXPECT_EQ(taken, 7);
  const std::size_t freed_before = tests::deallocations();
  for (int i = 0; i < 256; ++i) deque.push(i);
  // Of nine buffers, for 1 to 256 values, seven are gone, each with its slots, which the sanitizers
  // free uncounted.
  EXPECT_GE(tests::deallocations() - freed_before, tests::kWatched ? 7U : 2U * 7);
}

}  // namespace
}  // namespace taskbench::rt::queue
