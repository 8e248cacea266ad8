// The runtime and the task that the calling thread is in.
#pragma once

#include <cstdint>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/task/schedule.hpp"

namespace taskbench::rt::task {

/// Whether block_on may block the thread even though it is in a runtime.
enum class MayBlock : bool { no, yes };

class Strand;

/// One per thread. `scheduler` is the target of rt::spawn; null outside of every runtime.
struct ThreadContext {
  Spawner* scheduler;
  void* worker;  ///< scheduler's own; null on a thread that only entered block_on
  /// The LIFO slot of a worker of work_stealing, the task to run next; null elsewhere. While a task
  /// is here, no other thread can reach it unless handles or wakers of it exist; so its handle can
  /// change its state by a plain store.
  Header* next;
  /// Set when a task that is polled here begins to wait for the end of another one. For workers of
  /// work_stealing, which clear it.
  bool waits_for_task;
  MayBlock may_block;
  /// The number of operations that the task in this poll may still begin before it yields; valid
  /// once it has begun one (Disposition::spending).
  std::uint32_t budget_left;
  /// In `go`: whether the task must yield at its next operation in any case. Null elsewhere.
  const base::Atomic<bool>* slice_is_over;
  /// Of a worker that lets others steal its forks; null elsewhere.
  Strand* strand;
};

/// The calling thread's context. Not inlined: a coroutine may be resumed on another thread than the
/// one that suspended it, and a compiler may keep the address of a thread-local variable across the
/// suspension.
[[nodiscard]] ThreadContext& thread_context() noexcept;

/// Sets the context for a scope.
class EnterContext {
 public:
  EnterContext(Spawner* scheduler, void* worker, MayBlock may_block = MayBlock::no) noexcept
      : context_(thread_context()), previous_(context_) {
    context_ = {scheduler, worker, nullptr, false, may_block, 0, nullptr, nullptr};
  }
  ~EnterContext() { context_ = previous_; }
  EnterContext(const EnterContext&) = delete;
  EnterContext& operator=(const EnterContext&) = delete;

 private:
  ThreadContext& context_;
  const ThreadContext previous_;
};

}  // namespace taskbench::rt::task
