#!/usr/bin/env python3
"""`taskbench profile`: with fake and broken perfs."""

import os
import shutil
import sys
import xml.etree.ElementTree as xml

from taskbench_command import BINARY, CommandTest, become_nobody, main

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


# What a fake perf leaves: a file with the size of its data, which is 0 until perf ends by itself.
DATA = (
    "open(options[options.index('-o') + 1], 'wb').write("
    "b'PERFILE2' + b''.join(each.to_bytes(8, sys.byteorder) for each in (104, 136, 0, 0, 0, {})))"
)


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

    def profile(self, *arguments, env, duration="20ms", **options):
        result = self.taskbench(
            "profile", "chained_spawn", "--param", "length=10", "--workers", "1", "--duration",
            duration, *arguments, env=env, **options)
        self.assertEqual(os.listdir(self.folder / "tmp"), [])
        return result

    def assert_picture(self, path):
        """Well-formed, with a tooltip in each frame, and no script but its own."""
        root = xml.parse(path).getroot()
        self.assertTrue(root.tag.endswith("}svg"))
        frames = [group for group in root if group.get("class", "").startswith("f ")]
        self.assertGreater(len(frames), 0)
        for frame in frames:
            self.assertRegex(frame[0].text, r"\(\d+ of \d+ samples, [\d.]+ %\)$")
        self.assertEqual(path.read_text(encoding="utf-8").count("<script"), 1)


class Profile(ProfileTest):
    def test_writes_folded_stacks_and_a_picture(self):
        result = self.profile("--out", "a/b", env=self.fake_perf())
        folded = (self.folder / "a/b/profile.folded").read_text(encoding="utf-8")
        self.assertEqual(folded, "worker;clone3;taskbench::rt::task::poll 2\n")
        self.assert_picture(self.folder / "a/b/profile.svg")
        self.assertEqual(
            result.stdout,
            "chained_spawn/work_stealing/workers:1/length:10: 2 samples by cycles, 1 different "
            "stack\n")

    def test_interrupted_it_says_so_and_that_nothing_was_kept(self):
        begun = self.folder / "begun"
        env = self.fake_perf(f"if '--control' in options: open({str(begun)!r}, 'w')")
        errors = self.interrupt(
            ["profile", "chained_spawn", "--duration", "1m", "--workers", "1"], begun, env)
        self.assertIn("note: interrupted; a profile of part of the time is not written", errors)
        self.assertEqual(list((self.folder / "taskbench-profile").iterdir()), [])
        self.assertEqual(os.listdir(self.folder / "tmp"), [])

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

    def test_user_only_is_told_in_the_picture_and_in_the_summary(self):
        for recorded, name in (("cycles:u", "cycles"), ("cycles:Pu", "cycles"),
                               ("cpu_core/cycles/Pu", "cpu_core/cycles/")):
            with self.subTest(recorded):
                result = self.profile(env=self.fake_perf(recorded=recorded))
                self.assertIn(f"2 samples by {name} (user only), ", result.stdout)
                self.assertIn("kernel.perf_event_paranoid=1", result.stderr)
                picture = (self.folder / "taskbench-profile/profile.svg").read_text()
                self.assertIn(f": {name} (user only) at 997 Hz", picture)

    def test_with_the_kernel_nothing_is_said_of_user_only(self):
        result = self.profile(env=self.fake_perf(recorded="cycles:P"))
        self.assertNotIn("user only", result.stdout + result.stderr)
        self.assertNotIn("user only",
                         (self.folder / "taskbench-profile/profile.svg").read_text())


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

    def failed_workload(self, says, body):
        env = self.fake_perf(f'if "--control" in options:\n    {body}')
        result = self.profile(env=env, status=5)
        self.assertEqual(result.stdout, "")
        self.assertIn(f"taskbench: error: no profile: the workload failed: {says}", result.stderr)
        self.assertEqual(os.listdir(self.folder / "taskbench-profile"), [])

    def test_workload_that_fails_under_perf_is_no_fault_of_perf(self):
        self.failed_workload(
            "ping_pong: 3 of 4 answered",
            "sys.stderr.write('taskbench: error: ping_pong: 3 of 4 answered\\n'); sys.exit(5)")

    def test_workload_that_crashes_under_perf_is_no_fault_of_perf(self):
        self.failed_workload("under perf it was killed by signal 11 (Segmentation fault)",
                             f"{DATA.format(3584)}; os.kill(os.getpid(), 11)")

    def test_perf_that_is_killed_is_no_fault_of_the_workload(self):
        for left in ("pass", DATA.format(0)):
            with self.subTest(left):
                self.failed("perf record was killed by signal 9 (Killed)", self.fake_perf(
                    f'if "--control" in options:\n    {left}; os.kill(os.getpid(), 9)'))

    def test_perf_that_does_not_answer_is_no_fault_of_the_workload(self):
        self.failed("no profile: perf did not answer 'enable'", self.fake_perf("""
if "--control" in options:
    commands, answers = options[options.index("--control") + 1][5:].split(",")
    listening = os.open(commands, os.O_RDWR)
    child = subprocess.Popen(command)
    os.read(listening, 7)
    os.close(os.open(answers, os.O_WRONLY))
    sys.exit(child.wait())
"""))

    def test_folder_without_permission_to_write(self):
        env = self.fake_perf()
        binary = shutil.copy(BINARY, self.folder / "taskbench")
        (self.folder / "closed").mkdir(mode=0o555)
        self.folder.chmod(0o755)
        for place, says in (("closed", "permission denied"), ("closed/new", "ermission denied")):
            result = self.refused("profile", "ping_pong", "--out", place, says=says, env=env,
                                  binary=binary, preexec_fn=become_nobody)
            self.assertIn("closed", result.stderr)
            self.assertRegex(result.stderr, "name another|its permissions")
        self.assertFalse((self.folder / "perf.log").exists())

    def test_folder_for_temporary_files_without_permission_to_write(self):
        env = self.fake_perf()
        binary = shutil.copy(BINARY, self.folder / "taskbench")
        (self.folder / "tmp").chmod(0o555)
        (self.folder / "out").mkdir()
        (self.folder / "out").chmod(0o777)
        self.folder.chmod(0o755)
        result = self.refused(
            "profile", "ping_pong", "--out", "out", says="TMPDIR", env=env, binary=binary,
            preexec_fn=become_nobody)
        self.assertIn("ermission denied", result.stderr)

    def test_folder_that_cannot_be_made(self):
        (self.folder / "file").write_text("")
        self.refused("profile", "ping_pong", "--out", "file/x", says="--out: 'file/x' cannot be")

    def test_more_than_one_case_is_refused(self):
        self.refused("profile", "ping_pong", "--workers", "1,2", says="these are 2 cases")
        self.refused("profile", "ping_pogn", says="did you mean 'ping_pong'?")
        self.refused("profile", "ping_pong", "--frequency", "0", says="--frequency")


if __name__ == "__main__":
    main()
