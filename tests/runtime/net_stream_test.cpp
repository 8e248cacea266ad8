// Streams over the loopback interface, TCP and Unix.
#include "runtime/net/stream.hpp"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstddef>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/net/tcp.hpp"
#include "runtime/net/unix.hpp"
#include "runtime/time/sleep.hpp"
#include "runtime/time/timeout.hpp"
#include "tests/runtime/net_support.hpp"

namespace taskbench::rt {
namespace {

using namespace std::chrono_literals;
using tests::connected;
using tests::failure_of;
using tests::long_text;
using tests::read_all;
using tests::read_bytes;

class Streams : public tests::OnOneRuntime {};

Task<> echo(net::TcpStream stream) {
  std::array<char, 512> buffer;
  for (;;) {
    const std::size_t size = co_await stream.read(buffer);
    if (size == 0) co_return;
    co_await stream.write_all({buffer.data(), size});
  }
}

TEST_P(Streams, what_is_written_comes_back) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    auto server = spawn(echo(std::move(ends.server)));
    for (const char* text : {"one", "two", "three"}) {
      co_await ends.client.write_all(text);
      EXPECT_EQ(co_await read_bytes(ends.client, std::string(text).size()), text);
    }
    ends.client.shutdown_write();
    EXPECT_EQ(co_await read_all(ends.client), "");
    co_await std::move(server);
  });
}

TEST_P(Streams, many_connections_are_served_at_once) {
  static constexpr int kConnections = 40;
  static constexpr int kMessages = 10;
  const auto client = [](net::SocketAddress server) -> Task<int> {
    auto stream = co_await net::TcpStream::connect(server);
    int correct = 0;
    for (int i = 0; i < kMessages; ++i) {
      const std::string text = std::to_string(i) + " for " + stream.local_address().text();
      co_await stream.write_all(text);
      if (co_await read_bytes(stream, text.size()) == text) ++correct;
    }
    co_return correct;
  };
  run([&]() -> Task<> {
    auto listener = net::TcpListener::bind(net::SocketAddress::loopback());
    std::vector<JoinHandle<int>> clients;
    std::vector<JoinHandle<void>> servers;
    for (int i = 0; i < kConnections; ++i)
      clients.push_back(spawn(client(listener.local_address())));
    for (int i = 0; i < kConnections; ++i) {
      net::TcpStream accepted = co_await listener.accept();
      servers.push_back(spawn(echo(std::move(accepted))));
    }
    for (auto& handle : clients) EXPECT_EQ(co_await handle, kMessages);
    for (auto& handle : servers) co_await handle;
  });
}

TEST_P(Streams, a_read_that_is_aborted_loses_nothing_and_another_task_goes_on) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    const auto read = [](net::TcpStream& stream) -> Task<std::string> {
      co_return co_await read_bytes(stream, 1);
    };
    for (const char* text : {"a", "b", "c"}) {
      auto aborted = spawn(read(ends.server));
      co_await tests::yield_times(3);
      aborted.abort();
      std::optional<std::string> got;
      try {
        got = co_await std::move(aborted);
      } catch (const JoinError&) {
      }
      EXPECT_EQ(got, std::nullopt);
      co_await ends.client.write_all(text);
      EXPECT_EQ(co_await spawn(read(ends.server)), text);
    }
  });
}

TEST_P(Streams, a_runtime_that_ends_with_operations_under_way_leaves_no_descriptor) {
  const auto before = tests::open_descriptors();
  {
    Runtime runtime = build_runtime();
    runtime.block_on([]() -> Task<> {
      auto listener = net::TcpListener::bind(net::SocketAddress::loopback());
      for (int i = 0; i < 8; ++i) {
        auto client = co_await net::TcpStream::connect(listener.local_address());
        auto server = co_await listener.accept();
        spawn(echo(std::move(server))).detach();
        spawn([](net::TcpStream stream) -> Task<> {
          const std::string more_than_fits(1 << 23, 'x');
          co_await stream.write_all(more_than_fits);
        }(std::move(client)))
            .detach();
      }
      spawn([](net::TcpListener idle) -> Task<> { co_await idle.accept(); }(std::move(listener)))
          .detach();
      co_await tests::yield_times(10);
    }());
  }
  EXPECT_EQ(tests::open_descriptors(), before);
}

