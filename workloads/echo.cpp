// Clients on connections of which only some are busy send a message to a server, which sends it
// back: the cost of waiting for many sockets while few have data.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "runtime/runtime.hpp"
#include "workloads/net/closed_loop.hpp"
#include "workloads/net/echo_server.hpp"
#include "workloads/net/under_load.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

/// No two neighbouring bytes are equal, so that a lost or doubled one is noticed.
std::string message_of(std::uint64_t bytes) {
  std::string message;
  while (message.size() < bytes) message += static_cast<char>('!' + message.size() % 89);
  return message;
}

}  // namespace

const Workload& echo() {
  static constexpr std::array kParameters{
      Parameter{"connections", 64, 1, 100'000, "connections between the server and its clients"},
      Parameter{"busy", 8, 1, 100'000, "of these, connections on which messages are sent"},
      Parameter{"round_trips", 1'000, 1, 100'000'000, "messages that are sent and come back"},
      Parameter{"bytes", 64, 1, 16'384, "length of a message"},
  };
  static const Workload kWorkload{
      .name = "echo",
      .summary = "a server sends back what comes in on a few of many connections",
      .operation = "round trip",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("round_trips"); },
      .make = [](rt::Runtime& runtime, const ParameterValues& values) -> std::unique_ptr<Instance> {
        const std::string message = message_of(values.at("bytes"));
        const std::uint64_t connections = values.at("connections");
        const std::uint64_t busy = std::min(values.at("busy"), connections);
        return std::make_unique<net::UnderLoad<net::EchoServer>>(
            runtime,
            net::Load{
                .clients = std::make_unique<net::ClosedLoop>(
                    net::Exchange{.request = message, .response = message}, connections, busy),
                .connections = connections,
                .idle = connections - busy,
                .count = values.at("round_trips"),
                .rate = "round_trips_per_s"},
            values.at("bytes"));
      },
      .why_not = net::why_no_loopback,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
