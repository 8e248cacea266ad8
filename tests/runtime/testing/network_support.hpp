// What the tests of the network share: connections between two hosts, and the errors of operations.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/net/tcp.hpp"
#include "runtime/testing/runtime.hpp"
#include "runtime/time/sleep.hpp"

namespace taskbench::rt::testing {

using namespace std::chrono_literals;
using net::TcpListener;
using net::TcpStream;

/// A link that always takes a millisecond, and never cuts.
inline constexpr Link kEven{.least_latency = 1ms, .most_latency = 1ms, .cuts = 0};

/// A connection from "client" to "server".
struct Ends {
  TcpStream client;
  TcpStream server;
};

inline Task<Ends> connected(Runtime& test, std::uint16_t port = 80) {
  const Host host = test.host("server");
  const net::SocketAddress address = host.address(port);
  auto accepted = host.spawn([address]() -> Task<TcpStream> {
    auto listener = TcpListener::bind(address);
    co_return co_await listener.accept();
  });
  co_await yield_now();
  auto client = co_await test.host("client").spawn([address]() -> Task<TcpStream> {
    for (;;) {
      std::optional<TcpStream> stream;
      try {
        stream.emplace(co_await TcpStream::connect(address));
      } catch (const std::system_error&) {
      }
      if (stream) co_return std::move(*stream);
      co_await time::sleep(1ms);
    }
  });
  auto server = co_await accepted;
  co_return Ends{std::move(client), std::move(server)};
}

/// Runs `body` with the ends of a connection, in a world with this link.
template <class Body>
void with_ends(const Link& link, Body body, std::uint64_t seed = 1) {
  Runtime test(seed, {.link = kEven});
  test.block_on([&]() -> Task<> {
    Ends ends = co_await connected(test);
    test.set_link(link);
    co_await body(test, ends);
  });
}

/// The error of an operation; 0 if there is none.
inline Task<int> error_of_task(Task<> operation) {
  try {
    co_await std::move(operation);
  } catch (const std::system_error& error) {
    co_return error.code().value();
  }
  co_return 0;
}
template <class Operation>
Task<int> error_of(Operation operation) {
  return error_of_task(task::as_task(std::move(operation)));
}

inline Task<int> read_error(TcpStream& stream) {
  return error_of([&stream]() -> Task<> {
    char byte = 0;
    co_await stream.read(&byte, 1);
  });
}

inline Task<int> write_error(TcpStream& stream) {
  return error_of([&stream]() -> Task<> { co_await stream.write_all("?"); });
}

inline Task<int> connect_error(const Host& from, net::SocketAddress to) {
  auto error = from.spawn([to] {
    return error_of([to]() -> Task<> { static_cast<void>(co_await TcpStream::connect(to)); });
  });
  co_return co_await error;
}

template <class Stream>
Task<std::string> read_text(Stream& stream, std::size_t size) {
  std::string text(size, '\0');
  co_await stream.read_exact(text);
  co_return text;
}

}  // namespace taskbench::rt::testing
