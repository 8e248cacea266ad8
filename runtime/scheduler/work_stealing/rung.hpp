// What makes this scheduler faster than tokio01, in steps that can be measured one by one:
// `taskbench ladder`.
//
// The sources of this folder are compiled once with every step taken, which is the scheduler, and
// once more for each rung of the ladder, with the steps up to it, under the rung's name in place of
// the namespace work_stealing (runtime/CMakeLists.txt). has() is a constant: a step that is not
// taken leaves nothing in the code, and the scheduler itself has nothing to ask.
//
// Rejected (docs/adr/0021): questions at run time, which the fast path would pay for; templates,
// which would move every definition here into a header.
#pragma once

#include <cstdint>

#include "runtime/base/biased_lock.hpp"
#include "runtime/scheduler/tokio01/costs.hpp"

#if !defined(TASKBENCH_RUNG)
#define TASKBENCH_RUNG rounds
#endif

namespace taskbench::rt::work_stealing {

/// The steps of "Making the Tokio scheduler 10x faster" (2019) in its order, then our own.
/// docs/schedulers.md says what each of them replaces.
enum class Step : std::uint8_t {
  queue,           ///< a ring in place of a deque that grows; an injector; threads that stay
  steal_half,      ///< a thief takes half of the victim's queue, not one task
  lifo_slot,       ///< what was made runnable last runs next
  few_searchers,   ///< no more than half of the workers search
  few_wakeups,     ///< a push wakes a worker only while nobody searches
  one_allocation,  ///< one for each task, not two
  no_references,   ///< no reference is counted when a task is queued
  batch_overflow,  ///< half of a full queue moves under one lock, not task by task
  biased_lock,     ///< a queue's owner pushes and pops without a locked instruction
  patience,        ///< a worker looks again for a while before it steals, and before it sleeps
  prefetch,        ///< the task that will be polled after this one is fetched
  rounds,          ///< busy workers are kept level; what yields alone is polled again at once
};

/// Whether the sources are being compiled with this step.
constexpr bool has(Step step) { return step <= Step::TASKBENCH_RUNG; }

using TaskCosts = scheduler::TaskCosts<!has(Step::one_allocation), !has(Step::no_references)>;

}  // namespace taskbench::rt::work_stealing
