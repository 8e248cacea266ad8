#include "workloads/net/echo_server.hpp"

#include <vector>

namespace taskbench::workloads::net {

rt::Task<> EchoServer::serve(rt::net::TcpStream stream) {
  constexpr std::size_t kBuffer_bytes = 4'096;
  std::vector<char> buffer(kBuffer_bytes);
  for (;;) {
    const std::size_t size = co_await stream.read(buffer);
    if (size == 0) co_return;
    // relaxed: whoever compares it has received what is sent now.
    bytes_.fetch_add(size, std::memory_order_relaxed);
    co_await stream.write_all(rt::net::ConstBytes(buffer.data(), size));
  }
}

}  // namespace taskbench::workloads::net
