#!/usr/bin/env python3
"""`ab` and `gate` with blocks from several machines: --part and --merge."""

import json
import os
import random
import shutil
import time
from pathlib import Path

import jsonschema
from taskbench_command import BINARY, CommandTest, main

SCHEMA = json.loads((Path(__file__).resolve().parents[2] /
                     "docs/schema/paired-v1.schema.json").read_text())


class PartsTest(CommandTest):
    def part(self, number, of, options="", base="a", head="b", command="gate", **others):
        """Measures a part into p<number>."""
        return self.taskbench(f"{command} --base ./{base} --head ./{head} --part {number}/{of} "
                              f"--journal p{number} --exact off {options}", **others)

    def parts(self, of, options="", **others):
        for number in range(1, of + 1):
            self.part(number, of, options, **others)
        return [f"p{number}" for number in range(1, of + 1)]

    def on_machines(self, names):
        """Makes each part look as if measured on another machine."""
        for number, name in enumerate(names):
            first, *others = self.read(name).splitlines(keepends=True)
            setup = json.loads(first)
            setup["part"].update(machine=f"m{number}", host=f"host{number}")
            if number == 3:
                setup["part"]["kind"]["cpu_model"] = "another"
            self.write(name, json.dumps(setup) + "\n" + "".join(others))
        return names

    def merge(self, names, options="", command="gate", **others):
        return self.taskbench(f"{command} --merge", *names, *options.split(), **others)

    def lines(self, name):
        return [json.loads(line) for line in self.read(name).splitlines()]

    def sides_of(self, name):
        """Returns, for each block, whether it begins with base."""
        samples = [line for line in self.lines(name) if "position" in line]
        return [samples[at]["side"] == "base" for at in range(0, len(samples), 4)]


