// The biased lock: never two threads inside, and nobody waits forever.
#include "runtime/base/biased_lock.hpp"

#include "tests/runtime/sync_support.hpp"

namespace taskbench::rt::base {
namespace {

/// The lock under test; its FenceBalance permits light fences where the system has them. Clang
/// cannot follow a lock through the macros of a test, so lock annotations are not checked here.
class BiasedLockTest : public ::testing::Test {
 protected:
  void owner_enter() TASKBENCH_UNCHECKED { lock_.owner_enter(); }
  void owner_leave() TASKBENCH_UNCHECKED { lock_.owner_leave(); }
  bool visitor_try_enter() TASKBENCH_UNCHECKED { return lock_.visitor_try_enter(); }
  void visitor_leave() TASKBENCH_UNCHECKED { lock_.visitor_leave(); }

  FenceBalance fences_;
  BiasedLock lock_;
};

TEST_F(BiasedLockTest, the_owner_enters_again_and_again) {
  for (int i = 0; i < 1000; ++i) {
    owner_enter();
    owner_leave();
  }
  EXPECT_TRUE(visitor_try_enter());
  visitor_leave();
}

TEST_F(BiasedLockTest, a_visitor_keeps_others_out) {
  ASSERT_TRUE(visitor_try_enter());
  EXPECT_FALSE(visitor_try_enter());
  visitor_leave();
  EXPECT_TRUE(visitor_try_enter());
  visitor_leave();
}

TEST_F(BiasedLockTest, a_visitor_gives_up_while_the_owner_is_inside) {
  owner_enter();
  EXPECT_FALSE(visitor_try_enter());
  owner_leave();
  EXPECT_TRUE(visitor_try_enter());
  visitor_leave();
}

TEST_F(BiasedLockTest, the_owner_waits_while_a_visitor_is_inside) {
  ASSERT_TRUE(visitor_try_enter());
  std::atomic<bool> inside{false};
  std::thread owner([&] {
    owner_enter();
    inside.store(true);
    owner_leave();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(inside.load());
  visitor_leave();
  owner.join();
  EXPECT_TRUE(inside.load());
}

TEST_F(BiasedLockTest, never_two_inside) {
  constexpr long kMostRounds = 300'000;
  constexpr long kRoundsPerLook = 16;  // looking at the clock drives the threads apart
  long rounds = 0;
  long sections = 0;  // guarded by the lock only
  std::atomic<bool> stop{false};
  std::vector<long> visits(2);
  std::vector<std::thread> visitors;
  for (long& own : visits) {
    visitors.emplace_back([&] {
      while (!stop.load()) {
        if (!visitor_try_enter()) {
          std::this_thread::yield();
          continue;
        }
        ++sections;
        ++own;
        visitor_leave();
      }
    });
  }
  // Visitors that come without a pause hold the owner up: on cores of their own, 0.3 ms per round.
  for (const tests::StressTime time; rounds < kMostRounds && time.left();) {
    for (long i = 0; i < kRoundsPerLook; ++i, ++rounds) {
      owner_enter();
      ++sections;
      owner_leave();
    }
  }
  stop.store(true);
  for (std::thread& visitor : visitors) visitor.join();
  EXPECT_EQ(sections, rounds + visits[0] + visits[1]);
}

}  // namespace
}  // namespace taskbench::rt::base
