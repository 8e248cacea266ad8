// Exceptions that ended a task and that nobody takes: which are reported, and how.
#include <mutex>
#include <stdexcept>
#include <string>

#include "runtime/sync/join_set.hpp"
#include "tests/runtime/allocations.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

/// What the hook was called with.
class Reports {
 public:
  void add(const std::exception_ptr& exception) {
    const std::lock_guard lock(mutex_);
    try {
      std::rethrow_exception(exception);
    } catch (const std::exception& failure) {
      texts_ += failure.what();
    } catch (...) {
      texts_ += "?";
    }
  }
  [[nodiscard]] std::string texts() {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::string texts_;
};

Task<int> fails(const char* what) {
  co_await yield_now();
  throw std::runtime_error(what);
}

Task<int> fails_with(int number) {
  co_await yield_now();
  throw number;
}

class Unhandled : public OnEveryScheduler {
 protected:
  Runtime build_reporting() {
    return builder(GetParam())
        .on_unhandled_exception([this](const std::exception_ptr& e) { reports_.add(e); })
        .build();
  }
  Reports reports_;
};

TEST_P(Unhandled, of_a_detached_task_is_reported) {
  Runtime runtime = build_reporting();
  runtime.spawn(fails("a")).detach();
  runtime.block_on(until([&] { return !reports_.texts().empty(); }));
  EXPECT_EQ(reports_.texts(), "a");
}

TEST_P(Unhandled, of_a_task_whose_handle_goes_after_its_end_is_reported) {
  Runtime runtime = build_reporting();
  JoinHandle<int> handle = runtime.spawn(fails("b"));
  runtime.block_on(until([&] { return handle.is_finished(); }));
  EXPECT_EQ(reports_.texts(), "");
  handle.detach();
  EXPECT_EQ(reports_.texts(), "b");
}

TEST_P(Unhandled, is_reported_also_when_the_handle_outlives_the_runtime) {
  std::optional<Runtime> runtime(build_reporting());
  JoinHandle<int> handle = runtime->spawn(fails("c"));
  runtime->block_on(until([&] { return handle.is_finished(); }));
  runtime.reset();
  handle.detach();
  EXPECT_EQ(reports_.texts(), "c");
}

TEST_P(Unhandled, of_a_blocking_call_and_of_a_member_of_a_join_set_is_reported) {
  Runtime runtime = build_reporting();
  runtime.spawn_blocking([] { throw std::runtime_error("d"); }).detach();
  runtime.block_on(until([&] { return reports_.texts() == "d"; }));
  {
    sync::JoinSet<int> set;
    const AbortHandle member = set.spawn_on(runtime, fails("e"));
    runtime.block_on(until([&] { return member.is_finished(); }));
  }
  EXPECT_EQ(reports_.texts(), "de");
}

TEST_P(Unhandled, leaves_out_what_was_taken_or_aborted) {
  Runtime runtime = build_reporting();
  EXPECT_THROW(runtime.block_on(fails("root")), std::runtime_error);
  EXPECT_THROW(runtime.block_on(runtime.spawn(fails("joined"))), std::runtime_error);
  sync::JoinSet<int> set;
  set.spawn_on(runtime, fails("member"));
  EXPECT_TRUE(runtime.block_on(set.join_next())->failure());

  JoinHandle<void> waiting = runtime.spawn(yield_forever());
  const auto awaits = [](JoinHandle<void> handle) -> Task<> { co_await handle; };
  const AbortHandle aborted = waiting.abort_handle();
  JoinHandle<void> awaiting = runtime.spawn(awaits(std::move(waiting)));
  runtime.block_on(yield_times(2));
  aborted.abort();
  runtime.block_on(until([&] { return awaiting.is_finished(); }));
  awaiting.detach();
  runtime.spawn(yield_forever()).detach();
  runtime.shutdown();
  EXPECT_EQ(reports_.texts(), "");
}

TEST_P(Unhandled, is_a_line_on_stderr_by_default) {
  ::testing::internal::CaptureStderr();
  {
    Runtime runtime = build_runtime();
    JoinHandle<int> handle = runtime.spawn(fails("of two\nlines"));
    runtime.block_on(until([&] { return handle.is_finished(); }));
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "taskbench runtime: an exception ended a task that nobody awaits: "
            "std::runtime_error: of two lines\n");
}

TEST_P(Unhandled, is_on_stderr_by_its_type_if_it_is_no_std_exception) {
  ::testing::internal::CaptureStderr();
  {
    Runtime runtime = build_runtime();
    JoinHandle<int> handle = runtime.spawn(fails_with(7));
    runtime.block_on(until([&] { return handle.is_finished(); }));
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "taskbench runtime: an exception ended a task that nobody awaits: int\n");
}

TEST_P(Unhandled, is_on_stderr_as_it_is_if_there_is_no_memory_for_the_line) {
  ::testing::internal::CaptureStderr();
  {
    Runtime runtime = build_runtime();
    JoinHandle<int> handle = runtime.spawn(fails("a text that no string holds without memory"));
    runtime.block_on(until([&] { return handle.is_finished(); }));
    const NoMemory no_memory;
    handle.detach();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "taskbench runtime: an exception ended a task that nobody awaits: "
            "std::runtime_error: a text that no string holds without memory\n");
}

TEST_P(Unhandled, is_not_on_stderr_where_it_is_reported) {
  ::testing::internal::CaptureStderr();
  {
    Runtime runtime = build_reporting();
    JoinHandle<int> known = runtime.spawn(fails("f"));
    JoinHandle<int> unknown = runtime.spawn(fails_with(7));
    runtime.block_on(until([&] { return known.is_finished() && unknown.is_finished(); }));
    known.detach();
    unknown.detach();
  }
  EXPECT_EQ(reports_.texts(), "f?");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TASKBENCH_ON_EVERY_SCHEDULER(Unhandled);

}  // namespace
}  // namespace taskbench::rt
