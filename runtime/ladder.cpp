#include "runtime/ladder.hpp"

#include <algorithm>
#include <vector>

#include "runtime/base/shared.hpp"
#include "runtime/scheduler/engine.hpp"

// The sources of work_stealing, compiled up to one step each: scheduler/work_stealing/rung.hpp.
#define TASKBENCH_DECLARE_RUNG(name)                         \
  namespace taskbench::rt::name {                            \
  base::Ref<scheduler::Engine> make(RuntimeOptions options); \
  } /* NOLINT: defined in work_stealing/pool.cpp, by that name */
TASKBENCH_DECLARE_RUNG(ladder_queue)
TASKBENCH_DECLARE_RUNG(ladder_steal_half)
TASKBENCH_DECLARE_RUNG(ladder_lifo_slot)
TASKBENCH_DECLARE_RUNG(ladder_few_searchers)
TASKBENCH_DECLARE_RUNG(ladder_few_wakeups)
TASKBENCH_DECLARE_RUNG(ladder_one_allocation)
TASKBENCH_DECLARE_RUNG(ladder_no_references)
TASKBENCH_DECLARE_RUNG(ladder_batch_overflow)
TASKBENCH_DECLARE_RUNG(ladder_biased_lock)
TASKBENCH_DECLARE_RUNG(ladder_patience)
TASKBENCH_DECLARE_RUNG(ladder_prefetch)

namespace taskbench::rt {
namespace {

struct Between {
  std::string_view name;
  std::string_view step;
  std::string_view summary;
  base::Ref<scheduler::Engine> (*make)(RuntimeOptions options);
};

constexpr Between kBetween[] = {
    {"ladder_queue", "queue of fixed size",
     "tokio01 with rings of fixed size, an injector, and threads that stay", ladder_queue::make},
    {"ladder_steal_half", "steal half", "and a thief takes half of the victim's queue",
     ladder_steal_half::make},
    {"ladder_lifo_slot", "LIFO slot", "and what was made runnable last runs next",
     ladder_lifo_slot::make},
    {"ladder_few_searchers", "throttled stealing", "and at most half of the workers search",
     ladder_few_searchers::make},
    {"ladder_few_wakeups", "fewer notifications", "and one is woken only while none searches",
     ladder_few_wakeups::make},
    {"ladder_one_allocation", "one allocation", "and a task is one block of memory, not two",
     ladder_one_allocation::make},
    {"ladder_no_references", "no counted references",
     "and no reference is counted when a task is queued", ladder_no_references::make},
    {"ladder_batch_overflow", "overflow in batches",
     "and a full queue moves half of itself under one lock", ladder_batch_overflow::make},
    {"ladder_biased_lock", "biased lock", "and thieves pay for the locked instructions of owners",
     ladder_biased_lock::make},
    {"ladder_patience", "patience", "and a worker looks for a while before it steals and sleeps",
     ladder_patience::make},
    {"ladder_prefetch", "prefetch", "and the task after the next is fetched into the cache",
     ladder_prefetch::make},
};
constexpr std::string_view kLastStep = "rounds";
constexpr std::string_view kFirstOfOurs = "ladder_biased_lock";

}  // namespace

std::span<const SchedulerInfo> schedulers_and_rungs() {
  static const std::vector<SchedulerInfo> all = [] {
    std::vector<SchedulerInfo> rows(schedulers().begin(), schedulers().end());
    for (const Between& each : kBetween) {
      rows.push_back({.name = each.name, .summary = each.summary, .make = each.make});
    }
    return rows;
  }();
  return all;
}

std::span<const Rung> ladder() {
  static const std::vector<Rung> rungs = [] {
    const auto row = [](std::string_view name) {
      return &*std::ranges::find(schedulers_and_rungs(), name, &SchedulerInfo::name);
    };
    std::vector<Rung> up{{row("tokio01"), "tokio01"}};
    bool is_ours = false;
    for (const Between& each : kBetween) {
      is_ours = is_ours || each.name == kFirstOfOurs;
      up.push_back({row(each.name), each.step, is_ours});
    }
    up.push_back({row("work_stealing"), kLastStep, true});
    return up;
  }();
  return rungs;
}

}  // namespace taskbench::rt
