// The list of a runtime's live tasks, shared by the worker that owns a shard and by other threads:
// every task is removed exactly once, and nobody meets a half-updated list.
#include "runtime/task/owned_tasks.hpp"

#include <gtest/gtest.h>

#include "runtime/base/biased_lock.hpp"
#include "runtime/task/poll_fn.hpp"
#include "tests/model/on_a_thread.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

using Owned = task::OwnedTasksUnder<base::BiasedLock>;
using Side = Owned::Side;

/// A task that may be in the list.
class Listed {
 public:
  Listed() : header_(nothing().release_for_spawn(&thread_)) {}
  ~Listed() {
    task::join_drop(header_);
    task::cancel(header_);
  }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;
  [[nodiscard]] task::Header* header() const { return header_; }

 private:
  static Task<> nothing() { co_return; }

  OnAThread thread_;
  task::Header* const header_;
};

TEST(OwnedTasksModel, the_owner_of_a_shard_against_a_worker_on_which_one_of_its_tasks_ends) {
  holds([] {
    Listed stays;
    Listed leaves;
    Listed comes;
    Owned owned(1);
    owned.insert(stays.header(), 0, Side::owner);
    owned.insert(leaves.header(), 0, Side::owner);
    base::Thread other([&] { owned.remove(leaves.header(), Side::visitor); });
    owned.insert(comes.header(), 0, Side::owner);
    owned.remove(stays.header(), Side::owner);
    other.join();
    mc::require(!owned.empty(), "one is left");
    owned.remove(comes.header(), Side::owner);
    mc::require(owned.empty(), "each was taken out");
  });
}

TEST(OwnedTasksModel, two_visitors_of_a_shard_both_come_in) {
  holds([] {
    Listed one;
    Listed another;
    Owned owned(1);
    owned.insert(one.header(), 0, Side::owner);
    base::Thread other([&] { owned.remove(one.header(), Side::visitor); });
    owned.insert(another.header(), 0, Side::visitor);
    other.join();
    owned.remove(another.header(), Side::owner);
    mc::require(owned.empty(), "each was taken out");
  });
}

}  // namespace
}  // namespace taskbench::rt::model
