// The end of a pool of several workers: each task is destroyed once, wherever it is, by one of the
// pool's threads or by the thread whose spawn was refused (docs/design/scheduler.md).
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "runtime/base/cell.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/runtime.hpp"
#include "runtime/task/poll_fn.hpp"
#include "runtime/task/yield.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// At most `preemptions` preemptions, plus as many as TASKBENCH_DEEPER_MODELS says.
mc::Options shutdowns(int preemptions) {
  const char* deeper = std::getenv("TASKBENCH_DEEPER_MODELS");
  const int more = deeper != nullptr ? std::atoi(deeper) : 0;
  return {.preemptions = preemptions + more, .weak_failures = 0, .stale = 0};
}

struct MayDestroyTag;
/// Whether the calling thread may destroy tasks.
bool& may_destroy() { return base::of_this_thread<bool, MayDestroyTag>(); }

/// Counts the tasks of an execution.
class Account {
 public:
  /// Passed to each task as a parameter.
  class Entry {
   public:
    explicit Entry(Account& account) : account_(&account) {
      // relaxed: only counted
      account.created_.fetch_add(1, base::relaxed);
    }
    Entry(Entry&& other) noexcept : account_(std::exchange(other.account_, nullptr)) {}
    ~Entry() {
      if (account_ == nullptr) return;
      mc::require(may_destroy(), "a thread of the pool destroys it");
      account_->destroyed_.fetch_add(1, base::relaxed);  // relaxed: only counted
    }
    [[nodiscard]] Account& account() const { return *account_; }

   private:
    Account* account_;
  };

  void has_run() { ran_.fetch_add(1, base::relaxed); }  // relaxed: only counted
  enum class Ends : std::uint8_t { by_itself, never };
  /// Called once the pool has ended; `created` is the number of tasks that it may have had.
  void close(int created, Ends ends = Ends::by_itself) const {
    mc::require(created_.load(base::relaxed) <= created, "no more than there are");
    mc::require(created_.load(base::relaxed) == destroyed_.load(base::relaxed), "each once");
    if (ends == Ends::never) return;
    mc::sometimes("all have run", ran_.load(base::relaxed) == created);
    mc::sometimes("not all have run", ran_.load(base::relaxed) < created);
  }

 private:
  base::Atomic<int> created_{0};
  base::Atomic<int> destroyed_{0};
  base::Atomic<int> ran_{0};
};
using Entry = Account::Entry;

Runtime pool(unsigned workers) {
  return Runtime::Builder{}
      .scheduler("work_stealing")
      .workers(workers)
      .global_queue_interval(1)
      .on_thread_start([](unsigned) { may_destroy() = true; })
      .build();
}

Task<int> leaf(Entry entry) {
  entry.account().has_run();
  co_return 0;
}

/// Leaves two tasks, one of them next in line, and itself in the queue.
Task<int> spawns_two_and_yields(Entry entry) {
  for (int i = 0; i < 2; ++i) spawn(leaf(Entry(entry.account()))).detach();
  co_await yield_now();
  entry.account().has_run();
  co_return 0;
}

/// A pool ends while its tasks are in queues, next in line, or in the hands of a thief.
void ends_while_tasks_run(unsigned workers) {
  Account account;
  {
    Runtime runtime = pool(workers);
    runtime.spawn(spawns_two_and_yields(Entry(account))).detach();
  }
  account.close(3);
}

TEST(ShutdownModel, of_two_workers_destroys_each_task_once) {
  holds([] { ends_while_tasks_run(2); }, shutdowns(2));
}

TEST(ShutdownModel, of_three_workers_destroys_each_task_once) {
  holds([] { ends_while_tasks_run(3); }, shutdowns(1));
}

/// The workers are already waiting when several tasks arrive at once.
TEST(ShutdownModel, of_two_workers_destroys_what_is_in_the_injector) {
  holds(
      [] {
        Account account;
        {
          Runtime runtime = pool(2);
          for (int i = 0; i < 3; ++i) runtime.spawn(leaf(Entry(account))).detach();
        }
        account.close(3);
      },
      shutdowns(2));
}

