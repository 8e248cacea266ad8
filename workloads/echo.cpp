// Clients on connections of which only some are busy send a message to a server, which sends it
// back: what waiting for many sockets costs while few have something to say.
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/runtime.hpp"
#include "workloads/net/closed_loop.hpp"
#include "workloads/net/under_load.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

constexpr std::array kParameters{
    Parameter{"connections", 64, 1, 100'000, "connections between the server and its clients"},
    Parameter{"busy", 8, 1, 100'000, "of these, connections on which messages are sent"},
    Parameter{"round_trips", 1'000, 1, 100'000'000, "messages that are sent and come back"},
    Parameter{"bytes", 64, 1, 16'384, "length of a message"},
};

class EchoServer {
 public:
  EchoServer(rt::Runtime& runtime, std::uint64_t message_bytes)
      : message_bytes_(message_bytes),
        server_(runtime, [this](rt::net::TcpStream stream) { return serve(std::move(stream)); }) {}

  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  /// It knows nothing of messages: what went back, by their length.
  [[nodiscard]] std::uint64_t answered() const {
    return bytes_.load(std::memory_order_relaxed) / message_bytes_;  // relaxed: it was received
  }

 private:
  rt::Task<> serve(rt::net::TcpStream stream) {
    std::vector<char> buffer(kBuffer_bytes);
    for (;;) {
      const std::size_t size = co_await stream.read(buffer);
      if (size == 0) co_return;
      // relaxed: whoever compares it has received what is sent now.
      bytes_.fetch_add(size, std::memory_order_relaxed);
      co_await stream.write_all(rt::net::ConstBytes(buffer.data(), size));
    }
  }

  static constexpr std::size_t kBuffer_bytes = 4'096;

  const std::uint64_t message_bytes_;
  std::atomic<std::uint64_t> bytes_{0};
  net::LoopbackServer server_;
};

/// No two neighbours are alike, so that none is lost or doubled unnoticed.
std::string message_of(std::uint64_t bytes) {
  std::string message;
  while (message.size() < bytes) message += static_cast<char>('!' + message.size() % 89);
  return message;
}

}  // namespace

const Workload& echo() {
  static const Workload kWorkload{
      .name = "echo",
      .summary = "a server sends back what comes in on a few of many connections",
      .operation = "round trip",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("round_trips"); },
      .make = [](rt::Runtime& runtime, const ParameterValues& values) -> std::unique_ptr<Instance> {
        const std::string message = message_of(values.at("bytes"));
        const std::uint64_t connections = values.at("connections");
        return std::make_unique<net::UnderLoad<EchoServer>>(
            runtime,
            net::Load{.clients = std::make_unique<net::ClosedLoop>(
                          net::Exchange{.request = message, .response = message}, connections,
                          values.at("busy")),
                      .connections = connections,
                      .count = values.at("round_trips"),
                      .rate = "round_trips_per_s"},
            values.at("bytes"));
      },
      .why_not = net::why_no_loopback,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
