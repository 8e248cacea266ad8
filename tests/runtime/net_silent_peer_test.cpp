// Peers that vanish silently, like a machine that loses power: the system drops everything sent to
// them, and nothing comes from them, neither data nor acknowledgements, FIN or RST.
#include <gtest/gtest.h>

#include <linux/filter.h>
#include <sys/socket.h>

#include <chrono>
#include <optional>

#include "runtime/net/tcp.hpp"
#include "runtime/time/sleep.hpp"
#include "runtime/time/timeout.hpp"
#include "tests/runtime/net_support.hpp"

namespace taskbench::rt {
namespace {

using namespace std::chrono_literals;
using tests::connected;
using tests::failure_of;
using tests::read_bytes;

/// Makes `socket` receive nothing from here on, by a packet filter that passes nothing and needs no
/// privileges.
void silence(net::Socket& socket) {
  sock_filter drop_all{.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0};
  socket.set_option(SOL_SOCKET, SO_ATTACH_FILTER, sock_fprog{.len = 1, .filter = &drop_all});
}

void end_silence(net::Socket& socket) { socket.set_option(SOL_SOCKET, SO_DETACH_FILTER, 0); }

class SilentPeers : public tests::OnTwoWorkers {};

TEST_F(SilentPeers, reading_is_given_up_after_a_time_out_and_goes_on_when_they_are_back) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    silence(ends.server);
    co_await ends.client.write_all("x");
    const auto nothing = co_await time::timeout(20ms, read_bytes(ends.server, 1));
    EXPECT_EQ(nothing, std::nullopt);
    end_silence(ends.server);
    EXPECT_EQ(co_await read_bytes(ends.server, 1), "x");
  });
}

TEST_F(SilentPeers, connecting_is_given_up_after_a_time_out_and_leaves_no_descriptor) {
  run([]() -> Task<> {
    auto listener = net::TcpListener::bind(net::SocketAddress::loopback());
    silence(listener);
    const auto before = tests::open_descriptors();
    const auto nothing =
        co_await time::timeout(20ms, net::TcpStream::connect(listener.local_address()));
    EXPECT_FALSE(nothing.has_value());
    EXPECT_EQ(tests::open_descriptors(), before);
  });
}

TEST_F(SilentPeers, a_writer_fails_after_the_user_timeout) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    EXPECT_EQ(ends.server.user_timeout(), 0ms);
    ends.server.set_user_timeout(100ms);
    EXPECT_EQ(ends.server.user_timeout(), 100ms);
    silence(ends.client);
    co_await ends.server.write_all("x");
    const auto failure = co_await failure_of(read_bytes(ends.server, 1));
    EXPECT_EQ(failure.text,
              "read from " + ends.server.peer_address().text() + ": Connection timed out");
  });
}

TEST_F(SilentPeers, a_reader_fails_when_probes_are_not_answered) {
  run([]() -> Task<> {
    auto ends = co_await connected();
    ends.server.set_keep_alive({.idle = 1s, .interval = 1s, .probes = 1});
    EXPECT_TRUE(ends.server.keep_alive());
    silence(ends.client);
    const auto begun = time::Clock::now();
    const auto failure = co_await failure_of(read_bytes(ends.server, 1));
    EXPECT_EQ(failure.code, std::errc::timed_out) << failure.text;
    EXPECT_GE(time::Clock::now() - begun, 1s);
  });
}

}  // namespace
}  // namespace taskbench::rt
