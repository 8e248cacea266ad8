#include "runtime/sync/cancellation.hpp"

namespace taskbench::rt::sync::detail {

Cancellation::Cancellation(Cancellation* parent) noexcept
    : root_(parent == nullptr || parent->root_ == nullptr ? parent : parent->root_.get()) {
  if (parent == nullptr) return;
  const base::LockGuard lock(mutex());
  link_into(*parent);
  // relaxed: C2; every thread that sees this node gets it from the thread that makes it here
  cancelled_.store(parent->is_cancelled(), base::relaxed);
}

Cancellation::~Cancellation() {
  if (root_ == nullptr) return;  // no node is below it any more (C3)
  const base::LockGuard lock(mutex());
  unlink();
  while (Cancellation* const child = first_child_) {
    child->unlink();
    child->link_into(*parent_);
  }
}

void Cancellation::link_into(Cancellation& parent) noexcept {
  parent_ = &parent;
  previous_ = nullptr;
  next_ = std::exchange(parent.first_child_, this);
  if (next_ != nullptr) next_->previous_ = this;
}

void Cancellation::unlink() noexcept {
  (previous_ == nullptr ? parent_->first_child_ : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

/// Cancels each node before its children, without a stack: a tree may be a long chain.
void Cancellation::cancel_all_below(WaitList& released) noexcept {
  for (Cancellation* node = this;;) {
    Cancellation* next = nullptr;
    if (!node->is_cancelled()) {
      released.append(node->waiting_);
      // release: pairs with the acquire in is_cancelled()
      node->cancelled_.store(true, base::release);
      next = node->first_child_;  // below a cancelled node there is nothing left to do (C2)
    }
    for (; next == nullptr; node = node->parent_) {
      if (node == this) return;
      next = node->next_;
    }
    node = next;
  }
}

/// Takes out a waiter that may be queued, here or in a cancel() under way. The caller drops the
/// returned reference.
task::Header* Cancellation::withdraw(Waiter& waiter) noexcept {
  return waiter.place() == Waiter::Place::queued ? WaitList::withdraw(waiter) : nullptr;
}

void Cancellation::cancel() noexcept {
  // A task that is woken may give up the last token of this node; the mutex stays.
  const base::Ref<Cancellation> root(root_ == nullptr ? this : root_.get());
  WaitList released;
  WakeBatch batch;
  bool more = true;
  for (bool first = true; more; first = false) {
    {
      const base::LockGuard lock(root->mutex_);
      if (first) cancel_all_below(released);
      while (!released.empty() && !batch.full()) batch.add(released.dismiss_front());
      more = !released.empty();
    }
    batch.wake_all();
  }
}

bool Cancellation::Wait::poll_cancelled(task::Leaf* leaf, task::Header* task) noexcept {
  Wait& self = *static_cast<Wait*>(leaf);
  Dropped dropped;
  {
    const base::LockGuard lock(self.node_->mutex());
    if (!self.node_->is_cancelled()) {
      if (self.place() == Place::queued) {
        dropped.set(WaitList::pass_to(self, task));
      } else {
        self.node_->waiting_.push_back(self, task);
      }
      self.waits_ = true;
      return false;
    }
  }
  if (std::exchange(self.waits_, false)) self.give_up();
  return true;
}

void Cancellation::Wait::give_up() noexcept {
  task::Header* own = nullptr;
  {
    const base::LockGuard lock(node_->mutex());
    own = node_->withdraw(*this);
  }
  if (own != nullptr) task::drop_reference(own);
}

}  // namespace taskbench::rt::sync::detail
