// Cuts off clients that take too long. One sleep for a server costs less than a timer for each read
// and write: a task checks all waits now and then, and time is counted in these checks ("looks").
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "runtime/net/tcp.hpp"
#include "runtime/runtime.hpp"

namespace taskbench::workloads::net {

/// Belongs to the thread that drives the iterations, which is not one of the runtime's.
class Patience {
 public:
  class Wait;

  /// Cuts off clients that take longer than `patience`, or are idle for longer than `idle`, at most
  /// an eighth of the shorter time later.
  Patience(rt::Runtime& runtime, std::chrono::milliseconds patience,
           std::chrono::milliseconds idle);
  ~Patience();

  /// The number of clients that were cut off.
  [[nodiscard]] std::uint64_t cut_off() const { return cut_off_.load(std::memory_order_relaxed); }

 private:
  rt::Task<> look_again_and_again();
  rt::Task<> stop();

  rt::Runtime& runtime_;
  const std::chrono::milliseconds pause_;
  const std::uint64_t looks_of_patience_;
  const std::uint64_t looks_of_idle_;
  // relaxed, like all of these: counts that need not be exact at any moment.
  std::atomic<std::uint64_t> cut_off_{0};
  std::atomic<std::uint64_t> looks_{0};
  std::mutex mutex_;
  Wait* waits_ = nullptr;  // a list, guarded by mutex_
  std::optional<rt::JoinHandle<void>> watch_;
};

/// A wait of a connection for its client. Belongs to the connection's task, which ends before the
/// Patience does.
class Patience::Wait {
 public:
  /// `expire`, which any thread may call, should end the connection; without it, the connection is
  /// cut off.
  Wait(Patience& patience, rt::net::TcpStream& stream, std::function<void()> expire = {});
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  /// Starts the client's time limit.
  void begin() { begin(patience_.looks_of_patience_); }
  /// Starts the time limit for idle connections.
  void begin_idle() { begin(patience_.looks_of_idle_); }
  /// Stops the time limit.
  void end() { cut_off_at_.store(kNever, std::memory_order_relaxed); }

 private:
  friend class Patience;
  void begin(std::uint64_t looks);

  static constexpr std::uint64_t kNever = UINT64_MAX;

  Patience& patience_;
  rt::net::TcpStream& stream_;
  const std::function<void()> expire_;
  Wait* next_ = nullptr;   // both guarded by the Patience's mutex_
  Wait** link_ = nullptr;  // the pointer to this
  std::atomic<std::uint64_t> cut_off_at_{kNever};
};

}  // namespace taskbench::workloads::net
