// Listening, accepting and connecting.
#include "runtime/net/listener.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/net/tcp.hpp"
#include "runtime/net/unix.hpp"
#include "runtime/time/sleep.hpp"
#include "tests/runtime/net_support.hpp"

namespace taskbench::rt {
namespace {

using namespace std::chrono_literals;
using tests::failure_of;
using tests::read_all;

class Listeners : public tests::OnTwoWorkers {};

/// A path that does not exist yet.
std::string fresh_path() {
  return std::filesystem::temp_directory_path() /
         ("taskbench-listener-" + std::to_string(::getpid()));
}

template <class T>
bool all_finished(const std::vector<JoinHandle<T>>& handles) {
  return std::all_of(handles.begin(), handles.end(),
                     [](const JoinHandle<T>& handle) { return handle.is_finished(); });
}

/// More clients than there is room for; each is served once it is accepted.
template <class Stream>
Task<> fill_backlog(net::SocketAddress address) {
  auto listener = net::Listener<Stream>::bind(address, 1);
  std::vector<JoinHandle<Stream>> clients;
  for (int i = 0; i < 4; ++i) clients.push_back(spawn(Stream::connect(listener.local_address())));
  co_await time::sleep(20ms);
  EXPECT_FALSE(all_finished(clients));
  for (int i = 0; i < 4; ++i) {
    auto server = co_await listener.accept();
    co_await server.write_all("x");
  }
  for (auto& handle : clients) {
    auto client = co_await handle;
    EXPECT_EQ(co_await read_all(client), "x");
  }
}

TEST_F(Listeners, both_ends_know_each_other) {
  run([]() -> Task<> {
    auto listener = net::TcpListener::bind(net::SocketAddress::parse("[::1]:0"));
    const auto address = listener.local_address();
    EXPECT_NE(address.port(), 0);
    auto client = co_await net::TcpStream::connect(address);
    auto server = co_await listener.accept();
    EXPECT_EQ(client.peer_address(), address);
    EXPECT_EQ(server.peer_address(), client.local_address());
  });
}

TEST_F(Listeners, where_nobody_listens_connecting_is_refused) {
  run([]() -> Task<> {
    auto address = net::SocketAddress::loopback();
    {
      auto listener = net::TcpListener::bind(address);
      address = listener.local_address();
    }
    const auto failure = co_await failure_of(net::TcpStream::connect(address));
    EXPECT_EQ(failure.text, "connect to " + address.text() + ": Connection refused");
  });
}

TEST_F(Listeners, an_address_that_is_taken_is_refused) {
  run([]() -> Task<> {
    auto listener = net::TcpListener::bind(net::SocketAddress::loopback());
    const auto address = listener.local_address();
    std::string text;
    try {
      auto second = net::TcpListener::bind(address);
    } catch (const std::system_error& error) {
      text = error.what();
    }
    EXPECT_EQ(text.find("bind to " + address.text() + ": Address already in use"), 0U) << text;
    co_return;
  });
}

TEST_F(Listeners, a_unix_socket_has_a_path) {
  const std::string path = fresh_path();
  run([&]() -> Task<> {
    const auto address = net::SocketAddress::unix_path(path);
    const auto failure = co_await failure_of(net::UnixStream::connect(address));
    EXPECT_EQ(failure.text, "connect to " + path + ": No such file or directory");
    auto listener = net::UnixListener::bind(address);
    EXPECT_EQ(listener.local_address(), address);
    auto client = co_await net::UnixStream::connect(address);
    auto server = co_await listener.accept();
    EXPECT_EQ(client.peer_address().text(), path);
    co_await server.write_all("hello");
    server.shutdown_write();
    EXPECT_EQ(co_await read_all(client), "hello");
  });
  EXPECT_EQ(::unlink(path.c_str()), 0);
}

// The system says that the address of such a client is longer than any can be.
TEST_F(Listeners, a_client_with_the_longest_path_is_accepted_as_any_other) {
  sockaddr_un own{};
  own.sun_family = AF_UNIX;
  std::string path = fresh_path();
  path.resize(sizeof(own.sun_path), 'x');
  std::memcpy(own.sun_path, path.data(), path.size());
  run([&]() -> Task<> {
    auto listener = net::UnixListener::bind(
        net::SocketAddress::parse("@taskbench-longest-" + std::to_string(::getpid())));
    const auto address = listener.local_address();
    const net::detail::Descriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(client.get(), reinterpret_cast<const sockaddr*>(&own), sizeof(own)), 0);
    EXPECT_EQ(::connect(client.get(), address.data(), address.size()), 0);
    auto first = co_await listener.accept();
    EXPECT_EQ(first.peer_address().text(), path);
    EXPECT_EQ(first.peer_address().text().size(), 108U);
    auto other = co_await net::UnixStream::connect(address);
    auto second = co_await listener.accept();
    EXPECT_EQ(second.peer_address(), net::SocketAddress());
  });
  EXPECT_EQ(::unlink(path.c_str()), 0);
}

TEST_F(Listeners, who_connects_waits_while_the_backlog_of_a_unix_socket_is_full) {
  run([] {
    return fill_backlog<net::UnixStream>(
        net::SocketAddress::parse("@taskbench-" + std::to_string(::getpid())));
  });
}

TEST_F(Listeners, who_connects_waits_while_the_backlog_of_tcp_is_full) {
  run([] { return fill_backlog<net::TcpStream>(net::SocketAddress::loopback()); });
}

#if !defined(TASKBENCH_ASAN)
TEST_F(Listeners, a_moments_lack_of_descriptors_disturbs_nobody) {
  run([]() -> Task<> {
    auto listener = net::TcpListener::bind(net::SocketAddress::loopback());
    auto client = co_await net::TcpStream::connect(listener.local_address());
    tests::DescriptorLimit none(0);
    auto accepting = spawn([](net::TcpListener& from) -> Task<bool> {
      auto stream = co_await from.accept();
      co_return stream.descriptor() >= 0;
    }(listener));
    co_await time::sleep(10ms);
    EXPECT_FALSE(accepting.is_finished());
    none.lift();
    EXPECT_TRUE(co_await std::move(accepting));
  });
}

TEST_F(Listeners, a_lasting_lack_of_descriptors_is_reported_after_a_second) {
  run([]() -> Task<> {
    auto listener = net::TcpListener::bind(net::SocketAddress::loopback());
    auto client = co_await net::TcpStream::connect(listener.local_address());
    const auto begun = std::chrono::steady_clock::now();
    {
      const tests::DescriptorLimit none(0);
      const auto failure = co_await failure_of(listener.accept());
      EXPECT_EQ(failure.code, std::errc::too_many_files_open);
      EXPECT_EQ(failure.text.find("accept at " + listener.local_address().text() + ": "), 0U)
          << failure.text;
    }
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 900ms);
    auto server = co_await listener.accept();
    EXPECT_EQ(server.peer_address(), client.local_address());
  });
}
#endif

TEST_F(Listeners, a_connection_that_is_reset_in_the_backlog_does_not_end_accepting) {
  run([]() -> Task<> {
    auto listener = net::TcpListener::bind(net::SocketAddress::loopback());
    {
      auto reset = co_await net::TcpStream::connect(listener.local_address());
      reset.reset_on_close();
    }
    auto client = co_await net::TcpStream::connect(listener.local_address());
    co_await client.write_all("x");
    for (;;) {
      auto server = co_await listener.accept();
      if (server.peer_address() == client.local_address()) break;
    }
  });
}

TEST(Sockets, are_refused_outside_of_a_runtime) {
  std::string text;
  try {
    auto listener = net::TcpListener::bind(net::SocketAddress::loopback());
  } catch (const std::logic_error& error) {
    text = error.what();
  }
  EXPECT_NE(text.find("in a task or inside block_on"), std::string::npos) << text;
}

}  // namespace
}  // namespace taskbench::rt
