// The inbox, which any thread adds to: nothing is lost or taken twice, what one thread pushes keeps
// its order, and a consumer that sleeps on an empty inbox is woken. The injector, too, which does
// the same with a mutex.
#include "runtime/queue/inbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/park/parker.hpp"
#include "runtime/queue/injector.hpp"
#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// A node whose value is plain memory that the inbox hands over.
struct Letter {
  Letter* queue_next = nullptr;
  base::Cell<int> value{0};
};

std::vector<int> taken(queue::Fifo<Letter>& list) {
  std::vector<int> values;
  while (const Letter* letter = list.pop_front()) values.push_back(letter->value.get());
  return values;
}

void push(queue::Inbox<Letter>& inbox, Letter& letter, int value) {
  letter.value.set(value);
  inbox.push(&letter);
}

TEST(InjectorModel, counts_what_two_threads_push_at_once) {
  holds([] {
    queue::Injector<Letter> injector;
    std::array<Letter, 3> letters;
    base::Thread other([&] { injector.push(letters.data(), queue::Admit::if_open, [] {}); });
    const std::array<Letter*, 2> batch{&letters[1], &letters[2]};
    injector.push_batch(batch);
    other.join();
    std::array<Letter*, 4> popped{};
    mc::require(injector.pop_batch(popped) == 3, "all three");
    mc::require(injector.looks_empty(), "no more");
    mc::sometimes("the batch first", popped[0] == &letters[1]);
    mc::sometimes("the batch last", popped[0] == letters.data());
  });
}

TEST(InjectorModel, gives_each_to_one_of_two_that_pop_at_once) {
  holds([] {
    queue::Injector<Letter> injector;
    Letter letter;
    injector.push(&letter, queue::Admit::if_open, [] {});
    std::array<Letter*, 2> others{};
    std::array<Letter*, 2> own{};
    base::Thread other([&] { static_cast<void>(injector.pop_batch(others)); });
    const std::size_t taken = injector.pop_batch(own);
    other.join();
    mc::require((own[0] == &letter) != (others[0] == &letter), "one of them");
    mc::require((taken == 1) == (own[0] == &letter), "counted where it went");
    mc::sometimes("this one", taken == 1);
    mc::sometimes("the other", taken == 0);
  });
}

TEST(InjectorModel, who_passes_takes_what_there_is_before_long_and_once) {
  holds([] {
    queue::Injector<Letter> injector;
    std::array<Letter, 2> letters;
    injector.push(letters.data(), queue::Admit::if_open, [] {});
    base::Thread other([&] { injector.push(&letters[1], queue::Admit::if_open, [] {}); });
    std::array<Letter*, 2> popped{};
    std::uint32_t passed = 0;
    std::size_t taken = 0;
    std::uint32_t looks = 0;
    for (; taken == 0; ++looks) taken = injector.pop_batch_in_passing(popped, passed);
    mc::require(looks <= injector.kMostPasses + 1, "it does not pass for ever");
    mc::require(passed == 0, "it counts from the beginning");
    mc::sometimes("it has passed", looks > 1);
    mc::sometimes("it has waited", looks == injector.kMostPasses + 1);
    other.join();
    mc::require(popped[0] == letters.data(), "the oldest first");
    mc::require(taken + injector.pop_batch(std::span(popped).subspan(taken)) == 2, "both");
    mc::require(popped[1] == &letters[1], "each once");
  });
}

TEST(InjectorModel, a_block_is_shared_by_two_that_pop_parts_of_it) {
  holds([] {
    queue::Injector<Letter> injector;
    std::array<Letter, 4> letters;
    const std::array<Letter*, 3> batch{&letters[0], &letters[1], &letters[2]};
    injector.push_batch(batch);
    std::array<Letter*, 2> others{};
    std::array<Letter*, 2> own{};
    std::size_t other_count = 0;
    base::Thread other([&] { other_count = injector.pop_batch(others); });
    injector.push(&letters[3], queue::Admit::if_open, [] {});
    const std::size_t own_count = injector.pop_batch(own);
    other.join();
    mc::require(own_count == 2 && other_count == 2, "all four");
    const bool is_first = own[0] == &letters[0];
    const auto& older = is_first ? own : others;
    const auto& newer = is_first ? others : own;
    mc::require(older[0] == &letters[0] && older[1] == &letters[1], "the oldest go together");
    mc::require(newer[0] == &letters[2] && newer[1] == &letters[3], "and what came later behind");
    mc::sometimes("the oldest here", is_first);
    mc::sometimes("the oldest there", !is_first);
  });
}

