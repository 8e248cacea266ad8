// The sockets of a runtime for tests: they behave like those of the system.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/driver/driver.hpp"
#include "runtime/driver/simulation.hpp"
#include "runtime/net/resolve.hpp"
#include "runtime/net/tcp.hpp"
#include "runtime/net/udp.hpp"
#include "runtime/net/unix.hpp"
#include "runtime/testing/runtime.hpp"
#include "runtime/time/timeout.hpp"
#include "tests/runtime/net_support.hpp"
#include "tests/runtime/testing/network_support.hpp"

namespace taskbench::rt::testing {
namespace {

TEST(TestingNetwork, a_stream_carries_bytes_both_ways_in_order_until_each_side_ends) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    with_ends(
        Link{},
        [](Runtime&, Ends& ends) -> Task<> {
          std::string sent;
          for (int i = 0; i < 100; ++i) sent += std::to_string(i) + ' ';
          for (std::size_t from = 0; from < sent.size(); from += 7) {
            co_await ends.client.write_all(std::string_view(sent).substr(from, 7));
          }
          ends.client.shutdown_write();
          const std::string received = co_await read_text(ends.server, sent.size());
          EXPECT_EQ(received, sent);
          char byte = 0;
          EXPECT_EQ(co_await ends.server.read(&byte, 1), 0);
          co_await ends.server.write_all("good bye");
          const std::string answer = co_await read_text(ends.client, 8);
          EXPECT_EQ(answer, "good bye");
        },
        seed);
  }
}

TEST(TestingNetwork, opens_no_descriptors_of_the_system) {
  const auto before = tests::open_descriptors();
  with_ends(kEven, [before](Runtime&, Ends& ends) -> Task<> {
    { const TcpStream closed = std::move(ends.client); }
    { const TcpStream closed = std::move(ends.server); }
    EXPECT_EQ(tests::open_descriptors(), before);
    co_return;
  });
}

// The first socket of the process has the lowest simulated number.
TEST(TestingNetwork, the_lowest_number_is_not_watched_by_the_system) {
  const Runtime test(1);
  const base::Ref<driver::Driver> driver(new driver::Driver(0));
  driver->registrations().add(*driver, driver::kFirstSimulated).retire();
  EXPECT_FALSE(driver->watches_descriptors());
}

TEST(TestingNetwork, a_stream_that_ends_before_it_is_accepted_is_at_its_end_for_good) {
  Runtime test(1, {.link = kEven});
  test.block_on([&]() -> Task<> {
    auto listener = TcpListener::bind(net::SocketAddress::loopback(80));
    auto client = co_await TcpStream::connect(listener.local_address());
    client.shutdown_write();
    co_await time::sleep(1s);
    auto server = co_await listener.accept();
    char byte = 0;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(co_await server.read(&byte, 1), 0);
  });
}

TEST(TestingNetwork, what_came_before_accept_is_read_to_its_end) {
  for (const bool resets : {false, true}) {
    Runtime test(1, {.link = kEven});
    test.block_on([&]() -> Task<> {
      auto listener = TcpListener::bind(net::SocketAddress::loopback(80));
      {
        auto client = co_await TcpStream::connect(listener.local_address());
        co_await client.write_all("x");
        if (resets) client.reset_on_close();
      }
      co_await time::sleep(1s);
      auto server = co_await listener.accept();
      char bytes[2];
      EXPECT_EQ(co_await server.read(bytes), 1);
      EXPECT_EQ(co_await read_error(server), resets ? ECONNRESET : 0);
    });
  }
}

TEST(TestingNetwork, a_segment_takes_its_latency) {
  Runtime test(1, {.link = kEven});
  test.block_on([&]() -> Task<> {
    Ends ends = co_await connected(test);
    const auto begun = test.elapsed();
    co_await ends.client.write_all("x");
    static_cast<void>(co_await read_text(ends.server, 1));
    EXPECT_EQ(test.elapsed() - begun, 1ms);
    test.set_link(test.host("server"), test.host("client"),
                  {.least_latency = 20ms, .most_latency = 30ms});
    co_await ends.client.write_all("x");
    static_cast<void>(co_await read_text(ends.server, 1));
    EXPECT_GE(test.elapsed() - begun, 21ms);
    EXPECT_LE(test.elapsed() - begun, 31ms);
  });
}

