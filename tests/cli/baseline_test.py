#!/usr/bin/env python3
"""`taskbench baseline`, on programs that are made to be fast, slow or broken.

The programs' times are made up, but the canary's are real, and are as noisy as the machine is. So
changes are far above what that noise could hide, --delta is large, and --allow-busy lets others use
the CPUs.
"""

import json
import os
import signal
import subprocess
import sys
import time

from fake_program import FAKE
from taskbench_command import BINARY, CommandTest, environment, main

LARGE = ("--delta", "900%", "--allow-busy")


class BaselineTest(CommandTest):
    measured = {}

    def program(self, name="a", times="sort=1000 hash=500", noise=0.002, body=""):
        path = self.folder / name
        path.write_text(FAKE.format(python=sys.executable, times=times, noise=noise, body=body))
        path.chmod(0o755)
        return str(path)

    def baseline(self, *arguments, status=0, **options):
        return self.taskbench("baseline", *arguments, status=status, **options)

    def save(self, *arguments, program=None, **options):
        program = program or self.program()
        return self.baseline(
            "save", "--program", program, "--processes", "7", "--allow-busy", *arguments, **options
        )

    def stored(self, name="default", kind=""):
        """The path of the one file of that name."""
        found = list((self.folder / "ci" / "baselines").glob(f"*/{name}{kind}.json"))
        self.assertEqual(len(found), 1, found)
        return found[0]

    def edit(self, change, name="default", kind=""):
        path = self.stored(name, kind)
        document = json.loads(path.read_text())
        change(document)
        path.write_text(json.dumps(document))
        return document

    def given_baseline(self):
        """What save() stores for the default program; measured once for all tests."""
        program = self.program()
        if not BaselineTest.measured:
            self.save(program="./a")
            store = self.folder / "ci"
            for path, content in self.everything().items():
                BaselineTest.measured[path.relative_to(store)] = content
        for path, content in BaselineTest.measured.items():
            copy = self.folder / "ci" / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
        return program

    def everything(self):
        """All of the store: nothing may change it that says that it does not."""
        store = self.folder / "ci"
        return {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}


