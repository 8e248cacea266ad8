// The injection queue: an intrusive list under a mutex. It takes the overflow of local queues
// and whatever is scheduled from threads outside the pool.
//
// Threads: every function may be called from any thread.
//
// Invariants
//   J1  first_, last_, closed_ and the links of queued nodes are guarded by mutex_.
//   J2  size_ is stored only under mutex_; the lock-free read is a hint, never a proof of
//       emptiness for a thread that has not fenced since it published that it is idle.
//   J3  After close() no push with Admit::if_open succeeds. Tasks that were already admitted may
//       still come back (Admit::always): shutdown waits for them.
//
// Rejected: a lock-free list of pushes that the consumer takes whole. The mutex is short (a few
// stores), uncontended in the common case, and a consumer can take a bounded batch in order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/queue/fifo.hpp"

namespace taskbench::rt::queue {

enum class Admit : std::uint8_t {
  if_open,  ///< a new task: refused once the queue is closed
  always,   ///< a task that was admitted before
};

/// `Node` has a member `Node* queue_next`, which belongs to the queue while the node is in it.
template <class Node>
class Injector {
 public:
  /// Appends one node. Returns false, having done nothing, when it was refused. `under_lock` runs
  /// with the mutex held after the node is in.
  template <class UnderLock>
  bool push(Node* node, Admit admit, UnderLock&& under_lock) {
    node->queue_next = nullptr;
    base::LockGuard lock(mutex_);
    if (closed_ && admit == Admit::if_open) return false;
    append(node, node, 1);
    under_lock();
    return true;
  }

  /// Appends nodes that were admitted before, in order: linked first, then put in under one lock.
  void push_batch(std::span<Node* const> nodes) {
    if (nodes.empty()) return;
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) nodes[i]->queue_next = nodes[i + 1];
    nodes.back()->queue_next = nullptr;
    base::LockGuard lock(mutex_);
    append(nodes.front(), nodes.back(), nodes.size());
  }

  /// Takes up to `out.size()` nodes, oldest first. Returns how many. A list that fits is unhooked
  /// whole and walked outside of the lock: its nodes are likely in another core's cache.
  std::size_t pop_batch(std::span<Node*> out) {
    if (looks_empty()) return 0;
    Node* node = nullptr;
    {
      base::LockGuard lock(mutex_);
      const std::size_t size = size_locked();
      if (size > out.size()) {
        first_ = walk(first_, out);
        store_size(size - out.size());
        return out.size();
      }
      node = std::exchange(first_, nullptr);
      last_ = nullptr;
      out = out.first(size);
      store_size(0);
    }
    walk(node, out);
    return out.size();
  }

  /// Moves all to the back of `list`, in one go, so that a flood of pushes holds nobody up. Returns
  /// how many.
  std::size_t take_all(Fifo<Node>& list) {
    if (looks_empty()) return 0;
    base::LockGuard lock(mutex_);
    const std::size_t size = size_locked();
    if (size != 0) list.append(std::exchange(first_, nullptr), std::exchange(last_, nullptr));
    store_size(0);
    return size;
  }

  /// Hands every node to `sink`, oldest first, also those that come meanwhile.
  template <class Sink>
  void drain(Sink&& sink) {
    std::array<Node*, 64> batch;
    while (const std::size_t taken = pop_batch(batch)) {
      for (std::size_t i = 0; i < taken; ++i) sink(batch[i]);
    }
  }

  /// Runs `section` with the mutex held, for what its owner guards by the same mutex.
  template <class Section>
  void locked(Section&& section) {
    base::LockGuard lock(mutex_);
    section();
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

 private:
  /// Fills `out` from the list and returns what follows.
  static Node* walk(Node* node, std::span<Node*> out) {
    for (Node*& place : out) {
      place = node;
      node = node->queue_next;
      if (node != nullptr) __builtin_prefetch(node);
    }
    return node;
  }

  void append(Node* first, Node* last, std::size_t count) TASKBENCH_REQUIRES(mutex_) {
    if (last_ == nullptr) {
      first_ = first;
    } else {
      last_->queue_next = first;
    }
    last_ = last;
    store_size(size_locked() + count);
  }

  [[nodiscard]] std::size_t size_locked() const TASKBENCH_REQUIRES(mutex_) {
    return size_.load(base::relaxed);  // relaxed: under mutex_ (J2)
  }
  void store_size(std::size_t size) TASKBENCH_REQUIRES(mutex_) {
    size_.store(size, base::relaxed);  // relaxed: J2; pushers fence before they look for sleepers
  }

  alignas(base::kFalseSharingBytes) base::Mutex mutex_;
  Node* first_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
  Node* last_ TASKBENCH_GUARDED_BY(mutex_) = nullptr;
  bool closed_ TASKBENCH_GUARDED_BY(mutex_) = false;
  alignas(base::kFalseSharingBytes) base::Atomic<std::size_t> size_{0};
};

}  // namespace taskbench::rt::queue
