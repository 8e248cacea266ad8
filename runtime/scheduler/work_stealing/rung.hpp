// What makes this scheduler faster than tokio01, in steps that can be measured one by one:
// `taskbench ladder`.
//
// The sources of this folder are compiled once with every step taken, which is the scheduler, and
// once more for each rung of the ladder, with the steps up to it, under the rung's name in place of
// the namespace work_stealing (runtime/CMakeLists.txt). has() is a constant: of a step that is not
// taken there is nothing in the code, and the scheduler itself has nothing to ask.
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

/// Those of the document first, in its order, then our own. What each of them replaces is said in
/// docs/schedulers.md.
enum class Step : std::uint8_t {
  queue,           ///< a ring in place of a deque that grows; an injector; threads that stay
  steal_half,      ///< of the victim's queue, not one task
  lifo_slot,       ///< what was made runnable last runs next
  few_searchers,   ///< no more than half of the workers
  few_wakeups,     ///< only while nobody searches
  one_allocation,  ///< for each task, not two
  no_references,   ///< none is counted when a task is queued
  batch_overflow,  ///< half of a full queue under one lock, not task by task
  biased_lock,     ///< its owner's pops and pushes pass no locked instruction
  patience,        ///< a worker looks again for a while before it steals, and before it sleeps
  prefetch,        ///< of the task that will be polled after this one
  rounds,          ///< busy workers are kept level; what yields alone is polled again at once
};

/// Whether the sources are being compiled with this step.
constexpr bool has(Step step) { return step <= Step::TASKBENCH_RUNG; }

using TaskCosts = scheduler::TaskCosts<!has(Step::one_allocation), !has(Step::no_references)>;

}  // namespace taskbench::rt::work_stealing
