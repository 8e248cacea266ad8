#!/usr/bin/env python3
"""The operators of `scripts/mutate --planted`, the names of the mutants, and the list of
survivors."""

import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import operators
import judge
import planted
import planted_build
import survivors
import thread_safety

ROOT = Path(__file__).resolve().parents[2]

SOURCE = """// A comment: if (a < b) wake();
namespace std { enum memory_order { relaxed, acquire, release }; }
constexpr std::memory_order relaxed = std::relaxed, acquire = std::acquire;
constexpr std::memory_order release = std::release;
struct Word {
  int load(std::memory_order) const;
  void store(int, std::memory_order);
};
struct Mutex {};
struct LockGuard { LockGuard(Mutex&); };
void wake();
void full_fence();
bool decide(int);
int* find(int);
static constexpr bool kSame = 1 == 2;

bool f(Word& word, Mutex& mutex, int a, int b) {
  const LockGuard guard(mutex);
  word.store(1, release);
  word.store(2,  // a comment
             relaxed);
  full_fence();
  if (word.load(acquire) != 0 && decide(a)) return false;
  if (const int* found = find(a)) b = *found;
  while (a < b) ++a;
  for (int i = 0; i != b; ++i) {
    if (decide(i)) continue;
    wake();
  }
  for (int i = 0;; ++i) {
    if (decide(i)) return decide(b);
  }
}

template <class... T>
  requires(sizeof...(T) > 0)
void g() {
  wake();
}
"""


def found_in(text):
    with tempfile.TemporaryDirectory(prefix="taskbench-operators-") as folder:
        root = Path(folder)
        (root / "runtime").mkdir()
        (root / "runtime/f.hpp").write_text("#pragma once\n" + text, encoding="utf-8")
        mutants = operators.find(root, ["runtime/f.hpp"], ["runtime/f.hpp"])["runtime/f.hpp"]
    for number, mutant in enumerate(mutants, start=1):
        mutant.number = number
    return mutants


