#!/usr/bin/env python3
"""`taskbench run`: what is measured, and the formats in which the result is printed."""

import csv
import io
import os
import re

from taskbench_command import CommandTest, main


CASE = "chained_spawn/work_stealing/workers:1/length:10"


class Selection(CommandTest):
    """The choice of cases."""

    def measured(self, options, *more, **others):
        self.taskbench(f"run --json r.json --quiet {options}", *more, **others)
        return self.load("r.json")

    def settings(self, *arguments):
        return self.measured(*arguments)["taskbench"]["settings"]

    def repetitions(self, *arguments):
        rows = self.measured(*arguments)["benchmarks"]
        return [row for row in rows if row["run_type"] == "iteration"]

    def names(self, *arguments, **options):
        cases = self.measured(*arguments, **options)["taskbench"]["cases"]
        return [case["name"] for case in cases]

    def base_names(self, *arguments, **options):
        return ["/".join(n.split("/")[:3]) for n in self.names(*arguments, **options)]

    def test_default_is_every_workload_on_work_stealing_with_a_worker_for_each_usable_cpu(self):
        cpus = len(os.sched_getaffinity(0))
        expected = [f"{name}/work_stealing/workers:{cpus}" for name in self.workload_names()]
        self.assertEqual(self.base_names("", *self.small()), expected)

    def test_default_worker_count_follows_the_affinity_mask(self):
        one = {min(os.sched_getaffinity(0))}
        names = self.base_names("", *self.small("chained_spawn"),
                                preexec_fn=lambda: os.sched_setaffinity(0, one))
        self.assertEqual(names, ["chained_spawn/work_stealing/workers:1"])

    def test_default_repetitions_are_9_of_a_tenth_of_a_second(self):
        self.assertEqual(len(self.repetitions("chained_spawn --workers 1")), 9)
        settings = self.load("r.json")["taskbench"]["settings"]
        self.assertEqual((settings["repetitions"], settings["min_time_s"]), (9, 0.1))

    def test_all_combinations_of_workloads_schedulers_and_workers(self):
        names = self.base_names("--workers 1,3 --scheduler work_stealing",
                                *self.small("ping_pong", "spawn_many"))
        self.assertEqual(names, [f"{workload}/work_stealing/workers:{workers}"
                                 for workload in ("ping_pong", "spawn_many")
                                 for workers in (1, 3)])

    def test_what_a_scheduler_cannot_do_is_left_out_and_said(self):
        result = self.taskbench("run --scheduler work_stealing,current_thread --workers 1,2,3 "
                                "--json r.json", *self.small("chained_spawn"))
        self.assertIn(
            "taskbench: note: left out: current_thread with 2, 3 workers: it has only one\n",
            result.stderr,
        )
        names = {row["run_name"].split("/length")[0] for row in self.load("r.json")["benchmarks"]}
        self.assertEqual(
            names,
            {f"chained_spawn/work_stealing/workers:{n}" for n in (1, 2, 3)}
            | {"chained_spawn/current_thread/workers:1"},
        )

    def test_single_worker_scheduler_gets_one_worker_when_none_is_asked_for(self):
        names = self.base_names("--scheduler work_stealing,current_thread",
                                *self.small("chained_spawn"))
        self.assertIn("chained_spawn/current_thread/workers:1", names)
        self.assertEqual(len(names), 2)

    def test_filter_keeps_the_cases_that_match(self):
        names = self.base_names("--workers 1,2 --filter '^ping.*:2(/|$)'", *self.small())
        self.assertEqual(names, ["ping_pong/work_stealing/workers:2"])

    def test_plain_parameter_reaches_every_workload_that_has_it_and_scoped_one_wins(self):
        names = self.names(
            "spawn_many spawn_local chained_spawn --workers 1 --min-time 1ms --repetitions 1 "
            "--param tasks=20 spawn_local.tasks=30 chained_spawn.length=5")
        self.assertEqual(names, [
            "spawn_many/work_stealing/workers:1/tasks:20",
            "spawn_local/work_stealing/workers:1/tasks:30",
            "chained_spawn/work_stealing/workers:1/length:5",
        ])

    def test_option_equals_value_and_options_before_workloads(self):
        names = self.base_names(
            "--workers=1 --min-time=1ms --repetitions=1 --param=length=5 chained_spawn")
        self.assertEqual(names, ["chained_spawn/work_stealing/workers:1"])

    def test_pin_and_seed_are_accepted_and_recorded(self):
        settings = self.settings("--workers 1 --pin --seed 77", *self.small("spawn_local"))
        self.assertEqual((settings["seed"], settings["pinned"]), (77, True))

    def test_time_budget_decides_how_long_a_repetition_takes(self):
        answer = self.taskbench("run chained_spawn --workers 1 --repetitions 5 --time-budget 500ms "
                                "--json r.json")
        rows = [row for row in self.load("r.json")["benchmarks"] if row["run_type"] == "iteration"]
        # A busy machine leaves out some repetitions, and says so.
        left_out = re.search(r"(\d) repetitions? had no time in the --time-budget", answer.stderr)
        self.assertEqual(len(rows) + (int(left_out[1]) if left_out else 0), 5)
        self.assertGreater(len(rows), 0)
        settings = self.load("r.json")["taskbench"]["settings"]
        self.assertEqual(settings["time_budget_s"], 0.5)
        # 100 ms would be a fifth of the budget, and warming up takes its share.
        self.assertLess(settings["min_time_s"], 0.1)
        self.assertGreater(settings["min_time_s"], 0)

    def test_iterations_are_taken_as_given(self):
        rows = self.repetitions(f"--workers 1 --iterations {CASE}=4711",
                                *self.small("chained_spawn", "ping_pong"))
        counts = {row["run_name"].split("/")[0]: row["iterations"] for row in rows}
        self.assertEqual(counts["chained_spawn"], 4711)
        self.assertNotEqual(counts["ping_pong"], 4711)

    def test_durations_take_units(self):
        for text in ("0.002", "2ms", "2000us"):
            with self.subTest(text):
                arguments = self.small("chained_spawn", min_time=text, repetitions=1)
                self.assertAlmostEqual(self.settings("", *arguments)["min_time_s"], 0.002)

    def test_speed_comparison_call(self):
        rows = self.repetitions("chained_spawn --workers 2 --repetitions 5 --min-time 0.1")
        self.assertEqual(len(rows), 5)
        for row in rows:
            self.assertEqual(row["time_unit"], "ns")
            self.assertGreater(row["real_time"], 0)


