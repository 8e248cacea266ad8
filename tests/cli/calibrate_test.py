#!/usr/bin/env python3
"""`taskbench calibrate`, with programs that differ by noise, or by more."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
from fake_program import fake_benchmark
from taskbench_command import CommandTest, main

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/schema/noise-v1.schema.json").read_text())
FEW = "--trials 5 --blocks 2 --allow-busy"
QUICK = f"{FEW} --trust-me"


class CalibrateTest(CommandTest):
    def copies(self, *names, **parts):
        """Makes programs of these names; returns them as one word of the command line."""
        return " ".join(self.program(name, **parts) for name in names or ("1", "2"))

    def calibrate(self, options, **others):
        return self.taskbench(f"calibrate {options}", **others)

    def stored(self):
        """Returns the only file in the store."""
        (file,) = (self.folder / "ci/baselines").glob("*.noise.json")
        return file

    def document(self):
        return json.loads(self.stored().read_text())

    def noise(self):
        return {row["name"]: row for row in self.document()["benchmarks"]}

    def compared(self, copies, options="", **others):
        """Returns what `ab` says about two programs, on one line."""
        base, head = copies.split()
        answer = self.taskbench(f"ab --base {base} --head {head} {options}", **others)
        return " ".join(answer.stdout.split())


class Floors(CalibrateTest):
    def test_a_calibration_is_stored_by_its_schema_and_used_by_ab(self):
        copies = self.copies()
        answer = self.calibrate(f"{copies} {QUICK}")
        self.assertRegex(answer.stdout, r"(?m)^sort +\d+\.\d % ")
        self.assertIn("5 trials of 2 blocks, 2 copies", answer.stdout)
        jsonschema.validate(self.document(), SCHEMA)
        self.assertLess(self.noise()["sort"]["epsilon"], 0.02)
        self.assertNotIn("taskbench-calibrate.journal", self.left())
        said = self.compared(copies, "--json r.json")
        self.assertRegex(said, r"Noise floor: .*calibrated 20\d\d-")
        rows = {row["name"]: row for row in self.load("r.json")["benchmarks"]}
        self.assertEqual(rows["sort"]["epsilon"], self.noise()["sort"]["epsilon"])

    def test_programs_of_a_kind_that_has_to_be_named(self):
        prints = ('for i in $(seq "$TASKBENCH_REPETITIONS"); do '
                  'echo "sort 1.00$(($$ % 10))$i ms"; done')
        copies = " ".join(self.script(name, prints) for name in ("1", "2"))
        self.calibrate(f"{copies} {QUICK} --kind lines")
        self.assertEqual(set(self.noise()), {"sort"})
        jsonschema.validate(self.document(), SCHEMA)

    def test_what_else_was_calibrated_on_the_machine_stays(self):
        copies = self.copies()
        self.calibrate(f"{copies} {QUICK}")
        earlier = {**self.document(), "date": "2020-01-31T00:00:00+00:00"}
        self.stored().write_text(json.dumps(earlier))
        rows = {row["name"]: row for row in earlier["benchmarks"]}
        keys = ("date", "copies", "blocks", "block_s", "copies_checked")
        origin = {key: earlier[key] for key in keys}
        others = self.copies("3", "4", times="sort=1000 new=7")
        for _ in range(2):  # earlier results stay earlier
            self.assertNotIn("hash", self.calibrate(f"{others} {QUICK}").stdout)
            self.assertEqual(self.document()["copies"], others.split())
            self.assertEqual(list(self.noise()), ["hash", "new", "sort"])
            self.assertEqual(self.noise()["hash"], {**rows["hash"], "earlier": origin})
            self.assertNotIn("earlier", self.noise()["sort"])
            self.assertNotEqual(self.noise()["sort"]["effects"], rows["sort"]["effects"])
            jsonschema.validate(self.document(), SCHEMA)
        said = self.compared(copies)
        self.assertRegex(said, r"calibrated 2020-01-31 with [^,]+, \d{4} days ago: measure it")
        self.assertRegex(said, r"calibrated 20\d\d-\d\d-\d\d with programs that were not")

    def test_the_difference_between_layouts_is_no_regression(self):
        # The copies of one build always differ by 8 %; as a change, that would fail.
        copies = f"{self.program('1', 'sort=1000')} {self.program('2', 'sort=1080')}"
        self.compared(copies, status=1)
        warned = self.calibrate(f"{copies} {QUICK}").stderr
        self.assertRegex(
            warned, r"noise floor of sort is [78]\.\d %, above the default --delta of 3\.0 %")
        self.assertGreater(self.noise()["sort"]["epsilon"], 0.075)
        self.assertRegex(
            self.compared(copies, "--max-blocks 8 --inconclusive pass"),
            r"sort \(([78]\.\d %), calibrated \S+ with programs that were not checked to be copies "
            r"of one build\): on this machine chance or rounding alone moves it by more than "
            r"3\.0 %, so that a slowdown below \1 passes",
        )

    def test_ab_says_if_there_is_no_calibration_or_an_old_one(self):
        copies = self.copies()
        self.assertIn("1.0 %, assumed: taskbench calibrate has not been run on this machine",
                      self.compared(copies))
        self.calibrate(f"{copies} {QUICK}")
        document = self.document()
        document["date"] = "2020-01-31T00:00:00+00:00"
        document["benchmarks"] = [r for r in document["benchmarks"] if r["name"] == "sort"]
        self.stored().write_text(json.dumps(document))
        said = self.compared(copies)
        self.assertRegex(said, r"calibrated 2020-01-31 with [^,]+, \d{4} days ago: measure it")
        self.assertIn("1.0 %, assumed: the calibration has no hash", said)

    def test_broken_calibrations_are_refused_by_ab_and_left_alone(self):
        copies = self.copies()
        self.calibrate(f"{copies} {QUICK}")
        for content in (b"", b"{}", b"[]", b'{"taskbench_noise": 99}', b"\xff\xfe"):
            self.stored().write_bytes(content)
            self.refused("ab --base ./1 --head ./2", says="not a calibration of this version")
            self.assertEqual(self.stored().read_bytes(), content)
        said = self.calibrate(f"{copies} {QUICK}").stderr  # a new measurement replaces it
        self.assertIn("was no calibration of this version; it is replaced", said)


class BusyMachines(CalibrateTest):
    def test_a_floor_of_a_busy_machine_is_stored_only_when_asked_for(self):
        copies = self.copies(takes_s=0.02)  # for each of two benchmarks in 40 processes
        few = f"{copies} --trials 5 --blocks 2 --trust-me --journal j"
        hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            said = self.calibrate(few, status=4).stderr
        finally:
            hog.kill()
            hog.wait()
        self.assertRegex(said, r"not stored: other processes used [0-9.]+ of \d+ CPUs")
        self.assertEqual(list((self.folder / "ci/baselines").glob("*")), [])
        self.calibrate(f"{few} --resume --allow-busy")
        self.assertIn("sort", self.noise())

    def test_the_budget_holds_for_the_discovery_and_the_last_trial_too(self):
        # Without a budget, discovery alone would take 60 s for one pair, and the trials 20 s for
        # the other.
        for sleep_s in (30, 0.5):
            copies = self.copies(f"a{sleep_s}", f"b{sleep_s}", body=f"time.sleep({sleep_s})")
            begun = time.monotonic()
            said = self.calibrate(f"{copies} --trust-me --allow-busy --journal j{sleep_s} "
                                  "--budget 1s", status=3).stderr
            self.assertLess(time.monotonic() - begun, 8)
            self.assertIn("fitted into 1 s, and a noise floor takes 5", said)

    def test_the_budget_holds_for_asking_the_copies_what_they_are_too(self):
        copies = " ".join(self.script(name, "sleep 30") for name in ("1", "2"))
        begun = time.monotonic()
        said = self.calibrate(f"{copies} --trust-me --allow-busy --budget 1s", status=3).stderr
        self.assertLess(time.monotonic() - begun, 8)
        self.assertIn("fitted into 1 s, and a noise floor takes 5", said)


class Copies(CalibrateTest):
    def objects(self):
        """Writes the object files of a program that runs like a benchmark; a script acts as its
        linker."""
        for name in ("a.o", "b.o", "c.o"):
            self.write(name, f"# {name}\n")
        self.write("main.txt", fake_benchmark("sort=1000"))
        self.script("link", '[ "$1" = -o ] || exit 1\nout=$2\nshift 2\n'
                    'cat main.txt "$@" >"$out" && chmod +x "$out"')

    def relink(self, options, status=0):
        done = subprocess.run([ROOT / "scripts/relink", *options.split()], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def test_copies_that_were_relinked_are_known_and_anything_else_is_refused(self):
        self.objects()
        link = "./link -o bench a.o b.o c.o"
        self.relink(f"copies --copies 3 -- {link}")
        one, two, three = (f"copies/{number}" for number in (1, 2, 3))
        self.assertEqual(len({self.read(copy) for copy in (one, two, three)}), 3)
        self.calibrate(f"{one} {two} {three} {FEW}")
        self.assertIs(self.document()["copies_checked"], True)
        self.assertNotIn("not checked", self.compared(f"{one} {two}", "--run-identical"))

        def refused(programs, says):
            for each in (says, "--trust-me accepts these"):
                self.refused(f"calibrate {programs} {FEW}", says=each)

        refused(f"{one} '{two} --x=1'", says="are run with different arguments")
        refused(f"{one} {self.program('4')}", says="there is no ")
        self.write("copies/9", self.read("4"), 0o755)
        refused(f"{one} copies/9", says="does not name")
        self.write("a.o", "# another\n")
        self.relink(f"others --copies 2 -- {link}")
        refused(f"{one} others/1", says="was linked from other objects than 'copies/1'")
        self.program(two, "sort=1150")
        refused(f"{one} {two}", says="is not what")
        self.calibrate(f"{one} {two} {QUICK}")
        self.assertIs(self.document()["copies_checked"], False)

    def test_relink_refuses_what_has_no_other_order(self):
        self.objects()
        for options, says in (
            ("copies --copies 3 -- ./link -o bench a.o", "compile it with -ffunction-sections"),
            ("copies --copies 3 -- ./link -o bench", "names no .o file"),
            ("copies --copies 3 -- ./link a.o b.o", "has no -o FILE"),
            ("copies --copies 3 -- ./link -o bench a.o b.o", "two orders only: say --copies 2"),
            ("copies --copies 7 -- ./link -o bench a.o b.o c.o", "than 7 orders: say --copies 6"),
            ("copies --copies 3 --", "there is no command after --"),
            ("--copies 3", "name the folder"),
        ):
            there = self.left()
            self.assertIn(says, self.relink(f"deep/{options}" if options[0] == "c" else options,
                                            status=2))
            self.assertEqual(self.left(), there)

    def test_relink_that_fails_leaves_what_was_there(self):
        self.objects()
        self.relink("copies --copies 2 -- ./link -o bench a.o b.o c.o")
        before = {name: self.read(f"copies/{name}") for name in self.left("copies")}
        self.assertEqual(sorted(before), [".relink", "1", "2"])
        self.write("a.o", "# another\n")
        self.script("link_two", '[ ! -e copies/2.new ] && ./link "$@"')
        self.relink("copies --copies 3 -- ./link_two -o bench a.o b.o c.o", status=1)
        self.relink("copies/in/it -- false -o bench a.o b.o c.o", status=1)
        self.assertEqual({name: self.read(f"copies/{name}") for name in self.left("copies")},
                         before)

    def test_of_one_object_the_functions_are_put_in_different_orders(self):
        functions = ("one", "two", "three", "four")
        self.write("bench.c", "int main(void) { return 0; }\n" +
                   "".join(f"int {name}(void) {{ return {len(name)}; }}\n" for name in functions))
        compiler = ["cc", "-ffunction-sections", "-c", "bench.c"]
        subprocess.run(compiler, cwd=self.folder, check=True)
        self.relink("copies --copies 3 -- cc -o bench bench.o")
        orders = set()
        for copy in ("1", "2", "3"):
            program = self.folder / "copies" / copy
            subprocess.run([program], check=True)
            names = subprocess.run(["nm", "--numeric-sort", program], capture_output=True,
                                   text=True, check=True).stdout.split()
            orders.add(tuple(name for name in names if name in functions))
            self.assertEqual(sorted(names.count(name) for name in functions), [1] * 4)
        self.assertEqual(len(orders), 3)
        self.assertEqual(sorted(os.listdir(self.folder / "copies")), [".relink", "1", "2", "3"])


class Journals(CalibrateTest):
    def test_killed_it_goes_on(self):
        copies = self.copies("1", "2", "3")
        command = f"calibrate {copies} {QUICK}"
        for trial, lines in (("001", 2), ("002", 6), ("004", 4)):
            journal = f"taskbench-calibrate.journal/{trial}.journal"
            self.kill(command, when=self.written(journal, lines))
            command = f"calibrate --resume {copies} {QUICK}"
        first = "taskbench-calibrate.journal/001.journal"
        kept = self.read(first)
        self.taskbench(f"{command} --journal taskbench-calibrate.journal")
        self.assertEqual(self.read(first), kept)
        self.assertEqual(len(self.noise()["sort"]["effects"]), 5)

    def test_control_c_says_how_to_go_on(self):
        body = "n = os.listdir('.'); 'taskbench-calibrate.journal' in n and time.sleep(30)"
        said = self.interrupt(
            f"calibrate --trust-me {self.copies(body=body)}",
            when=lambda: list(self.folder.glob("taskbench-calibrate.journal/*")))
        self.assertIn("interrupted; continue with: taskbench calibrate --resume", said)
        self.refused("calibrate ./1 ./2", says="from trials that have not ended")

    def test_other_copies_are_refused(self):
        copies = self.copies()
        self.calibrate(f"{copies} {QUICK} --journal j")
        (self.folder / "other").mkdir()
        self.program("2", "sort=2")
        self.refuse("calibrate", {
            "./1 ./2 --journal j": "j exists, from trials",
            "./1 ./2 --journal other": "--journal other: exists, and holds no trials",
            f"--resume {copies} --journal j --trust-me": "started with other copies",
            f"--resume {copies} --trust-me": "holds no trial to continue",
        })

    def test_other_options_than_the_trials_began_with_are_refused(self):
        copies = self.copies(times="sort=1000 hash=500")
        few = f"{copies} --trials 5 --blocks 2 --trust-me --allow-busy --journal j"
        self.calibrate(f"{few} --seed 7 --repetitions 2 --min-time 2ms")
        (self.folder / "j/005.journal").unlink()
        again = f"--resume {few}"
        others = ("--seed 8", "--repetitions 3", "--min-time 3ms", "--blocks 3", "--workload sort")
        self.refuse("calibrate", {
            **{f"{again.replace('--blocks 2', '')} {other}":
               f"{other.split()[0]}: the trials in j were started with another"
               for other in others},
            f"{again} --workload srot": "did you mean 'sort'?",
        })
        self.assertEqual(len(self.left("j")), 4)
        self.calibrate(f"{again} --seed 7 --repetitions 2 --min-time 2ms --workload sort,hash "
                       "--timeout 1m --budget 5m")

    def test_resuming_makes_as_many_trials_as_were_asked_for(self):
        copies = self.copies()
        self.calibrate(f"{copies} --trials 6 --blocks 2 --trust-me --allow-busy --journal j")
        for number in (5, 6):
            (self.folder / "j" / f"00{number}.journal").unlink()
        for more, trials in (("", 6), ("--trials 7", 7)):
            self.calibrate(f"--resume {copies} --trust-me --allow-busy --journal j {more}")
            self.assertEqual(len(self.left("j")), trials)

    def test_a_journal_that_lacks_blocks_is_refused(self):
        copies = self.copies()
        self.calibrate(f"{copies} {QUICK} --journal j")
        self.cut("j/001.journal", 3)
        self.refused(f"calibrate --trust-me --resume {copies} --journal j",
                     says="blocks of this trial are missing; delete j and start again")


class Refusals(CalibrateTest):
    def test_arguments(self):
        copies = self.copies()
        self.write("file", "x")
        self.refuse("calibrate", {
            "": "at least two copies",
            "./1": "at least two copies",
            "./1 /no/such": "cannot be started",
            f"{copies} --trials 4": "--trials",
            f"{copies} --blocks 1": "--blocks",
            f"{copies} --trust-me --workload srot": "did you mean 'sort'?",
            f"{copies} --trust-me --store file": "file: ",
            f"{copies} --trust-me --store file/in": "/file is not a folder",
        })
        self.assertEqual(self.read("file"), "x")
        self.refused(f"calibrate {copies} --trust-me --store new --resume", says="holds no trial")
        self.assertFalse((self.folder / "new").exists())

    def test_too_little_time_is_inconclusive_and_can_be_gone_on_with(self):
        # Slow only once trials have begun, so that even a busy machine lists the benchmarks in
        # time.
        body = ("n = set(os.listdir('.'))\n"
                "if {'slow', 'taskbench-calibrate.journal'} <= n: time.sleep(30)")
        copies = self.copies(body=body)
        self.write("slow", "")
        few = self.calibrate(f"{copies} {QUICK} --budget 3s", status=3)
        self.assertIn("a noise floor takes 5; continue with", few.stderr)
        (self.folder / "slow").unlink()
        self.assertEqual(list((self.folder / "ci/baselines").glob("*")), [])
        self.calibrate(f"--resume {copies} {QUICK} --budget 10m")

    def test_a_copy_that_fails_ends_it_with_status_5(self):
        bad = self.program("2", body="sys.exit(3)")
        answer = self.calibrate(f"{self.program('1')} {bad} {QUICK}", status=5)
        self.assertIn("exited with status 3", answer.stderr)


if __name__ == "__main__":
    main()
