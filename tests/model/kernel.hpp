// The kernel's side of TCP connections, for models: what recv, send and epoll_ctl answer
// (runtime/base/socket_calls.hpp).
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cstddef>

#include "runtime/base/sync_primitives.hpp"

namespace taskbench::rt::model {

/// One connection, seen from the peer. Its numbers are relaxed: that a call sees what it was
/// announced for is the matter of the readiness alone.
class Connection {
 public:
  static constexpr int kMost = 2;

  /// Who passes an event on.
  enum class Reports : std::uint8_t {
    itself,       ///< the thread that makes it, as the one that has the driver
    by_a_poller,  ///< whoever waits in the poller that was opened last
  };

  /// A descriptor below kMost that is in no use; there is room to send `room` bytes.
  Connection(int descriptor, Reports reports, int room = 0);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  // Called by the peer.
  void deliver(int count);
  void deliver_and_end(int count);
  void make_room(int count);
  /// An event for nothing new.
  void report(std::uint32_t events);
  [[nodiscard]] int sent() const noexcept { return sent_.load(base::relaxed); }

  // Called by the model, while nobody else uses the connection.
  /// Calls of recv and send until now.
  [[nodiscard]] int calls() const noexcept { return calls_; }
  /// The next call is interrupted.
  void interrupt() noexcept { interrupts_ = true; }

  // Called by the system.
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
  void* data_ = nullptr;  // what its events carry
  int calls_ = 0;
  bool interrupts_ = false;
};

}  // namespace taskbench::rt::model
