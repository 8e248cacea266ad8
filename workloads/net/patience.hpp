// Cuts off clients that take too long. One sleep a server costs less than a timer for each read and
// write: time is counted in the looks that a task takes at all that is waited for.
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

/// Belongs to the thread that drives the iterations, which is none of the runtime's.
class Patience {
 public:
  class Wait;

  /// Who takes longer than `patience`, or is idle for longer than `idle`, is cut off at most an
  /// eighth of the shorter later.
  Patience(rt::Runtime& runtime, std::chrono::milliseconds patience,
           std::chrono::milliseconds idle);
  ~Patience();

  /// How many were.
  [[nodiscard]] std::uint64_t cut_off() const { return cut_off_.load(std::memory_order_relaxed); }

 private:
  rt::Task<> look_again_and_again();
  rt::Task<> stop();

  rt::Runtime& runtime_;
  const std::chrono::milliseconds pause_;
  const std::uint64_t looks_of_patience_;
  const std::uint64_t looks_of_idle_;
  // relaxed, as all of this: counts that are read some time.
  std::atomic<std::uint64_t> cut_off_{0};
  std::atomic<std::uint64_t> looks_{0};
  std::mutex mutex_;
  Wait* waits_ = nullptr;  // a list, guarded by mutex_
  std::optional<rt::JoinHandle<void>> watch_;
};

/// What a connection may wait for. Belongs to its task, which ends before the Patience does.
class Patience::Wait {
 public:
  /// `expire`, which any thread may call, is to end the connection; without, it is cut off.
  Wait(Patience& patience, rt::net::TcpStream& stream, std::function<void()> expire = {});
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  /// From now on the client has its time.
  void begin() { begin(patience_.looks_of_patience_); }
  /// From now on nothing happens that counts.
  void begin_idle() { begin(patience_.looks_of_idle_); }
  /// Nothing is waited for.
  void end() { cut_off_at_.store(kNever, std::memory_order_relaxed); }

 private:
  friend class Patience;
  void begin(std::uint64_t looks);

  static constexpr std::uint64_t kNever = UINT64_MAX;

  Patience& patience_;
  rt::net::TcpStream& stream_;
  const std::function<void()> expire_;
  Wait* next_ = nullptr;   // both guarded by the Patience's mutex_
  Wait** link_ = nullptr;  // to this
  std::atomic<std::uint64_t> cut_off_at_{kNever};
};

}  // namespace taskbench::workloads::net
