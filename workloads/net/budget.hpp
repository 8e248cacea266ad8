// Limits on the combined resources of a server's clients.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace taskbench::workloads::net {

struct ServerLimits {
  /// Time for a client to send the rest of a request, and to receive a response. Slower clients are
  /// cut off at most an eighth later.
  std::chrono::milliseconds patience{10'000};
  /// Time without a request. Neither empty lines nor PING are requests.
  std::chrono::milliseconds idle{300'000};
  /// Concurrent connections. Clients beyond this number are told so and closed.
  std::size_t connections = 10'000;
  /// Memory of all connections, including their requests and responses.
  std::size_t memory_bytes = 128 * 1'024 * 1'024;

  /// Limits for this many known and trusted clients, which need `bytes` each.
  static ServerLimits of(std::uint64_t connections, std::size_t bytes) {
    ServerLimits limits;
    limits.idle = std::chrono::hours(24);
    limits.connections += connections;
    limits.memory_bytes += connections * bytes;
    return limits;
  }
};

/// The memory that all connections of a server may hold together. Used from any thread.
class Budget {
 public:
  class Share;
  class Refusal;

  explicit Budget(std::size_t bytes) : left_(bytes) {}

  [[nodiscard]] std::size_t left_bytes() const { return left_.load(std::memory_order_relaxed); }

 private:
  // relaxed, like all of these: a count that guards nothing.
  [[nodiscard]] bool try_take(std::size_t bytes) {
    std::size_t left = left_.load(std::memory_order_relaxed);
    do {
      if (bytes > left) return false;
    } while (!left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::size_t bytes) { left_.fetch_add(bytes, std::memory_order_relaxed); }

  std::atomic<std::size_t> left_;
  std::atomic<std::size_t> refusals_{0};
};

/// A client that is being told that there is no room. At most 100 at a time: each needs some memory
/// that is not in the budget. Belongs to the task that tells it.
class Budget::Refusal {
 public:
  explicit Refusal(Budget& budget)
      : budget_(budget),
        // relaxed: a count that guards nothing
        is_granted_(budget.refusals_.fetch_add(1, std::memory_order_relaxed) < kMost) {}
  ~Refusal() {
    budget_.refusals_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as in the constructor
  }
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;

  /// False: the client is to be closed without a message.
  [[nodiscard]] bool is_granted() const { return is_granted_; }

 private:
  static constexpr std::size_t kMost = 100;

  Budget& budget_;
  const bool is_granted_;
};

/// The memory held by one connection, released on destruction. Belongs to the connection's task.
class Budget::Share {
 public:
  /// nullptr: there is no limit.
  explicit Share(Budget* budget) : budget_(budget) {}
  ~Share() { give_back(held_); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// False: the server has no more memory.
  [[nodiscard]] bool try_take(std::size_t bytes) {
    if (budget_ != nullptr && !budget_->try_take(bytes)) return false;
    held_ += bytes;
    return true;
  }
  void give_back(std::size_t bytes) {
    if (budget_ != nullptr) budget_->give_back(bytes);
    held_ -= bytes;
  }

 private:
  Budget* const budget_;
  std::size_t held_ = 0;
};

}  // namespace taskbench::workloads::net
