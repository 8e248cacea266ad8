// A light fence and a heavy one order like two seq_cst fences, in either mode and while the mode
// changes.
#include "runtime/base/asymmetric_fences.hpp"

#include <gtest/gtest.h>

#include "tests/model/runtime_check.hpp"

namespace taskbench::rt::model {
namespace {

/// Two threads store, pass a fence each, and load, while `change` runs. At least one must see the
/// other's store.
template <class Change>
void neither_misses_the_other(base::AsymmetricFences& fences, Change&& change) {
  base::Atomic<int> passed{0};
  base::Atomic<int> left{0};
  int seen_by_passer = 0;
  int seen_by_other = 0;
  base::Thread passer([&] {
    passed.store(1, base::relaxed);
    fences.light();
    seen_by_passer = left.load(base::relaxed);
  });
  base::Thread other([&] {
    left.store(1, base::relaxed);
    fences.heavy();
    seen_by_other = passed.load(base::relaxed);
  });
  change();
  passer.join();
  other.join();
  mc::require(seen_by_passer == 1 || seen_by_other == 1, "one sees the other");
  mc::sometimes("the passer misses the other", seen_by_passer == 0);
  mc::sometimes("the other misses the passer", seen_by_other == 0);
}

TEST(FencesModel, both_full_order) {
  holds([] {
    base::AsymmetricFences fences;
    neither_misses_the_other(fences, [] {});
  });
}

TEST(FencesModel, a_light_and_a_heavy_one_order) {
  holds([] {
    base::AsymmetricFences fences;
    fences.end_asking();
    neither_misses_the_other(fences, [] {});
  });
}

TEST(FencesModel, they_order_while_the_passer_comes_to_pay) {
  holds([] {
    base::AsymmetricFences fences;
    fences.end_asking();
    neither_misses_the_other(fences, [&] { fences.ask_passers(); });
  });
}

TEST(FencesModel, they_order_while_the_passer_ceases_to_pay) {
  holds([] {
    base::AsymmetricFences fences;
    neither_misses_the_other(fences, [&] { fences.end_asking(); });
  });
}

TEST(FencesModel, they_order_while_it_changes_to_and_fro) {
  holds([] {
    base::AsymmetricFences fences;
    neither_misses_the_other(fences, [&] {
      fences.end_asking();
      fences.ask_passers();
    });
  });
  holds([] {
    base::AsymmetricFences fences;
    fences.end_asking();
    neither_misses_the_other(fences, [&] {
      fences.ask_passers();
      fences.end_asking();
    });
  });
}

TEST(FencesModel, two_that_change_them_at_once_leave_them_in_order) {
  holds([] {
    base::AsymmetricFences fences;
    base::Thread changer([&] { fences.end_asking(); });
    neither_misses_the_other(fences, [&] { fences.ask_passers(); });
    changer.join();
  });
}

}  // namespace
}  // namespace taskbench::rt::model
