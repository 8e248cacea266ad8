// A strand: the forks of one task that a thread runs one after another, and the deque in which it
// offers the waiting ones.
//
// A worker has one strand for its whole life. Where forks are not offered, each task that forks has
// one for as long as it forks.
//
// Threads: the thread that runs the strand, except `deque` (thieves) and close().
#pragma once

#include <coroutine>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "runtime/base/sync_primitives.hpp"
#include "runtime/queue/fork_deque.hpp"
#include "runtime/task/header.hpp"

namespace taskbench::rt::task {

class Strand {
 public:
  /// Holds the frames of forks.
  using Deque = queue::ForkDeque<void*>;

  /// How a strand that offers forks wakes a worker for them.
  struct Sleepers {
    /// One word: in its upper half how many workers are awake, in its lower half how many search.
    const base::Atomic<std::uint64_t>* state;
    std::uint64_t all_awake;  ///< the upper half, in its place, if no worker sleeps
    void (*wake)(void* worker) noexcept;
    void* worker;
  };

  /// Offers its forks to nobody.
  Strand() = default;
  Strand(Deque& deque, const Sleepers& sleepers) noexcept : deque_(&deque), sleepers_(sleepers) {}
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  /// The task whose forks run here; it is suspended until they have ended.
  [[nodiscard]] Header* task() const noexcept { return task_; }
  void set_task(Header* task) noexcept { task_ = task; }

  /// Whether no more forks are to begin, as the task was aborted or the runtime ends.
  [[nodiscard]] bool is_cancelled() noexcept {
    // relaxed: advice; the thread that obeys it marks the task
    if (closed_.load(base::relaxed)) [[unlikely]]
      cancel();
    return task_->state.is_cancelled();
  }
  /// Cancels all tasks whose forks are here from now on. Any thread.
  void close() noexcept { closed_.store(true, base::relaxed); }  // relaxed: advice
  void cancel() noexcept {
    // The task is ACTIVE, so there is nothing to schedule.
    static_cast<void>(task_->state.abort());
  }

  /// Offers `frames` to other threads, the last one first. False: they were not offered.
  [[nodiscard]] bool offer(std::span<void* const> frames) noexcept {
    if (deque_ == nullptr || !deque_->push_backwards(frames)) [[unlikely]]
      return false;
    base::light_fence();  // seq_cst: the pusher's half of the story in work_stealing/idle.hpp
    // relaxed: ordered by the fence
    const std::uint64_t seen = sleepers_.state->load(base::relaxed);
    if (seen < sleepers_.all_awake && static_cast<std::uint32_t>(seen) == 0) [[unlikely]] {
      sleepers_.wake(sleepers_.worker);
    }
    return true;
  }
  /// Takes back the newest offered fork. False: all have been stolen.
  [[nodiscard]] bool take_back(void*& frame) noexcept { return deque_->pop(frame); }

  /// With 0: the thread has lost its worker, no thief looks here any more, and none is to be woken.
  void set_all_awake(std::uint64_t all_awake) noexcept { sleepers_.all_awake = all_awake; }

  /// The result of an await_suspend after which a part of this strand goes on: by a tail call, or
  /// else through run(). Then it is nothing, not even the handle of a coroutine that does nothing:
  /// a compiler may store a handle in the frame that has been left, and that another thread may
  /// have freed. See TASKBENCH_TAIL_CALLS.
  template <bool by_tail_call>
  using GoesOn = std::conditional_t<by_tail_call, std::coroutine_handle<>, void>;
  template <bool by_tail_call>
  GoesOn<by_tail_call> go_on_with(std::coroutine_handle<> coroutine) noexcept {
    if constexpr (by_tail_call) {
      return coroutine;
    } else {
      next_ = coroutine;
    }
  }

  /// Runs forks, from `first` on, until this strand has nothing more to do.
  void run(std::coroutine_handle<> first) noexcept {
    for (next_ = first; next_;) std::exchange(next_, nullptr).resume();
  }

 private:
  Header* task_ = nullptr;
  Deque* deque_ = nullptr;
  std::coroutine_handle<> next_;
  base::Atomic<bool> closed_{false};
  Sleepers sleepers_{};
};

}  // namespace taskbench::rt::task
