// A bounded channel of task references, and a loop that receives them: the executor that fits on
// one page.
//
// What it is. Runnable tasks are messages. A spawner sends each new task into a bounded channel;
// one thread receives them in order and polls each; and waking a task sends it once more. That is
// all: the executor has the receiving end, every spawner a sending one, and a task is a future with
// a way to send itself.
//
// Who used it. It is the example of "Asynchronous Programming in Rust" (the chapter "Applied: Build
// an Executor"), from which most people have learned what an executor is, and the shape of many
// small ones. Its channel is std::sync::mpsc::sync_channel(10_000).
//
// Where its time goes. Every spawn and every wake takes the channel's mutex, and so does every
// poll; a send into an empty channel wakes its receiver, which costs a system call. A wake clones
// the counted reference to the task, and the receiver drops it after the poll: two locked
// instructions on a line that both cores want. All tasks run on one thread, however many cores
// there are. And the channel is bounded: a thread that sends into a full one has to wait.
//
// What replaced it. Nothing, as it was never meant to last: the same book names real executors,
// which queue the tasks themselves instead of references to them (current_thread), and on many
// threads.
//
// Where this differs from the example. A reference is sent only by the wake that finds its task
// idle (task/state.hpp), where the example may have the same task in the channel several times; the
// future has no mutex of its own, and no second allocation. And a thread that runs tasks never
// waits for room. In the example it would wait for ever when a task fills the channel that only its
// own thread empties, or when two executors fill each other's; here its messages queue up behind
// the channel.
//
// Threads: push by any; the rest by the receiver's.
//
// Invariants
//   X1  ring_, first_, count_, beyond_, receiver_ and senders_ are guarded by mutex_.
//   X2  Tasks in beyond_ are younger than those in ring_, and there are none unless ring_ is full:
//       the order is that of the sends.
//   X3  A task in the channel has a counted reference, which is dropped when it is taken out.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/park/condition.hpp"
#include "runtime/queue/fifo.hpp"
#include "runtime/scheduler/thread_pool.hpp"

namespace taskbench::rt::scheduler {

class Channel final : public ThreadPool {
 public:
  [[nodiscard]] static base::Ref<Engine> make(RuntimeOptions options) {
    return start(base::Ref<Channel>(new Channel(std::move(options))));
  }

 private:
  /// A thread that waits for room.
  struct Sender {
    park::Parker parker;
    Sender* next_waiting = nullptr;
  };

  explicit Channel(RuntimeOptions options);

  void push(task::Header* task, Worker* from) noexcept override;
  void run(Worker& worker) noexcept override;
  [[nodiscard]] task::Header* pop_left_over() noexcept override;
  void release_waiting() noexcept override;

  void send(task::Header* task, Worker* from) noexcept;
  /// Takes the next task, and waits while there is none. nullptr: the engine is closed.
  task::Header* receive(Worker& worker) noexcept;
  task::Header* take() noexcept TASKBENCH_REQUIRES(mutex_);  // X1

  base::Mutex mutex_;
  std::vector<task::Header*> ring_ TASKBENCH_GUARDED_BY(mutex_);
  std::size_t first_ TASKBENCH_GUARDED_BY(mutex_) = 0;
  std::size_t count_ TASKBENCH_GUARDED_BY(mutex_) = 0;  // in ring_
  queue::Fifo<task::Header> beyond_ TASKBENCH_GUARDED_BY(mutex_);
  park::Condition<Worker> receiver_ TASKBENCH_GUARDED_BY(mutex_);
  park::Condition<Sender> senders_ TASKBENCH_GUARDED_BY(mutex_);
};

}  // namespace taskbench::rt::scheduler
