#!/usr/bin/env python3
"""Tests that depend on the machine: a perf that counts and samples, wrk, a disk that can be filled.
If any of them is skipped, ctest reports this file as skipped, with the reasons."""

import re
import shutil
import subprocess
import sys
import unittest

from counters_test import CASE, CountersTest
from fake_program import put_on_path
from profile_test import ProfileTest
from taskbench_command import CommandTest, become_nobody, environment, main

# perf itself is asked whether it works: a taskbench that breaks it must not skip its own tests.
PERF = shutil.which("perf")
PERF_COUNTS = PERF and subprocess.run(
    [PERF, "stat", "-e", "task-clock", "true"], capture_output=True, check=False
).returncode == 0

# A perf that kills the real perf, or what that has started, as soon as it is a taskbench. Like
# perf, it passes on how that ended.
KILLING = r"""#!{python} -IS
import os, subprocess, sys, time
if "--control" not in sys.argv:
    os.execv({perf!r}, ["perf", *sys.argv[1:]])
perf = subprocess.Popen([{perf!r}, *sys.argv[1:]])
while perf.poll() is None:
    children = open(f"/proc/{{perf.pid}}/task/{{perf.pid}}/children").read().split()
    if children and open(f"/proc/{{children[0]}}/comm").read().startswith("taskbench"):
        os.kill({{"perf": perf.pid, "workload": int(children[0])}}[{victim!r}], 9)
        break
    time.sleep(0.001)
status = perf.wait()
if status < 0:
    os.kill(os.getpid(), -status)
sys.exit(status)
"""


@unittest.skipUnless(shutil.which("wrk"), "no wrk here: scripts/install-deps test installs it")
class RealWrk(CommandTest):
    def test_its_figures_stand_in_the_result(self):
        self.taskbench("run http_hello --load wrk --min-time 1 --repetitions 1 --json r.json")
        (case,) = self.load("r.json")["taskbench"]["cases"]
        row = self.load("r.json")["benchmarks"][0]
        self.assertNotEqual(case["load"]["version"], "")
        # wrk's own rate, and the rate over the whole run, including wrk's start and end.
        self.assertGreater(row["requests_per_s"] * row["real_time"], 0.9 * 1000 * 1e9)
        self.assertLess(row["requests_per_s"] * row["real_time"], 1.5 * 1000 * 1e9)
        self.assertLessEqual(row["latency_p50_ns"], row["latency_p99_ns"])
        self.assertLessEqual(row["latency_p99_ns"], row["latency_slowest_ns"])


