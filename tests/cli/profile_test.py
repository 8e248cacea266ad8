#!/usr/bin/env python3
"""`taskbench profile`, with fake and broken perfs."""

import xml.etree.ElementTree as xml

from taskbench_command import PerfTest, main

NO_PMU = 'if events == ["cycles"]: sys.exit("Error:\\nThe cycles event is not supported.")'

# What a fake perf leaves: a file with the size of its data, which is 0 until perf ends by itself.
DATA = (
    "open(out, 'wb').write(b'PERFILE2' + "
    "b''.join(each.to_bytes(8, sys.byteorder) for each in (104, 136, 0, 0, 0, {})))"
)


class ProfileTest(PerfTest):
    def profile(self, options="", duration="20ms", **others):
        result = self.taskbench("profile chained_spawn --param length=10 --workers 1 --duration "
                                f"{duration} {options}", **others)
        self.assertEqual(self.left("tmp"), [])
        return result

    def assert_picture(self, path):
        """The picture must be well-formed, with a tooltip in each frame, and no script but its
        own."""
        root = xml.fromstring(self.read(path))
        self.assertTrue(root.tag.endswith("}svg"))
        frames = [group for group in root if group.get("class", "").startswith("f ")]
        self.assertGreater(len(frames), 0)
        for frame in frames:
            self.assertRegex(frame[0].text, r"\(\d+ of \d+ samples, [\d.]+ %\)$")
        self.assertEqual(self.read(path).count("<script"), 1)


class Profile(ProfileTest):
    def test_writes_folded_stacks_and_a_picture(self):
        result = self.profile("--out a/b", env=self.fake_perf())
        self.assertEqual(self.read("a/b/profile.folded"),
                         "worker;clone3;taskbench::rt::task::poll 2\n")
        self.assert_picture("a/b/profile.svg")
        self.assertEqual(
            result.stdout,
            "chained_spawn/work_stealing/workers:1/length:10: 2 samples by cycles, 1 different "
            "stack\n")

    def test_interrupted_it_says_so_and_that_nothing_was_kept(self):
        env = self.fake_perf(f"if control: open({str(self.folder / 'begun')!r}, 'w')")
        errors = self.interrupt("profile chained_spawn --duration 1m --workers 1",
                                when=self.written("begun"), env=env)
        self.assertIn("note: interrupted; a profile of part of the time is not written", errors)
        self.assertEqual(self.left("taskbench-profile") + self.left("tmp"), [])

    def test_without_a_pmu_the_clock_of_the_cpu_is_sampled(self):
        result = self.profile("--frequency 499", env=self.fake_perf(NO_PMU, recorded="cpu-clock:u"))
        self.assertIn("2 samples by cpu-clock", result.stdout)
        (line, *_) = self.runs()
        self.assertIn("-D -1 --control fifo:", line)
        self.assertIn("-F 499 -e cpu-clock --call-graph dwarf,", line)
        self.assertIn("profile.svg", self.left("taskbench-profile"))

    def test_what_perf_took_in_place_of_cycles_is_told(self):
        result = self.profile(env=self.fake_perf(recorded="cpu-clock"))
        self.assertIn("2 samples by cpu-clock", result.stdout)

    def test_user_only_is_told_in_the_picture_and_in_the_summary(self):
        for recorded, name in (("cycles:u", "cycles"), ("cycles:Pu", "cycles"),
                               ("cpu_core/cycles/Pu", "cpu_core/cycles/"), ("cycles:P", "")):
            with self.subTest(recorded):
                result = self.profile(env=self.fake_perf(recorded=recorded))
                picture = self.read("taskbench-profile/profile.svg")
                if name:
                    self.assertIn(f"2 samples by {name} (user only), ", result.stdout)
                    self.assertIn("kernel.perf_event_paranoid=1", result.stderr)
                    self.assertIn(f": {name} (user only) at 997 Hz", picture)
                else:
                    self.assertNotIn("user only", result.stdout + result.stderr + picture)


class Faults(ProfileTest):
    def failed(self, says, env, status=4):
        result = self.profile(env=env, status=status)
        self.assertEqual(result.stdout, "")
        self.assertIn("taskbench: error: no profile: ", result.stderr)
        self.assertIn(says, result.stderr)
        self.assertEqual(self.left("taskbench-profile"), [])

    def test_no_perf_is_one_line_that_names_the_package(self):
        (self.folder / "empty").mkdir()
        self.failed("the package linux-perf provides it", self.env(PATH=str(self.folder / "empty")))

    def test_no_samples(self):
        self.failed("perf took no sample", self.fake_perf(script=""))

    def test_faults_of_perf_are_not_laid_to_the_workload(self):
        for body, says in (
            ('sys.exit("Error:\\nperf_event_paranoid setting is 4:\\n  -1: Allow")',
             "kernel.perf_event_paranoid=1"),
            ('control and sys.exit("cannot attach")', "cannot attach"),
            ("control and os.kill(os.getpid(), 9)", "perf record was killed by signal 9 (Killed)"),
            (f"control and ({DATA.format(0)}, os.kill(os.getpid(), 9))",
             "perf record was killed by signal 9 (Killed)"),
            ("control and hang_up()", "no profile: perf did not answer 'enable'"),
        ):
            with self.subTest(body):
                self.failed(says, self.fake_perf(body))

    def test_faults_of_the_workload_are_not_laid_to_perf(self):
        for body, says in (
            ("sys.stderr.write('taskbench: error: ping_pong: 3 of 4 answered\\n'), sys.exit(5)",
             "ping_pong: 3 of 4 answered"),
            (f"{DATA.format(3584)}, os.kill(os.getpid(), 11)",
             "under perf it was killed by signal 11 (Segmentation fault)"),
        ):
            with self.subTest(body):
                self.failed(f"taskbench: error: no profile: the workload failed: {says}",
                            self.fake_perf(f"control and ({body})"), status=5)

    def test_folder_without_permission_to_write(self):
        (self.folder / "closed").mkdir(mode=0o555)
        options = {"env": self.fake_perf(), **self.as_nobody()}
        for place, says in (("closed", "permission denied"), ("closed/new", "ermission denied")):
            result = self.refused(f"profile ping_pong --out {place}", says=says, **options)
            self.assertIn("closed", result.stderr)
            self.assertRegex(result.stderr, "name another|its permissions")
        (self.folder / "tmp").chmod(0o555)
        (self.folder / "out").mkdir()
        (self.folder / "out").chmod(0o777)
        result = self.refused("profile ping_pong --out out", says="TMPDIR", **options)
        self.assertIn("ermission denied", result.stderr)
        self.assertFalse((self.folder / "perf.log").exists())

    def test_what_is_refused(self):
        self.write("file")
        self.refuse("profile", {
            "ping_pong --out file/x": "--out: 'file/x' cannot be",
            "ping_pong --workers 1,2": "give one scheduler and one worker count only",
            "ping_pogn": "did you mean 'ping_pong'?",
            "ping_pong --frequency 0": "--frequency",
        })


if __name__ == "__main__":
    main()
