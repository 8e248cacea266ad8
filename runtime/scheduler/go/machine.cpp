#include "runtime/scheduler/go/machine.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <utility>

#include "runtime/scheduler/go/go.hpp"
#include "runtime/scheduler/traced_poll.hpp"
#include "runtime/task/context.hpp"
#include "runtime/trace/planted_delay.hpp"

namespace taskbench::rt::go {
namespace {

/// How often a thread looks at all victims for something to steal before it sleeps.
constexpr int kStealRounds = 4;

/// How long the task that is next in line is reserved for the holder of its processor.
constexpr std::chrono::nanoseconds kNextIsNew{3'000};

/// At most this many tasks are taken from the global queue under one lock: half a local queue.
constexpr std::size_t kGlobalBatch = 128;

}  // namespace

Machine::Machine(Go& go) noexcept : parker(go.driver()), go_(go) {}

void Machine::run() noexcept {
  await_processor(false);
  while (!go_.closed()) {
    if (task::Header* task = find_task()) {
      run_task(task);
    } else if (!go_.closed()) {  // otherwise it may have no processor
      stop();
    }
  }
  if (processor_ == nullptr) return;
  if (searching_) stop_searching();
  go_.release(*std::exchange(processor_, nullptr), false);
}

void Machine::await_processor(bool needs_one) noexcept {
  do {
    static_cast<void>(parker.park_once());
    // This machine has no processor: tasks that the driver wakes go to the global queue.
    go_.driver().dispatch(nullptr);
    processor_ = go_.take_given(*this, searching_);
  } while (processor_ == nullptr && (needs_one || !go_.closed()));
  if (processor_ == nullptr) return;
  task::thread_context().slice_is_over = &processor_->slice_is_over;
  processor_->end_idle();
  if (searching_) processor_->recorder.search_start();
}

void Machine::stop() noexcept {
  const bool was_searching = std::exchange(searching_, false);
  if (was_searching) processor_->recorder.search_end();
  go_.add_sleeping(*this);
  go_.release(*std::exchange(processor_, nullptr), was_searching);
  await_processor(false);
}

task::Header* Machine::find_task() noexcept {
  Processor& own = *processor_;
  own.ticks.set(own.ticks.get() + 1);
  if (own.ticks.get() >= go_.options().injector_interval) {
    own.ticks.set(0);
    go_.idle.fences.count_work();
    look_at_driver();
    if (make_room_for_returning()) return nullptr;
    // Not in a new slice: a chain of tasks that are next in line would get a new slice at every
    // such look, and the local queue would wait for as long as the global one is not empty.
    if (task::Header* task = take_global(1)) return task;
  }
  if (task::Header* task = next_of_queue()) return task;
  if (make_room_for_returning()) return nullptr;
  if (task::Header* task = take_global(kGlobalBatch)) return in_new_slice(task);
  if (go_.driver().in_use()) {
    look_at_driver();
    if (task::Header* task = next_of_queue()) return task;
  }
  return search();
}

void Machine::look_at_driver() noexcept {
  go_.driver().look(&go_.driver().wheel(processor_->index));
}

bool Machine::make_room_for_returning() noexcept {
  if (!go_.machine_returns()) return false;
  if (searching_) stop_searching();
  if (!go_.give_to_returning(*this, *processor_)) return false;
  processor_ = nullptr;
  await_processor(false);
  return true;
}

task::Header* Machine::next_of_queue() noexcept {
  Processor& own = *processor_;
  task::Header* task = own.next.take();
  if (task != nullptr) {
    // relaxed: advice of the monitor
    if (!own.slice_is_over.load(base::relaxed)) {
      own.counters.lifo_hits.add();
      return task;
    }
    push_global(task);
  }
  return own.queue.pop_front(task) ? in_new_slice(task) : nullptr;
}

task::Header* Machine::in_new_slice(task::Header* task) noexcept {
  Processor& own = *processor_;
  // relaxed: only the holder counts; the monitor compares
  own.slices.store(own.slices.load(base::relaxed) + 1, base::relaxed);
  own.slice_is_over.store(false, base::relaxed);  // relaxed: advice
  return task;
}

task::Header* Machine::take_global(std::size_t limit) noexcept {
  const std::size_t size = go_.global.size();
  if (size == 0) return nullptr;
  Processor& own = *processor_;
  std::array<task::Header*, kGlobalBatch> batch;
  const std::size_t fair_share = size / go_.processor_count() + 1;
  const std::size_t room = std::size_t{own.queue.free_slots()} + 1;
  const std::size_t taken =
      go_.global.pop_batch({batch.data(), std::min({limit, fair_share, room})});
  if (taken == 0) return nullptr;
  own.counters.injector_polls.add(taken);
  own.recorder.injector_take(taken);
  if (taken > 1) {
    own.queue.push_batch({batch.data() + 1, taken - 1});
    // A machine that was falling asleep may have missed these tasks on their way here. A searcher
    // looks again when it stops searching.
    if (!searching_) go_.notify_from(own);
  }
  return batch[0];
}

task::Header* Machine::search() noexcept {
  if (!searching_) {
    if (!go_.idle.try_start_searching()) return nullptr;
    searching_ = true;
    processor_->counters.searches.add();
    processor_->recorder.search_start();
  }
  for (int round = 1; round <= kStealRounds && !go_.closed(); ++round) {
    if (task::Header* task = steal(round == kStealRounds)) return in_new_slice(task);
  }
  return nullptr;
}

task::Header* Machine::steal(bool also_next) noexcept {
  const std::uint32_t count = go_.processor_count();
  const std::uint32_t start = processor_->random.below(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    Processor& victim = go_.processor((start + i) % count);
    if (&victim == processor_) continue;
    if (task::Header* task = steal_from(victim, also_next)) return task;
  }
  return nullptr;
}

task::Header* Machine::steal_from(Processor& victim, bool also_next) noexcept {
  Processor& own = *processor_;
  auto stolen = victim.queue.steal_into(own.queue);
  if (stolen.count == 0 && also_next) {
    task::Header* const next = victim.next.look();
    if (next == nullptr) return nullptr;
    const auto mature = base::Clock::now() + kNextIsNew;
    while (base::Clock::now() < mature) base::spin_hint();
    if (!victim.next.steal(next)) return nullptr;
    stolen = {.first = next, .count = 1};
  }
  if (stolen.count == 0) return nullptr;
  own.counters.steal_operations.add();
  own.counters.stolen_tasks.add(stolen.count);
  own.recorder.steal(victim.index, stolen.count);
  trace::planted_delay(DelaySite::steal);
  return stolen.first;
}

void Machine::stop_searching() noexcept {
  searching_ = false;
  processor_->recorder.search_end();
  if (go_.idle.stop_searching()) go_.notify_if_work_is_visible(*processor_);
}

void Machine::run_task(task::Header* task) noexcept {
  if (searching_) stop_searching();
  processor_->counters.polls.add();
  const task::Polled polled = poll(task);
  Processor& own = *processor_;  // not always the one held before the poll
  switch (polled) {
    case task::Polled::finished:
      own.counters.tasks_completed.add();
      break;
    case task::Polled::idle:
      break;
    case task::Polled::yielded:
      own.counters.yields.add();
      trace::planted_delay(DelaySite::yield);
      push_global(task);
      break;
    case task::Polled::woken:
      // relaxed: advice of the monitor
      if (own.slice_is_over.load(base::relaxed)) {
        push_global(task);
      } else {
        push(task);
        go_.notify_from(own);
      }
      break;
  }
}

task::Polled Machine::poll(task::Header* task) noexcept {
  if (!processor_->recorder.is_on()) return task::poll(task);
  polling_ = task;
  processor_->recorder.poll_start(task);
  const task::Polled polled = task::poll(task);
  processor_->recorder.poll_end(scheduler::poll_end(polled));
  return polled;
}

void Machine::push(task::Header* task) noexcept {
  Processor& own = *processor_;
  own.queue.push_back(task, [&](std::span<task::Header* const> batch) {
    go_.global.push_batch(batch);
    own.counters.overflows.add();
    own.recorder.overflow(batch.size());
    own.counters.remote_schedules.add(batch.size());
  });
}

void Machine::push_global(task::Header* task) noexcept {
  go_.global.push(task, queue::Admit::always, [] {});
  processor_->counters.remote_schedules.add();
  go_.notify_from(*processor_);
}

void Machine::schedule_local(task::Header* task) noexcept {
  Processor& own = *processor_;
  own.counters.local_schedules.add();
  if (go_.options().lifo_slot) task = own.next.replace(task);
  if (task != nullptr) push(task);
  go_.notify_from(own);
}

void Machine::begin_blocking() noexcept {
  // For the tracer the poll ends here, and another one begins when the task goes on.
  processor_->recorder.poll_end(PollEnd::idle);
  left_ = std::exchange(processor_, nullptr);
  left_word_ = left_->lease.begin_blocking();
}

void Machine::end_blocking() noexcept {
  if (left_->lease.end_blocking(left_word_)) {
    processor_ = left_;
  } else {
    go_.add_returning(*this);
    await_processor(true);
    if (searching_) stop_searching();
  }
  processor_->recorder.poll_start(polling_);
}

}  // namespace taskbench::rt::go
