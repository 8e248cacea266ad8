#include "workloads/net/echo_server.hpp"

#include <memory>

namespace taskbench::workloads::net {
namespace {

constexpr std::size_t kBuffer_bytes = 4'096;

}  // namespace

rt::Task<> EchoServer::serve(rt::net::TcpStream stream) {
  const auto buffer = std::make_unique<char[]>(kBuffer_bytes);
  for (;;) {
    const std::size_t size = co_await stream.read(buffer.get(), kBuffer_bytes);
    if (size == 0) co_return;
    // relaxed: a thread that compares it has received the bytes that are sent here.
    bytes_.fetch_add(size, std::memory_order_relaxed);
    co_await stream.write_all(buffer.get(), size);
  }
}

}  // namespace taskbench::workloads::net
