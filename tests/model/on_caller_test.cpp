// The schedulers that run tasks on the threads that call block_on: which thread drives, which one
// takes its place, and which one destroys the remaining tasks.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/cell.hpp"
#include "runtime/park/parker.hpp"
#include "runtime/runtime.hpp"
#include "runtime/scheduler/engine.hpp"
#include "runtime/task/poll_fn.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// Observes the end of a task.
class Fate {
 public:
  /// Passed to the task as a parameter.
  class Entry {
   public:
    explicit Entry(Fate& fate) : fate_(&fate) {}
    Entry(Entry&& other) noexcept : fate_(std::exchange(other.fate_, nullptr)) {}
    ~Entry() {
      if (fate_ == nullptr) return;
      if (fate_->at_end != nullptr) (void)fate_->at_end->unpark();
      if (fate_->before_end != nullptr) fate_->before_end->park();
      fate_->ends_.set(fate_->ends_.get() + 1);
    }

   private:
    Fate* fate_;
  };

  [[nodiscard]] bool has_ended() const { return ends_.get() == 1; }

  park::Parker* at_end = nullptr;      ///< gets a token from the destructor, unless null
  park::Parker* before_end = nullptr;  ///< awaited by the destructor, unless null

 private:
  base::Cell<int> ends_{0};
};

Task<int> just_one() { co_return 1; }

Task<int> spawns_just_one() { co_return co_await spawn(just_one()); }

Task<int> waits_for_ever(Fate::Entry, park::Parker* left = nullptr) {
  co_return co_await poll_fn([left](PollContext&) -> std::optional<int> {
    if (left != nullptr) (void)left->unpark();
    return {};
  });
}

/// Lets another thread wake a task.
class Call {
 public:
  void call() {
    left_.park();
    std::move(*waker_).wake();
  }
  Task<int> made() {
    co_return co_await poll_fn([this](PollContext& context) -> std::optional<int> {
      if (waker_) return 1;
      waker_ = context.waker();
      (void)left_.unpark();
      return {};
    });
  }

 private:
  std::optional<Waker> waker_;
  park::Parker left_;
};

class OnCallerModel : public ::testing::TestWithParam<std::string_view> {
 protected:
  static Runtime made() { return Runtime::Builder{}.scheduler(GetParam()).workers(1).build(); }
  /// The driver of in_turn polls by the clock for what others have done.
  static mc::Options preempted(int times) {
    const bool naps = GetParam() == "in_turn";
    return {.preemptions = times, .weak_failures = 0, .timeouts = naps, .early = naps ? 1 : -1};
  }
};

TEST_P(OnCallerModel, two_threads_that_block_both_have_their_tasks_run) {
  holds(
      [] {
        Runtime runtime = made();
        base::Thread other(
            [&] { mc::require(runtime.block_on(spawns_just_one()) == 1, "its own"); });
        mc::require(runtime.block_on(spawns_just_one()) == 1, "its own");
        other.join();
      },
      preempted(2));
}

TEST_P(OnCallerModel, a_root_is_woken_by_the_root_of_another_thread) {
  holds(
      [] {
        Runtime runtime = made();
        Call call;
        base::Thread other([&] {
          (void)runtime.block_on([](Call& called) -> Task<int> {
            called.call();
            co_return 1;
          }(call));
        });
        mc::require(runtime.block_on(call.made()) == 1, "it goes on");
        other.join();
      },
      preempted(2));
}

/// Without in_turn: the tester cannot tell apart two threads that poll by the clock, and one of
/// them could look in vain forever.
class TwoDriversModel : public OnCallerModel {};

TEST_P(TwoDriversModel, a_root_is_woken_by_a_task_though_the_driver_goes_on) {
  holds(
      [] {
        Runtime runtime = made();
        Call call;
        base::Thread other([&] {
          (void)runtime.block_on(spawns_just_one());
          call.call();
        });
        mc::require(runtime.block_on(call.made()) == 1, "it goes on");
        other.join();
      },
      preempted(2));
}

TEST_P(OnCallerModel, a_task_is_woken_by_another_thread) {
  holds(
      [] {
        Runtime runtime = made();
        Call call;
        base::Thread other([&] { call.call(); });
        const int got = runtime.block_on(
            [](Call& own) -> Task<int> { co_return co_await spawn(own.made()); }(call));
        mc::require(got == 1, "it goes on");
        other.join();
      },
      preempted(2));
}

TEST_P(OnCallerModel, what_another_thread_spawns_is_run_while_the_driver_sleeps) {
  holds(
      [] {
        Runtime runtime = made();
        Call call;
        base::Thread other([&, handle = runtime.handle()] {
          handle
              .spawn([](Call& called) -> Task<int> {
                called.call();
                co_return 1;
              }(call))
              .detach();
        });
        mc::require(runtime.block_on(call.made()) == 1, "it goes on");
        other.join();
      },
      preempted(2));
}

