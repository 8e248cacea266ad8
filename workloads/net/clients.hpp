// The load on a server: clients on a thread of their own, each of which sends the next request when
// it has received the response to the last. They do not use our runtime, so that they are the same
// under every scheduler.
//
// Threads: connect(), exchange() and the functions that read the outcome belong to the thread that
// drives the iterations, and only while nothing is under way. From a call until its `done` was
// received, the connections and the outcome belong to the load's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "workloads/base/countdown.hpp"
#include "workloads/base/latencies.hpp"

namespace taskbench::workloads::net {

/// Much longer than any response takes, even with an unoptimised build on a busy machine.
inline constexpr int kPatience_s = 30;

class Clients {
 public:
  Clients();
  virtual ~Clients();

  /// Opens the connections to a loopback port.
  void connect(std::uint16_t port, SignalSender done);
  /// Gives the clients a descriptor table of their own, so that these do not count as the server's.
  /// Call it before connect(). False if these clients do not support that; if the system does not,
  /// connect() fails.
  [[nodiscard]] virtual bool keep_own_descriptors() { return false; }
  /// Sends this many requests and receives the responses.
  void exchange(std::uint64_t count, SignalSender done);

  /// The failure since the last call, if any: a wrong or missing response.
  [[nodiscard]] std::optional<std::string> take_failure();
  /// The number of correct responses since the last call.
  [[nodiscard]] std::uint64_t take_answers() { return std::exchange(answers_, 0); }
  /// Stores responses per second as `rate`, and the quantiles of the time that each took.
  void take_figures(std::string_view rate, Figures& figures);

 protected:
  using Clock = std::chrono::steady_clock;

  // Called on the load's thread; an exception is the failure.
  virtual void open_all(std::uint16_t port) = 0;
  virtual void exchange_all(std::uint64_t count) = 0;

  /// Called on the load's thread, which then ends. For destructors that close descriptors.
  void end_with(std::function<void()> last);

  /// Records a correct response, and its latency.
  void heard(Clock::duration latency) { latencies_.add(latency); }

 private:
  void start(std::function<void()> work, SignalSender done);
  void run();

  std::uint64_t answers_ = 0;
  std::uint64_t timed_answers_ = 0;
  Clock::duration timed_{};
  Latencies latencies_;
  std::optional<std::string> failure_;

  std::function<void()> work_;  // empty: the thread should end
  std::function<void()> last_;
  std::optional<SignalSender> done_;
  std::binary_semaphore has_work_{0};
  std::thread thread_;
};

/// Reports which connections are readable. Its functions throw std::system_error.
class Epoll {
 public:
  ~Epoll() { close(); }
  void open();
  void close();

  /// Connects to a loopback port, and watches the socket. The caller closes it. `name`: the number
  /// of the connection, of which one address has only some.
  [[nodiscard]] int connect(std::uint16_t port, std::uint64_t name);
  /// The names of the readable connections. Throws std::runtime_error if there are none for longer
  /// than any response takes.
  [[nodiscard]] const std::vector<std::uint64_t>& wait();
  /// The names of those that are readable now, if any.
  [[nodiscard]] const std::vector<std::uint64_t>& ready_now();

 private:
  /// Returns epoll_wait's answer, and stores the names.
  int poll(int patience_ms);

  int epoll_ = -1;
  std::vector<std::uint64_t> ready_;
};

/// Gives the calling thread its own table of descriptors, almost empty. A process's limit applies
/// to each of its tables. Throws std::system_error.
void unshare_descriptors();

[[noreturn]] void throw_errno(const char* what);

}  // namespace taskbench::workloads::net
