// Sockets that outlive their runtime: waits for them fail, both those in another runtime and those
// already under way.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/net/tcp.hpp"
#include "runtime/net/unix.hpp"
#include "runtime/signal/signal.hpp"
#include "runtime/time/sleep.hpp"
#include "tests/runtime/net_support.hpp"

namespace taskbench::rt {
namespace {

using namespace std::chrono_literals;
using tests::read_bytes;

/// Whether `task` fails because the runtime has ended.
template <class T>
Task<bool> is_told(Task<T> task) {
  try {
    co_await std::move(task);
  } catch (const std::logic_error& error) {
    co_return std::string(error.what()).find("the runtime of this socket") == 0;
  }
  co_return false;
}

/// Tests run in runtime_ and use what was made in other_.
class Outlived : public tests::OnOneRuntime {
 protected:
  /// Returns what `make` returns when called in other_.
  template <class Make>
  auto made_there(Make make) {
    return other_->block_on([](Make& call) -> Task<decltype(make())> { co_return call(); }(make));
  }

  std::optional<Runtime> other_ = build_runtime();
};

TEST_P(Outlived, what_need_not_wait_is_done_and_what_would_fails) {
  auto ends = made_there(net::UnixStream::pair);
  run([&]() -> Task<> {
    co_await ends.first.write_all("abc");
    other_.reset();
    EXPECT_EQ(co_await read_bytes(ends.second, 3), "abc");
    EXPECT_TRUE(co_await is_told(read_bytes(ends.second, 1)));
    co_await ends.first.write_all("d");
    EXPECT_EQ(co_await read_bytes(ends.second, 1), "d");
    { const net::UnixStream gone = std::move(ends.first); }
    EXPECT_EQ(co_await tests::read_all(ends.second), "");
  });
}

TEST_P(Outlived, a_wait_under_way_fails) {
  auto ends = made_there(net::UnixStream::pair);
  auto listener = made_there([] { return net::TcpListener::bind(net::SocketAddress::loopback()); });
  auto interrupt = made_there([] { return std::make_unique<signal::Signal>(SIGUSR2); });
  run([&]() -> Task<> {
    const auto accepts = [](net::TcpListener& from) -> Task<> { co_await from.accept(); };
    const auto waits = [](signal::Signal& from) -> Task<> { co_await from.next(); };
    const auto fills = [](net::UnixStream& to) -> Task<> {
      const std::string more_than_fits(1 << 23, 'x');
      co_await to.write_all(more_than_fits);
    };
    JoinHandle<bool> told[] = {spawn(is_told(read_bytes(ends.first, 1))),
                               spawn(is_told(fills(ends.first))), spawn(is_told(accepts(listener))),
                               spawn(is_told(waits(*interrupt)))};
    co_await time::sleep(2ms);
    for (const auto& each : told) EXPECT_FALSE(each.is_finished());
    other_.reset();
    for (auto& each : told) EXPECT_TRUE(co_await each);
  });
}

TEST_P(Outlived, a_wait_fails_though_the_runtime_could_not_end_in_time) {
  auto ends = made_there(net::UnixStream::pair);
  std::atomic<bool> begun{false};
  std::atomic<bool> may_end{false};
  run([&]() -> Task<> {
    auto blocking = other_->spawn_blocking([&] {
      begun.store(true);
      return tests::block_worker_until(may_end);
    });
    co_await tests::until([&] { return begun.load(); });
    auto told = spawn(is_told(read_bytes(ends.first, 1)));
    co_await time::sleep(2ms);
    EXPECT_FALSE(other_->shutdown_timeout(1ms));
    other_.reset();
    EXPECT_TRUE(co_await told);
    may_end.store(true);
    EXPECT_TRUE(co_await blocking);
  });
}

TEST_P(Outlived, no_descriptor_is_left) {
  { auto opened = made_there(net::UnixStream::pair); }
  run([]() -> Task<> {
    auto opened = net::UnixStream::pair();
    co_return;
  });
  const auto before = tests::open_descriptors();
  for (int i = 0; i < 3; ++i) {
    Runtime third = build_runtime();
    auto ends = third.block_on([]() -> Task<std::pair<net::UnixStream, net::UnixStream>> {
      co_return net::UnixStream::pair();
    }());
    { const Runtime ended = std::move(third); }
    auto told = run([&] { return is_told(read_bytes(ends.first, 1)); });
    EXPECT_TRUE(told);
  }
  // Fewer if a thread that an earlier test left behind closes its two only now.
  EXPECT_LE(tests::open_descriptors(), before);
}

TASKBENCH_ON_EVERY_SCHEDULER(Outlived);

}  // namespace
}  // namespace taskbench::rt
