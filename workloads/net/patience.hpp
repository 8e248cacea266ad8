// Cuts off clients that take too long. One sleep a server costs less than a timer for each read and
// write: time is counted in the looks that a task takes at all that is waited for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#include "runtime/net/tcp.hpp"
#include "runtime/runtime.hpp"

namespace taskbench::workloads::net {

/// Belongs to the thread that drives the iterations, which is none of the runtime's.
class Patience {
 public:
  class Wait;

  /// Who takes longer than `patience` is cut off at most an eighth later.
  Patience(rt::Runtime& runtime, std::chrono::milliseconds patience);
  ~Patience();

  /// How many were.
  [[nodiscard]] std::uint64_t cut_off() const { return cut_off_.load(std::memory_order_relaxed); }

 private:
  rt::Task<> look_again_and_again(std::chrono::milliseconds pause);
  rt::Task<> stop();

  rt::Runtime& runtime_;
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
  Wait(Patience& patience, rt::net::TcpStream& stream);
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  /// From now on the client has its time.
  void begin();
  /// Nothing is waited for.
  void end() { cut_off_at_.store(kNever, std::memory_order_relaxed); }

 private:
  friend class Patience;
  static constexpr std::uint64_t kNever = UINT64_MAX;

  Patience& patience_;
  rt::net::TcpStream& stream_;
  Wait* next_ = nullptr;   // both guarded by the Patience's mutex_
  Wait** link_ = nullptr;  // to this
  std::atomic<std::uint64_t> cut_off_at_{kNever};
};

}  // namespace taskbench::workloads::net
