// The clock and the schedule of a runtime for tests.
#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/net/async_fd.hpp"
#include "runtime/net/tcp.hpp"
#include "runtime/sync/oneshot.hpp"
#include "runtime/testing/runtime.hpp"
#include "runtime/time/interval.hpp"
#include "runtime/time/timeout.hpp"

namespace taskbench::rt::testing {
namespace {

using namespace std::chrono_literals;
using Times = std::vector<std::chrono::nanoseconds>;

Task<> wait_for_ever() {
  auto channel = sync::oneshot::channel<int>();
  co_await channel.second;
}

Task<> write_down(Runtime& test, std::chrono::nanoseconds after, Times& times) {
  co_await time::sleep(after);
  times.push_back(test.elapsed());
}

Task<> write_down_ticks(Runtime& test, int count, Times& times) {
  auto ticks = time::interval(10s);
  for (int i = 0; i < count; ++i) {
    co_await ticks.tick();
    times.push_back(test.elapsed());
  }
}

/// What `body` throws, which must be Stuck.
template <class Body>
std::pair<Stuck::Reason, std::string> stuck(Runtime& test, Body body) {
  try {
    test.block_on(body);
  } catch (const Stuck& error) {
    return {error.reason(), error.what()};
  }
  ADD_FAILURE() << "it has ended";
  return {};
}

TEST(TestingTime, a_sleep_ends_at_its_time_without_waiting) {
  Runtime test(1);
  const auto begun = std::chrono::steady_clock::now();
  Times times;
  test.block_on(write_down(test, 30min, times));
  EXPECT_EQ(times, Times{30min});
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 1min);
}

TEST(TestingTime, sleeps_end_in_the_order_of_their_times) {
  Runtime test(1);
  Times times;
  for (const auto after : {3s, 1s, 2s}) test.spawn(write_down(test, after, times)).detach();
  test.block_on(test.advance(4s));
  EXPECT_EQ(times, (Times{1s, 2s, 3s}));
}

TEST(TestingTime, the_clock_stands_still_while_tasks_run) {
  Runtime test(1);
  test.block_on([&]() -> Task<> {
    const auto begun = time::Clock::now();
    for (int i = 0; i < 1000; ++i) co_await yield_now();
    EXPECT_EQ(time::Clock::now(), begun);
    EXPECT_EQ(test.now(), begun);
  });
  EXPECT_EQ(test.elapsed(), 0s);
}

TEST(TestingTime, intervals_timeouts_and_deadlines_go_by_it) {
  Runtime test(1);
  Times times;
  test.block_on([&]() -> Task<> {
    co_await write_down_ticks(test, 3, times);
    const bool in_time = co_await time::timeout(5s, wait_for_ever());
    EXPECT_FALSE(in_time);
    times.push_back(test.elapsed());
    co_await time::sleep_until(time::after(1h - 25s));
    times.push_back(test.elapsed());
  });
  EXPECT_EQ(times, (Times{0s, 10s, 20s, 25s, 1h}));
}

TEST(TestingTime, advance_moves_the_clock_by_so_much_and_lets_all_happen_until_then) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Runtime test(seed, {.advances_by_itself = false});
    Times times;
    test.spawn(write_down_ticks(test, 9, times)).detach();
    test.spawn(write_down(test, 20s, times)).detach();
    test.block_on(test.advance(0s));
    EXPECT_EQ(times, (Times{0s}));
    test.block_on(test.advance(20s));
    EXPECT_EQ(times, (Times{0s, 10s, 20s, 20s}));
    test.block_on(test.advance(1ns));
    EXPECT_EQ(test.elapsed(), 20s + 1ns);
    EXPECT_EQ(times.size(), 4);
  }
  Runtime test(1);
  EXPECT_THROW(test.block_on(test.advance(-1ns)), std::invalid_argument);
}

TEST(TestingTime, an_advance_that_was_given_up_moves_nothing) {
  Runtime test(1, {.advances_by_itself = false});
  test.block_on([&]() -> Task<> { co_await select(test.advance(1h), yield_now()); });
  const auto reason = stuck(test, []() -> Task<> { co_await time::sleep(1s); }).first;
  EXPECT_EQ(reason, Stuck::Reason::clock_stands_still);
}

TEST(TestingTime, the_clock_can_be_left_to_advance_alone) {
  Runtime test(1, {.advances_by_itself = false});
  const auto [reason, text] = stuck(test, []() -> Task<> { co_await time::sleep(1500ms); });
  EXPECT_EQ(reason, Stuck::Reason::clock_stands_still);
  EXPECT_NE(text.find("due in 1500 ms"), std::string::npos) << text;
}

TEST(TestingTime, outside_of_a_test_the_clock_is_the_systems) {
  const auto before = std::chrono::steady_clock::now();
  { const Runtime test(1); }
  EXPECT_GE(time::Clock::now(), before);
  EXPECT_LT(time::Clock::now() - before, 1min);
}

TEST(TestingStuck, a_deadlock_names_who_waits_for_what) {
  Runtime test(1);
  const Host server = test.host("server");
  server
      .spawn([&]() -> Task<> {
        auto listener = net::TcpListener::bind(server.address(80));
        auto stream = co_await listener.accept();
        auto other = co_await listener.accept();
      })
      .detach();
  const auto [reason, text] = stuck(test, [&]() -> Task<> {
    auto stream = co_await net::TcpStream::connect(server.address(80));
    char byte = 0;
    co_await stream.read(&byte, 1);
  });
  EXPECT_EQ(reason, Stuck::Reason::deadlock);
  EXPECT_NE(text.find("task 2 on localhost waits to read from 10.0.0.2:80"), std::string::npos)
      << text;
  EXPECT_NE(text.find("task 1 on server waits for a connection at 10.0.0.2:80"), std::string::npos)
      << text;
  const auto [again, other] = stuck(test, wait_for_ever);
  EXPECT_EQ(again, Stuck::Reason::deadlock);
  EXPECT_NE(other.find("1 more task waits for something else"), std::string::npos) << other;
}

