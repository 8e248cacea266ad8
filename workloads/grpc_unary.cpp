// A gRPC server that greets, and clients that call it repeatedly, with many concurrent calls on
// each of a few connections.
#include <array>
#include <memory>

#include "runtime/runtime.hpp"
#include "workloads/net/greeter.hpp"
#include "workloads/net/grpc_clients.hpp"
#include "workloads/net/under_load.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

net::GrpcExchange greeting_over_grpc() {
  net::GrpcExchange exchange;
  exchange.request.path = net::kSayHello;
  exchange.request.message = net::hello_request("world");
  exchange.reply = net::hello_reply("world");
  return exchange;
}

}  // namespace

const Workload& grpc_unary() {
  static constexpr std::array kParameters{
      Parameter{"requests", 1'000, 1, 100'000'000,
                "calls, each made when another has been answered"},
      Parameter{"connections", 5, 1, 100'000, "connections for the calls"},
      Parameter{"streams", 10, 1, 100, "calls under way on each connection"},
  };
  static const Workload kWorkload{
      .name = "grpc_unary",
      .summary = "a gRPC server greets clients with many calls on each connection",
      .operation = "call",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("requests"); },
      .make = [](rt::Runtime& runtime, const ParameterValues& values) -> std::unique_ptr<Instance> {
        const std::uint64_t connections = values.at("connections");
        return std::make_unique<net::UnderLoad<net::GrpcServer>>(
            runtime,
            net::Load{.clients = std::make_unique<net::GrpcClients>(
                          greeting_over_grpc(), connections, values.at("streams")),
                      .connections = connections,
                      .count = values.at("requests"),
                      .rate = "calls_per_s"},
            net::greeter_methods(), net::GrpcServerLimits::of(connections));
      },
      .why_not = net::why_no_loopback,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
