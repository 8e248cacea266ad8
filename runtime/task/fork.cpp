#include "runtime/task/fork.hpp"

#include <stdexcept>

#include "runtime/task/context.hpp"
#include "runtime/task/fork_join.hpp"
#include "runtime/task/join_handle.hpp"

namespace taskbench::rt::task {

/// Brings the forks of a task that no worker polls, the root of a block_on, to a worker: the
/// parameter of carry().
class ForkDelivery {
 public:
  explicit ForkDelivery(ForkJoinBase& forks) noexcept : forks_(&forks) {}
  ForkDelivery(ForkDelivery&& other) noexcept : forks_(std::exchange(other.forks_, nullptr)) {}
  ForkDelivery& operator=(ForkDelivery&&) = delete;
  /// If it has not arrived, the runtime has ended.
  ~ForkDelivery() {
    if (forks_ == nullptr || !forks_->is_sent_) return;
    Strand nowhere;
    nowhere.set_task(forks_->task_);
    nowhere.cancel();
    forks_->settle(nowhere, 0);
  }

  void arrive() noexcept {
    ForkJoinBase& forks = *std::exchange(forks_, nullptr);
    Strand& strand = *thread_context().strand;
    strand.set_task(forks.task_);
    strand.run(forks.begin(strand));
  }

 private:
  ForkJoinBase* forks_;
};

namespace {

Task<> carry(ForkDelivery delivery) {
  delivery.arrive();
  co_return;
}

}  // namespace

void ForkJoinBase::await_in(Header* task, std::coroutine_handle<> awaiting) noexcept {
  TASKBENCH_ASSERT(task_ == nullptr, "a fork_join is awaited once");
  awaiting_ = awaiting;
  task_ = task;
  is_root_ = true;
  // The poll finds it here, and calls run_for().
  task->queue_next = reinterpret_cast<Header*>(this);
  task->flags |= Header::kForks;
}

std::coroutine_handle<> ForkJoinBase::run_for(Header* task) noexcept {
  // Read before other threads may complete the join.
  const std::coroutine_handle<> awaiting = awaiting_;
  ThreadContext& context = thread_context();
  const bool in_branch = (task->flags & Header::kInBranch) != 0;
  if (context.strand != nullptr && !in_branch) {
    context.strand->set_task(task);
    context.strand->run(begin(*context.strand));
  } else if (in_branch || context.scheduler == nullptr || !send_to_worker(*context.scheduler)) {
    Strand alone;
    alone.set_task(task);
    alone.run(begin(alone));
  }
  // acq_rel: pairs with those of the strand and of the stolen forks, in settle() and
  // after_stolen(): the thread that completes the join sees what all have done
  if (balance_.fetch_sub(1, base::acq_rel) != 1) return {};
  return awaiting;
}

bool ForkJoinBase::send_to_worker(Spawner& scheduler) noexcept {
  if (!scheduler.shares_forks()) return false;
  try {
    Task<> carrier = carry(ForkDelivery(*this));
    is_sent_ = true;
    Header* const header = std::move(carrier).release_for_spawn(&scheduler);
    scheduler.spawn(header);
    join_drop(header);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void ForkJoinBase::run_stolen(Strand& strand, void* frame) noexcept {
  ForkPromiseBase& promise = ForkPromiseBase::of(frame);
  ForkJoinBase& join = *promise.join_;
  strand.set_task(join.task_);
  promise.strand_ = &strand;
  promise.stolen_ = true;
  strand.run(strand.is_cancelled() ? join.after_stolen(strand)
                                   : std::coroutine_handle<>::from_address(frame));
}

/// The strand has run out of children.
std::coroutine_handle<> ForkJoinBase::settle(Strand& strand, std::uint32_t stolen) noexcept {
  const auto added = static_cast<std::int32_t>(stolen) + (is_root_ ? 1 : 0);
  // acq_rel: pairs with those of the stolen forks, and of the poll in run_for(): the thread that
  // completes the join sees what all have done
  if (balance_.fetch_add(added, base::acq_rel) != -added) return std::noop_coroutine();
  return complete(strand);
}

/// A stolen fork has ended.
std::coroutine_handle<> ForkJoinBase::after_stolen(Strand& strand) noexcept {
  // acq_rel: pairs with those in settle() and run_for(), and with itself: the thread that completes
  // the join sees what all have done
  if (balance_.fetch_sub(1, base::acq_rel) != 1) return std::noop_coroutine();
  return complete(strand);
}

/// Returns the coroutine that goes on in `strand`.
std::coroutine_handle<> ForkJoinBase::complete(Strand& strand) noexcept {
  if (!is_root_) {
    ForkPromiseBase::of(awaiting_.address()).strand_ = &strand;
    return awaiting_;
  }
  // The poll right has belonged to the join since the poll in run_for() returned.
  Header* const task = task_;
  resume_directly(task, awaiting_);
  task->scheduler->schedule(task);
  return std::noop_coroutine();
}

void ForkJoinBase::rethrow(void* fork) const {
  const ForkPromiseBase& promise = ForkPromiseBase::of(fork);
  if (promise.outcome_ == Outcome::exception) std::rethrow_exception(promise.exception_);
  if (task_->state.is_cancelled()) throw JoinError();
  // Many forks of a vector are run by one that came with it: if that has failed, some have not run.
  const ForkPromiseBase& first = ForkPromiseBase::of(children_[0]);
  if (first.outcome_ == Outcome::exception) std::rethrow_exception(first.exception_);
  throw std::logic_error(
      "a coroutine that returns an rt::Fork of a value has come to its end without a co_return");
}

Fork<> run_all(void* const* frames, std::size_t count) {
  if (count <= kForksAtOnce) {
    co_await ForkSpan(frames, count);
  } else {
    const std::size_t half = count / 2;
    co_await ForkTuple<void, void>(run_all(frames, half), run_all(frames + half, count - half));
  }
}

}  // namespace taskbench::rt::task
