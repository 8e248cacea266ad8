// for_each_seed(): seeds replay to the byte, and the report of a failing seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/net/tcp.hpp"
#include "runtime/net/udp.hpp"
#include "runtime/testing/seeds.hpp"
#include "runtime/time/timeout.hpp"

namespace taskbench::rt::testing {
namespace {

using namespace std::chrono_literals;

/// Uses a bit of everything that draws: connections, datagrams, timers, tasks, crashes.
Task<> busy(Runtime& test) {
  test.set_link({.loss = 0.1, .duplicates = 0.1, .resets = 0.02, .half_opens = 0.02});
  const Host server = test.host("server");
  const net::SocketAddress address = server.address(80);
  const auto serve = [address]() -> Task<> {
    auto listener = net::TcpListener::bind(address);
    for (;;) {
      auto stream = co_await listener.accept();
      spawn([](net::TcpStream own) -> Task<> {
        try {
          char bytes[64];
          for (;;) {
            const std::size_t size = co_await own.read(bytes, sizeof(bytes));
            if (size == 0) co_return;
            co_await own.write_all({bytes, size});
          }
        } catch (const std::system_error&) {
        }
      }(std::move(stream)))
          .detach();
    }
  };
  server.spawn(serve).detach();
  const auto ask = [&](int number) -> Task<> {
    try {
      auto stream = co_await net::TcpStream::connect(address);
      const std::string text(static_cast<std::size_t>(number) * 10, 'x');
      co_await stream.write_all(text);
      std::string answer(text.size(), '\0');
      co_await stream.read_exact(answer);
      test.note("answered " + std::to_string(number));
    } catch (const std::system_error& error) {
      test.note(error.what());
    }
  };
  for (int i = 1; i < 10; ++i) {
    auto asking = ask(i);
    const bool in_time = co_await time::timeout(3s, std::move(asking));
    if (!in_time) test.note("gave up");
    auto socket = net::UdpSocket::bind(net::SocketAddress::loopback(9));
    co_await socket.send_to("x", net::SocketAddress::loopback(9));
    if (test.chance(0.1)) {
      server.crash();
      server.restart();
      server.spawn(serve).detach();
    }
  }
}

struct Course {
  std::string trace;
  std::uint64_t fingerprint;
};

Course course_of(std::uint64_t seed, bool traces = true) {
  Runtime test(seed, {.trace = traces});
  test.block_on(busy(test));
  return {test.trace(), test.fingerprint()};
}

/// What is thrown for the first of `count` seeds for which `body` fails.
template <class Body>
std::pair<std::uint64_t, std::string> failure(std::uint64_t count, Body body,
                                              const SeedOptions& options = {}) {
  try {
    for_each_seed(count, body, options);
  } catch (const SeedFailed& failed) {
    return {failed.seed(), failed.what()};
  }
  ADD_FAILURE() << "no seed has failed";
  return {};
}

TEST(TestingSeeds, the_same_seed_gives_the_same_trace_to_the_byte) {
  std::set<std::string> traces;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Course first = course_of(seed);
    const Course second = course_of(seed);
    ASSERT_EQ(first.trace, second.trace);
    ASSERT_EQ(first.fingerprint, second.fingerprint);
    ASSERT_EQ(first.fingerprint, course_of(seed, false).fingerprint);
    traces.insert(first.trace);
  }
  EXPECT_EQ(traces.size(), 100);
}

TEST(TestingSeeds, threads_may_each_run_a_test_of_their_own) {
  const std::uint64_t expected = course_of(7, false).fingerprint;
  std::vector<std::thread> threads;
  std::vector<std::uint64_t> found(3);
  for (std::uint64_t& each : found) {
    threads.emplace_back([&each] {
      for (int i = 0; i < 20; ++i) each = course_of(7, false).fingerprint;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, std::vector<std::uint64_t>(3, expected));
}

TEST(TestingSeeds, without_being_asked_for_nothing_is_traced) {
  EXPECT_EQ(course_of(1, false).trace, "");
  EXPECT_NE(course_of(1).trace.find("task 1 runs"), std::string::npos);
}

TEST(TestingSeeds, all_seeds_are_run_one_after_the_other) {
  std::set<std::uint32_t> drawn;
  int runs = 0;
  for_each_seed(100, [&](Runtime& test) {
    ++runs;
    drawn.insert(test.random(1U << 31));
  });
  EXPECT_EQ(runs, 100);
  EXPECT_GT(drawn.size(), 95);
}

TEST(TestingSeeds, a_failure_tells_the_seed_the_reason_the_last_events_and_how_to_run_it) {
  const auto [seed, text] = failure(1000, [](Runtime& test) -> Task<> {
    co_await time::sleep(1s);
    const bool unlucky = test.random(50) == 7;
    test.note(unlucky ? "the last straw" : "fine");
    require(!unlucky, "it is never 7");
  });
  EXPECT_GT(seed, 0);
  EXPECT_NE(text.find("seed " + std::to_string(seed) + " failed, after " + std::to_string(seed) +
                      " that passed: "),
            std::string::npos);
  EXPECT_NE(text.find("seeds_test.cpp:"), std::string::npos) << text;
  EXPECT_NE(text.find("not so: it is never 7"), std::string::npos) << text;
  EXPECT_NE(text.find("1.000000000 s  the last straw\n"), std::string::npos) << text;
  EXPECT_NE(text.find("TASKBENCH_TEST_SEED=" + std::to_string(seed)), std::string::npos) << text;
  EXPECT_EQ(text.find("another course"), std::string::npos) << text;
}

TEST(TestingSeeds, the_variable_runs_one_seed_alone_with_its_trace) {
  int runs = 0;
  const auto body = [&](Runtime& test) {
    ++runs;
    test.note("here it is");
    if (test.random(2) != 2) throw std::runtime_error("as ever");
  };
  setenv("TASKBENCH_TEST_SEED", "4711", 1);
  ::testing::internal::CaptureStderr();
  const auto [seed, text] = failure(1000, body);
  const std::string printed = ::testing::internal::GetCapturedStderr();
  setenv("TASKBENCH_TEST_SEED", "the last one", 1);
  EXPECT_THROW(for_each_seed(1, body), std::invalid_argument);
  unsetenv("TASKBENCH_TEST_SEED");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(seed, 4711);
  EXPECT_EQ(text, "seed 4711 failed: as ever");
  EXPECT_EQ(printed, "0.000000000 s  here it is\nseed 4711 failed: as ever\n");
}

TEST(TestingSeeds, a_test_that_depends_on_more_than_the_seed_is_found_out) {
  int runs = 0;
  const auto text = failure(10, [&](Runtime&) -> Task<> {
                      for (int i = 0; i < runs; ++i) co_await yield_now();
                      require(++runs < 5, "it has run too often");
                    }).second;
  EXPECT_NE(text.find("Run again, it took another course"), std::string::npos) << text;
}

TEST(TestingSeeds, assertions_that_do_not_throw_count_when_they_are_asked_for) {
  bool has_failed = false;
  const auto [seed, text] =
      failure(10, [&](Runtime& test) { has_failed = test.now() > time::Clock::time_point{}; },
              {.first = 3, .has_failed = [&] { return has_failed; }});
  EXPECT_EQ(seed, 3);
  EXPECT_NE(text.find("an assertion failed"), std::string::npos) << text;
}

TEST(TestingSeeds, what_is_thrown_need_not_be_an_exception_with_a_text) {
  EXPECT_NE(failure(1, [](Runtime&) { throw 7; }).second.find("no std::exception"),
            std::string::npos);
}

}  // namespace
}  // namespace taskbench::rt::testing
