// An intrusive list that any thread adds to without a lock, and that is taken out whole.
//
// Threads: push by any; take_all by any, but the batches of two threads that take at once have no
// order between them: to keep the order of the pushes, let one thread take at a time.
//
// Invariants
//   B1  A node's link is written by its pusher before the compare-exchange that publishes it, and
//       by the thread that took it out; never by both at once.
//   B2  A take always takes everything: a node that was popped and pushed again meanwhile cannot
//       make a compare-exchange succeed wrongly (ABA), as no link of a queued node is followed.
//
// Rejected: Vyukov's intrusive queue (1024cores.net), the usual choice in the literature. Its push
// is one exchange, then a store of the link. A pusher that loses its core between the two hides all
// later pushes, and every reader has to wait for it; and the links would have to be atomic
// everywhere, as they are read while they are written. docs/adr/0020.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/base/cache_line.hpp"
#include "runtime/base/sync_primitives.hpp"
#include "runtime/queue/fifo.hpp"

namespace taskbench::rt::queue {

/// `Node` has a member `Node* queue_next`, which belongs to the inbox while the node is in it.
template <class Node>
class Inbox {
 public:
  /// Returns whether the inbox was empty.
  bool push(Node* node) noexcept {
    // relaxed: only a first guess for the compare-exchange
    Node* seen = newest_.load(base::relaxed);
    do {
      node->queue_next = seen;
      // seq_cst: publishes the node to take_all(), and is the pusher's half of the story at
      // looks_empty(). relaxed: on failure only the value is taken
    } while (!newest_.compare_exchange_weak(seen, node, base::seq_cst, base::relaxed));
    return seen == nullptr;
  }

  /// Moves all to the back of `list`, oldest first. Returns how many.
  std::uint32_t take_all(Fifo<Node>& list) noexcept {
    // relaxed: only a look, which spares the line a write; the exchange below synchronises
    if (newest_.load(base::relaxed) == nullptr) return 0;
    // acquire: pairs with the release of each push: all of them are in one release sequence
    Node* node = newest_.exchange(nullptr, base::acquire);
    Node* oldest = nullptr;
    while (node != nullptr) {
      Node* const before = std::exchange(node->queue_next, oldest);
      oldest = std::exchange(node, before);
    }
    std::uint32_t count = 0;
    for (; oldest != nullptr; ++count) {
      list.push_back(std::exchange(oldest, oldest->queue_next));
    }
    return count;
  }

  [[nodiscard]] bool looks_empty() const noexcept {
    // seq_cst: the leaver's half of the story: a thread that has announced with seq_cst that it
    // sleeps sees every push whose pusher did not see the announcement
    return newest_.load(base::seq_cst) == nullptr;
  }

 private:
  alignas(base::kFalseSharingBytes) base::Atomic<Node*> newest_{nullptr};
};

}  // namespace taskbench::rt::queue