class Parts(PartsTest):
    def test_each_has_its_share_of_one_plan_and_gives_no_verdict(self):
        self.program("a")
        self.program("b", "sort=1100 hash=500")
        answer = self.part(1, 3, "--max-blocks 8")
        self.assertIn("part 1 of 3: 3 blocks, in p1\n", answer.stdout)
        self.assertIn("taskbench gate --merge JOURNAL...", answer.stdout)
        self.part(2, 3, "--max-blocks 8")
        self.part(3, 3, "--max-blocks 8")
        parts = [self.sides_of(f"p{number}") for number in (1, 2, 3)]
        self.part(1, 1, "--max-blocks 8")
        whole = self.sides_of("p1")
        self.assertEqual(whole, [parts[block % 3][block // 3] for block in range(8)])
        self.assertEqual([len(part) for part in parts], [3, 3, 2])
        plans = {self.lines(f"p{number}")[0]["part"]["plan"] for number in (2, 3)}
        self.assertEqual(len(plans), 1)
        self.part(2, 3, "--max-blocks 8 --seed 2")
        self.assertNotIn(self.lines("p2")[0]["part"]["plan"], plans)

    def test_a_part_tells_its_machine_and_measures_as_every_other_part_does(self):
        self.program("a")
        self.program("b")
        self.part(2, 2, "--max-blocks 4 --budget 1s")
        setup = self.lines("p2")[0]
        self.assertIn("cpu_model", setup["part"]["kind"])
        self.assertRegex(setup["part"]["machine"], "^[0-9a-f]{8}$")
        self.assertEqual((setup["repetitions"], setup["min_time_s"]), (9, 0.001))
        self.assertNotIn("--part", setup["reproduce"])

    def test_a_part_that_was_killed_goes_on_on_its_own_machine_only(self):
        self.program("a")
        self.program("b")
        self.part(2, 2, "--max-blocks 8")
        complete = self.sides_of("p2")
        self.cut("p2", 7)
        answer = self.taskbench("gate --resume --journal p2")
        self.assertIn("part 2 of 2: 4 blocks", answer.stdout)
        self.assertEqual(self.sides_of("p2"), complete)
        self.cut("p2", 7)
        setup, *others = self.read("p2").splitlines(keepends=True)
        machine = json.loads(setup)["part"]["machine"]
        self.write("p2", setup.replace(machine, "01234567") + "".join(others))
        self.refused("gate --resume --journal p2", says="was started on another machine")
        self.refused("gate --base ./a --head ./b --resume --journal p2 --part 1/2",
                     says="p2 is part 2/2 of a trial, not part 1/2")

    def test_of_n_parts_each_runs_an_nth_of_the_processes(self):
        # Every process takes the same time, so their number stands for the time to the verdict.
        self.program("a")
        self.program("b")
        def processes(number, of, blocks):
            before = [len(self.read(f"{name}.runs")) if self.written(f"{name}.runs")() else 0
                      for name in "ab"]
            self.part(number, of, f"--max-blocks {blocks}")
            return sum(len(self.read(f"{name}.runs")) for name in "ab") - sum(before)
        blocks = 32
        for of in (2, 4):
            part = processes(of, of, blocks)
            # What a part runs besides its blocks does not depend on their number, so the whole
            # trial follows from one part.
            whole = part + 4 * (blocks - blocks // of)
            self.assertLessEqual(part, 1.2 / of * whole, f"{of} parts")
            self.assertEqual(part - 4 * blocks // of, self.BESIDES)

    BESIDES = 6  # docs/parts.md says how many blocks make up for these

    def test_what_makes_no_part(self):
        self.refuse("gate --base a --head b --journal p --part", {
            "3": "--part '3': give I/N, such as 3/8",
            "4/3": "4",
            "0/3": "0",
            "x/3": "x",
            "1/9 --max-blocks 8": "there are only 8 blocks",
        })
        self.refused("gate --base a --head b --part 1/2", says="--journal")
        self.program("a")
        self.program("b")
        self.refused("gate --base ./a --head ./b --part 1/2 --journal p --explain",
                     says="--explain with --part: a part has no verdict that could be explained; "
                     "for what --merge calls a FAIL, run: taskbench gate --programs DIR")


class Merges(PartsTest):
    def test_parts_give_the_verdict_of_one_trial_whatever_their_order(self):
        self.program("a")
        self.program("b", "sort=1100 hash=500")
        names = self.on_machines(self.parts(4, "--max-blocks 16"))
        answer = self.merge(names, "--json r.json --markdown r.md", status=1)
        self.assertRegex(answer.stdout, r"(?m)^sort +FAIL ")
        self.assertRegex(answer.stdout, r"(?m)^hash +PASS ")
        self.assertRegex(answer.stdout, r"(?m)^ +2: host1 +2 +4 +25.0 % +\+")
        self.assertRegex(answer.stdout, r"(?m)^  another-\S+ +\|.*#.* \+\d+\.\d %$")
        self.assertIn("<summary>By machine</summary>", self.read("r.md"))
        report = self.load("r.json")
        jsonschema.validate(report, SCHEMA)
        self.assertEqual([machine["host"] for machine in report["machines"]],
                         ["host0", "host1", "host2", "host3"])
        self.assertEqual([(kind["machines"], kind["blocks"])
                          for kind in report["benchmarks"][0]["by_machine"]["kinds"]],
                         [(3, 12), (1, 4)])
        written = self.read("r.json"), self.read("r.md")
        for _ in range(3):
            random.Random(1).shuffle(names)
            again = self.merge(names, "--json r.json --markdown r.md", status=1)
            self.assertEqual(again.stdout, answer.stdout)
            self.assertEqual((self.read("r.json"), self.read("r.md")), written)
        self.assertEqual(self.merge(names, command="ab", status=1).stdout, answer.stdout)
        self.taskbench("report r.json --out report")
        self.assertIn("By machine", self.read("report/index.html"))
        self.assertIn("machines-sort", self.read("report/report.md"))

    def test_what_does_not_belong_together_is_refused(self):
        self.program("a")
        self.program("b")
        self.program("c", "sort=1100 hash=500")
        self.parts(2, "--max-blocks 4")
        shutil.copy(self.folder / "p2", self.folder / "again")
        cases = {
            "p1 again p2": "again and p2 are both part 2 of 2",
            "p1": "of 2 parts one is missing: 2; measure it",
            "p1 nothing": "nothing",
            "p1 a": "a",
            "p1 p2 --seed 2": "--seed",
            "p1 p2 --base a": "--base",
            "p1 p2 --explain": "--explain with --merge: journals do not have the programs, which "
                               "it runs once more; for what --merge calls a FAIL, run: taskbench "
                               "gate --programs DIR --workload NAME --explain",
        }
        self.refuse("gate --merge", cases)
        self.part(2, 2, "--max-blocks 4 --seed 2")
        self.refused("gate --merge p1 p2", says="p2 and p1 are parts of different trials")
        self.taskbench("gate --base './a --other' --head ./b --part 2/2 --journal p2 --exact off "
                       "--max-blocks 4")
        self.refused("gate --merge p1 p2", says="and the same arguments of their programs")
        self.write("other/file")
        self.part(2, 2, "--max-blocks 4 --cwd other")
        self.refused("gate --merge p1 p2", says="p2 and p1 are parts of different trials")
        self.part(2, 2, "--max-blocks 4", head="c")
        self.refused("gate --merge p1 p2", says="p2: its head is not that of p1")
        self.refused("gate --missing ok --base a --head b", says="--merge")

    def test_a_part_that_died_costs_its_own_blocks(self):
        self.program("a")
        self.program("b", "sort=1100 hash=500")
        names = self.parts(3, "--max-blocks 27")
        self.cut("p2", 1 + 4 * 2 + 3)
        self.refused("gate --merge p1 p2 p3", says="p2: the part has not ended, after 2 blocks")
        self.merge(names, "--missing ok --json r.json", status=1)
        self.assertEqual(self.load("r.json")["blocks"], 20)
        answer = self.merge(["p1", "p3"], "--missing ok --json r.json", status=1)
        self.assertEqual(self.load("r.json")["blocks"], 18)
        self.assertIn("1 of 3 parts is missing: 2.", answer.stdout)
        for begun in ("", self.read("p1")[:100]):
            self.write("p2", begun)
            again = self.merge(names, "--missing ok --json r.json", status=1)
            self.assertEqual(again.stdout, answer.stdout)
            self.refused("gate --merge p1 p2 p3", says="p2: is not a journal")
        self.refused("gate --merge p2 --missing ok", says="there is no part to merge")
        self.write("p2", "a table")
        self.refused("gate --merge p1 p2 p3 --missing ok", says="p2: is not a journal")

    def test_rounds_judge_before_the_last_part_has_ended(self):
        self.program("a")
        self.program("b", "sort=1300 hash=500", noise=0.01)
        names = self.parts(8, "--max-blocks 16")
        self.cut("p3", 1 + 4)
        answer = self.merge(names, "--rounds 2 --unit block --json r.json", status=1)
        self.assertRegex(answer.stdout, r"(?m)^sort +FAIL .* 8 ")
        self.assertFalse(self.load("r.json")["complete"])

    def test_counts_may_be_acknowledged_after_they_were_measured(self):
        self.program("a")
        self.program("b")
        self.taskbench("gate --base ./a --head ./b --part 1/1 --journal p1 --max-blocks 8")
        first, *others = self.read("p1").splitlines(keepends=True)
        counts = [{"instructions_of": "sort", "side": side, "per_iteration": [99, 99],
                   "reason": None, "kinds": {"fences": [count, count]}}
                  for side, count in (("base", 0), ("head", 5))]
        self.write("p1", first + "".join(json.dumps(line) + "\n" for line in counts) +
                   "".join(others))
        answer = self.merge(["p1"], status=1)
        self.assertIn("sort has more fences: 0 → 5", " ".join(answer.stdout.split()))
        self.merge(["p1"], "--acknowledge allocations", status=1)
        answer = self.merge(["p1"], "--acknowledge fences")
        self.assertRegex(answer.stdout, r"  its fences +PASS, acknowledged +0 +5")

    def test_identical_programs_pass_without_a_block(self):
        sides = ("--base", f"{BINARY} fib", "--head", f"{BINARY} fib")
        for number in (1, 2):
            answer = self.taskbench(f"gate --part {number}/2 --journal p{number}", *sides)
            self.assertIn("nothing was measured, because", answer.stdout)
        self.taskbench("gate --resume --journal p1")
        answer = self.merge(["p1", "p2"], "--json r.json")
        self.assertIn("PASS: nothing was measured", answer.stdout)
        self.assertEqual(self.load("r.json")["outcome"], "identical")


class Kills(PartsTest):
    MERGES = int(os.environ.get("TASKBENCH_MERGES", "2"))

    def test_parts_killed_at_any_moment_cost_their_own_blocks(self):
        self.program("a")
        self.program("b", "sort=1300 hash=500")
        drawn = random.Random(1)
        for _ in range(self.MERGES):
            names = [f"p{number}" for number in range(1, 5)]
            processes = [self.start(
                f"gate --base ./a --head ./b --part {number}/4 --max-blocks 16 --journal p{number} "
                "--exact off --quiet") for number in range(1, 5)]
            for process in drawn.sample(processes, 2):
                time.sleep(drawn.uniform(0, 0.4))
                process.kill()
            for process in processes:
                process.communicate(timeout=60)
            there = [name for name in names if (self.folder / name).exists() and
                     "\n" in self.read(name)]
            whole = sum((self.read(name).count('"position"') - (self.read(name)[-1:] != "\n")) // 4
                        for name in there)
            self.assertGreaterEqual(whole, 8)
            self.merge(there, "--missing ok --json r.json", status=(0, 1, 3))
            self.assertEqual(self.load("r.json")["blocks"], whole)
            self.assertNotEqual({row["name"]: row["verdict"] for row in
                                 self.load("r.json")["benchmarks"]}["hash"], "FAIL")
            for name in names:
                (self.folder / name).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
