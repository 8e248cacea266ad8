// What a network, and a crash, can do to the connections of a runtime for tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/net/tcp.hpp"
#include "runtime/net/udp.hpp"
#include "runtime/net/unix.hpp"
#include "runtime/testing/runtime.hpp"
#include "runtime/time/timeout.hpp"
#include "tests/runtime/testing/network_support.hpp"

namespace taskbench::rt::testing {
namespace {

Task<std::vector<int>> datagrams(Runtime& test, int count) {
  const net::SocketAddress address = test.host("server").address(5);
  auto received = test.host("server").spawn([address]() -> Task<std::vector<int>> {
    auto socket = net::UdpSocket::bind(address);
    std::vector<int> all;
    for (;;) {
      int number = 0;
      auto receiving = socket.receive({&number, sizeof(number)});
      const auto datagram = co_await time::timeout(1s, receiving);
      if (!datagram) co_return all;
      EXPECT_EQ(datagram->size, sizeof(number));
      all.push_back(number);
    }
  });
  co_await test.host("client").spawn([address, count]() -> Task<> {
    auto socket = net::UdpSocket::bind(net::SocketAddress::parse("0.0.0.0:0"));
    co_await time::sleep(1ms);
    for (int i = 0; i < count; ++i) co_await socket.send_to({&i, sizeof(i)}, address);
  });
  co_return co_await received;
}

TEST(TestingFaults, what_is_lost_of_a_stream_comes_late_and_whole) {
  bool late = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    with_ends(
        Link{.loss = 0.3},
        [&](Runtime& test, Ends& ends) -> Task<> {
          const auto begun = test.elapsed();
          const std::string sent = "one two three four five six";
          for (const char byte : sent) co_await ends.client.write_all(&byte, 1);
          const std::string received = co_await read_text(ends.server, sent.size());
          EXPECT_EQ(received, sent);
          late = late || test.elapsed() - begun > 200ms;
        },
        seed);
  }
  EXPECT_TRUE(late);
}

TEST(TestingFaults, datagrams_are_lost_doubled_and_overtaken) {
  Runtime test(1);
  test.block_on([&]() -> Task<> {
    test.set_link(kEven);
    const auto even = co_await datagrams(test, 100);
    EXPECT_EQ(even.size(), 100);
    EXPECT_TRUE(std::ranges::is_sorted(even));
    test.set_link(Link{});
    const auto overtaken = co_await datagrams(test, 100);
    EXPECT_EQ(overtaken.size(), 100);
    EXPECT_FALSE(std::ranges::is_sorted(overtaken));
    test.set_link({.loss = 0.5});
    const auto lost = co_await datagrams(test, 100);
    EXPECT_GT(lost.size(), 20);
    EXPECT_LT(lost.size(), 80);
    test.set_link({.duplicates = 0.5});
    const auto doubled = co_await datagrams(test, 100);
    EXPECT_GT(doubled.size(), 120);
    EXPECT_LT(doubled.size(), 180);
  });
}

TEST(TestingFaults, a_connected_datagram_socket_learns_that_nobody_receives) {
  Runtime test(1);
  test.block_on([&]() -> Task<> {
    auto socket = net::UdpSocket::bind(net::SocketAddress::loopback());
    socket.connect(net::SocketAddress::loopback(9));
    co_await socket.send("x");
    const int error = co_await error_of([&]() -> Task<> {
      char byte = 0;
      co_await socket.receive({&byte, 1});
    });
    EXPECT_EQ(error, ECONNREFUSED);
  });
}

TEST(TestingFaults, datagrams_that_nobody_fetches_are_dropped_from_the_257th_on) {
  Runtime test(1, {.link = kEven});
  test.block_on([&]() -> Task<> {
    auto receiver = net::UdpSocket::bind(net::SocketAddress::loopback(1));
    auto sender = net::UdpSocket::bind(net::SocketAddress::loopback(2));
    for (int i = 0; i < 300; ++i) co_await sender.send_to("x", receiver.local_address());
    co_await time::sleep(1s);
    int received = 0;
    for (bool more = true; more; received += more) {
      char byte = 0;
      auto receiving = receiver.receive({&byte, 1});
      const auto datagram = co_await time::timeout(1s, receiving);
      more = datagram.has_value();
    }
    EXPECT_EQ(received, 256);
  });
}

TEST(TestingFaults, a_partition_loses_datagrams_under_way) {
  Runtime test(1, {.link = kEven});
  test.block_on([&]() -> Task<> {
    const Host own = test.host("localhost");
    auto socket = net::UdpSocket::bind(net::SocketAddress::loopback(1));
    co_await socket.send_to("x", socket.local_address());
    test.partition(own, own);
    char byte = 0;
    auto receiving = socket.receive({&byte, 1});
    const auto datagram = co_await time::timeout(1s, receiving);
    EXPECT_FALSE(datagram.has_value());
  });
}

TEST(TestingFaults, a_listener_that_goes_resets_those_that_it_has_not_accepted) {
  Runtime test(1, {.link = kEven});
  test.block_on([&]() -> Task<> {
    auto listener = TcpListener::bind(net::SocketAddress::loopback(1));
    auto client = co_await TcpStream::connect(listener.local_address());
    { const auto gone = std::move(listener); }
    EXPECT_EQ(co_await read_error(client), ECONNRESET);
  });
}

TEST(TestingFaults, a_partition_loses_what_is_under_way_and_its_end_brings_it_late) {
  with_ends(kEven, [](Runtime& test, Ends& ends) -> Task<> {
    const Host client = test.host("client");
    const Host server = test.host("server");
    const auto begun = test.elapsed();
    co_await ends.client.write_all("x");
    test.partition(client, server);
    co_await ends.server.write_all("y");
    auto reading = read_text(ends.server, 1);
    const auto during = co_await time::timeout(10s, std::move(reading));
    EXPECT_FALSE(during);
    test.repair(client, server);
    const std::string there = co_await read_text(ends.server, 1);
    const std::string back = co_await read_text(ends.client, 1);
    EXPECT_EQ(there + back, "xy");
    EXPECT_GT(test.elapsed() - begun, 10s);
    EXPECT_LT(test.elapsed() - begun, 20s);
  });
}

TEST(TestingFaults, a_partition_that_lasts_ends_connections_and_attempts) {
  with_ends(kEven, [](Runtime& test, Ends& ends) -> Task<> {
    const auto begun = test.elapsed();
    test.partition(test.host("client"), test.host("server"));
    EXPECT_EQ(co_await connect_error(test.host("client"), test.host("server").address(80)),
              ETIMEDOUT);
    EXPECT_EQ(test.elapsed() - begun, 127s);
    co_await ends.client.write_all("x");
    EXPECT_EQ(co_await read_error(ends.client), ETIMEDOUT);
    EXPECT_EQ(test.elapsed() - begun, 127s + 924'600ms);
  });
}

TEST(TestingFaults, a_lost_window_fails_who_waits_for_it_and_not_who_only_reads) {
  for (const bool waits : {false, true}) {
    Runtime test(1, {.link = kEven, .window_bytes = 10});
    test.block_on([&]() -> Task<> {
      Ends ends = co_await connected(test);
      const std::string fitting(waits ? 10 : 9, 'x');
      co_await ends.client.write_all(fitting);
      static_cast<void>(co_await read_text(ends.server, fitting.size()));
      test.partition(test.host("client"), test.host("server"));
      if (waits) {
        EXPECT_EQ(co_await write_error(ends.client), ETIMEDOUT);
      }
      auto reading = read_error(ends.server);
      const auto noticed = co_await time::timeout(30min, std::move(reading));
      EXPECT_FALSE(noticed);
    });
  }
}

TEST(TestingFaults, a_connect_whose_answer_gets_lost_is_repeated_and_ends_in_time) {
  Runtime test(1, {.link = kEven});
  test.block_on([&]() -> Task<> {
    const Host client = test.host("client");
    const Host server = test.host("server");
    const net::SocketAddress address = server.address(80);
    test.block(server, client);
    auto refused = spawn(connect_error(client, address));
    co_await time::sleep(500ms);
    test.unblock(server, client);
    EXPECT_EQ(co_await refused, ECONNREFUSED);
    EXPECT_LT(test.elapsed(), 2s);

    server
        .spawn([address]() -> Task<> {
          const auto listener = TcpListener::bind(address);
          co_await time::sleep(30min);
        })
        .detach();
    co_await time::sleep(1ms);
    test.block(server, client);
    const auto begun = test.elapsed();
    EXPECT_EQ(co_await connect_error(client, address), ETIMEDOUT);
    EXPECT_GE(test.elapsed() - begun, 127s);
    EXPECT_LT(test.elapsed() - begun, 128s);
  });
}

TEST(TestingFaults, one_direction_can_be_blocked) {
  with_ends(kEven, [](Runtime& test, Ends& ends) -> Task<> {
    test.block(test.host("client"), test.host("server"));
    co_await ends.server.write_all("x");
    static_cast<void>(co_await read_text(ends.client, 1));
    co_await ends.client.write_all("y");
    auto reading = read_text(ends.server, 1);
    const auto late = co_await time::timeout(5s, std::move(reading));
    EXPECT_FALSE(late);
    test.unblock(test.host("client"), test.host("server"));
    const std::string text = co_await read_text(ends.server, 1);
    EXPECT_EQ(text, "y");
  });
}

TEST(TestingFaults, an_isolated_host_reaches_nobody_but_itself) {
  Runtime test(1);
  test.block_on([&]() -> Task<> {
    const Host alone = test.host("alone");
    const Host other = test.host("other");
    alone.isolate();
    EXPECT_EQ(co_await connect_error(alone, other.address(1)), ETIMEDOUT);
    EXPECT_EQ(co_await connect_error(other, alone.address(1)), ETIMEDOUT);
    EXPECT_EQ(co_await connect_error(alone, net::SocketAddress::loopback(1)), ECONNREFUSED);
    alone.rejoin();
    EXPECT_EQ(co_await connect_error(other, alone.address(1)), ECONNREFUSED);
  });
}

TEST(TestingFaults, a_reset_is_seen_by_both_ends) {
  with_ends(kEven, [](Runtime& test, Ends& ends) -> Task<> {
    auto reading = spawn(read_error(ends.server));
    co_await time::sleep(1s);
    test.reset(test.host("client"), test.host("server"));
    EXPECT_EQ(co_await reading, ECONNRESET);
    EXPECT_EQ(co_await read_error(ends.client), ECONNRESET);
    EXPECT_EQ(co_await write_error(ends.client), EPIPE);
  });
}

TEST(TestingFaults, a_half_open_end_learns_it_when_it_writes) {
  with_ends(kEven, [](Runtime& test, Ends& ends) -> Task<> {
    test.half_open(test.host("client"), test.host("server"));
    EXPECT_EQ(co_await read_error(ends.client), ECONNRESET);
    auto reading = spawn(read_error(ends.server));
    co_await time::sleep(30min);
    EXPECT_FALSE(reading.is_finished());
    EXPECT_EQ(co_await write_error(ends.server), 0);
    EXPECT_EQ(co_await reading, ECONNRESET);
  });
}

TEST(TestingFaults, a_reset_that_is_lost_leaves_the_peer_half_open) {
  with_ends(kEven, [](Runtime& test, Ends& ends) -> Task<> {
    test.block(test.host("server"), test.host("client"));
    ends.server.reset_on_close();
    { const auto gone = std::move(ends.server); }
    auto reading = spawn(read_error(ends.client));
    co_await time::sleep(1s);
    test.unblock(test.host("server"), test.host("client"));
    co_await time::sleep(30min);
    EXPECT_FALSE(reading.is_finished());
    EXPECT_EQ(co_await write_error(ends.client), 0);
    EXPECT_EQ(co_await reading, ECONNRESET);
  });
}

TEST(TestingFaults, seeds_reset_connections_and_leave_them_half_open) {
  int resets = 0;
  int half_open = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const bool both : {true, false}) {
      const Link link{.resets = both ? 0.2 : 0, .half_opens = both ? 0 : 0.2};
      with_ends(
          link,
          [&](Runtime&, Ends& ends) -> Task<> {
            co_await ends.client.write_all("x");
            auto own = read_error(ends.client);
            const auto told = co_await time::timeout(1min, std::move(own));
            auto others = error_of(
                [&]() -> Task<> { static_cast<void>(co_await read_text(ends.server, 1)); });
            const auto other = co_await time::timeout(1min, std::move(others));
            EXPECT_TRUE(!told || *told == ECONNRESET);
            if (both) {
              resets += told && other == ECONNRESET;
            } else {
              half_open += told && !other;
            }
          },
          seed);
    }
  }
  EXPECT_GT(resets, 2);
  EXPECT_LT(resets, 30);
  EXPECT_GT(half_open, 2);
  EXPECT_LT(half_open, 30);
}

