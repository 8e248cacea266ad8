#include "runtime/scheduler/go/go.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "runtime/scheduler/drain.hpp"
#include "runtime/scheduler/root.hpp"
#include "runtime/task/context.hpp"
#include "runtime/trace/planted_delay.hpp"

namespace taskbench::rt::go {

using work_stealing::Idle;

base::Ref<scheduler::Engine> Go::make(RuntimeOptions options) {
  base::Ref<Go> go(new Go(std::move(options)));
  go->start();
  return go;
}

Go::Go(RuntimeOptions options)
    : Engine(options),
      idle(options.workers),
      options_(std::move(options)),
      recording_(options_.workers, options_.trace_events),
      owned_(options_.workers),
      outside_(recording_.outside()),
      monitor_(*this) {
  processors_.reserve(options_.workers);
  machines_.reserve(options_.workers);
  for (std::uint32_t i = 0; i < options_.workers; ++i) {
    processors_.push_back(std::make_unique<Processor>(i, recording_.worker(i), options_.seed + i));
    machines_.push_back(std::make_unique<Machine>(*this));
    machines_.back()->given = processors_.back().get();
    machines_.back()->parker.unpark();
  }
}

void Go::start() {
  monitor_.start();
  threads_.start(*this, *this, options_);
}

void Go::run_worker(std::uint32_t index) noexcept {
  Machine* machine = nullptr;
  {
    const base::LockGuard lock(mutex_);
    machine = machines_[index].get();
  }
  const task::EnterContext enter(this, machine);
  machine->run();
}

void Go::run_root(task::Header* root) noexcept { scheduler::Root(*this).run(root); }

Machine* Go::local_machine() const noexcept {
  const task::ThreadContext& context = task::thread_context();
  return context.scheduler == this ? static_cast<Machine*>(context.worker) : nullptr;
}

Machine* Go::local_holder() const noexcept {
  Machine* const machine = local_machine();
  return machine != nullptr && machine->processor() != nullptr ? machine : nullptr;
}

void Go::schedule(task::Header* task) noexcept {
  if (Machine* machine = local_holder()) {
    machine->processor()->recorder.wake(task);
    machine->schedule_local(task);
    return;
  }
  // Until it is queued, the task keeps the engine alive; from then on `keep` does.
  const base::Ref<Go> keep(this);
  outside_.wake(task);
  push_outside(task);
}

void Go::spawn(task::Header* task) noexcept {
  trace::planted_delay(DelaySite::spawn);
  if (Machine* machine = local_holder()) {
    machine->processor()->counters.tasks_spawned.add();
    machine->processor()->recorder.spawn(task);
    machine->schedule_local(task);
    return;
  }
  if (!outside_.spawn(task, [&] { push_outside(task); })) task::cancel(task);
}

void Go::push_outside(task::Header* task) noexcept {
  global.push(task, queue::Admit::always, [] {});
  const std::uint32_t index = idle.worker_to_notify(Idle::Pusher::outside);
  if (index == Idle::kNobody) return;
  outside_.notify(index);
  assign(processor(index), true);
}

void Go::adopt(task::Header* task) noexcept {
  const Machine* machine = local_holder();
  owned_.insert(task, machine != nullptr ? machine->processor()->index : 0);
}

driver::Wheel& Go::timers() noexcept {
  Machine* const machine = local_holder();
  return machine != nullptr ? driver().wheel(machine->processor()->index)
                            : driver().outside_wheel();
}

void* Go::begin_blocking() noexcept {
  Machine* machine = local_holder();
  if (machine != nullptr) machine->begin_blocking();
  return machine;
}

void Go::end_blocking(void* begun) noexcept { static_cast<Machine*>(begun)->end_blocking(); }

void Go::notify_from(Processor& from) noexcept {
  const std::uint32_t index = idle.worker_to_notify(Idle::Pusher::worker);
  if (index != Idle::kNobody) assign_by(from, processor(index));
}

void Go::notify_if_work_is_visible(Processor& from) noexcept {
  if (!work_is_visible()) return;
  const std::uint32_t index = idle.worker_to_notify_again();
  if (index != Idle::kNobody) assign_by(from, processor(index));
}

void Go::assign_by(Processor& from, Processor& own) noexcept {
  from.recorder.notify(own.index);
  from.counters.unparks.add();
  assign(own, true);
}

bool Go::work_is_visible() const noexcept {
  return machine_returns() || !global.looks_empty() ||
         std::ranges::any_of(processors_, [](const auto& own) { return !own->looks_empty(); });
}

void Go::release(Processor& own, bool searching) noexcept {
  own.begin_idle();
  if (!idle.park(own.index, searching)) return;
  // Once closed, tasks stay where they are, for drain().
  if (closed() ? !machine_returns() : !work_is_visible()) return;
  const std::uint32_t index = idle.worker_to_notify_again();
  if (index == Idle::kNobody) return;
  // The caller may no longer write to the processor that it released: the one that is woken counts
  // itself.
  processor(index).end_idle();
  assign_by(processor(index), processor(index));
}

void Go::assign(Processor& own, bool searching) noexcept {
  Machine* machine = nullptr;
  {
    const base::LockGuard lock(mutex_);
    if (std::exchange(monitor_sleeps_, false)) monitor_.unpark();
    machine = take_returning();
    if (machine == nullptr && !closed()) machine = take_sleeping();
    if (machine != nullptr) {
      machine->given = &own;
      machine->given_searching.set(searching);
    }
  }
  if (machine != nullptr) {
    machine->parker.unpark();
    return;
  }
  // Closed, or the system gives no more threads: the next machine that looks finds the work. One
  // that has fallen asleep meanwhile does not look: it relied on this processor's search.
  if (!idle.park(own.index, searching)) return;
  if (!machine_returns() && !(machine_sleeps() && work_is_visible())) return;
  const std::uint32_t index = idle.worker_to_notify_again();
  if (index != Idle::kNobody) assign(processor(index), true);
}

bool Go::machine_sleeps() noexcept {
  const base::LockGuard lock(mutex_);
  return sleeping_ != nullptr && !closed();
}

Machine* Go::take_returning() noexcept {
  Machine* const machine = returning_.pop_front();
  // relaxed: a hint; a reader that must not miss it fences
  if (returning_.empty()) returns_.store(false, base::relaxed);
  return machine;
}

Machine* Go::take_sleeping() noexcept {
  if (sleeping_ != nullptr) return std::exchange(sleeping_, sleeping_->queue_next);
  const auto index = static_cast<std::uint32_t>(machines_.size());
  try {
    machines_.push_back(std::make_unique<Machine>(*this));
    threads_.add(*this, *this, options_, index);
  } catch (const std::exception&) {
    machines_.resize(index);
    return nullptr;
  }
  return machines_[index].get();
}

void Go::add_sleeping(Machine& machine) noexcept {
  const base::LockGuard lock(mutex_);
  machine.queue_next = std::exchange(sleeping_, &machine);
}

void Go::add_returning(Machine& machine) noexcept {
  {
    const base::LockGuard lock(mutex_);
    returning_.push_back(&machine);
    // relaxed: G4, the fence is below
    returns_.store(true, base::relaxed);
  }
  const std::uint32_t index = idle.worker_to_notify(Idle::Pusher::outside);
  if (index != Idle::kNobody) assign(processor(index), true);
}

bool Go::give_to_returning(Machine& machine, Processor& own) noexcept {
  Machine* next = nullptr;
  {
    const base::LockGuard lock(mutex_);
    next = take_returning();
    if (next == nullptr) return false;
    next->given = &own;
    next->given_searching.set(false);
    machine.queue_next = std::exchange(sleeping_, &machine);
  }
  next->parker.unpark();
  return true;
}

Processor* Go::take_given(Machine& machine, bool& searching) noexcept {
  const base::LockGuard lock(mutex_);
  searching = machine.given_searching.get();
  return std::exchange(machine.given, nullptr);
}

bool Go::monitor_may_sleep() noexcept {
  {
    const base::LockGuard lock(mutex_);
    monitor_sleeps_ = !closed();
  }
  // A thread that takes a processor out of idle after this look passes through assign(), and so
  // through mutex_, after the section above.
  if (idle.all_asleep() && !closed()) return true;
  const base::LockGuard lock(mutex_);
  monitor_sleeps_ = false;
  return false;
}

void Go::close() noexcept {
  outside_.close();
  // release: pairs with the acquire in closed()
  closed_.store(true, base::release);
  const base::LockGuard lock(mutex_);
  for (const auto& machine : machines_) machine->parker.unpark();
}

bool Go::join(Clock::time_point deadline) noexcept { return threads_.join(deadline); }

void Go::drain() noexcept {
  monitor_.stop();
  for (const auto& own : processors_) own->end_idle();
  scheduler::drain(*this, owned_, [this] {
    bool any = outside_.is_spawning();
    const auto cancel = [&any](task::Header* task) {
      task::cancel(task);
      any = true;
    };
    for (const auto& own : processors_) {
      task::Header* task = own->next.take();
      if (task != nullptr) cancel(task);
      while (own->queue.pop_front(task)) cancel(task);
    }
    global.drain(cancel);
    return any;
  });
}

RuntimeStats Go::stats() const {
  RuntimeStats stats;
  for (const auto& own : processors_) stats.workers.push_back(own->counters.snapshot());
  stats.outside = outside_.counters();
  return stats;
}

}  // namespace taskbench::rt::go