TEST_P(Streams, a_task_whose_sockets_are_always_ready_gives_others_a_turn) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    std::atomic<bool> had_a_turn{false};
    auto other = spawn([](std::atomic<bool>& turn) -> Task<> {
      turn.store(true);
      co_return;
    }(had_a_turn));
    std::array<char, 1> byte;
    while (!had_a_turn.load()) {
      co_await ends.client.write_all("x");
      co_await ends.server.read_exact(byte);
    }
    co_await std::move(other);
  });
}

TASKBENCH_ON_EVERY_SCHEDULER(Streams);

/// Tests of behaviour that does not depend on which scheduler runs the tasks.
class StreamOfTwoWorkers : public tests::OnTwoWorkers {};

#if !defined(TASKBENCH_ASAN)
TEST_F(StreamOfTwoWorkers, connecting_without_a_descriptor_left_fails_and_works_again_later) {
  run([]() -> Task<> {
    auto listener = net::TcpListener::bind(net::SocketAddress::loopback());
    const auto address = listener.local_address();
    {
      const tests::DescriptorLimit none(0);
      const auto failure = co_await failure_of(net::TcpStream::connect(address));
      EXPECT_EQ(failure.code, std::errc::too_many_files_open);
      EXPECT_EQ(failure.text, "make a socket for " + address.text() + ": Too many open files");
    }
    auto client = co_await net::TcpStream::connect(address);
    auto server = co_await listener.accept();
    co_await client.write_all("abc");
    EXPECT_EQ(co_await read_bytes(server, 3), "abc");
  });
}

TEST(StreamsOfAFreshRuntime, need_descriptors_of_their_own_and_can_be_had_later) {
  Runtime others = tests::build(tests::kOneWorker);
  auto listener = tests::run_as_task(others, []() -> Task<net::TcpListener> {
    co_return net::TcpListener::bind(net::SocketAddress::loopback());
  });
  const auto address = listener.local_address();
  Runtime runtime = tests::build(tests::kTwoWorkers);
  const auto before = tests::open_descriptors();
  const int next = ::dup(listener.descriptor());
  ::close(next);
  // One descriptor for the socket, and none or one of the two needed to watch it.
  for (const int left : {1, 2}) {
    const tests::DescriptorLimit few(next + left);
    const auto failure = runtime.block_on(failure_of(net::TcpStream::connect(address)));
    EXPECT_EQ(failure.code, std::errc::too_many_files_open) << failure.text;
    EXPECT_EQ(failure.text.rfind("watch descriptors: ", 0), 0U) << failure.text;
  }
  EXPECT_EQ(tests::open_descriptors(), before);
  runtime.block_on([](net::SocketAddress server) -> Task<> {
    auto client = co_await net::TcpStream::connect(server);
    EXPECT_EQ(client.peer_address(), server);
  }(address));
}
#endif

TEST_F(StreamOfTwoWorkers, the_end_is_read_after_the_last_bytes_and_stays) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    co_await ends.client.write_all("abc");
    ends.client.shutdown();
    std::string buffer(100, ' ');
    for (const std::size_t size : {3U, 0U, 0U}) EXPECT_EQ(co_await ends.server.read(buffer), size);
  });
}

TEST_F(StreamOfTwoWorkers, one_that_is_half_open_still_writes) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    ends.client.shutdown_write();
    EXPECT_EQ(co_await read_all(ends.server), "");
    co_await ends.server.write_all("still here");
    ends.server.shutdown_write();
    EXPECT_EQ(co_await read_all(ends.client), "still here");
  });
}

TEST_F(StreamOfTwoWorkers, a_reset_is_an_error_that_names_the_peer) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    auto read = spawn([](net::TcpStream& stream) -> Task<tests::Failure> {
      co_return co_await failure_of(read_all(stream));
    }(ends.server));
    co_await tests::yield_times(3);
    const std::string peer = ends.server.peer_address().text();
    {
      const net::TcpStream reset = std::move(ends.client);
      const_cast<net::TcpStream&>(reset).reset_on_close();
    }
    const auto failure = co_await std::move(read);
    EXPECT_EQ(failure.code, std::errc::connection_reset);
    EXPECT_EQ(failure.text, "read from " + peer + ": Connection reset by peer");
  });
}

