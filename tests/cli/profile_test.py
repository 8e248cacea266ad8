#!/usr/bin/env python3
"""`taskbench profile`: with the real perf where there is one, and with broken ones."""

import os
import re
import shutil
import sys
import unittest
import xml.etree.ElementTree as xml

from taskbench_command import CommandTest, main

REAL_PERF = shutil.which("perf")

# A perf that records nothing and prints `script` when asked for the stacks.
FAKE = r"""#!{python} -IS
import os, subprocess, sys, threading
arguments = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(" ".join(arguments) + "\n")
if arguments[0] == "evlist":
    print({recorded!r})
    sys.exit()
if arguments[0] == "script":
    sys.stdout.write({script!r})
    sys.exit()
split = arguments.index("--")
options, command = arguments[1:split], arguments[split + 1:]
event = options[options.index("-e") + 1]
{body}
if "--control" in options:
    commands, answers = (os.open(path, os.O_RDWR)
                         for path in options[options.index("--control") + 1][5:].split(","))
    def serve():
        while True:
            os.read(commands, 100)
            os.write(answers, b"ack\n\x00")
    threading.Thread(target=serve, daemon=True).start()
status = subprocess.call(command)
sys.stdout.flush()
os._exit(status)
"""

SCRIPT = (
    "taskbench-wor-1 12 \n\t  18d408 taskbench::rt::task::poll\n\t  1098eb clone3\n\n"
    "taskbench-wor-0 11 \n\t  18d408 taskbench::rt::task::poll\n\t  1098eb clone3\n\n"
)
NO_PMU = 'if event == "cycles":\n    sys.exit("Error:\\nThe cycles event is not supported.")\n'


class ProfileTest(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "tmp").mkdir()

    def env(self, **changes):
        return {"TMPDIR": str(self.folder / "tmp"), **changes}

    def fake_perf(self, body="", script=SCRIPT, recorded="cycles:P"):
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        (folder / "perf").write_text(
            FAKE.format(python=sys.executable, body=body, script=script,
                        recorded=recorded,
                        log=str(self.folder / "perf.log")),
            encoding="utf-8")
        (folder / "perf").chmod(0o755)
        return self.env(PATH=f"{folder}:{os.environ['PATH']}")

    def profile(self, *arguments, env, **options):
        result = self.taskbench(
            "profile", "chained_spawn", "--param", "length=10", "--workers", "1", "--duration",
            "20ms", *arguments, env=env, **options)
        self.assertEqual(os.listdir(self.folder / "tmp"), [])
        return result

    def assert_picture(self, path):
        """Well-formed, without scripts, and with a tooltip in each frame."""
        root = xml.parse(path).getroot()
        self.assertTrue(root.tag.endswith("}svg"))
        frames = [group for group in root if group.get("class", "").startswith("f ")]
        self.assertGreater(len(frames), 0)
        for frame in frames:
            self.assertRegex(frame[0].text, r"\(\d+ of \d+ samples, [\d.]+ %\)$")
        self.assertNotIn("<script", path.read_text(encoding="utf-8"))


class Profile(ProfileTest):
    def test_writes_folded_stacks_and_a_picture(self):
        result = self.profile("--out", "a/b", env=self.fake_perf())
        folded = (self.folder / "a/b/profile.folded").read_text(encoding="utf-8")
        self.assertEqual(folded, "worker;clone3;taskbench::rt::task::poll 2\n")
        self.assert_picture(self.folder / "a/b/profile.svg")
        self.assertEqual(
            result.stdout,
            "chained_spawn/work_stealing/workers:1/length:10: 2 samples by cycles, 1 different "
            "stacks\n")

    def test_without_a_pmu_the_clock_of_the_cpu_is_sampled(self):
        env = self.fake_perf(NO_PMU, recorded="cpu-clock:u")
        result = self.profile("--frequency", "499", env=env)
        self.assertIn("2 samples by cpu-clock", result.stdout)
        log = (self.folder / "perf.log").read_text(encoding="utf-8").splitlines()
        line = [line for line in log if " run " in line][0]
        self.assertIn("-D -1 --control fifo:", line)
        self.assertIn("-F 499 -e cpu-clock --call-graph dwarf,", line)
        self.assertTrue((self.folder / "taskbench-profile" / "profile.svg").exists())

    def test_what_perf_took_in_place_of_cycles_is_told(self):
        result = self.profile(env=self.fake_perf(recorded="cpu-clock"))
        self.assertIn("2 samples by cpu-clock", result.stdout)

    @unittest.skipUnless(REAL_PERF, "no perf here: scripts/install-deps test installs linux-perf")
    def test_real_perf_finds_the_scheduler(self):
        result = self.taskbench("profile", "ping_pong", "--duration", "300ms", "--out", "p",
                                env=self.env())
        self.assertRegex(result.stdout, r": \d+ samples by (cycles|cpu-clock), ")
        folded = (self.folder / "p/profile.folded").read_text(encoding="utf-8")
        for line in folded.splitlines():
            self.assertRegex(line, r"^[^;]+(;[^;]+)+ \d+$")
        self.assertTrue(re.search(r"(?m)^worker;.*taskbench::", folded), folded[:1000])
        self.assert_picture(self.folder / "p/profile.svg")


class Faults(ProfileTest):
    def failed(self, says, env):
        result = self.profile(env=env, status=4)
        self.assertEqual(result.stdout, "")
        self.assertIn("taskbench: error: no profile: ", result.stderr)
        self.assertIn(says, result.stderr)
        self.assertEqual(os.listdir(self.folder / "taskbench-profile"), [])

    def test_no_perf_is_one_line_that_names_the_package(self):
        empty = self.folder / "empty"
        empty.mkdir()
        self.failed("the package linux-perf brings it", self.env(PATH=str(empty)))

    def test_no_permission_comes_with_the_command_that_gives_it(self):
        self.failed("kernel.perf_event_paranoid=1", self.fake_perf(
            'sys.exit("Error:\\nperf_event_paranoid setting is 4:\\n  -1: Allow")'))

    def test_no_samples(self):
        self.failed("perf took no sample", self.fake_perf(script=""))

    def test_perf_that_fails_while_it_records(self):
        self.failed("cannot attach", self.fake_perf(
            'if "--control" in options:\n    sys.exit("cannot attach")'))

    def test_folder_that_cannot_be_made(self):
        (self.folder / "file").write_text("")
        self.refused("profile", "ping_pong", "--out", "file/x", says="--out: 'file/x' cannot be")

    def test_more_than_one_case_is_refused(self):
        self.refused("profile", "ping_pong", "--workers", "1,2", says="these are 2 cases")
        self.refused("profile", "ping_pogn", says="did you mean 'ping_pong'?")
        self.refused("profile", "ping_pong", "--frequency", "0", says="--frequency")


if __name__ == "__main__":
    if not REAL_PERF:
        print("the test with the real perf is skipped: it is not installed", file=sys.stderr)
    main()