TEST_P(OnCallerModel, a_spawn_from_another_thread_against_the_shutdown_leaves_nothing) {
  holds(
      [] {
        Fate fate;
        base::Thread other;
        {
          Runtime runtime = made();
          other = base::Thread([&fate, handle = runtime.handle()] {
            handle.spawn(waits_for_ever(Fate::Entry(fate))).detach();
          });
        }
        other.join();
        mc::require(fate.has_ended(), "it is destroyed");
      },
      preempted(2));
}

TEST_P(OnCallerModel, a_shutdown_while_the_driver_leaves_leaves_nothing) {
  holds(
      [] {
        Fate fates[2];
        Runtime runtime = made();
        base::Thread other([&] {
          (void)runtime.block_on([](Fate& own) -> Task<int> {
            spawn(waits_for_ever(Fate::Entry(own))).detach();
            co_return 1;
          }(fates[0]));
        });
        runtime.spawn(waits_for_ever(Fate::Entry(fates[1]))).detach();
        runtime.shutdown();
        other.join();
        for (const Fate& fate : fates) mc::require(fate.has_ended(), "before the runtime ends");
      },
      preempted(2));
}

TEST_P(OnCallerModel, a_shutdown_ends_a_block_on_that_waits_for_a_task) {
  holds(
      [] {
        Fate fate;
        Runtime runtime = made();
        park::Parker left;
        base::Thread other([&] {
          bool ended = false;
          try {
            (void)runtime.block_on([](Fate& own, park::Parker& parker) -> Task<int> {
              co_return co_await spawn(waits_for_ever(Fate::Entry(own), &parker));
            }(fate, left));
          } catch (const JoinError&) {
            ended = true;
          }
          mc::require(ended && fate.has_ended(), "the task is destroyed");
        });
        left.park();
        runtime.shutdown();
        other.join();
      },
      preempted(2));
}

TEST_P(OnCallerModel, a_shutdown_does_not_wait_for_the_root_of_another_thread) {
  holds(
      [] {
        Runtime runtime = made();
        Call call;
        base::Thread other([&] { mc::require(runtime.block_on(call.made()) == 1, "it goes on"); });
        runtime.shutdown();
        runtime.shutdown();
        call.call();
        other.join();
      },
      preempted(2));
}

TEST_P(OnCallerModel, a_block_on_does_not_wait_for_the_shutdown_of_another_thread) {
  holds(
      [] {
        Fate fate;
        park::Parker ends;
        park::Parker may_end;
        fate.at_end = &ends;
        fate.before_end = &may_end;
        Runtime runtime = made();
        runtime.spawn(waits_for_ever(Fate::Entry(fate))).detach();
        (void)runtime.block_on(spawns_just_one());  // so that the task is polled
        base::Thread other([&] {
          ends.park();
          mc::require(runtime.block_on(just_one()) == 1, "it has run");
          (void)may_end.unpark();
        });
        runtime.shutdown();
        mc::require(fate.has_ended(), "it is destroyed");
        other.join();
      },
      preempted(2));
}

TEST_P(OnCallerModel, has_not_ended_while_a_shutdown_is_still_to_destroy_a_task) {
  holds(
      [] {
        Fate fate;
        RuntimeOptions options;
        options.workers = 1;
        const base::Ref<scheduler::Engine> engine = find_scheduler(GetParam())->make(options);
        task::spawn_on(*engine, waits_for_ever(Fate::Entry(fate))).detach();
        base::Thread other([&] {
          engine->close();
          static_cast<void>(engine->join(base::Clock::time_point::max()));
        });
        const bool has_ended = engine->has_ended();
        mc::require(!has_ended || fate.has_ended(), "it is destroyed");
        mc::sometimes("ended", has_ended);
        other.join();
      },
      preempted(2));
}

TEST_P(OnCallerModel, a_shutdown_waits_for_a_wake_on_its_way) {
  holds(
      [] {
        Call call;
        base::Thread other;
        Fate fate;
        {
          Runtime runtime = made();
          runtime
              .spawn([](Call& own, Fate::Entry) -> Task<int> { co_return co_await own.made(); }(
                                                    call, Fate::Entry(fate)))
              .detach();
          (void)runtime.block_on(spawns_just_one());  // so that the task is polled
          other = base::Thread([&] { call.call(); });
        }
        mc::require(fate.has_ended(), "it is destroyed");
        other.join();
      },
      preempted(2));
}

INSTANTIATE_TEST_SUITE_P(Schedulers, OnCallerModel, ::testing::Values("current_thread", "in_turn"),
                         [](const auto& instance) { return std::string(instance.param); });
INSTANTIATE_TEST_SUITE_P(Schedulers, TwoDriversModel, ::testing::Values("current_thread"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace taskbench::rt::model
