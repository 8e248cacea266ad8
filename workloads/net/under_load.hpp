// A workload that consists of a server on the runtime and clients that keep it busy.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/runtime.hpp"
#include "workloads/base/workload.hpp"
#include "workloads/net/clients.hpp"
#include "workloads/net/loopback.hpp"

namespace taskbench::workloads::net {

struct Load {
  std::unique_ptr<Clients> clients;
  std::uint64_t connections;  ///< opened by the clients
  std::uint64_t idle = 0;     ///< idle ones among these
  bool used_once = false;     ///< each is closed after one use and replaced
  std::uint64_t count;        ///< exchanges per iteration
  std::string_view rate;      ///< the name of exchanges per second
};

/// Calls begin(sender), and returns once its signal was received. The runtime's tasks run
/// meanwhile, on this thread if that is where they run.
template <class Begin>
void hear(rt::Runtime& runtime, Begin begin) {
  auto channel = rt::sync::oneshot::channel<Signal>();
  begin(std::move(channel.first));
  require_heard(runtime.block_on(std::move(channel.second)));
}

/// `Server` is constructed from the runtime and `more`, and has port() and answered().
template <class Server>
class UnderLoad final : public Instance {
 public:
  template <class... More>
  UnderLoad(rt::Runtime& runtime, Load load, const More&... more)
      : runtime_(runtime),
        count_(load.count),
        rate_(load.rate),
        used_once_(load.used_once),
        server_(prepared(runtime, load), more...),
        clients_(std::move(load.clients)) {
    const std::uint64_t before = resident_bytes();
    hear(runtime_, [&](SignalSender done) { clients_->connect(server_.port(), std::move(done)); });
    if (const auto failure = clients_->take_failure()) throw std::runtime_error(*failure);
    if (load.idle < kEnoughToTell || before == 0) return;
    std::uint64_t now = resident_bytes();
    std::uint64_t last = 0;
    for (int i = 0; std::exchange(last, now) != now; ++i, now = resident_bytes()) {
      if (i == kPausesOfAccepting) return;  // the growth is not the server's
      // The server is still accepting.
      runtime_.block_on([] { return rt::time::sleep(kPauseOfAccepting); });
    }
    const auto grown = static_cast<double>(now) - static_cast<double>(before);
    connection_bytes_ = grown / static_cast<double>(load.connections);
  }

  void run_iteration() override {
    if (used_once_ && descriptors_ == 0) descriptors_ = descriptor_count();
    hear(runtime_, [&](SignalSender done) { clients_->exchange(count_, std::move(done)); });
    expected_ += count_;
  }

  std::optional<std::string> verify() override {
    const std::uint64_t expected = std::exchange(expected_, 0);
    const std::uint64_t heard = clients_->take_answers();
    const std::uint64_t before = std::exchange(answered_before_, server_.answered());
    if (auto failure = clients_->take_failure()) return failure;
    if (auto wrong = compare_counts("answers to the clients", expected, heard)) return wrong;
    if (auto wrong = compare_counts("requests at the server", expected, answered_before_ - before))
      return wrong;
    const std::uint64_t descriptors = std::exchange(descriptors_, 0);
    return descriptors == 0 ? std::nullopt : lost_descriptors(runtime_, descriptors);
  }

  Figures take_figures() override {
    Figures figures;
    clients_->take_figures(rate_, figures);
    if (connection_bytes_ && !figures.empty()) figures["connection_bytes"] = *connection_bytes_;
    return figures;
  }

 private:
  static constexpr std::uint64_t kEnoughToTell = 1'000;
  static constexpr std::chrono::milliseconds kPauseOfAccepting{50};
  static constexpr int kPausesOfAccepting = 100;

  /// Raises the descriptor limit: both ends of each connection are in this process.
  static rt::Runtime& prepared(rt::Runtime& runtime, const Load& load) {
    if (try_to_make_room_for_descriptors(2 * load.connections)) return runtime;
    const bool is_shared = !load.clients->keep_own_descriptors();
    make_room_for_descriptors(is_shared ? 2 * load.connections : load.connections);
    return runtime;
  }

  rt::Runtime& runtime_;
  const std::uint64_t count_;
  const std::string_view rate_;
  const bool used_once_;
  Server server_;
  std::unique_ptr<Clients> clients_;  // destroyed before server_, with their connections
  std::uint64_t expected_ = 0;
  std::uint64_t answered_before_ = 0;
  std::uint64_t descriptors_ = 0;  // before the first iteration since verify()
  std::optional<double> connection_bytes_;
};

}  // namespace taskbench::workloads::net
