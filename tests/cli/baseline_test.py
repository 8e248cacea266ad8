#!/usr/bin/env python3
"""`taskbench baseline`, with programs that are fast, slow or broken by design.

The programs' times are made up, but the canary's are real, and as noisy as the machine. Changes are
therefore far above what that noise could hide, --delta is large, and --allow-busy tolerates other
use of the CPUs.
"""

import json
import os
import shutil
import subprocess
import sys

from taskbench_command import BINARY, CommandTest, is_gone, main

# The CPUs that these tests may use.
CPUS = os.sched_getaffinity(0)

LARGE = "--delta 900% --allow-busy"
SLOW = "sort=1e6 hash=500"


def of_another_machine(document):
    document["machine"].update(kernel="2.4.0", cpu_stepping="99")


class BaselineTest(CommandTest):
    measured = {}

    def setUp(self):
        super().setUp()
        # On one CPU, the canary skips handing over a cache line, its slowest part on a busy
        # machine.
        os.sched_setaffinity(0, {max(CPUS)})

    def baseline(self, options, *more, **others):
        return self.taskbench(f"baseline {options}", *more, **others)

    def save(self, options="", program=None, **others):
        return self.baseline(f"save --processes 7 --allow-busy {options}", "--program",
                             program or self.program(), **others)

    def stored(self, name="default", kind=""):
        """Returns the path of the only file of this name."""
        (found,) = (self.folder / "ci/baselines").glob(f"*/{name}{kind}.json")
        return found

    def document(self, *words):
        return json.loads(self.stored(*words).read_text())

    def edit(self, change, kind=""):
        document = self.document("default", kind)
        change(document)
        self.stored(kind=kind).write_text(json.dumps(document))

    def edit_both(self, change):
        self.edit(change)
        self.edit(change, kind=".anchor")

    def given_baseline(self):
        """Provides what save() stores for the default program; measured once for all tests."""
        program = self.program()
        if not BaselineTest.measured:
            self.save(program="./a")
            for path, content in self.everything().items():
                BaselineTest.measured[path.relative_to(self.folder)] = content
        for path, content in BaselineTest.measured.items():
            self.write(path, content)
        return program

    def everything(self):
        """Returns everything in the store, to check that a command changes nothing."""
        store = self.folder / "ci"
        return {path: path.read_bytes() for path in store.rglob("*") if path.is_file()}


