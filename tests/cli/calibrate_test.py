#!/usr/bin/env python3
"""`taskbench calibrate`, on programs that differ by noise, or by more."""

import json
import os
import signal
import subprocess
import sys
import time

import jsonschema
from fake_program import FAKE
from taskbench_command import BINARY, CommandTest, environment, main

SCHEMA = os.path.join(
    os.path.dirname(__file__), "..", "..", "docs", "schema", "noise-v1.schema.json"
)
RELINK = os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "relink")
QUICK = ("--trials", "5", "--blocks", "2", "--trust-me")


class CalibrateTest(CommandTest):
    def copy(self, name, times="sort=1000 hash=500", noise=0.002, body=""):
        path = self.folder / name
        path.write_text(FAKE.format(python=sys.executable, times=times, noise=noise, body=body))
        path.chmod(0o755)
        return str(path)

    def calibrate(self, *arguments, status=0, **options):
        return self.taskbench("calibrate", *arguments, status=status, **options)

    def stored(self):
        """The one file of the store."""
        (file,) = (self.folder / "ci/baselines").glob("*.noise.json")
        return file

    def noise(self):
        document = json.loads(self.stored().read_text())
        return {row["name"]: row for row in document["benchmarks"]}


class Floors(CalibrateTest):
    def test_h3_is_stored_by_its_schema_and_taken_by_ab(self):
        copies = self.copy("1"), self.copy("2")
        answer = self.calibrate(*copies, *QUICK)
        self.assertRegex(answer.stdout, r"(?m)^sort +\d+\.\d % ")
        self.assertIn("5 trials of 2 blocks, 2 copies", answer.stdout)
        with open(SCHEMA, encoding="utf-8") as schema:
            jsonschema.validate(json.loads(self.stored().read_text()), json.load(schema))
        self.assertLess(self.noise()["sort"]["epsilon"], 0.02)
        self.assertFalse((self.folder / "taskbench-calibrate.journal").exists())
        trial = self.taskbench("ab", "--base", copies[0], "--head", copies[1], "--json", "r.json")
        self.assertRegex(" ".join(trial.stdout.split()), r"Noise floor: .*calibrated 20\d\d-")
        rows = {row["name"]: row for row in self.load("r.json")["benchmarks"]}
        self.assertEqual(rows["sort"]["epsilon"], self.noise()["sort"]["epsilon"])

    def test_what_else_was_calibrated_on_the_machine_stays(self):
        self.calibrate(self.copy("1"), self.copy("2"), *QUICK)
        earlier = json.loads(self.stored().read_text())
        earlier["date"] = "2020-01-31T00:00:00+00:00"
        self.stored().write_text(json.dumps(earlier))
        rows = {row["name"]: row for row in earlier["benchmarks"]}
        keys = ("date", "copies", "blocks", "block_s", "copies_checked")
        origin = {key: earlier[key] for key in keys}
        others = self.copy("3", "sort=1000 new=7"), self.copy("4", "sort=1000 new=7")
        for _ in range(2):  # what is earlier stays so
            answer = self.calibrate(*others, *QUICK)
            self.assertNotIn("hash", answer.stdout)
            document = json.loads(self.stored().read_text())
            self.assertEqual(document["copies"], list(others))
            self.assertEqual(list(self.noise()), ["hash", "new", "sort"])
            self.assertEqual(self.noise()["hash"], {**rows["hash"], "earlier": origin})
            self.assertNotIn("earlier", self.noise()["sort"])
            self.assertNotEqual(self.noise()["sort"]["effects"], rows["sort"]["effects"])
            with open(SCHEMA, encoding="utf-8") as schema:
                jsonschema.validate(document, json.load(schema))
        compare = ("ab", "--base", self.folder / "1", "--head", self.folder / "2")
        said = " ".join(self.taskbench(*compare).stdout.split())
        self.assertRegex(said, r"calibrated 2020-01-31 with [^,]+, \d{4} days ago: measure it")
        self.assertRegex(said, r"calibrated 20\d\d-\d\d-\d\d with programs that were not")

    def test_h3_what_layouts_differ_by_is_no_regression(self):
        # 8 % between the copies of one build, each time: as a change, it would fail.
        copies = self.copy("1", "sort=1000"), self.copy("2", "sort=1080")
        compare = ("ab", "--base", copies[0], "--head", copies[1])
        self.taskbench(*compare, status=1)
        warned = self.calibrate(*copies, *QUICK).stderr
        self.assertRegex(warned, r"noise floor of sort is [78]\.\d %, more than the 3\.0 % that")
        self.assertGreater(self.noise()["sort"]["epsilon"], 0.075)
        said = self.taskbench(*compare, "--max-blocks", "8", "--inconclusive", "pass").stdout
        self.assertRegex(
            " ".join(said.split()),
            r"sort: its noise floor is [78]\.\d % \(calibrated \S+ with programs that were not "
            r"checked to be copies of one build\): a slowdown of less passes, although 3\.0 % m",
        )

    def test_h3_without_and_with_an_old_calibration_ab_says_so(self):
        copies = self.copy("1"), self.copy("2")
        compare = ("ab", "--base", *copies[:1], "--head", *copies[1:])
        said = " ".join(self.taskbench(*compare).stdout.split())
        self.assertIn("1.0 %, assumed: taskbench calibrate has not been run on this machine", said)
        self.calibrate(*copies, *QUICK)
        document = json.loads(self.stored().read_text())
        document["date"] = "2020-01-31T00:00:00+00:00"
        document["benchmarks"] = [r for r in document["benchmarks"] if r["name"] == "sort"]
        self.stored().write_text(json.dumps(document))
        said = " ".join(self.taskbench(*compare).stdout.split())
        self.assertRegex(said, r"calibrated 2020-01-31 with [^,]+, \d{4} days ago: measure it")
        self.assertIn("1.0 %, assumed: the calibration has no hash", said)

    def test_broken_calibrations_are_refused_by_ab_and_left_alone(self):
        copies = self.copy("1"), self.copy("2")
        self.calibrate(*copies, *QUICK)
        for content in ("", "{}", "[]", '{"taskbench_noise": 99}', "\xff\xfe"):
            self.stored().write_bytes(content.encode("latin-1"))
            self.refused(
                "ab", "--base", copies[0], "--head", copies[1],
                says="no calibration of this version",
            )
            self.assertEqual(self.stored().read_bytes(), content.encode("latin-1"))
        said = self.calibrate(*copies, *QUICK).stderr  # measured anew, it is replaced
        self.assertIn("was no calibration of this version; it is replaced", said)


