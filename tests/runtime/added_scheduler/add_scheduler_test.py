#!/usr/bin/env python3
"""Adds a scheduler to a copy of the project, with exactly the steps in ARCHITECTURE.md, builds the
command, and runs every workload on it. The scheduler is global_queue under another name.

usage: add_scheduler_test.py SOURCE_DIR WORK_DIR [CMAKE_ARGUMENT...]

WORK_DIR keeps the copy and its build for the next run. The CMAKE_ARGUMENTs name the compiler.
"""

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE, WORK = (Path(argument).resolve() for argument in sys.argv[1:3])
CMAKE_ARGUMENTS = sys.argv[3:]
COPY = WORK / "copy"
BUILD = WORK / "build"
COMMAND = BUILD / "cli" / "taskbench"

MODEL = "runtime/scheduler/global_queue"
FOLDER = "runtime/scheduler/added"
# Path: (a line that the file contains, the line to insert after it).
LINES = {
    "runtime/CMakeLists.txt": [
        ("  scheduler/current_thread/current_thread.cpp", "  scheduler/added/added.cpp"),
        ("    scheduler/engine.hpp", "    scheduler/added/added.hpp"),
    ],
    "runtime/schedulers.cpp": [
        ("#include <algorithm>\n", '#include "runtime/scheduler/added/added.hpp"'),
        ("     .make = make<work_stealing::InTurn>},",
         '    {.name = "added",\n'
         '     .summary = "one queue that all workers share",\n'
         "     .make = make<scheduler::Added>},"),
    ],
}


def run(*command, **options):
    """Returns what the command prints; it must succeed."""
    answer = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, check=False, **options,
    )
    if answer.returncode != 0:
        raise AssertionError(f"{command}: status {answer.returncode}\n{answer.stdout}")
    return answer.stdout


def copy_project():
    sys.path.insert(0, str(SOURCE / "tests" / "tidy"))
    from source import project_files  # pylint: disable=import-outside-toplevel

    shutil.rmtree(COPY, ignore_errors=True)
    for path in project_files(SOURCE):
        (COPY / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(SOURCE / path, COPY / path)  # keeps time stamps: a second build is short


def add_scheduler():
    (COPY / FOLDER).mkdir()
    for path in (SOURCE / MODEL).iterdir():
        text = path.read_text(encoding="utf-8")
        for old, new in (("global_queue", "added"), ("GlobalQueue", "Added")):
            text = text.replace(old, new)
        (COPY / FOLDER / ("added" + path.suffix)).write_text(text, encoding="utf-8")
    for path, insertions in LINES.items():
        text = (COPY / path).read_text(encoding="utf-8")
        for before, added in insertions:
            assert text.count(before + "\n") == 1, f"{path} has no single line {before}"
            text = text.replace(before + "\n", f"{before}\n{added}\n")
        (COPY / path).write_text(text, encoding="utf-8")


class AddedScheduler(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        copy_project()
        add_scheduler()
        run("cmake", "-S", COPY, "-B", BUILD, *CMAKE_ARGUMENTS, "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DCMAKE_UNITY_BUILD=ON",
            "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON", "-DTASKBENCH_BUILD_TESTS=OFF",
            "-DTASKBENCH_INSTALL=OFF")
        run("cmake", "--build", BUILD, "--parallel", len(os.sched_getaffinity(0)),
            "--target", "taskbench")

    def test_the_manual_for_newcomers_says_what_was_done(self):
        text = (SOURCE / "ARCHITECTURE.md").read_text(encoding="utf-8")
        row = next(line for line in text.splitlines() if line.startswith("| add a scheduler |"))
        for said in ("one new folder in `runtime/scheduler/`", "`Engine`", *map(
                lambda path: f"`{path}`", LINES)):
            self.assertIn(said, row)

    def test_the_rules_of_the_house_are_kept(self):
        run(sys.executable, COPY / "tests/tidy/tidy.py", "floors", "memory_order", "style",
            "sources_listed")

    def test_it_is_listed(self):
        answer = json.loads(run(COMMAND, "list", "schedulers", "--format", "json"))
        self.assertIn("added", [row["name"] for row in answer["schedulers"]])

    def test_every_workload_runs_on_it(self):
        for workers in (1, 2, 4):
            answer = run(COMMAND, "run", "--scheduler", "added", "--workers", workers,
                         "--repetitions", 3, "--min-time", "5ms", "--format", "csv", timeout=120)
            for workload in ("chained_spawn", "ping_pong", "spawn_many", "spawn_local",
                             "yield_many"):
                self.assertIn(f"{workload}/added/workers:{workers}", answer)

    def test_a_run_on_it_can_be_traced(self):
        run(COMMAND, "trace", "yield_many", "--scheduler", "added", "--workers", 2,
            "--out", WORK / "trace.json", timeout=120)
        self.assertTrue((WORK / "trace.json").stat().st_size > 1000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
