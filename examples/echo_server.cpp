// Sends back what it is sent, on as many connections as come: echo_server [ADDRESS], by default
// 127.0.0.1:7000. SIGINT or SIGTERM makes it stop accepting; it ends when the open connections
// have.
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <system_error>
#include <utility>

#include <taskbench/runtime/net/tcp.hpp>
#include <taskbench/runtime/runtime.hpp>
#include <taskbench/runtime/signal/signal.hpp>
#include <taskbench/runtime/sync/mpsc.hpp>

namespace rt = taskbench::rt;
namespace net = rt::net;
namespace mpsc = rt::sync::mpsc;

namespace {

/// What each connection holds, so that main can wait until the last has gone.
using Presence = mpsc::UnboundedSender<int>;

rt::Task<> echo(net::TcpStream stream, Presence) {
  std::array<char, 4096> buffer;
  try {
    for (;;) {
      const std::size_t size = co_await stream.read(buffer);
      if (size == 0) co_return;
      co_await stream.write_all({buffer.data(), size});
    }
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

rt::Task<> accept_all(net::TcpListener listener, Presence& presence) {
  for (;;) {
    try {
      net::TcpStream stream = co_await listener.accept();
      rt::spawn(echo(std::move(stream), presence)).detach();
    } catch (const std::system_error& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
  }
}

rt::Task<> serve(net::SocketAddress address) {
  rt::signal::Signal interrupt(SIGINT);
  rt::signal::Signal terminate(SIGTERM);
  auto listener = net::TcpListener::bind(address);
  std::printf("listening at %s\n", listener.local_address().text().c_str());
  std::fflush(stdout);
  auto channel = mpsc::unbounded_channel<int>();
  co_await rt::select(interrupt.next(), terminate.next(),
                      accept_all(std::move(listener), channel.first));
  std::puts("no more connections");
  std::fflush(stdout);
  { const Presence own = std::move(channel.first); }
  co_await channel.second.recv();
}

}  // namespace

int main(int argc, char** argv) try {
  const auto address = net::SocketAddress::parse(argc > 1 ? argv[1] : "127.0.0.1:7000");
  rt::Runtime::Builder{}.build().block_on(serve(address));
} catch (const std::exception& error) {
  std::fprintf(stderr, "echo_server: %s\n", error.what());
  return 1;
}
