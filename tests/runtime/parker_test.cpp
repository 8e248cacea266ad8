// The parker's token before, during and after a sleep, with and without spinning and a deadline,
// and how the parker uses a Sleeper.
#include "runtime/park/parker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "tests/runtime/fixtures.hpp"

namespace taskbench::rt::park {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(Parker, a_token_given_before_is_taken_at_once) {
  Parker parker;
  EXPECT_FALSE(parker.unpark()) << "nobody slept: no system call";
  parker.park();
  EXPECT_FALSE(parker.unpark());
  EXPECT_TRUE(parker.park_until(Clock::now()));
}

TEST(Parker, tokens_do_not_add_up) {
  Parker parker;
  parker.unpark();
  parker.unpark();
  parker.park();
  EXPECT_FALSE(parker.park_until(Clock::now() + 1ms));
}

TEST(Parker, gives_up_at_the_deadline) {
  Parker parker;
  const auto begin = Clock::now();
  EXPECT_FALSE(parker.park_until(begin + 20ms));
  EXPECT_GE(Clock::now() - begin, 20ms);
  EXPECT_FALSE(parker.park_until(begin)) << "a deadline in the past";
  EXPECT_FALSE(parker.park_until(Clock::time_point::min()));
}

TEST(Parker, a_token_given_after_a_timeout_is_kept) {
  Parker parker;
  EXPECT_FALSE(parker.park_until(Clock::now() + 1ms));
  EXPECT_FALSE(parker.unpark()) << "nobody sleeps any more";
  EXPECT_TRUE(parker.park_until(Clock::now()));
}

TEST(Parker, waits_for_a_deadline_at_the_end_of_time) {
  Parker parker;
  std::thread giver([&] {
    std::this_thread::sleep_for(5ms);
    parker.unpark();
  });
  EXPECT_TRUE(parker.park_until(Clock::time_point::max()));
  giver.join();
}

class ParkerSpin : public ::testing::TestWithParam<std::chrono::nanoseconds> {};

TEST_P(ParkerSpin, every_token_wakes_and_brings_what_was_written_before) {
  constexpr int kRounds = 2000;
  Parker ping;
  Parker pong;
  int message = 0;  // handed over only by the tokens
  std::thread other([&] {
    for (int i = 0; i < kRounds; ++i) {
      ping.park(GetParam());
      EXPECT_EQ(message, 2 * i + 1);
      ++message;
      pong.unpark();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    ++message;
    ping.unpark();
    pong.park(GetParam());
    EXPECT_EQ(message, 2 * i + 2);
  }
  other.join();
}

INSTANTIATE_TEST_SUITE_P(Times, ParkerSpin, ::testing::Values(0ns, 1ns, 20us, 1ms));

TEST(Parker, unpark_tells_whether_the_owner_slept) {
  Parker parker;
  std::atomic<bool> slept{false};
  std::thread owner([&] { parker.park(); });
  // The owner is asleep by then; if the token comes too early, the owner never sleeps.
  std::this_thread::sleep_for(50ms);
  slept.store(parker.unpark());
  owner.join();
  EXPECT_TRUE(slept.load());
}

TEST(Parker, may_be_destroyed_by_its_owner_as_soon_as_it_has_the_token) {
  for (int round = 0; round < tests::tries(2000); ++round) {
    auto parker = std::make_unique<Parker>();
    std::thread giver([&] { parker->unpark(); });
    parker->park(round % 2 == 0 ? 0ns : 10us);
    giver.join();
  }
  // The giver may still be in unpark() here: its last use of the parker comes before the token.
  for (int round = 0; round < tests::tries(2000); ++round) {
    std::atomic<Parker*> shared{nullptr};
    std::thread owner([&] {
      Parker parker;
      shared.store(&parker);
      parker.park();
    });
    Parker* parker = nullptr;
    while ((parker = shared.load()) == nullptr) std::this_thread::yield();
    parker->unpark();
    owner.join();
  }
}

/// Sleeps like the system, and counts sleeps and wake-ups.
class Accountant final : public Sleeper {
 public:
  bool sleep(Token& token, std::uint32_t expected,
             base::Clock::time_point deadline) noexcept override {
    sleeps.fetch_add(1);
    return futex.sleep(token, expected, std::min(deadline, earliest));
  }
  void wake(const Token* token) noexcept override {
    wakes.fetch_add(1);
    futex.wake(token);
  }

  std::atomic<int> sleeps{0};
  std::atomic<int> wakes{0};
  Clock::time_point earliest = Clock::time_point::max();  ///< what else ends a sleep
};

TEST(Sleeper, is_not_called_for_a_token_that_is_there) {
  Accountant sleeper;
  Parker parker(sleeper);
  parker.unpark();
  parker.park();
  parker.unpark();
  EXPECT_TRUE(parker.park_until(Clock::time_point::max()));
  parker.unpark();
  EXPECT_TRUE(parker.try_park());
  EXPECT_FALSE(parker.try_park());
  EXPECT_EQ(sleeper.sleeps.load(), 0);
  EXPECT_EQ(sleeper.wakes.load(), 0);
}

TEST(Sleeper, is_asked_to_sleep_and_to_wake) {
  Accountant sleeper;
  Parker parker(sleeper);
  std::thread owner([&] { parker.park(); });
  while (sleeper.sleeps.load() == 0) std::this_thread::yield();
  EXPECT_TRUE(parker.unpark());
  owner.join();
  EXPECT_EQ(sleeper.wakes.load(), 1);
}

TEST(Sleeper, is_not_called_for_a_token_that_comes_in_time) {
  constexpr auto kSpin = 10s;
  Accountant sleeper;
  Parker parker(sleeper);
  std::thread giver([&] {
    std::this_thread::sleep_for(5ms);
    parker.unpark();
  });
  const auto begin = Clock::now();
  parker.park(kSpin);
  EXPECT_LT(Clock::now() - begin, kSpin / 2);
  EXPECT_EQ(sleeper.sleeps.load(), 0);
  giver.join();
}

TEST(Sleeper, is_asked_to_sleep_once_the_time_for_a_token_is_over) {
  Accountant sleeper;
  Parker parker(sleeper);
  std::thread owner([&] { parker.park(1ns); });
  while (sleeper.sleeps.load() == 0) std::this_thread::yield();
  parker.unpark();
  owner.join();
}

TEST(Sleeper, ends_park_until_but_not_park_for_something_else) {
  Accountant sleeper;
  sleeper.earliest = Clock::now();
  Parker parker(sleeper);
  EXPECT_FALSE(parker.park_until(Clock::time_point::max()));
  EXPECT_EQ(sleeper.sleeps.load(), 1);
  std::thread owner([&] { parker.park(); });
  while (sleeper.sleeps.load() < 10) std::this_thread::yield();
  parker.unpark();
  owner.join();
}

TEST(Sleeper, serves_several_parkers) {
  Accountant sleeper;
  Parker first(sleeper);
  Parker second(sleeper);
  std::thread owner([&] { first.park(); });
  std::thread other([&] { second.park(); });
  second.unpark();
  other.join();
  first.unpark();
  owner.join();
}

}  // namespace
}  // namespace taskbench::rt::park
