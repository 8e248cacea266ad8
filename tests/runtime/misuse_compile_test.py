#!/usr/bin/env python3
"""Mistakes that must not compile, and the messages the compiler must give for them.

usage: misuse_compile_test.py COMPILER ROOT
"""
import re
import subprocess
import sys

SOURCE = """
#include "runtime/runtime.hpp"
#include "runtime/sync/join_set.hpp"
#include "runtime/sync/mpmc.hpp"
#include "runtime/task/fork_join.hpp"
#include "runtime/task/join.hpp"
#include "runtime/task/select.hpp"
#include "runtime/task/yield.hpp"

namespace rt = taskbench::rt;

rt::Task<int> number() { co_return 1; }

static_assert(!std::is_copy_constructible_v<rt::Task<int>>);

rt::Task<> correct() {
  rt::Task<int> task = number();
  co_await std::move(task);
  task = number();
  rt::spawn(std::move(task)).detach();
  auto kept = rt::select(number(), number());
  co_await kept;
  co_await rt::select(number(), rt::yield_now());
  rt::YieldNow lasting;
  auto refers = rt::join(lasting, number());
  co_await refers;
}
rt::Fork<int> forks() {
  rt::Fork<int> fork = forks();
  const auto results = co_await rt::fork_join(std::move(fork), forks());
  co_return std::get<0>(results) + co_await forks();
}
rt::Task<std::shared_ptr<const int>> converts_its_result() { co_return std::make_unique<int>(1); }
rt::Task<std::string> makes_its_result_of_a_literal() { co_return "text"; }
rt::Task<> sends_what_moves_without_throwing() {
  auto ends = rt::sync::mpmc::channel<std::unique_ptr<int>>(1);
  co_await ends.first.send(nullptr);
}
// wrong from here on
struct MayThrow {
  MayThrow(MayThrow&&) {}
};
auto sends_what_may_throw() { return rt::sync::mpmc::channel<MayThrow>(1); }
rt::Task<> awaits_a_variable() {
  rt::Task<int> task = number();
  co_await task;
}
void spawns_a_variable() {
  rt::Task<int> task = number();
  rt::spawn(task).detach();
}
void spawns_a_variable_into_a_set() {
  rt::sync::JoinSet<int> set;
  rt::Task<int> task = number();
  set.spawn(task);
}
rt::Task<> joins_a_variable() {
  rt::Task<int> task = number();
  co_await rt::join(task, number());
}
rt::Task<> keeps_what_refers_to_a_temporary() {
  auto kept = rt::select(number(), rt::yield_now());
  co_await kept;
}
rt::Task<> moves_what_refers_to_a_temporary() {
  auto kept = rt::join(number(), rt::yield_now());
  co_await std::move(kept);
}
rt::Fork<> awaits_a_task_in_a_fork() { co_await number(); }
rt::Fork<> yields_in_a_fork() { co_await rt::yield_now(); }
rt::Fork<> joins_a_fork_in_a_variable() {
  rt::Fork<int> fork = forks();
  co_await rt::fork_join(fork, forks());
}
rt::Fork<> awaits_a_fork_in_a_variable() {
  rt::Fork<int> fork = forks();
  co_await fork;
}
rt::Task<std::unique_ptr<int>> returns_what_is_not_converted_implicitly(int* raw) { co_return raw; }
void blocks_in_a_coroutine() { rt::spawn_blocking([]() -> rt::Task<> { co_return; }).detach(); }
rt::Fork<std::unique_ptr<int>> returns_it_from_a_fork(int* raw) { co_return raw; }
struct alignas(32) Lanes {
  float all[8];
};
void captures_what_a_frame_cannot_hold(Lanes lanes) {
  rt::spawn_blocking([lanes] { return lanes.all[0]; }).detach();
}
void captures_it_in_a_task(Lanes lanes) {
  rt::spawn([lanes]() -> rt::Task<float> { co_return lanes.all[0]; }).detach();
}
"""

EXPECTED = {
    "co_await std::move(task), or": 1,  # once: both mistakes are in the same function
    "rt::spawn(std::move(task)), or": 1,  # once: both make the same copy
    "AwaitedInTheSameExpression": 2,
    "an rt::Fork awaits only other forks": 2,
    "co_await std::move(fork), or": 1,
    "rt::fork_join(std::move(fork)), or": 1,
    "send a std::unique_ptr of what is not": 1,
    "return_value": 2,
    "rt::spawn_blocking calls a plain function": 1,
    "aligned more strictly than a coroutine's": 2,
}


def main():
    compiler, root = sys.argv[1:]
    compiled = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", f"-I{root}", "-x", "c++", "-"],
        input=SOURCE, text=True, capture_output=True, check=False)
    errors = [line for line in compiled.stderr.splitlines() if " error: " in line]
    failed = False
    for text, count in EXPECTED.items():
        found = sum(text in line for line in errors)
        if found < count:
            print(f"expected {count} errors with '{text}', found {found}")
            failed = True
    wrong_from = SOURCE[:SOURCE.index("// wrong")].count("\n") + 1
    for line in errors:
        place = re.match(r"<stdin>:(\d+):", line)
        if place and int(place[1]) < wrong_from:
            print("what is correct does not compile")
            failed = True
    if failed:
        sys.exit("\n".join(errors))


if __name__ == "__main__":
    main()