TEST(TestingNetwork, two_connections_overtake_each_other) {
  bool first_came_first = false;
  bool second_came_first = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Runtime test(seed);
    test.block_on([&]() -> Task<> {
      Ends one = co_await connected(test, 1);
      Ends other = co_await connected(test, 2);
      co_await one.client.write_all("x");
      co_await other.client.write_all("x");
      const auto came = co_await select(read_text(one.server, 1), read_text(other.server, 1));
      (came.index() == 0 ? first_came_first : second_came_first) = true;
    });
  }
  EXPECT_TRUE(first_came_first && second_came_first);
}

TEST(TestingNetwork, a_write_may_be_read_in_pieces) {
  bool whole = false;
  bool cut = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    with_ends(
        Link{},
        [&](Runtime&, Ends& ends) -> Task<> {
          co_await ends.client.write_all("0123456789");
          char bytes[10];
          const std::size_t size = co_await ends.server.read(bytes, sizeof(bytes));
          (size == 10 ? whole : cut) = true;
        },
        seed);
  }
  EXPECT_TRUE(whole && cut);
}

TEST(TestingNetwork, a_writer_waits_for_a_reader_once_the_window_is_full) {
  Runtime test(1, {.window_bytes = 1000});
  test.block_on([&]() -> Task<> {
    Ends ends = co_await connected(test);
    const std::string fitting(1000, 'x');
    EXPECT_EQ(co_await ends.server.write(fitting), 1000);
    auto next = write_error(ends.server);
    const auto written = co_await time::timeout(1min, std::move(next));
    EXPECT_FALSE(written);
    const std::string many(5000, 'x');
    auto writing = spawn([&]() -> Task<> { co_await ends.client.write_all(many); });
    co_await time::sleep(1min);
    EXPECT_FALSE(writing.is_finished());
    std::string all;
    char bytes[600];
    while (all.size() < many.size()) {
      const std::size_t size = co_await ends.server.read(bytes, sizeof(bytes));
      all.append(bytes, size);
    }
    co_await writing;
    EXPECT_EQ(all, many);
  });
}

TEST(TestingNetwork, a_shutdown_of_both_directions_ends_a_read_that_waits) {
  with_ends(kEven, [](Runtime&, Ends& ends) -> Task<> {
    auto reading = spawn(read_error(ends.server));
    co_await time::sleep(1s);
    EXPECT_FALSE(reading.is_finished());
    ends.server.shutdown();
    EXPECT_EQ(co_await reading, 0);
    EXPECT_EQ(co_await read_error(ends.client), 0);
    EXPECT_EQ(co_await write_error(ends.server), EPIPE);
  });
}

TEST(TestingNetwork, a_shutdown_ends_a_write_that_waits) {
  for (const bool both : {false, true}) {
    Runtime test(1, {.link = kEven, .window_bytes = 10});
    test.block_on([&]() -> Task<> {
      Ends ends = co_await connected(test);
      const std::string many(20, 'x');
      auto writing = spawn(error_of([&]() -> Task<> { co_await ends.client.write_all(many); }));
      co_await time::sleep(1s);
      EXPECT_FALSE(writing.is_finished());
      if (both) {
        ends.client.shutdown();
      } else {
        ends.client.shutdown_write();
      }
      EXPECT_EQ(co_await writing, EPIPE);
      co_await ends.client.writable();
    });
  }
}

TEST(TestingNetwork, peek_split_and_several_buffers_are_as_with_the_systems) {
  with_ends(kEven, [](Runtime&, Ends& ends) -> Task<> {
    std::string first = "ab";
    std::string second = "cde";
    iovec buffers[] = {{first.data(), first.size()}, {second.data(), second.size()}};
    co_await ends.client.write_all(net::Buffers(buffers));
    char bytes[5];
    co_await ends.server.readable();
    co_await ends.server.writable();
    EXPECT_EQ(co_await ends.server.peek(bytes), 5);
    iovec into[] = {{bytes, 2}, {bytes + 2, 3}};
    EXPECT_EQ(co_await ends.server.read(net::Buffers(into)), 5);
    EXPECT_EQ(std::string_view(bytes, 5), "abcde");
    auto [reads, writes] = std::move(ends.server).split();
    { const auto gone = std::move(writes); }
    EXPECT_EQ(co_await ends.client.read(bytes, 1), 0);
    co_await ends.client.write_all("x");
    EXPECT_EQ(co_await reads.read(bytes), 1);
  });
}

