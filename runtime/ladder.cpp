#include "runtime/ladder.hpp"

#include <algorithm>
#include <vector>

#include "runtime/base/shared.hpp"
#include "runtime/scheduler/engine.hpp"

namespace taskbench::rt {
namespace rungs {

// Each makes the scheduler that bears its name: ladder_rung.cpp.
using Make = base::Ref<scheduler::Engine>(RuntimeOptions);
Make ladder_queue, ladder_steal_half, ladder_lifo_slot, ladder_few_searchers, ladder_few_wakeups,
    ladder_one_allocation, ladder_no_references, ladder_batch_overflow, ladder_biased_lock,
    ladder_patience, ladder_prefetch;

}  // namespace rungs

namespace {

struct Between {
  std::string_view name;
  std::string_view step;
  std::string_view summary;
  rungs::Make* make;
};

constexpr Between kBetween[] = {
    {"ladder_queue", "queue of fixed size",
     "tokio01 with rings of fixed size, an injector, and threads that stay", rungs::ladder_queue},
    {"ladder_steal_half", "steal half", "and a thief takes half of the victim's queue",
     rungs::ladder_steal_half},
    {"ladder_lifo_slot", "LIFO slot", "and what was made runnable last runs next",
     rungs::ladder_lifo_slot},
    {"ladder_few_searchers", "throttled stealing", "and at most half of the workers search",
     rungs::ladder_few_searchers},
    {"ladder_few_wakeups", "fewer notifications", "and one is woken only while none searches",
     rungs::ladder_few_wakeups},
    {"ladder_one_allocation", "one allocation", "and a task is one block of memory, not two",
     rungs::ladder_one_allocation},
    {"ladder_no_references", "no counted references",
     "and no reference is counted when a task is queued", rungs::ladder_no_references},
    {"ladder_batch_overflow", "overflow in batches",
     "and a full queue moves half of itself under one lock", rungs::ladder_batch_overflow},
    {"ladder_biased_lock", "biased lock", "and thieves pay for the locked instructions of owners",
     rungs::ladder_biased_lock},
    {"ladder_patience", "patience", "and a worker looks for a while before it steals and sleeps",
     rungs::ladder_patience},
    {"ladder_prefetch", "prefetch", "and the task after the next is fetched into the cache",
     rungs::ladder_prefetch},
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