TEST(TestingFaults, closing_with_bytes_unread_resets_the_peer) {
  with_ends(kEven, [](Runtime&, Ends& ends) -> Task<> {
    co_await ends.client.write_all("x");
    co_await time::sleep(1s);
    { const auto gone = std::move(ends.server); }
    EXPECT_EQ(co_await read_error(ends.client), ECONNRESET);
  });
  with_ends(kEven, [](Runtime&, Ends& ends) -> Task<> {
    ends.server.reset_on_close();
    { const auto gone = std::move(ends.server); }
    EXPECT_EQ(co_await read_error(ends.client), ECONNRESET);
  });
}

TEST(TestingFaults, a_reset_after_some_of_several_buffers_is_reported_by_the_next_call) {
  with_ends(kEven, [](Runtime&, Ends& ends) -> Task<> {
    co_await ends.client.write_all("abc");
    co_await time::sleep(1s);
    ends.client.reset_on_close();
    { const auto gone = std::move(ends.client); }
    co_await time::sleep(1s);
    char bytes[6];
    iovec into[] = {{bytes, 3}, {bytes + 3, 3}};
    EXPECT_EQ(co_await ends.server.read(net::Buffers(into)), 3);
    const auto read_again = [&]() -> Task<> { co_await ends.server.read(net::Buffers(into)); };
    EXPECT_EQ(co_await error_of(read_again), ECONNRESET);
  });
  with_ends(Link{.resets = 1, .cuts = 0}, [](Runtime&, Ends& ends) -> Task<> {
    char bytes[] = "abcdef";
    iovec from[] = {{bytes, 3}, {bytes + 3, 3}};
    EXPECT_EQ(co_await ends.client.write(net::Buffers(from)), 3);
    EXPECT_EQ(co_await read_error(ends.client), ECONNRESET);
  });
}

