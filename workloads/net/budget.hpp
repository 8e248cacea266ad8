// The memory that all connections of a server may hold together. From any thread.
#pragma once

#include <atomic>
#include <cstddef>

namespace taskbench::workloads::net {

class Budget {
 public:
  class Share;

  explicit Budget(std::size_t bytes) : left_(bytes) {}

  [[nodiscard]] std::size_t left_bytes() const { return left_.load(std::memory_order_relaxed); }

 private:
  // relaxed, as all of this: a count that guards nothing.
  [[nodiscard]] bool try_take(std::size_t bytes) {
    std::size_t left = left_.load(std::memory_order_relaxed);
    do {
      if (bytes > left) return false;
    } while (!left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed));
    return true;
  }
  void give_back(std::size_t bytes) { left_.fetch_add(bytes, std::memory_order_relaxed); }

  std::atomic<std::size_t> left_;
};

/// What one connection holds, which goes back with it. Belongs to its task.
class Budget::Share {
 public:
  /// nullptr: it may hold any amount.
  explicit Share(Budget* budget) : budget_(budget) {}
  ~Share() { give_back(held_); }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;

  /// False: the server has no more.
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
