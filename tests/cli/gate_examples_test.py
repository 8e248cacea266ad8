#!/usr/bin/env python3
"""The first gate of each folder of examples/gate, by the command of its README."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from taskbench_command import CommandTest, main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/gate"
DEBIAN_CRATES = Path("/usr/share/cargo/registry")
DEBIAN_PYTHON = "/usr/bin/python3"  # for which Debian's packages are


def has_criterion():
    return shutil.which("cargo") and any(DEBIAN_CRATES.glob("criterion-0*"))


def has_pytest_benchmark():
    return subprocess.run([DEBIAN_PYTHON, "-c", "import pytest_benchmark"], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


class GateExample(CommandTest):
    """A repository made of an example, with a branch in which one benchmark is slower."""

    def of(self, example, file, old, new):
        self.repository = self.folder / "repository"
        shutil.copytree(EXAMPLES / example, self.repository)
        [block] = re.findall(r"```sh\n(.*?)```", (self.repository / "README.md").read_text(), re.S)
        self.command = block.replace("\\\n", " ").removeprefix("taskbench ")
        self.git("init", "-q")
        self.commit()
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        text = (self.repository / file).read_text()
        self.assertEqual(text.count(old), 1)
        (self.repository / file).write_text(text.replace(old, new))
        self.commit()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "a commit")

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words],
                       cwd=self.repository, check=True)

    def gate(self, options="", **others):
        return self.taskbench(
            f"{self.command} --cache {self.folder}/cache --json {self.folder}/r.json "
            f"--journal {self.folder}/j {options}",
            cwd=self.repository, timeout=600, **others)

    def verdicts(self):
        return {row["name"]: row["verdict"] for row in self.load("r.json")["benchmarks"]}

    def fails_alone(self, name, names, kind, options="--budget 3m", **others):
        self.gate(options, status=1, **others)
        failed = [each for each, verdict in self.verdicts().items() if verdict == "FAIL"]
        self.assertEqual(failed, [name])
        self.assertEqual(sorted(self.verdicts()), sorted(names))
        setup = self.load("r.json")["setup"]
        self.assertEqual(setup.get("kind", ""), kind)
        self.assertEqual(setup["left_out"], [])


    def layouts_take_turns(self):
        for side in ("base", "head"):
            self.assertEqual(len(self.load("r.json")[side].get("layouts", [])), 8)


class Command(GateExample):
    def test_a_slower_script_fails(self):
        self.of("shell", "count", "i=0", "i=-9000")
        self.fails_alone("command", ["command"], "command")


@unittest.skipUnless(shutil.which("go"), "needs Go")
class Go(GateExample):
    def setUp(self):
        super().setUp()
        self.of("go", "five/five_test.go", "{ benchmark(b, 1000) }", "{ benchmark(b, 1300) }")
        self.env = {"GOFLAGS": "-mod=mod", "GOCACHE": str(self.folder / "go")}

    def test_a_slower_benchmark_of_a_package_fails_and_no_other(self):
        self.fails_alone("BenchmarkB",
                         ["BenchmarkA", "BenchmarkB", "BenchmarkC", "BenchmarkSizes/n=100",
                          "BenchmarkSizes/n=200"], "go", env=self.env)

    def test_some_benchmarks_are_chosen_by_their_names(self):
        self.gate("--max-blocks 2 --inconclusive pass-always "
                  "--workload BenchmarkSizes/n=100,BenchmarkA", env=self.env)
        self.assertEqual(set(self.verdicts()), {"BenchmarkA", "BenchmarkSizes/n=100"})
        self.gate("--workload BenchmarkSizes/n=1", env=self.env, status=2)


@unittest.skipUnless(has_criterion(), "needs Cargo and Debian's librust-criterion-dev")
class Rust(GateExample):
    def test_a_slower_benchmark_of_criterion_fails_and_no_other(self):
        self.of("rust", "benches/five.rs", "steps(1000)", "steps(1300)")
        home = self.folder / "cargo"
        home.mkdir()
        (home / "config.toml").write_text(
            '[source.crates-io]\nreplace-with = "debian"\n'
            f'[source.debian]\ndirectory = "{DEBIAN_CRATES}"\n')
        # Criterion 0.3 measures each for two seconds at least, in each process.
        self.fails_alone("b", ["a", "b"], "criterion-0.3", "--workload a,b --max-blocks 8",
                         env={"CARGO_HOME": str(home),
                              "CARGO_TARGET_DIR": str(self.folder / "target")})
        self.layouts_take_turns()


@unittest.skipUnless(has_pytest_benchmark(), "needs Debian's python3-pytest-benchmark")
class Pytest(GateExample):
    def setUp(self):
        super().setUp()
        self.of("python", "test_five.py", "steps, 1000", "steps, 1300")
        self.env = {"PATH": f"{os.path.dirname(DEBIAN_PYTHON)}:{os.environ['PATH']}"}

    def test_a_slower_benchmark_of_pytest_fails_and_no_other(self):
        self.fails_alone("test_five.py::test_b",
                         [f"test_five.py::test_{name}"
                          for name in ("a", "b", "c", "sizes[100]", "sizes[200]")], "pytest",
                         env=self.env)
        self.assertEqual(set(self.load("r.json")["setup"]["cpu_time_of"].values()), {"process"})

    def test_the_files_that_it_reads_are_put_into_a_folder_for_other_machines(self):
        folder = self.folder / "programs"
        answer = self.gate(f"--build-only both --out {folder}", env=self.env, status=2)
        self.assertIn("what 'python3 -m pytest test_five.py' reads is not known: name it by "
                      "--outputs", answer.stderr)
        self.gate(f"--build-only both --out {folder} --outputs test_five.py,five.py",
                  env=self.env)
        self.taskbench(f"gate --programs {folder} --kind pytest --max-blocks 1 --json r.json",
                       env=self.env, status=3, timeout=200)
        self.assertEqual(len(self.verdicts()), 5)

    def test_some_benchmarks_are_chosen_by_their_names(self):
        self.gate("--max-blocks 1 --inconclusive pass-always "
                  "--workload test_five.py::test_sizes[100]", env=self.env)
        self.assertEqual(set(self.verdicts()), {"test_five.py::test_sizes[100]"})


@unittest.skipUnless(shutil.which("cmake"), "needs CMake")
class Cpp(GateExample):
    def test_a_slower_benchmark_of_google_benchmark_fails_and_no_other(self):
        self.of("cmake", "five.cpp", "B(benchmark::State& state) { steps(state, 1000)",
                "B(benchmark::State& state) { steps(state, 1300)")
        self.fails_alone("B", ["A", "B", "C", "Sizes/100", "Sizes/200"], "")
        self.layouts_take_turns()

    @unittest.skipUnless(Path("/usr/lib/cmake/Catch2").exists(), "needs Debian's catch2")
    def test_a_slower_benchmark_of_catch2_fails_and_no_other(self):
        self.of("catch2", "five.cpp", "steps(1000)", "steps(1300)")
        self.fails_alone("steps/b",
                         ["steps/a", "steps/b", "steps/c", "sizes, few of them/100",
                          "sizes, few of them/200"], "catch2")


if __name__ == "__main__":
    main()
