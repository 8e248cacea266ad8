// The lock-free parts of `go`: the task next in line, and a machine that comes back while the last
// processor goes idle.
#include <gtest/gtest.h>

#include <utility>

#include "runtime/scheduler/go/processor.hpp"
#include "runtime/scheduler/work_stealing/idle.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// A task that its holder writes to: two holders at once are a data race.
struct Errand {
  base::Cell<int> runs{0};

  void run() { runs.set(runs.get() + 1); }
};

TEST(RunNextModel, each_task_is_run_once_by_its_holder_or_by_a_thief) {
  holds([] {
    go::RunNext<Errand> next;
    Errand errands[2];
    bool stolen = false;
    base::Thread thief([&] {
      Errand* const seen = next.look();
      if (seen == nullptr || !next.steal(seen)) return;
      seen->run();
      stolen = true;
    });
    const auto run = [](Errand* errand) {
      if (errand != nullptr) errand->run();
    };
    for (Errand& errand : errands) {
      errand.runs.set(0);  // published by replace()
      run(next.replace(&errand));
    }
    run(next.take());
    thief.join();
    run(next.take());
    mc::sometimes("stolen", stolen);
    mc::sometimes("not stolen", !stolen);
    for (const Errand& errand : errands) mc::require(errand.runs.get() == 1, "once");
  });
}

TEST(RunNextModel, two_thieves_do_not_get_the_same_task) {
  holds([] {
    go::RunNext<Errand> next;
    Errand errand;
    const auto rob = [&] {
      Errand* const seen = next.look();
      if (seen != nullptr && next.steal(seen)) seen->run();
    };
    base::Thread one(rob);
    base::Thread two(rob);
    errand.runs.set(0);
    mc::require(next.replace(&errand) == nullptr, "it was empty");
    one.join();
    two.join();
    if (Errand* left = next.take()) left->run();
    mc::require(errand.runs.get() == 1, "once");
  });
}

// Invariant G4 of go.hpp.
TEST(ReturningModel, a_machine_that_comes_back_gets_the_processor_that_falls_idle) {
  holds([] {
    work_stealing::Idle idle(1);
    base::Atomic<bool> returns{false};
    int found_by_leaver = 0;
    int found_by_itself = 0;
    base::Thread leaver([&] {
      if (!idle.park(0, false)) return;
      // relaxed: ordered by the fence in park(), as in Go::release
      if (!returns.load(base::relaxed)) return;
      found_by_leaver += static_cast<int>(idle.worker_to_notify_again() == 0);
    });
    // relaxed: ordered by the fence in worker_to_notify(), as in Go::add_returning
    returns.store(true, base::relaxed);
    found_by_itself +=
        static_cast<int>(idle.worker_to_notify(work_stealing::Idle::Pusher::outside) == 0);
    leaver.join();
    mc::sometimes("the leaver sees it", found_by_leaver == 1);
    mc::sometimes("it sees the leaver", found_by_itself == 1);
    mc::require(found_by_leaver + found_by_itself == 1, "neither lost nor given twice");
  });
}

// Invariant G3 of go.hpp.
TEST(RefusedModel, a_machine_that_falls_asleep_is_found_by_who_gets_no_thread_for_a_processor) {
  holds([] {
    work_stealing::Idle idle(2);
    base::Mutex mutex;
    base::Atomic<bool> work{false};
    bool sleeps = false;
    bool goes_on = false;
    const auto give = [&] {
      const base::LockGuard lock(mutex);
      const bool gives = std::exchange(sleeps, false);
      goes_on = goes_on || gives;
      return gives;
    };
    const auto machine_sleeps = [&] {
      const base::LockGuard lock(mutex);
      return sleeps;
    };
    static_cast<void>(idle.park(1, false));  // no thread could be started for it
    base::Thread leaver([&] {
      {
        const base::LockGuard lock(mutex);
        sleeps = true;
      }
      // relaxed: ordered by the fence in park(), as in Go::release
      if (!idle.park(0, false) || !work.load(base::relaxed)) return;
      if (idle.worker_to_notify_again() != work_stealing::Idle::kNobody) (void)give();
    });
    // relaxed: ordered by the fence in worker_to_notify()
    work.store(true, base::relaxed);
    const std::uint32_t index = idle.worker_to_notify(work_stealing::Idle::Pusher::outside);
    if (index != work_stealing::Idle::kNobody && !give() && idle.park(index, true) &&
        machine_sleeps() && idle.worker_to_notify_again() != work_stealing::Idle::kNobody) {
      (void)give();
    }
    leaver.join();
    mc::require(goes_on, "not lost");
  });
}

}  // namespace
}  // namespace taskbench::rt::model
