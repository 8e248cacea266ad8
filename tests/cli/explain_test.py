#!/usr/bin/env python3
"""Exact counts in addition to times: instructions by kind, and by function after a failure
(`--explain`). TASKBENCH_CULPRITS says how many of the ten functions in culprits.py are made slower
in turn, and with which compiler options: "10 -O2 -g"."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from culprits import FUNCTIONS, SOURCE
from fake_program import fake_valgrind
from taskbench_command import CommandTest, main

CULPRITS, *OPTIONS = os.environ.get("TASKBENCH_CULPRITS", "1 -O2 -g").split()
COUNT = "--counters instructions-exact"
QUICK = "--min-time 1ms --repetitions 1 --run-identical --json r.json --markdown r.md"
BUILT = tempfile.TemporaryDirectory(prefix="taskbench-culprits-")  # kept until the last test
KINDS = {
    "allocated-bytes", "allocations", "divisions", "fences", "locked-instructions", "system-calls"
}


class CountedTest(CommandTest):
    def built(self, name, *options):
        """Builds the program; each set of options is built once for all tests."""
        built = Path(BUILT.name) / "-".join(("program", *OPTIONS, *options))
        if not built.exists():
            subprocess.run(
                ["c++", "-std=c++20", *OPTIONS, *options, "-o", str(built), "-x", "c++",
                 self.write("culprits.cpp", SOURCE)], check=True)
        (self.folder / name).symlink_to(built)
        return f"./{name}"

    def ab(self, base, head, options="", **others):
        return self.taskbench(f"ab {QUICK} --base {base} --head {head} {options}", **others)

    def result(self):
        return self.load("r.json")

    def row(self):
        (row,) = self.result()["benchmarks"]
        return row

    def kinds(self):
        return {kind["kind"]: kind for kind in self.row()["kinds"]}


@unittest.skipUnless(shutil.which("valgrind") and shutil.which("objdump"),
                     "no valgrind or no binutils here: scripts/install-deps test installs them")
class RealValgrind(CountedTest):
    def test_a_fence_in_a_loop_fails_in_a_line_of_its_own_unless_it_is_acknowledged(self):
        sides = self.built("base"), self.built("head", "-DFENCE")
        # A single block cannot fail by its times.
        answer = self.ab(*sides, f"{COUNT} --max-blocks 1 --explain", status=1)
        (explanation,) = self.result()["explanations"]
        (moved,) = explanation["kinds"]
        self.assertEqual((moved["kind"], moved["function"]), ("fences", "count_shared"))
        self.assertIn("fences 0 → 400 in count_shared, ", " ".join(answer.stdout.split()))
        fences = self.kinds()["fences"]
        self.assertEqual((fences["verdict"], fences["base"], fences["head"], fences["repeats"]),
                         ("FAIL", 0, 400, True))
        self.assertEqual({kind["verdict"] for kind in self.row()["kinds"]}, {"PASS", "FAIL"})
        self.assertEqual(set(self.kinds()), KINDS)
        # 10 allocations an iteration, in allocate(), and at least a division in each of two loops.
        self.assertEqual(self.kinds()["allocations"]["head"], 10)
        self.assertGreaterEqual(self.kinds()["divisions"]["head"], 399)
        self.assertRegex(answer.stdout, r"  its fences +FAIL +0 +400 +– +exact")
        self.assertIn("- FAIL: **all_of_them** has more fences: 0 → 400 an iteration.",
                      self.read("r.md"))
        passed = self.taskbench(
            f"ab --resume {COUNT} --acknowledge fences,instructions --json r.json "
            "--inconclusive pass-always")
        self.assertRegex(passed.stdout, r"  its fences +PASS, acknowledged +0 +400")
        self.assertEqual(self.result()["setup"]["acknowledged"], ["fences", "instructions"])
        self.assertTrue(self.kinds()["fences"]["acknowledged"])

    def test_what_is_exact_fails_unasked_and_not_if_it_is_acknowledged_or_off(self):
        sides = self.built("base"), self.built("head", "-DFENCE")
        pass_always = "--max-blocks 1 --inconclusive pass-always"
        answer = self.ab(*sides, "--max-blocks 1", status=1)
        said = " ".join(answer.stdout.split())
        self.assertIn("FAIL: all_of_them has more fences: 0 → 400 an iteration; what is counted is "
                      "exact, not timed", said)
        self.assertIn("fences 0 → 400 in count_shared, ", said)
        self.assertRegex(answer.stdout, r"  its instructions +more ")
        result = self.result()
        self.assertNotIn("--exact", result["reproduce"])
        # Two processes of each side, because the first counts differ.
        self.assertEqual([len(side["per_iteration"]) for side in result["instructions"]], [2, 2])
        passed = self.taskbench("ab --resume --acknowledge fences --inconclusive pass-always")
        self.assertRegex(passed.stdout, r"  its fences +PASS, acknowledged +0 +400")
        self.ab(*sides, f"{pass_always} --exact off --journal off")
        self.assertEqual(self.result()["instructions"], [])
        self.assertIn("--exact off", self.result()["reproduce"])

    def test_more_instructions_alone_are_shown_with_their_function_and_fail_nothing(self):
        answer = self.ab(self.built("base"), self.built("head", "-DCULPRIT=0"),
                         "--max-blocks 1 --inconclusive pass-always")
        said = " ".join(answer.stdout.split())
        self.assertRegex(answer.stdout, r"  its instructions +more +[\d,]+ +[\d,]+ +\+\d")
        self.assertIn("More instructions, which alone fail nothing: all_of_them +", said)
        self.assertRegex(said, r"\+[\d,]+ in [^,]*sum_up, ")
        self.assertTrue(self.row()["instructions"]["only_shown"])

    def test_equal_counts_take_one_process_of_each_side(self):
        answer = self.ab(self.built("base"), "./base", "--max-blocks 1 --inconclusive pass-always")
        self.assertEqual([len(side["per_iteration"]) for side in self.result()["instructions"]],
                         [1, 1])
        self.assertNotIn("its instructions", answer.stdout)
        self.assertEqual(self.result()["explanations"], [])

    def test_bytes_of_allocations_are_seen_where_their_number_stays(self):
        self.ab(self.built("base"), self.built("head", "-DBYTES"), "--max-blocks 1", status=1)
        kinds = self.kinds()
        self.assertEqual((kinds["allocations"]["base"], kinds["allocations"]["head"]), (10, 10))
        once = sum(4 * (i + 1) for i in range(10))
        bytes_ = kinds["allocated-bytes"]
        self.assertEqual((bytes_["base"], bytes_["head"]), (once, 2 * once))
        self.assertEqual(bytes_["verdict"], "FAIL")

    def test_counts_that_do_not_repeat_judge_nothing(self):
        answer = self.ab(self.built("base", "-DDRAWN"), self.built("head", "-DFENCE"),
                         "--max-blocks 1 --inconclusive pass-always")
        self.assertIsNone(self.row()["instructions"])
        self.assertEqual(self.row()["kinds"], [])
        self.assertRegex(" ".join(answer.stdout.split()),
                         r"all_of_them: not counted exactly: the counts of base differ by [\d.]+ %")

    def test_what_takes_longer_than_its_share_of_the_budget_is_not_counted(self):
        env = {"PATH": fake_valgrind(self.folder / "bin", "time.sleep(99)")}
        answer = self.ab(self.built("base"), self.built("head", "-DFENCE"),
                         "--budget 30s --max-blocks 1 --inconclusive pass-always", env=env)
        self.assertIn("Nothing was counted exactly: a fifth of the budget, 6 s, was used up.",
                      " ".join(answer.stdout.split()))
        self.assertLess(sum(sample["took_s"] for sample in self.result()["samples"]), 6)

    def test_the_function_that_grew_is_named_first_and_again_when_it_is_resumed(self):
        base = self.built("base")
        wrong = []
        for number in range(0, 10, 10 // int(CULPRITS)):
            head = self.built(f"head{number}", f"-DCULPRIT={number}")
            # Fails by its instructions, for which the machine need not be quiet.
            answer = self.ab(base, head, f"{COUNT} --max-blocks 1 --explain --journal j{number}",
                             status=1)
            (explanation,) = self.result()["explanations"]
            self.assertIsNone(explanation["reason"])
            self.assertGreater(explanation["head"], explanation["base"])
            first = explanation["functions"][0]
            if FUNCTIONS[number] not in first["function"]:  # or a lambda in it
                wrong.append((FUNCTIONS[number], first["function"]))
            again = self.taskbench(f"ab --resume --journal j{number}", status=1)
            self.assertEqual(again.stdout, answer.stdout)
        self.assertLessEqual(len(wrong), int(CULPRITS) // 10, wrong)
        if "-g" in OPTIONS:
            self.assertTrue(first["file"].endswith("culprits.cpp"), first)
            self.assertGreater(first["line"], 0)
            self.assertRegex(answer.stdout, r"  \+[\d,]+ in [^\n]*/culprits.cpp:\d+ \(")
        comment = self.read("r.md")
        self.assertIn("<summary>What the instructions show</summary>", comment)
        self.assertIn("all_of_them: it executes more instructions, ", comment)

    def test_what_grew_in_nothing_that_is_counted_says_what_is_left(self):
        self.built("base")
        # One program under valgrind, recognised by what it preloads; elsewhere, times are made up.
        for name, ns in (("one", 1000), ("two", 2000)):
            self.program(f"timed_{name}", f"all_of_them={ns}")
            self.script(name, 'case "$LD_PRELOAD" in *vgpreload*) exec ./base "$@";; esac\n'
                              f'exec ./timed_{name} "$@"')
        answer = self.ab("./one", "./two", "--explain", status=1)
        (explanation,) = self.result()["explanations"]
        self.assertEqual(explanation["base"], explanation["head"])
        said = " ".join(answer.stdout.split())
        self.assertRegex(
            said, r"all_of_them: its instructions did not grow \([^)]*\), .*what is left is ")


class WithoutTools(CountedTest):
    def failing(self, options, **others):
        sides = self.program("a"), self.program("b", "sort=1100 hash=500")
        return self.ab(*sides, options, **others)

    def explanation(self):
        (explanation,) = self.result()["explanations"]
        return explanation

    def without(self, *tools):
        """Makes a PATH that finds everything except these."""
        folder = self.folder / "bin"
        folder.mkdir()
        for directory in os.environ["PATH"].split(":"):
            for path in Path(directory).glob("*"):
                if path.name not in tools and not (folder / path.name).exists():
                    (folder / path.name).symlink_to(path)
        return {"PATH": str(folder)}

    def test_without_valgrind_the_reason_is_said(self):
        answer = self.failing("--explain", env=self.without("valgrind"), status=1)
        self.assertIn("valgrind is not installed", self.explanation()["reason"])
        self.assertIn("sort: its instructions could not be counted: valgrind is not installed",
                      answer.stdout)

    def test_what_is_not_counted_is_said_with_its_reason(self):
        options = "--max-blocks 1 --inconclusive pass-always"
        sides = self.built("base"), self.built("head", "-DFENCE")
        answer = self.ab(*sides, options, env=self.without("valgrind"))
        self.assertIn("Nothing was counted exactly: valgrind is not installed; the package "
                      "valgrind provides it.", " ".join(answer.stdout.split()))
        again = self.taskbench("ab --resume --inconclusive pass-always")
        self.assertEqual(again.stdout, answer.stdout)
        script = self.ab(self.program("a"), self.program("b"), f"{options} --journal p")
        self.assertIn("Nothing was counted exactly: base is a script for benchmark_stand_in",
                      script.stdout)
        brief = self.ab(*sides, f"{options} --budget 29s --journal brief")
        self.assertIn("Nothing was counted exactly: a budget below 30 s is not enough.",
                      " ".join(brief.stdout.split()))

    def test_a_failure_under_valgrind_is_said_and_changes_no_verdict(self):
        env = {"PATH": fake_valgrind(self.folder / "bin", "sys.exit('no memory')")}
        self.failing("--explain", env=env, status=1)
        self.assertEqual(self.explanation()["reason"],
                         "of base: under callgrind it exited with status 1: no memory")

    def test_what_passes_and_what_nobody_asked_for_is_not_explained(self):
        self.ab(self.program("a"), self.program("b"), "--explain")
        self.assertEqual(self.result()["explanations"], [])
        self.ab("./a", self.program("c", "sort=1100 hash=500"), status=1)
        self.assertEqual(self.result()["explanations"], [])

    def test_nothing_is_explained_after_the_budget(self):
        sides = (self.program("a", noise=0.3, takes_s=0.03),  # undecided until the budget ends
                 self.program("b", "sort=9000 hash=500", noise=0.3, takes_s=0.03))
        env = {"PATH": fake_valgrind(self.folder / "bin", "time.sleep(99)")}
        start = time.monotonic()
        self.ab(*sides, "--explain --budget 10s", env=env, status=1)
        self.assertLess(time.monotonic() - start, 30)
        self.assertEqual(self.explanation()["reason"], "no time is left of the budget")

    def test_without_objdump_instructions_are_counted_and_the_kinds_are_not(self):
        # A valgrind that runs the program, and counts more for ./b.
        body = (
            "import subprocess\n"
            "command = sys.argv[next(i for i in range(1, 99) if sys.argv[i][0] != '-'):]\n"
            "subprocess.check_call(command)\n"
            "open(out + '.1', 'w').write('desc: Trigger: --dump-before=f()\\nevents: Ir\\n'\n"
            "    f'ob={command[0]}\\nfl=???\\nfn=g\\n0x12 0 9\\n'\n"
            "    'cfn=malloc\\ncalls=3 0x20 0\\n0x14 0 1\\n'\n"
            "    'totals: %d\\n' % (4 + command[0].endswith('b')))")
        env = self.without("objdump", "valgrind")
        fake_valgrind(self.folder / "bin", body)
        answer = self.ab(self.program("a", "sort=1"), self.program("b", "sort=1"),
                         f"{COUNT} --max-blocks 1 --acknowledge instructions "
                         "--inconclusive pass-always", env=env)
        self.assertIn("Instructions were not told apart by kind: objdump is not installed; the "
                      "package binutils provides it.", " ".join(answer.stdout.split()))
        self.assertEqual(set(self.kinds()), {"allocations"})
        self.assertTrue(self.row()["instructions"]["acknowledged"])

    def test_what_cannot_be_acknowledged_is_refused(self):
        two = f"--base {self.program('a')} --head {self.program('b')}"
        self.refuse("", {
            f"ab {two} {COUNT} --acknowledge fence": "did you mean 'fences'?",
            f"ab {two} --exact on": "--exact: unknown value 'on'",
        })


if __name__ == "__main__":
    main()
