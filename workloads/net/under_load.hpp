// A workload that is a server on the runtime, and clients that keep it busy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/runtime.hpp"
#include "workloads/net/clients.hpp"
#include "workloads/net/loopback.hpp"
#include "workloads/workload.hpp"

namespace taskbench::workloads::net {

struct Load {
  std::unique_ptr<Clients> clients;
  std::uint64_t connections;  ///< that they open
  std::uint64_t count;        ///< exchanges in an iteration
  std::string_view rate;      ///< the name of exchanges per second
};

/// Calls begin(sender), and returns when the other end has heard. The runtime's tasks run
/// meanwhile, on this thread where that is where they run.
template <class Begin>
void hear(rt::Runtime& runtime, Begin begin) {
  constexpr auto wait_for = [](SignalReceiver done) -> rt::Task<> {
    require_heard(co_await std::move(done));
  };
  auto channel = rt::sync::oneshot::channel<Signal>();
  begin(std::move(channel.first));
  runtime.block_on(wait_for(std::move(channel.second)));
}

/// `Server` is made of the runtime and `more`, and has port() and answered().
template <class Server>
class UnderLoad final : public Instance {
 public:
  template <class... More>
  UnderLoad(rt::Runtime& runtime, Load load, const More&... more)
      : runtime_(runtime),
        count_(load.count),
        rate_(load.rate),
        server_(prepared(runtime, load), more...),
        clients_(std::move(load.clients)) {
    hear(runtime_, [&](SignalSender done) { clients_->connect(server_.port(), std::move(done)); });
    if (const auto failure = clients_->take_failure()) throw std::runtime_error(*failure);
  }

  void run_iteration() override {
    hear(runtime_, [&](SignalSender done) { clients_->exchange(count_, std::move(done)); });
    expected_ += count_;
  }

  std::optional<std::string> verify() override {
    const std::uint64_t expected = std::exchange(expected_, 0);
    const std::uint64_t heard = clients_->take_answers();
    const std::uint64_t before = std::exchange(answered_before_, server_.answered());
    if (auto failure = clients_->take_failure()) return failure;
    if (auto wrong = compare_counts("answers to the clients", expected, heard)) return wrong;
    return compare_counts("requests at the server", expected, answered_before_ - before);
  }

  Figures take_figures() override {
    Figures figures;
    clients_->take_figures(rate_, figures);
    return figures;
  }

 private:
  /// Both ends of a connection are in this process.
  static rt::Runtime& prepared(rt::Runtime& runtime, const Load& load) {
    make_room_for_descriptors(2 * load.connections);
    return runtime;
  }

  rt::Runtime& runtime_;
  const std::uint64_t count_;
  const std::string_view rate_;
  Server server_;
  std::unique_ptr<Clients> clients_;  // go first, with their connections
  std::uint64_t expected_ = 0;
  std::uint64_t answered_before_ = 0;
};

}  // namespace taskbench::workloads::net
