// Objects that end while another thread makes or uses them, and new ones in their place.
#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "tests/model/mc/check.hpp"
#include "tests/model/mc/primitives.hpp"

namespace mc::testing {
namespace {

void expect_failure(const std::string& words, const std::function<void()>& body) {
  const Result result = check({}, body);
  EXPECT_TRUE(result.failed);
  EXPECT_NE(result.message.find(words), std::string::npos) << result.message;
}

void expect_none(const std::function<void()>& body) {
  const Result result = check({}, body);
  EXPECT_FALSE(result.failed) << result.message << result.events;
  EXPECT_TRUE(result.complete);
}

/// A thread makes an atomic and hands it over; this one deletes it unused.
std::function<void()> deleted_unused(Order store, Order load) {
  return [=] {
    Atomic<Atomic<int>*> place{nullptr};
    Thread other([&] { place.store(new Atomic<int>{0}, store); });
    Atomic<int>* const made = place.load(load);
    delete made;
    other.join();
    if (made == nullptr) delete place.load(relaxed);
  };
}

TEST(Lifetime, of_an_atomic_that_another_thread_is_only_making_does_not_end) {
  expect_failure("data race: thread 0 destroys or frees what thread 1 makes",
                 deleted_unused(relaxed, relaxed));
  expect_failure("data race: thread 0 destroys or frees what thread 1 makes",
                 deleted_unused(release, relaxed));
  expect_none(deleted_unused(release, acquire));
}

/// A thread makes a mutex or a condition and hands it over; this one uses it.
template <class T>
std::function<void()> used_elsewhere(Order store, Order load, void (*use)(T&)) {
  return [=] {
    Atomic<T*> place{nullptr};
    Thread other([&] { place.store(new T, store); });
    if (T* const made = place.load(load)) use(*made);
    other.join();
    delete place.load(relaxed);
  };
}

void lock_it(Mutex& mutex) { const Guard guard(mutex); }

void try_to_lock_it(Mutex& mutex) {
  if (mutex.try_lock()) mutex.unlock();
}

void notify_it(Condition& condition) { condition.notify_one(); }

TEST(Lifetime, of_a_mutex_or_condition_that_another_thread_is_only_making_has_not_begun) {
  for (const Order store : {relaxed, release}) {
    expect_failure("data race: a mutex is used that another thread is only making",
                   used_elsewhere(store, relaxed, lock_it));
    expect_failure("data race: a mutex is used that another thread is only making",
                   used_elsewhere(store, relaxed, try_to_lock_it));
    expect_failure("data race: a condition is used that another thread is only making",
                   used_elsewhere(store, relaxed, notify_it));
  }
  expect_none(used_elsewhere(release, acquire, lock_it));
  expect_none(used_elsewhere(release, acquire, try_to_lock_it));
  expect_none(used_elsewhere(release, acquire, notify_it));
}

TEST(Lifetime, of_a_mutex_that_its_maker_has_unlocked_has_begun_for_who_locks_it_next) {
  expect_none([] {
    Atomic<Mutex*> place{nullptr};
    Thread other([&] {
      auto* const mutex = new Mutex;
      lock_it(*mutex);
      place.store(mutex, relaxed);
    });
    if (Mutex* const made = place.load(relaxed)) lock_it(*made);
    other.join();
    delete place.load(relaxed);
  });
}

TEST(Lifetime, of_a_mutex_ends_before_another_thread_locks_it) {
  expect_failure("use after free: a mutex", [] {
    auto* mutex = new Mutex;
    Thread other([=] { const Guard guard(*mutex); });
    delete mutex;
    other.join();
  });
  expect_failure("use after free: a mutex", [] {
    auto* mutex = new Mutex;
    Thread other([=] {
      if (mutex->try_lock()) mutex->unlock();
    });
    delete mutex;
    other.join();
  });
}

TEST(Lifetime, of_a_mutex_ends_while_another_thread_holds_it) {
  expect_failure("destroys or frees a mutex that thread 1 holds", [] {
    auto* mutex = new Mutex;
    Atomic<bool> locked{false};
    Atomic<bool> leaves{false};
    Thread other([&, mutex] {
      const Guard guard(*mutex);
      locked.store(true, release);
      leaves.store(true, seq_cst);
    });
    if (locked.load(acquire) && !leaves.load(seq_cst)) {
      delete mutex;
      other.join();
    } else {
      other.join();
      delete mutex;
    }
  });
}

/// One thread tells another that it is done; this one's condition ends with its scope. `inside`:
/// the other notifies while it holds the mutex.
std::function<void()> notified(bool inside) {
  return [inside] {
    Mutex mutex;
    Thread other;
    {
      Condition condition;
      bool done = false;
      other = Thread([&] {
        {
          const Guard guard(mutex);
          done = true;
          if (inside) condition.notify_one();
        }
        if (!inside) condition.notify_one();
      });
      const Guard guard(mutex);
      while (!done) condition.wait(mutex);
    }
    other.join();
  };
}

TEST(Lifetime, of_a_condition_ends_before_another_thread_notifies_it) {
  expect_failure("data race: thread 0 destroys or frees what thread 1 uses", notified(false));
  expect_none(notified(true));
}

TEST(Lifetime, of_a_condition_ends_while_another_thread_waits_for_it) {
  expect_failure("destroys or frees a condition that thread 1 waits for", [] {
    Mutex mutex;
    auto* condition = new Condition;
    bool waits = false;
    bool done = false;
    Thread other([&] {
      const Guard guard(mutex);
      waits = true;
      while (!done) condition->wait(mutex);
    });
    bool too_early = false;
    {
      const Guard guard(mutex);
      too_early = waits;
      done = true;
    }
    if (!too_early) other.join();
    delete condition;
    if (too_early) other.join();
  });
}

/// A thread writes a cell of this one's scope and says so. This one leaves the scope then.
std::function<void()> written_elsewhere(Order store, Order load) {
  return [=] {
    Atomic<bool> written{false};
    Thread other;
    {
      Cell<int> cell{0};
      other = Thread([&] {
        cell.set(1);
        written.store(true, store);
      });
      while (!written.load(load)) yield();
    }
    other.join();
  };
}

TEST(Lifetime, of_a_cell_does_not_end_with_its_scope_while_another_thread_uses_it) {
  for (const Order store : {relaxed, release}) {
    expect_failure("data race: thread 0 destroys or frees what thread 1 writes",
                   written_elsewhere(store, relaxed));
  }
  expect_none(written_elsewhere(release, acquire));
}

TEST(Lifetime, of_a_cell_ends_though_its_memory_is_still_there) {
  expect_failure("use after free: a cell", [] {
    std::optional<Cell<int>> cell(std::in_place, 0);
    const Cell<int>* volatile left = &*cell;
    cell.reset();
    (void)left->get();
  });
}

TEST(Lifetime, of_a_copy_of_a_cell_begins_with_a_look_at_the_other) {
  expect_failure("data race", [] {
    Cell<int> cell{0};
    Thread other([&] { cell.set(1); });
    const Cell<int> copy = cell;
    other.join();
    (void)copy.get();
  });
  expect_none([] {
    Cell<int> cell{1};
    {
      const Cell<int> copy = cell;
      Cell<int> assigned{2};
      assigned = copy;
      require(copy.get() == 1 && assigned.get() == 1, "the value");
    }
    require(cell.get() == 1, "it outlives its copies");
  });
}

TEST(Lifetime, of_an_object_begins_anew_in_memory_that_is_not_the_executions) {
  alignas(Atomic<int>) alignas(Mutex) static std::byte memory[sizeof(Mutex)];
  expect_none([] {
    for (int i = 1; i <= 2; ++i) {
      auto* const atomic = new (memory) Atomic<int>{i};
      require(atomic->load(relaxed) == i, "the new one");
      atomic->~Atomic();
      auto* const mutex = new (memory) Mutex;
      { const Guard guard(*mutex); }
      mutex->~Mutex();
      auto* const cell = new (memory) Cell<int>{i};
      require(cell->get() == i, "the new one");
      cell->~Cell();
    }
  });
}

}  // namespace
}  // namespace mc::testing