class Saving(BaselineTest):
    def test_save_list_show_compare_promote_rm(self):
        os.sched_setaffinity(0, CPUS)
        program = self.program()

        def same_as_anchor():
            return self.document("nightly") == self.document("nightly", ".anchor")

        answer = self.save("nightly", program)
        self.assertRegex(answer.stderr, r"slowdowns smaller .*: sort [\d.]+ %, hash [\d.]+ %;")
        self.assertIn("saved 'nightly' of 2 benchmarks, 7 processes", answer.stdout)
        self.assertIn("and as its anchor", answer.stdout)
        self.assertTrue(same_as_anchor())
        self.assertFalse((self.folder / "taskbench-baseline.journal").exists())

        table = self.baseline("list").stdout
        self.assertRegex(table, r"(?m)^nightly  \S+-[0-9a-f]{8} +yes +\d{4}-\d\d-\d\d .* 7 +2 ")
        (row,) = json.loads(self.baseline("list --format json").stdout)["baselines"]
        self.assertEqual((row["name"], row["key"]), ("nightly", self.stored("nightly").parent.name))

        shown = self.baseline("show nightly").stdout
        for text in ("cpu_model", "kernel", "canary: futex", "anchor of", "sort "):
            self.assertIn(text, shown)
        details = json.loads(self.baseline("show nightly --format json").stdout)
        rows = {row["name"]: row for row in details["baseline"]["benchmarks"]}
        self.assertAlmostEqual(rows["sort"]["median_ns"], 1000, delta=10)
        self.assertLessEqual(rows["sort"]["min_ns"], rows["sort"]["median_ns"])

        answer = self.baseline(f"compare nightly {LARGE}")
        self.assertIn("PASS: none of 2 benchmarks is slower by 900.0 % or more", answer.stdout)
        self.assertIn("7+7", answer.stdout)

        self.save("nightly", program)
        self.assertFalse(same_as_anchor())
        self.baseline("promote nightly")
        self.assertTrue(same_as_anchor())
        self.baseline("rm nightly")
        self.assertEqual(self.everything(), {})
        self.assertEqual(json.loads(self.baseline("list --format json").stdout), {"baselines": []})

    def test_chosen_workloads_and_settings_are_kept(self):
        self.save("--workload hash --repetitions 2 --seed 7")
        document = self.document()
        self.assertEqual([row["name"] for row in document["benchmarks"]], ["hash"])
        self.assertEqual(document["settings"]["repetitions"], 2)
        self.assertEqual(document["settings"]["seed"], 7)
        self.assertEqual(len(document["processes"]), 7)
        for one, next_one in zip(document["processes"], document["processes"][1:]):
            self.assertEqual(one["canary_after"], next_one["canary_before"])

    def test_benchmarks_are_kept_in_the_order_of_the_program(self):
        # The results arrive in the order in which they were drawn.
        self.save(program=self.program(body="times = dict(reversed(times.items()))"))
        self.assertEqual([row["name"] for row in self.document()["benchmarks"]], ["sort", "hash"])

    def test_beside_others_that_use_the_cpus_nothing_is_saved_unless_asked_for(self):
        # Seven processes take a second at least: the kernel's counts are too coarse for less.
        program = self.program(body="time.sleep(0.2)")
        hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])  # on the same CPU
        try:
            answer = self.baseline(f"save --program {program} --processes 7", status=4)
        finally:
            hog.kill()
            hog.wait()
        self.assertRegex(answer.stderr, r"not saved: other processes used [0-9.]+ of \d+ CPUs")
        self.assertIn("taskbench baseline save --resume --allow-busy", answer.stderr)
        self.assertFalse((self.folder / "ci").exists())
        self.baseline("save --resume --allow-busy")
        self.assertRegex(self.baseline("show").stdout, r"other processes used [0-9.]+ of \d+ CPUs")

    def test_taskbench_itself_shares_its_iteration_counts(self):
        options = "chained_spawn --workers 1 --param chained_spawn.length=10"
        self.save("--min-time 1ms", f"{BINARY} {options}")
        document = self.document()
        self.assertGreater(document["benchmarks"][0]["iterations"], 0)
        self.assertTrue(document["build"]["workloads_version"])
        self.assertTrue(document["build"]["compiler"])

        def far_slower(document):
            # One process shows this however busy the machine is, so no second one is measured.
            first = document["processes"][0]
            times = {name: 1e6 * ns for name, ns in first["real_ns"].items()}
            document["processes"] = [{**first, "real_ns": times}] * 7

        self.edit(far_slower)
        answer = self.baseline(f"compare {LARGE} --processes 1 --json r.json")
        self.assertRegex(answer.stdout, r"(?m) 7\+1$")
        self.assertEqual(len(self.load("r.json")["benchmarks"]), 1)


