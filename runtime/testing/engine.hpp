// The scheduler of a test: one thread, which draws the next task from the seed among the runnable
// ones, and moves the clock on when there are none.
//
// Time passes only while all tasks are asleep. Then the clock moves to the next of three events: a
// timer, a delivery by the network, or the end of an advance(); this comes last among events of the
// same time, when all tasks are asleep again.
//
// Calls of spawn_blocking are tasks like others, and hold up the test.
//
// Threads: only the one that made it. Each task belongs to the host of the task that spawned it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/scheduler/engine.hpp"
#include "runtime/sync/notify.hpp"
#include "runtime/task/owned_tasks.hpp"
#include "runtime/testing/network.hpp"
#include "runtime/testing/options.hpp"
#include "runtime/testing/stuck.hpp"
#include "runtime/testing/world.hpp"

namespace taskbench::rt::testing {

class Engine final : public scheduler::Engine {
 public:
  /// Puts the calling thread into its simulation first, so that the driver's time begins with the
  /// test's. Throws std::logic_error if the thread is in one already.
  [[nodiscard]] static base::Ref<Engine> make(std::uint64_t seed, const Options& options);
  /// After close(): takes the thread out of the simulation.
  static void leave_simulation() noexcept { driver::enter_simulation(nullptr); }

  void schedule(task::Header* task) noexcept override;
  void spawn(task::Header* task) noexcept override;
  void spawn_blocking(task::Header* call) override { spawn(call); }
  void adopt(task::Header* task) noexcept override { owned_.insert(task, 0); }
  void disown(task::Header* task) noexcept override { owned_.remove(task); }
  [[nodiscard]] driver::Wheel& timers() noexcept override { return driver().wheel(0); }
  void run_root(task::Header* root) noexcept override;
  void close() noexcept override;
  [[nodiscard]] bool join(Clock::time_point) noexcept override { return true; }
  [[nodiscard]] bool has_ended() noexcept override { return is_closed_; }
  [[nodiscard]] RuntimeStats stats() const override { return {}; }
  [[nodiscard]] trace::Recording& recording() noexcept override { return recording_; }

  [[nodiscard]] World& world() noexcept { return surroundings_->world; }
  [[nodiscard]] Network& network() noexcept { return surroundings_->network; }
  /// What ends an advance() by `time`: notified once.
  [[nodiscard]] std::shared_ptr<sync::Notify> stop_after(std::chrono::nanoseconds time);
  /// Aborts all tasks of a host.
  void abort_tasks_of(HostNumber host) noexcept;
  /// After run_root(): throws the failure that ended the root early, if there is one.
  void rethrow_failure();
  /// The same when the root has ended by itself.
  void rethrow_late_failure();

 private:
  /// What a root is scheduled on.
  class Root;

  /// A task that has not ended.
  struct Record {
    std::uint64_t number;
    HostNumber host;
  };
  using Failure = std::shared_ptr<std::exception_ptr>;

  struct Surroundings {
    Surroundings(std::uint64_t seed, const Options& options)
        : world(seed, options.trace), network(world, options) {}

    World world;
    Network network;
  };

  Engine(const RuntimeOptions& common, Failure unhandled, const Options& options,
         std::unique_ptr<Surroundings> surroundings);

  void add(task::Header* task);
  /// Polls a runnable task, drawn from the seed. Returns it if it has ended, or else nullptr.
  [[nodiscard]] task::Header* poll_one() noexcept;
  void do_what_is_due() noexcept;
  /// Moves the clock on, as all tasks are asleep. False: nothing would wake one, and failure_ says
  /// so.
  [[nodiscard]] bool move_on();
  /// Sets failure_ if the test must end.
  void look_for_failure();
  void fail(Stuck::Reason reason, const std::string& what);
  [[nodiscard]] std::string describe_tasks() const;

  const std::unique_ptr<Surroundings> surroundings_;
  World& world_;
  Network& network_;
  const Options options_;
  const Failure unhandled_;  // the first exception that nobody has taken
  std::exception_ptr failure_;
  trace::Recording recording_;
  task::OwnedTasks owned_;
  std::vector<task::Header*> ready_;
  std::unordered_map<task::Header*, Record> tasks_;  // except the one that is being polled
  task::Header* polled_ = nullptr;
  std::uint64_t spawned_ = 0;
  std::uint64_t polls_ = 0;  // since the clock has moved
  std::multimap<World::Time, std::shared_ptr<sync::Notify>> stops_;
  bool is_closed_ = false;
};

}  // namespace taskbench::rt::testing