class Saving(BaselineTest):
    def test_h3_save_list_show_compare_promote_rm(self):
        program = self.program()
        answer = self.save("nightly", program=program)
        self.assertRegex(answer.stderr, r"smaller slowdown .*: sort [\d.]+ %, hash [\d.]+ %;")
        said = answer.stdout
        self.assertIn("saved 'nightly' of 2 benchmarks, 7 processes", said)
        self.assertIn("and as its anchor", said)
        self.assertEqual(
            self.stored("nightly").read_bytes(), self.stored("nightly", ".anchor").read_bytes()
        )
        self.assertFalse((self.folder / "taskbench-baseline.journal").exists())

        table = self.baseline("list").stdout
        self.assertRegex(table, r"(?m)^nightly  \S+-[0-9a-f]{8} +yes +\d{4}-\d\d-\d\d .* 7 +2 ")
        listed = json.loads(self.baseline("list", "--format", "json").stdout)["baselines"]
        self.assertEqual([row["name"] for row in listed], ["nightly"])
        self.assertEqual(listed[0]["key"], self.stored("nightly").parent.name)

        shown = self.baseline("show", "nightly").stdout
        for text in ("cpu_model", "kernel", "canary: futex", "anchor of", "sort "):
            self.assertIn(text, shown)
        details = json.loads(self.baseline("show", "nightly", "--format", "json").stdout)
        rows = {row["name"]: row for row in details["baseline"]["benchmarks"]}
        self.assertAlmostEqual(rows["sort"]["median_ns"], 1000, delta=10)
        self.assertLessEqual(rows["sort"]["min_ns"], rows["sort"]["median_ns"])

        answer = self.baseline("compare", "nightly", *LARGE)
        self.assertIn("PASS: none of 2 benchmarks slower", answer.stdout)
        self.assertIn("7+7", answer.stdout)

        self.save("nightly", program=program)
        self.assertNotEqual(
            self.stored("nightly").read_bytes(), self.stored("nightly", ".anchor").read_bytes()
        )
        self.baseline("promote", "nightly")
        self.assertEqual(
            self.stored("nightly").read_bytes(), self.stored("nightly", ".anchor").read_bytes()
        )
        self.baseline("rm", "nightly")
        self.assertEqual(self.everything(), {})
        self.assertEqual(json.loads(self.baseline("list", "--format", "json").stdout),
                         {"baselines": []})

    def test_chosen_workloads_and_settings_are_kept(self):
        self.save("--workload", "hash", "--repetitions", "2", "--seed", "7")
        document = json.loads(self.stored().read_text())
        self.assertEqual([row["name"] for row in document["benchmarks"]], ["hash"])
        self.assertEqual(document["settings"]["repetitions"], 2)
        self.assertEqual(document["settings"]["seed"], 7)
        self.assertEqual(len(document["processes"]), 7)
        for one, next_one in zip(document["processes"], document["processes"][1:]):
            self.assertEqual(one["canary_after"], next_one["canary_before"])

    def test_beside_others_that_use_the_cpus_nothing_is_saved_unless_asked_for(self):
        program = self.program(body="time.sleep(0.2)")
        hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
        try:
            answer = self.baseline("save", "--program", program, "--processes", "7", status=4)
        finally:
            for hog in hogs:
                hog.kill()
                hog.wait()
        self.assertRegex(answer.stderr, r"not saved: other processes used [0-9.]+ of \d+ CPUs")
        self.assertIn("taskbench baseline save --resume --allow-busy", answer.stderr)
        self.assertFalse((self.folder / "ci").exists())
        self.baseline("save", "--resume", "--allow-busy")
        self.assertRegex(self.baseline("show").stdout, r"other processes used [0-9.]+ of \d+ CPUs")

    def test_taskbench_itself_shares_its_iteration_counts(self):
        options = "chained_spawn --workers 1 --param chained_spawn.length=10"
        self.save("--min-time", "1ms", program=f"{BINARY} {options}")
        document = json.loads(self.stored().read_text())
        iterations = document["benchmarks"][0]["iterations"]
        self.assertGreater(iterations, 0)
        self.assertTrue(document["build"]["workloads_version"])
        self.assertTrue(document["build"]["compiler"])
        answer = self.baseline(
            "compare", *LARGE, "--processes", "1", "--json", "r.json", "--inconclusive", "pass"
        )
        self.assertIn("7+1", answer.stdout)
        self.assertEqual(len(self.load("r.json")["benchmarks"]), 1)


