// Compiled into planted sources (operators.py): one build holds all mutants, and TASKBENCH_MUTANT
// names the one that is switched on. Put before each source by -include.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>

namespace mutants {

inline constexpr std::size_t kMost = 256 * 512;

extern int active;
extern bool records;
/// The mutants that were reached since the current test began.
extern unsigned char reached[kMost];

/// Whether mutant `number` is switched on.
[[gnu::always_inline]] constexpr bool on(int number) noexcept {
  if (std::is_constant_evaluated()) return false;
  if (records) reached[number] = 1;
  return active == number;
}

template <class Order>
[[gnu::always_inline]] constexpr Order order(int number, Order written, Order weaker) noexcept {
  return on(number) ? weaker : written;
}

/// Comparisons that are off by one while the mutant is switched on.
template <class A, class B>
constexpr bool less(int number, const A& a, const B& b) {
  return on(number) ? a <= b : a < b;
}
template <class A, class B>
constexpr bool less_equal(int number, const A& a, const B& b) {
  return on(number) ? a < b : a <= b;
}
template <class A, class B>
constexpr bool greater(int number, const A& a, const B& b) {
  return on(number) ? a >= b : a > b;
}
template <class A, class B>
constexpr bool greater_equal(int number, const A& a, const B& b) {
  return on(number) ? a > b : a >= b;
}

/// A lock guard that takes no lock while the mutant is switched on.
template <class Guard, int number>
class Unless {
 public:
  template <class Lock>
  explicit Unless(Lock& lock) {
    if (!on(number)) guard_.emplace(lock);
  }

 private:
  std::optional<Guard> guard_;
};

}  // namespace mutants
