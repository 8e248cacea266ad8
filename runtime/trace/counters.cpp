#include "runtime/trace/counters.hpp"

namespace taskbench::rt {

WorkerCounters& WorkerCounters::operator+=(const WorkerCounters& other) noexcept {
  polls += other.polls;
  local_schedules += other.local_schedules;
  remote_schedules += other.remote_schedules;
  lifo_hits += other.lifo_hits;
  overflows += other.overflows;
  steal_operations += other.steal_operations;
  stolen_tasks += other.stolen_tasks;
  parks += other.parks;
  unparks += other.unparks;
  searches += other.searches;
  injector_polls += other.injector_polls;
  yields += other.yields;
  tasks_spawned += other.tasks_spawned;
  tasks_completed += other.tasks_completed;
  hand_offs += other.hand_offs;
  return *this;
}

WorkerCounters RuntimeStats::total() const noexcept {
  WorkerCounters sum = outside;
  for (const WorkerCounters& worker : workers) sum += worker;
  return sum;
}

namespace trace {

WorkerCounters CounterBlock::snapshot() const noexcept {
  return {polls.read(),         local_schedules.read(),  remote_schedules.read(), lifo_hits.read(),
          overflows.read(),     steal_operations.read(), stolen_tasks.read(),     parks.read(),
          unparks.read(),       searches.read(),         injector_polls.read(),   yields.read(),
          tasks_spawned.read(), tasks_completed.read(),  hand_offs.read()};
}

}  // namespace trace
}  // namespace taskbench::rt