TEST(TestingNetwork, options_and_addresses_of_sockets_are_kept) {
  with_ends(kEven, [](Runtime& test, Ends& ends) -> Task<> {
    EXPECT_FALSE(ends.client.no_delay());
    ends.client.set_no_delay(true);
    EXPECT_TRUE(ends.client.no_delay());
    EXPECT_EQ(ends.client.peer_address(), test.host("server").address(80));
    EXPECT_EQ(ends.server.local_address(), test.host("server").address(80));
    EXPECT_EQ(ends.server.peer_address(), ends.client.local_address());
    co_return;
  });
}

TEST(TestingNetwork, a_read_that_is_given_up_takes_nothing_with_it) {
  with_ends(kEven, [](Runtime&, Ends& ends) -> Task<> {
    auto reading = read_error(ends.server);
    const auto late = co_await time::timeout(1s, std::move(reading));
    EXPECT_FALSE(late);
    co_await ends.client.write_all("x");
    const std::string text = co_await read_text(ends.server, 1);
    EXPECT_EQ(text, "x");
  });
}

TEST(TestingNetwork, where_nobody_listens_a_connection_is_refused) {
  Runtime test(1);
  test.block_on([&]() -> Task<> {
    EXPECT_EQ(co_await connect_error(test.host("a"), test.host("b").address(1)), ECONNREFUSED);
    const auto nowhere = net::SocketAddress::parse("192.0.2.1:1");
    EXPECT_EQ(co_await connect_error(test.host("a"), nowhere), ENETUNREACH);
  });
}

TEST(TestingNetwork, each_host_has_a_loopback_and_ports_of_its_own) {
  Runtime test(1);
  test.block_on([&]() -> Task<> {
    const Host one = test.host("one");
    const Host other = test.host("other");
    auto bind = [](net::SocketAddress address) {
      return [address]() -> Task<int> {
        co_return co_await error_of([address]() -> Task<> {
          const auto listener = TcpListener::bind(address);
          co_await time::sleep(1s);
        });
      };
    };
    auto first = one.spawn(bind(net::SocketAddress::loopback(80)));
    auto second = other.spawn(bind(net::SocketAddress::loopback(80)));
    co_await time::sleep(1ms);
    auto third = one.spawn(bind(one.address(80)));
    auto fourth = one.spawn(bind(other.address(81)));
    EXPECT_EQ(co_await connect_error(other, one.address(80)), ECONNREFUSED);
    EXPECT_EQ(co_await connect_error(one, net::SocketAddress::loopback(80)), 0);
    EXPECT_EQ(co_await third, EADDRINUSE);
    EXPECT_EQ(co_await fourth, EADDRNOTAVAIL);
    EXPECT_EQ(co_await first, 0);
    EXPECT_EQ(co_await second, 0);
  });
}

TEST(TestingNetwork, a_socket_gets_what_is_sent_to_its_own_address_alone) {
  struct Case {
    const char* own;
    const char* peer;
    int error;
  };
  static constexpr Case kCases[] = {
      {"127.0.0.1:1", "127.0.0.1:1", 0}, {"127.0.0.1:2", "127.0.0.2:2", ECONNREFUSED},
      {"0.0.0.0:3", "127.0.0.2:3", 0},   {"0.0.0.0:4", "[::1]:4", ECONNREFUSED},
      {"[::]:5", "127.0.0.1:5", 0},      {"[::]:6", "[::1]:6", 0},
      {"[::1]:7", "[::1]:7", 0},         {"10.0.0.1:8", "127.0.0.1:8", ECONNREFUSED},
  };
  Runtime test(1);
  test.block_on([&]() -> Task<> {
    const Host own = test.host("localhost");
    for (const Case& each : kCases) {
      const auto listener = TcpListener::bind(net::SocketAddress::parse(each.own));
      const int error = co_await connect_error(own, net::SocketAddress::parse(each.peer));
      EXPECT_EQ(error, each.error) << each.own << " " << each.peer;
    }
    const auto receiver = net::UdpSocket::bind(net::SocketAddress::loopback(9));
    auto sender = net::UdpSocket::bind(net::SocketAddress::parse("0.0.0.0:10"));
    sender.connect(own.address(9));
    co_await sender.send("x");
    const int error = co_await error_of([&]() -> Task<> {
      char byte = 0;
      co_await sender.receive({&byte, 1});
    });
    EXPECT_EQ(error, ECONNREFUSED);
  });
}

