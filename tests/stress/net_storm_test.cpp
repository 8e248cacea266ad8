// A storm of connections that come and go while their runtime ends: no task is lost, no descriptor
// is left, and whoever uses a socket of a runtime that has ended gets an error.
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/net/tcp.hpp"
#include "runtime/net/unix.hpp"
#include "runtime/time/sleep.hpp"
#include "runtime/time/timeout.hpp"
#include "tests/runtime/net_support.hpp"
#include "tests/stress/storm.hpp"

namespace taskbench::rt::stress {

/// What the tasks of a round share.
struct Connections {
  Account account;
  Handle abroad;  // another runtime's, which ends later
  std::mutex mutex;
  std::vector<JoinHandle<void>> tasks_abroad;  // guarded by mutex
};

namespace {

std::chrono::microseconds moment(Random& random) {
  return std::chrono::microseconds(below(random, 3'000));
}

/// One step of a conversation. False: it is over.
template <class Stream>
Task<bool> step(Stream& stream, std::string& bytes, Random& random) {
  const std::size_t size = 1 + below(random, bytes.size());
  switch (below(random, 8)) {
    case 0:
      co_return co_await stream.read(bytes) != 0;
    case 1:
    case 2: {
      const auto read = co_await time::timeout(moment(random), stream.read(bytes));
      co_return !read || *read != 0;
    }
    case 3:
      co_await stream.write({bytes.data(), size});
      co_return true;
    case 4:
      co_await time::timeout(moment(random), stream.write_all({bytes.data(), size}));
      co_return true;
    case 5:
      if (one_in(random, 4)) stream.shutdown_write();
      co_return true;
    case 6:
      co_await time::sleep(moment(random) / 4);
      co_return true;
    default:
      co_await yield_now();
      co_return !one_in(random, 4);
  }
}

/// Reads, writes and gives up at random, until one of the two has enough.
template <class Stream>
Task<> converse(Stream stream, std::uint64_t choices, Entry entry) {
  entry.begin();
  Random random(choices);
  std::string bytes(1 + below(random, 30'000), 'x');
  try {
    for (bool goes_on = true; goes_on;) goes_on = co_await step(stream, bytes, random);
  } catch (const std::system_error&) {
    // The connection was reset, or something has run short.
  } catch (const std::logic_error&) {
    // The runtime of the socket has ended.
  }
  entry.end();
}

/// Talks at one end, here or abroad.
template <class Stream>
void talk(Connections& all, Stream stream, Random& random) {
  // Otherwise the port could not be used again for a minute.
  if constexpr (std::is_same_v<Stream, net::TcpStream>) stream.reset_on_close();
  Task<> task = converse(std::move(stream), random(), Entry(all.account));
  if (!one_in(random, 4)) {
    JoinHandle<void> handle = spawn(std::move(task));
    if (one_in(random, 4)) handle.abort();
    return handle.detach();
  }
  JoinHandle<void> handle = all.abroad.spawn(std::move(task));
  const std::lock_guard lock(all.mutex);
  all.tasks_abroad.push_back(std::move(handle));
}

/// Accepts until the runtime ends.
template <class Stream>
Task<> serve(Connections* all, net::Listener<Stream> listener, std::uint64_t choices, Entry entry) {
  entry.begin();
  Random random(choices);
  for (;;) {
    try {
      auto accepted = co_await time::timeout(moment(random), listener.accept());
      if (accepted) talk(*all, std::move(*accepted), random);
    } catch (const std::system_error&) {
    }
  }
}

/// Connects again and again until the runtime ends, and gives some attempts up.
template <class Stream>
Task<> visit(Connections* all, net::SocketAddress server, std::uint64_t choices, Entry entry) {
  entry.begin();
  Random random(choices);
  for (;;) {
    try {
      auto stream = co_await time::timeout(moment(random), Stream::connect(server));
      if (stream) talk(*all, std::move(*stream), random);
    } catch (const std::system_error&) {
    }
    co_await time::sleep(moment(random) / 8);
  }
}

/// A server of `Stream`s and its visitors, as tasks of the runtime that this is called in.
template <class Stream>
void open_server(Connections& all, const net::SocketAddress& address, Random& random) {
  auto listener = net::Listener<Stream>::bind(address, 4);
  const net::SocketAddress bound = listener.local_address();
  spawn(serve<Stream>(&all, std::move(listener), random(), Entry(all.account))).detach();
  for (std::uint64_t i = below(random, 6); i > 0; --i) {
    spawn(visit<Stream>(&all, bound, random(), Entry(all.account))).detach();
  }
}

/// An abstract name that is not in use.
net::SocketAddress fresh_name() {
  static std::atomic<unsigned> number{0};
  return net::SocketAddress::unix_path("@taskbench-storm-" + std::to_string(::getpid()) + '-' +
                                       std::to_string(number.fetch_add(1)));
}

Task<> open_everything(Connections* all, std::uint64_t choices) {
  Random random(choices);
  for (std::uint64_t i = 1 + below(random, 2); i > 0; --i) {
    if (one_in(random, 2)) {
      open_server<net::TcpStream>(*all, net::SocketAddress::loopback(), random);
    } else {
      open_server<net::UnixStream>(*all, fresh_name(), random);
    }
  }
  co_await time::sleep(moment(random) * 4);
}

TEST(Storm, of_connections_that_end_in_a_shutdown) {
  const auto before = rt::testing::open_descriptors();
  storm([before](Random& random) {
    const auto any_kind = [&random] {
      return chosen_scheduler() == nullptr && one_in(random, 8) ? "in_turn" : any_scheduler(random);
    };
    std::optional<Runtime> other = any_runtime(random, any_kind());
    Connections all{.account = {}, .abroad = other->handle(), .mutex = {}, .tasks_abroad = {}};
    {
      Runtime runtime = any_runtime(random, any_kind());
      runtime.block_on(open_everything(&all, random()));
      const auto limit = moment(random);
      if (one_in(random, 2)) {
        while (!runtime.shutdown_timeout(limit)) std::this_thread::yield();
      }
    }
    other->block_on([](std::vector<JoinHandle<void>>& handles) -> Task<> {
      for (JoinHandle<void>& each : handles) co_await each;
    }(all.tasks_abroad));
    other.reset();
    EXPECT_EQ(all.account.destroyed.load(), all.account.created.load());
    EXPECT_LE(all.account.ended.load(), all.account.begun.load());
    EXPECT_EQ(rt::testing::open_descriptors(), before);
  });
}

}  // namespace
}  // namespace taskbench::rt::stress