TEST_F(StreamOfTwoWorkers, a_reset_is_an_error_of_an_exact_read_and_no_end_of_the_stream) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    ends.client.reset_on_close();
    { const net::TcpStream reset = std::move(ends.client); }
    const auto failure = co_await failure_of(read_bytes(ends.server, 1));
    EXPECT_EQ(failure.code, std::errc::connection_reset) << failure.text;
  });
}

TEST_F(StreamOfTwoWorkers, shutting_down_needs_a_socket_but_no_peer) {
  run([]() -> Task<> {
    const int unconnected = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    net::TcpStream alone(AsyncFd::own(unconnected), net::SocketAddress::loopback(1));
    alone.shutdown_write();
    net::UnixStream none(AsyncFd::own(::eventfd(0, EFD_CLOEXEC)), {});
    std::string text;
    try {
      none.shutdown();
    } catch (const std::system_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text,
              "shut down the connection to a socket without a name: Socket operation on "
              "non-socket");
    co_return;
  });
}

TEST_F(StreamOfTwoWorkers, writing_to_a_peer_that_is_gone_is_an_error_and_no_signal) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    const std::string peer = ends.server.peer_address().text();
    { const net::TcpStream gone = std::move(ends.client); }
    const auto failure = co_await failure_of([](net::TcpStream& stream) -> Task<> {
      for (;;) {
        co_await stream.write_all("x");
        co_await stream.writable();
      }
    }(ends.server));
    EXPECT_TRUE(failure.code == std::errc::broken_pipe ||
                failure.code == std::errc::connection_reset)
        << failure.text;
    EXPECT_EQ(failure.text.find("write to " + peer + ": "), 0U) << failure.text;
    const auto of_buffers = co_await failure_of([](net::TcpStream& stream) -> Task<> {
      char byte = 'x';
      iovec buffer{&byte, 1};
      co_await stream.write_all(net::Buffers(&buffer, 1));
    }(ends.server));
    EXPECT_EQ(of_buffers.text, "write to " + peer + ": Broken pipe");
  });
}

TEST_F(StreamOfTwoWorkers, a_slow_reader_holds_the_writer_back_and_gets_everything) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    ends.client.set_send_buffer(100'000);
    ends.server.set_receive_buffer(100'000);
    const std::string text = long_text(1'000'000);
    auto writer = spawn([](net::TcpStream stream, const std::string& all) -> Task<> {
      co_await stream.write_all(all);
    }(std::move(ends.client), text));
    co_await time::sleep(5ms);
    EXPECT_FALSE(writer.is_finished());
    EXPECT_EQ(co_await read_all(ends.server, 10'000), text);
    co_await std::move(writer);
  });
}

TEST_F(StreamOfTwoWorkers, several_buffers_are_written_and_read_in_their_order) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    ends.client.set_send_buffer(4096);
    std::string text = long_text(300'000);
    auto writer = spawn([](net::TcpStream stream, std::string& all) -> Task<> {
      // More buffers than one call takes, with empty ones among them.
      std::vector<iovec> buffers;
      for (std::size_t at = 0; at < all.size(); at += 100) {
        buffers.push_back({all.data() + at, 100});
        buffers.push_back({nullptr, 0});
      }
      co_await stream.write_all(net::Buffers(buffers));
    }(std::move(ends.client), text));
    std::string got;
    for (;;) {
      std::array<char, 10> first;
      std::array<char, 1000> second;
      std::array<iovec, 2> buffers{{{first.data(), first.size()}, {second.data(), second.size()}}};
      const std::size_t size = co_await ends.server.read(net::Buffers(buffers));
      if (size == 0) break;
      got.append(first.data(), std::min(size, first.size()));
      if (size > first.size()) got.append(second.data(), size - first.size());
    }
    EXPECT_EQ(got, text);
    co_await std::move(writer);
  });
}

