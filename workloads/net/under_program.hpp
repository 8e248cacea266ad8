// A workload that consists of an HTTP server on the runtime, loaded by a program such as wrk. An
// iteration is one run of that program.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "runtime/net/tcp.hpp"
#include "runtime/runtime.hpp"
#include "workloads/base/workload.hpp"
#include "workloads/net/loopback.hpp"
#include "workloads/net/under_load.hpp"

namespace taskbench::workloads::net {

/// `Server` is constructed from the runtime and `more`, and has port() and answered().
template <class Server>
class UnderProgram final : public Instance {
 public:
  /// `count` is the number of requests that an iteration would have without the program.
  template <class... More>
  UnderProgram(rt::Runtime& runtime, const LoadProgram& program, std::uint64_t connections,
               std::uint64_t count, std::stop_token stop, const More&... more)
      : runtime_(runtime),
        run_load_(program.run),
        stop_(std::move(stop)),
        count_(count),
        server_(runtime, more...) {
    make_room_for_descriptors(connections);
    run_ = {.port = server_.port(), .connections = connections, .seconds = program.seconds};
  }

  void run_iteration() override {
    descriptors_ = descriptor_count();
    std::exception_ptr failure;
    std::jthread runs_load;
    hear(runtime_, [&](SignalSender done) {
      runs_load = std::jthread([this, &failure, done = std::move(done)]() mutable {
        try {
          report_ = run_load_(run_, stop_);
          requests_ = report_ ? report_->requests : 0;
        } catch (...) {
          failure = std::current_exception();
        }
        (void)done.send(Signal{});
      });
    });
    if (failure) std::rethrow_exception(failure);
  }

  double iterations() const override {
    return static_cast<double>(requests_) / static_cast<double>(count_);
  }

  std::optional<std::string> verify() override {
    if (report_) {
      // The program's last requests may be answered late, and would count for the next run.
      runtime_.block_on(be_accepted(server_.port()));
      if (auto wrong = lost_descriptors(runtime_, descriptors_)) return wrong;
    }
    const std::uint64_t before = std::exchange(answered_before_, server_.answered());
    const std::uint64_t answered = answered_before_ - before;
    if (!report_) return {};
    // The program does not wait for the last response on each connection.
    const std::uint64_t most = report_->requests + run_.connections;
    if (answered >= report_->requests && answered <= most) return {};
    return compare_counts("requests at the server", report_->requests, answered);
  }

  Figures take_figures() override {
    Figures figures;
    if (!report_) return figures;
    figures["requests_per_s"] = report_->requests_per_s;
    for (const auto& [name, ns] : report_->latency_ns) figures["latency_" + name + "_ns"] = ns;
    report_.reset();
    return figures;
  }

 private:
  /// Connections are accepted in order: once this one is, the program's have been.
  static rt::Task<> be_accepted(std::uint16_t port) {
    rt::net::TcpStream stream =
        co_await rt::net::TcpStream::connect(rt::net::SocketAddress::loopback(port));
    stream.shutdown_write();
    char nothing = 0;
    while (co_await stream.read(&nothing, 1) > 0) {
    }
  }

  rt::Runtime& runtime_;
  const decltype(LoadProgram::run) run_load_;
  const std::stop_token stop_;
  const std::uint64_t count_;
  LoadRun run_{};
  Server server_;
  std::optional<LoadReport> report_;  // until taken
  std::uint64_t requests_ = 0;
  std::uint64_t answered_before_ = 0;
  std::uint64_t descriptors_ = 0;  // before the program ran
};

}  // namespace taskbench::workloads::net
