// Small programs of a few threads and atomics, as data: for litmus tests and random programs.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/model/mc/check.hpp"
#include "tests/model/mc/primitives.hpp"

namespace mc::testing {

struct Instruction {
  enum class Kind : std::uint8_t {
    read,
    await,
    spin,
    write,
    add,
    exchange_if,
    exchange_if_weak,
    fence
  };
  Kind kind = Kind::read;
  int place = 0;
  Order order = relaxed;
  int value = 0;
  int expected = 0;
  Fence fence = Fence::seq_cst;
};

inline Instruction R(int place, Order order = relaxed) {
  return {.kind = Instruction::Kind::read, .place = place, .order = order};
}
/// Waits until the atomic holds `value` or more, and reads it: Await() by await(), Spin() by a loop
/// that yields.
inline Instruction Await(int place, int value, Order order = relaxed) {
  return {.kind = Instruction::Kind::await, .place = place, .order = order, .value = value};
}
inline Instruction Spin(int place, int value, Order order = relaxed) {
  return {.kind = Instruction::Kind::spin, .place = place, .order = order, .value = value};
}
inline Instruction W(int place, int value, Order order = relaxed) {
  return {.kind = Instruction::Kind::write, .place = place, .order = order, .value = value};
}
inline Instruction Add(int place, int value, Order order = relaxed) {
  return {.kind = Instruction::Kind::add, .place = place, .order = order, .value = value};
}
inline Instruction Cas(int place, int expected, int value, Order order = relaxed) {
  return {.kind = Instruction::Kind::exchange_if,
          .place = place,
          .order = order,
          .value = value,
          .expected = expected};
}
inline Instruction WeakCas(int place, int expected, int value, Order order = relaxed) {
  Instruction instruction = Cas(place, expected, value, order);
  instruction.kind = Instruction::Kind::exchange_if_weak;
  return instruction;
}
inline Instruction F(Fence fence) { return {.kind = Instruction::Kind::fence, .fence = fence}; }

/// What each thread does. The atomics x, y and z have the numbers 0, 1 and 2, and start at 0.
using Program = std::vector<std::vector<Instruction>>;

/// All outcomes of a program. An outcome is what was read, thread by thread ("01"; a
/// compare-exchange that fails reads, one that succeeds is 's'), and with `last` the final values
/// of the atomics ("01 x=1").
[[nodiscard]] Result outcomes_of(const Program& program, const Options& options = {},
                                 bool last = false);

[[nodiscard]] std::string text_of(const Program& program);

}  // namespace mc::testing