TEST(TestingFaults, an_end_that_was_shut_down_writes_no_more) {
  with_ends(kEven, [](Runtime&, Ends& ends) -> Task<> {
    ends.client.shutdown_write();
    EXPECT_EQ(co_await write_error(ends.client), EPIPE);
  });
}

TEST(TestingFaults, writing_to_a_peer_that_has_closed_is_answered_with_a_reset) {
  with_ends(kEven, [](Runtime&, Ends& ends) -> Task<> {
    { const auto gone = std::move(ends.server); }
    EXPECT_EQ(co_await read_error(ends.client), 0);
    EXPECT_EQ(co_await write_error(ends.client), 0);
    co_await time::sleep(1s);
    EXPECT_EQ(co_await read_error(ends.client), 0);
    EXPECT_EQ(co_await write_error(ends.client), EPIPE);
    EXPECT_EQ(co_await write_error(ends.client), EPIPE);
  });
}

TEST(TestingFaults, a_backlog_that_is_full_makes_a_connection_late) {
  Runtime test(1, {.link = kEven});
  test.block_on([&]() -> Task<> {
    auto listener = TcpListener::bind(net::SocketAddress::loopback(80), 1);
    auto first = co_await TcpStream::connect(listener.local_address());
    auto second = spawn(TcpStream::connect(listener.local_address()));
    co_await time::sleep(500ms);
    EXPECT_FALSE(second.is_finished());
    auto accepted = co_await listener.accept();
    auto late = co_await second;
    EXPECT_GT(test.elapsed(), 1s);
  });
}

