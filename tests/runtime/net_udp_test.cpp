#include "runtime/net/udp.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <system_error>

#include "runtime/time/sleep.hpp"
#include "tests/runtime/net_support.hpp"

namespace taskbench::rt {
namespace {

using namespace std::chrono_literals;
using net::SocketAddress;
using net::UdpSocket;
using tests::failure_of;

class Udp : public tests::OnOneRuntime {};

TEST_P(Udp, datagrams_keep_their_borders_and_say_where_they_are_from) {
  run([]() -> Task<> {
    auto one = UdpSocket::bind(SocketAddress::loopback());
    auto other = UdpSocket::bind(SocketAddress::loopback());
    auto sender = spawn([](UdpSocket& from, SocketAddress to) -> Task<> {
      for (const char* text : {"a", "", "long"}) co_await from.send_to(text, to);
    }(one, other.local_address()));
    std::string buffer(3, ' ');
    for (const char* text : {"a", "", "lon"}) {
      const net::Datagram datagram = co_await other.receive(buffer);
      EXPECT_EQ(buffer.substr(0, datagram.size), text);
      EXPECT_EQ(datagram.from, one.local_address());
      EXPECT_EQ(datagram.is_cut, std::string(text) == "lon");
    }
    co_await std::move(sender);
  });
}

TASKBENCH_ON_EVERY_SCHEDULER(Udp);

class UdpOfTwoWorkers : public tests::OnTwoWorkers {};

TEST_F(UdpOfTwoWorkers, what_is_peeked_at_is_received_again) {
  run([]() -> Task<> {
    auto socket = UdpSocket::bind(SocketAddress::loopback());
    const auto address = socket.local_address();
    co_await socket.send_to("abc", address);
    std::string buffer(10, ' ');
    EXPECT_EQ((co_await socket.peek(buffer)).size, 3U);
    EXPECT_EQ((co_await socket.receive(buffer)).size, 3U);
  });
}

TEST_F(UdpOfTwoWorkers, a_peer_that_is_gone_refuses_and_the_socket_goes_on) {
  run([]() -> Task<> {
    auto peer = SocketAddress::loopback();
    {
      auto gone = UdpSocket::bind(peer);
      peer = gone.local_address();
    }
    auto socket = UdpSocket::bind(SocketAddress::loopback());
    socket.connect(peer);
    co_await socket.send("x");
    const auto failure = co_await failure_of([](UdpSocket& from) -> Task<> {
      std::string buffer(10, ' ');
      co_await from.receive(buffer);
    }(socket));
    EXPECT_EQ(failure.text, "receive from " + peer.text() + ": Connection refused");

    auto back = UdpSocket::bind(peer);
    auto receiving = spawn([](UdpSocket& from) -> Task<std::size_t> {
      std::string buffer(10, ' ');
      const net::Datagram datagram = co_await from.receive(buffer);
      co_return datagram.size;
    }(socket));
    co_await tests::yield_times(3);
    co_await back.send_to("abc", socket.local_address());
    EXPECT_EQ(co_await std::move(receiving), 3U);
  });
}

TEST_F(UdpOfTwoWorkers, a_datagram_that_fits_exactly_is_whole) {
  run([]() -> Task<> {
    auto socket = UdpSocket::bind(SocketAddress::loopback());
    const auto address = socket.local_address();
    co_await socket.send_to("abc", address);
    std::string buffer(3, ' ');
    const net::Datagram datagram = co_await socket.receive(buffer);
    EXPECT_EQ(datagram.size, 3U);
    EXPECT_FALSE(datagram.is_cut);
  });
}

// Addresses have different lengths here, as those of datagrams within the machine do.
TEST_F(UdpOfTwoWorkers, receiving_may_be_awaited_again) {
  run([]() -> Task<> {
    const auto name = [](const char* of) {
      return SocketAddress::parse("@taskbench-" + std::to_string(::getpid()) + of);
    };
    auto socket = UdpSocket::bind(name("-receives"));
    UdpSocket nameless(AsyncFd::own(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
    auto named = UdpSocket::bind(name("-sends"));
    const auto to = socket.local_address();
    for (UdpSocket* const sender : {&nameless, &named}) co_await sender->send_to("x", to);
    std::string buffer(1, ' ');
    auto receiving = socket.receive(buffer);
    const net::Datagram first = co_await receiving;
    EXPECT_EQ(first.from, SocketAddress());
    const net::Datagram second = co_await receiving;
    EXPECT_EQ(second.from, name("-sends"));
  });
}

/// Sends bytes to a Unix socket until it has no room for more; returns how many it has got.
int fill(const SocketAddress& to) {
  for (int sent = 0;;) {
    const int before = sent;
    // One socket alone may run out of room of its own.
    const net::detail::Descriptor sender(
        ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    while (::sendto(sender.get(), "x", 1, 0, to.data(), to.size()) == 1) ++sent;
    if (sent == before) return sent;
  }
}

TEST_F(UdpOfTwoWorkers, a_unix_receiver_without_room_is_tried_now_and_then) {
  run([&]() -> Task<> {
    auto receiver = UdpSocket::bind(
        SocketAddress::parse("@taskbench-" + std::to_string(::getpid()) + "-is-full"));
    const auto to = receiver.local_address();
    const int sent = fill(to);
    UdpSocket sender(AsyncFd::own(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
    auto sending = spawn([](UdpSocket& from, const SocketAddress& at) -> Task<> {
      co_await from.send_to("last", at);
    }(sender, to));
    const auto before = runtime_.stats().total().polls;
    co_await time::sleep(20ms);
    EXPECT_FALSE(sending.is_finished());
    EXPECT_LT(runtime_.stats().total().polls - before, 50U);
    std::string buffer(4, ' ');
    for (int i = 0; i < sent; ++i) co_await receiver.receive(buffer);
    EXPECT_EQ((co_await receiver.receive(buffer)).size, 4U);
    co_await std::move(sending);
  });
}

TEST_F(UdpOfTwoWorkers, a_peer_of_another_family_is_refused) {
  run([]() -> Task<> {
    auto socket = UdpSocket::bind(SocketAddress::loopback());
    std::string text;
    try {
      socket.connect(SocketAddress::parse("[::1]:9"));
    } catch (const std::system_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text, "connect to [::1]:9: Address family not supported by protocol");
    co_return;
  });
}

TEST_F(UdpOfTwoWorkers, only_one_that_may_sends_to_all) {
  run([]() -> Task<> {
    auto socket = UdpSocket::bind(SocketAddress::loopback());
    EXPECT_EQ(socket.option<int>(SOL_SOCKET, SO_BROADCAST), 0);
    socket.set_broadcast(true);
    EXPECT_NE(socket.option<int>(SOL_SOCKET, SO_BROADCAST), 0);
    co_return;
  });
}

TEST_F(UdpOfTwoWorkers, a_datagram_that_is_too_long_is_refused) {
  run([]() -> Task<> {
    auto socket = UdpSocket::bind(SocketAddress::loopback());
    const auto to = socket.local_address();
    const auto failure =
        co_await failure_of([](UdpSocket& from, const SocketAddress& at) -> Task<> {
          const std::string text(70'000, 'x');
          co_await from.send_to(text, at);
        }(socket, to));
    EXPECT_EQ(failure.text, "send to " + to.text() + ": Message too long");
  });
}

}  // namespace
}  // namespace taskbench::rt
