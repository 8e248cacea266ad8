// A storm of connections that come and go while their runtime ends: no task is lost, no descriptor
// is left, and using a socket of a runtime that has ended is an error.
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/base/sync_primitives.hpp"
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
  Handle abroad;  // of another runtime, which ends later
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

/// Reads, writes and gives up at random, until one of the two ends has had enough.
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

/// Talks at one end, in a task of this runtime or of the one abroad.
template <class Stream>
void talk(Connections& all, Stream stream, Random& random) {
  // Otherwise the port would be unusable for a minute.
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

/// Connects repeatedly until the runtime ends, and gives up some of the attempts.
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

/// Opens a server of `Stream`s with its visitors, as tasks of the current runtime.
template <class Stream>
void open_server(Connections& all, const net::SocketAddress& address, Random& random) {
  auto listener = net::Listener<Stream>::bind(address, 4);
  const net::SocketAddress bound = listener.local_address();
  spawn(serve<Stream>(&all, std::move(listener), random(), Entry(all.account))).detach();
  for (std::uint64_t i = below(random, 6); i > 0; --i) {
    spawn(visit<Stream>(&all, bound, random(), Entry(all.account))).detach();
  }
}

/// An abstract socket name that is not in use.
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
  const auto before = rt::tests::open_descriptors();
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
    EXPECT_EQ(rt::tests::open_descriptors(), before);
  });
}

/// Sends every byte back, one at a time, until the end of the stream.
template <class Stream>
Task<> send_back_one_by_one(Stream stream, std::uint64_t choices) {
  Random random(choices);
  std::string bytes(8, 'x');
  for (std::size_t got = 0; (got = co_await stream.read(bytes)) != 0;) {
    for (std::size_t i = 0; i < got; ++i) {
      if (one_in(random, 4)) co_await yield_now();
      co_await stream.write_all({bytes.data(), 1});
    }
  }
}

/// Reads `size` bytes, in one of the ways in which a task can wait for them.
template <class Stream>
Task<> read_in_some_way(Stream& stream, std::string& bytes, std::size_t size, Random& random) {
  if (one_in(random, 3)) co_return co_await stream.read_exact({bytes.data(), size});
  while (size > 0) {
    switch (below(random, 8)) {
      case 0:
        co_await stream.readable();
        break;
      case 1:
        co_await stream.peek(bytes);
        break;
      case 2: {
        const auto got =
            co_await time::timeout(std::chrono::microseconds(1), stream.read({bytes.data(), size}));
        size -= got.value_or(0);
        break;
      }
      default:
        size -= co_await stream.read({bytes.data(), size});
        break;
    }
  }
}

/// Counts the round trips that have ended.
using Ended = std::shared_ptr<std::atomic<int>>;

template <class Stream>
Task<> make_round_trips(Stream stream, int count, std::uint64_t choices, Ended ended) {
  Random random(choices);
  std::string bytes(4, 'x');
  for (int i = 0; i < count; ++i) {
    const std::size_t size = 1 + below(random, bytes.size());
    co_await stream.write_all({bytes.data(), size});
    co_await read_in_some_way(stream, bytes, size, random);
    ended->fetch_add(1);
  }
}

/// Makes round trips over all connections at once.
Task<> make_all_round_trips(int count, std::uint64_t choices, Ended ended) {
  Random random(choices);
  const int connections = static_cast<int>(1 + below(random, 4));
  std::vector<JoinHandle<void>> handles;
  const auto connect = [&](auto near, auto far) {
    handles.push_back(spawn(send_back_one_by_one(std::move(far), random())));
    handles.push_back(
        spawn(make_round_trips(std::move(near), count / connections, random(), ended)));
  };
  for (int i = 0; i < connections; ++i) {
    if (one_in(random, 2)) {
      auto ends = co_await rt::tests::connected();
      ends.client.set_no_delay(true);
      ends.server.set_no_delay(true);
      connect(std::move(ends.client), std::move(ends.server));
    } else {
      auto ends = net::UnixStream::pair();
      connect(std::move(ends.first), std::move(ends.second));
    }
  }
  for (JoinHandle<void>& each : handles) co_await each;
}

/// Whether all of them end. False: none has ended for so long that one must be waiting forever,
/// however busy the CPUs are with other programs.
Task<bool> all_round_trips_end(int count, std::uint64_t choices) {
  constexpr auto kLongest = std::chrono::seconds(30);
  const Ended ended = std::make_shared<std::atomic<int>>(0);
  JoinHandle<void> all = spawn(make_all_round_trips(count, choices, ended));
  for (int before = -1;;) {
    const auto end = [](JoinHandle<void>& handle) -> Task<> { co_await handle; };
    if (co_await time::timeout(kLongest, end(all))) co_return true;
    if (ended->load() == before) co_return false;
    before = ended->load();
  }
}

// A lost readiness leaves a task waiting forever.
TEST(Storm, of_round_trips_with_a_peer_that_sends_one_byte_at_a_time) {
#if defined(TASKBENCH_ASAN) || defined(TASKBENCH_TSAN)
  constexpr int kLeast = 10'000;
#else
  constexpr int kLeast = 100'000;
#endif
  constexpr int kTrips = 5'000;
  storm(
      [](Random& random) {
        Runtime runtime = any_runtime(random, any_scheduler(random));
        EXPECT_TRUE(runtime.block_on(all_round_trips_end(kTrips, random())))
            << "a round trip does not end";
      },
      kLeast / kTrips);
}

}  // namespace
}  // namespace taskbench::rt::stress
