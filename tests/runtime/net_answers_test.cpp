// Answers that the system may give but hardly ever does: failing socket calls, and transfers that
// end early. A simulation gives the answers.
#include <gtest/gtest.h>
#include <sys/epoll.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "runtime/driver/registration.hpp"
#include "runtime/driver/simulation.hpp"
#include "runtime/net/tcp.hpp"
#include "runtime/net/udp.hpp"
#include "runtime/net/unix.hpp"
#include "runtime/time/timeout.hpp"
#include "tests/runtime/net_support.hpp"

namespace taskbench::rt {
namespace {

using namespace std::chrono_literals;
using net::SocketAddress;
using net::TcpListener;
using net::TcpStream;
using net::UdpSocket;
using tests::failure_of;

/// A system whose sockets can do everything, except for the answers that a test provides. It holds
/// for the thread that made it.
class Answers final : private driver::Simulation {
 public:
  Answers() { driver::enter_simulation(this); }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  ~Answers() { driver::enter_simulation(nullptr); }

  /// Sets the results of the next calls of this name; minus errno is a failure.
  void give(const std::string& call, const std::vector<int>& results) {
    auto& next = next_[call];
    next.insert(next.end(), results.begin(), results.end());
  }
  /// Announces more input for the socket made last.
  void announce() { watched_last_->on_events(EPOLLIN); }
  /// The number of calls of this name so far.
  [[nodiscard]] int calls(const std::string& call) { return calls_[call]; }

 private:
  int answer(const std::string& call, int otherwise) {
    ++calls_[call];
    auto& next = next_[call];
    if (next.empty()) return otherwise;
    const int result = next.front();
    next.pop_front();
    return result;
  }

  base::Clock::time_point now() const noexcept override { return base::Clock::now(); }
  int socket(int, int) override { return answer("socket", next_descriptor_++); }
  int bind(int, const sockaddr*, socklen_t) override { return answer("bind", 0); }
  int listen(int, int) override { return answer("listen", 0); }
  int accept(int, sockaddr* peer, socklen_t* size) override {
    const int accepted = answer("accept", next_descriptor_++);
    if (accepted >= 0) static_cast<void>(getsockname(accepted, peer, size));
    return accepted;
  }
  int connect(int, const sockaddr*, socklen_t) override { return answer("connect", 0); }
  int socketpair(int, int, int* ends) override {
    for (int i = 0; i < 2; ++i) ends[i] = next_descriptor_++;
    return answer("socketpair", 0);
  }
  ssize_t recvfrom(int, void* into, std::size_t size, int, sockaddr*, socklen_t*) override {
    const int received = answer("recvfrom", static_cast<int>(size));
    if (received > 0) std::memset(into, 'x', static_cast<std::size_t>(received));
    return received;
  }
  ssize_t sendto(int, const void*, std::size_t size, const sockaddr*, socklen_t) override {
    return answer("sendto", static_cast<int>(size));
  }
  int shutdown(int, int) override { return answer("shutdown", 0); }
  int close(int) override { return answer("close", 0); }
  int getsockname(int, sockaddr* address, socklen_t* size) override {
    const SocketAddress own = SocketAddress::loopback(1);
    std::memcpy(address, own.data(), own.size());
    *size = own.size();
    return answer("getsockname", 0);
  }
  int setsockopt(int, int, int name, const void*, socklen_t) override {
    return answer("setsockopt " + std::to_string(name), 0);
  }
  int getsockopt(int, int, int, void* value, socklen_t* size) override {
    std::memset(value, 0, *size);
    return answer("getsockopt", 0);
  }
  int poll(pollfd*) override { return answer("poll", 1); }
  void watch(int, driver::Registration* registration) override {
    const int answered = registration == nullptr ? 0 : answer("watch", 0);
    if (answered != 0) throw std::system_error(-answered, std::system_category(), "watch");
    watched_last_ = registration;
  }
  std::string resolve(const std::string&) const override { return {}; }

