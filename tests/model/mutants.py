"""The runtime, broken on purpose: each mutant is a name, a file, what stands there, and what stands
there instead. scripts/mutate applies them to a copy, one at a time."""

QUEUE = "runtime/queue/local_queue.hpp"
LOCK = "runtime/base/biased_lock.hpp"
IDLE = "runtime/scheduler/work_stealing/idle.hpp"
PARKER = "runtime/park/parker.hpp"
STATE = "runtime/task/state.hpp"
HARNESS = "runtime/task/harness.cpp"
INJECTOR = "runtime/queue/injector.hpp"

NAMED = (
    ("tail stored relaxed", QUEUE,
     "tail_.store(tail + 1, base::release);", "tail_.store(tail + 1, base::relaxed);"),
    ("slot read after the head was released", QUEUE,
     """      stolen.first = slot(head).get();
      destination.append_from(*this, head + 1, stolen.count - 1);
      // release: pairs with the acquire of head_ in push_back: the slots have been read
      head_.store(head + stolen.count, base::release);
""",
     """      head_.store(head + stolen.count, base::release);
      stolen.first = slot(head).get();
      destination.append_from(*this, head + 1, stolen.count - 1);
"""),
    ("index modulus equal to the capacity: full looks empty", QUEUE,
     "if (tail - head < kCapacity) {", "if ((tail - head) % kCapacity < kCapacity) {"),
    ("the thief's fence is a light one", LOCK, "    heavy_fence();  //", "    light_fence();  //"),
    ("the owner's fence is missing", LOCK, "    light_fence();  //", "    //"),
    ("the thief takes without the lock", QUEUE,
     "    if (!lock_.visitor_try_enter()) return {};\n", ""),
    ("fence between publishing and looking for sleepers removed", IDLE,
     "      base::full_fence();\n    }\n    // relaxed: ordered by the fence",
     "    }\n    // relaxed: ordered by the fence"),
    ("a worker's fence between publishing and looking for sleepers removed", IDLE,
     "      base::light_fence();\n    } else {", "    } else {"),
    ("the leaver's heavy fence is a light one", IDLE,
     "      base::heavy_fence();", "      base::light_fence();"),
    ("the leaver's full fence is missing", IDLE,
     "    if (others_awake == 0) {\n      base::full_fence();", "    if (others_awake == 0) {"),
    ("no look at the queues after the searching count falls", IDLE,
     "    leaver_fence(awake(before) - 1);\n    return true;",
     "    leaver_fence(awake(before) - 1);\n    return false;"),
    ("a worker that falls asleep does not look again",
     "runtime/scheduler/work_stealing/idle.cpp",
     "  leaver_fence(awake(after));\n  return true;",
     "  leaver_fence(awake(after));\n  return false;"),
    ("a worker is woken without leaving the list of sleepers",
     "runtime/scheduler/work_stealing/idle.cpp", "  sleepers_.pop_back();\n", ""),
    ("a wake that finds WOKEN standing skips its read-modify-write", STATE,
     "        desired = (seen | kWoken) - reference;",
     "        if ((seen & kWoken) != 0 && reference == 0) return Wake::nothing;\n"
     "        desired = (seen | kWoken) - reference;"),
    ("the token is taken without acquire", PARKER,
     "    token_.exchange(kNone, base::acquire);", "    token_.exchange(kNone, base::relaxed);"),
    ("the token is given without release", PARKER,
     "token_.exchange(kGiven, base::release)", "token_.exchange(kGiven, base::relaxed)"),
    ("a sleeper is not woken", PARKER, "    sleeper.wake(&token_);\n", ""),
    ("the join waker is set although the task is complete", STATE,
     "      if ((seen & kComplete) != 0) return false;\n"
     "      // release: pairs with the acquire in complete()",
     "      // release: pairs with the acquire in complete()"),
    ("a reference is dropped without release and acquire", STATE,
     "word_.fetch_sub(kReference, base::acq_rel)", "word_.fetch_sub(kReference, base::relaxed)"),
    ("the completer lets go without release", STATE,
     "word_.fetch_and(~kActive, base::acq_rel)", "word_.fetch_and(~kActive, base::acquire)"),
    ("the last reference does not free", STATE,
     "        if (is_last(desired)) outcome = Wake::free;\n", ""),
    ("a join handle is dropped as unshared although it is shared", HARNESS,
     "if (thread_context().next == task && task->state.drop_join_unshared()) return;",
     "if (task->state.drop_join_unshared()) return;"),
    ("the sole owner's short way is taken although wakers were handed out", HARNESS,
     "task->pending_references == 0 && task->state.has_sole_owner()",
     "task->state.has_sole_owner()"),
    ("the injector's size is not stored", INJECTOR,
     "    store_size(size_locked() + count);\n", ""),
)

# Of `scripts/mutate --orders`: those that change nothing, and why (docs/design/memory_ordering.md).
EQUIVALENT = {
}
