// What tokio01 pays, each of which a build can leave out: -DTASKBENCH_TOKIO01_WITHOUT=SUM with the
// sum of the numbers below. `taskbench ab` between two such builds says what one of them costs.
//
// The sentences are those of "Making the Tokio scheduler 10x faster" (2019), shortened.
#pragma once

#if !defined(TASKBENCH_TOKIO01_WITHOUT)
#define TASKBENCH_TOKIO01_WITHOUT 0
#endif

namespace taskbench::rt::scheduler::tokio01 {

constexpr bool pays(unsigned cost) { return (TASKBENCH_TOKIO01_WITHOUT & cost) == 0; }

/// "Every operation must issue an atomic read-modify-write when it enters and leaves the critical
/// section, to signal that memory is in use." Without: nobody is pinned, and a buffer that was
/// outgrown is kept to the end.
inline constexpr bool kPins = pays(1);

/// "Whenever a task was pushed to the run queue, a processor was notified." Without: only when the
/// queue was empty.
inline constexpr bool kNotifiesEveryPush = pays(2);

/// "Whenever a processor was notified and found a task upon waking, it notified another one. This
/// quickly got all processors awake and searching for work."
inline constexpr bool kPassesNotificationsOn = pays(4);

/// "Processor threads should shut down when they have been idle for some time."
inline constexpr bool kEndsIdleThreads = pays(8);

/// "The old scheduler needed two allocations per task": the future, and the struct that holds it.
inline constexpr bool kAllocatesTwice = pays(16);

/// "When the task is woken, the reference is cloned (an atomic increment) and pushed into the run
/// queue. When the processor has run the task it drops the reference: an atomic decrement."
inline constexpr bool kCountsReferences = pays(32);

}  // namespace taskbench::rt::scheduler::tokio01
