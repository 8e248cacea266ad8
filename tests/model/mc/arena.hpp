// The memory of one execution: what it allocates, and the stacks of its threads. It is released as
// a whole, so an execution can be abandoned at any point.
//
// Nothing is reused within an execution, so that an access to freed memory is detected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mc {

class Arena {
 public:
  static constexpr std::size_t kHeapBytes = std::size_t{4} << 20;
  static constexpr std::size_t kStackBytes = std::size_t{64} << 10;
  static constexpr std::size_t kBytes = kHeapBytes + 8 * kStackBytes;

  struct Block {
    std::byte* begin = nullptr;
    std::size_t size = 0;
    int thread = 0;  ///< the allocating thread
    bool freed = false;
  };

  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Null when the arena is full.
  [[nodiscard]] void* allocate(std::size_t size, std::size_t alignment, int thread);
  /// The block that begins at `memory`; null for anything else.
  [[nodiscard]] Block* block_at(const void* memory);
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] std::byte* stack(int thread);
  [[nodiscard]] bool holds(const void* memory) const {
    const auto* byte = static_cast<const std::byte*>(memory);
    return byte >= memory_ && byte < memory_ + kBytes;
  }
  [[nodiscard]] std::size_t offset(const void* memory) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(memory) - memory_);
  }
  void reset();

 private:
  std::byte* memory_;
  std::size_t used_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace mc