class Verdicts(BaselineTest):
    def setUp(self):
        super().setUp()
        self.given_baseline()

    def compare(self, *arguments, times="sort=1000 hash=500", body="", **options):
        program = self.program("b", times, body=body)
        return self.baseline("compare", "--program", program, *arguments, **options)

    def test_h3_a_slowdown_fails_and_is_named(self):
        before = self.everything()
        answer = self.compare(
            *LARGE, "--json", "r.json", "--markdown", "r.md", times="sort=1e6 hash=500", status=1
        )
        self.assertIn("FAIL: 1 of 2 benchmarks slower", answer.stdout)
        report = self.load("r.json")
        self.assertEqual(report["verdict"], "FAIL")
        self.assertEqual([r["verdict"] for r in report["benchmarks"]], ["FAIL", "PASS"])
        row = report["benchmarks"][0]["against_baseline"]
        self.assertGreater(row["change"], row["limit"])
        self.assertGreater(row["detectable"], row["limit"])
        self.assertEqual((row["stored_processes"], row["fresh_processes"]), (7, 14))
        self.assertTrue(report["confirmed"])
        self.assertIn("measuring once more, to confirm it", answer.stderr)
        comment = (self.folder / "r.md").read_text()
        self.assertTrue(comment.startswith("### taskbench baseline: FAIL: 1 of 2"), comment)
        self.assertIn("# estimate", comment)
        self.assertEqual(self.everything(), before)

    def test_what_is_slower_only_once_is_not_confirmed(self):
        # Slow in the run that is not counted and the first seven.
        body = (
            "n = len([name for name in os.listdir('.') if name.startswith('run')])\n"
            "if 'benchmark_out' in flags: open(f'run{n}', 'w').close()\n"
            "times['sort'] = 1e6 if n <= 7 else 1e3"
        )
        answer = self.compare(*LARGE, "--json", "r.json", "--journal", "j", body=body, status=3)
        self.assertIn("sort: not confirmed: it was measured two times", answer.stdout)
        rows = {row["name"]: row for row in self.load("r.json")["benchmarks"]}
        self.assertTrue(rows["sort"]["unconfirmed"])
        self.assertFalse(rows["hash"]["unconfirmed"])
        self.assertEqual(rows["hash"]["verdict"], "PASS")
        again = ("baseline", "compare", "--resume", *LARGE, "--journal", "j")
        self.taskbench(*again, status=3)
        # Killed before the second series, it goes on with that.
        journal = self.folder / "j"
        lines = journal.read_text().splitlines(keepends=True)
        self.assertEqual(len(lines), 1 + 7 + 1 + 7)
        journal.write_text("".join(lines[:8]))
        self.taskbench(*again, status=3)
        self.assertEqual(len(journal.read_text().splitlines()), 16)

    def test_others_that_used_the_cpus_then_leave_no_verdict(self):
        def busy(document):
            for process in document["processes"]:
                process["cpu_use"] = {
                    "seconds": 1.0, "total_s": 2.0, "others_s": 50.0, "stolen_s": 0.5,
                }

        self.edit(busy)
        answer = self.compare("--json", "r.json", times="sort=1e6 hash=500", status=4)
        said = " ".join(answer.stdout.split())
        self.assertIn("ENVIRONMENT: other processes did not use the CPUs as they did then", said)
        self.assertIn("when the baseline was, other processes used 50.00 of 2 CPUs, and the "
                      "hypervisor took 0.50. Against a baseline of a busy machine", said)
        report = self.load("r.json")
        self.assertEqual(report["verdict"], "ENVIRONMENT")
        self.assertTrue(report["others_moved"])
        self.assertEqual(report["others_then"]["used"], 50)
        self.compare(*LARGE)
        self.assertIn("used 50.00 of 2 CPUs", self.baseline("show").stdout)

    def test_h3_gate_does_the_same_and_marks_its_comment(self):
        slow = self.program("b", times="sort=1e6 hash=500")
        self.taskbench("gate", "--baseline", "default", *LARGE, "--json", "r.json")
        gate = ("gate", "--baseline", "default", "--head", slow, *LARGE)
        answer = self.taskbench(*gate, "--markdown", "c.md", status=1)
        self.assertIn("FAIL", answer.stdout)
        comment = (self.folder / "c.md").read_text()
        self.assertTrue(comment.startswith("<!-- taskbench-gate -->\n### taskbench: FAIL"), comment)
        self.refused(*gate, "--base", slow, says="--base and --baseline exclude each other")
        self.refused(*gate, "--budget", "1m", says="--budget and --baseline exclude each other")
        self.refused("gate", "--baseline", "dfault", says="did you mean 'default'?")

    def test_h3_the_noise_floor_of_the_machine_is_the_least_that_matters(self):
        said = " ".join(self.compare(*LARGE, "--json", "r.json").stdout.split())
        self.assertIn("1.0 %, assumed: taskbench calibrate has not been run on this machine", said)
        self.assertEqual(
            [row["against_baseline"]["delta"] for row in self.load("r.json")["benchmarks"]],
            [9, 9],
        )
        copies = self.program("1"), self.program("2")
        self.taskbench("calibrate", *copies, "--trials", "5", "--blocks", "2", "--trust-me")
        (file,) = (self.folder / "ci/baselines").glob("*.noise.json")
        document = json.loads(file.read_text())
        document["benchmarks"][1]["epsilon"] = 5000  # of sort
        file.write_text(json.dumps(document))
        answer = self.compare(
            *LARGE, "--json", "r.json", times="sort=1e6 hash=500e3", status=1)
        said = " ".join(answer.stdout.split())
        self.assertIn("sort: its noise floor is 500000.0 % (calibrated 20", said)
        self.assertIn("a slowdown of less passes, although 900.0 % matter", said)
        hash_row, sort_row = sorted(self.load("r.json")["benchmarks"], key=lambda r: r["name"])
        self.assertEqual(sort_row["against_baseline"]["delta"], 5000)
        self.assertEqual(sort_row["verdict"], "PASS")
        self.assertEqual(hash_row["verdict"], "FAIL")

    def test_gate_writes_its_files_also_when_there_is_nothing_to_judge(self):
        gate = ("gate", "--baseline", "default", *LARGE, "--markdown", "c.md", "--json", "r.json")
        begins = "<!-- taskbench-gate -->\n### taskbench: no verdict: "

        def written():
            comment, document = (self.folder / "c.md").read_text(), self.load("r.json")
            self.assertEqual(document["verdict"], None)
            self.assertEqual(document["name"], "default")
            for name in ("c.md", "r.json"):
                (self.folder / name).unlink()
            return comment, document["failure"]

        broken = self.program("b", body="'benchmark_out' in flags and sys.exit('out of luck')")
        answer = self.taskbench(*gate, "--head", broken, status=5)
        comment, failure = written()
        self.assertTrue(comment.startswith(f"{begins}{broken} failed"), comment)
        self.assertIn("exited with status 1: out of luck", comment)
        self.assertEqual(failure["stage"], "measure")
        self.assertIn(failure["message"], answer.stderr)

        def another(document):
            document["machine"]["kernel"] = "2.4.0"

        self.edit(another)
        self.edit(another, kind=".anchor")
        self.taskbench(*gate, status=4)
        comment, failure = written()
        self.assertTrue(comment.startswith(f"{begins}no baseline of this machine"), comment)
        self.assertIn("kernel: '2.4.0' there", comment)
        self.assertEqual(failure["stage"], "machine")
        self.baseline("compare", "--json", "r.json", status=4)
        self.assertFalse((self.folder / "r.json").exists())

    def test_an_open_verdict_is_mapped_as_asked(self):
        def scattered(document):
            for i, process in enumerate(document["processes"]):
                process["real_ns"]["sort"] *= (1000, 1, 0.001)[i % 3]

        self.edit(scattered)
        answer = self.compare(*LARGE, status=3)
        self.assertRegex(answer.stdout, r"sort: undecided: less than the [0-9.]+ % that would be")
        one = (*LARGE, "--processes", "1")
        self.compare(*one, "--inconclusive", "pass", status=0)
        self.compare(*one, "--inconclusive", "fail", status=1)

    def test_h3_a_canary_that_moved_is_no_failure(self):
        def quick(document):
            for i, process in enumerate(document["processes"]):
                for canary in ("canary_before", "canary_after"):
                    process[canary] = {
                        "cpu_ns": 1e3 + i, "memory_ns": 1e3, "futex_ns": 1e3, "handover_ns": None,
                    }

        self.edit(quick)
        answer = self.compare(times="sort=1e6 hash=500", status=4)
        self.assertIn("ENVIRONMENT: the canary, which is always the same work", answer.stdout)
        self.assertRegex(answer.stdout, r"(?s)cpu \+\d.*memory\s\+\d.*futex\s\+\d")
        self.assertIn("sort", answer.stdout)
        self.assertNotIn("FAIL,", answer.stdout)
        self.assertNotIn("slower by 9", answer.stdout)

    def test_processes_that_find_the_cpus_elsewhere_are_set_aside_and_in_the_end_counted(self):
        def elsewhere(document):
            for process in document["processes"]:
                for canary in ("canary_before", "canary_after"):
                    process[canary]["handover_ns"] = 100 * (process[canary]["handover_ns"] or 1e5)

        self.edit(elsewhere)
        if os.cpu_count() == 1:
            self.assertNotIn("set aside", self.compare(*LARGE).stderr)
            return
        answer = self.compare("--delta", "900%", "--json", "r.json", status=4)
        self.assertIn("7 processes were set aside: the host had moved the CPUs", answer.stderr)
        self.assertTrue(self.load("r.json")["canary"]["handover"]["moved"])
        self.assertNotIn("set aside", self.compare(*LARGE, status=4).stderr)

    def test_a_drift_since_the_anchor_fails_and_says_so(self):
        def faster(document):
            document["date"] = "2020-02-03T04:05:06+00:00"
            for process in document["processes"]:
                process["real_ns"]["sort"] /= 1000

        self.edit(faster, kind=".anchor")
        answer = self.compare(*LARGE, status=1)
        self.assertIn("sort: drifted since the anchor of 2020-02-03", answer.stdout)
        self.assertIn("FAIL, drifted", answer.stdout)
        self.assertIn("1 of them only since the anchor", answer.stdout)
        self.baseline("promote", "default")
        self.compare(*LARGE, "--processes", "1")

    def test_benchmarks_of_one_side_are_told(self):
        answer = self.compare(*LARGE, "--processes", "1", times="sort=1000 new=5")
        self.assertIn("hash: only the baseline has it.", answer.stdout)
        self.assertIn("new: the baseline does not have it.", answer.stdout)
        program = self.program("c", times="new=5")
        self.refused("baseline", "compare", "--program", program, says="no benchmark in common")

    def test_a_program_that_fails(self):
        answer = self.compare(
            body="'benchmark_out' in flags and sys.exit('out of luck')", status=5
        )
        self.assertIn("exited with status 1: out of luck", answer.stderr)
        late = (
            "n = len(os.listdir()); open(f'run{n}', 'w').close()\n"
            "if n > 8: os.kill(os.getpid(), 9)"
        )
        self.assertIn("was killed by signal 9", self.compare(body=late, status=5).stderr)

    def test_h3_another_machine_is_refused_and_every_difference_named(self):
        def another(document):
            document["machine"]["kernel"] = "2.4.0"
            document["machine"]["cpu_stepping"] = "99"

        self.edit(another)
        self.edit(another, kind=".anchor")
        answer = self.baseline("compare", status=4)
        self.assertEqual(answer.stdout, "")
        self.assertIn("no baseline 'default' of this machine", answer.stderr)
        self.assertIn("kernel: '2.4.0' there, '", answer.stderr)
        self.assertIn("cpu_stepping: '99' there, '", answer.stderr)
        self.assertNotIn("cpu_model", answer.stderr)
        self.assertRegex(self.baseline("list").stdout, r"default +\S+ +no ")
        self.refused("baseline", "show", "default", says="for other machines only; choose by --key")
        self.refused("baseline", "rm", "default", says="for other machines only; choose by --key")
        key = json.loads(self.baseline("list", "--format", "json").stdout)["baselines"][0]["key"]
        self.assertIn("(another machine)", self.baseline("show", "--key", key).stdout)
        self.baseline("rm", "default", "--all-keys")
        self.assertEqual(self.everything(), {})

    def test_another_build_is_refused_and_named(self):
        def another(document):
            document["build"]["benchmark_library_build_type"] = "debug"

        self.edit(another)
        self.edit(another, kind=".anchor")
        answer = self.compare(status=4)
        self.assertIn("no baseline 'default' of this build", answer.stderr)
        self.assertIn("benchmark_library_build_type: 'debug' there, unknown here", answer.stderr)

    def test_of_another_machine_one_is_added_beside(self):
        def another(document):
            document["machine"]["kernel"] = "2.4.0"

        self.edit(another)
        self.edit(another, kind=".anchor")
        folder = self.stored().parent
        folder.rename(folder.parent / "another-12345678")
        before = self.everything()
        self.save(program=str(self.folder / "a"))
        after = self.everything()
        self.assertEqual(len(after), 4)
        for path, content in before.items():
            self.assertEqual(after[path], content)