TEST(TestingNetwork, a_host_has_16384_ports_for_those_who_ask_for_any) {
  Runtime test(1);
  test.block_on([&]() -> Task<> {
    const Host own = test.host("localhost");
    const net::SocketAddress any = net::SocketAddress::loopback(0);
    std::vector<TcpListener> listeners;
    for (int i = 0; i < 16'384; ++i) listeners.push_back(TcpListener::bind(any));
    const auto bind = [any]() -> Task<> {
      const auto one_more = TcpListener::bind(any);
      co_return;
    };
    EXPECT_EQ(co_await error_of(bind), EADDRINUSE);
    EXPECT_EQ(co_await connect_error(own, listeners.front().local_address()), EADDRNOTAVAIL);
    listeners.pop_back();
    EXPECT_EQ(co_await error_of(bind), 0);
    EXPECT_EQ(co_await connect_error(own, listeners.front().local_address()), 0);
  });
}

TEST(TestingNetwork, unix_sockets_and_pairs_are_in_memory_too) {
  Runtime test(1);
  test.block_on([]() -> Task<> {
    auto listener = net::UnixListener::bind(net::SocketAddress::unix_path("/no/such/folder/it"));
    auto client = co_await net::UnixStream::connect(listener.local_address());
    auto server = co_await listener.accept();
    auto pair = net::UnixStream::pair();
    for (auto* const ends : {&client, &pair.first}) co_await ends->write_all("hello");
    for (auto* const ends : {&server, &pair.second}) {
      const std::string text = co_await read_text(*ends, 5);
      EXPECT_EQ(text, "hello");
    }
  });
}

TEST(TestingNetwork, hosts_are_found_by_their_names_and_no_others) {
  Runtime test(1);
  test.block_on([&]() -> Task<> {
    const Host server = test.host("server");
    const auto found = co_await net::resolve("server", "80");
    EXPECT_EQ(found.front(), server.address(80));
    // The name of this machine, which the system knows without a network, is not found either.
    std::array<char, HOST_NAME_MAX + 1> own{};
    EXPECT_EQ(::gethostname(own.data(), own.size()), 0);
    for (const char* name : {"example.org", static_cast<const char*>(own.data())}) {
      if (std::string_view(name) == "localhost") continue;
      bool failed = false;
      try {
        co_await net::resolve(name, "80");
      } catch (const std::system_error&) {
        failed = true;
      }
      EXPECT_TRUE(failed) << name;
    }
  });
}

TEST(TestingNetwork, a_connected_datagram_socket_receives_from_its_peer_alone) {
  Runtime test(1, {.link = kEven});
  test.block_on([&]() -> Task<> {
    auto receiver = net::UdpSocket::bind(net::SocketAddress::loopback(1));
    auto stranger = net::UdpSocket::bind(net::SocketAddress::loopback(2));
    auto peer = net::UdpSocket::bind(net::SocketAddress::loopback(3));
    receiver.connect(peer.local_address());
    co_await stranger.send_to("stranger", receiver.local_address());
    co_await peer.send_to("peer", receiver.local_address());
    char bytes[16];
    const net::Datagram datagram = co_await receiver.receive(bytes);
    EXPECT_EQ(std::string_view(bytes, datagram.size), "peer");
    EXPECT_EQ(datagram.from, peer.local_address());
  });
}

}  // namespace
}  // namespace taskbench::rt::testing
