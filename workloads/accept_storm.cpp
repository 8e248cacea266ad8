// Clients that open a connection, use it once, and close it, as fast as they can: the cost of
// accepting and closing.
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "runtime/runtime.hpp"
#include "workloads/net/closed_loop.hpp"
#include "workloads/net/under_load.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

constexpr std::string_view kMessage = "Is anybody there?";

/// Sends one message back on each connection.
class OneMessageServer {
 public:
  explicit OneMessageServer(rt::Runtime& runtime)
      : server_(runtime, [this](rt::net::TcpStream stream) { return serve(std::move(stream)); }) {}

  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  [[nodiscard]] std::uint64_t answered() const {
    return answered_.load(std::memory_order_relaxed);  // relaxed: the answer was received
  }

 private:
  rt::Task<> serve(rt::net::TcpStream stream) {
    std::array<char, kMessage.size()> message;
    co_await stream.read_exact(message);
    // relaxed: a thread that compares the count has received the answer.
    answered_.fetch_add(1, std::memory_order_relaxed);
    co_await stream.write_all(message);
  }

  std::atomic<std::uint64_t> answered_{0};
  net::LoopbackServer server_;
};

}  // namespace

const Workload& accept_storm() {
  static constexpr std::array kParameters{
      Parameter{"connections", 1'000, 1, 100'000'000,
                "connections that are opened, used and closed"},
      Parameter{"at_once", 50, 1, 2'000, "of these, connections that are there at a time"},
  };
  static const Workload kWorkload{
      .name = "accept_storm",
      .summary = "clients open connections, use each once, and close it",
      .operation = "connection",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("connections"); },
      .make = [](rt::Runtime& runtime, const ParameterValues& values) -> std::unique_ptr<Instance> {
        const std::uint64_t at_once = values.at("at_once");
        const std::string message(kMessage);
        return std::make_unique<net::UnderLoad<OneMessageServer>>(
            runtime, net::Load{.clients = std::make_unique<net::ClosedLoop>(
                                   net::Exchange{.request = message, .response = message}, at_once,
                                   at_once, net::Use::once),
                               .connections = at_once,
                               .used_once = true,
                               .count = values.at("connections"),
                               .rate = "accepts_per_s"});
      },
      .why_not = net::why_no_loopback,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
