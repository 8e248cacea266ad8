// The injection queue, under a mutex: tasks scheduled from threads outside the pool, in an
// intrusive list, and the overflow of local queues, in blocks of pointers between the parts of that
// list.
//
// Threads: every function may be called from any thread.
//
// Invariants
//   J1  first_, blocks_, spares_, closed_ and the links of queued nodes are guarded by mutex_.
//   J2  size_ is stored only under mutex_; the lock-free read is a hint, never a proof of
//       emptiness for a thread that has not fenced since it published that it is idle.
//   J3  After close() no push with Admit::if_open succeeds. Tasks that were already admitted may
//       still come back (Admit::always): shutdown waits for them.
//   J4  Oldest first: first_, then each block followed by the nodes pushed after it. No block in
//       blocks_ is empty.
//
// A batch is copied as pointers because its nodes are cold: an overflowing local queue has 256 of
// them, more than the first-level cache holds. If they were linked, each would cause a cache miss
// when it is put in, and another, under the mutex, when it is taken out.
//
// Rejected: a lock-free list of pushes that the consumer takes whole. The mutex is short (a few
// stores), uncontended in the common case, and a consumer can take a bounded batch in order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/queue/fifo.hpp"
#include "runtime/queue/limits.hpp"

namespace taskbench::rt::queue {

enum class Admit : std::uint8_t {
  if_open,  ///< a new task: refused once the queue is closed
  always,   ///< a task that was admitted before
};

/// `Node` has a member `Node* queue_next`, which belongs to the queue while the node is in it.
template <class Node, class Limits = ProductionLimits>
class Injector {
 public:
  Injector() = default;
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;
  ~Injector() {
    while (Block* block = blocks_.pop_front()) delete block;
    while (Block* block = spares_.pop_front()) delete block;
  }

  /// Appends one node. Returns false, having done nothing, if it was refused. `under_lock` runs
  /// with the mutex held, once the node is in.
  template <class UnderLock>
  bool push(Node* node, Admit admit, UnderLock&& under_lock) {
    node->queue_next = nullptr;
    base::LockGuard lock(mutex_);
    if (closed_ && admit == Admit::if_open) return false;
    end().append(node, node);
    store_size(size_locked() + 1);
    under_lock();
    return true;
  }

  /// Appends nodes that were admitted before, in order, under one lock.
  void push_batch(std::span<Node* const> nodes) {
    base::LockGuard lock(mutex_);
    store_size(size_locked() + nodes.size());
    while (nodes.size() > 1) {
      Block* const block = new_block();
      if (block == nullptr) break;
      block->count = std::min(nodes.size(), kBlock);
      std::copy_n(nodes.begin(), block->count, block->nodes.begin());
      blocks_.push_back(block);
      nodes = nodes.subspan(block->count);
    }
    for (Node* node : nodes) end().push_back(node);  // one, or there is no memory
  }

  /// Takes up to `out.size()` nodes, oldest first. Returns how many. A list that fits is unlinked
  /// as a whole and walked outside of the lock: its nodes are likely in another core's cache.
  std::size_t pop_batch(std::span<Node*> out) {
    if (looks_empty()) return 0;
    mutex_.lock();
    return pop_and_unlock(out);
  }

  /// Like pop_batch(), for a caller with other work: if another thread is inside, it takes nothing
  /// instead of waiting, up to kMostPasses times in a row. `passed` is the caller's count, 0 at
  /// first.
  std::size_t pop_batch_in_passing(std::span<Node*> out, std::uint32_t& passed) {
    if (looks_empty()) return 0;
    if (passed == kMostPasses) {
      mutex_.lock();
    } else if (!mutex_.try_lock()) {
      ++passed;
      return 0;
    }
    passed = 0;
    return pop_and_unlock(out);
  }

  /// Moves all nodes to the back of `list` at once, so that a flood of pushes does not hold up the
  /// caller. Returns how many.
  std::size_t take_all(Fifo<Node>& list) {
    if (looks_empty()) return 0;
    base::LockGuard lock(mutex_);
    const std::size_t size = size_locked();
    list.append(first_);
    while (Block* block = blocks_.front()) {
      for (Node* node : block->rest()) list.push_back(node);
      retire(block);
      list.append(first_);
    }
    store_size(0);
    return size;
  }

  /// Hands every node to `sink`, oldest first, including those that come meanwhile.
  template <class Sink>
  void drain(Sink&& sink) {
    std::array<Node*, 64> batch;
    while (const std::size_t taken = pop_batch(batch)) {
      for (std::size_t i = 0; i < taken; ++i) sink(batch[i]);
    }
  }

  /// Returns what `section` does with the mutex held, for data that the owner guards by the same
  /// mutex.
  template <class Section>
  auto locked(Section&& section) {
    base::LockGuard lock(mutex_);
    return section();
  }

