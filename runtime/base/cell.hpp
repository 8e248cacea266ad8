// A plain slot that several threads use in turn, handed over by some atomic beside it.
#pragma once

#include "runtime/base/sync_primitives.hpp"

#if !defined(TASKBENCH_MODEL)

#include <utility>

namespace taskbench::rt::base {

/// Not synchronised. The permutation tester's version checks that no two accesses race; a plain
/// member could not be seen by it.
template <class T>
class Cell {
 public:
  Cell() = default;
  explicit Cell(T value) : value_(std::move(value)) {}

  [[nodiscard]] T get() const { return value_; }
  void set(T value) { value_ = std::move(value); }

 private:
  T value_{};
};

}  // namespace taskbench::rt::base

#endif  // !TASKBENCH_MODEL
