// The load on a server: clients on a thread of their own, each of which sends the next request when
// it has the answer to the last. They use no runtime of ours, so that they are the same under every
// scheduler.
//
// Threads: connect, exchange and what reads the outcome belong to the thread that drives the
// iterations, and only while nothing is under way: from a call until its `done` was heard the
// connections and the outcome belong to the thread of the load.
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

class Clients {
 public:
  Clients();
  virtual ~Clients();

  /// Opens the connections to a port of the loopback.
  void connect(std::uint16_t port, SignalSender done);
  /// To be called before connect(): descriptors of the clients no longer count as the server's.
  /// False: these clients cannot. Where the system has no such thing connect() fails.
  [[nodiscard]] virtual bool keep_own_descriptors() { return false; }
  /// Has that many requests answered.
  void exchange(std::uint64_t count, SignalSender done);

  /// What was wrong since the last call: an answer, or that there was none.
  [[nodiscard]] std::optional<std::string> take_failure();
  /// Answers that were right, since the last call.
  [[nodiscard]] std::uint64_t take_answers() { return std::exchange(answers_, 0); }
  /// Answers a second as `rate`, and the quantiles of the time that each took.
  void take_figures(std::string_view rate, Figures& figures);

 protected:
  using Clock = std::chrono::steady_clock;

  // On the thread of the load; what they throw is the failure.
  virtual void open_all(std::uint16_t port) = 0;
  virtual void exchange_all(std::uint64_t count) = 0;

  /// On the thread of the load, too, which ends then. For destructors that close descriptors.
  void end_with(std::function<void()> last);

  /// The answer was right, and took so long.
  void heard(Clock::duration latency) { latencies_.add(latency); }

 private:
  void start(std::function<void()> work, SignalSender done);
  void run();

  std::uint64_t answers_ = 0;
  std::uint64_t timed_answers_ = 0;
  Clock::duration timed_{};
  Latencies latencies_;
  std::optional<std::string> failure_;

  std::function<void()> work_;  // none: the thread is to end
  std::function<void()> last_;
  std::optional<SignalSender> done_;
  std::binary_semaphore has_work_{0};
  std::thread thread_;
};

/// Which connections have something to say. Its functions throw std::system_error.
class Epoll {
 public:
  ~Epoll() { close(); }
  void open();
  void close();

  /// Connects to a port of the loopback, and watches the socket. The caller closes it.
  [[nodiscard]] int connect(std::uint16_t port, std::uint64_t name);
  /// The names of those that have something to say. Throws std::runtime_error when none has for
  /// longer than any answer takes.
  [[nodiscard]] const std::vector<std::uint64_t>& wait();

 private:
  int epoll_ = -1;
  std::vector<std::uint64_t> ready_;
};

/// Gives the calling thread a table of descriptors of its own, which is as good as empty. The limit
/// of a process is that of each of its tables. Throws std::system_error.
void unshare_descriptors();

[[noreturn]] void throw_errno(const char* what);

}  // namespace taskbench::workloads::net
