#!/usr/bin/env python3
"""`taskbench ladder`: what each step from tokio01 to work_stealing gains."""

import json
import shutil
import unittest

from taskbench_command import main
from terminal_session import TerminalTest

SMALL = "--param chained_spawn.length=10 --min-time 1ms --repetitions 1"


class Ladder(TerminalTest):
    def ladder(self, options, **others):
        return self.taskbench(f"ladder chained_spawn {SMALL} {options}", **others)

    def rungs(self):
        return self.listed("rungs")

    def test_every_step_has_a_row_with_its_time_and_what_it_gives(self):
        text = self.ladder("--max-blocks 8").stdout
        self.assertTrue(text.startswith("From tokio01 to work_stealing\n\n"), text)
        place = text.index("\nchained_spawn, 2 workers, 8 blocks\n") + 1
        rows = [line for line in text[place:].splitlines() if line[:1].isalnum()]
        steps = [each["step"] + (" (ours)" if each["ours"] else "") for each in self.rungs()]
        for step, row in zip(steps, rows[2:]):
            self.assertRegex(row, rf"^{step.replace('(', '.').replace(')', '.')} +[\d,]+ ")
        for row in rows[3 : 2 + len(steps)]:
            self.assertRegex(row, r" (–|[\d.]+×) +[\d.]+× … [\d.]+× +[\d.]+×$")
        self.assertRegex(text, r"In all [\d.]+× \([\d.]+× … [\d.]+×\); in Tokio's article 12.0×, "
                               r"2,019,796 → 168,854 ns\.")

    def test_json_holds_the_blocks_and_what_follows_from_them(self):
        answer = self.ladder("--workers 1 --max-blocks 2 --json r.json")
        self.assertIn("wrote r.json", answer.stderr)
        result = self.load("r.json")
        names = [rung["name"] for rung in self.rungs()]
        self.assertEqual([rung["scheduler"] for rung in result["rungs"]], names)
        self.assertEqual((names[0], names[-1]), ("tokio01", "work_stealing"))
        self.assertEqual((result["workers"], result["partial"]), (1, False))
        (workload,) = result["workloads"]
        self.assertEqual([len(block) for block in workload["blocks_ns"]], [len(names)] * 2)
        first, second = (block[0] / block[3] for block in workload["blocks_ns"])
        total = workload["rungs"][3]["total"]["ratio"]
        self.assertAlmostEqual(total, (first * second) ** 0.5, delta=1e-6 * total)

    def test_too_few_blocks_give_no_interval_and_so_no_step(self):
        text = self.ladder("--max-blocks 1").stdout
        rows = [line for line in text.splitlines() if "LIFO slot" in line]
        self.assertRegex(rows[0], r"[\d,]+ +– +– +[\d.]+×$")

    def test_the_budget_ends_it(self):
        self.ladder("--budget 1s --json r.json")
        self.assertLess(len(self.load("r.json")["workloads"][0]["blocks_ns"]), 32)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
    def test_report_has_a_waterfall_of_each_workload(self):
        self.ladder("imbalance --param tasks=10 --max-blocks 8 --quiet --report out")
        self.assertEqual(self.left("out"), ["index.html", "ladder.json", "plots", "report.md"])
        self.assertEqual(self.left("out/plots"), [
            f"ladder-{workload}.{form}" for workload in ("chained_spawn", "imbalance")
            for form in ("png", "svg")])
        self.assertIn("| throttled stealing |", self.read("out/report.md"))
        json.loads(self.read("out/ladder.json"))

    def test_report_of_its_json_is_the_page_that_it_writes_itself(self):
        self.ladder("--max-blocks 8 --quiet --report out")
        self.taskbench("report out/ladder.json --out again")
        for file in ("index.html", "report.md"):
            self.assertEqual(self.read(f"again/{file}"), self.read(f"out/{file}"))
        shutil.copy(self.folder / "out/ladder.json", self.folder / "r.json")
        result = self.load("r.json")
        result["workloads"][0]["blocks_ns"][0].pop()
        self.write("short", json.dumps(result))
        self.write("half", self.read("r.json")[:100])
        self.write("later", json.dumps({**result, "taskbench_ladder": 9}))
        self.refuse("report --out no", {
            "short": "short: not a sound answer of `taskbench ladder`: field 'workloads[0].blocks",
            "half": "half: not a sound answer of `taskbench ladder`: it is not valid JSON",
            "later": "'taskbench_ladder' is 9; this taskbench reads",
            "r.json half": "a ladder has a page of its own; give it alone",
        })
        self.refused("compare r.json r.json", says="`taskbench report` makes a page of it")

    def test_an_interruption_keeps_what_is_complete(self):
        session = self.session(
            f"ladder chained_spawn {SMALL} --max-blocks 1000 --json r.json --report out")
        session.read_until(lambda text: "block 3 of" in text)
        session.press(b"\x03")
        self.assertEqual(session.finish(), 130, session.text)
        self.assertIn("interrupted; the results are partial", session.text)
        result = self.load("r.json")
        self.assertTrue(result["partial"])
        self.assertGreaterEqual(len(result["workloads"][0]["blocks_ns"]), 2)
        self.assertEqual(self.left(), ["out", "r.json"])

    def test_refusals(self):
        self.refuse("ladder", {
            "chained_spwan": "did you mean 'chained_spawn'?",
            "--quiet": "--quiet without --json or --report",
            "--workers 0": "must be from 1",
            "--param nothing=1": "unknown parameter 'nothing'",
            "--json no/where.json": "no/where.json",
        })

    def test_a_rung_is_a_scheduler_by_its_name(self):
        small = self.small("chained_spawn", "yield_many")
        names = [rung["name"] for rung in self.rungs()]
        self.taskbench("run", *small, "--scheduler", ",".join(names), "--json", "r.json")
        rows = {row["run_name"] for row in self.load("r.json")["benchmarks"]}
        self.assertEqual(len(rows), 2 * len(names))
        self.taskbench("trace chained_spawn --scheduler ladder_queue --iterations 2 --out t.json")
        self.refused("run --scheduler ladder_lifo", says="did you mean 'ladder_lifo_slot'?")


if __name__ == "__main__":
    main()
