#include "runtime/scheduler/work_stealing/worker.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "runtime/base/assert.hpp"
#include "runtime/scheduler/traced_poll.hpp"
#include "runtime/scheduler/work_stealing/worker_set.hpp"
#include "runtime/task/fork.hpp"
#include "runtime/trace/planted_delay.hpp"

namespace taskbench::rt::work_stealing {
namespace {

/// How often in a row the LIFO slot may be served while others wait. Long enough to keep a chain of
/// messages in the cache, short compared with the waiting queue.
constexpr std::uint32_t kLifoPolls = 32;

/// How long a worker searches before it sleeps: about the cost of going to sleep and being woken,
/// so that a search in vain at most doubles that cost.
constexpr std::chrono::nanoseconds kSearchTime = base::patience(std::chrono::nanoseconds{20'000});
constexpr int kPausesPerLook = 4;

/// How long a searcher only watches before it steals. A steal costs a heavy fence and the travel of
/// every task to another core; an owner of small tasks has done them by then. Go waits similarly
/// long (3 us) before it steals a task that is next in line.
constexpr std::chrono::nanoseconds kStealPatience = base::patience(std::chrono::nanoseconds{5'000});

/// While tasks trickle into the injector one by one, taking each at once would move the injector's
/// cache lines between cores each time. A searcher that has just found fewer than kSmallBatch
/// tasks, within kTrickle of its previous find, holds back before it looks again, so that some
/// gather.
constexpr std::size_t kSmallBatch = 32;
constexpr std::chrono::nanoseconds kTrickle{8'000};
constexpr std::chrono::nanoseconds kMinHoldBack{500};
constexpr std::chrono::nanoseconds kMaxHoldBack{4'000};

/// How often in a row a task that yields is polled, because it is alone or behind.
constexpr std::uint32_t kTurnsInARow = 8;

/// At most this many tasks are taken from the injector under one lock: an overflow.
constexpr std::size_t kInjectorBatch = queue::ProductionLimits::kLocalQueueCapacity / 2 + 1;

/// At most this many after a descent: a batch of trees would fill the queue, and the first of them
/// overflow it.
constexpr std::size_t kBatchAfterDescent = std::min(std::size_t{4}, kInjectorBatch);

/// Prefetches what a poll will touch: the line of the header, and the first of the frame.
void prefetch(task::Header* task) {
  __builtin_prefetch(task, 1);
  __builtin_prefetch(reinterpret_cast<std::byte*>(task) + base::kCacheLineBytes);
}

}  // namespace

Worker::Worker(WorkerSet& set, std::uint32_t index, Pace pace)
    : parker(set.driver()),
      recorder(set.recording().worker(index)),
      set_(set),
      timers_(set.driver().wheel(index)),
      index_(index),
      injector_interval_(static_cast<std::int32_t>(
          std::min(set.options().injector_interval, std::uint32_t{INT32_MAX}))),
      lifo_enabled_(set.options().lifo_slot),
      pace_(pace),
      strand_(forks, {set.idle.state(), set.idle.all_awake(),
                      [](void* worker) noexcept {
                        Worker& self = *static_cast<Worker*>(worker);
                        self.set_.notify_from(self);
                      },
                      this}),
      random_(set.options().seed + index) {}

void Worker::run() {
  context_ = &task::thread_context();
  context_->strand = &strand_;
  loop();
  TASKBENCH_ASSERT(context_->next == nullptr, "what is next in line is run or queued");
}

void Worker::loop() {
  while (!leaves()) {
    task::Header* task = next_task();
    if (task == nullptr) [[unlikely]]
      task = search_or_sleep();
    if (task != nullptr) run_task(task, true);
  }
}

task::Header* Worker::search_or_sleep() {
  task::Header* const task = search();
  if (stolen_fork_ != nullptr) {
    run_stolen_fork();
  } else if (task == nullptr && !leaves()) {
    sleep();
  }
  return task;
}

bool Worker::take_turn() {
  if (asleep_) {
    if (!parker.try_park()) return false;
    wake_up();
  }
  context_ = &task::thread_context();
  // All workers have the same context, in turn.
  context_->waits_for_task = descends_;
  task::Header* task = next_task();
  if (task == nullptr) task = search_once();
  if (task == nullptr) {
    descends_ = false;  // next_task() has found the queue empty
    fall_asleep();
    return false;
  }
  run_task(task, false);
  descends_ = context_->waits_for_task;
  return true;
}

task::Header* Worker::next_task() {
  if (--polls_left_ <= 0) [[unlikely]] {
    if (task::Header* task = look_around()) return task;
  }
  if (context_->waits_for_task) {
    if (task::Header* task = descend()) return task;
  }
  task::Header* task = nullptr;
  if (!queue.pop_front(task, prefetch)) return nullptr;
  rounds.count_turn(queue);
  return task;
}

/// What a task waits for is likely the newest one in the queue, or was spawned by the newest. To
/// run it is to walk a tree of tasks by depth, and to leave the oldest, whose trees are the
/// largest, to thieves.
task::Header* Worker::descend() {
  task::Header* task = nullptr;
  if (descended_ < Policy::kDescent && queue.pop_back(task)) {
    if (!Policy::Rounds::has_yielded(task)) {
      ++descended_;
      rounds.count_turn(queue);
      return task;
    }
    push(task);  // it lets the others pass; there is room, and the oldest is taken next
  }
  end_descent();
  return nullptr;
}

void Worker::end_descent() {
  descended_ = 0;
  context_->waits_for_task = false;
  if (owes_look_) polls_left_ = 1;  // after the oldest task here
}

task::Header* Worker::look_around() {
  polls_left_ = injector_interval_;
  set_.idle.fences.count_work();
  balance();
  if (__builtin_expect(set_.driver().in_use(), 0)) look_at_driver();
  if (descended_ != 0) {
    owes_look_ = true;  // the oldest task has its turn first
    return nullptr;
  }
  const std::size_t most = std::exchange(owes_look_, false) ? kBatchAfterDescent : kInjectorBatch;
  return take_from_injector(most, [this](std::span<task::Header*> out) {
    return set_.injector.pop_batch_in_passing(out, passed_injector_);
  });
}

task::Header* Worker::take_from_injector() {
  return take_from_injector(kInjectorBatch, [this](std::span<task::Header*> out) {
    return set_.injector.pop_batch(out);
  });
}

task::Header* Worker::take_from_injector(std::size_t most, auto pop) {
  if (set_.injector.looks_empty()) return nullptr;
  const std::size_t room = std::size_t{queue.free_slots()} + 1;
  std::array<task::Header*, kInjectorBatch> batch;
  const std::size_t taken = pop(std::span(batch).first(std::min(room, most)));
  if (taken == 0) return nullptr;
  counters.injector_polls.add(taken);
  recorder.injector_take(taken);
  if (searching_ && pace_ == Pace::clock) note_find(taken, Clock::now());
  if (taken > 1) {
    queue.push_batch({batch.data() + 1, taken - 1});
    // A worker that was falling asleep may have missed these tasks on their way here. A searcher
    // looks again when it stops searching.
    if (!searching_) set_.notify_from(*this);
  }
  return batch[0];
}

auto Worker::overflow() {
  return [this](std::span<task::Header* const> batch) {
    set_.injector.push_batch(batch);
    counters.overflows.add();
    recorder.overflow(batch.size());
    counters.remote_schedules.add(batch.size());
  };
}

void Worker::push(task::Header* task) { queue.push_back(task, overflow()); }

void Worker::run_task(task::Header* task, bool goes_on) {
  if (searching_) stop_searching();
  std::uint32_t turns = 0;
  std::uint32_t lifo_polls = 0;
  for (;;) {
    const Next next = poll(task, goes_on);
    if (next == Next::same) {
      if (--polls_left_ > 0 && ++turns < kTurnsInARow) continue;
      break;
    }
    if (next == Next::other) {
      if (context_->waits_for_task) end_descent();  // the other is the oldest
      turns = lifo_polls = 0;
      continue;
    }
    if (context_->next == nullptr) return;
    task = std::exchange(context_->next, nullptr);
    if (lifo_polls == kLifoPolls) {
      // A descent must not go on with it: it lets the others pass, as one that yields does.
      static_cast<void>(rounds.count_yield(task));
      break;
    }
    ++lifo_polls;
    --polls_left_;
    counters.lifo_hits.add();
  }
  push(task);  // needs no notification, as in poll() without a task in the LIFO slot
}

Worker::Next Worker::poll(task::Header*& task, bool goes_on) {
  counters.polls.add();
  switch (recorder.is_on() ? poll_and_record(task) : Policy::poll(task)) {
    case task::Polled::finished:
      counters.tasks_completed.add();
      return Next::none;
    case task::Polled::idle:
      return Next::none;
    case task::Polled::yielded:
      counters.yields.add();
      trace::planted_delay(DelaySite::yield);
      break;
    case task::Polled::woken:
      break;
  }
  const bool is_behind = rounds.count_yield(task);
  if (context_->next != nullptr || !Policy::Rounds::kKeepsLoneTasks) {
    push(task);
    set_.notify_from(*this);
    return Next::none;
  }
  if (is_behind && !queue.looks_empty()) return Next::same;
  // Without a task in the LIFO slot no notification is needed. If the queue is not empty, a sleeper
  // was notified when it was filled, or a worker that falls asleep sees that; if it is empty, the
  // task goes on. See docs/design/scheduler.md.
  if (goes_on && polls_left_ > 1 && !leaves()) {
    if (queue.rotate(task, prefetch)) {
      --polls_left_;
      rounds.count_turn(queue);
      return Next::other;
    }
  } else if (queue.push_behind(task, overflow())) {
    return Next::none;
  }
  rounds.count_turn_alone();
  return Next::same;
}

task::Polled Worker::poll_and_record(task::Header* task) {
  polling_ = task;
  recorder.poll_start(task);
  const task::Polled polled = Policy::poll(task);
  recorder.poll_end(scheduler::poll_end(polled));  // off if the worker was handed on meanwhile
  polling_ = nullptr;
  return polled;
}

void Worker::begin_blocking() {
  if (task::Header* const next = std::exchange(context_->next, nullptr)) {
    push(next);
    set_.notify_from(*this);
  }
  // For the tracer the poll ends here, and another one begins when the task goes on. A stolen fork
  // is in no poll.
  if (polling_ != nullptr) recorder.poll_end(PollEnd::idle);
  context_->worker = nullptr;
  begun_ = lease.begin_blocking();
}

bool Worker::end_blocking() {
  if (!lease.end_blocking(begun_)) return false;
  context_->worker = this;
  if (polling_ != nullptr) recorder.poll_start(polling_);
  return true;
}

void Worker::take_over(Worker& other) {
  task::Header* task = nullptr;
  while (other.queue.pop_front(task)) push(task);
  descended_ = 0;  // a descent of the other ends here
  polls_left_ = other.owes_look_ ? 1 : other.polls_left_;
  rounds.take_over(other.rounds);
  strand_.set_all_awake(set_.idle.all_awake());
  recorder = set_.recording().worker(index_);
  counters.hand_offs.add();
  leaves_.store(false, base::relaxed);  // relaxed: read by the thread that will run this worker
}

void Worker::resign() {
  recorder = {};
  strand_.set_all_awake(0);
  leave();
}

void Worker::schedule_local(task::Header* task) {
  counters.local_schedules.add();
  if (lifo_enabled_) {
    // The newest goes first; the one it displaces goes to the back of the queue.
    std::swap(task, context_->next);
    if (task == nullptr) return;
  }
  push(task);
  set_.notify_from(*this);
}

bool Worker::start_searching() {
  if (searching_) return true;
  if (!set_.idle.try_start_searching()) return false;
  searching_ = true;
  counters.searches.add();
  recorder.search_start();
  return true;
}

/// Searches without the patience that spares others a steal: for workers that run in turn, as no
/// other works meanwhile; and where sockets are watched, as a worker that sleeps inside the driver
/// sees the next event, while one that spins does not, and may keep the peer that is to send from
/// its CPU.
task::Header* Worker::search_once() {
  if (!start_searching()) return nullptr;
  task::Header* task = take_from_injector();
  if (task == nullptr) task = steal();
  if (task == nullptr && pace_ == Pace::clock) steal_fork();
  return task;
}

task::Header* Worker::search() {
  if (Policy::searches_once(set_.driver().watches_descriptors())) return search_once();
  if (!start_searching()) return nullptr;
  const Clock::time_point begin = Clock::now();
  const Clock::time_point first_look = begin + hold_back_;
  const Clock::time_point first_steal = begin + kStealPatience;
  for (Clock::time_point now = begin;;) {
    if (now >= first_look) {
      if (task::Header* task = take_from_injector()) return task;
    }
    if (now >= first_steal) {
      if (task::Header* task = steal()) return task;
      if (steal_fork()) return nullptr;
    }
    now = Clock::now();
    if (now >= begin + kSearchTime || leaves()) break;
    for (int i = 0; i < kPausesPerLook; ++i) base::spin_hint();
  }
  hold_back_ = {};
  return nullptr;
}

void Worker::note_find(std::size_t count, Clock::time_point now) {
  const bool trickles = count < kSmallBatch && now - last_find_ < kTrickle;
  hold_back_ = trickles ? std::clamp(2 * hold_back_, kMinHoldBack, kMaxHoldBack)
                        : std::chrono::nanoseconds{0};
  last_find_ = now;
}

task::Header* Worker::steal() {
  const std::uint32_t count = set_.worker_count();
  const std::uint32_t start = random_.below(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t victim = start + i < count ? start + i : start + i - count;
    if (victim == index_) continue;
    if (task::Header* task = steal_from(set_.worker(victim))) {
      // The stolen tasks have had as many rounds as the victim.
      rounds.adopt(set_.worker(victim).rounds);
      return task;
    }
  }
  return nullptr;
}

task::Header* Worker::steal_from(Worker& victim, std::uint32_t limit) {
  const auto stolen = victim.queue.steal_into(queue, limit);
  if (stolen.count == 0) return nullptr;
  counters.steal_operations.add();
  counters.stolen_tasks.add(stolen.count);
  recorder.steal(victim.index(), stolen.count);
  trace::planted_delay(DelaySite::steal);
  return stolen.first;
}

bool Worker::steal_fork() {
  const std::uint32_t count = set_.worker_count();
  const std::uint32_t start = random_.below(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t victim = start + i < count ? start + i : start + i - count;
    if (victim == index_ || !set_.worker(victim).forks.steal(stolen_fork_)) continue;
    counters.steal_operations.add();
    counters.stolen_tasks.add();
    recorder.steal(victim, 1);
    return true;
  }
  return false;
}

void Worker::run_stolen_fork() {
  stop_searching();  // a worker that has stolen a fork was searching
  task::ForkJoinBase::run_stolen(strand_, std::exchange(stolen_fork_, nullptr));
  queue_what_is_next();
}

void Worker::balance() {
  if (set_.worker_count() == 1) return;
  Worker& other = set_.worker(random_other());
  const std::uint32_t wanted = rounds.level_with(other.rounds, queue, other.queue);
  if (wanted == 0) return;
  if (task::Header* task = steal_from(other, wanted)) {
    push(task);
    // A worker that was falling asleep may have missed the others on their way here.
    set_.notify_from(*this);
  }
}

std::uint32_t Worker::random_other() {
  const std::uint32_t other = random_.below(set_.worker_count() - 1);
  return other < index_ ? other : other + 1;
}

void Worker::stop_searching() {
  searching_ = false;
  recorder.search_end();
  if (set_.idle.stop_searching()) set_.notify_if_work_is_visible(*this);
}

void Worker::sleep() {
  fall_asleep();
  // Without a token this worker has the driver. If another thread has taken it out of the sleepers
  // meanwhile, the token is on its way.
  if (!parker.park_once() && !set_.idle.leave(index_)) parker.park();
  wake_up();
  set_.driver().dispatch(&timers_);
  queue_what_is_next();
  polls_left_ = injector_interval_;  // it has looked everywhere
}

void Worker::look_at_driver() {
  set_.driver().look(&timers_);
  if (context_->next == nullptr) return;
  queue_what_is_next();
  set_.notify_from(*this);  // a task that comes next may be polled before it
}

void Worker::queue_what_is_next() {
  if (task::Header* task = std::exchange(context_->next, nullptr)) push(task);
}

void Worker::fall_asleep() {
  asleep_ = true;
  const bool was_searching = std::exchange(searching_, false);
  if (was_searching) recorder.search_end();
  if (set_.idle.park(index_, was_searching)) set_.notify_if_work_is_visible(*this);
  counters.parks.add();
  recorder.park();
}

void Worker::wake_up() {
  recorder.unpark();
  asleep_ = false;
  // L3: the thread that woke this worker has counted it as searching.
  searching_ = true;
  recorder.search_start();
}

}  // namespace taskbench::rt::work_stealing