class Verdicts(BaselineTest):
    def setUp(self):
        super().setUp()
        self.given_baseline()

    def compare(self, options="", times="sort=1000 hash=500", body="", **others):
        program = self.program("b", times, body=body)
        return self.baseline(f"compare --program {program} {options}", **others)

    def test_a_slowdown_fails_and_is_named(self):
        before = self.everything()
        answer = self.compare(f"{LARGE} --json r.json --markdown r.md", SLOW, status=1)
        self.assertRegex(answer.stdout, r"\nFAIL: sort is [\d.]+ % slower")
        report = self.load("r.json")
        self.assertEqual(report["verdict"], "FAIL")
        self.assertEqual([r["verdict"] for r in report["benchmarks"]], ["FAIL", "PASS"])
        row = report["benchmarks"][0]["against_baseline"]
        self.assertGreater(row["change"], row["limit"])
        self.assertGreater(row["detectable"], row["limit"])
        self.assertEqual((row["stored_processes"], row["fresh_processes"]), (7, 14))
        self.assertEqual(report["rounds"], 2)
        self.assertIn("measuring once more, to confirm it", answer.stderr)
        comment = self.read("r.md")
        self.assertTrue(comment.startswith("### taskbench baseline: FAIL: sort is "), comment)
        self.assertIn("# estimate", comment)
        self.assertEqual(self.everything(), before)

    def body_of_runs(self, is_slow):
        """Makes sort slow in the runs whose number `n`, from 0, meets the condition. The first run
        is not counted."""
        return (
            "n = len([name for name in os.listdir('.') if name.startswith('run')])\n"
            "if 'benchmark_out' in flags: open(f'run{n}', 'w').close()\n"
            f"times['sort'] = 1e6 if {is_slow} else 1e3"
        )

    def test_what_is_slower_only_at_first_passes_by_later_rounds(self):
        answer = self.compare(f"{LARGE} --json r.json", body=self.body_of_runs("n <= 7"))
        self.assertIn("measuring once more, to confirm it", answer.stderr)
        self.assertIn("undecided; measuring as many processes again, round 3 of at most 4",
                      answer.stderr)
        self.assertGreater(self.load("r.json")["rounds"], 2)

    def test_what_is_slower_in_one_round_only_is_not_confirmed(self):
        body = self.body_of_runs("n <= 7 or n % 2")
        rounds = 4
        answer = self.compare(f"{LARGE} --json r.json --journal j", body=body, status=3)
        self.assertRegex(answer.stdout, r"(?m)^INCONCLUSIVE: sort \(.*\): not "
                                        r"confirmed: measured\s+4\s+times")
        rows = {row["name"]: row for row in self.load("r.json")["benchmarks"]}
        self.assertTrue(rows["sort"]["unconfirmed"])
        self.assertFalse(rows["hash"]["unconfirmed"])
        self.assertEqual(rows["hash"]["verdict"], "PASS")
        again = f"compare --resume {LARGE} --journal j"
        self.baseline(again, status=3)
        # Killed before the third round, it resumes with that round.
        lines = 1 + rounds * 7 + rounds - 1
        self.assertEqual(len(self.read("j").splitlines()), lines)
        self.cut("j", 1 + 2 * 7 + 1)
        self.baseline(again, status=3)
        self.assertEqual(len(self.read("j").splitlines()), lines)

    def test_others_that_used_the_cpus_then_leave_no_verdict(self):
        def busy(document):
            for process in document["processes"]:
                process["cpu_use"] = {
                    "seconds": 1.0, "total_s": 2.0, "others_s": 50.0, "stolen_s": 0.5,
                }

        self.edit(busy)
        answer = self.compare("--json r.json", SLOW, status=4)
        said = " ".join(answer.stdout.split())
        self.assertIn("other processes used the CPUs when the baseline was saved; no verdict", said)
        self.assertNotIn("who used", said)
        self.assertIn("when the baseline was, other processes used 50.00 of 2 CPUs, and the "
                      "hypervisor took 0.50. Against a baseline of a busy machine", said)
        report = self.load("r.json")
        self.assertEqual(report["verdict"], "ENVIRONMENT")
        self.assertTrue(report["others_moved"])
        self.assertEqual(report["others_then"]["used"], 50)
        self.compare(LARGE)
        self.assertIn("used 50.00 of 2 CPUs", self.baseline("show").stdout)

    def test_gate_compares_with_a_baseline_too_and_marks_its_comment(self):
        slow = self.program("b", SLOW)
        self.taskbench(f"gate --baseline default {LARGE} --json r.json")
        gate = f"gate --baseline default --head {slow} {LARGE}"
        self.assertIn("FAIL", self.taskbench(f"{gate} --markdown c.md", status=1).stdout)
        comment = self.read("c.md")
        self.assertTrue(comment.startswith("<!-- taskbench-gate -->\n### taskbench: FAIL"), comment)
        self.refuse("", {
            f"{gate} --base {slow}": "--base and --baseline exclude each other",
            f"{gate} --budget 1m": "--budget and --baseline exclude each other",
            "gate --baseline dfault": "did you mean 'default'?",
        })

    def test_the_noise_floor_of_the_machine_is_the_least_that_matters(self):
        said = " ".join(self.compare(f"{LARGE} --json r.json").stdout.split())
        self.assertIn("1.0 %, assumed: taskbench calibrate has not been run on this machine", said)
        for row in self.load("r.json")["benchmarks"]:
            self.assertEqual(row["against_baseline"]["delta"], 9)
        self.taskbench(f"calibrate {self.program('1')} {self.program('2')} --trials 5 --blocks 2 "
                       "--trust-me --allow-busy")
        (file,) = (self.folder / "ci/baselines").glob("*.noise.json")
        document = json.loads(file.read_text())
        document["benchmarks"][1]["epsilon"] = 5000  # of sort
        file.write_text(json.dumps(document))
        answer = self.compare(f"{LARGE} --json r.json", "sort=1e6 hash=500e3", status=1)
        said = " ".join(answer.stdout.split())
        self.assertIn("sort (500000.0 %, calibrated 20", said)
        self.assertIn("on this machine chance or rounding alone moves it by more than 900.0 %, so "
                      "that a slowdown below 500000.0 % passes", said)
        rows = {row["name"]: row for row in self.load("r.json")["benchmarks"]}
        self.assertEqual(rows["sort"]["against_baseline"]["delta"], 5000)
        self.assertEqual((rows["sort"]["verdict"], rows["hash"]["verdict"]), ("PASS", "FAIL"))

    def test_gate_writes_its_files_also_when_there_is_nothing_to_judge(self):
        gate = f"gate --baseline default {LARGE} --markdown c.md --json r.json"
        begins = "<!-- taskbench-gate -->\n### taskbench: no verdict: "

        def written():
            comment, document = self.read("c.md"), self.load("r.json")
            self.assertEqual((document["verdict"], document["name"]), (None, "default"))
            for name in ("c.md", "r.json"):
                (self.folder / name).unlink()
            return comment, document["failure"]

        broken = self.program("b", body="'benchmark_out' in flags and sys.exit('out of luck')")
        answer = self.taskbench(f"{gate} --head {broken}", status=5)
        comment, failure = written()
        self.assertTrue(comment.startswith(f"{begins}{broken} failed"), comment)
        self.assertIn("exited with status 1: out of luck", comment)
        self.assertEqual(failure["stage"], "measure")
        self.assertIn(failure["message"], answer.stderr)

        self.edit_both(of_another_machine)
        self.taskbench(gate, status=4)
        comment, failure = written()
        self.assertTrue(comment.startswith(f"{begins}no baseline of this machine"), comment)
        self.assertIn("kernel: '2.4.0' there", comment)
        self.assertEqual(failure["stage"], "machine")
        self.baseline("compare --json r.json", status=4)
        self.assertFalse((self.folder / "r.json").exists())

    def test_an_open_verdict_is_mapped_as_asked(self):
        def scattered(document):
            for i, process in enumerate(document["processes"]):
                process["real_ns"]["sort"] *= (1000, 1, 0.001)[i % 3]

        self.edit(scattered)
        answer = self.compare(LARGE, status=3)
        self.assertRegex(answer.stdout, r"INCONCLUSIVE: sort \(.*\): less\s+than\s+would\s+"
                                        r"be\s+a\s+failure")
        for meaning, status in (("pass", 3), ("fail", 1)):
            answer = self.compare(
                f"{LARGE} --processes 1 --inconclusive {meaning}", status=status)
            self.assertEqual("times --delta could not have been seen in sort, so" in answer.stderr,
                             meaning == "pass")

    def test_a_canary_that_moved_is_no_failure(self):
        def quick(document):
            for i, process in enumerate(document["processes"]):
                for canary in ("canary_before", "canary_after"):
                    process[canary] = {
                        "cpu_ns": 1e3 + i, "memory_ns": 1e3, "futex_ns": 1e3, "handover_ns": None,
                    }

        self.edit_both(quick)
        answer = self.compare(times=SLOW, status=4)
        self.assertIn("ENVIRONMENT: the canary, which always does the same work", answer.stdout)
        self.assertRegex(answer.stdout, r"(?s)cpu \+\d.*memory\s\+\d.*futex\s\+\d")
        self.assertIn("sort", answer.stdout)
        self.assertNotIn("FAIL,", answer.stdout)
        self.assertNotIn("slower by 9", answer.stdout)

    def test_processes_that_find_the_cpus_elsewhere_are_set_aside_and_in_the_end_counted(self):
        def elsewhere(document):
            # CPUs so close together that no real handover is as fast, whatever the load.
            for process in document["processes"]:
                for canary in ("canary_before", "canary_after"):
                    process[canary]["handover_ns"] = 1e-3

        os.sched_setaffinity(0, CPUS)
        shutil.rmtree(self.folder / "ci")
        self.save(program="./a")
        self.edit_both(elsewhere)
        if len(CPUS) == 1:
            self.assertNotIn("set aside", self.compare(LARGE).stderr)
            return
        # More than --delta, but less than CPUs this far apart can explain.
        slower = "sort=200e3 hash=500"
        few = "--processes 3"
        answer = self.compare(f"--delta 900% {few} --json r.json", slower, status=4)
        self.assertIn("3 processes were set aside: the host had moved the CPUs", answer.stderr)
        self.assertTrue(self.load("r.json")["canary"]["handover"]["moved"])
        rows = {row["name"]: row["against_baseline"]
                for row in self.load("r.json")["benchmarks"]}
        self.assertEqual([row["fresh_processes"] for row in rows.values()], [6, 6])
        self.assertNotIn("set aside", self.compare(f"{LARGE} {few}", slower, status=4).stderr)

    def test_a_drift_since_the_anchor_fails_and_says_so(self):
        def faster(document):
            document["date"] = "2020-02-03T04:05:06+00:00"
            for process in document["processes"]:
                process["real_ns"]["sort"] /= 1000

        self.edit(faster, kind=".anchor")
        answer = self.compare(LARGE, status=1)
        for says in (r"^sort +FAIL, drifted .*\n +drifted since the anchor of 2020-02-03, ",
                     r"^FAIL: sort is [\d.]+ % slower than the anchor \("):
            self.assertRegex(answer.stdout, f"(?m){says}")
        self.baseline("promote default")
        self.compare(f"{LARGE} --processes 1")

    def test_benchmarks_of_one_side_are_told(self):
        answer = self.compare(f"{LARGE} --processes 1", "sort=1000 new=5")
        self.assertIn("hash: only the baseline has it.", answer.stdout)
        self.assertIn("new: the baseline does not have it.", answer.stdout)
        program = self.program("c", "new=5")
        self.refused(f"baseline compare --program {program}", says="no benchmark in common")

    def test_a_program_that_fails(self):
        for body, says in (
            ("'benchmark_out' in flags and sys.exit('out of luck')",
             "exited with status 1: out of luck"),
            ("n = len(os.listdir()); open(f'run{n}', 'w').close()\n"
             "if n > 8: os.kill(os.getpid(), 9)", "was killed by signal 9"),
        ):
            self.assertIn(says, self.compare(body=body, status=5).stderr)

    def test_another_machine_is_refused_and_every_difference_named(self):
        self.edit_both(of_another_machine)
        answer = self.baseline("compare", status=4)
        self.assertEqual(answer.stdout, "")
        for says in ("no baseline 'default' of this machine", "kernel: '2.4.0' there, '",
                     "cpu_stepping: '99' there, '"):
            self.assertIn(says, answer.stderr)
        self.assertNotIn("cpu_model", answer.stderr)
        self.assertRegex(self.baseline("list").stdout, r"default +\S+ +no ")
        for command in ("show", "rm"):
            self.refused(f"baseline {command} default",
                         says="for other machines only; choose by --key")
        key = json.loads(self.baseline("list --format json").stdout)["baselines"][0]["key"]
        self.assertIn("(another machine)", self.baseline(f"show --key {key}").stdout)
        self.baseline("rm default --all-keys")
        self.assertEqual(self.everything(), {})

    def test_another_build_is_refused_and_named(self):
        self.edit_both(lambda document: document["build"].update(
            benchmark_library_build_type="debug"))
        answer = self.compare(status=4)
        self.assertIn("no baseline 'default' of this build", answer.stderr)
        self.assertIn("benchmark_library_build_type: 'debug' there, unknown here", answer.stderr)

    def test_of_another_machine_one_is_added_beside(self):
        self.edit_both(of_another_machine)
        folder = self.stored().parent
        folder.rename(folder.parent / "another-12345678")
        before = self.everything()
        self.save(program=str(self.folder / "a"))
        after = self.everything()
        self.assertEqual(len(after), 4)
        self.assertEqual({path: after[path] for path in before}, before)


