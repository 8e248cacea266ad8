"""The runtime, broken on purpose: each mutant is a name, a file, what stands there, and what stands
there instead. scripts/mutate applies them to a copy, one at a time."""

QUEUE = "runtime/queue/local_queue.hpp"
LOCK = "runtime/base/biased_lock.hpp"
FENCES = "runtime/base/asymmetric_fences.hpp"
IDLE = "runtime/scheduler/work_stealing/idle.hpp"
POLICY = "runtime/scheduler/work_stealing/policy.hpp"
PARKER = "runtime/park/parker.hpp"
STATE = "runtime/task/state.hpp"
HARNESS = "runtime/task/harness.cpp"
INJECTOR = "runtime/queue/injector.hpp"
WORKER = "runtime/scheduler/work_stealing/worker.cpp"
LEASE = "runtime/scheduler/lease.hpp"
WORKER_SET = "runtime/scheduler/work_stealing/worker_set.cpp"
DRAIN = "runtime/scheduler/drain.hpp"
THREADS = "runtime/scheduler/worker_threads.cpp"
DEQUE = "runtime/queue/growing_deque.hpp"
READINESS = "runtime/driver/readiness.hpp"
FORK_DEQUE = "runtime/queue/fork_deque.hpp"
FORK = "runtime/task/fork.hpp"
FORK_SOURCE = "runtime/task/fork.cpp"
STRAND = "runtime/task/strand.hpp"
POOL = "runtime/scheduler/work_stealing/pool.cpp"
BLOCKING = "runtime/blocking/pool.cpp"
IO = "runtime/net/io.hpp"
STREAM = "runtime/net/stream.cpp"
DRIVER = "runtime/driver/driver.cpp"
GO = "runtime/scheduler/go/go.cpp"
MACHINE = "runtime/scheduler/go/machine.cpp"
MPMC = "runtime/sync/mpmc_channel.hpp"
MPMC_SOURCE = "runtime/sync/mpmc_channel.cpp"

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
     "if (tail - head_.load(base::acquire) == kCapacity)",
     "if ((tail - head_.load(base::acquire)) % kCapacity == kCapacity)"),
    ("the thief's fence is a light one", LOCK, "    heavy_fence();  //", "    light_fence();  //"),
    ("the owner's fence is missing", LOCK, "    light_fence();  //", "    //"),
    ("a visitor passes a full fence where the owner passes light ones", LOCK,
     "if (before == kAjar) {", "if (before != kShut) {"),
    ("the owner passes no fence while the gate is ajar", "runtime/base/biased_lock.cpp",
     "    full_fence();  //", "    //"),
    ("the owner opens a gate that a visitor has shut", "runtime/base/biased_lock.cpp",
     "gate_.compare_exchange_strong(seen, kOpen, release, relaxed);",
     "gate_.store(kOpen, release);"),
    ("heavy fences need no barrier before passers have begun to pay", FENCES,
     "    heavy_barrier();                      "
     "// seq_cst: the changer's half of the story at the top\n", ""),
    ("a heavy fence that finds full ones sufficient passes none", FENCES,
     """    full_fence();  // seq_cst: the other's half of the story at the top
    // acquire: pairs with the barrier in ask_passers""",
     "    // acquire: pairs with the barrier in ask_passers"),
    ("passers cease to pay before heavy fences have become dear", FENCES,
     """    full_suffices_.store(false, relaxed);  // relaxed: ordered by the fence
    full_fence();                          // seq_cst: the changer's half of the story at the top
    light_suffices_.store(true, relaxed);  // relaxed: the fence releases
""",
     """    light_suffices_.store(true, relaxed);
    full_fence();
    full_suffices_.store(false, relaxed);
"""),
    ("the thief takes without the lock", QUEUE,
     "    if (!lock_.visitor_try_enter()) return {};\n", ""),
    ("fence between publishing and looking for sleepers removed", IDLE,
     "      base::full_fence();\n    }\n    // relaxed: ordered by the fence",
     "    }\n    // relaxed: ordered by the fence"),
    ("a worker's fence between publishing and looking for sleepers removed", IDLE,
     "      Policy::pusher_fence();\n    } else {", "    } else {"),
    ("the leaver's heavy fence is a light one", POLICY,
     "    base::heavy_fence();", "    base::light_fence();"),
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
     "      // release: pairs with the acquire of the completer",
     "      // release: pairs with the acquire of the completer"),
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
     "references == 0 && ending.has_sole_owner()", "ending.has_sole_owner()"),
    ("a join waker that was taken back may stand there again", STATE,
     "(seen & ~kJoinWaker) | kJoinChanged", "seen & ~kJoinWaker"),
    ("the completer completes what has changed since it looked", STATE,
     "    return word_.compare_exchange_weak(seen.word_, desired, base::release, base::acquire);",
     "    word_.store(desired, base::release);\n    return true;"),
    ("a task that was awaited is completed without release", STATE,
     "compare_exchange_weak(seen.word_, desired, base::release, base::acquire)",
     "compare_exchange_weak(seen.word_, desired, base::relaxed, base::acquire)"),
    ("a task is awaited as unshared although it is shared", HARNESS,
     "if (context.next == task && task->state.set_join_waker_unshared()) return false;",
     "if (task->state.set_join_waker_unshared()) return false;"),
    ("the handle of a complete task frees it although others have it", STATE,
     "if ((word_.load(base::acquire) & (kReferenceMask | kActive)) == 0) return true;",
     "if ((word_.load(base::acquire) & kActive) == 0) return true;"),
    ("a task leaves the shard of another worker as if it were its owner's",
     "runtime/task/owned_tasks.hpp",
     "        lock.visitor_enter();", "        lock.owner_enter();"),
    ("a visitor that must come in does not wait for the owner", "runtime/base/biased_lock.cpp",
     "  while (owner_inside_.load(acquire) != 0) {", "  while (false) {"),
    ("a visitor that must come in does not wait for another", "runtime/base/biased_lock.cpp",
     "  while (before == kShut) {", "  while (false) {"),
    ("signed index arithmetic near the wrap-around", QUEUE,
     "if (tail - head_.load(base::acquire) == kCapacity)",
     "if (std::int64_t{tail} - std::int64_t{head_.load(base::acquire)} == kCapacity)"),
    ("narrow index arithmetic near the wrap-around", QUEUE,
     "const bool full = tail - head == kCapacity;",
     "const bool full = static_cast<std::uint16_t>(tail) == static_cast<std::uint32_t>(\n"
     "          static_cast<std::uint16_t>(head)) + kCapacity;"),
    ("a pop from the back moves the tail after it has left the lock", QUEUE,
     """    tail_.store(tail - 1, base::relaxed);
    lock_.owner_leave();""",
     """    lock_.owner_leave();
    tail_.store(tail - 1, base::relaxed);"""),
    ("a pop goes on with the head that it saw outside of the lock", QUEUE,
     """    if (head_.load(base::relaxed) == tail) return false;
    lock_.owner_enter();
    // relaxed: inside the lock (I3)
    head = head_.load(base::relaxed);
""",
     """    head = head_.load(base::relaxed);
    if (head == tail) return false;
    lock_.owner_enter();
"""),
    ("a full queue is emptied by a head that was read before the lock was taken", QUEUE,
     """    lock_.owner_enter();
    // relaxed: inside the lock (I3)
    const std::uint32_t head = head_.load(base::relaxed);
    const bool full =""",
     """    const std::uint32_t head = head_.load(base::acquire);
    lock_.owner_enter();
    const bool full ="""),
    ("a token is taken by a load and a store", PARKER,
     "    token_.exchange(kNone, base::acquire);",
     "    (void)token_.load(base::acquire);\n    token_.store(kNone, base::relaxed);"),
    ("a token that was given already is not given again", PARKER,
     "    if (token_.exchange(kGiven, base::release) != kSleeping) return false;",
     "    if (token_.load(base::relaxed) == kGiven) return false;\n"
     "    if (token_.exchange(kGiven, base::release) != kSleeping) return false;"),
    ("a parker is touched after its token was given", PARKER,
     "    sleeper.wake(&token_);\n    return true;",
     "    sleeper.wake(&token_);\n    return token_.load(base::relaxed) != kNone;"),
    ("a task is touched after it was suspended", HARNESS,
     "    case State::Suspend::idle:\n      return Polled::idle;",
     "    case State::Suspend::idle:\n      (void)task->state.is_complete();\n"
     "      return Polled::idle;"),
    ("the join waker is read before its bit", HARNESS,
     "const std::uintptr_t waker = ending.has_waker() ? join_waker_of(task) : 0;",
     "const std::uintptr_t early = join_waker_of(task);\n"
     "    ending = task->state.ending();\n"
     "    const std::uintptr_t waker = ending.has_waker() ? early : 0;"),
    ("a JoinSet misses a member that ended before it listened", "runtime/sync/completions.cpp",
     "if (!task::join_listen(member, own)) own->on_complete(member);",
     "(void)task::join_listen(member, own);"),
    ("a waker that is dropped frees a task that is still queued", STATE,
     "return (word & (kReferenceMask | kJoinInterest | kActive | kComplete)) == kComplete;",
     "return (word & (kReferenceMask | kJoinInterest)) == 0;"),
    ("an inbox is emptied by a load and a store", "runtime/queue/inbox.hpp",
     "    Node* node = newest_.exchange(nullptr, base::acquire);",
     "    Node* node = newest_.load(base::acquire);\n    newest_.store(nullptr, base::relaxed);"),
    ("what was unlinked is freed an epoch too early", "runtime/queue/epochs.hpp",
     "each.epoch + 2 <= now", "each.epoch + 1 <= now"),
    ("a buffer that was outgrown is freed at once", DEQUE,
     "    epochs_.defer(owner_, std::move(larger));\n", ""),
    ("a value is taken by a look and a store", DEQUE,
     "front_.compare_exchange_weak(front, front + 1, base::release, base::relaxed)",
     "(front_.store(front + 1, base::release), true)"),
    ("a thread gets back what was retaken", LEASE,
     "return word_.compare_exchange_strong(begun, begun + 1, base::relaxed, base::relaxed);",
     "word_.store(begun + 1, base::relaxed);\n    return true;"),
    ("the watcher leaves without a fence", LEASE,
     "watched_.store(false, base::relaxed);\n"
     "    // seq_cst: the watcher's half of the story at the top\n    base::full_fence();",
     "watched_.store(false, base::relaxed);"),
    ("who stands by does not look whether a section is unwatched", POOL,
     "std::exchange(called_, false) || is_watcher_wanted()", "std::exchange(called_, false)"),
    ("a task is cancelled under the injector's lock", INJECTOR,
     "for (std::size_t i = 0; i < taken; ++i) sink(batch[i]);",
     "for (std::size_t i = 0; i < taken; ++i) locked([&] { sink(batch[i]); });"),
    ("no drain after the shutdown", THREADS,
     "  if (!last) return;\n  work.drain();", "  if (!last) return;"),
    ("a shutdown does not wait until the owned tasks are gone", DRAIN,
     "if (owned.empty() && !cancel_queued()) return;", "if (!cancel_queued()) return;"),
    ("notification before the push", WORKER_SET,
     """  injector.push(task, queue::Admit::always, [this, task] {
    outside_.remote_schedules.add();
    outside_recorder_.wake(task);
  });
  notify_from_outside();
""",
     """  notify_from_outside();
  injector.push(task, queue::Admit::always, [] {});
"""),
    ("the last searcher that finds work wakes nobody", WORKER,
     "  if (set_.idle.stop_searching()) set_.notify_if_work_is_visible(*this);",
     "  (void)set_.idle.stop_searching();"),
    ("no notification after a batch was taken from the injector", WORKER,
     "    if (!searching_) set_.notify_from(*this);\n", ""),
    ("the injector's size is not stored", INJECTOR,
     "    store_size(size_locked() + 1);\n", ""),
    ("an owner goes without release and acquire", "runtime/base/shared.hpp",
     "owners_.fetch_sub(1, acq_rel)", "owners_.fetch_sub(1, relaxed)"),
    ("who waits for the global queue does not look again",
     "runtime/scheduler/global_queue/global_queue.cpp",
     "    if (inbox_.looks_empty()) {", "    if (true) {"),
    ("a worker of tokio01 that falls asleep does not look again",
     "runtime/scheduler/tokio01/tokio01.cpp", "  if (!work_is_visible()) {", "  {"),
    ("a shutdown does not wait for a spawn on its way", "runtime/scheduler/thread_pool.cpp",
     "bool any = outside_.is_spawning();", "bool any = false;"),
    ("readiness is given back over what an event has said", READINESS,
     "if (word_.compare_exchange_strong(seen, word_of(state), base::relaxed, base::relaxed)) "
     "return;",
     "seen = word_.exchange(word_of(state), base::acq_rel);"),
    ("taking opens what is closed", READINESS,
     "word_of(taken == State::closed ? State::closed : State::no)", "word_of(State::no)"),
    ("a wait begins over an event", READINESS,
     "if (word_.compare_exchange_strong(seen, reinterpret_cast<std::uintptr_t>(task), "
     "base::release,\n                                      base::relaxed)) {",
     "word_.store(reinterpret_cast<std::uintptr_t>(task), base::release);\n    {"),
    ("a wait that is given up takes an event with it", READINESS,
     "word_.fetch_and(kStates, base::relaxed)",
     "word_.exchange(word_of(State::no), base::relaxed)"),
    ("whoever was woken stands there no longer", READINESS,
     "word_.fetch_or(word_of(state), base::acq_rel);",
     "word_.exchange(word_of(state), base::acq_rel);"),
    ("who comes second takes what the first was woken for", READINESS,
     "if (task_in(seen) != own) return State::occupied;", ""),
    ("a fork is taken back without a fence", FORK_DEQUE,
     "    base::light_fence();  // seq_cst: the owner's half of the story at the top\n", ""),
    ("a fork is stolen behind a light fence", FORK_DEQUE,
     "    base::heavy_fence();  // seq_cst", "    base::light_fence();  // seq_cst"),
    ("the last fork of a deque is taken back by a store", FORK_DEQUE,
     "taken = front_.compare_exchange_strong(front, front + 1, base::relaxed, base::relaxed);",
     "front_.store(front + 1, base::relaxed);\n      taken = true;"),
    ("a fork is taken back without a look at whether it is the last", FORK_DEQUE,
     "if (front < back) [[likely]] {", "if (front <= back) [[likely]] {"),
    ("an empty deque shrinks", FORK_DEQUE,
     "    back_.store(back + 1, base::relaxed);  "
     "// relaxed: nothing is left to be handed over\n", ""),
    ("a full deque takes one more", FORK_DEQUE,
     "      if (back + count - front_seen_ > kCapacity) return false;\n",
     "      if (back + count - front_seen_ > kCapacity + 1) return false;\n"),
    ("forks are offered without a fence", STRAND,
     "    base::light_fence();  // seq_cst: the pusher's half of the story in "
     "work_stealing/idle.hpp\n", ""),
    ("nobody is woken for forks", STRAND, "      sleepers_.wake(sleepers_.worker);\n", ""),
    ("who falls asleep does not look at forks", WORKER_SET,
     "if (!worker(i).queue.looks_empty() || !worker(i).forks.looks_empty()) return true;",
     "if (!worker(i).queue.looks_empty()) return true;"),
    ("a join does not count the poll that has begun it", FORK_SOURCE,
     "static_cast<std::int32_t>(stolen) + (is_root_ ? 1 : 0);",
     "static_cast<std::int32_t>(stolen);"),
    ("a stolen fork ends without release", FORK_SOURCE,
     "if (balance_.fetch_sub(1, base::acq_rel) != 1) return std::noop_coroutine();",
     "if (balance_.fetch_sub(1, base::acquire) != 1) return std::noop_coroutine();"),
    ("a stolen fork goes on with a sibling", FORK_SOURCE,
     "  promise.stolen_ = true;\n", ""),
    ("a fork goes on in the strand that it came from", FORK_SOURCE,
     "    ForkPromiseBase::of(awaiting_.address()).strand_ = &strand;\n", ""),
    ("a task goes on though forks of it have not run", HARNESS,
     "      if (task->state.is_cancelled()) {\n        // Some",
     "      if (false) {\n        // Some"),
    ("the poll goes on with a task that was handed over", HARNESS,
     "    if (ended == Disposition::handed_over) return Polled::idle;\n", ""),
    ("who falls asleep beside somebody inside does not watch", DRIVER,
     "!(reserve && held_.load(base::relaxed))", "!held_.load(base::relaxed)"),
    ("a thread that stands by is called without a token", POOL,
     "    standing_by_.back()->parker.unpark();\n    standing_by_.pop_back();",
     "    standing_by_.pop_back();"),
    ("a thread too many stands by", POOL,
     "thread_count_ - worker_count() < options()", "thread_count_ - worker_count() <= options()"),
    ("threads that stand by share a number", POOL, "      ++next_index_;\n", ""),
    ("who takes over a worker leaves the others unwatched", POOL,
     "      watch_.leave();\n      if (is_watcher_wanted()) call_watcher();\n",
     "      watch_.leave();\n"),
    ("a thread that comes back resigns while its worker is taken over", POOL,
     "  const base::LockGuard lock(mutex_);\n  own.resign();", "  own.resign();"),
    ("the shutdown forgets those that stand by", POOL,
     "  for (StandIn* each : standing_by_) each->parker.unpark();\n", ""),
    ("a worker that was left keeps what it has queued", POOL, "    retire(*own);\n", ""),
    ("what a thread that comes back has queued wakes nobody", WORKER_SET,
     "  if (any) notify_from_outside();\n", ""),
    ("a worker is taken over without its queue", WORKER,
     "  while (other.queue.pop_front(task)) push(task);\n", "  (void)task;\n"),
    ("what is next in line stays there while the thread blocks", WORKER,
     "  if (task::Header* const next = std::exchange(context_->next, nullptr)) {\n"
     "    push(next);\n    set_.notify_from(*this);\n  }\n", ""),
    ("a Worker that is used again leaves at once", WORKER,
     "  leaves_.store(false, base::relaxed);  // relaxed: read by the thread that will run this "
     "worker\n", ""),
    ("a read is given up and still stands there", IO,
     "    if (waiter_.task() != nullptr) withdraw();\n  }", "  }"),
    ("a call that finds nothing sleeps over an event", IO,
     "          if (state != State::closed) continue;\n",
     "          if (state != State::closed) return false;\n"),
    ("what a call has left is not given back", IO,
     "        case Attempt::done:\n          ready.give_back(state);\n",
     "        case Attempt::done:\n"),
    ("the end of a stream is not given back", IO,
     "          if (state == State::lasting) ready.give_back(state);\n", ""),
    ("a full read counts as a short one", STREAM,
     "static_cast<std::size_t>(returned.value) < asked;",
     "static_cast<std::size_t>(returned.value) <= asked;"),
    ("a handle is dropped as unshared whatever the state word says", STATE,
     "    if (word_.load(base::acquire) != (kActive | kJoinInterest)) return false;\n", ""),
    ("a thread too many runs blocking calls", BLOCKING,
     "threads_.size() < settings_.max_threads", "threads_.size() <= settings_.max_threads"),
    ("a thread that was called stays among the idle ones", BLOCKING,
     "          idle_.pop_back();\n", ""),
    ("who leaves the driver appoints no watcher", DRIVER,
     "    held_.store(false, base::relaxed);  // relaxed: under lock_ (D1)\n"
     "    told = appoint_watcher();\n",
     "    held_.store(false, base::relaxed);\n"),
    ("a watcher that leaves appoints no other", DRIVER,
     "    watcher_ = nullptr;\n    told = appoint_watcher();\n", "    watcher_ = nullptr;\n"),
    ("a driver that comes into use appoints no watcher", DRIVER,
     "except under lock_\n    told = appoint_watcher();\n", "except under lock_\n"),
    ("who wakes the thread inside epoll has not seen the poller opened", DRIVER,
     "(polls ? kPolls : 0), base::release);", "(polls ? kPolls : 0), base::relaxed);"),
    ("a worker that finds events beside its tasks wakes nobody", WORKER,
     "  queue_what_is_next();\n  set_.notify_from(*this);  // a task that comes next",
     "  queue_what_is_next();  // a task that comes next"),
    ("a machine that stops without a search ends one in the trace", MACHINE,
     "if (was_searching) processor_->recorder.search_end();",
     "processor_->recorder.search_end();"),
    ("a machine that comes back is passed over", GO,
     "    machine = take_returning();\n    if (machine == nullptr && !closed())",
     "    if (!closed())"),
    ("of two machines that come back the second is forgotten", GO,
     "  if (returning_.empty()) returns_.store(false, base::relaxed);\n",
     "  returns_.store(false, base::relaxed);\n"),
    ("the monitor may sleep while a machine holds a processor", GO,
     "  if (idle.all_asleep() && !closed()) return true;", "  if (!closed()) return true;"),
    ("the last thread but one drains", THREADS, "last = running_ == 1;", "last = running_ <= 2;"),
    ("a task that is refused is not destroyed", WORKER_SET,
     "    Policy::cancel(task);\n  }\n}\n\nvoid WorkerSet::adopt",
     "  }\n}\n\nvoid WorkerSet::adopt"),
    ("an end of a channel changes it without a fence", MPMC,
     "    base::full_fence();  // seq_cst: the changer's half of the story at the top\n", ""),
    ("who waits for a channel looks again without a fence", MPMC_SOURCE,
     "      base::full_fence();  // seq_cst: the waiter's half of the story at the top\n", ""),
    ("a lap of a channel is as long as its capacity", MPMC_SOURCE,
     "lap_(std::bit_ceil(capacity + 1))", "lap_(std::bit_ceil(capacity))"),
    ("a channel is drained though a message is on its way", MPMC_SOURCE,
     " && head_.load(base::relaxed) == (tail & ~kClosed);", ";"),
    ("nobody hears that a channel is drained", MPMC_SOURCE,
     " || (side == Side::receive && is_drained())", ""),
    ("of the end of a channel only one hears", MPMC_SOURCE,
     "  if (result == Claim::ended) channel_.changed();\n", ""),
    ("a wait for a channel that is given up wakes nobody", MPMC_SOURCE,
     "  if (own != nullptr) task::drop_reference(own);\n  channel_.changed();\n",
     "  if (own != nullptr) task::drop_reference(own);\n"),
    ("who is first in a channel and leaves stays first", MPMC_SOURCE,
     "  if (std::exchange(is_first_, false)) --waiters().first;\n", ""),
    ("closing a channel wakes nobody", MPMC_SOURCE,
     "base::release);\n  wake_who_can_go_on();\n", "base::release);\n"),
)