  std::map<std::string, std::deque<int>> next_;
  std::map<std::string, int> calls_;
  driver::Registration* watched_last_ = nullptr;
  int next_descriptor_ = driver::kFirstSimulated;
};

class SystemAnswers : public ::testing::Test {
 protected:
  template <class Body>
  void run(Body body) {
    runtime_.block_on(body());
  }

  Runtime runtime_ = tests::build(tests::kCurrentThread);
  Answers system_;
};

/// What `function` throws.
template <class Function>
std::string text_of(Function function) {
  try {
    function();
  } catch (const std::system_error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(SystemAnswers, errors_of_a_connection_that_is_gone_do_not_end_accepting) {
  system_.give("accept", {-ECONNABORTED, -ENETDOWN, -EPROTO, -ENOPROTOOPT, -EHOSTDOWN, -ENONET,
                          -EHOSTUNREACH, -ENETUNREACH});
  run([&]() -> Task<> {
    auto listener = TcpListener::bind(SocketAddress::loopback());
    auto stream = co_await listener.accept();
    EXPECT_EQ(stream.peer_address(), SocketAddress::loopback(1));
  });
  EXPECT_EQ(system_.calls("accept"), 9);
}

TEST_F(SystemAnswers, a_shortage_of_any_kind_may_pass) {
  system_.give("accept", {-EMFILE, -ENFILE, -ENOBUFS, -ENOMEM});
  run([&]() -> Task<> {
    auto listener = TcpListener::bind(SocketAddress::loopback());
    auto stream = co_await listener.accept();
  });
  EXPECT_EQ(system_.calls("accept"), 5);
}

TEST_F(SystemAnswers, a_connection_that_cannot_be_watched_yet_is_kept) {
  run([&]() -> Task<> {
    auto listener = TcpListener::bind(SocketAddress::loopback());
    system_.give("watch", {-ENOMEM, -ENOSPC});
    auto stream = co_await listener.accept();
    EXPECT_EQ(stream.peer_address(), SocketAddress::loopback(1));
    EXPECT_EQ(system_.calls("accept"), 1);
    EXPECT_EQ(system_.calls("close"), 0);
  });
}

TEST_F(SystemAnswers, a_connection_that_cannot_be_watched_yet_outlasts_an_accept_that_is_given_up) {
  run([&]() -> Task<> {
    auto listener = TcpListener::bind(SocketAddress::loopback());
    system_.give("watch", {-ENOMEM});
    EXPECT_FALSE(co_await time::timeout(0ms, listener.accept()));
    auto stream = co_await listener.accept();
    EXPECT_EQ(system_.calls("accept"), 1);
    EXPECT_EQ(system_.calls("close"), 0);
    auto other = co_await listener.accept();
    EXPECT_EQ(system_.calls("accept"), 2);
  });
}

TEST_F(SystemAnswers, a_connection_that_can_never_be_watched_is_closed) {
  run([&]() -> Task<> {
    auto listener = TcpListener::bind(SocketAddress::loopback());
    system_.give("watch", {-EPERM});
    const auto failure = co_await failure_of(listener.accept());
    EXPECT_EQ(failure.code, std::errc::operation_not_permitted) << failure.text;
    EXPECT_EQ(system_.calls("close"), 1);
    auto stream = co_await listener.accept();
    EXPECT_EQ(system_.calls("accept"), 2);
  });
}

TEST_F(SystemAnswers, any_other_error_of_accept_is_reported_at_once) {
  system_.give("accept", {-EINVAL});
  run([&]() -> Task<> {
    auto listener = TcpListener::bind(SocketAddress::loopback());
    const auto failure = co_await failure_of(listener.accept());
    EXPECT_EQ(failure.text, "accept at 127.0.0.1:1: Invalid argument");
  });
  EXPECT_EQ(system_.calls("accept"), 1);
}

TEST_F(SystemAnswers,
       a_chosen_port_may_be_taken_again_at_once_and_any_other_is_the_systems_choice) {
  const std::string reuse = "setsockopt " + std::to_string(SO_REUSEADDR);
  run([&]() -> Task<> {
    const auto any = TcpListener::bind(SocketAddress::loopback());
    const auto local = net::UnixListener::bind(SocketAddress::unix_path("@name"));
    EXPECT_EQ(system_.calls(reuse), 0);
    const auto chosen = TcpListener::bind(SocketAddress::loopback(80));
    EXPECT_EQ(system_.calls(reuse), 1);
    co_return;
  });
}

TEST_F(SystemAnswers, what_fails_says_what_it_was) {
  system_.give("listen", {-EADDRINUSE});
  system_.give("socketpair", {-EMFILE});
  system_.give("getsockname", {-ENOBUFS});
  run([]() -> Task<> {
    EXPECT_EQ(text_of([] { static_cast<void>(TcpListener::bind(SocketAddress::loopback(80))); }),
              "listen at 127.0.0.1:80: Address already in use");
    EXPECT_EQ(text_of([] { static_cast<void>(net::UnixStream::pair()); }),
              "make a pair of sockets: Too many open files");
    const auto listener = TcpListener::bind(SocketAddress::loopback());
    EXPECT_EQ(text_of([&] { static_cast<void>(listener.local_address()); }),
              "find the address of a socket: No buffer space available");
    co_return;
  });
}

TEST_F(SystemAnswers, connecting_goes_on_after_an_interruption) {
  system_.give("connect", {-EINTR});
  run([&]() -> Task<> {
    auto stream = co_await TcpStream::connect(SocketAddress::loopback(80));
    EXPECT_EQ(system_.calls("poll"), 1);
  });
  EXPECT_EQ(system_.calls("connect"), 1);
}

TEST_F(SystemAnswers, a_unix_receiver_without_room_is_tried_again_after_a_pause) {
  run([&]() -> Task<> {
    auto socket = UdpSocket::bind(SocketAddress::unix_path("@sender"));
    const auto to = SocketAddress::unix_path("@receiver");
    system_.give("sendto", {-EAGAIN, -EAGAIN});
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_TRUE(co_await time::timeout(tests::kPatience, socket.send_to("x", to)));
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 3ms);
    EXPECT_EQ(system_.calls("sendto"), 3);
    system_.give("sendto", {-ECONNREFUSED});
    const auto failure = co_await failure_of(socket.send_to("x", to));
    EXPECT_EQ(failure.text, "send to @receiver: Connection refused");
  });
}

TEST_F(SystemAnswers, a_datagram_to_another_machine_waits_for_room_to_be_announced) {
  run([&]() -> Task<> {
    auto socket = UdpSocket::bind(SocketAddress::loopback());
    const auto to = SocketAddress::loopback(9);
    system_.give("sendto", {-EAGAIN});
    EXPECT_FALSE(co_await time::timeout(5ms, socket.send_to("x", to)));
    EXPECT_EQ(system_.calls("sendto"), 1);
  });
}

// A runtime for tests transfers one buffer after the other.

TEST_F(SystemAnswers, several_buffers_are_filled_as_far_as_bytes_come) {
  run([&]() -> Task<> {
    auto stream = co_await TcpStream::connect(SocketAddress::loopback(80));
    char bytes[6];
    iovec buffers[] = {{bytes, 3}, {bytes, 0}, {bytes + 3, 3}};
    EXPECT_EQ(co_await stream.read(net::Buffers(buffers)), 6U);
    EXPECT_EQ(system_.calls("recvfrom"), 2);  // no call for no bytes
    system_.give("recvfrom", {2});
    EXPECT_EQ(co_await stream.read(net::Buffers(buffers)), 2U);
    EXPECT_EQ(system_.calls("recvfrom"), 3);  // no call that would leave a gap
    system_.announce();
    system_.give("recvfrom", {3, -EAGAIN});
    EXPECT_EQ(co_await stream.read(net::Buffers(buffers)), 3U);
    system_.announce();
    system_.give("recvfrom", {-ECONNRESET});
    const auto failure = co_await failure_of([](TcpStream& from, net::Buffers all) -> Task<> {
      co_await from.read(all);
    }(stream, net::Buffers(buffers)));
    EXPECT_EQ(failure.code, std::errc::connection_reset);
  });
}

}  // namespace
}  // namespace taskbench::rt