class Journals(BaselineTest):
    def test_killed_at_any_moment_it_goes_on(self):
        program = self.program(body="time.sleep(0.02)")
        command = [BINARY, "baseline", "save", "--program", program, "--journal", "j"]
        journal = self.folder / "j"
        for lines in (1, 3, 6):
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while not journal.exists() or journal.read_text().count("\n") < lines:
                self.assertIsNone(process.poll())
                time.sleep(0.002)
            process.kill()
            process.wait()
            command = [BINARY, "baseline", "save", "--resume", "--journal", "j"]
        complete = journal.read_text().split("\n")[1:-1]
        self.assertGreaterEqual(len(complete), 5)
        self.baseline("save", "--resume", "--journal", "j", "--allow-busy")
        self.assertFalse(journal.exists())
        processes = json.loads(self.stored().read_text())["processes"]
        self.assertEqual(len(processes), 9)
        for line, process in zip(complete, processes):
            # What was measured before the kill is still there.
            self.assertEqual({"process": json.loads(line)["process"], **process}, json.loads(line))

    def test_control_c_says_how_to_go_on(self):
        body = "os.path.exists('j') and (open('pid', 'w').write(str(os.getpid())), time.sleep(60))"
        process = subprocess.Popen(
            [BINARY, "baseline", "save", "--program", self.program(body=body), "--journal", "j"],
            cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True,
        )
        while not (self.folder / "pid").exists() or not (self.folder / "pid").read_text():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("continue with: taskbench baseline save --resume --journal j", said)
        self.assertFalse((self.folder / "ci").exists())
        with self.assertRaises(ProcessLookupError):
            os.kill(int((self.folder / "pid").read_text()), 0)

    def test_a_killed_comparison_goes_on_and_says_the_same_again(self):
        self.given_baseline()
        program = self.program("b", body="time.sleep(0.02)")
        fresh = ("baseline", "compare", "--program", program, *LARGE, "--journal", "j")
        command = [BINARY, *fresh]
        journal = self.folder / "j"
        for lines in (2, 4):
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while not journal.exists() or journal.read_text().count("\n") < lines:
                self.assertIsNone(process.poll())
                time.sleep(0.002)
            process.kill()
            process.wait()
            self.refused(*fresh, says="and its comparison has not ended")
            command = [*command[:3], "--resume", *LARGE, "--journal", "j"]
        before = journal.read_text()
        again = ("compare", "--resume", *LARGE, "--journal", "j", "--json")
        self.baseline(*again, "1.json")
        whole = journal.read_text()
        self.assertTrue(whole.startswith(before[: before.rindex("\n") + 1]))
        self.assertEqual(whole.count("\n"), 1 + 7)
        os.remove(program)  # not needed for a verdict that is known
        self.baseline(*again, "2.json")
        self.assertEqual(
            (self.folder / "1.json").read_bytes(), (self.folder / "2.json").read_bytes()
        )
        self.taskbench(
            "gate", "--baseline", "default", "--resume", *LARGE, "--journal", "j",
            "--json", "3.json",
        )
        self.assertEqual(self.load("3.json")["benchmarks"], self.load("1.json")["benchmarks"])

    def test_a_comparison_with_another_baseline_is_not_gone_on_with(self):
        program = self.given_baseline()
        compare = ("compare", "--program", program, *LARGE, "--journal", "j")
        self.baseline(*compare)
        self.edit(lambda document: document["settings"].update(seed=77))
        self.refused(
            "baseline", "compare", "--resume", *LARGE, "--journal", "j",
            says="j was started against another baseline of that name",
        )
        self.refused("baseline", *compare, says="j exists; continue it with --resume")
        self.taskbench("gate", "--baseline", "default", *LARGE, "--journal", "j")  # started afresh

    def test_a_verdict_of_another_program_or_question_is_not_given_again(self):
        self.given_baseline()
        program = self.program("b")
        compare = ("baseline", "compare", "--program", program, *LARGE, "--journal", "j")
        gate = ("gate", "--baseline", "default", "--head", program, *LARGE, "--journal", "j")
        again = (*compare, "--resume")
        self.taskbench(*compare)
        self.taskbench(*again, "--processes", "7")
        self.taskbench(*gate, "--resume")
        self.refused(*again, "--processes", "9", says="j was started with --processes 7; name as")
        other = self.program("c", times="sort=1e6 hash=500")
        self.refused(*again[:2], "--program", other, *again[4:],
                     says=f"j was started with '{program}', not '{other}'; start again")
        self.taskbench("baseline", "compare", "--resume", "--journal", "j")  # as it was begun
        self.refused("baseline", "compare", "--resume", "--journal", "j", "--delta", "3%",
                     says="j was started with --delta 900% --alpha 1%; give the same")
        self.refused(*again, "--alpha", "5%", says="j was started with --delta 900% --alpha 1%")
        self.program("b", times="sort=1e6 hash=500")
        for command in (again, (*gate, "--resume")):
            self.refused(*command, says="is not the program that j was started with")
        os.remove(program)  # what is known needs no program
        self.taskbench(*again)
        self.refused("baseline", "save", "--resume", "--journal", "j", says="j is of a comparison")

    def test_a_baseline_saved_anew_is_another_one(self):
        program = self.given_baseline()
        self.baseline("compare", "--program", program, *LARGE, "--journal", "j")
        resume = ("baseline", "compare", "--resume", *LARGE, "--journal", "j")
        self.taskbench(*resume)
        before = self.everything()

        def touched(document):
            document["processes"][0]["real_ns"]["sort"] *= 1.01

        for kind, says in (("", "another baseline of that name"), (".anchor", "another anchor")):
            self.edit(touched, kind=kind)
            self.refused(*resume, says=f"j was started against {says}")
            for path, content in before.items():
                path.write_bytes(content)
        self.taskbench(*resume)
        first, rest = (self.folder / "j").read_text().split("\n", 1)
        setup = json.loads(first)
        del setup["compared_with"]
        (self.folder / "j").write_text(f"{json.dumps(setup)}\n{rest}")
        self.refused(*resume, says="j does not say which baseline it was started against")

    def test_the_default_journal_of_a_complete_comparison_makes_room(self):
        program = self.given_baseline()
        for _ in range(2):
            self.baseline("compare", "--program", program, *LARGE)
        self.assertTrue((self.folder / "taskbench-baseline-compare.journal").exists())

    def test_unfinished_and_damaged_ones_are_left_alone(self):
        for content in ("", "garbage\n", "{}\n", '{"taskbench_baseline_journal": 1}\n', "\xff\n"):
            (self.folder / "j").write_bytes(content.encode("latin-1"))
            self.refused("baseline", "save", "--resume", "--journal", "j", says="j: ")
            self.refused("baseline", "save", "--journal", "j", says="j exists")
            self.assertEqual((self.folder / "j").read_bytes(), content.encode("latin-1"))
        self.refused("baseline", "save", "--resume", "--journal", "none", says="cannot be opened")

    def test_one_that_could_not_be_stored_is_stored_without_measuring_again(self):
        store = self.folder / "ci"
        body = "open('ci', 'w').close()"  # comes into the way while it is measured
        self.save(program=self.program(body=body), status=2)
        store.unlink()
        (self.folder / "a").unlink()
        self.assertIn("saved 'default'", self.baseline("save", "--resume", "--allow-busy").stdout)

    def test_a_program_that_was_built_anew_is_noticed(self):
        body = "open('ci', 'w').close()"
        self.save(program=self.program(body=body), status=2)
        (self.folder / "ci").unlink()
        journal = self.folder / "taskbench-baseline.journal"
        journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:4]))
        self.program(times="sort=1")
        self.refused("baseline", "save", "--resume", says="it was built anew")
        self.refused("baseline", "save", "other", "--resume", says="is of the baseline 'default'")


if __name__ == "__main__":
    main()