# Mutants of `scripts/mutate --orders` that change nothing the tester explores, and why
# (docs/design/memory_ordering.md).
EQUIVALENT = {
    "driver.cpp, sleep_inside: `inside_.store(0, base::relaxed);` after what follows":
        "a sleep that is over may be ended",
    "cancellation.cpp, cancel_all_below: `released.append(node->waiting_);` after what follows":
        "both under the mutex, which whoever waits takes",
    "driver.cpp, sleep_inside: `signal_.store(0, base::relaxed);` after what follows":
        "both before the fence",
    "driver.cpp, sleep_inside: `wakes_at_.store(due, base::relaxed);` after what follows":
        "both before the fence",
    "biased_lock.hpp, visitor_try_enter: acquire to relaxed": "the heavy fence acquires",
    "biased_lock.cpp, visitor_enter: acquire to relaxed": "the fence that follows acquires",
    "biased_lock.cpp, visitor_enter: acquire to relaxed (2)": "the fence that follows acquires",
    "biased_lock.hpp, owner_enter: acquire to relaxed": "only the owner opens the gate",
    "biased_lock.cpp, owner_enter_by_full_fence: release to relaxed": "the fences show the owner",
    "biased_lock.cpp, owner_enter_by_full_fence: release to relaxed (2)":
        "the full fence before it releases",
    "state.hpp, unset_join_waker: acquire to relaxed (2)": "on success it orders nothing",
    "growing_deque.hpp, push: acquire to relaxed": "needed against load buffering alone",
    "growing_deque.hpp, take_pinned: release to relaxed": "needed against load buffering alone",
    "fork_deque.hpp, push_backwards: acquire to relaxed": "needed against load buffering alone",
    "fork_deque.hpp, steal: release to relaxed": "needed against load buffering alone",
    "sleep.cpp, poll_timer: acquire to relaxed": "withdraw() acquires the same",
    "sleep.cpp, refuse_others: acquire to relaxed": "nothing is handed over to who only asks",
    "injector.hpp, push: `end().append(node, node);` after what follows": "both under the mutex",
    "injector.hpp, pop_and_unlock: `whole.append(first_);` after what follows":
        "both under the mutex",
    "owned_tasks.hpp, insert: `if (next != nullptr) trailer_of(next).previous.set(task);` after "
    "what follows": "both under the lock",
    "worker_set.hpp, closed: acquire to relaxed": "leaves() acquires the same",
    "worker_set.cpp, close: release to relaxed": "leave() releases the same",
    "worker.hpp, leave: release to relaxed": "closed() is asked, or the mutex taken, next",
    "worker.hpp, leaves: acquire to relaxed": "closed() is asked, or the mutex taken, next",
    "go.hpp, closed: acquire to relaxed": "a fence or a token acquires it before the drain",
    "go.cpp, add_returning: `returning_.push_back(&machine);` after what follows":
        "both under the mutex, which whoever sees the second takes",
    "tokio01.cpp, push_outside: `chosen->inbound.push_back(task);` after what follows":
        "both under the mutex, which whoever sees the second takes",
    "tokio01.cpp, sleep: `sleepers_.push_back(&own);` after what follows":
        "both under the mutex, which whoever sees the second takes",
    "machine.cpp, in_new_slice: `own.slices.store(own.slices.load(base::relaxed) + 1, "
    "base::relaxed);` after what follows": "advice, which the monitor may give a slice too late",
}
