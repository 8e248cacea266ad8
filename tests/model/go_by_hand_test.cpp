// Machines and processors of `go`, with the test in the monitor's place: it takes the processor of
// a machine that blocks, and hands it on when it likes. The monitor itself never looks, as no wait
// times out.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "runtime/park/parker.hpp"
#include "runtime/runtime.hpp"
#include "runtime/scheduler/go/go.hpp"
#include "runtime/scheduler/lease.hpp"
#include "tests/model/calls.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// The engine made last in this execution.
go::Go* by_hand = nullptr;

base::Ref<scheduler::Engine> make_by_hand(RuntimeOptions options) {
  base::Ref<scheduler::Engine> engine = go::Go::make(std::move(options));
  by_hand = static_cast<go::Go*>(engine.get());
  return engine;
}

constexpr SchedulerInfo kByHand{.name = "go", .summary = "", .make = make_by_hand};

Runtime::Builder go_by_hand(unsigned processors) {
  return Runtime::Builder{}.scheduler(kByHand).workers(processors);
}

/// At most this many preemptions, and this many threads including the body's.
mc::Options of_threads(int threads, int preemptions) {
  return {.preemptions = preemptions, .weak_failures = 0, .stale = 0, .threads = threads};
}

/// Only at night as many preemptions as it takes to find the fault that the model is for, as it
/// then takes minutes; otherwise one less.
mc::Options all_at_night(int threads, int preemptions) {
  const bool is_night = std::getenv("TASKBENCH_COMPARED_MODELS") != nullptr;
  return of_threads(threads, is_night ? preemptions : preemptions - 1);
}

/// Takes the processor of the machine that is in a blocking section.
go::Processor& retake() {
  for (std::uint32_t i = 0; i < by_hand->processor_count(); ++i) {
    go::Processor& own = by_hand->processor(i);
    const std::uint32_t seen = own.lease.look();
    if (scheduler::Lease::is_blocking(seen) && own.lease.retake(seen)) return own;
  }
  mc::fail("no machine blocks");
}

/// Blocks until `end` was called, then keeps the processor it gets back until `last` was called.
Task<int> blocks_and_comes_back(Calls& begun, Calls& end, Calls& last) {
  block_in_place([&] {
    begun.call();
    end.await();
  });
  last.await();
  co_return 1;
}

void require_end(Runtime& runtime, JoinHandle<int>& handle) {
  const int got =
      runtime.block_on([](JoinHandle<int>& own) -> Task<int> { co_return co_await own; }(handle));
  mc::require(got == 1, "it has ended");
}

/// Waits until no machine holds a processor.
void await_idleness() {
  while (!by_hand->idle.all_asleep()) base::yield_thread();
}

// The body has counted the machine as searching, which the machine does not know; it may not
// search.
TEST(GoByHandModel, a_machine_that_stops_without_a_search_records_the_end_of_none) {
  holds(
      [] {
        Runtime runtime = go_by_hand(1).trace(64).build();
        await_idleness();
        const std::uint32_t index =
            by_hand->idle.worker_to_notify(work_stealing::Idle::Pusher::outside);
        mc::require(index == 0, "the only one is idle");
        by_hand->assign(by_hand->processor(index), false);
        await_idleness();
        runtime.shutdown();
        const Trace trace = runtime.trace();
        bool searches = false;
        int stops = 0;
        for (const TraceEvent& event : trace.workers[0].events) {
          if (event.kind == TraceEventKind::park) ++stops;
          mc::require(searches || event.kind != TraceEventKind::search_end, "a search has begun");
          if (event.kind == TraceEventKind::search_start) searches = true;
          if (event.kind == TraceEventKind::search_end) searches = false;
        }
        mc::require(stops >= 2, "before, and without a search");
      },
      of_threads(-1, 0));
}

// The machine sees another waiting to continue, but somebody else gives that one a processor before
// the machine can give its own. It then keeps its own, and runs what the other waits for.
TEST(GoByHandModel, a_machine_keeps_its_processor_if_who_came_back_was_just_given_another) {
  holds(
      [] {
        Calls begun(1);
        Calls end(1);
        Calls last(1);
        Runtime runtime = go_by_hand(2).build();
        JoinHandle<int> blocked = runtime.spawn(blocks_and_comes_back(begun, end, last));
        begun.await();
        go::Processor& own = retake();
        runtime.spawn(makes_a_call(last)).detach();
        end.call();
        base::Thread([&] { by_hand->assign(own, false); }).join();
        require_end(runtime, blocked);
      },
      all_at_night(5, 1));
}

// A caller that finds no thread for the processor puts it among the idle ones. The returning
// machine takes it from there, and must still be seen waiting.
TEST(GoByHandModel, a_machine_that_comes_back_takes_the_processor_that_was_just_put_down_for_it) {
  holds(
      [] {
        Calls begun(1);
        Calls end(1);
        Calls last(1);
        Runtime runtime = go_by_hand(1).build();
        JoinHandle<int> blocked = runtime.spawn(blocks_and_comes_back(begun, end, last));
        begun.await();
        go::Processor& own = retake();
        end.call();
        by_hand->assign(own, false);
        last.call();
        require_end(runtime, blocked);
      },
      of_threads(3, 2));
}

// The machine looked before the task was queued. It does not look again as it falls asleep, because
// the other processor is searching: its holder, who then gets no thread for it, must find the
// machine.
TEST(GoByHandModel, a_machine_that_falls_asleep_is_found_by_who_gets_no_thread_for_a_processor) {
  holds(
      [] {
        Calls begun(1);
        Calls end(1);
        Runtime runtime = go_by_hand(2).build();
        JoinHandle<int> blocked = runtime.spawn(calls_and_blocks_until(begun, end));
        begun.await();
        by_hand->release(retake(), false);
        runtime.spawn(makes_a_call(end)).detach();
        require_end(runtime, blocked);
      },
      all_at_night(4, 2));
}

// The end of the engine wakes the machine before there is a processor for it: it looks what it was
// given while another thread gives it one.
TEST(GoByHandModel, a_machine_that_is_woken_by_the_end_of_the_engine_waits_for_a_processor) {
  holds(
      [] {
        Calls begun(1);
        Calls end(1);
        Runtime runtime = go_by_hand(1).build();
        const JoinHandle<int> blocked = runtime.spawn(calls_and_blocks_until(begun, end));
        begun.await();
        go::Processor& own = retake();
        end.call();
        base::Thread([&] {
          by_hand->close();
          by_hand->assign(own, false);
        }).join();
        runtime.shutdown();
        mc::require(blocked.is_finished(), "it has ended");
      },
      of_threads(4, 1));
}

TEST(GoByHandModel, a_processor_that_is_released_while_there_is_work_is_recorded_as_woken) {
  holds(
      [] {
        Calls begun(1);
        Calls end(1);
        Runtime runtime = go_by_hand(1).trace(64).build();
        JoinHandle<int> blocked = runtime.spawn(calls_and_blocks_until(begun, end));
        begun.await();
        runtime.spawn(makes_a_call(end)).detach();
        by_hand->release(retake(), false);
        require_end(runtime, blocked);
        runtime.shutdown();
        const Trace trace = runtime.trace();
        bool is_idle = false;
        for (const TraceEvent& event : trace.workers[0].events) {
          mc::require(!is_idle || event.kind == TraceEventKind::unpark, "it sleeps");
          is_idle = event.kind == TraceEventKind::park;
        }
      },
      of_threads(-1, 0));
}

}  // namespace
}  // namespace taskbench::rt::model
