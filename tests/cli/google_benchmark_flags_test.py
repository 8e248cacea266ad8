#!/usr/bin/env python3
"""taskbench in place of a Google Benchmark program: its flags, and its compare.py."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

from taskbench_command import BINARY, CommandTest, environment, main

COMPARE = Path("/usr/share/benchmark/compare.py")
CASE = "chained_spawn/work_stealing/workers:1/length:10"
CHOICE = ("--workers", "1", "--param", "chained_spawn.length=10")

# compare.py imports scipy and numpy, 100 MB, for a test not requested here, and for the geometric
# means in its last line.
SCIPY = """
class Means(list):
    def any(self):
        return any(self)
def mannwhitneyu(*args, **kwargs):
    raise NotImplementedError
def gmean(values):
    return Means(1.0 for _ in values[0])
"""


class Flags(CommandTest):
    def test_the_tests_are_listed_by_the_names_of_their_results(self):
        names = self.taskbench("--benchmark_list_tests", "--benchmark_filter=^chained", *CHOICE)
        self.assertEqual(names.stdout, CASE + "\n")
        all_names = self.taskbench("--benchmark_list_tests=true").stdout.splitlines()
        self.assertEqual(len(all_names), len(self.workload_names()))
        self.assertEqual(self.taskbench("run", "chained_spawn", "--list", *CHOICE).stdout,
                         CASE + "\n")

    def test_flags_mean_what_they_mean_to_google_benchmark(self):
        self.taskbench(
            "--benchmark_out=r.json", "--benchmark_out_format=json", "--benchmark_filter=chained",
            "--benchmark_repetitions=3", "--benchmark_min_time=0.001", *CHOICE,
            "--benchmark_counters_tabular=true", "--benchmark_display_aggregates_only",
            "--benchmark_report_aggregates_only=false", "--benchmark_list_tests=false",
        )
        rows = [row for row in self.load("r.json")["benchmarks"] if row["run_type"] == "iteration"]
        self.assertEqual([row["name"] for row in rows], [CASE] * 3)

    def test_the_format_json_is_printed_and_nothing_else(self):
        flags = ("--benchmark_format=json", "--benchmark_filter=chained",
                 "--benchmark_min_time=0.001", "--benchmark_repetitions=2", *CHOICE)
        for more, rows in (((), 2), (("--benchmark_out=r.json",), 1)):
            with self.subTest(more):
                result = self.taskbench(*flags, *more)
                printed = [row["name"] for row in json.loads(result.stdout)["benchmarks"]
                           if row["run_type"] == "iteration"]
                self.assertEqual(printed, [CASE] * rows)
                self.assertEqual(result.stderr, "")
        self.assertEqual(self.load("r.json")["benchmarks"][1]["name"], CASE)

    def test_what_taskbench_cannot_do_is_refused_and_names_what_it_can(self):
        self.refuse("", {
            "--benchmark_filte=x": "did you mean '--benchmark_filter'?",
            "--benchmark_perf_counters=x": "--benchmark_list_tests",
            "--benchmark_out_format=csv": "taskbench writes json",
            "--benchmark_format=csv": "prints console or json",
            "--benchmark_filter=-x": "cannot leave out",
            "--benchmark_min_time=5x": "takes a time",
            "--benchmark_out": "--benchmark_out needs a value",
            "list --benchmark_out=x": "--benchmark_out",
        })

    @unittest.skipUnless(COMPARE.exists(), "Debian's libbenchmark-tools has it")
    def test_compare_py_drives_two_of_them(self):
        for name, text in (("scipy/__init__.py", ""), ("scipy/stats.py", SCIPY),
                           ("numpy.py", "array = list\n")):
            self.write(name, text)
        answer = subprocess.run(
            [sys.executable, COMPARE, "--no-color", "--no-utest", "benchmarks", BINARY, BINARY,
             "--benchmark_filter=chained_spawn", "--benchmark_min_time=0.001",
             "--benchmark_repetitions=2", *CHOICE],
            cwd=self.folder, capture_output=True, text=True, check=False, timeout=100,
            env=environment(PYTHONPATH=str(self.folder)),
        )
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        self.assertRegex(answer.stdout, rf"(?m)^{CASE} +[+-]\d+\.\d+ ")


if __name__ == "__main__":
    main()
