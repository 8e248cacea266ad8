"""Runs the taskbench command like a user. The binary's path is in TASKBENCH_BINARY."""

import json
import os
import pwd
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from fake_program import fake_benchmark, fake_perf

BINARY = os.environ["TASKBENCH_BINARY"]
TIMEOUT_S = 120

# Variables that shape the output, and must not leak in from whoever runs the tests.
SHAPING_VARIABLES = ("NO_COLOR", "TERM", "COLUMNS")


def environment(**changes):
    """This process's environment without the variables that shape output, then with `changes`."""
    result = {name: value for name, value in os.environ.items() if name not in SHAPING_VARIABLES}
    result.update(changes)
    return result


def signals_at_default():
    """For preexec_fn: a test run started in the background may have SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def become_nobody():
    """For preexec_fn: root may write anywhere and start any number of threads."""
    if os.getuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)


def last_lines(text):
    """Returns what a terminal would show of `text`, considering only rewritten lines."""
    return [line.split("\r")[-1] for line in re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", text).split("\n")]


def without_note_of_drift(text):
    """Removes the note of drift: whether the machine changes while a test runs is not up to the
    test."""
    note = r"taskbench: note: the machine was disturbed [^\n]*\n"
    return re.sub(note, "", text.replace("\r\n", "\n"))


def without_progress(text):
    """Removes progress lines: whether a run takes long enough for one is not up to the test,
    either."""
    return re.sub(r"(?m)^taskbench: (?!error: |note: )[^\n]*\d (?:s|min) elapsed\b[^\n]*\n", "",
                  text)


def is_gone(pid):
    """Whether the process has ended; it may remain a zombie, as it is not our child."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def command_line(arguments):
    """Returns the words of `arguments`, the first of which is split as a shell would."""
    return [*shlex.split(str(arguments[0])), *map(str, arguments[1:])] if arguments else []


class CommandTest(unittest.TestCase):
    """A folder of its own for each test, and ways to call the command."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="taskbench-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    # --- files in the folder

    def write(self, name, content="", mode=0o644):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)
        return str(path)

    def script(self, name, text):
        return self.write(name, f"#!/bin/sh\n{text}\n", 0o755)

    def program(self, name="a", times="sort=1000 hash=500", noise=0.002, body="", takes_s=0,
                more=()):
        """Makes a benchmark program that takes these nanoseconds, says `more` of itself, and does
        `body` before it measures."""
        text = fake_benchmark(times, noise, body, takes_s=takes_s, more=more)
        return self.write(name, text, 0o755)

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def load(self, name):
        return json.loads(self.read(name), parse_constant=self.fail)

    def cut(self, name, lines):
        """Truncates the file to its first `lines` lines; -1: all but the last."""
        self.write(name, "".join(self.read(name).splitlines(keepends=True)[:lines]))

    def left(self, folder="."):
        return sorted(path.name for path in (self.folder / folder).iterdir())

    def as_nobody(self):
        """Returns options that call the command without root's privileges."""
        self.folder.chmod(0o755)
        binary = shutil.copy(BINARY, self.folder / "taskbench")
        return {"binary": binary, "preexec_fn": become_nobody}

    # --- calls

    def taskbench(self, *arguments, status=0, env=None, binary=BINARY, **options):
        """Runs the command in the test's folder and checks its exit status."""
        words = [str(binary), *command_line(arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        result = subprocess.run(
            words, env=environment(**(env or {})), stdin=subprocess.DEVNULL, encoding="utf-8",
            check=False, **{"cwd": self.folder, "timeout": TIMEOUT_S, **pipes, **options})
        shown = f"{shlex.join(words)}\n{result.stdout}\n{result.stderr}"
        expected = status if isinstance(status, tuple) else (status,)
        self.assertIn(result.returncode, expected, shown)
        return result

    def refused(self, *arguments, says, **options):
        """The command must end with status 2, print no result, and say `says` on one line."""
        result = self.taskbench(*arguments, status=2, **options)
        self.assertEqual(result.stdout, "")
        errors = without_progress(result.stderr)
        self.assertTrue(errors.startswith("taskbench: error: "), result.stderr)
        self.assertIn(says, errors.splitlines()[0])
        return result

    def refuse(self, command, cases, **options):
        """Expects a refusal in each of `cases`, which maps words after `command` to the message."""
        for words, says in cases.items():
            with self.subTest(f"{command} {words}"[:200]):
                self.refused(f"{command} {words}", says=says, **options)

    def start(self, *arguments, env=None, **options):
        """Starts the command, which is killed at the end of the test."""
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(
            [BINARY, *command_line(arguments)], env=environment(**(env or {})), encoding="utf-8",
            **{"stdin": subprocess.DEVNULL, "cwd": self.folder, **pipes,
               "preexec_fn": signals_at_default, **options})
        self.addCleanup(process.__exit__, None, None, None)
        self.addCleanup(process.kill)
        return process

    def wait_until(self, condition, process=None):
        end = time.monotonic() + TIMEOUT_S
        while not condition():
            if process:
                self.assertIsNone(process.poll(), "it has ended before")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.002)

    def written(self, name, lines=0):
        """A condition: the file exists and has at least this many lines."""
        path = self.folder / name
        return lambda: path.exists() and path.read_text().count("\n") >= lines

    def interrupt(self, *arguments, when, **options):
        """Sends SIGINT as soon as the condition holds; returns the standard error."""
        process = self.start(*arguments, **options)
        self.wait_until(when, process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 130, errors)
        return errors

    def kill(self, *arguments, when, **options):
        """Kills the command as soon as the condition holds."""
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = self.start(*arguments, **quiet, **options)
        self.wait_until(when, process)
        process.kill()
        process.wait()

    # --- what it offers

    def listed(self, topic):
        """Returns the rows of `taskbench list TOPIC --format json`."""
        return json.loads(self.taskbench("list", topic, "--format", "json").stdout)[topic]

    def workload_names(self):
        return [row["name"] for row in self.listed("workloads")]

    def small(self, *workloads, min_time="1ms", repetitions=2):
        """Returns arguments that make a run of these workloads (none: all) short."""
        arguments = [*workloads, "--min-time", min_time, "--repetitions", str(repetitions)]
        for row in self.listed("parameters"):
            if not workloads or row["workload"] in workloads:
                value = max(row["min"], min(row["default"], 10))
                arguments += ["--param", f"{row['workload']}.{row['name']}={value}"]
        return arguments

    def endless(self, workload="yield_many"):
        """Returns arguments of a run that continues until it is stopped, in short repetitions."""
        return self.small(workload, min_time="20ms", repetitions=10000)


class PerfTest(CommandTest):
    """Tests with a stand-in for perf, and a folder for what it leaves behind."""

    def setUp(self):
        super().setUp()
        (self.folder / "tmp").mkdir()

    def env(self, **changes):
        return {"TMPDIR": str(self.folder / "tmp"), **changes}

    def fake_perf(self, body="", **parts):
        return self.env(PATH=fake_perf(self.folder / "bin", body=body, **parts))

    def runs(self):
        """Returns the calls in which perf was to measure."""
        return [line for line in self.read("perf.log").splitlines() if " run " in line]


def main():
    """Runs the tests of the file. If some were skipped, their reasons come last, and the exit
    status makes ctest report the file as skipped, so that it does not look complete."""
    outcome = unittest.main(verbosity=2, exit=False).result
    for test, reason in outcome.skipped:
        print(f"SKIPPED: {test}: {reason}")
    sys.exit(1 if not outcome.wasSuccessful() else 77 if outcome.skipped else 0)