TEST(TestingHosts, a_crash_takes_tasks_and_sockets_and_leaves_peers_half_open) {
  Runtime test(1, {.link = kEven});
  test.block_on([&]() -> Task<> {
    const Host server = test.host("server");
    int served = 0;
    const auto serve = [&]() -> Task<> {
      auto listener = TcpListener::bind(server.address(80));
      for (;;) {
        auto stream = co_await listener.accept();
        spawn([](TcpStream own, int& count) -> Task<> {
          static_cast<void>(co_await read_text(own, 1));
          ++count;
          co_await time::sleep(1h);
        }(std::move(stream), served))
            .detach();
      }
    };
    auto serving = server.spawn(serve);
    co_await time::sleep(1ms);
    auto client = co_await TcpStream::connect(server.address(80));
    co_await client.write_all("x");
    co_await time::sleep(1s);
    EXPECT_EQ(served, 1);
    server.crash();
    auto reading = spawn(read_error(client));
    co_await time::sleep(1s);
    EXPECT_TRUE(serving.is_finished());
    EXPECT_FALSE(reading.is_finished());
    const Host own = test.host("localhost");
    EXPECT_EQ(co_await connect_error(own, server.address(80)), ETIMEDOUT);
    server.restart();
    EXPECT_EQ(co_await connect_error(own, server.address(80)), ECONNREFUSED);
    EXPECT_FALSE(reading.is_finished());
    co_await client.write_all("x");
    EXPECT_EQ(co_await reading, ECONNRESET);
    server.spawn(serve).detach();
    co_await time::sleep(1ms);
    auto next = co_await TcpStream::connect(server.address(80));
    co_await next.write_all("x");
    co_await time::sleep(1s);
    EXPECT_EQ(served, 2);
  });
}

