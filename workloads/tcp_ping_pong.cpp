// Clients and a server exchange messages over TCP, each side on a runtime of its own, the clients'
// with a single thread: the cost of a message on a side that does nothing else. In echo,
// accept_storm, http_hello and grpc_unary the clients are not tasks, so that only the server is
// measured.
#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/net/tcp.hpp"
#include "runtime/runtime.hpp"
#include "runtime/sync/join_set.hpp"
#include "runtime/time/timeout.hpp"
#include "workloads/net/echo_server.hpp"
#include "workloads/net/under_load.hpp"
#include "workloads/table.hpp"

namespace taskbench::workloads {
namespace {

constexpr std::size_t kMessage_bytes = 64;

class Pingers final : public net::Clients {
 public:
  explicit Pingers(std::uint64_t connections)
      : runtime_(rt::Runtime::Builder{}.scheduler("current_thread").build()),
        connections_(connections) {}
  ~Pingers() override {
    end_with([this] { streams_.clear(); });
  }

 private:
  void open_all(std::uint16_t port) override { runtime_.block_on(connect_all(port)); }
  void exchange_all(std::uint64_t count) override { runtime_.block_on(ping_all(count)); }

  rt::Task<> connect_all(std::uint16_t port) {
    streams_.reserve(connections_);
    while (streams_.size() < connections_) {
      streams_.push_back(
          co_await rt::net::TcpStream::connect(rt::net::SocketAddress::loopback(port)));
      streams_.back().set_no_delay(true);
    }
  }

  /// Fails with the first client, or if none gets an answer for a long time.
  rt::Task<> ping_all(std::uint64_t count) {
    rt::sync::JoinSet<> clients;
    for (std::uint64_t i = 0; i < connections_; ++i) {
      const std::uint64_t first = count * i / connections_;
      const std::uint64_t last = count * (i + 1) / connections_;
      if (first != last) clients.spawn(ping(streams_[i], first, last));
    }
    std::exception_ptr failure;
    while (!failure && !clients.empty()) {
      const std::uint64_t before = round_trips_;
      const auto ended =
          co_await rt::time::timeout(std::chrono::seconds(net::kPatience_s), clients.join_next());
      if (ended) {
        failure = (*ended)->failure();
      } else if (round_trips_ == before) {
        failure = std::make_exception_ptr(
            std::runtime_error("no answer for " + std::to_string(net::kPatience_s) + " s"));
      }
    }
    co_await clients.shutdown();  // since the streams may be closed before the runtime ends
    if (failure) std::rethrow_exception(failure);
  }

  /// Each message begins with its number, so that none is repeated or misdirected.
  rt::Task<> ping(rt::net::TcpStream& stream, std::uint64_t first, std::uint64_t last) {
    std::array<std::uint64_t, kMessage_bytes / sizeof(std::uint64_t)> message{};
    for (std::uint64_t number = first; number < last; ++number) {
      message.front() = number;
      message.back() = ~number;
      const Clock::time_point begin = Clock::now();
      co_await stream.write_all(message.data(), sizeof(message));
      message = {};
      co_await stream.read_exact({message.data(), sizeof(message)});
      heard(Clock::now() - begin);
      ++round_trips_;
      if (message.front() != number || message.back() != ~number) {
        throw std::runtime_error("message " + std::to_string(number) + " came back changed");
      }
    }
  }

  rt::Runtime runtime_;
  const std::uint64_t connections_;
  std::vector<rt::net::TcpStream> streams_;
  std::uint64_t round_trips_ = 0;
};

}  // namespace

const Workload& tcp_ping_pong() {
  static constexpr std::array kParameters{
      Parameter{"connections", 20, 1, 10'000, "connections, each with a client"},
      Parameter{"round_trips", 1'000, 1, 100'000'000, "messages that are sent and come back"},
  };
  static const Workload kWorkload{
      .name = "tcp_ping_pong",
      .summary = "clients on one thread of another runtime send messages to a server and back",
      .operation = "round trip",
      .parameters = kParameters,
      .operations = [](const ParameterValues& values) { return values.at("round_trips"); },
      .make = [](rt::Runtime& runtime, const ParameterValues& values) -> std::unique_ptr<Instance> {
        const std::uint64_t connections = values.at("connections");
        return std::make_unique<net::UnderLoad<net::EchoServer>>(
            runtime,
            net::Load{.clients = std::make_unique<Pingers>(connections),
                      .connections = connections,
                      .count = values.at("round_trips"),
                      .rate = "round_trips_per_s"},
            kMessage_bytes);
      },
      .why_not = net::why_no_loopback,
  };
  return kWorkload;
}

}  // namespace taskbench::workloads