TEST_F(StreamOfTwoWorkers, empty_buffers_do_not_end_a_write_of_all) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    std::string text = "abc";
    std::vector<iovec> buffers(1024);  // as many as one call takes
    buffers.push_back({text.data(), text.size()});
    co_await ends.client.write_all(net::Buffers(buffers));
    ends.client.shutdown();
    EXPECT_EQ(co_await read_all(ends.server), "abc");
  });
}

/// An iovec with inaccessible memory right behind it.
class LastIovec {
 public:
  LastIovec()
      : page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        memory_(static_cast<std::byte*>(::mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    EXPECT_EQ(::mprotect(memory_ + page_, page_, PROT_NONE), 0);
  }
  LastIovec(const LastIovec&) = delete;
  LastIovec& operator=(const LastIovec&) = delete;
  ~LastIovec() { ::munmap(memory_, 2 * page_); }

  [[nodiscard]] net::Buffers get() {
    return {reinterpret_cast<iovec*>(memory_ + page_ - sizeof(iovec)), 1};
  }

 private:
  std::size_t page_;
  std::byte* memory_;
};

TEST_F(StreamOfTwoWorkers, nothing_behind_the_last_buffer_is_touched) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    LastIovec last;
    char byte = 'x';
    last.get().front() = {&byte, 1};
    co_await ends.client.write_all(last.get());
    EXPECT_EQ(co_await read_bytes(ends.server, 1), "x");
  });
}

TEST_F(StreamOfTwoWorkers, what_is_peeked_at_is_read_again) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    co_await ends.client.write_all("abc");
    std::string buffer(10, ' ');
    for (int i = 0; i < 2; ++i) EXPECT_EQ(co_await ends.server.peek(buffer), 3U);
    EXPECT_EQ(co_await read_bytes(ends.server, 3), "abc");
  });
}

TEST_F(StreamOfTwoWorkers, reading_and_peeking_may_be_awaited_again) {
  run([]() -> Task<> {
    auto ends = net::UnixStream::pair();
    std::string buffer(10, ' ');
    auto peeking = ends.second.peek(buffer);
    auto reading = ends.second.read(buffer);
    for (const char* text : {"a", "bcd"}) {
      co_await select(peeking, yield_now());  // it has to wait
      co_await ends.first.write_all(text);
      EXPECT_EQ(co_await peeking, std::strlen(text));
      EXPECT_EQ(co_await reading, std::strlen(text));
    }
  });
}

TEST_F(StreamOfTwoWorkers, more_may_be_asked_for_than_one_call_moves) {
  constexpr std::size_t kSize = std::size_t{1} << 32;
  void* const memory = ::mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(::mprotect(memory, 1, PROT_READ | PROT_WRITE), 0);
  run([&]() -> Task<> {
    auto ends = co_await connected();
    co_await ends.client.write_all("abc");
    EXPECT_EQ(co_await ends.server.read(memory, kSize), 3U);
  });
  EXPECT_EQ(::munmap(memory, kSize), 0);
}

TEST_F(StreamOfTwoWorkers, read_exact_waits_for_all_and_says_when_the_peer_had_less) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    auto read = spawn([](net::TcpStream& stream) -> Task<std::string> {
      co_return co_await read_bytes(stream, 6);
    }(ends.server));
    for (const char* part : {"ab", "cd", "ef"}) {
      co_await ends.client.write_all(part);
      co_await tests::yield_times(3);
    }
    EXPECT_EQ(co_await std::move(read), "abcdef");

    const std::string peer = ends.server.peer_address().text();
    co_await ends.client.write_all("abc");
    { const net::TcpStream gone = std::move(ends.client); }
    std::string text;
    try {
      co_await read_bytes(ends.server, 10);
    } catch (const net::EndOfStream& end) {
      text = end.what();
    }
    EXPECT_EQ(text.find("read from " + peer + ": the stream ended after 3 of 10 bytes"), 0U)
        << text;
  });
}

TEST_F(StreamOfTwoWorkers, a_second_reader_is_refused_while_the_first_waits) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    auto first = spawn([](net::TcpStream& stream) -> Task<std::string> {
      co_return co_await read_bytes(stream, 1);
    }(ends.server));
    co_await time::sleep(5ms);
    std::string text;
    try {
      co_await ends.server.readable();
    } catch (const std::logic_error& error) {
      text = error.what();
    }
    EXPECT_NE(text.find("in another task"), std::string::npos) << text;
    co_await ends.server.write_all("the other direction is free");
    co_await ends.client.write_all("x");
    EXPECT_EQ(co_await std::move(first), "x");
  });
}

