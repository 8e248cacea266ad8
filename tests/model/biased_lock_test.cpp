// BiasedLock: two threads are never inside at once, whether its gate is open, ajar or shut.
#include "runtime/base/biased_lock.hpp"

#include <gtest/gtest.h>

#include "runtime/base/cell.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// Counts in a plain cell: two threads inside at once are a data race or lose a count.
class Counted {
 public:
  void owner(int times) {
    for (int i = 0; i < times; ++i) {
      lock_.owner_enter();
      add_one();
      lock_.owner_leave();
    }
  }
  /// Returns how often the visitor got inside.
  int visitor(int times) {
    int entered = 0;
    for (int i = 0; i < times; ++i) {
      if (!lock_.visitor_try_enter()) continue;
      add_one();
      lock_.visitor_leave();
      ++entered;
    }
    return entered;
  }
  void visitor_that_waits(int times) {
    for (int i = 0; i < times; ++i) {
      lock_.visitor_enter();
      add_one();
      lock_.visitor_leave();
    }
  }
  [[nodiscard]] int count() const { return count_.get(); }

 private:
  void add_one() { count_.set(count_.get() + 1); }

  base::BiasedLock lock_;
  base::Cell<int> count_{0};
};

TEST(BiasedLockModel, an_owner_and_a_visitor_that_comes_again) {
  holds([] {
    Counted counted;
    int visits = 0;
    base::Thread visitor([&] { visits = counted.visitor(2); });
    counted.owner(3);
    visitor.join();
    mc::sometimes("both visits succeed", visits == 2);
    mc::sometimes("none does", visits == 0);
    mc::require(counted.count() == 3 + visits, "never two inside");
  });
}

TEST(BiasedLockModel, an_owner_and_a_visitor_while_the_gate_is_ajar) {
  holds([] {
    Counted counted;
    int visits = counted.visitor(1);
    base::Thread visitor([&] { visits += counted.visitor(1); });
    counted.owner(3);
    visitor.join();
    mc::sometimes("both visits succeed", visits == 2);
    mc::require(counted.count() == 3 + visits, "never two inside");
  });
}

TEST(BiasedLockModel, an_owner_and_two_visitors) {
  holds([] {
    Counted counted;
    int first = 0;
    int second = 0;
    base::Thread one([&] { first = counted.visitor(1); });
    base::Thread other([&] { second = counted.visitor(1); });
    counted.owner(2);
    one.join();
    other.join();
    mc::sometimes("both visit", first + second == 2);
    mc::require(counted.count() == 2 + first + second, "never two inside");
  });
}

TEST(BiasedLockModel, an_owner_and_a_visitor_that_waits) {
  holds([] {
    Counted counted;
    base::Thread visitor([&] { counted.visitor_that_waits(2); });
    counted.owner(2);
    visitor.join();
    mc::require(counted.count() == 4, "never two inside");
  });
}

TEST(BiasedLockModel, an_owner_a_visitor_that_waits_and_one_that_does_not) {
  holds([] {
    Counted counted;
    int visits = 0;
    base::Thread one([&] { counted.visitor_that_waits(1); });
    base::Thread other([&] { visits = counted.visitor(1); });
    counted.owner(1);
    one.join();
    other.join();
    mc::sometimes("both visit", visits == 1);
    mc::require(counted.count() == 2 + visits, "never two inside");
  });
}

TEST(BiasedLockModel, two_visitors_that_wait) {
  holds([] {
    Counted counted;
    base::Thread one([&] { counted.visitor_that_waits(1); });
    base::Thread other([&] { counted.visitor_that_waits(1); });
    one.join();
    other.join();
    mc::require(counted.count() == 2, "never two inside");
  });
}

}  // namespace
}  // namespace taskbench::rt::model