class Copies(CalibrateTest):
    def objects(self):
        """Object files of a program that is run like a benchmark, by a script as its linker."""
        for name in ("a.o", "b.o", "c.o"):
            (self.folder / name).write_text(f"# {name}\n")
        linker = self.folder / "link"
        fake = FAKE.format(python=sys.executable, times="sort=1000", noise=0.002, body="")
        (self.folder / "main.txt").write_text(fake)
        linker.write_text('#!/bin/sh\n[ "$1" = -o ] || exit 1\nout=$2\nshift 2\n'
                          'cat main.txt "$@" >"$out" && chmod +x "$out"\n')
        linker.chmod(0o755)

    def relink(self, *arguments, status=0):
        done = subprocess.run(
            [RELINK, *arguments], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def test_copies_that_were_relinked_are_known_and_anything_else_is_refused(self):
        self.objects()
        link = ("./link", "-o", "bench", "a.o", "b.o", "c.o")
        self.relink("copies", "--copies", "3", "--", *link)
        copies = [f"copies/{number}" for number in (1, 2, 3)]
        self.assertEqual(len({(self.folder / copy).read_text() for copy in copies}), 3)
        checked = QUICK[:-1]
        self.calibrate(*copies, *checked)
        self.assertIs(json.loads(self.stored().read_text())["copies_checked"], True)
        said = self.taskbench("ab", "--base", copies[0], "--head", copies[1], "--run-identical")
        self.assertNotIn("not checked", " ".join(said.stdout.split()))

        def refused(*programs, says):
            self.refused("calibrate", *programs, *checked, says=says)
            self.refused("calibrate", *programs, *checked, says="--trust-me takes these all the")

        refused(copies[0], f"{copies[1]} --x=1", says="are run with different arguments")
        refused(copies[0], self.copy("4"), says="there is no ")
        (self.folder / "copies/9").write_bytes((self.folder / "4").read_bytes())
        (self.folder / "copies/9").chmod(0o755)
        refused(copies[0], "copies/9", says="does not name")
        (self.folder / "a.o").write_text("# another\n")
        self.relink("others", "--copies", "2", "--", *link)
        refused(copies[0], "others/1", says="was linked from other objects than 'copies/1'")
        self.copy("copies/2", "sort=1150")
        refused(*copies[:2], says="is not what")
        self.calibrate(*copies[:2], *QUICK)
        self.assertIs(json.loads(self.stored().read_text())["copies_checked"], False)

    def test_relink_refuses_what_has_no_other_order(self):
        self.objects()
        for link, says in (
            (("./link", "-o", "bench", "a.o"), "fewer than two .o files"),
            (("./link", "a.o", "b.o"), "has no -o FILE"),
            (("./link", "-o", "bench", "a.o", "b.o"), "have fewer than 3 orders"),
            ((), "there is no command after --"),
        ):
            said = self.relink("copies", "--copies", "3", "--", *link, status=2)
            self.assertIn(says, said)
        self.assertIn("name the folder", self.relink("--copies", "3", status=2))


class Journals(CalibrateTest):
    def test_killed_it_goes_on(self):
        copies = self.copy("1"), self.copy("2"), self.copy("3")
        command = [BINARY, "calibrate", *copies, *QUICK]
        journal = self.folder / "taskbench-calibrate.journal"
        for trial, lines in (("001", 2), ("002", 6), ("004", 4)):
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            file = journal / f"{trial}.journal"
            while process.poll() is None:
                if file.exists() and file.read_text().count("\n") >= lines:
                    process.kill()
                    break
                time.sleep(0.002)
            self.assertNotEqual(process.wait(), 0)
            command = [BINARY, "calibrate", "--resume", *copies, *QUICK]
        kept = (journal / "001.journal").read_text()
        self.calibrate("--resume", *copies, *QUICK, "--journal", journal.name)
        self.assertEqual((journal / "001.journal").read_text(), kept)
        self.assertEqual(len(self.noise()["sort"]["effects"]), 5)

    def test_control_c_says_how_to_go_on(self):
        body = "n = os.listdir('.'); 'taskbench-calibrate.journal' in n and time.sleep(30)"
        process = subprocess.Popen(
            [BINARY, "calibrate", "--trust-me", self.copy("1", body=body),
             self.copy("2", body=body)],
            cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True,
        )
        while not list(self.folder.glob("taskbench-calibrate.journal/*")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("interrupted; continue with: taskbench calibrate --resume", said)
        self.refused("calibrate", "./1", "./2", says="from trials that have not ended")

    def test_other_copies_are_refused(self):
        copies = [self.copy("1"), self.copy("2")]
        self.calibrate(*copies, *QUICK, "--journal", "j")
        self.refused("calibrate", "./1", "./2", "--journal", "j", says="j exists, from trials")
        (self.folder / "other").mkdir()
        self.refused("calibrate", "./1", "./2", "--journal", "other",
                     says="--journal other: exists, and holds no trials")
        self.copy("2", times="sort=2")
        self.refused(
            "calibrate", "--resume", *copies, "--journal", "j", "--trust-me",
            says="started with other copies",
        )
        self.refused(
            "calibrate", "--resume", *copies, "--trust-me", says="holds no trial to continue"
        )

    def test_resuming_makes_as_many_trials_as_were_asked_for(self):
        copies = self.copy("1"), self.copy("2")
        self.calibrate(*copies, "--trials", "6", "--blocks", "2", "--trust-me", "--journal", "j")
        for number in (5, 6):
            (self.folder / "j" / f"00{number}.journal").unlink()
        self.calibrate("--resume", *copies, "--trust-me", "--journal", "j")
        self.assertEqual(len(list((self.folder / "j").iterdir())), 6)
        self.calibrate("--resume", *copies, "--trust-me", "--journal", "j", "--trials", "7")
        self.assertEqual(len(list((self.folder / "j").iterdir())), 7)

    def test_a_journal_that_lacks_blocks_is_refused(self):
        copies = self.copy("1"), self.copy("2")
        self.calibrate(*copies, *QUICK, "--journal", "j")
        first = self.folder / "j" / "001.journal"
        first.write_text("".join(first.read_text().splitlines(keepends=True)[:3]))
        self.refused("calibrate", "--trust-me", "--resume", *copies, "--journal", "j",
                     says="blocks of this trial are missing; delete j and start again")


class Refusals(CalibrateTest):
    def test_arguments(self):
        one, two = self.copy("1"), self.copy("2")
        self.refused("calibrate", says="at least two copies")
        self.refused("calibrate", one, says="at least two copies")
        self.refused("calibrate", one, "/no/such", says="cannot be started")
        self.refused("calibrate", one, two, "--trials", "4", says="--trials")
        self.refused("calibrate", one, two, "--blocks", "1", says="--blocks")
        trusted = ("calibrate", one, two, "--trust-me")
        self.refused(*trusted, "--workload", "srot", says="did you mean 'sort'?")
        (self.folder / "file").write_text("x")
        self.refused(*trusted, "--store", "file", says="file: ")
        self.refused(*trusted, "--store", "file/in", says="file/in: cannot be made")
        self.assertEqual((self.folder / "file").read_text(), "x")

    def test_too_little_time_is_inconclusive_and_can_be_gone_on_with(self):
        copies = self.copy("1", body="time.sleep(0.1)"), self.copy("2", body="time.sleep(0.1)")
        few = self.calibrate(*copies, *QUICK, "--budget", "1s", status=3)
        self.assertIn("a noise floor takes 5; continue with", few.stderr)
        self.assertEqual(list((self.folder / "ci/baselines").glob("*")), [])
        self.calibrate("--resume", *copies, *QUICK, "--budget", "10m")

    def test_a_copy_that_fails_ends_it_with_status_5(self):
        bad = self.copy("2", body="sys.exit(3)")
        answer = self.calibrate(self.copy("1"), bad, *QUICK, status=5)
        self.assertIn("exited with status 3", answer.stderr)


if __name__ == "__main__":
    main()
