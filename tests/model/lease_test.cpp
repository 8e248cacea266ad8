// What a thread leaves behind in a blocking section is retaken or given back, and no lasting
// section is overlooked.
#include "runtime/scheduler/lease.hpp"

#include <gtest/gtest.h>

#include "runtime/park/parker.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

TEST(LeaseModel, a_processor_has_one_holder_after_each_of_two_blocking_sections) {
  holds([] {
    scheduler::Lease lease;
    base::Cell<int> processor{0};
    const auto use = [&] { processor.set(processor.get() + 1); };
    bool retaken = false;
    base::Thread monitor([&] {
      const std::uint32_t seen = lease.look();
      if (!scheduler::Lease::is_blocking(seen) || !lease.retake(seen)) return;
      retaken = true;
      use();
    });
    int sections = 0;
    bool holds_it = true;
    for (; holds_it && sections < 2; ++sections) {
      use();
      holds_it = lease.end_blocking(lease.begin_blocking());
    }
    if (holds_it) use();
    monitor.join();
    mc::require(holds_it != retaken, "one holder");
    mc::sometimes("lost in the first", !holds_it && sections == 1);
    mc::sometimes("lost in the second", !holds_it && sections == 2);
    mc::sometimes("kept", holds_it);
  });
}

/// Two threads block until what they hold has been retaken. The watcher is called when nobody
/// watches; it looks at both, and leaves once it has seen nothing.
TEST(WatchModel, a_section_that_lasts_is_retaken_though_the_watcher_is_about_to_leave) {
  holds(
      [] {
        scheduler::Watch watch;
        scheduler::Lease leases[2];
        base::Cell<int> held[2];
        park::Parker watcher;
        park::Parker blocked[2];
        const auto block = [&](int i) {
          held[i].set(1);
          static_cast<void>(leases[i].begin_blocking());
          if (watch.is_wanted()) watcher.unpark();
          blocked[i].park();
        };
        base::Thread first([&] { block(0); });
        base::Thread second([&] { block(1); });
        for (int retaken = 0; retaken < 2;) {
          watcher.park();
          watch.leave();
          for (int i = 0; i < 2; ++i) {
            const std::uint32_t seen = leases[i].look();
            if (!scheduler::Lease::is_blocking(seen) || !leases[i].retake(seen)) continue;
            held[i].set(held[i].get() + 1);
            blocked[i].unpark();
            ++retaken;
          }
        }
        first.join();
        second.join();
        mc::require(held[0].get() == 2 && held[1].get() == 2, "each once");
      },
      kNoWeakFailures);
}

}  // namespace
}  // namespace taskbench::rt::model
