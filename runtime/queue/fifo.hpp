// An intrusive list, first in, first out. Not synchronised.
#pragma once

#include <utility>

namespace taskbench::rt::queue {

/// `Node` has a member `Node* queue_next`, which belongs to the list while the node is in it.
template <class Node>
class Fifo {
 public:
  void push_back(Node* node) noexcept {
    node->queue_next = nullptr;
    append(node, node);
  }

  /// Appends nodes that are linked; the last has no next.
  void append(Node* first, Node* last) noexcept {
    if (last_ == nullptr) {
      first_ = first;
    } else {
      last_->queue_next = first;
    }
    last_ = last;
  }

  /// Appends all of `list`, which is empty afterwards.
  void append(Fifo& list) noexcept {
    if (list.empty()) return;
    append(list.first_, list.last_);
    list = {};
  }

  /// Takes out the oldest node; nullptr if there is none.
  [[nodiscard]] Node* pop_front() noexcept {
    Node* const node = first_;
    if (node == nullptr) return nullptr;
    first_ = node->queue_next;
    if (first_ == nullptr) last_ = nullptr;
    return node;
  }

  /// The next to be popped, or nullptr.
  [[nodiscard]] Node* front() const noexcept { return first_; }
  /// The last to be popped, or nullptr.
  [[nodiscard]] Node* back() const noexcept { return last_; }
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }

 private:
  Node* first_ = nullptr;
  Node* last_ = nullptr;
};

}  // namespace taskbench::rt::queue
