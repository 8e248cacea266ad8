// The kernel's side of TCP connections, for models: what recv, send and epoll_ctl answer
// (runtime/base/socket_calls.hpp).
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstddef>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::model {

/// One connection, as the peer sees it. Its numbers are relaxed: only the readiness may guarantee
/// that a call sees what was announced.
class Connection {
 public:
  static constexpr int kMost = 2;

  /// How an event is passed on.
  enum class Reports : std::uint8_t {
    itself,       ///< the thread that causes it, as if it held the driver
    by_a_poller,  ///< the thread that waits in the poller opened last
  };

  /// `descriptor` is below kMost and unused; there is room to send `room` bytes.
  Connection(int descriptor, Reports reports, int room = 0);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  // Called by the peer.
  void deliver(int count);
  void deliver_and_end(int count);
  void make_room(int count);
  /// Reports events although nothing is new.
  void report(std::uint32_t events);
  [[nodiscard]] int sent() const noexcept { return sent_.load(base::relaxed); }

  // Called by the model, while no other thread uses the connection.
  /// The number of calls of recv and send so far.
  [[nodiscard]] int calls() const noexcept { return calls_; }
  /// Makes the next call fail with EINTR.
  void interrupt() noexcept { interrupts_ = true; }

  // Called by the system calls in kernel.cpp.
  [[nodiscard]] static Connection& of(int descriptor) noexcept { return *all_[descriptor]; }
  [[nodiscard]] ssize_t receive(std::size_t size, int flags) noexcept;
  [[nodiscard]] ssize_t send(std::size_t size) noexcept;
  void watch(void* data) noexcept { data_ = data; }

 private:
  [[nodiscard]] bool is_interrupted() noexcept;

  inline static Connection* all_[kMost] = {};

  const int descriptor_;
  const Reports reports_;
  base::Atomic<int> bytes_{0};
  base::Atomic<bool> ended_{false};
  base::Atomic<int> room_;
  base::Atomic<int> sent_{0};
  void* data_ = nullptr;  // passed along with its events
  int calls_ = 0;
  bool interrupts_ = false;
};

}  // namespace taskbench::rt::model