@unittest.skipUnless(PERF_COUNTS, "no perf that counts here: scripts/install-deps test installs it")
class RealPerf(CountersTest):
    def test_software_events_are_numbers_and_hardware_events_numbers_or_reasons(self):
        _, events, result = self.counted("basic,software")
        self.assertGreater(events["task-clock"]["median"], 0)
        self.assertEqual(events["task-clock"]["unit"], "ns")
        self.assertEqual(events["task-clock"]["samples"], 5)
        self.assertIsNotNone(events["page-faults"]["median"])
        for name in ("cycles", "instructions", "branches", "branch-misses"):
            self.assertEqual(events[name]["median"] is None, events[name]["reason"] is not None)
        self.assertIn("task-clock, ns", result.stdout)

    def test_only_the_timed_part_is_counted(self):
        arguments = self.small("chained_spawn", min_time="100ms")
        self.taskbench(f"run --workers 1 --iterations {CASE}=20 --counters task-clock --quiet "
                       "--json r.json", *arguments, env=self.env())
        own = self.load("r.json")["taskbench"]
        # Twenty iterations of ten spawns take microseconds; the warm-up takes 100 ms at least.
        event = own["cases"][0]["events_per_iteration"][0]
        self.assertLess(event["min"] * 20, 50e6)

    def test_event_that_perf_does_not_know_is_refused_with_one_that_is_near(self):
        near_miss = "; did you mean 'page-faults'?"
        for unknown, near in (("page-fualts", near_miss), ("nosuch_event", "")):
            answer = self.taskbench(*self.arguments(f"{unknown},task-clock"), env=self.env(),
                                    status=2)
            self.assertIn(f"perf knows no event '{unknown}'{near}", answer.stderr)

    def test_folder_whose_name_perf_cannot_be_told_is_named(self):
        """perf separates its two pipes by a comma."""
        (self.folder / "a,b").mkdir()
        own, events, _ = self.counted("page-faults", "--quiet",
                                      env={"TMPDIR": str(self.folder / "a,b")})
        self.assert_null(events["page-faults"], "has a comma")
        self.assertIn("TMPDIR", own["counter_pass"]["reason"])

    def test_without_permission_counts_are_user_only_or_null(self):
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="utf-8") as file:
            if int(file.read()) < 2:
                self.skipTest("perf_event_paranoid is below 2 here")
        self.folder.chmod(0o777)
        (self.folder / "tmp").chmod(0o777)
        own, events, _ = self.counted("context-switches,page-faults", "--quiet",
                                      preexec_fn=become_nobody)
        # If perf_event_paranoid denies it, every reason says so, and nothing needs to be skipped.
        denied = own["counter_pass"]["reason"] or ""
        if denied and "perf_event_paranoid" not in denied:
            self.skipTest(denied)
        self.assertTrue(events["page-faults"]["user_only"] or events["page-faults"]["reason"])
        self.assertIn("perf_event_paranoid=1", events["context-switches"]["reason"])


@unittest.skipUnless(PERF, "no perf here: scripts/install-deps test installs linux-perf")
class RealSampling(ProfileTest):
    def skip_without_sampling(self):
        denied = subprocess.run(
            ["perf", "record", "-q", "-e", "cpu-clock", "-o", self.folder / "data", "--", "true"],
            env=environment(LC_ALL="C"), capture_output=True, encoding="utf-8", check=False)
        if denied.returncode != 0:
            self.skipTest(f"perf cannot sample here: {' '.join(denied.stderr.split())[:200]}")

    def test_real_perf_that_is_killed_and_a_workload_that_is_are_told_apart(self):
        self.skip_without_sampling()
        for victim, status, says in (
            ("perf", 4, ": perf record was killed by signal 9"),
            ("workload", 5, ": the workload failed: under perf it was killed by signal 9"),
        ):
            with self.subTest(victim):
                path = put_on_path(self.folder / "bin", "perf", KILLING.format(
                    python=sys.executable, perf=PERF, victim=victim))
                result = self.profile(env=self.env(PATH=path), duration="20s", status=status)
                self.assertIn(says, result.stderr)

    def test_real_perf_finds_the_scheduler(self):
        self.skip_without_sampling()
        result = self.taskbench("profile ping_pong --duration 300ms --out p", env=self.env())
        self.assertRegex(result.stdout, r": \d+ samples by (cycles|cpu-clock)( \(user only\))?, ")
        folded = self.read("p/profile.folded")
        for line in folded.splitlines():
            self.assertRegex(line, r"^[^;]+(;[^;]+)+ \d+$")
        self.assertTrue(re.search(r"(?m)^worker;.*taskbench::", folded), folded[:1000])
        self.assert_picture("p/profile.svg")


class FullDisk(ProfileTest):
    def test_sampling_that_would_fill_the_disk_is_refused(self):
        free = shutil.disk_usage(self.folder).free
        if free > 150 << 30:
            self.skipTest(f"the disk has {free >> 30} GiB free: too much to be filled")
        result = self.refused("profile ping_pong --workers 1 --duration 600s --frequency 20000",
                              env=self.fake_perf(), says="10m of sampling at 20000 Hz on ")
        for word in ("GiB left", "--duration", "--frequency", "TMPDIR", str(self.folder / "tmp")):
            self.assertIn(word, result.stderr)
        self.assertFalse((self.folder / "perf.log").exists())
        self.assertEqual(self.left("tmp"), [])


if __name__ == "__main__":
    main()