TEST_F(StreamOfTwoWorkers, a_second_reader_in_the_same_task_is_refused_though_the_first_was_woken) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    const auto second = [](auto& both) -> Task<> {
      co_await yield_now();
      EXPECT_EQ(::send(both.client.descriptor(), "x", 1, 0), 1);
      std::this_thread::sleep_for(20ms);  // the other worker reports the event
      std::array<char, 16> buffer;
      std::string text;
      try {
        EXPECT_EQ(co_await both.server.read(buffer), 0U);
        co_await time::timeout(1ms, both.server.read(buffer));
      } catch (const std::logic_error& error) {
        text = error.what();
      }
      EXPECT_NE(text.find("in another branch of this one"), std::string::npos) << text;
      co_await both.client.write_all("y");
    };
    const auto first = [](auto& both) -> Task<> {
      const auto read = co_await time::timeout(1s, read_bytes(both.server, 2));
      EXPECT_EQ(read, "xy");
    };
    co_await spawn([](auto other, auto reads, auto& both) -> Task<> {
      co_await join(other(both), reads(both));
    }(second, first, ends));
  });
}

TEST_F(StreamOfTwoWorkers, a_read_that_has_begun_goes_on_in_another_task) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    std::array<char, 16> buffer;
    auto read = ends.server.read(buffer);
    auto late = time::sleep(1ms);
    EXPECT_EQ((co_await select(read, late)).index(), 1U);
    auto other = spawn([](auto& begun) -> Task<std::size_t> { co_return co_await begun; }(read));
    co_await time::sleep(1ms);
    co_await ends.client.write_all("late");
    EXPECT_EQ(co_await other, 4U);
  });
}

TEST_F(StreamOfTwoWorkers, a_read_that_was_given_up_leaves_nobody_waiting) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    std::array<char, 16> buffer;
    for (int i = 0; i < 20; ++i) {
      EXPECT_FALSE(co_await time::timeout(1ms, ends.server.read(buffer)));
    }
    co_await ends.client.write_all("late");
    EXPECT_EQ(co_await ends.server.read(buffer), 4U);
  });
}

TEST_F(StreamOfTwoWorkers, two_tasks_own_a_half_each) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    auto halves = std::move(ends.client).split();
    auto server = spawn(echo(std::move(ends.server)));
    const std::string text = long_text(100'000);
    auto writer = spawn([](net::WriteHalf half, const std::string& all) -> Task<> {
      EXPECT_NE(half.peer_address().port(), 0);
      co_await half.write_all(all);
    }(std::move(halves.second), text));
    // The writer's half is gone once it has written, so the echo ends, too.
    EXPECT_EQ(co_await read_all(halves.first), text);
    co_await std::move(writer);
    co_await std::move(server);
  });
}

TEST_F(StreamOfTwoWorkers, a_half_that_writes_ends_its_direction_when_told_or_replaced) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    auto others = co_await connected();
    auto [reading, half] = std::move(ends.client).split();
    net::WriteHalf& same = half;
    half = std::move(same);
    co_await half.write_all("one");
    half = std::move(others.client).split().second;
    EXPECT_EQ(co_await read_all(ends.server), "one");
    co_await half.write_all("two");
    half.shutdown_write();
    EXPECT_EQ(co_await read_all(others.server), "two");
  });
}