class Operators(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.mutants = found_in(SOURCE)
        cls.names = [mutant.name.removeprefix("f.hpp, f: ") for mutant in cls.mutants]

    def test_each_kind_of_fault_is_planted(self):
        for name in (
            "`const LockGuard guard(mutex)` without lock",
            "`word.store(1, release)` left out",
            "`word.store(1, release)` after what follows",
            "release to relaxed",
            "`full_fence()` no fence",
            "acquire to relaxed",
            "`if (word.load(acquire) != 0 && decide(a))` always",
            "`if (word.load(acquire) != 0 && decide(a))` never",
            "`word.load(acquire) != 0` turned",
            "`decide(a)` out of `word.load(acquire) != 0 && decide(a)`",
            "`if (const int* found = find(a))` never",
            "`b = *found` left out",
            "`while (a < b)` left out",
            "`a < b` turned",
            "`a < b` off by one",
            "`++a` left out",
            "`continue` left out",
            "`wake()` no notify",
            "`return decide(b)` turned",
        ):
            self.assertIn(name, self.names)

    def test_nothing_is_planted_in_comments_and_in_what_the_compiler_decides(self):
        self.assertFalse([mutant for mutant in self.mutants if mutant.line in (2, 16)])
        self.assertFalse([name for name in self.names if "sizeof" in name])

    def test_a_loop_that_only_its_body_ends_is_not_left_out(self):
        self.assertFalse([name for name in self.names if "for (int i = 0;;" in name])

    def test_the_planted_text_compiles_and_keeps_its_lines(self):
        text = ("#pragma once\n" + SOURCE).encode()
        made, _, _ = operators.planted(text, self.mutants)
        self.assertEqual(made.count(b"\n"), text.count(b"\n"))
        self.assertEqual(len(set(re.findall(rb"mutants::\w+(?:<\w+, |\()(\d+)", made))),
                         len(self.mutants))
        with tempfile.TemporaryDirectory(prefix="taskbench-operators-") as folder:
            unit = Path(folder) / "unit.cpp"
            unit.write_bytes(made.removeprefix(b"#pragma once"))
            subprocess.run(["c++", "-std=c++20", "-w", "-fsyntax-only", "-include",
                            ROOT / "tests/mutants/mutants.hpp", unit], check=True)

    def test_an_error_is_blamed_on_what_is_planted_around_it(self):
        text = ("#pragma once\n" + SOURCE).encode()
        made, breaks, spans = operators.planted(text, self.mutants)
        line = made.split(b"\n").index(next(
            each for each in made.split(b"\n") if b"full_fence()" in each and b"on(" in each)) + 1
        blamed = operators.blamed(breaks, spans, line, 10)
        self.assertEqual([mutant.what for mutant in blamed], ["`full_fence()` no fence"])

    def test_pieces_are_disjoint_and_together_all(self):
        pieces = [planted.piece_of(self.mutants, (piece, 4)) for piece in (1, 2, 3, 4)]
        self.assertEqual(sorted(mutant.number for own in pieces for mutant in own),
                         [mutant.number for mutant in self.mutants])


class FakeBuild:
    """Programs that fail as they are told to, in place of models and tests."""

    def __init__(self, folder, scripts):
        self.folder = self.root = folder
        (folder / "runtime").mkdir()
        (folder / "runtime/f.hpp").write_text(SOURCE, encoding="utf-8")
        for target in planted.planted_build.TARGETS:
            program = folder / target
            program.write_text("#!/bin/sh\n" + scripts.get(target, ""), encoding="utf-8")
            program.chmod(program.stat().st_mode | stat.S_IXUSR)

    def program(self, target):
        return self.folder / target


RECORD = """if [ -n "$TASKBENCH_MUTANTS_RECORD" ]; then
  echo '{"test": "A.b", "ms": 1, "failed": 0, "reached": [1, 2]}' >"$TASKBENCH_MUTANTS_RECORD"
  exit
fi
"""
NOTHING = '[ -z "$TASKBENCH_MUTANTS_RECORD" ] || : >"$TASKBENCH_MUTANTS_RECORD"\n'


class Judging(unittest.TestCase):
    def setUp(self):
        self.mutants = found_in(SOURCE)[:3]

    def judged(self, within_s=None, **scripts):
        with tempfile.TemporaryDirectory(prefix="taskbench-judge-") as folder:
            names = {target: NOTHING for target in planted.planted_build.TARGETS}
            build = FakeBuild(Path(folder), names | scripts)
            judging = judge.Judge(build, within_s)
            judging.record()
            results = judge.Results(Path(folder) / "results.jsonl")
            judge.judge_all(judging, results, self.mutants, 1, lambda mutant, result: None)
            again = judge.Results(Path(folder) / "results.jsonl")
            self.assertEqual(again.all, results.all)
            return [results.all[mutant.name] for mutant in self.mutants]

    def test_what_no_test_reaches_is_not_run(self):
        fails = RECORD + 'echo "[  FAILED  ] A.b"; exit 1'
        verdicts = self.judged(taskbench_runtime_models=fails)
        self.assertEqual([each["verdict"] for each in verdicts],
                         ["killed", "killed", "not reached"])
        self.assertEqual((verdicts[0]["by"], verdicts[0]["test"]), ("model", "A.b"))

    def test_only_the_mutant_that_is_switched_on_is_killed(self):
        fails = RECORD + '[ "$TASKBENCH_MUTANT" != 2 ] || exit 1'
        verdicts = self.judged(taskbench_stress=fails)
        self.assertEqual([each["verdict"] for each in verdicts],
                         ["survived", "killed", "not reached"])
        self.assertEqual(verdicts[1]["by"], "storm")

    def test_no_test_runs_that_takes_longer_than_the_time_there_is(self):
        fails = RECORD + "exit 1"
        verdicts = self.judged(within_s=0.0005, taskbench_runtime_models=fails)
        self.assertEqual([each["verdict"] for each in verdicts],
                         ["not judged", "not judged", "not reached"])
        self.assertIn("longer than 0.0005 s", verdicts[0]["why"])
        verdicts = self.judged(within_s=0.0015, taskbench_runtime_models=fails)
        self.assertEqual(verdicts[0]["verdict"], "killed")

    def test_a_test_with_threads_that_fails_once_kills_nothing(self):
        with tempfile.TemporaryDirectory(prefix="taskbench-judge-") as folder:
            fails = RECORD + f'mkdir "{folder}/$TASKBENCH_MUTANT" 2>/dev/null || exit 0; exit 1'
            verdicts = self.judged(taskbench_runtime_tests=fails)
        self.assertEqual(verdicts[0]["verdict"], "survived")
        self.assertIn("failed once", verdicts[0]["why"])


LOCKED = """#include "runtime/base/thread_safety.hpp"
#include "runtime/base/sync_primitives.hpp"
using namespace taskbench::rt;
struct Count {
  base::Mutex mutex;
  int guarded TASKBENCH_GUARDED_BY(mutex) = 0;
  int own = 0;
  void add() { const base::LockGuard lock(mutex); ++guarded; }
  void add_own() { const base::LockGuard lock(mutex); ++own; }
};
"""


@unittest.skipIf(thread_safety.CLANG is None, "no clang++")
class Locks(unittest.TestCase):
    def test_the_compiler_refuses_what_a_left_out_lock_guards(self):
        with tempfile.TemporaryDirectory(prefix="taskbench-locks-") as folder:
            root = Path(folder)
            (root / "runtime").symlink_to(ROOT / "runtime")
            (root / "count.hpp").write_text(LOCKED, encoding="utf-8")
            guard = b"base::LockGuard"
            places = [each.start() for each in re.finditer(guard, LOCKED.encode())]
            said = [thread_safety.refusal(root, operators.Mutant(
                "count.hpp", "add", "", 0, "lock", [(place, True, 0, "", len(guard))]))
                for place in places]
        self.assertRegex(said[0], "'guarded' requires holding")
        self.assertIsNone(said[1])


class ListOfSurvivors(unittest.TestCase):
    def test_it_names_mutants_that_exist(self):
        mutants = planted_build.PlantedBuild(ROOT, ROOT / "build/mutants").find()
        found = survivors.faults(survivors.Survivors(), {mutant.name for mutant in mutants})
        self.assertEqual(list(found), [])

    def test_what_is_gone_given_twice_or_has_no_reason_is_found(self):
        name = "park/parker.hpp, unpark: `sleeper.wake(&token_)` no notify"
        for names, why, faulty in (
            ([name], "A reason of some words.", []),
            ([name, name], "A reason of some words.", [f"twice: {name}"]),
            ([f"{name} (2)"], "A reason of some words.", [f"no mutant any more: {name} (2)"]),
            ([name], "equivalent", ["says no reason: 'equivalent'"]),
        ):
            group = {"why": why, "mutants": names}
            lists = survivors.Survivors(json.dumps({"judged": [], "equivalent": [group]}))
            self.assertEqual(list(survivors.faults(lists, {name})), faulty)


if __name__ == "__main__":
    os.environ.pop("TASKBENCH_MUTANT", None)
    sys.exit(unittest.main())
