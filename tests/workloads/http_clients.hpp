// Clients that an HTTP server must not trust, and what they send.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

namespace taskbench::workloads::net {

inline constexpr int kPatience_ms = 20'000;

/// A blocking client.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in server{};
    server.sin_family = AF_INET;
    server.sin_port = htons(port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&server), sizeof(server)), 0);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Makes the close drop all data under way, and reset the connection.
  void reset_on_close() const {
    const ::linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  void end_writing() const { ::shutdown(socket_, SHUT_WR); }

  /// False if the server has ended the connection.
  bool send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t size = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (size <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(size));
    }
    return true;
  }

  /// Receives everything until the server ends the connection.
  std::string receive_all() const { return receive_until({}); }

  /// Receives until `end` has come, or the server ends the connection.
  std::string receive_until(std::string_view end) const {
    std::string all;
    char some[4'096];
    while (end.empty() || !all.ends_with(end)) {
      pollfd ready{socket_, POLLIN, 0};
      if (::poll(&ready, 1, kPatience_ms) != 1) return all + "(and then nothing)";
      const ssize_t size = ::recv(socket_, some, sizeof(some), 0);
      if (size <= 0) return all;
      all.append(some, static_cast<std::size_t>(size));
    }
    return all;
  }

 private:
  int socket_;
};

/// Valid requests with a few bytes changed, removed or inserted: always the same for a seed, which
/// TASKBENCH_SEED sets.
class BadRequests {
 public:
  [[nodiscard]] unsigned seed() const { return seed_; }

  [[nodiscard]] std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  /// Up to four requests, one after the other.
  [[nodiscard]] std::string next() {
    static constexpr std::string_view kGood[] = {
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3;x=\"y\"\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: t\r\n\r\n"};
    static constexpr char kOddBytes[] = "\r\n\0 \t:;,/0129afHT\"\\\x7f\xff";
    constexpr std::string_view kOdd(kOddBytes, sizeof(kOddBytes));
    std::string input;
    for (std::size_t i = 1 + below(4); i > 0; --i) input += kGood[below(std::size(kGood))];
    for (std::size_t i = below(4); i > 0; --i) {
      const std::size_t at = below(input.size());
      switch (below(3)) {
        case 0:
          input[at] = kOdd[below(kOdd.size())];
          break;
        case 1:
          input.insert(at, 1, kOdd[below(kOdd.size())]);
          break;
        default:
          input.erase(at, 1 + below(4));
          break;
      }
    }
    return input;
  }

 private:
  const unsigned seed_ = [] {
    const char* const given = std::getenv("TASKBENCH_SEED");
    return given == nullptr ? 15U : static_cast<unsigned>(std::atoi(given));
  }();
  std::mt19937 random_{seed_};
};

}  // namespace taskbench::workloads::net
