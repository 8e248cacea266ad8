"""Runs the taskbench command as its users do. The binary's path is in TASKBENCH_BINARY."""

import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BINARY = os.environ["TASKBENCH_BINARY"]
TIMEOUT_S = 120

# What decides how output looks, and must not leak in from whoever runs the tests.
SHAPING_VARIABLES = ("NO_COLOR", "TERM", "COLUMNS")


def environment(**changes):
    """This process's environment without what shapes output, then with `changes`."""
    result = {name: value for name, value in os.environ.items() if name not in SHAPING_VARIABLES}
    result.update(changes)
    return result


def signals_at_default():
    """For preexec_fn: a test run started in the background may have SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def become_nobody():
    """For preexec_fn: root may write everywhere and start any number of threads."""
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)


def last_lines(text):
    """What a terminal would show of `text`, as far as rewritten lines go."""
    return [line.split("\r")[-1] for line in re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).split("\n")]


def without_note_of_drift(text):
    """Whether the machine moves while a test runs is not the test's doing."""
    return re.sub(r"taskbench: note: the machine moved [^\n]*\n", "", text.replace("\r\n", "\n"))


class CommandTest(unittest.TestCase):
    """A folder of its own for each test, and ways to call the command."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="taskbench-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def taskbench(self, *arguments, status=0, env=None, binary=BINARY, **options):
        """Runs the command in the test's folder and checks its exit status."""
        result = subprocess.run(
            [str(binary), *map(str, arguments)],
            cwd=options.pop("cwd", self.folder),
            env=environment(**(env or {})),
            stdin=subprocess.DEVNULL,
            stdout=options.pop("stdout", subprocess.PIPE),
            stderr=options.pop("stderr", subprocess.PIPE),
            encoding="utf-8",
            timeout=TIMEOUT_S,
            check=False,
            **options,
        )
        shown = f"taskbench {' '.join(map(str, arguments))}\n{result.stdout}\n{result.stderr}"
        self.assertEqual(result.returncode, status, shown)
        return result

    def interrupt(self, arguments, begun, env):
        """Sends SIGINT as soon as the file `begun` is there; returns the standard error."""
        with subprocess.Popen(
            [BINARY, *map(str, arguments)], cwd=self.folder, env=environment(**env),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            encoding="utf-8", preexec_fn=signals_at_default,
        ) as process:
            self.addCleanup(process.kill)
            end = time.monotonic() + TIMEOUT_S
            while not begun.exists():
                self.assertIsNone(process.poll(), "it has ended before")
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 130, errors)
        return errors

    def refused(self, *arguments, says, **options):
        """The command must end with status 2, print no result, and say `says` on one line."""
        result = self.taskbench(*arguments, status=2, **options)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith("taskbench: error: "), result.stderr)
        self.assertIn(says, result.stderr.splitlines()[0])
        return result

    def listed(self, topic):
        """The rows of `taskbench list TOPIC --format json`."""
        return json.loads(self.taskbench("list", topic, "--format", "json").stdout)[topic]

    def workload_names(self):
        return [row["name"] for row in self.listed("workloads")]

    def small(self, *workloads, min_time="1ms", repetitions=2):
        """Arguments that make a run of these workloads (none: all) take a moment only."""
        arguments = [*workloads, "--min-time", min_time, "--repetitions", str(repetitions)]
        for row in self.listed("parameters"):
            if not workloads or row["workload"] in workloads:
                value = max(row["min"], min(row["default"], 10))
                arguments += ["--param", f"{row['workload']}.{row['name']}={value}"]
        return arguments

    def endless(self, workload="yield_many"):
        """Arguments of a run that goes on until it is stopped, in short repetitions."""
        return self.small(workload, min_time="20ms", repetitions=10000)

    def load(self, name):
        with open(self.folder / name, encoding="utf-8") as file:
            return json.load(file, parse_constant=self.fail)


def main():
    """Runs the tests of the file. Where some were skipped, their reasons come last, and the exit
    status is the one by which ctest calls it skipped: it must not look whole."""
    outcome = unittest.main(verbosity=2, exit=False).result
    for test, reason in outcome.skipped:
        print(f"SKIPPED: {test}: {reason}")
    sys.exit(1 if not outcome.wasSuccessful() else 77 if outcome.skipped else 0)