TEST(InjectorModel, guards_what_its_owner_does_under_the_same_mutex) {
  holds([] {
    queue::Injector<Letter> injector;
    Letter letter;
    base::Cell<int> count{0};
    const auto add_one = [&count] { count.set(count.get() + 1); };
    base::Thread other([&] { injector.locked(add_one); });
    injector.push(&letter, queue::Admit::if_open, add_one);
    injector.locked(add_one);
    other.join();
    mc::require(count.get() == 3, "each once");
  });
}

/// Moves everything in `injector` between `first` and `last`. Returns the values in order.
std::vector<int> moved_between(Letter& first, queue::Injector<Letter>& injector, Letter& last) {
  queue::Fifo<Letter> list;
  list.push_back(&first);
  static_cast<void>(injector.take_all(list));
  list.push_back(&last);
  return taken(list);
}

TEST(InjectorModel, two_that_move_all_at_once_lose_nothing) {
  holds([] {
    queue::Injector<Letter> injector;
    std::array<Letter, 5> letters;
    for (int i = 0; i < 5; ++i) letters[static_cast<std::size_t>(i)].value.set(i);
    injector.push(letters.data(), queue::Admit::if_open, [] {});
    std::vector<int> others;
    base::Thread other([&] { others = moved_between(letters[1], injector, letters[2]); });
    const std::vector<int> own = moved_between(letters[3], injector, letters[4]);
    other.join();
    const bool is_own = own == std::vector<int>{3, 0, 4};
    mc::require(is_own || own == std::vector<int>{3, 4}, "in order");
    mc::require(others == (is_own ? std::vector<int>{1, 2} : std::vector<int>{1, 0, 2}),
                "to one of them");
    mc::sometimes("here", is_own);
    mc::sometimes("there", !is_own);
  });
}

TEST(InboxModel, two_threads_push_and_one_takes_meanwhile) {
  holds([] {
    queue::Inbox<Letter> inbox;
    Letter letters[3];
    base::Thread first([&] {
      push(inbox, letters[0], 1);
      push(inbox, letters[1], 2);
    });
    base::Thread second([&] { push(inbox, letters[2], 3); });
    queue::Fifo<Letter> list;
    inbox.take_all(list);
    mc::sometimes("some come later", list.empty());
    first.join();
    second.join();
    inbox.take_all(list);
    std::vector<int> values = taken(list);
    const auto place = [&](int value) { return std::ranges::find(values, value); };
    mc::require(place(1) < place(2), "in the order of the pushes");
    std::ranges::sort(values);
    mc::require(values == std::vector{1, 2, 3}, "each once");
  });
}

TEST(InboxModel, a_node_that_comes_back_is_queued_once) {
  holds([] {
    queue::Inbox<Letter> inbox;
    Letter letters[2];
    push(inbox, letters[0], 1);
    base::Thread other([&] { push(inbox, letters[1], 2); });
    queue::Fifo<Letter> list;
    inbox.take_all(list);
    if (Letter* letter = list.pop_front()) inbox.push(letter);
    other.join();
    inbox.take_all(list);
    std::vector<int> values = taken(list);
    std::ranges::sort(values);
    mc::require(values == std::vector{1, 2}, "each once");
  });
}

TEST(InboxModel, who_filled_it_wakes_its_only_consumer) {
  const auto body = [] {
    queue::Inbox<Letter> inbox;
    Letter letters[2];
    park::Parker parker;
    const auto send = [&](Letter& letter, int value) {
      letter.value.set(value);
      if (inbox.push(&letter)) parker.unpark();
    };
    base::Thread first([&] { send(letters[0], 1); });
    base::Thread second([&] { send(letters[1], 2); });
    std::vector<int> values;
    while (values.size() < 2) {
      queue::Fifo<Letter> list;
      inbox.take_all(list);
      const std::vector<int> some = taken(list);
      if (some.empty()) parker.park();
      values.insert(values.end(), some.begin(), some.end());
    }
    first.join();
    second.join();
  };
  holds(body, {.preemptions = 3});
}

TEST(InboxModel, a_sleeper_that_says_so_first_is_seen_or_sees) {
  holds([] {
    queue::Inbox<Letter> inbox;
    Letter letter;
    base::Atomic<std::uint32_t> sleeping{0};
    bool is_seen = false;
    base::Thread pusher([&] {
      push(inbox, letter, 1);
      // seq_cst: as in GlobalQueue::append
      is_seen = sleeping.load(base::seq_cst) != 0;
    });
    // seq_cst: as in GlobalQueue::next_task
    sleeping.fetch_add(1, base::seq_cst);
    const bool sees = !inbox.looks_empty();
    pusher.join();
    mc::sometimes("only seen", is_seen && !sees);
    mc::sometimes("only sees", !is_seen && sees);
    mc::require(is_seen || sees, "no wake-up is lost");
  });
}

}  // namespace
}  // namespace taskbench::rt::model
