#include "runtime/scheduler/tokio01/tokio01.hpp"

#include <chrono>
#include <exception>

namespace taskbench::rt::scheduler {
namespace {

/// The number of slots that a deque begins with, as in crossbeam.
constexpr std::uint64_t kFirstCapacity = 64;

constexpr std::chrono::seconds kKeepAlive{1};

}  // namespace

Tokio01::Tokio01(RuntimeOptions given)
    : ThreadPool(std::move(given), std::in_place_type<Processor>),
      epochs_(workers().size()),
      live_(options().workers) {
  for (std::uint32_t i = 0; i < workers().size(); ++i) {
    processor(i).deque.emplace(kFirstCapacity, epochs_, i);
    processor(i).random.emplace(options().seed + i);
  }
  sleepers_.reserve(workers().size());
  ended_.reserve(workers().size());
}

void Tokio01::push(task::Header* task, Worker* from) noexcept {
  if (from == nullptr) {
    push_outside(task);
    return;
  }
  from->counters.local_schedules.add();
  push_local(task, static_cast<Processor&>(*from));
}

void Tokio01::push_local(task::Header* task, Processor& own) noexcept {
  TaskCosts::enter_queue(task);
  own.deque->push(task);
  notify(own);
}

void Tokio01::push_outside(task::Header* task) noexcept {
  TaskCosts::enter_queue(task);
  Processor* chosen = nullptr;
  bool wakes = false;
  {
    const base::LockGuard lock(mutex_);
    chosen = take_idle();
    wakes = chosen != nullptr;
    if (!wakes) chosen = &processor(next_++ % static_cast<std::uint32_t>(workers().size()));
    // The chosen processor may have lost its thread and get none: then another is awake (T3).
    for (std::uint32_t i = 0; chosen->state == State::ended && i < workers().size(); ++i) {
      if (processor(i).state == State::awake) chosen = &processor(i);
    }
    chosen->inbound.push_back(task);
    // relaxed: a hint; the mutex hands over the list
    chosen->has_inbound.store(true, base::relaxed);
  }
  if (wakes) unpark(*chosen, nullptr);
}

void Tokio01::notify(Processor& from) noexcept {
  base::full_fence();  // seq_cst: the pusher's half of T2
  // relaxed: ordered by the fence
  if (idle_.load(base::relaxed) == 0) return;
  Processor* chosen = nullptr;
  {
    const base::LockGuard lock(mutex_);
    chosen = take_idle();
  }
  if (chosen != nullptr) unpark(*chosen, &from);
}

Tokio01::Processor* Tokio01::take_idle() noexcept {
  Processor* chosen = nullptr;
  if (!sleepers_.empty()) {
    chosen = sleepers_.back();
    sleepers_.pop_back();
  } else if (!ended_.empty() && !leaving_) {
    chosen = ended_.back();
    try {
      start_again(*chosen);
    } catch (const std::exception&) {
      return nullptr;  // the system gives no more threads, or no memory for one
    }
    ended_.pop_back();
    ++live_;
  } else {
    return nullptr;
  }
  chosen->state = State::awake;
  // relaxed: at worst a pusher looks in vain; a worker that sleeps from now on counts itself
  idle_.fetch_sub(1, base::relaxed);
  return chosen;
}

void Tokio01::remove_sleeper(Processor& own) noexcept {
  std::erase(sleepers_, &own);
  own.state = State::awake;
  // relaxed: at worst a pusher looks in vain
  idle_.fetch_sub(1, base::relaxed);
}

void Tokio01::run(Worker& worker) noexcept {
  Processor& own = static_cast<Processor&>(worker);
  while (!closed()) {
    if (task::Header* task = next_task(own)) {
      if (std::exchange(own.was_woken, false)) notify(own);
      run_task(own, task);
      continue;
    }
    if (!sleep(own)) return;
  }
  const base::LockGuard lock(mutex_);
  leaving_ = true;
}

task::Header* Tokio01::next_task(Processor& own) noexcept {
  // relaxed: a hint; a worker that goes to sleep looks at the list itself
  if (own.has_inbound.load(base::relaxed)) take_inbound(own, own);
  task::Header* task = nullptr;
  return own.deque->take(task, own.index) ? task : steal(own);
}

void Tokio01::take_inbound(Processor& own, Processor& from) noexcept {
  queue::Fifo<task::Header> list;
  {
    const base::LockGuard lock(mutex_);
    list = std::exchange(from.inbound, {});
    // relaxed: a hint; a worker that goes to sleep looks at the list itself
    from.has_inbound.store(false, base::relaxed);
  }
  std::uint32_t count = 0;
  for (; task::Header* task = list.pop_front(); ++count) own.deque->push(task);
  if (count == 0) return;
  own.counters.injector_polls.add(count);
  own.recorder.injector_take(count);
  // A worker that was falling asleep may have missed these tasks on their way here.
  if (count > 1) notify(own);
}

task::Header* Tokio01::steal(Processor& own) noexcept {
  const auto count = static_cast<std::uint32_t>(workers().size());
  own.counters.searches.add();
  own.recorder.search_start();
  const std::uint32_t begin = own.random->below(count);
  task::Header* task = nullptr;
  for (std::uint32_t i = 0; i < count && task == nullptr; ++i) {
    Processor& victim = processor((begin + i) % count);
    if (&victim == &own) continue;
    // relaxed: a hint; a worker that goes to sleep looks at the list itself
    if (victim.has_inbound.load(base::relaxed)) {
      // The victim may be in a long poll, and no other worker would find its inbound tasks.
      take_inbound(own, victim);
      if (own.deque->take(task, own.index)) break;
    }
    if (!victim.deque->take(task, own.index)) continue;
    own.counters.steal_operations.add();
    own.counters.stolen_tasks.add();
    own.recorder.steal(victim.index, 1);
    trace::planted_delay(DelaySite::steal);
  }
  own.recorder.search_end();
  return task;
}

void Tokio01::run_task(Processor& own, task::Header* task) noexcept {
  TaskCell* const cell = TaskCosts::cell_of(task);
  own.counters.polls.add();
  const task::Polled polled = scheduler::poll(task, own.recorder);
  after_poll(polled, own.counters, [&] { push_local(task, own); });
  own.count_poll();
  TaskCosts::leave_queue(task, cell, polled == task::Polled::finished);
}

bool Tokio01::work_is_visible() const noexcept {
  for (std::uint32_t i = 0; i < workers().size(); ++i) {
    if (!processor(i).deque->looks_empty()) return true;
    // relaxed: set under the mutex under which this worker has announced that it sleeps
    if (processor(i).has_inbound.load(base::relaxed)) return true;
  }
  return false;
}

bool Tokio01::sleep(Processor& own) noexcept {
  {
    const base::LockGuard lock(mutex_);
    if (!own.inbound.empty()) return true;
    own.state = State::asleep;
    sleepers_.push_back(&own);
    // relaxed: ordered by the fence
    idle_.fetch_add(1, base::relaxed);
  }
  base::full_fence();  // seq_cst: the sleeper's half of T2
  if (!work_is_visible()) {
    own.before_park();
    if (!sleep_until_woken(own)) return false;
    own.recorder.unpark();
    own.was_woken = true;
  }
  {
    const base::LockGuard lock(mutex_);
    if (own.state == State::asleep) remove_sleeper(own);
  }
  own.dispatch();
  return true;
}

bool Tokio01::sleep_until_woken(Processor& own) noexcept {
  while (!own.parker.park_until(Clock::now() + kKeepAlive)) {
    if (driver().has_it()) break;
    const base::LockGuard lock(mutex_);
    if (own.state != State::asleep || live_ == 1) continue;
    std::erase(sleepers_, &own);
    own.state = State::ended;
    ended_.push_back(&own);
    --live_;
    own.recorder.unpark();  // before the thread that is started in its place records anything
    return false;
  }
  return true;
}

task::Header* Tokio01::pop_left_over() noexcept {
  for (std::uint32_t i = 0; i < workers().size(); ++i) {
    task::Header* task = nullptr;
    if (processor(i).deque->take(task, i)) return task;
    const base::LockGuard lock(mutex_);
    task = processor(i).inbound.pop_front();
    if (task != nullptr) return task;
  }
  return nullptr;
}

}  // namespace taskbench::rt::scheduler