TEST(TestingStuck, a_time_out_that_was_not_needed_is_nothing_to_wait_for) {
  for (const bool advances : {true, false}) {
    Runtime test(1, {.advances_by_itself = advances});
    const auto [reason, text] = stuck(test, []() -> Task<> {
      const bool in_time = co_await time::timeout(2h, yield_now());
      EXPECT_TRUE(in_time);
      co_await wait_for_ever();
    });
    EXPECT_EQ(reason, Stuck::Reason::deadlock) << text;
    EXPECT_EQ(test.elapsed(), 0s);
  }
}

TEST(TestingStuck, a_connect_that_was_given_up_is_nothing_to_wait_for) {
  Runtime test(1, {.time_limit = 1min});
  test.host("server").isolate();
  const auto [reason, text] = stuck(test, [&]() -> Task<> {
    auto connecting = net::TcpStream::connect(test.host("server").address(80));
    const auto stream = co_await time::timeout(40s, std::move(connecting));
    EXPECT_FALSE(stream);
    co_await wait_for_ever();
  });
  EXPECT_EQ(reason, Stuck::Reason::deadlock) << text;
  EXPECT_EQ(test.elapsed(), 40s);
}

TEST(TestingStuck, a_test_ends_with_its_time) {
  Runtime test(1, {.time_limit = 1min});
  test.block_on(test.advance(59s));
  const auto [reason, text] = stuck(test, []() -> Task<> {
    for (;;) co_await time::sleep(10s);
  });
  EXPECT_EQ(reason, Stuck::Reason::time_limit);
  EXPECT_EQ(test.elapsed(), 69s) << text;
}

TEST(TestingStuck, a_loop_that_waits_for_time_without_sleeping_is_found) {
  Runtime test(1);
  const auto reason = stuck(test, []() -> Task<> {
                        const auto end = time::after(1s);
                        while (time::Clock::now() < end) co_await yield_now();
                      }).first;
  EXPECT_EQ(reason, Stuck::Reason::no_time_passes);
}

TEST(TestingStuck, tasks_that_could_run_are_cancelled_with_the_runtime) {
  struct Leaves {
    bool& gone;
    ~Leaves() { gone = true; }
  };
  bool gone = false;
  {
    Runtime test(1, {.time_limit = 1s});
    test.spawn([](bool& told) -> Task<> {
          const Leaves leaves{told};
          for (;;) {
            co_await time::sleep(2s);
            co_await yield_now();
          }
        }(gone))
        .detach();
    EXPECT_EQ(stuck(test, wait_for_ever).first, Stuck::Reason::time_limit);
    EXPECT_FALSE(gone);
  }
  EXPECT_TRUE(gone);
}

TEST(TestingFailures, an_exception_that_nobody_takes_fails_the_test_at_once) {
  const auto body = []() -> Task<> {
    spawn([]() -> Task<> {
      co_await time::sleep(1s);
      throw std::runtime_error("nobody cares");
    }).detach();
    co_await time::sleep(2s);
  };
  Runtime test(1);
  EXPECT_THROW(test.block_on(body), std::runtime_error);
  EXPECT_EQ(test.elapsed(), 1s);
}

TEST(TestingFailures, the_roots_own_exception_comes_first) {
  Runtime test(1);
  EXPECT_THROW(test.block_on([]() -> Task<> {
    auto failed = spawn([]() -> Task<> {
      throw std::runtime_error("goes with its handle");
      co_return;
    });
    co_await time::sleep(1s);
    throw std::domain_error("the test's");
  }),
               std::domain_error);
  test.block_on(test.advance(1s));
}

std::string order_of(std::uint64_t seed) {
  Runtime test(seed);
  std::string order;
  for (const char name : {'a', 'b', 'c'}) {
    test.spawn([](std::string& all, char own) -> Task<> {
          for (int i = 0; i < 2; ++i) {
            all.push_back(own);
            co_await yield_now();
          }
        }(order, name))
        .detach();
  }
  test.block_on(test.advance(0s));
  return order;
}

TEST(TestingSchedule, seeds_find_every_order_of_tasks_and_each_finds_its_own_again) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    orders.insert(order_of(seed));
    ASSERT_EQ(order_of(seed), order_of(seed));
  }
  EXPECT_EQ(orders.size(), 90);  // 6! / (2! 2! 2!)
}

TEST(TestingSchedule, calls_that_block_run_on_the_thread_of_the_test) {
  Runtime test(1);
  const std::thread::id own = std::this_thread::get_id();
  const auto call = [] { return std::this_thread::get_id(); };
  EXPECT_EQ(
      test.block_on([&]() -> Task<std::thread::id> { co_return co_await spawn_blocking(call); }),
      own);
}

TEST(TestingMisuse, a_thread_is_in_one_test_at_a_time) {
  {
    const Runtime test(1);
    EXPECT_THROW(Runtime(2), std::logic_error);
    EXPECT_THROW(static_cast<void>(rt::Runtime::Builder{}.build()), std::logic_error);
  }
  const Runtime next(3);
}

TEST(TestingMisuse, descriptors_of_the_system_are_refused) {
  Runtime test(1);
  test.block_on([]() -> Task<> {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    EXPECT_THROW(static_cast<void>(AsyncFd::borrow(ends[0])), std::logic_error);
    ::close(ends[0]);
    ::close(ends[1]);
    co_return;
  });
}

}  // namespace
}  // namespace taskbench::rt::testing
