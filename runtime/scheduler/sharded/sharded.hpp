// Many processors, each with its own run queue; a task stays where it began.
//
// What it is. Each worker, a shard, is a single-threaded scheduler: a queue that no other thread
// touches and that needs no synchronisation, and an inbox for tasks that other threads send. A task
// is pinned to the shard on which it was spawned; one from outside to the next shard in turn. A
// wake from another shard goes into the inbox of the task's own shard, and wakes that shard if the
// inbox was empty. No worker steals.
//
// Who used it. Seastar, and with it ScyllaDB and Redpanda: a thread and a share of the data for
// each core, and messages between them. nginx's processes and the event loops of Netty and libuv,
// run once a core, are of the same kind, and so is io_uring's runtime glommio. "Making the Tokio
// scheduler 10x faster" calls it the strategy that avoids almost all synchronisation.
//
// Where its time goes. Nowhere, as long as every shard has as much to do as the others: spawning,
// waking and taking a task are a few plain stores each, the fewest of all schedulers here. Uneven
// loads pay the price. Ten tasks that were spawned by one task run on its shard, while the other
// cores sleep, and tasks behind a long poll wait although other workers are idle. A message between
// shards costs a compare-exchange on a line that the other core has, and a system call if that core
// sleeps; two tasks that talk to each other from different shards pay this for each message, and
// nothing ever brings them together.
//
// What replaced it. Nothing, where the author of the program spreads the load. Elsewhere, stealing:
// the same queues, but an idle worker helps itself (work_stealing).
//
// Threads: push by any; the rest by the shard's own.
//
// Invariants
//   H1  A shard's `local` belongs to its thread, and once that has left, to the thread that drains.
//   H2  Header::turn is the shard of the task, from its spawn on.
//   H3  A shard sleeps only after it has found its inbox empty, and every push into an empty inbox
//       gives it a token: so no push is missed.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/queue/fifo.hpp"
#include "runtime/queue/inbox.hpp"
#include "runtime/scheduler/thread_pool.hpp"

namespace taskbench::rt::scheduler {

class Sharded final : public ThreadPool {
 public:
  [[nodiscard]] static base::Ref<Engine> make(RuntimeOptions options) {
    return start(base::Ref<Sharded>(new Sharded(std::move(options))));
  }

 private:
  struct Shard final : Worker {
    using Worker::Worker;

    queue::Fifo<task::Header> local;
    queue::Inbox<task::Header> inbox;
  };

  explicit Sharded(RuntimeOptions options)
      : ThreadPool(std::move(options), std::in_place_type<Shard>) {}

  void begin(task::Header* task, Worker* from) noexcept override;
  void push(task::Header* task, Worker* from) noexcept override;
  void run(Worker& worker) noexcept override;
  [[nodiscard]] task::Header* pop_left_over() noexcept override;

  [[nodiscard]] Shard& shard(std::uint32_t index) const noexcept {
    return static_cast<Shard&>(*workers()[index]);
  }

  base::Atomic<std::uint32_t> next_shard_{0};  // for the next task from outside
};

}  // namespace taskbench::rt::scheduler
