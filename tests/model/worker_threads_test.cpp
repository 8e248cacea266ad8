// The threads of an abandoned engine are left alone, including those added then, and the last one
// ends the engine. A thread that the system refuses is not waited for, even at the start.
#include "runtime/scheduler/worker_threads.hpp"

#include <gtest/gtest.h>

#include <system_error>
#include <utility>

#include "runtime/park/parker.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

RuntimeOptions two_workers() {
  RuntimeOptions options;
  options.workers = 2;
  return options;
}

/// Whether the system gives as many threads as the engine wants.
enum class System : bool { refuses, gives };

/// An engine without tasks. Of its two workers, one leaves at once and the other adds a third
/// thread when it may.
class AddsAThread final : public scheduler::Engine, private scheduler::WorkerThreads::Work {
 public:
  AddsAThread(System system, park::Parker& may_add, park::Parker& has_drained)
      : Engine(two_workers()), system_(system), may_add_(may_add), drained_(has_drained) {}

  void start() { threads_.start(*this, *this, options_); }

  void close() noexcept override { may_add_.unpark(); }
  [[nodiscard]] bool join(Clock::time_point deadline) noexcept override {
    return threads_.join(deadline);
  }
  void detach() noexcept override { threads_.detach(); }
  [[nodiscard]] bool has_ended() noexcept override { return threads_.has_ended(); }

  void schedule(task::Header*) noexcept override {}
  void spawn(task::Header*) noexcept override {}
  void run_root(task::Header*) noexcept override {}
  [[nodiscard]] driver::Wheel& timers() noexcept override { return driver().outside_wheel(); }
  [[nodiscard]] RuntimeStats stats() const override { return {}; }
  [[nodiscard]] trace::Recording& recording() noexcept override { return recording_; }

 private:
  void run_worker(std::uint32_t index) noexcept override {
    if (index != 0) return;
    may_add_.park();
    System system = System::gives;
    try {
      threads_.add(*this, *this, options_, 2);
    } catch (const std::system_error&) {
      system = System::refuses;
    }
    mc::require(system == system_, "the third thread is given, or refused");
  }
  void drain() noexcept override {
    mc::require(!std::exchange(has_drained_, true), "once");
    drained_.unpark();
  }

  const RuntimeOptions options_ = two_workers();
  const System system_;
  trace::Recording recording_{0, 0};
  park::Parker& may_add_;
  park::Parker& drained_;
  bool has_drained_ = false;
  scheduler::WorkerThreads threads_;
};

constexpr mc::Options kTwoPreemptions{.preemptions = 2, .weak_failures = 0, .stale = 0};

void give_up(System system) {
  park::Parker may_add;
  park::Parker drained;
  {
    const base::Ref<AddsAThread> engine(new AddsAThread(system, may_add, drained));
    engine->start();
    mc::require(!engine->join(base::Clock::time_point::min()), "one of them waits");
    engine->detach();
    may_add.unpark();
  }
  drained.park();
}

TEST(WorkerThreadsModel, a_thread_may_be_added_when_they_were_left_to_themselves) {
  holds([] { give_up(System::gives); }, kTwoPreemptions);
}

TEST(WorkerThreadsModel, a_thread_that_the_system_does_not_give_is_not_waited_for) {
  mc::Options options = kTwoPreemptions;
  options.threads = 3;
  holds([] { give_up(System::refuses); }, options);
}

void wait_for_all(System system) {
  park::Parker may_add;
  park::Parker drained;
  const base::Ref<AddsAThread> engine(new AddsAThread(system, may_add, drained));
  engine->start();
  may_add.unpark();
  mc::require(engine->join(base::Clock::time_point::max()), "in the end");
  mc::require(engine->has_ended() && drained.try_park(), "and the last one has drained");
}

TEST(WorkerThreadsModel, are_joined_once_all_have_left) {
  holds([] { wait_for_all(System::gives); }, kTwoPreemptions);
}

TEST(WorkerThreadsModel, are_joined_but_for_one_that_the_system_does_not_give) {
  mc::Options options = kTwoPreemptions;
  options.threads = 3;
  holds([] { wait_for_all(System::refuses); }, options);
}

TEST(WorkerThreadsModel, are_joined_if_one_adds_another_while_the_start_fails) {
  mc::Options options = kTwoPreemptions;
  options.threads = 2;
  holds(
      [] {
        park::Parker may_add;
        park::Parker drained;
        const base::Ref<AddsAThread> engine(new AddsAThread(System::refuses, may_add, drained));
        bool started = true;
        try {
          engine->start();
        } catch (const std::system_error&) {
          started = false;
        }
        mc::require(!started && drained.try_park(), "those that were started have left");
      },
      options);
}

TEST(WorkerThreadsModel, have_not_ended_before_the_last_one_has_drained) {
  holds(
      [] {
        park::Parker may_add;
        park::Parker drained;
        const base::Ref<AddsAThread> engine(new AddsAThread(System::gives, may_add, drained));
        engine->start();
        may_add.unpark();
        const bool has_ended = engine->has_ended();
        mc::require(!has_ended || drained.try_park(), "it has drained");
        mc::sometimes("ended", has_ended);
        mc::require(engine->join(base::Clock::time_point::max()), "in the end");
      },
      kTwoPreemptions);
}

}  // namespace
}  // namespace taskbench::rt::model
