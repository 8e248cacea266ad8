#include "runtime/scheduler/channel/channel.hpp"

#include "runtime/task/context.hpp"

namespace taskbench::rt::scheduler {
namespace {

/// The capacity of the channel in the book's example (channel.hpp).
constexpr std::size_t kMaxQueuedTasks = 10'000;

}  // namespace

Channel::Channel(RuntimeOptions options)
    : ThreadPool(std::move(options), std::in_place_type<Worker>), ring_(kMaxQueuedTasks) {}

void Channel::push(task::Header* task, Worker* from) noexcept {
  if (from != nullptr) from->counters.remote_schedules.add();
  send(task, from);
}

void Channel::send(task::Header* task, Worker* from) noexcept {
  task::add_reference(task);
  const bool may_wait = task::thread_context().scheduler == nullptr;
  Worker* receiver = nullptr;
  {
    const base::LockGuard lock(mutex_);
    Sender self;
    while (may_wait && count_ == ring_.size() && !closed()) {
      senders_.wait(mutex_, self);
    }
    if (count_ == ring_.size()) {
      beyond_.push_back(task);
    } else {
      ring_[(first_ + count_) % ring_.size()] = task;
      ++count_;
    }
    receiver = receiver_.take_one();
  }
  if (receiver != nullptr) unpark(*receiver, from);
}

task::Header* Channel::take() noexcept {
  if (count_ == 0) return nullptr;
  task::Header* const task = ring_[first_];
  first_ = (first_ + 1) % ring_.size();
  --count_;
  if (task::Header* next = beyond_.pop_front()) {
    ring_[(first_ + count_) % ring_.size()] = next;
    ++count_;
  } else if (Sender* sender = senders_.take_one()) {
    sender->parker.unpark();
  }
  return task;
}

task::Header* Channel::receive(Worker& worker) noexcept {
  const base::LockGuard lock(mutex_);
  while (!closed()) {
    if (task::Header* task = take()) return task;
    worker.wait(receiver_, mutex_);
  }
  return nullptr;
}

void Channel::run(Worker& worker) noexcept {
  while (task::Header* task = receive(worker)) {
    worker.poll(task, [&] { send(task, &worker); });
    task::drop_reference(task);
  }
}

void Channel::release_waiting() noexcept {
  const base::LockGuard lock(mutex_);
  while (Sender* sender = senders_.take_one()) sender->parker.unpark();
}

task::Header* Channel::pop_left_over() noexcept {
  const base::LockGuard lock(mutex_);
  task::Header* const task = take();
  if (task != nullptr) task::drop_reference(task);  // not the last one: the task is incomplete
  return task;
}

}  // namespace taskbench::rt::scheduler
