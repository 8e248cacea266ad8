// The mode of a process's fences: passers pay while the heavy fences of any engine prevail.
#include "runtime/base/asymmetric_fences.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "runtime/base/cache_line.hpp"
#include "tests/runtime/fixtures.hpp"

namespace taskbench::rt::base {
namespace {

bool passers_pay() { return detail::fences.passers_pay(); }

void count_many_heavy(FenceBalance& balance) {
  for (int i = 0; i < 100; ++i) balance.count_heavy();
}
void count_much_work(FenceBalance& balance) {
  for (int i = 0; i < 100; ++i) balance.count_work();
}

class FenceBalances : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(passers_pay(), always_); }

  const bool always_ = !prepare_heavy_barrier();  // under TSan, and without membarrier
  FenceBalance server_;
};

TEST_F(FenceBalances, passers_pay_while_heavy_fences_prevail) {
  for (int i = 0; i < 10; ++i) server_.count_heavy();
  EXPECT_EQ(passers_pay(), always_);
  count_many_heavy(server_);
  EXPECT_TRUE(passers_pay());
  count_much_work(server_);
  EXPECT_EQ(passers_pay(), always_);
}

TEST_F(FenceBalances, an_engine_that_begins_or_ends_changes_nothing_for_another) {
  count_many_heavy(server_);
  {
    FenceBalance other;
    EXPECT_TRUE(passers_pay());
    count_many_heavy(other);
    count_much_work(other);
    EXPECT_TRUE(passers_pay());
    count_many_heavy(other);
  }
  EXPECT_TRUE(passers_pay());
}

TEST_F(FenceBalances, an_engine_that_ends_asks_no_longer) {
  std::optional<FenceBalance> ends(std::in_place);
  count_many_heavy(*ends);
  EXPECT_TRUE(passers_pay());
  ends.reset();
  EXPECT_EQ(passers_pay(), always_);
}

TEST_F(FenceBalances, work_that_went_before_is_no_credit) {
  count_much_work(server_);
  count_many_heavy(server_);
  EXPECT_TRUE(passers_pay());
}

TEST(AsymmetricFences, several_may_begin_and_end_asking_at_once) {
  AsymmetricFences fences;  // somebody asks initially
  const auto ask_and_end = [&] {
    for (int i = 0; i < 50'000; ++i) {
      fences.ask_passers();
      fences.end_asking();
    }
  };
  std::thread second(ask_and_end);
  ask_and_end();
  second.join();
  EXPECT_TRUE(fences.passers_pay());
  fences.end_asking();
  EXPECT_FALSE(fences.passers_pay());
}

/// Two threads each store to their own word, pass a fence, and load the other's word. Returns in
/// how many rounds both have loaded the old value, which the processor allows where a fence is
/// missing. Stops after `limit`, as on a busy machine each round waits until both threads have a
/// CPU.
template <class Light, class Heavy>
int missed_by_both(int rounds, Clock::duration limit, const Light& light, const Heavy& heavy) {
  struct alignas(kFalseSharingBytes) Side {
    std::atomic<int> stored{0};
    std::atomic<int> steps{0};
    int seen = 0;
  };
  std::array<Side, 2> sides;
  Clock::time_point begin;  // of the round, so that both start together
  const auto end = Clock::now() + limit;
  bool is_over = false;
  int missed = 0;
  const auto run = [&](unsigned own, const auto& fence) {
    Side& mine = sides[own];
    Side& other = sides[1 - own];
    const auto meet = [&](int step) {
      mine.steps.store(step, std::memory_order_release);
      for (int i = 1; other.steps.load(std::memory_order_acquire) < step; ++i) {
        if (i % 1'000 == 0) std::this_thread::yield();  // the other thread may have no CPU
      }
    };
    for (int round = 1; round <= rounds; ++round) {
      if (own == 0) {
        begin = Clock::now() + std::chrono::nanoseconds{400};
        is_over = begin > end;
      }
      meet(2 * round - 1);
      const bool is_last = is_over;
      while (Clock::now() < begin) {
      }
      mine.stored.store(round, std::memory_order_relaxed);
      fence();
      mine.seen = other.stored.load(std::memory_order_relaxed);
      meet(2 * round);
      if (own == 0 && mine.seen < round && other.seen < round) ++missed;
      if (is_last) break;
    }
  };
  std::thread second([&] { run(1, heavy); });
  run(0, light);
  second.join();
  return missed;
}

constexpr int kRounds = tests::tries(40'000);
constexpr std::chrono::milliseconds kLimit{tests::tries(1'000)};

TEST_F(FenceBalances, a_light_and_a_heavy_fence_order_two_threads_whoever_pays) {
  for (const bool pays : {false, true}) {
    if (pays) count_many_heavy(server_);
    EXPECT_EQ(passers_pay(), pays || always_);
    EXPECT_EQ(missed_by_both(kRounds, kLimit, light_fence, heavy_fence), 0) << pays;
  }
}

}  // namespace
}  // namespace taskbench::rt::base
