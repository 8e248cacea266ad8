#include "runtime/scheduler/global_queue/global_queue.hpp"

#include "runtime/base/assert.hpp"

namespace taskbench::rt::scheduler {

GlobalQueue::~GlobalQueue() {
  std::uint32_t waiting = 0;
  while (waiting_.take_one() != nullptr) ++waiting;
  // relaxed: no other thread is left
  TASKBENCH_ASSERT(sleeping_.load(base::relaxed) == waiting,
                   "G2: every worker that slept is counted out when it wakes");
}

void GlobalQueue::push(task::Header* task, Worker* from) noexcept {
  if (from != nullptr) from->counters.remote_schedules.add();
  append(task, from);
}

void GlobalQueue::append(task::Header* task, Worker* from) noexcept {
  inbox_.push(task);
  // seq_cst: the pusher's half of G2
  if (sleeping_.load(base::seq_cst) == 0) return;
  Worker* chosen = nullptr;
  {
    const base::LockGuard lock(mutex_);
    chosen = waiting_.take_one();
    // relaxed: the worker had seen the inbox empty, and looks again when it wakes up
    if (chosen != nullptr) sleeping_.fetch_sub(1, base::relaxed);
  }
  if (chosen != nullptr) unpark(*chosen, from);
}

void GlobalQueue::run(Worker& worker) noexcept {
  while (task::Header* task = next_task(worker)) {
    worker.poll(task, [&] { append(task, &worker); });
  }
}

task::Header* GlobalQueue::next_task(Worker& worker) noexcept {
  const base::LockGuard lock(mutex_);
  while (!closed()) {
    if (task::Header* task = pop()) return task;
    // seq_cst: the sleeper's half of G2, with the look at the inbox
    sleeping_.fetch_add(1, base::seq_cst);
    if (inbox_.looks_empty()) {
      if (worker.wait(waiting_, mutex_)) continue;
    }
    // relaxed: takes back the announcement; at worst a pusher looks in vain
    sleeping_.fetch_sub(1, base::relaxed);
  }
  return nullptr;
}

task::Header* GlobalQueue::pop() noexcept {
  if (queue_.empty()) inbox_.take_all(queue_);
  return queue_.pop_front();
}

task::Header* GlobalQueue::pop_left_over() noexcept {
  const base::LockGuard lock(mutex_);
  return pop();
}

}  // namespace taskbench::rt::scheduler