TEST(TestingHosts, what_a_host_had_still_to_send_goes_with_its_crash) {
  with_ends(kEven, [](Runtime& test, Ends& ends) -> Task<> {
    const Host server = test.host("server");
    server.isolate();
    co_await ends.server.write_all("x");
    { const auto gone = std::move(ends.server); }
    server.crash();
    server.restart();
    server.rejoin();
    auto reading = read_error(ends.client);
    const auto came = co_await time::timeout(30min, std::move(reading));
    EXPECT_FALSE(came);
  });
}

TEST(TestingHosts, a_task_is_on_the_host_of_the_one_that_spawned_it) {
  Runtime test(1);
  test.block_on([&]() -> Task<> {
    const Host host = test.host("host");
    auto address = host.spawn([]() -> Task<net::SocketAddress> {
      auto deeper = spawn([]() -> Task<net::SocketAddress> {
        auto socket = net::UdpSocket::bind(net::SocketAddress::parse("0.0.0.0:0"));
        auto other = TcpListener::bind(net::SocketAddress::parse("0.0.0.0:7"));
        auto stream = co_await TcpStream::connect(net::SocketAddress::loopback(7));
        co_await time::sleep(1h - 1s);
        co_return stream.local_address();
      });
      co_return co_await deeper;
    });
    co_await time::sleep(1s);
    EXPECT_EQ(co_await connect_error(test.host("localhost"), host.address(7)), 0);
  });
}

TEST(TestingHosts, a_socket_that_has_outlived_its_test_is_closed_in_peace) {
  std::optional<TcpStream> kept;
  {
    Runtime test(1);
    test.block_on([&]() -> Task<> {
      Ends ends = co_await connected(test);
      kept.emplace(std::move(ends.client));
    });
  }
  const Runtime next(1);
  kept.reset();
}

TEST(TestingHosts, a_task_that_crashes_its_own_host_goes_no_further_than_its_next_await) {
  Runtime test(1);
  test.block_on([&]() -> Task<> {
    const Host host = test.host("host");
    bool went_on = false;
    host.spawn([&]() -> Task<> {
          host.crash();
          co_await time::sleep(1s);
          went_on = true;
        })
        .detach();
    co_await time::sleep(1min);
    EXPECT_FALSE(went_on);
  });
}

}  // namespace
}  // namespace taskbench::rt::testing
