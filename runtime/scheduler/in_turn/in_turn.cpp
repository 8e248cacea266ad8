#include "runtime/scheduler/in_turn/in_turn.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

#include "runtime/task/harness.hpp"

namespace taskbench::rt::work_stealing {
namespace {

/// How long a thread sleeps between two looks for tasks that other threads have queued, or for the
/// driver's place. Waking a worker wakes no thread here, and this one sleeps on its root alone.
constexpr std::chrono::microseconds kNap{100};

}  // namespace

/// One call of block_on: the schedule of its root.
class InTurn::Root final : public task::Schedule {
 public:
  explicit Root(InTurn& engine) noexcept : engine_(engine), parker_(engine.driver()) {}

  void schedule(task::Header*) noexcept override {
    // The root keeps the engine, and with it the driver, alive until it has the token.
    const base::Ref<InTurn> keep(&engine_);
    parker_.unpark();
  }

  /// Polls `root` to its end, and runs the workers in between.
  void run(task::Header* root) noexcept;

 private:
  InTurn& engine_;
  park::Parker parker_;
};

void InTurn::Root::run(task::Header* root) noexcept {
  root->scheduler = this;
  const task::EnterContext enter(&engine_, nullptr);
  bool drives = engine_.try_drive();
  std::uint32_t turns = 0;
  for (bool woken = true;;) {
    // The workers look at the driver while they run tasks, but all may be asleep while the root
    // yields.
    if (woken && ++turns % engine_.options().injector_interval == 0) engine_.driver().look(nullptr);
    if (woken || parker_.try_park()) {
      const task::Polled polled = task::poll(root);
      if (polled == task::Polled::finished) break;
      woken = polled != task::Polled::idle;
    }
    // A root that yields lets a worker pass each time.
    const bool ran = drives && engine_.take_turn();
    if (!ran && !woken) {
      woken = parker_.park_until(Clock::now() + kNap);
      engine_.driver().dispatch(nullptr);
      if (!drives) drives = engine_.try_drive();
    }
  }
  if (drives) engine_.leave();
}

void InTurn::run_root(task::Header* root) noexcept { Root(*this).run(root); }

bool InTurn::try_drive() noexcept {
  const base::LockGuard lock(driver_mutex_);
  if (driver_ != nullptr) return false;
  driver_ = &task::thread_context();
  return true;
}

bool InTurn::take_turn() noexcept {
  if (closed()) {
    {
      const base::LockGuard lock(driver_mutex_);
      if (drained_) return false;
      drains_ = true;
    }
    drain();
    const base::LockGuard lock(driver_mutex_);
    drained_ = true;
    joiner_.unpark();
    return false;
  }
  const std::uint32_t first = random_.below(worker_count());
  // The root's context, which a worker borrows for its turn: it leaves nothing in the LIFO slot.
  task::ThreadContext& context = task::thread_context();
  bool ran = false;
  for (std::uint32_t i = 0; i < worker_count() && !ran; ++i) {
    Worker& next = worker((first + i) % worker_count());
    context.worker = &next;
    ran = next.take_turn();
  }
  context.worker = nullptr;
  return ran;
}

void InTurn::leave() noexcept {
  // A task may have closed the engine, and the root ended, since the last turn. If it is closed
  // later, join() drains it.
  if (closed()) static_cast<void>(take_turn());
  const base::LockGuard lock(driver_mutex_);
  driver_ = nullptr;
  joiner_.unpark();
}

bool InTurn::join(Clock::time_point deadline) noexcept {
  if (local_worker() != nullptr) return false;
  const task::ThreadContext* const self = &task::thread_context();
  const bool waits = deadline != Clock::time_point::min();
  for (bool in_time = waits;; in_time = joiner_.park_until(deadline)) {
    const base::LockGuard lock(driver_mutex_);
    if (drained_) return true;
    // If this thread is the driver, it is in the poll of its root, and so not in that of a task, or
    // it drains, and the destructor of a task calls this.
    if (driver_ == nullptr || driver_ == self) {
      if (std::exchange(drains_, true)) return false;
      driver_ = self;  // for good, unless it leaves: after the drain no driver is needed
      break;
    }
    if (!in_time) return false;
  }
  drain();
  const base::LockGuard lock(driver_mutex_);
  drained_ = true;
  joiner_.unpark();  // another thread may wait, if this one is in a blocking call
  return true;
}

bool InTurn::has_ended() noexcept {
  const base::LockGuard lock(driver_mutex_);
  return drained_;
}

}  // namespace taskbench::rt::work_stealing
