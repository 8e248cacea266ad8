// A web server that greets, and clients on fifty connections that send request after request.
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "runtime/runtime.hpp"
#include "workloads/net/closed_loop.hpp"
#include "workloads/net/http_server.hpp"
#include "workloads/net/under_load.hpp"
#include "workloads/net/under_program.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

net::Exchange greeting_over_http() {
  net::Greeting greeting = net::greeting();
  return {.request = std::string(net::kGreetMe),
          .response = std::move(greeting.text),
          .varies_at = greeting.date_at,
          .varies_bytes = greeting.date_bytes};
}

}  // namespace

const Workload& http_hello() {
  static constexpr std::array kParameters{
      Parameter{"requests", 1'000, 1, 100'000'000, "requests, each answered before the next"},
      Parameter{"connections", 50, 1, 100'000, "connections for the requests, all open at once"},
  };
  static const Workload kWorkload{
      .name = "http_hello",
      .summary = "an HTTP/1.1 server greets clients that ask again and again",
      .operation = "request",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("requests"); },
      .make = [](rt::Runtime& runtime, const ParameterValues& values) -> std::unique_ptr<Instance> {
        const std::uint64_t connections = values.at("connections");
        return std::make_unique<net::UnderLoad<net::HttpServer>>(
            runtime,
            net::Load{.clients = std::make_unique<net::ClosedLoop>(greeting_over_http(),
                                                                   connections, connections),
                      .connections = connections,
                      .count = values.at("requests"),
                      .rate = "requests_per_s"},
            net::HttpServerLimits::of(connections));
      },
      .why_not = net::why_no_loopback,
      .make_loaded = [](rt::Runtime& runtime, const ParameterValues& values,
                        const LoadProgram& program,
                        std::stop_token stop) -> std::unique_ptr<Instance> {
        return std::make_unique<net::UnderProgram<net::HttpServer>>(
            runtime, program, values.at("connections"), values.at("requests"), std::move(stop),
            net::HttpServerLimits::of(values.at("connections")));
      },
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