/// Waits to be woken once, and leaves a waker.
Task<int> waits_once(std::optional<Waker>& waker, park::Parker& left, Entry entry) {
  co_await poll_fn([&](PollContext& context) -> std::optional<int> {
    if (waker) return 0;
    waker = context.waker();
    (void)left.unpark();
    return {};
  });
  entry.account().has_run();
  co_return 0;
}

/// Tasks wait, and wake-ups of all of them are under way when the pool ends.
void ends_against_wakes(unsigned workers, int wakes) {
  Account account;
  {
    std::optional<Waker> wakers[2];
    base::Thread waking[2];
    {
      park::Parker left[2];
      Runtime runtime = pool(workers);
      for (int i = 0; i < wakes; ++i) {
        runtime.spawn(waits_once(wakers[i], left[i], Entry(account))).detach();
        left[i].park();
        waking[i] =
            base::Thread([own = std::move(*wakers[i])]() mutable { std::move(own).wake(); });
      }
    }
    for (int i = 0; i < wakes; ++i) waking[i].join();
  }
  account.close(wakes);
}

TEST(ShutdownModel, of_one_worker_waits_for_two_wakes_on_their_way) {
  holds([] { ends_against_wakes(1, 2); }, shutdowns(1));
}

TEST(ShutdownModel, of_two_workers_waits_for_a_wake_on_its_way) {
  holds([] { ends_against_wakes(2, 1); }, shutdowns(1));
}

Task<int> waits_for_ever(park::Parker& left, Entry) {
  (void)left.unpark();
  co_return co_await poll_fn([](PollContext&) -> std::optional<int> { return {}; });
}

// Either worker may have polled them: the list of waiting tasks has a part for each.
TEST(ShutdownModel, of_two_workers_destroys_what_waits_for_ever) {
  holds(
      [] {
        Account account;
        {
          park::Parker left[2];
          Runtime runtime = pool(2);
          for (park::Parker& each : left) {
            runtime.spawn(waits_for_ever(each, Entry(account))).detach();
          }
          for (park::Parker& each : left) each.park();
        }
        account.close(2, Account::Ends::never);
      },
      shutdowns(1));
}

/// Reads `data` when it is destroyed.
Task<int> waits_for_ever_and_reads(const base::Cell<int>& data, park::Parker& left) {
  struct Local {
    const base::Cell<int>& read;
    ~Local() { mc::require(read.get() == 1, "written before the shutdown"); }
  };
  const Local local{data};
  (void)left.unpark();
  co_return co_await poll_fn([](PollContext&) -> std::optional<int> { return {}; });
}

TEST(ShutdownModel, of_one_worker_shows_the_tasks_that_it_destroys_what_was_written_before) {
  holds(
      [] {
        base::Cell<int> data{0};
        park::Parker left;
        Runtime runtime = pool(1);
        runtime.spawn(waits_for_ever_and_reads(data, left)).detach();
        left.park();
        data.set(1);
      },
      shutdowns(2));
}

// The thread whose spawn is refused destroys the task, which no thread of the pool has seen.
TEST(ShutdownModel, of_two_workers_leaves_a_task_that_comes_too_late_to_who_spawned_it) {
  holds(
      [] {
        Account account;
        base::Thread other;
        {
          Runtime runtime = pool(2);
          other = base::Thread([&account, handle = runtime.handle()] {
            may_destroy() = true;
            handle.spawn(leaf(Entry(account))).detach();
            may_destroy() = false;
          });
        }
        other.join();
        account.close(1);
      },
      shutdowns(2));
}

// The system gives one of two threads, which may have run the task that it has spawned itself.
TEST(ShutdownModel, of_a_pool_for_which_there_are_too_few_threads_destroys_what_one_has_spawned) {
  mc::Options options = shutdowns(3);
  options.threads = 2;
  holds(
      [] {
        may_destroy() = true;
        Account account;
        bool refused = false;
        try {
          const Runtime runtime = Runtime::Builder{}
                                      .scheduler("work_stealing")
                                      .workers(2)
                                      .on_thread_start([&](unsigned) {
                                        may_destroy() = true;
                                        spawn(leaf(Entry(account))).detach();
                                      })
                                      .build();
        } catch (const std::system_error&) {
          refused = true;
        }
        may_destroy() = false;
        mc::require(refused, "it says so");
        account.close(1);
      },
      options);
}

}  // namespace
}  // namespace taskbench::rt::model
