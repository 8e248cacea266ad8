#!/usr/bin/env python3
"""Checks that the runtime's sources define no symbol twice when they are compiled against other
primitives: otherwise the linker could take an inline function of one kind for that of the other.

Also checks that the runtime's own primitives are the standard's, or compile to the same code.

usage: names_test.py NM RUNTIME MODELLED CXX

NM lists the symbols of RUNTIME, the archive of the runtime, and of MODELLED, the archive of the
same sources behind tests/model/runtime_primitives.hpp. CXX is the compiler.
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

# Mangled names of anything in the runtime's namespace, including its types in the standard's
# templates, and of the standard library or the compiler.
RUNTIME = re.compile(r"(?<!\d)9taskbench")
MODEL = re.compile(r"(?<!\d)15taskbench_model")
LIBRARY = re.compile(
    r"_Z(?:T[VIS]|G[VR]|Z)*N?[VKRO]*(?:St|S[absiod]|9__gnu_cxx)|_Z(?:nw|dl)|DW\.ref\."
)
TESTER = re.compile(r"_Z(?:T[VIS]|G[VR]|Z)*N?[VKO]*2mc")

ROOT = Path(__file__).resolve().parents[2]

# Cells and locks are classes of their own: the code generated for them is compared with that of a
# plain variable, a std::mutex and a std::lock_guard.
PRIMITIVES = """
#include "runtime/base/cell.hpp"
using namespace taskbench::rt::base;
static_assert(std::is_same_v<Atomic<int>, std::atomic<int>>);
static_assert(std::is_same_v<Atomic<void*>, std::atomic<void*>>);
static_assert(std::is_same_v<Thread, std::thread>);
static_assert(std::is_same_v<Clock, std::chrono::steady_clock>);
static_assert(std::is_same_v<decltype(relaxed), const std::memory_order>);
static_assert(sizeof(SpinLock) == 1 && patience(7) == 7 && capacity(256) == 256);
struct Pair { void* first; int second; };
#ifdef PLAIN
template <class T> struct Slot { T value{}; T get() const { return value; }
                                 void set(T next) { value = next; } };
using Lock = std::mutex;
using Section = std::lock_guard<std::mutex>;
#else
template <class T> using Slot = Cell<T>;
using Lock = Mutex;
using Section = LockGuard;
#endif
static_assert(sizeof(Lock) == sizeof(std::mutex) && alignof(Lock) == alignof(std::mutex));
static_assert(sizeof(Slot<char>) == 1 && alignof(Slot<char>) == 1);
static_assert(sizeof(Slot<Pair>) == sizeof(Pair) && alignof(Slot<Pair>) == alignof(Pair));
static_assert(std::is_trivially_copyable_v<Slot<Pair>>);
extern "C" int hand_over(std::atomic<int>& ready, Slot<int>* slots, Slot<Pair>& pair, int next) {
  slots[next].set(slots[0].get() + 1);
  pair.set({slots, pair.get().second + next});
  ready.store(next, std::memory_order_release);
  while (ready.load(std::memory_order_acquire) != 0) spin_hint();
  return slots[next].get() + pair.get().second;
}
extern "C" int take_turns(void* lock, int* shared, void (*may_throw)()) {
  static_cast<Lock*>(lock)->lock();
  *shared += 1;
  static_cast<Lock*>(lock)->unlock();
  const Section section(*static_cast<Lock*>(lock));
  may_throw();
  return *shared;
}
"""


def external(nm, archive, *options):
    """Returns the external symbols of an archive."""
    lines = subprocess.run(
        [nm, "--extern-only", *options, "--format=posix", archive],
        check=True, capture_output=True, text=True,
    ).stdout.splitlines()
    return {line.split()[0] for line in lines if len(line.split()) > 1}


def compiled(*options):
    """Returns the assembly of PRIMITIVES, without the numbers in the labels of functions."""
    text = subprocess.run(
        [CXX, "-std=c++20", "-O2", f"-I{ROOT}", *options, "-xc++", "-S", "-o-", "-"],
        input=PRIMITIVES, check=True, stdout=subprocess.PIPE, text=True,
    ).stdout
    return re.sub(r"\.L(FS?[BE]|LSDA[A-Z]*)\d+", r".L\1", text)


class Names(unittest.TestCase):
    def test_no_name_of_the_runtime_is_in_both(self):
        both = ORDINARY & MODELLED
        self.assertEqual({name for name in both if not LIBRARY.match(name)}, set())
        self.assertEqual({name for name in both if RUNTIME.search(name)}, set())

    def test_every_name_is_the_runtimes_own_or_the_librarys(self):
        for names, own, other in ((ORDINARY, RUNTIME, MODEL), (MODELLED, MODEL, RUNTIME)):
            self.assertEqual({name for name in names if other.search(name)}, set())
            strangers = {name for name in names if not own.search(name) and not LIBRARY.match(name)}
            if names is MODELLED:
                strangers = {name for name in strangers if not TESTER.match(name)}
            self.assertEqual(strangers, set())

    def test_the_runtime_asks_nothing_of_the_tester(self):
        asked = external(NM, RUNTIME_ARCHIVE, "--undefined-only")
        self.assertEqual(set(filter(TESTER.match, asked)), set())
        self.assertTrue(any(map(TESTER.match, external(NM, MODELLED_ARCHIVE, "--undefined-only"))))

    def test_its_primitives_cost_nothing(self):
        self.assertMultiLineEqual(compiled(), compiled("-DPLAIN"))

    def test_both_have_names_in_which_no_primitive_shows(self):
        park = "2rt13work_stealing4Idle4parkEjb"
        self.assertIn(f"_ZN9taskbench{park}", ORDINARY)
        self.assertIn(f"_ZN15taskbench_model{park}", MODELLED)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    NM, RUNTIME_ARCHIVE, MODELLED_ARCHIVE, CXX = sys.argv[1:]
    ORDINARY = external(NM, RUNTIME_ARCHIVE, "--defined-only")
    MODELLED = external(NM, MODELLED_ARCHIVE, "--defined-only")
    unittest.main(argv=sys.argv[:1])
