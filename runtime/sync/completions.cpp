#include "runtime/sync/completions.hpp"

#include <utility>

#include "runtime/base/assert.hpp"
#include "runtime/task/context.hpp"

namespace taskbench::rt::sync::detail {

Completions::~Completions() {
  TASKBENCH_ASSERT(waiting_ == nullptr, "a JoinSet must outlive the task that waits on it");
}

void Completions::watch(task::Header* member) noexcept {
  Completions* const own = base::Ref<Completions>(this).release();
  if (!task::join_listen(member, own)) own->on_complete(member);
}

void Completions::on_complete(task::Header* member) noexcept {
  const auto own = base::Ref<Completions>::adopt(this);
  task::Header* waiter = nullptr;
  {
    base::LockGuard lock(mutex_);
    if (abandoned_) return;  // D2
    member->queue_next = nullptr;
    (last_ == nullptr ? first_ : last_->queue_next) = member;
    last_ = member;
    waiter = std::exchange(waiter_, nullptr);
  }
  if (waiter != nullptr) task::wake(waiter);
}

void Completions::on_detach() noexcept { const auto own = base::Ref<Completions>::adopt(this); }

task::Header* Completions::front() noexcept {
  base::LockGuard lock(mutex_);
  return first_;
}

void Completions::pop_front() noexcept {
  base::LockGuard lock(mutex_);
  first_ = first_->queue_next;
  if (first_ == nullptr) last_ = nullptr;
}

void Completions::abandon() noexcept {
  base::LockGuard lock(mutex_);
  abandoned_ = true;
  first_ = last_ = nullptr;
}

bool Completions::NextDone::poll_done(task::Leaf* leaf, task::Header* task) noexcept {
  NextDone& self = *static_cast<NextDone*>(leaf);
  Completions& completions = self.completions_;
  base::LockGuard lock(completions.mutex_);
  TASKBENCH_ASSERT(completions.waiting_ == (self.waits_ ? &self : nullptr),
                   "one await at a time waits on a JoinSet, also in branches of one task");
  self.done_ = completions.first_;
  if (self.done_ == nullptr) {
    if (completions.waiter_ == nullptr) completions.waiter_ = task::reference_in_poll(task);
    TASKBENCH_ASSERT(completions.waiter_ == task, "an await goes on in the task that began it");
    completions.waiting_ = &self;
    if (std::exchange(self.waits_, true)) return false;
    task::ThreadContext& context = task::thread_context();
    if (context.next == nullptr) context.waits_for_task = true;
    return false;
  }
  TASKBENCH_ASSERT(completions.waiter_ == nullptr, "whoever reported has taken it out (D3)");
  if (std::exchange(self.waits_, false)) completions.waiting_ = nullptr;
  return true;
}

void Completions::NextDone::give_up() noexcept {
  task::Header* own = nullptr;
  {
    base::LockGuard lock(completions_.mutex_);
    completions_.waiting_ = nullptr;
    own = std::exchange(completions_.waiter_, nullptr);
  }
  if (own != nullptr) task::drop_reference(own);
}

}  // namespace taskbench::rt::sync::detail
