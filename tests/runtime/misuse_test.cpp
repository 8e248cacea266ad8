// Mistakes that end the program or throw, with a message that says what was wrong. Mistakes that do
// not compile are in misuse_compile_test.py.
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtime/sync/mutex.hpp"
#include "runtime/sync/notify.hpp"
#include "runtime/sync/oneshot.hpp"
#include "runtime/task/fork.hpp"
#include "runtime/task/join.hpp"
#include "runtime/time/interval.hpp"
#include "tests/runtime/fixtures.hpp"
#include "tests/runtime/hand_polled.hpp"
#include "tests/runtime/sync_support.hpp"
#include "tests/runtime/tasks.hpp"

namespace taskbench::rt {
namespace {

using namespace tests;

template <class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

void expect_begins(const std::string& text, const std::string& begin) {
  EXPECT_EQ(text.substr(0, begin.size()), begin);
}

TEST(MisuseDeathTest, of_a_runtime_or_handle_that_was_moved_from) {
  Runtime runtime = build(kCurrentThread);
  Handle handle = runtime.handle();
  const Runtime taken = std::move(runtime);
  const Handle taken_handle = std::move(handle);
  EXPECT_DEATH(runtime.block_on(nothing()), "a Runtime that was moved from");
  EXPECT_DEATH(runtime.shutdown(), "a Runtime that was moved from");
  EXPECT_DEATH(static_cast<void>(runtime.worker_count()), "a Runtime that was moved from");
  EXPECT_DEATH(handle.spawn(nothing()).detach(), "a Handle that was moved from");
}

TEST(MisuseDeathTest, of_a_join_handle_that_has_given_its_task_away) {
  Runtime runtime = build(kCurrentThread);
  JoinHandle<void> moved = runtime.spawn(nothing());
  JoinHandle<void> taken = std::move(moved);
  JoinHandle<void> detached = runtime.spawn(nothing());
  detached.detach();
  for (const JoinHandle<void>* handle : {&moved, &detached}) {
    EXPECT_DEATH(handle->abort(), "after detach.. or a move");
    EXPECT_DEATH(static_cast<void>(handle->abort_handle()), "after detach.. or a move");
    EXPECT_DEATH(static_cast<void>(handle->is_finished()), "after detach.. or a move");
  }
  runtime.block_on(std::move(taken));
  EXPECT_TRUE(taken.is_finished()) << "its await is over, and nothing is left to abort";
  taken.abort();
}

TEST(MisuseDeathTest, destroying_a_lock_that_is_held) {
  EXPECT_DEATH(
      {
        auto mutex = std::make_unique<sync::Mutex>();
        const auto guard = mutex->try_lock();
        mutex.reset();
      },
      "destroyed while a Permit or Guard held it");
  EXPECT_DEATH(
      {
        auto semaphore = std::make_unique<sync::Semaphore>(5);
        auto permit = *semaphore->try_acquire(4);
        auto one = *permit.split(1);
        auto two = *permit.split(2);
        permit.forget();
        two.merge(std::move(one));
        semaphore.reset();
      },
      "destroyed while a Permit or Guard held it");
}

Task<> awaits_notified(sync::Notify::Notified& notified) { co_await notified; }

Task<> awaits_in_two_branches(sync::Notify& notify) {
  auto notified = notify.notified();
  co_await join(awaits_notified(notified), awaits_notified(notified));
}

// Only one of them would go on, and that one twice.
TEST(MisuseDeathTest, awaiting_one_awaitable_in_two_branches) {
  sync::Notify notify;
  EXPECT_DEATH(HandPolled(awaits_in_two_branches(notify)).poll(),
               "by one coroutine at a time, also in branches");
}

template <class T>
Task<> awaits_in_two_branches_what_is_empty_after_one(T& awaited) {
  co_await join(awaited, awaited);
}

TEST(MisuseDeathTest, awaiting_a_join_handle_in_two_branches) {
  HandPolled awaited(nothing());
  Waiting twice(awaits_in_two_branches_what_is_empty_after_one(awaited.handle()));
  EXPECT_TRUE(awaited.poll());
  EXPECT_DEATH(twice.poll(), "a JoinHandle is awaited by one branch of a task");
}

TEST(MisuseDeathTest, awaiting_a_oneshot_receiver_in_two_branches) {
  auto ends = sync::oneshot::channel<int>();
  Waiting twice(awaits_in_two_branches_what_is_empty_after_one(ends.second));
  EXPECT_TRUE(ends.first.send(7));
  EXPECT_DEATH(twice.poll(), "a oneshot Receiver is awaited by one branch of a task");
}

template <class T>
Task<> awaits_with_an_awaiter_that_is_kept(T& awaited) {
  auto kept = awaited.operator co_await();
  co_await awaited;
  co_await kept;
}

TEST(MisuseDeathTest, awaiting_once_more_with_an_awaiter_from_before) {
  HandPolled awaited(nothing());
  EXPECT_TRUE(awaited.poll());
  EXPECT_DEATH(HandPolled(awaits_with_an_awaiter_that_is_kept(awaited.handle())).poll(),
               "a JoinHandle is awaited once");
  auto ends = sync::oneshot::channel<int>();
  EXPECT_TRUE(ends.first.send(7));
  EXPECT_DEATH(HandPolled(awaits_with_an_awaiter_that_is_kept(ends.second)).poll(),
               "a oneshot receives once");
}

std::vector<Task<>> one_task() {
  std::vector<Task<>> tasks;
  tasks.push_back(nothing());
  return tasks;
}

Task<> awaits_a_join_twice() {
  auto all = join(one_task());
  co_await all;
  co_await all;
}

Task<> awaits_a_select_twice() {
  auto first = select(one_task());
  co_await first;
  co_await first;
}

TEST(MisuseDeathTest, awaiting_a_join_or_select_of_a_vector_twice) {
  EXPECT_DEATH(HandPolled(awaits_a_join_twice()).poll(), "a join or select is awaited once");
  EXPECT_DEATH(HandPolled(awaits_a_select_twice()).poll(), "a join or select is awaited once");
}

// What its branches await belongs to the first task, which may be gone.
TEST(MisuseDeathTest, awaiting_a_join_in_another_task_than_the_one_that_has_begun_it) {
  auto joined = join(yield_forever(), yield_forever());
  HandPolled first(gives_up(joined));
  EXPECT_FALSE(first.poll());
  EXPECT_TRUE(first.poll());
  EXPECT_DEATH(HandPolled(goes_on_with(joined)).poll(), "goes on in no other");
}

// Compilers may warn of the missing co_return.
#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreturn-type"
#endif
Task<int> forgets_to_return(bool forgets) {
  if (!forgets) co_return 1;
}
Fork<int> fork_forgets_to_return(bool forgets) {
  if (!forgets) co_return 1;
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif

TEST(Misuse, a_missing_co_return_is_named) {
  const auto message = [](Task<int> task) {
    return message_of([&] { HandPolled(std::move(task)).finish(); });
  };
  EXPECT_NE(message(forgets_to_return(true)).find("without a co_return"), std::string::npos);
  const auto awaits = []() -> Task<int> { co_return co_await forgets_to_return(true); };
  EXPECT_NE(message(awaits()).find("without a co_return"), std::string::npos);
  EXPECT_EQ(HandPolled(forgets_to_return(false)).finish(), 1);
  const auto forks = [](bool forgets) -> Task<int> {
    co_return co_await fork_forgets_to_return(forgets);
  };
  EXPECT_NE(message(forks(true)).find("without a co_return"), std::string::npos);
  EXPECT_EQ(HandPolled(forks(false)).finish(), 1);
}

TEST(Misuse, more_workers_than_any_machine_has_cpus_are_refused_at_once) {
  EXPECT_THROW((void)Runtime::Builder{}.workers(1'000'000), std::invalid_argument);
  EXPECT_NO_THROW((void)Runtime::Builder{}.workers(4'096));
}

TEST(Misuse, what_needs_a_runtime_is_named) {
  expect_begins(message_of([] { (void)spawn(nothing()); }), "rt::spawn needs a runtime");
  expect_begins(message_of([] { (void)Handle::current(); }), "Handle::current needs a runtime");
  expect_begins(message_of([] { (void)spawn_blocking([] {}); }), "rt::spawn_blocking needs");
  expect_begins(message_of([] { (void)time::interval(1s).tick(); }),
                "rt::time::sleep, timeout and Interval::tick need a runtime");
}

}  // namespace
}  // namespace taskbench::rt