class Journals(BaselineTest):
    def test_killed_at_any_moment_it_goes_on(self):
        command = f"baseline save --program {self.program(body='time.sleep(0.02)')} " \
                  "--processes 9 --journal j"
        for lines in (1, 3, 6):
            self.kill(command, when=self.written("j", lines))
            command = "baseline save --resume --journal j"
        complete = self.read("j").split("\n")[1:-1]
        self.assertGreaterEqual(len(complete), 5)
        self.taskbench(f"{command} --allow-busy")
        self.assertFalse((self.folder / "j").exists())
        processes = self.document()["processes"]
        self.assertEqual(len(processes), 9)
        for line, process in zip(complete, processes):
            # What was measured before the kill is still there.
            self.assertEqual({"process": json.loads(line)["process"], **process}, json.loads(line))

    def test_control_c_says_how_to_go_on(self):
        body = "os.path.exists('j') and (print(os.getpid(), file=open('pid', 'w', 1))," \
               " time.sleep(60))"
        said = self.interrupt(f"baseline save --program {self.program(body=body)} --journal j",
                              when=self.written("pid", lines=1))
        self.assertIn("continue with: taskbench baseline save --resume --journal j", said)
        self.assertFalse((self.folder / "ci").exists())
        self.assertTrue(is_gone(self.read("pid").strip()))

    def test_a_killed_comparison_goes_on_and_says_the_same_again(self):
        self.given_baseline()
        program = self.program("b", body="time.sleep(0.02)")
        fresh = f"baseline compare --program {program} {LARGE} --journal j"
        again = f"baseline compare --resume {LARGE} --journal j"
        for command, lines in ((fresh, 2), (again, 4)):
            self.kill(command, when=self.written("j", lines))
            self.refused(fresh, says="and its comparison has not ended")
        before = self.read("j")
        self.taskbench(f"{again} --json 1.json")
        whole = self.read("j")
        self.assertTrue(whole.startswith(before[: before.rindex("\n") + 1]))
        self.assertEqual(whole.count("\n"), 1 + 7)
        os.remove(program)  # a known verdict does not need the program
        self.taskbench(f"{again} --json 2.json")
        self.assertEqual(self.read("1.json"), self.read("2.json"))
        self.taskbench(f"gate --baseline default --resume {LARGE} --journal j --json 3.json")
        self.assertEqual(self.load("3.json")["benchmarks"], self.load("1.json")["benchmarks"])

    def test_a_comparison_with_another_baseline_is_not_gone_on_with(self):
        compare = f"baseline compare --program {self.given_baseline()} {LARGE} --journal j"
        self.taskbench(compare)
        self.edit(lambda document: document["settings"].update(seed=77))
        self.refused(f"baseline compare --resume {LARGE} --journal j",
                     says="j was started against another baseline of that name")
        self.refused(compare, says="j exists; continue it with --resume")
        self.taskbench(f"gate --baseline default {LARGE} --journal j")  # started afresh

    def test_a_verdict_of_another_program_or_question_is_not_given_again(self):
        self.given_baseline()
        program, other = self.program("b"), self.program("c", SLOW)
        compare = f"baseline compare --journal j --program {program} {LARGE}"
        gate = f"gate --baseline default --head {program} {LARGE} --journal j --resume"
        resume = "baseline compare --journal j --resume"
        again = f"{compare} --resume"
        for command in (compare, f"{again} --processes 7", gate):
            self.taskbench(command)
        question = "j was started with --delta 900% --alpha 1%"
        self.refuse("", {
            f"{again} --processes 9": "j was started with --processes 7; name as",
            f"{resume} {LARGE} --program {other}":
                f"j was started with '{program}', not '{other}'; start again",
            f"{resume} --delta 3%": f"{question}; give the same",
            f"{again} --alpha 5%": question,
        })
        self.taskbench(resume)  # as it was started
        self.program("b", SLOW)
        for command in (again, gate):
            self.refused(command, says="is not the program that j was started with")
        os.remove(program)  # a known verdict needs no program
        self.taskbench(again)
        self.refused("baseline save --resume --journal j", says="j is of a comparison")

    def test_a_baseline_saved_anew_is_another_one(self):
        self.baseline(f"compare --program {self.given_baseline()} {LARGE} --journal j")
        resume = f"baseline compare --resume {LARGE} --journal j"
        self.taskbench(resume)
        before = self.everything()

        def touched(document):
            document["processes"][0]["real_ns"]["sort"] *= 1.01

        for kind, says in (("", "another baseline of that name"), (".anchor", "another anchor")):
            self.edit(touched, kind=kind)
            self.refused(resume, says=f"j was started against {says}")
            for path, content in before.items():
                path.write_bytes(content)
        self.taskbench(resume)
        first, rest = self.read("j").split("\n", 1)
        setup = json.loads(first)
        del setup["compared_with"]
        self.write("j", f"{json.dumps(setup)}\n{rest}")
        self.refused(resume, says="j does not say which baseline it was started against")

    def test_the_default_journal_of_a_complete_comparison_makes_room(self):
        program = self.given_baseline()
        for _ in range(2):
            self.baseline(f"compare --program {program} {LARGE}")
        self.assertIn("taskbench-baseline-compare.journal", self.left())

    def test_unfinished_and_damaged_ones_are_left_alone(self):
        for content in (b"", b"garbage\n", b"{}\n", b'{"taskbench_baseline_journal": 1}\n',
                        b"\xff\n"):
            self.write("j", content)
            self.refuse("baseline save", {"--resume --journal j": "j: ", "--journal j": "j exists"})
            self.assertEqual((self.folder / "j").read_bytes(), content)
        self.refused("baseline save --resume --journal none", says="does not exist")

    def saved_with_its_store_in_the_way(self):
        self.save(program=self.program(body="open('ci', 'w').close()"), status=2)
        (self.folder / "ci").unlink()

    def test_one_that_could_not_be_stored_is_stored_without_measuring_again(self):
        self.saved_with_its_store_in_the_way()
        (self.folder / "a").unlink()
        self.refused("baseline save other --resume", says="is of the baseline 'default'")
        self.assertIn("saved 'default'", self.baseline("save --resume --allow-busy").stdout)

    def test_a_program_that_was_built_anew_is_noticed(self):
        self.saved_with_its_store_in_the_way()
        self.cut("taskbench-baseline.journal", 4)
        self.program(times="sort=1")
        self.refused("baseline save --resume", says="was rebuilt")
        self.refused("baseline save other --resume", says="is of the baseline 'default'")

    def test_another_program_and_other_options_are_refused(self):
        # Only the first process puts something in the way of the store.
        body = "os.path.exists('once') or [open(name, 'w').close() for name in ('once', 'ci')]"
        program, other = self.program(body=body), self.program("b")
        self.save(program=program, status=2)
        (self.folder / "ci").unlink()
        for lines in (None, 4):  # of a complete one, too
            self.cut("taskbench-baseline.journal", lines)
            self.refuse("baseline save --resume", {
                f"--program {other}": f"was started with '{program}', not '{other}'",
                "--workload sort": "--workload: ",
                "--processes 9": "--processes: ",
                "--repetitions 77": "--repetitions: ",
                "--min-time 77ms": "--min-time: ",
                "--seed 77": "--seed: ",
                "--kind command": "--kind: ",
            })
        self.save("--resume --timeout 77s --workload sort,hash", program)


if __name__ == "__main__":
    main()
