#!/usr/bin/env python3
"""The first gate of each folder in examples/gate, run by the command in its README."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

from taskbench_command import CommandTest, main

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts/selftest"))
from gate_examples import EXAMPLES  # noqa: E402  (it lies beside the programs of the self-tests)


def needs(name):
    example = EXAMPLES[name]
    return unittest.skipUnless(example.is_there(), f"needs {example.needs}")


class GateExample(CommandTest):
    """A repository made from an example, with a branch in which one benchmark is slower."""

    def of(self, name):
        self.example = EXAMPLES[name]
        self.repository = self.folder / "repository"
        self.command = self.example.repository(self.repository, 30)
        self.env = self.example.environment(self.folder)

    def gate(self, *options, **others):
        return self.taskbench(
            f"{self.command} --cache {self.folder}/cache --json {self.folder}/r.json "
            f"--journal {self.folder}/j", *options,
            cwd=self.repository, timeout=600, env=self.env, **others)

    def verdicts(self):
        return {row["name"]: row["verdict"] for row in self.load("r.json")["benchmarks"]}

    def fails_alone(self, name):
        self.of(name)
        example = self.example
        self.gate("--budget", "3m", *example.options, status=1)
        failed = [each for each, verdict in self.verdicts().items() if verdict == "FAIL"]
        self.assertEqual(failed, [example.slower])
        self.assertEqual(set(self.verdicts()), {example.slower, *example.others})
        setup = self.load("r.json")["setup"]
        self.assertEqual(setup.get("kind", ""), example.kind)
        self.assertEqual(setup["left_out"], [])

    def layouts_take_turns(self):
        for side in ("base", "head"):
            self.assertEqual(len(self.load("r.json")[side].get("layouts", [])), 8)


class Command(GateExample):
    def test_a_slower_script_fails(self):
        self.fails_alone("shell")


@needs("lines")
class Lines(GateExample):
    def test_a_slower_benchmark_whose_times_are_printed_fails_and_no_other(self):
        self.fails_alone("lines")


@needs("go")
class Go(GateExample):
    def test_a_slower_benchmark_of_a_package_fails_and_no_other(self):
        self.fails_alone("go")

    def test_some_benchmarks_are_chosen_by_their_names(self):
        self.of("go")
        self.gate("--max-blocks", "2", "--inconclusive", "pass-always",
                  "--workload", "BenchmarkSizes/n=100,BenchmarkA")
        self.assertEqual(set(self.verdicts()), {"BenchmarkA", "BenchmarkSizes/n=100"})
        self.gate("--workload", "BenchmarkSizes/n=1", status=2)

    def test_a_package_of_the_standard_library_is_recognised_and_measured(self):
        self.of("go")
        subprocess.run(["go", "test", "-c", "-o", self.folder / "sort.test", "sort"],
                       cwd=self.repository, env={**os.environ, **self.env}, check=True)
        self.taskbench("ab --base ./sort.test --head ./sort.test --run-identical --max-blocks 1 "
                       "--workload BenchmarkSearchWrappers,BenchmarkSortInt1K --json r.json",
                       status=3)
        self.assertEqual(set(self.verdicts()), {"BenchmarkSearchWrappers", "BenchmarkSortInt1K"})
        self.assertEqual(self.load("r.json")["setup"]["kind"], "go")


@needs("rust")
class Rust(GateExample):
    def test_a_slower_benchmark_of_criterion_fails_and_no_other(self):
        self.fails_alone("rust")
        self.layouts_take_turns()


@needs("libtest")
class Libtest(GateExample):
    def test_a_slower_benchmark_of_libtest_fails_and_no_other(self):
        self.fails_alone("libtest")
        self.layouts_take_turns()


@needs("python")
class Pytest(GateExample):
    def test_a_slower_benchmark_of_pytest_fails_and_no_other(self):
        self.fails_alone("python")
        self.assertEqual(set(self.load("r.json")["setup"]["cpu_time_of"].values()), {"process"})

    def test_the_files_that_it_reads_are_put_into_a_folder_for_other_machines(self):
        self.of("python")
        folder = self.folder / "programs"
        out = ("--build-only", "both", "--out", folder)
        answer = self.gate(*out, status=2)
        self.assertIn("what 'python3 -m pytest test_five.py' reads is not known: name it by "
                      "--outputs", answer.stderr)
        self.gate(*out, "--outputs", "test_five.py,five.py")
        self.taskbench(f"gate --programs {folder} --kind pytest --max-blocks 1 --json r.json",
                       env=self.env, status=3, timeout=200)
        self.assertEqual(len(self.verdicts()), 5)

    def test_some_benchmarks_are_chosen_by_their_names(self):
        self.of("python")
        self.gate("--max-blocks", "1", "--inconclusive", "pass-always",
                  "--workload", "test_five.py::test_sizes[100]")
        self.assertEqual(set(self.verdicts()), {"test_five.py::test_sizes[100]"})


@needs("cmake")
class Cpp(GateExample):
    def test_a_slower_benchmark_of_google_benchmark_fails_and_no_other(self):
        self.fails_alone("cmake")
        self.layouts_take_turns()

    @needs("catch2")
    def test_a_slower_benchmark_of_catch2_fails_and_no_other(self):
        self.fails_alone("catch2")


if __name__ == "__main__":
    main()