  /// Refuses new tasks from here on. Returns false when it was closed already.
  bool close() {
    base::LockGuard lock(mutex_);
    const bool was_open = !closed_;
    closed_ = true;
    return was_open;
  }

  [[nodiscard]] std::size_t size() const {
    return size_.load(base::relaxed);  // relaxed: a hint (J2); the mutex hands over the nodes
  }
  [[nodiscard]] bool looks_empty() const { return size() == 0; }

  /// With 128 overloaded workers, 7 gives nearly as much as any number, and 1 a third of that
  /// (docs/design/many_cores.md).
  static constexpr std::uint32_t kMostPasses = 7;

 private:
  /// The number of nodes that a local queue moves out at once.
  static constexpr std::size_t kBlock = Limits::kLocalQueueCapacity / 2 + 1;
  /// The number of blocks kept for the next batches: each spares an allocation, and 17 KiB are not
  /// worth giving back.
  static constexpr std::size_t kMostSpares = 16;

  struct Block {
    [[nodiscard]] std::span<Node*> rest() { return std::span(nodes).first(count).subspan(begin); }

    std::array<Node*, kBlock> nodes;
    std::size_t begin = 0;  // those before it have been taken
    std::size_t count = 0;
    Fifo<Node> after;  // what was pushed after this block, before the next
    Block* queue_next = nullptr;
  };

  /// The list that gets the next node.
  Fifo<Node>& end() TASKBENCH_REQUIRES(mutex_) {
    return blocks_.empty() ? first_ : blocks_.back()->after;
  }

  /// An empty block; nullptr without memory.
  Block* new_block() TASKBENCH_REQUIRES(mutex_) {
    Block* const spare = spares_.pop_front();
    if (spare == nullptr) return new (std::nothrow) Block;
    --spare_count_;
    spare->begin = 0;
    return spare;
  }

  /// Removes the first block, which is used up. The nodes that follow it now come first.
  void retire(Block* block) TASKBENCH_REQUIRES(mutex_) {
    static_cast<void>(blocks_.pop_front());
    first_.append(block->after);
    if (spare_count_ == kMostSpares) {
      delete block;
      return;
    }
    ++spare_count_;
    spares_.push_back(block);
  }

  std::size_t pop_and_unlock(std::span<Node*> out) TASKBENCH_RELEASE(mutex_) {
    const std::size_t size = size_locked();
    if (!blocks_.empty() || size > out.size()) {
      const std::size_t taken = take(out);
      store_size(size - taken);
      mutex_.unlock();
      return taken;
    }
    Fifo<Node> whole;
    whole.append(first_);
    store_size(0);
    mutex_.unlock();
    return take_listed(whole, out);
  }

  /// Fills `out` with the oldest. Returns how many there were.
  std::size_t take(std::span<Node*> out) TASKBENCH_REQUIRES(mutex_) {
    std::size_t taken = take_listed(first_, out);
    while (!blocks_.empty()) {
      Block* const block = blocks_.front();
      const std::span<Node*> rest = block->rest();
      const std::size_t some = std::min(out.size() - taken, rest.size());
      std::copy_n(rest.data(), some, out.data() + taken);
      block->begin += some;
      taken += some;
      if (some < rest.size()) break;
      retire(block);
      taken += take_listed(first_, out.subspan(taken));
    }
    return taken;
  }

  /// Fills `out` from the front of `list`. Returns how many there were.
  static std::size_t take_listed(Fifo<Node>& list, std::span<Node*> out) {
    std::size_t taken = 0;
    while (taken < out.size() && !list.empty()) {
      out[taken++] = list.pop_front();
      __builtin_prefetch(list.front());
    }
    return taken;
  }

  [[nodiscard]] std::size_t size_locked() const TASKBENCH_REQUIRES(mutex_) {
    return size_.load(base::relaxed);  // relaxed: under mutex_ (J2)
  }
  void store_size(std::size_t size) TASKBENCH_REQUIRES(mutex_) {
    size_.store(size, base::relaxed);  // relaxed: J2; pushers fence before they look for sleepers
  }

  alignas(base::kFalseSharingBytes) base::Mutex mutex_;
  Fifo<Node> first_ TASKBENCH_GUARDED_BY(mutex_);
  Fifo<Block> blocks_ TASKBENCH_GUARDED_BY(mutex_);
  Fifo<Block> spares_ TASKBENCH_GUARDED_BY(mutex_);
  std::size_t spare_count_ TASKBENCH_GUARDED_BY(mutex_) = 0;
  bool closed_ TASKBENCH_GUARDED_BY(mutex_) = false;
  alignas(base::kFalseSharingBytes) base::Atomic<std::size_t> size_{0};
};

}  // namespace taskbench::rt::queue
