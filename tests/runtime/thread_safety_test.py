#!/usr/bin/env python3
"""Code that uses a guarded member without its lock does not compile with clang, whatever kind of
lock it is (runtime/base/thread_safety.hpp). Skipped if there is no clang.

usage: thread_safety_test.py CLANG ROOT
"""
import subprocess
import sys
import unittest

SOURCE = """
#include "runtime/base/biased_lock.hpp"
#include "runtime/park/condition.hpp"

using namespace taskbench::rt;

struct Waiter {
  park::Parker parker;
  Waiter* next_waiting = nullptr;
};

struct Counts {
  base::Mutex mutex;
  int one TASKBENCH_GUARDED_BY(mutex) = 0;
  park::Condition<Waiter> waiting TASKBENCH_GUARDED_BY(mutex);
  base::SpinLock spin;
  int two TASKBENCH_GUARDED_BY(spin) = 0;
  base::BiasedLock biased;
  int three TASKBENCH_GUARDED_BY(biased) = 0;

  int add() TASKBENCH_REQUIRES(mutex) { return ++one; }

BODY
};
"""

RIGHT = """
    { const base::LockGuard lock(mutex); add(); waiting.wait(mutex, self); ++one; }
    { const base::SpinGuard lock(spin); ++two; }
    mutex.lock(); ++one; mutex.unlock();
    biased.owner_enter(); ++three; biased.owner_leave();
    if (biased.visitor_try_enter()) { ++three; biased.visitor_leave(); }
"""

WRONG = {
    "if (one != 0) return 1; const base::LockGuard lock(mutex);": "'one' requires holding",
    "{ const base::LockGuard lock(mutex); } ++one;": "'one' requires holding",
    "const base::SpinGuard lock(spin); ++one;": "'one' requires holding",
    "const base::LockGuard lock(mutex); ++two;": "'two' requires holding",
    "++three; biased.owner_enter(); biased.owner_leave();": "'three' requires holding",
    "if (!biased.visitor_try_enter()) ++three; else biased.visitor_leave();":
        "'three' requires holding",
    "mutex.lock(); if (stops) return 1; mutex.unlock();": "is not held on every path",
    "mutex.unlock();": "that was not held",
    "add();": "'add' requires holding",
    "waiting.wait(mutex, self);": "'waiting' requires holding",
}


def complaints(*bodies):
    """Returns clang's complaints about each of these function bodies, all compiled at once."""
    begin = SOURCE[: SOURCE.index("BODY")].count("\n") + 1
    functions = "\n".join(
        f"  int f{i}(bool stops, Waiter& self) {{ {' '.join(body.split())} return 0; }}"
        for i, body in enumerate(bodies)
    )
    compiled = subprocess.run(
        [CLANG, "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Wthread-safety-beta",
         f"-I{ROOT}", "-x", "c++", "-"],
        input=SOURCE.replace("BODY", functions), text=True, capture_output=True, check=True,
    )
    lines = compiled.stderr.splitlines()
    return [
        [line for line in lines if line.startswith(f"<stdin>:{begin + i}:")]
        for i in range(len(bodies))
    ]


class ThreadSafety(unittest.TestCase):
    def test_what_is_used_without_its_lock_does_not_compile(self):
        right, *wrong = complaints(RIGHT, *WRONG)
        self.assertEqual(right, [])
        for (body, complaint), said in zip(WRONG.items(), wrong):
            self.assertIn(complaint, "\n".join(said), body)


if __name__ == "__main__":
    CLANG, ROOT = sys.argv[1:]
    if not CLANG or CLANG.endswith("-NOTFOUND"):
        print("there is no clang")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