class Formats(CommandTest):
    """The formats of standard output."""

    def test_table_names_every_workload(self):
        text = self.taskbench("run", *self.small()).stdout
        for name in self.workload_names():
            self.assertIn(name, text)
        self.assertNotIn("\x1b", text)

    def test_csv_has_a_header_and_a_row_a_repetition(self):
        text = self.taskbench("run", *self.small(), "--format", "csv").stdout
        rows = list(csv.DictReader(io.StringIO(text), strict=True))
        self.assertEqual(len(rows), 2 * len(self.workload_names()))
        for row in rows:
            self.assertNotIn(None, row, "a row is longer than the header")
            self.assertNotIn(None, row.values(), "a row is shorter than the header")
            self.assertGreater(float(row["real_ns"]), 0)

    def test_markdown_is_a_table(self):
        text = self.taskbench("run", *self.small(), "--format", "markdown").stdout
        # The workloads' own observations follow in separate tables.
        table = [line for line in text.split("\n\n")[1].splitlines() if line.startswith("|")]
        self.assertEqual(len(table), 2 + len(self.workload_names()))
        self.assertRegex(table[1], r"^\|(:?-+:?\|)+$")
        unescaped = [re.sub(r"\\.", "", line).count("|") for line in table]
        self.assertEqual(len(set(unescaped)), 1, "every row has as many cells")

    def test_quiet_prints_nothing_at_all(self):
        result = self.taskbench("run", *self.small("chained_spawn", "echo"), "--quiet", "--json",
                                "r.json")
        self.assertEqual((result.stdout, result.stderr), ("", ""))

    def test_result_on_a_full_standard_output_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = self.taskbench("run --json r.json", *self.small("chained_spawn"), stdout=full,
                                    status=2)
        self.assertIn("cannot write to standard output", result.stderr)
        self.assertFalse(self.load("r.json")["taskbench"]["partial"])


if __name__ == "__main__":
    main()
