// Host names, numeric as far as possible: the machine that runs this test may have no network.
#include "runtime/net/resolve.hpp"

#include <gtest/gtest.h>
#include <netdb.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "tests/runtime/fixtures.hpp"

namespace taskbench::rt::tests {
namespace {

using net::SocketAddress;

class Resolve : public OnOneRuntime {
 protected:
  std::vector<SocketAddress> resolve(std::string host, std::string service) {
    return runtime_.block_on(net::resolve(std::move(host), std::move(service)));
  }
};

TEST_P(Resolve, an_address_stands_for_itself) {
  EXPECT_EQ(resolve("127.0.0.1", "80"), std::vector{SocketAddress::parse("127.0.0.1:80")});
  EXPECT_EQ(resolve("::1", "8080"), std::vector{SocketAddress::parse("[::1]:8080")});
}

TEST_P(Resolve, an_empty_host_is_every_address_of_this_machine) {
  const std::vector<SocketAddress> all = resolve("", "7");
  EXPECT_NE(std::ranges::find(all, SocketAddress::parse("0.0.0.0:7")), all.end());
}

TEST_P(Resolve, what_cannot_be_resolved_is_named) {
  try {
    resolve("127.0.0.1", "no-such-service");
    FAIL() << "resolved";
  } catch (const std::system_error& failure) {
    EXPECT_EQ(failure.code(), std::error_code(EAI_SERVICE, net::resolve_category()));
    EXPECT_NE(std::string(failure.what()).find("cannot resolve 127.0.0.1:no-such-service: "),
              std::string::npos)
        << failure.what();
  }
}

TEST_P(Resolve, what_follows_a_zero_is_not_ignored) {
  const std::string host("127.0.0.1\0.example", 18);
  const std::string service("80\0b", 4);
  for (const auto& [name, port] :
       {std::pair(host, std::string("80")), std::pair(std::string("127.0.0.1"), service)}) {
    try {
      resolve(name, port);
      ADD_FAILURE() << "resolved";
    } catch (const std::system_error& failure) {
      EXPECT_EQ(failure.code(), std::error_code(EAI_NONAME, net::resolve_category()));
    }
  }
}

TEST_P(Resolve, one_that_is_given_up_leaves_nothing) {
  run([&]() -> Task<> {
    JoinHandle<void> waiting = spawn([](Census& census) -> Task<> {
      const Resident resident(census);
      static_cast<void>(co_await net::resolve("127.0.0.1", "80"));
      co_await forever();
    }(census_));
    co_await yield_now();
    waiting.abort();
  });
  runtime_.shutdown();
}

TASKBENCH_ON_EVERY_SCHEDULER(Resolve);

TEST(ResolveGivenUp, does_not_look_up_any_more) {
  std::atomic<int> reports{0};
  Runtime runtime =
      builder(kOneWorker)
          .max_blocking_threads(1)
          .on_unhandled_exception([&](const std::exception_ptr&) { reports.fetch_add(1); })
          .build();
  std::atomic<bool> may_end{false};
  auto occupies = runtime.spawn_blocking([&] { EXPECT_TRUE(block_worker_until(may_end)); });
  // The call would fail, and be reported, as nobody awaits it any more.
  auto waiting = runtime.spawn(net::resolve("127.0.0.1", "no-such-service"));
  EXPECT_TRUE(eventually([&] { return runtime.stats().blocking.calls == 2; }));
  waiting.abort();
  EXPECT_TRUE(eventually([&] { return waiting.is_finished(); }));
  may_end.store(true);
  runtime.block_on([](Runtime& of, JoinHandle<void>& first) -> Task<> {
    co_await first;
    JoinHandle<void> later = of.spawn_blocking([] {});
    co_await later;
  }(runtime, occupies));
  EXPECT_EQ(reports.load(), 0);
}

TEST(ResolveDeathTest, errors_have_their_texts_until_the_process_has_ended) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end = [] {
    // Called after the destructors of static objects that are made from here on.
    std::atexit([] {
      std::_Exit(net::resolve_category().message(EAI_SERVICE) == gai_strerror(EAI_SERVICE) ? 0 : 1);
    });
    static_cast<void>(net::resolve_category());
    std::exit(2);
  };
  EXPECT_EXIT(end(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace taskbench::rt::tests
