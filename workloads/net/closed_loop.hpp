// The load on a server: connections on a thread of their own, each of which sends the next request
// when it has the answer to the last. It uses no runtime of ours, so that it is the same under
// every scheduler.
//
// Threads: connect, exchange and what reads the outcome belong to the thread that drives the
// iterations, and only while nothing is under way: from a call until its `done` was heard the
// connections and the outcome belong to the thread of the load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "workloads/countdown.hpp"
#include "workloads/latencies.hpp"

namespace taskbench::workloads::net {

/// What a connection asks again and again, and what must come back.
struct Exchange {
  std::string request;
  std::string response;
  std::size_t varies_at = 0;  ///< from here on, that many bytes of the response may be any
  std::size_t varies_bytes = 0;
};

class ClosedLoop {
 public:
  /// Of all connections, `busy` send requests; the others only exist.
  ClosedLoop(Exchange exchange, std::uint64_t connections, std::uint64_t busy);
  ~ClosedLoop();

  /// Opens the connections to a port of the loopback.
  void connect(std::uint16_t port, SignalSender done);
  /// Has that many requests answered.
  void exchange(std::uint64_t count, SignalSender done);

  /// What was wrong since the last call: an answer, or that there was none.
  [[nodiscard]] std::optional<std::string> take_failure();
  /// Answers that were right, since the last call.
  [[nodiscard]] std::uint64_t take_answers() { return std::exchange(answers_, 0); }
  /// Answers a second as `rate`, and the quantiles of the time that each took.
  void take_figures(std::string_view rate, Figures& figures);

 private:
  using Clock = std::chrono::steady_clock;

  struct Connection {
    int descriptor;
    std::size_t received = 0;
    Clock::time_point sent_at;
    std::string answer;
  };

  void start(std::function<void()> work, SignalSender done);
  void run();
  void open_all(std::uint16_t port);
  void exchange_all(std::uint64_t count);
  void send(Connection& connection);
  /// Whether the answer is complete. Throws if it is wrong.
  bool receive(Connection& connection);

  const Exchange exchange_;
  const std::uint64_t wanted_;
  const std::uint64_t busy_;
  int epoll_ = -1;
  std::vector<Connection> connections_;
  std::uint64_t answers_ = 0;
  std::uint64_t timed_answers_ = 0;
  Clock::duration timed_{};
  Latencies latencies_;
  std::optional<std::string> failure_;

  std::function<void()> work_;  // none: the thread is to end
  std::optional<SignalSender> done_;
  std::binary_semaphore has_work_{0};
  std::thread thread_;
};

}  // namespace taskbench::workloads::net