TEST_F(StreamOfTwoWorkers, options_are_set_and_read) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    net::TcpStream& stream = ends.client;
    EXPECT_FALSE(stream.no_delay());
    stream.set_no_delay(true);
    EXPECT_TRUE(stream.no_delay());
    EXPECT_FALSE(stream.keep_alive());
    stream.set_keep_alive(true);
    EXPECT_TRUE(stream.keep_alive());
    stream.set_user_timeout(std::chrono::milliseconds::max());
    EXPECT_EQ(stream.user_timeout(), std::chrono::milliseconds(INT_MAX));
    EXPECT_THROW(stream.set_user_timeout(-1ms), std::system_error);
    EXPECT_THROW(stream.set_keep_alive({.idle = 65536h, .interval = 1s, .probes = 1}),
                 std::system_error);
    stream.set_keep_alive(false);
    stream.set_keep_alive({.idle = 3s, .interval = 2s, .probes = 4});
    EXPECT_TRUE(stream.keep_alive());
    EXPECT_EQ(stream.option<int>(IPPROTO_TCP, TCP_KEEPIDLE), 3);
    EXPECT_EQ(stream.option<int>(IPPROTO_TCP, TCP_KEEPINTVL), 2);
    EXPECT_EQ(stream.option<int>(IPPROTO_TCP, TCP_KEEPCNT), 4);
    const int before = stream.receive_buffer();
    stream.set_receive_buffer(10'000);
    EXPECT_GE(stream.receive_buffer(), 10'000);
    EXPECT_LT(stream.receive_buffer(), before);
    stream.set_send_buffer(10'000);
    EXPECT_GE(stream.send_buffer(), 10'000);
    EXPECT_EQ(stream.option<int>(SOL_SOCKET, SO_TYPE), SOCK_STREAM);
    EXPECT_EQ(stream.local_address(), ends.server.peer_address());
    EXPECT_EQ(stream.peer_address(), ends.server.local_address());
    EXPECT_THROW(stream.set_option(SOL_SOCKET, -1, 0), std::system_error);
    EXPECT_THROW(static_cast<void>(stream.option<int>(SOL_SOCKET, -1)), std::system_error);
  });
}

TEST_F(StreamOfTwoWorkers, a_pair_of_unix_sockets_is_connected) {
  run([]() -> Task<> {
    auto both = net::UnixStream::pair();
    net::UnixStream& other = both.second;
    EXPECT_EQ(both.first.local_address(), net::SocketAddress());
    co_await both.first.write_all("abc");
    both.first.shutdown_write();
    EXPECT_EQ(co_await read_all(other), "abc");
    { const net::UnixStream gone = std::move(both.first); }
    const auto failure = co_await failure_of(
        [](net::UnixStream& stream) -> Task<> { co_await stream.write_all("x"); }(other));
    EXPECT_EQ(failure.text, "write to a socket without a name: Broken pipe");
  });
}

TEST(UnixStreams, wait_with_several_buffers_while_there_is_no_room) {
  tests::build(tests::kCurrentThread).block_on([]() -> Task<> {
    auto ends = net::UnixStream::pair();
    const std::string some(1000, 'x');
    std::string all;
    while (::send(ends.first.descriptor(), some.data(), some.size(), 0) > 0) all += some;
    auto writer = spawn([](net::UnixStream stream) -> Task<> {
      std::string last = "abc";
      iovec buffer{last.data(), last.size()};
      co_await stream.write_all(net::Buffers(&buffer, 1));
    }(std::move(ends.first)));
    co_await tests::yield_times(3);
    EXPECT_FALSE(writer.is_finished());
    EXPECT_EQ(co_await read_all(ends.second), all + "abc");
    co_await std::move(writer);
  }());
}

void send_with_descriptor(int socket, std::string text, int descriptor) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  iovec bytes{text.data(), text.size()};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  EXPECT_EQ(::sendmsg(socket, &message, 0), static_cast<ssize_t>(text.size()));
}

// A read stops where descriptors come with the bytes, or where these end: it may leave something
// that no event announces.
TEST(UnixStreams, have_more_to_read_where_a_read_stopped_early) {
  tests::build(tests::kCurrentThread).block_on([]() -> Task<> {
    auto ends = net::UnixStream::pair();
    std::array<char, 16> buffer;
    EXPECT_FALSE(co_await time::timeout(1ms, ends.second.read(buffer)));
    const int socket = ends.first.descriptor();
    send_with_descriptor(socket, "ab", socket);
    EXPECT_EQ(::send(socket, "cd", 2, 0), 2);
    EXPECT_EQ(co_await ends.second.read(buffer), 2U);
    EXPECT_EQ(co_await time::timeout(1s, ends.second.read(buffer)), 2U);
  }());
}

}  // namespace
}  // namespace taskbench::rt
