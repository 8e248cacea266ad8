#include "runtime/scheduler/work_stealing/idle.hpp"

#include <algorithm>

#include "runtime/base/assert.hpp"

namespace taskbench::rt::work_stealing {

Idle::Idle(std::uint32_t worker_count)
    : state_(worker_count * kOneAwake), worker_count_(worker_count) {
  sleepers_.reserve(worker_count);
}

bool Idle::park(std::uint32_t index, bool was_searching) {
  std::uint64_t after = 0;
  {
    base::LockGuard lock(mutex_);
    const std::uint64_t leaving = kOneAwake + (was_searching ? kOneSearching : 0);
    // release: (R) of the story at the top; pairs with the fence after a later (R), which reads
    // this one's release sequence: what this worker has pushed is visible then
    after = state_.fetch_sub(leaving, base::release) - leaving;
    sleepers_.push_back(index);
  }
  if (searching(after) != 0) return false;
  leaver_fence(awake(after));
  return true;
}

bool Idle::leave(std::uint32_t index) {
  base::LockGuard lock(mutex_);
  const auto place = std::find(sleepers_.begin(), sleepers_.end(), index);
  if (place == sleepers_.end()) return false;
  sleepers_.erase(place);
  // relaxed: under mutex_ the number of awake workers stands still; the searching count is a
  // throttle
  state_.fetch_add(kOneAwake + kOneSearching, base::relaxed);
  return true;
}

std::uint32_t Idle::take_sleeper() {
  base::LockGuard lock(mutex_);
  // relaxed: under mutex_ the number of awake workers stands still; the searching count is a
  // throttle here, and a thread that lowers it looks at the queues afterwards
  if (!needs_wake(state_.load(base::relaxed))) return kNobody;
  TASKBENCH_ASSERT(!sleepers_.empty(), "L2: whoever is not awake is there");
  // relaxed: under mutex_ (L3); the searching count is a throttle
  state_.fetch_add(kOneAwake + kOneSearching, base::relaxed);
  // The worker that fell asleep last: its caches are the warmest.
  const std::uint32_t index = sleepers_.back();
  sleepers_.pop_back();
  return index;
}

}  // namespace taskbench::rt::work_stealing
