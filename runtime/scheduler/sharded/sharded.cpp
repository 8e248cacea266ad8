#include "runtime/scheduler/sharded/sharded.hpp"

#include <chrono>

namespace taskbench::rt::scheduler {
namespace {

/// How long a shard looks for a message before it sleeps: as long as a worker of work_stealing
/// searches.
constexpr std::chrono::nanoseconds kShardSpin = base::patience(std::chrono::nanoseconds{20'000});

}  // namespace

void Sharded::begin(task::Header* task, Worker* from) noexcept {
  if (from != nullptr) {
    task->turn = static_cast<std::uint16_t>(from->index);
    return;
  }
  // relaxed: only a number to be drawn; nothing is read on the strength of it
  const std::uint32_t turn = next_shard_.fetch_add(1, base::relaxed);
  task->turn = static_cast<std::uint16_t>(turn % workers().size());
}

void Sharded::push(task::Header* task, Worker* from) noexcept {
  Shard& home = shard(task->turn);
  if (from == &home) {
    from->counters.local_schedules.add();
    home.local.push_back(task);
    return;
  }
  if (from != nullptr) from->counters.remote_schedules.add();
  if (home.inbox.push(task)) unpark(home, from);
}

void Sharded::run(Worker& worker) noexcept {
  Shard& own = static_cast<Shard&>(worker);
  while (!closed()) {
    if (const std::uint32_t count = own.inbox.take_all(own.local)) {
      own.counters.injector_polls.add(count);
      own.recorder.injector_take(count);
    }
    if (own.local.empty()) {
      own.park(kShardSpin);
      continue;
    }
    for (std::uint32_t i = 0; i < options().injector_interval && !closed(); ++i) {
      task::Header* const task = own.local.pop_front();
      if (task == nullptr) break;
      if (!own.local.empty()) __builtin_prefetch(own.local.front(), 1);
      own.poll(task, [&] { own.local.push_back(task); });
    }
  }
}

task::Header* Sharded::pop_left_over() noexcept {
  for (std::uint32_t i = 0; i < workers().size(); ++i) {
    shard(i).inbox.take_all(shard(i).local);
    if (task::Header* task = shard(i).local.pop_front()) return task;
  }
  return nullptr;
}

}  // namespace taskbench::rt::scheduler
