// The threads for calls that block: they fall idle, are used again, end, and are waited for.
#include <gtest/gtest.h>

#include "runtime/blocking/pool.hpp"
#include "runtime/blocking/spawn_blocking.hpp"
#include "runtime/driver/driver.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// A runtime that is nothing but its threads for calls that block.
class Owner final : public task::Spawner {
 public:
  explicit Owner(std::uint32_t max_threads)
      : pool(*this, {.max_threads = max_threads, .idle_timeout = {}, .thread_name = ""}) {}

  void schedule(task::Header*) noexcept override {}
  void spawn(task::Header*) noexcept override {}
  void spawn_blocking(task::Header* call) override { pool.run(call); }
  void run_root(task::Header*) noexcept override {}
  driver::Driver& driver() noexcept override { return *driver_; }
  driver::Wheel& timers() noexcept override { return driver_->outside_wheel(); }

  blocking::Pool pool;

 private:
  const base::Ref<driver::Driver> driver_{new driver::Driver(0)};
};

void end(Owner& owner) {
  owner.pool.close();
  mc::require(owner.pool.join(base::Clock::time_point::max()), "all have ended");
}

TEST(BlockingPoolModel, a_thread_that_tires_of_waiting_misses_no_call) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(1));
        base::Cell<int> runs{0};
        park::Parker parker;
        const auto run = [&] {
          runs.set(runs.get() + 1);
          parker.unpark();
        };
        for (int i = 0; i < 2; ++i) {
          blocking::spawn_on(*owner, run).detach();
          parker.park();
        }
        end(*owner);
        mc::require(runs.get() == 2, "each once");
      },
      {.preemptions = 2, .weak_failures = 0, .timeouts = true});
}

TEST(BlockingPoolModel, a_call_against_the_shutdown_is_run_or_cancelled) {
  holds(
      [] {
        const base::Ref<Owner> owner(new Owner(2));
        int ran = 0;
        base::Thread other([&] {
          const JoinHandle<void> handle = blocking::spawn_on(*owner, [&ran] { ++ran; });
          end(*owner);
          mc::require(handle.is_finished(), "run or cancelled");
        });
        owner->pool.close();
        other.join();
        mc::sometimes("run", ran == 1);
        mc::sometimes("cancelled", ran == 0);
      },
      {.preemptions = 2, .weak_failures = 0, .timeouts = true});
}

TEST(BlockingPoolModel, threads_that_were_left_alone_end_the_runtime) {
  holds(
      [] {
        park::Parker parker;
        {
          const base::Ref<Owner> owner(new Owner(1));
          blocking::spawn_on(*owner, [&parker] { parker.unpark(); }).detach();
          parker.park();
          owner->pool.close();
          if (!owner->pool.join(base::Clock::time_point::min())) owner->pool.detach();
        }
      },
      {.preemptions = 2, .weak_failures = 0, .timeouts = true});
}

}  // namespace
}  // namespace taskbench::rt::model
