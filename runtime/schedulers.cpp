#include "runtime/schedulers.hpp"

#include <algorithm>

#include "runtime/scheduler/channel/channel.hpp"
#include "runtime/scheduler/current_thread/current_thread.hpp"
#include "runtime/scheduler/global_queue/global_queue.hpp"
#include "runtime/scheduler/go/go.hpp"
#include "runtime/scheduler/in_turn/in_turn.hpp"
#include "runtime/scheduler/sharded/sharded.hpp"
#include "runtime/scheduler/tokio01/tokio01.hpp"
#include "runtime/scheduler/work_stealing/pool.hpp"

namespace taskbench::rt {
namespace {

template <class Engine>
base::Ref<scheduler::Engine> make(RuntimeOptions options) {
  return Engine::make(std::move(options));
}

constexpr SchedulerInfo kSchedulers[] = {
    {.name = "work_stealing",
     .summary = "a queue for each worker; idle workers steal half of another's",
     .make = make<work_stealing::Pool>},
    {.name = "current_thread",
     .summary = "one queue, run by the thread that waits in block_on",
     .single_worker = true,
     .runs_on_caller = true,
     .repeatable = true,
     .make = make<scheduler::CurrentThread>},
    {.name = "in_turn",
     .summary = "work_stealing on one thread, its workers in turn: the same each time",
     .runs_on_caller = true,
     .repeatable = true,
     .make = make<work_stealing::InTurn>},
    {.name = "global_queue",
     .summary = "one queue that all workers share, under a mutex",
     .make = make<scheduler::GlobalQueue>},
    {.name = "sharded",
     .summary = "a queue for each worker; a task stays where it was spawned",
     .make = make<scheduler::Sharded>},
    {.name = "channel",
     .summary = "a bounded channel of tasks, received and run by one thread",
     .single_worker = true,
     .make = make<scheduler::Channel>},
    {.name = "tokio01",
     .summary = "Tokio's first: queues that grow, a wake-up at every push, counted tasks",
     .make = make<scheduler::Tokio01>},
    {.name = "go",
     .summary = "processors that leave a blocked thread; a monitor that ends long slices of time",
     .make = make<go::Go>},
};

}  // namespace

std::span<const SchedulerInfo> schedulers() noexcept { return kSchedulers; }

const SchedulerInfo* find_scheduler(std::string_view name) noexcept {
  const auto* const row = std::ranges::find(kSchedulers, name, &SchedulerInfo::name);
  return row == std::ranges::end(kSchedulers) ? nullptr : row;
}

}  // namespace taskbench::rt
