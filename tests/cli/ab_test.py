#!/usr/bin/env python3
"""`taskbench ab`, with programs that are fast, slow, noisy or broken by design."""

import json
import os
import re
import shutil
import subprocess
import sys
import time

from fake_program import fake_valgrind
from taskbench_command import BINARY, CommandTest, is_gone, main


class AbTest(CommandTest):
    def ab(self, base, head, options="", *more, **others):
        return self.taskbench(f"ab {options}", "--base", base, "--head", head, *more, **others)

    def copies(self):
        """Makes two copies of taskbench, and returns the commands that run a small case of each."""
        for name in ("one", "two"):
            shutil.copy(BINARY, self.folder / name)
        options = "chained_spawn --workers 1 --param chained_spawn.length=10"
        return f"./one {options}", f"./two {options}"

    def result(self):
        return self.load("r.json")

    def verdicts(self):
        return {row["name"]: row["verdict"] for row in self.result()["benchmarks"]}


class Verdicts(AbTest):
    def test_no_difference_passes(self):
        answer = self.ab(self.program("a"), self.program("b"), "--json r.json")
        self.assertIn("PASS: none of 2 benchmarks is slower by 3.0 % or more", answer.stdout)
        self.assertEqual(self.verdicts(), {"sort": "PASS", "hash": "PASS"})
        self.assertEqual(self.result()["blocks"], 8)
        for sample in self.result()["samples"]:  # the machine is read around each process
            self.assertGreater(sample["machine"]["seconds"], 0)
        self.assertIn("others_share", self.result()["machine"])

    def test_a_slowdown_fails_and_names_what_is_slower(self):
        sides = self.program("a"), self.program("b", "sort=1100 hash=500")
        answer = self.ab(*sides, "--json r.json --markdown r.md", status=1)
        self.assertEqual(self.verdicts(), {"sort": "FAIL", "hash": "PASS"})
        self.assertRegex(answer.stdout, r"\nFAIL: sort is [\d.]+ % slower \(90 % interval [^)]*\)")
        comment = self.read("r.md")
        self.assertTrue(comment.startswith("### taskbench: FAIL: sort is "), comment)
        self.assertIn("taskbench ab --base", comment)
        self.ab(*sides, "--delta 20%")  # 10 % is below this --delta

    def test_a_speedup_passes(self):
        self.ab(self.program("a"), self.program("b", "sort=800 hash=500"))

    def test_every_format_tells_the_verdict_and_a_complete_trial_is_told_in_another(self):
        sides = self.program("a"), self.program("b", "sort=1100 hash=500")
        printed = {"table": self.ab(*sides, status=1).stdout}
        for form in ("markdown", "csv", "json"):
            printed[form] = self.taskbench(f"ab --resume --format {form}", status=1).stdout
        self.assertRegex(printed["table"], r"(?m)^sort +FAIL ")
        self.assertRegex(printed["markdown"], r"^### taskbench: FAIL: sort is [\d.]+ % slower ")
        self.assertIn("\nsort,wall_time_ns,FAIL,false,", printed["csv"])
        self.assertEqual(json.loads(printed["json"])["verdict"], "FAIL")
        self.refuse("ab --base a --head b --format", {"yaml": "unknown format 'yaml'"})
        self.assertIn("markdown", self.taskbench("ab --help").stdout)

    def test_what_is_decided_leaves_the_later_blocks_also_of_a_trial_that_is_resumed(self):
        sides = (self.program("a", noise=0.2),
                 self.program("b", "sort=3000 hash=500", noise=0.2))
        run = "--max-blocks 23 --alpha 0.1% --journal j --json r.json"
        answer = self.ab(*sides, run, status=1)
        self.assertRegex(answer.stdout, r"(?m)^sort +FAIL .* 19 of 23 ")
        measured = [sorted(sample["real_ns"]) for sample in self.result()["samples"]]
        blocks = {row["name"]: row["blocks"] for row in self.result()["benchmarks"]}
        self.assertEqual(blocks["hash"], 23)
        self.assertEqual(measured, [["hash", "sort"]] * 4 * blocks["sort"] +
                         [["hash"]] * 4 * (23 - blocks["sort"]))
        before = self.read("r.json")
        self.taskbench("ab --resume --journal j --json r.json", status=1)
        self.assertEqual(self.read("r.json"), before)
        self.cut("j", 1 + 4 * blocks["sort"] + 6)  # within a block
        self.taskbench("ab --resume --journal j --json r.json", status=1)
        again = [sorted(sample["real_ns"]) for sample in self.result()["samples"]]
        self.assertEqual(again[:len(measured)], measured[:len(again)])

    def test_of_many_benchmarks_those_that_seem_slower_go_on_alone(self):
        names = [f"b{number}" for number in range(40)]
        def times(slower=()):
            return " ".join(f"{name}={700 if name in slower else 500}" for name in names)
        sides = (self.program("a", times(), 0.1, takes_s=0.003),
                 self.program("b", times(("b7", "b30")), 0.1, takes_s=0.003))
        start = time.monotonic()
        answer = self.ab(*sides, "--budget 12s --repetitions 3 --json r.json", status=1)
        self.assertLess(time.monotonic() - start, 15)
        rows = self.result()["benchmarks"]
        more = {row["name"] for row in rows if row["blocks"] > 8}
        # The screen itself may decide those that are as much slower.
        failed = {row["name"] for row in rows if row["verdict"] == "FAIL"}
        self.assertLessEqual({"b7", "b30"}, more | failed)
        self.assertLess(len(more), 27)
        self.assertGreater(len(self.result()["resting"]), 10)
        self.assertIn("were not looked at closely", " ".join(answer.stdout.split()))

    def test_a_budget_too_small_for_a_screen_of_all_takes_first_what_is_named(self):
        times = " ".join(f"b{number}=500" for number in range(40))
        sides = (self.program(name, times, 0.1, takes_s=0.01) for name in "ab")
        answer = self.ab(*sides, "--budget 7s --repetitions 3 --json r.json",
                         "--changed-first", "b3?,b5", status=3)
        first = self.result()["samples"][0]["real_ns"]
        self.assertGreaterEqual(len(first), 16)
        self.assertLess(len(first), 40)
        self.assertLess({"b5", *(f"b3{digit}" for digit in range(10))}, set(first))
        self.assertTrue(self.result()["unreached"])
        self.assertIn("not judged at all", " ".join(answer.stdout.split()))

    def test_too_much_noise_is_inconclusive_and_says_what_it_would_take(self):
        run = (self.program("a", noise=0.3), self.program("b", noise=0.3),
               "--max-blocks 8 --workload sort")
        answer = self.ab(*run, status=3)
        self.assertRegex(" ".join(answer.stdout.split()),
                         r"about \d+ (seconds|minutes|hours) would decide \(--budget")
        self.ab(*run, "--inconclusive", "fail", status=1)
        blind = self.ab(*run, "--inconclusive", "pass", "--json", "r.json", status=3)
        self.assertIn("a slowdown of 5 times --delta could not have been seen in sort, so "
                      "--inconclusive pass does not make it pass", blind.stderr)
        self.assertEqual(self.result()["blind"], ["sort"])
        self.ab(*run, "--inconclusive", "pass-always", status=0)
        near = (self.program("c", noise=0.03), self.program("d", "sort=1025 hash=500", noise=0.03))
        self.ab(*near, "--max-blocks 8 --workload sort --inconclusive pass", status=0)
        self.ab(*near, "--max-blocks 8 --workload sort", status=3)

    def test_links_are_of_revisions_alone(self):
        answer = self.ab(self.program("a"), self.program("b"), "--links 4", status=2)
        self.assertIn("--links: only a revision (--base-rev, --head-rev) can be linked again; of "
                      "programs give several each, linked differently: --base 'old/*'",
                      answer.stderr)

    def test_the_trial_ends_with_its_budget(self):
        start = time.monotonic()
        sides = (self.program(name, noise=0.3, body="time.sleep(0.1)") for name in "ab")
        self.ab(*sides, "--budget 2s --json r.json", status=3)
        self.assertLess(time.monotonic() - start, 20)
        self.assertLess(self.result()["blocks"], 64)

    def test_a_budget_in_which_nothing_can_fail_ends_after_a_block_and_says_which_is_enough(self):
        slow = "flags.get('benchmark_repetitions') == '2' or time.sleep(0.3)"  # not in first runs
        sides = (self.program(name, body=slow) for name in "ab")
        answer = self.ab(*sides, "--budget 6s --json r.json", status=3)
        self.assertEqual(self.result()["blocks"], 1)
        self.assertRegex(answer.stdout, r"--budget (10|15|20)s")

    def test_a_budget_that_is_hopeless_by_the_first_runs_ends_before_any_block(self):
        sides = (self.program(name, body="time.sleep(1)") for name in "ab")
        answer = self.ab(*sides, "--budget 5s --exact off --json r.json", status=3)
        self.assertEqual(self.result()["blocks"], 0)
        said = " ".join(answer.stdout.split())
        self.assertIn("No block of 4 processes was begun, as there was no time for the 7 that it "
                      "takes to FAIL anything (--budget ", said)
        self.assertIn("INCONCLUSIVE: there was not enough time", said)
        budget = re.search(r"--budget (\d+)s", said)
        self.assertGreater(int(budget[1]), 4 * 7)
        self.assertLess(int(budget[1]), 3 * 4 * 7)

    def test_the_first_runs_count_into_the_budget(self):
        first = "flags.get('benchmark_repetitions') == '2' and time.sleep(1.5)"
        sides = (self.program(name, noise=0.3, body=first) for name in "ab")
        self.ab(*sides, "--budget 5s --json r.json", status=3)
        spent = sum(sample["machine"]["seconds"] for sample in self.result()["samples"])
        self.assertLess(spent, 2.5)

    def test_a_benchmark_whose_repetitions_were_cut_short_is_measured_again(self):
        cut = "cut = ('hash',) if 'sort' in flags.get('benchmark_filter', 'sort') else ()"
        head = self.program("b", body=cut)
        self.ab(self.program("a"), head, "--json r.json")
        self.assertEqual(self.verdicts(), {"sort": "PASS", "hash": "PASS"})
        runs = len(self.read("b.runs"))
        self.assertGreaterEqual(runs, 2 * 2 * 8)  # each of head's processes, and one more
        always = self.program("c", more=["cut hash"])  # on purpose
        self.ab(self.program("a"), always, "--max-blocks 8 --exact off --json r.json", status=1)
        self.assertEqual(self.verdicts()["hash"], "FAIL")
        self.assertLess(len(self.read("c.runs")), 2 * 2 * 8)  # not again in each process

    def test_a_benchmark_whose_name_has_its_own_length_is_not_measured_again(self):
        name = "sort/min_time:0.000"
        sides = (self.program(each, f"{name}=1000", more=[f"cut {name}"]) for each in "ab")
        self.ab(*sides, "--exact off --json r.json")
        self.assertLess(len(self.read("b.runs")), 2 * self.result()["blocks"] + 8)

    def test_waiting_for_a_cpu_is_no_slowdown_while_it_spares_a_quarter_of_the_repetitions(self):
        allowed = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(allowed)})
        hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            sides = self.program("a"), self.program("b", body="waits = 6")
            self.ab(*sides, "--max-blocks 16 --json r.json")
        finally:
            hog.kill()
            hog.wait()
            os.sched_setaffinity(0, allowed)
        self.assertEqual(self.verdicts(), {"sort": "PASS", "hash": "PASS"})

    def test_what_could_not_have_failed_does_not_pass_unless_asked_for_by_name(self):
        run = (self.program("a", noise=0.1), self.program("b", "sort=9000 hash=500"),
               "--max-blocks 5 --json r.json --markdown r.md", "--inconclusive")
        answer = self.ab(*run, "pass", status=3)
        says = ("5 blocks of 4 processes cannot FAIL anything, however much slower head is; that "
                "takes 7 or more")
        notes = answer.stderr.splitlines()
        self.assertRegex(notes[0], f"note: a block takes .* s: {says}")
        self.assertIn("INCONCLUSIVE: 5 blocks cannot prove any slowdown, however large it is",
                      " ".join(answer.stdout.split()))
        self.assertIn("nothing could have failed, so --inconclusive pass", notes[-1])
        self.assertIn(says, self.read("r.md"))
        self.assertFalse(self.result()["could_fail"])
        self.assertEqual(self.result()["blocks_that_can_fail"], 7)
        self.ab(*run, "pass-always", "--quiet")
        self.ab(*run, "fail", "--quiet", status=1)

    def test_more_cpu_time_at_the_same_wall_time_fails(self):
        self.ab(self.program("a"), self.program("b", more=["burnt 1.3"]),
                "--json r.json --max-blocks 16", status=1)
        for row in self.result()["benchmarks"]:
            self.assertEqual((row["verdict"], row["cpu_time"]["verdict"]), ("PASS", "FAIL"))

    def test_a_metric_fails_where_it_is_judged_and_nowhere_else(self):
        sides = (self.program("a", more=["counter nodes=1000", "counter hits/s=90"]),
                 self.program("b", more=["counter nodes=1120", "counter hits/s=80"]))
        options = "--json r.json --max-blocks 16"
        self.ab(*sides, options, status=0)

        answer = self.ab(*sides, f"{options} --judge nodes=5%", status=1)
        says = " ".join(answer.stdout.split())
        self.assertRegex(says, r"FAIL: 2 of 2 benchmarks are worse by other metrics: "
                         r"\w+ by 1\d\.\d % more nodes ")
        self.assertIn("the chance that any of them is a false alarm is at most 1 %", says)
        self.assertRegex(says, r"its nodes FAIL [19][,\d]+ 1,1\d\d \+1\d\.\d %")
        for row in self.result()["benchmarks"]:
            judged = [(each["metric"], each["verdict"]) for each in row["judged"]]
            self.assertEqual((row["verdict"], judged), ("PASS", [("nodes", "FAIL")]))

        # For a rate, less is worse.
        answer = self.ab(*sides, f"{options} --judge hits/s=5%,less:nodes=30%", status=1)
        self.assertRegex(" ".join(answer.stdout.split()), r"its hits/s FAIL 90.* 80.* -1\d\.\d %")
        self.ab(*sides, f"{options} --judge less:hits/s=5%,nodes=30%", status=0)

    def test_a_metric_that_is_judged_is_repeated_resumed_and_merged(self):
        sides = (self.program("a", more=["counter nodes=1000"]),
                 self.program("b", more=["counter nodes=1120"]))
        options = "--judge nodes=5% --max-blocks 16"
        whole = self.ab(*sides, f"{options} --journal j --json r.json", status=1)
        self.assertIn("--judge nodes=5%", self.result()["setup"]["reproduce"])
        again = self.ab(*sides, "--journal j --resume", status=1)
        self.assertEqual(again.stdout, whole.stdout)
        answer = self.ab(*sides, "--journal j --resume --judge nodes=6%", status=2)
        self.assertIn("--judge: j was started with another", answer.stderr)
        for part in (1, 2):
            self.ab(*sides, f"{options} --part {part}/2 --journal p{part}")
        merged = self.taskbench("ab --merge p1 p2", status=1)
        self.assertRegex(" ".join(merged.stdout.split()), r"by 1\d\.\d % more nodes ")

    def test_a_metric_that_cannot_be_judged_is_refused_before_anything_is_measured(self):
        sides = (self.program("a", more=["counter nodes=1000", "counter none=0"]),
                 self.program("b", more=["counter nodes=1120", "counter none=0"]))
        for judge, status, says in (
            ("ndoes=5%", 5, "--judge: unknown metric 'ndoes'; did you mean 'nodes'?"),
            ("other=5%", 5, "--judge: unknown metric 'other'; there are nodes, none"),
            ("nodes", 2, "--judge 'nodes': give a metric and the smallest change that matters"),
            ("nodes=much", 2, "--judge"),
            ("more:nodes=100%", 2, "--judge"),
            ("time=5%", 2, "--judge 'time=5%': times are always judged, by --delta"),
            ("nodes=5%,nodes=6%", 2, "--judge: 'nodes' is named twice"),
        ):
            with self.subTest(judge):
                answer = self.ab(*sides, f"--max-blocks 8 --judge {judge}", status=status)
                self.assertIn(says, answer.stderr)
        answer = self.ab(self.program("c"), self.program("d"), "--judge nodes=5%", status=5)
        self.assertIn("no benchmark reports anything but times", answer.stderr)

    def test_identical_binaries_pass_without_a_run(self):
        answer = self.ab(*self.copies())
        self.assertEqual(answer.stdout, "PASS: nothing was measured, because both are the same "
                         "taskbench, byte for byte, which reads no other files\n")
        self.assertFalse((self.folder / "taskbench-ab.journal").exists())
        answer = self.ab("./one --wrokers 2", "./two --wrokers 2", status=5)
        self.assertIn("unknown option '--wrokers'; did you mean '--workers'?", answer.stderr)

    def test_taskbench_may_be_given_as_it_is_run_by_hand(self):
        one, two = (side.replace(" ", " run ", 1) for side in self.copies())
        self.ab(one, two, "--run-identical --exact off --max-blocks 1 --json r.json", status=3)
        self.assertEqual(list(self.verdicts()),
                         ["chained_spawn/work_stealing/workers:1/length:10"])

    def test_a_name_that_is_none_does_not_pass_for_that(self):
        both = f"--base {BINARY} --head {BINARY} --min-time 1ms --workload"
        for call, says in (
            (f"ab {both} chained_spwan",
             "unknown benchmark 'chained_spwan'; did you mean 'chained_spawn'?"),
            (f"gate {both} nope", "--workload: unknown benchmark 'nope'; there are chained_spawn/"),
        ):
            start = time.monotonic()
            self.assertIn(says, self.taskbench(call, status=2).stderr)
            self.assertLess(time.monotonic() - start, 4)  # running all benchmarks takes 9 s

    def test_equal_binaries_are_measured_unless_all_that_they_may_read_is_equal(self):
        for side, plugin in (("old", "fast"), ("new", "slow")):
            self.write(f"{side}/lib/plugin.so", plugin)
            (self.folder / side / "out").mkdir()
            shutil.copy(RealGoogleBenchmark.PROGRAM, self.folder / side / "out/bench")
        run = ("old/out/bench", "new/out/bench", "--workload BM_sum/1000 --min-time 1ms "
               "--exact off --max-blocks 1 --inconclusive pass-always")
        roots = "--base-root", "old", "--head-root", "new"
        for more, says in (((), "but they may read other files that differ: both are measured."),
                           (roots, "but below the roots, lib/plugin.so differs: both are")):
            answer = self.ab(*run, *more)
            self.assertIn(says, answer.stderr)
            self.assertIn("--outputs names the files that matter", answer.stderr)
            self.assertIn("1 block of 4 processes,", answer.stdout)
        self.assertIn("out/bench are equal",
                      self.ab(*run, *roots, "--outputs", "out/bench").stdout)
        self.refuse("ab --base old/out/bench --head new/out/bench", {
            "--outputs plugn.so": "--outputs: neither",
            "--outputs ../new": "--outputs '../new': give a path from the folder of the program",
            "--base-root old": "--base-root requires --head-root",
            "--base-root old --head-root no": "--head-root 'no': there is no such folder",
        })
        shutil.copy(self.folder / "old/lib/plugin.so", self.folder / "new/lib/plugin.so")
        answer = self.ab(*run, *roots, "--json", "r.json")
        self.assertEqual(answer.stdout, "PASS: nothing was measured, because everything below old "
                         "and new is equal, byte for byte\n")
        self.assertIn("--base-root old --head-root new", self.result()["reproduce"])

    def test_taskbench_itself_with_shared_iteration_counts(self):
        self.ab(*self.copies(), "--run-identical --min-time 1ms --max-blocks 2 --json r.json "
                "--exact off --inconclusive pass-always --delta 900%")
        result = self.result()
        name = "chained_spawn/work_stealing/workers:1/length:10"
        self.assertGreater(result["setup"]["iterations"][name], 0)
        self.assertEqual(len(result["samples"]), 8)
        self.assertIn("polls", result["samples"][0]["counters"][name])


class RealGoogleBenchmark(AbTest):
    """A program with Google Benchmark's own main. Its path is in TASKBENCH_GOOGLE_BENCHMARK."""

    PROGRAM = os.environ["TASKBENCH_GOOGLE_BENCHMARK"]

    # Counting by default takes seconds, and is tested in explain_test.py.
    QUICK = ("--repetitions 2 --min-time 1ms --max-blocks 2 --delta 900% --exact off "
             "--inconclusive pass-always --json r.json")

    def variant(self, setting):
        return self.script(setting, f'{setting} exec {self.PROGRAM} "$@"')

    def test_any_google_benchmark_program_is_compared(self):
        answer = self.ab(self.PROGRAM, self.variant("TEST_SLOWER=3"), "--repetitions 3 --min-time "
                         "2ms --max-blocks 16 --json r.json --workload BM_sum --exact off",
                         status=1)
        self.assertEqual(self.verdicts(), {"BM_sum/1000": "FAIL", "BM_sum/4000": "FAIL"})
        self.assertIn("size 1,000 → 3,000", answer.stdout)
        for row in self.result()["benchmarks"]:
            self.assertGreater(row["change"], 0.5)

    def test_names_with_threads_and_real_time_are_compared(self):
        self.ab(self.PROGRAM, f"{self.PROGRAM} --benchmark_enable_random_interleaving=false",
                f"--workload BM_in_threads {self.QUICK}")
        self.assertEqual(list(self.verdicts()), ["BM_in_threads/real_time/threads:2"])

    def test_a_mistyped_name_is_told_from_all_names(self):
        answer = self.ab(self.PROGRAM, self.variant("TEST_SOUND=1"),
                         "--workload BM_in_threads,BM_sun/1000", status=2)
        self.assertIn("did you mean 'BM_sum/1000'?", answer.stderr)

    def test_what_fails_in_base_is_told_and_left_out(self):
        answer = self.ab(self.PROGRAM, self.variant("TEST_SOUND=1"), self.QUICK)
        self.assertIn("BM_fails: fails in base; nothing to compare with.", answer.stdout)
        self.assertEqual(len(self.verdicts()), 3)
        self.assertNotIn("BM_fails", self.verdicts())

    def test_what_cannot_be_judged_is_told_and_left_out(self):
        sides = self.variant("TEST_ODD=1"), self.variant("TEST_ODD='1'")
        answer = self.ab(*sides, self.QUICK)
        reasons = {row["name"]: row["reason"] for row in self.result()["setup"]["left_out"]}
        expected = {
            "BM_aggregates/1": "reports only aggregates of it (ReportAggregatesOnly)",
            "BM_no_time/iterations:3/manual_time": '"real_time": 0.0',
            "BM_twice/1": "two benchmarks named",
        }
        self.assertEqual(set(reasons), set(expected))
        for name, says in expected.items():
            self.assertIn(says, reasons[name])
        self.assertIn("BM_aggregates/1: left out: base reports only", answer.stdout)
        self.assertEqual({name for name in self.verdicts() if "complexity" in name},
                         {"BM_complexity/1", "BM_complexity/8"})
        answer = self.ab(
            *sides, f"{self.QUICK} --workload BM_sum/1000,BM_aggregates --journal l")
        self.assertIn("BM_aggregates/1: left out: base reports only", answer.stdout)
        self.assertEqual(list(self.verdicts()), ["BM_sum/1000"])
        answer = self.ab(*sides, "--workload BM_aggregates --journal k", status=5)
        self.assertIn("BM_aggregates/1 is left out: base reports only", answer.stderr)

    def test_what_is_listed_and_writes_no_result_is_told(self):
        head = self.program("b", "sort=1000 hash=500 ghost=1", body="del times['ghost']")
        answer = self.ab(self.program("a"), head, "--max-blocks 1 --inconclusive pass-always")
        self.assertIn("ghost: left out: it is listed, but no result of it was", answer.stdout)

    def test_what_fails_in_head_alone_has_failed_unless_others_are_chosen(self):
        sides = (self.variant("TEST_SOUND=1"), self.PROGRAM)
        answer = self.ab(*sides, self.QUICK, status=5)
        self.assertIn("BM_fails failed: no such device", answer.stderr)
        self.ab(*sides, f"{self.QUICK} --workload BM_sum/1000")
        self.assertEqual(list(self.verdicts()), ["BM_sum/1000"])


class Instructions(AbTest):
    """`--counters instructions-exact`, a metric of its own."""

    NAME = "chained_spawn/work_stealing/workers:1/length:10"
    COUNT = "--counters instructions-exact --run-identical --min-time 1ms --json r.json"

    def counted(self, base, head, options="", of_two=4000, broken="pass", status=0, blocks=8):
        """Compares copies of taskbench under a valgrind that counts `of_two` instructions for the
        copy `two`, and 4,000 for any other. What the times of a single block show does not
        matter."""
        body = (
            f"two = any(w.endswith('/two') for w in sys.argv)\n{broken}\n"
            f"open(out, 'w').write('events: Ir\\ntotals: %d\\n' % ({of_two} if two else 4000))"
        )
        self.env = {"PATH": fake_valgrind(self.folder / "bin", body)}
        options += f" --max-blocks {blocks}"
        if blocks == 1:
            options += " --inconclusive pass-always"
        return self.ab(
            base, head, f"{self.COUNT} --delta 900% --markdown r.md {options}",
            status=status, env=self.env)

    def row(self):
        (row,) = self.result()["benchmarks"]
        return row["instructions"]

    def test_more_instructions_fail_though_the_time_passes(self):
        answer = self.counted(*self.copies(), of_two=4012, status=1)
        self.assertEqual(self.verdicts(), {self.NAME: "PASS"})
        self.assertEqual(
            self.row(),
            {"verdict": "FAIL", "reason": None, "base": 1000, "head": 1003, "threshold": 0.002,
             "change": self.row()["change"], "repeats": True},
        )
        self.assertAlmostEqual(self.row()["change"], 0.003)
        self.assertIn(f"FAIL: {self.NAME} executes 0.30 % more instructions; instructions are "
                      "counted, not timed", " ".join(answer.stdout.split()))
        self.assertRegex(answer.stdout, r"  its instructions +FAIL +1,000 +1,003 +\+0.30 % +exact")
        self.assertIn(f"- FAIL: **{self.NAME}** executes 0.30 % more instructions, 1,000 → 1,003",
                      self.read("r.md"))
        self.assertIn("--counters instructions-exact", self.read("r.md"))

    def test_nearly_equal_and_fewer_instructions_pass(self):
        for count, says in ((4007, "PASS"), (3900, "PASS, fewer")):
            with self.subTest(count):
                self.counted(*self.copies(), f"--journal j{count}", of_two=count, blocks=1)
                self.assertEqual(self.row()["verdict"], "PASS")
                self.assertIn(f"| {says} |", self.read("r.md"))

    def test_instructions_of_both_sides_are_counted_with_one_seed(self):
        base, head = self.copies()
        seed = "sys.argv[sys.argv.index('--seed') + 1]"
        self.counted(base, head, "--seed 7", blocks=1,
                     broken=f"open('seeds', 'a').write({seed} + '\\n')")
        seeds = self.read("seeds").split()
        self.assertEqual(len(seeds), 2 * 2, "a third process counts only where two differ")
        self.assertEqual(len(set(seeds)), 1, seeds)
        # A seed among the program's own options cannot replace it.
        answer = self.counted(base, f"{head} --seed 3", "--journal k", status=5)
        self.assertIn("--seed is given 2 times", answer.stderr)

    def test_the_same_journal_gives_the_same_bytes_and_no_count_is_lost(self):
        first = self.counted(*self.copies(), "--journal j", of_two=4012, status=1, blocks=1)
        whole = self.read("j").splitlines()
        written = self.read("r.json"), self.read("r.md")
        for lines in (None, 2):  # the setup and base's count: head is counted again
            self.cut("j", lines)
            answer = self.taskbench("ab --resume --journal j --json r.json --markdown r.md",
                                    status=1, env=self.env)
            if lines is None:
                self.assertEqual(answer.stdout, first.stdout)
                self.assertEqual((self.read("r.json"), self.read("r.md")), written)
        self.assertEqual(self.read("j").splitlines()[:3], whole[:3])

    def test_what_cannot_be_counted_is_reported_and_inconclusive(self):
        broken = "two and sys.exit('no memory')"
        answer = self.counted(*self.copies(), broken=broken, status=3)
        self.assertEqual(self.row()["verdict"], "INCONCLUSIVE")
        self.assertEqual(
            self.row()["reason"], "of head: under callgrind it exited with status 1: no memory")
        self.assertIsNone(self.row()["base"])
        self.assertIn(
            "INCONCLUSIVE: no slowdown is proven, but the instructions of 1 of 1 benchmark "
            "are", answer.stdout)
        self.taskbench("ab --resume --inconclusive pass", env=self.env)

    def test_without_the_symbols_of_google_benchmark_nothing_can_be_counted(self):
        self.counted(self.program("a"), self.program("b"), status=3)
        for row in self.result()["benchmarks"]:
            self.assertEqual(row["verdict"], "PASS")
            self.assertIn("of base: callgrind found no loop of Google Benchmark",
                          row["instructions"]["reason"])

    def test_without_valgrind_its_package_is_named(self):
        (self.folder / "empty").mkdir()
        self.ab(*self.copies(), f"{self.COUNT} --max-blocks 1 --inconclusive pass-always",
                env={"PATH": str(self.folder / "empty")})
        self.assertEqual(self.row()["reason"], "of base: valgrind is not installed; the package "
                         "valgrind provides it")

    def test_other_counters_are_refused(self):
        two = f"--base {self.program('a')} --head {self.program('b')}"
        self.refuse("", {
            f"ab {two} --counters cycles": "only instructions-exact can",
            f"gate {two} --counters cycles": "only instructions-exact can",
            "gate --baseline x --head y --counters instructions-exact":
                "--counters and --baseline exclude each other",
        })


class Journals(AbTest):
    def test_the_budget_and_the_timeout_are_kept(self):
        sides = [self.program(name, takes_s=0.03) for name in "ab"]
        self.ab(*sides, "--journal j --budget 4s --timeout 77s --inconclusive pass-always")
        lines = self.read("j").splitlines()
        setup = json.loads(lines[0])
        self.assertEqual((setup["budget_s"], setup["timeout_s"]), (4, 77))
        block = [json.dumps({**json.loads(line), "took_s": 1}) for line in lines[1:5]]
        for more, blocks in (("", 1), ("--budget 40s", 2)):
            self.write("j", "\n".join([lines[0], *block, ""]))
            self.taskbench(
                f"ab --resume --journal j --json r.json --inconclusive pass-always {more}")
            self.assertEqual(min(self.result()["blocks"], 2), blocks)

    def test_a_complete_one_gives_the_same_verdict_byte_for_byte_without_the_programs(self):
        first = self.ab(self.program("a"), self.program("b"),
                        "--journal j --json 1.json --markdown 1.md")
        os.remove(self.folder / "a")
        again = self.taskbench("ab --resume --journal j --json 2.json --markdown 2.md")
        self.assertEqual(again.stdout, first.stdout)
        for kind in ("json", "md"):
            self.assertEqual(self.read(f"1.{kind}"), self.read(f"2.{kind}"))

    def test_killed_at_any_moment_it_goes_on(self):
        base, head = (self.program(name, body="time.sleep(0.02)") for name in "ab")
        command = f"ab --base {base} --head {head} --journal j"
        for lines in (1, 4, 11, 20):
            self.kill(command, when=self.written("j", lines))
            command = "ab --resume --journal j"
        complete = self.read("j").split("\n")[:-1]
        self.taskbench(f"{command} --json r.json")
        # What was measured before the kill is still there, and nothing twice.
        self.assertEqual(self.read("j").split("\n")[: len(complete)], complete)
        places = [(s["block"], s["position"]) for s in self.result()["samples"]]
        self.assertEqual(places, [(i // 4, i % 4) for i in range(len(places))])

    def test_control_c_kills_what_it_measures_and_says_how_to_go_on(self):
        for condition, says in (
            ("os.path.exists('j')",
             "interrupted; continue with: taskbench ab --resume --journal j"),
            ("True", "interrupted before the first block"),
        ):
            with self.subTest(condition):
                body = f"{condition} and (print(os.getpid(), file=open('pid', 'w', 1))," \
                       " time.sleep(60))"
                sides = self.program("a", body=body), self.program("b")
                errors = self.interrupt("ab --journal j --base", sides[0], "--head", sides[1],
                                        when=self.written("pid", lines=1))
                self.assertIn(says, errors)
                self.assertTrue(is_gone(self.read("pid").strip()))
                self.assertEqual((self.folder / "j").exists(), condition != "True")
                for file in self.folder.iterdir():
                    file.unlink()

    def test_unfinished_ones_are_not_overwritten_and_finished_ones_at_the_default_place_are(self):
        sides = self.program("a"), self.program("b")
        for _ in range(2):
            self.ab(*sides)
        self.cut("taskbench-ab.journal", -1)
        self.refused("ab --base", sides[0], "--head", sides[1], says="its trial has not ended")
        self.taskbench("ab --resume")

    def test_a_program_that_was_built_anew_is_noticed(self):
        self.ab(self.program("a"), self.program("b"), "--journal j")
        self.cut("j", 6)
        self.program("b", "sort=2000 hash=500")
        self.refused("ab --resume --journal j", says="was rebuilt")

    def test_a_complete_one_is_not_taken_for_the_verdict_of_other_programs(self):
        two = f"--base {self.program('a')} --head {self.program('b')}"
        self.taskbench(f"ab {two} --journal j --delta 4%")
        again = "ab --resume --journal j"
        self.taskbench(f"{again} {two} --delta 4%")
        others = ("--delta 5%", "--alpha 2%", "--seed 2", "--repetitions 2", "--min-time 3ms",
                  "--max-blocks 9", "--counters instructions-exact", "--workload sort")
        self.refuse(again, {
            f"--head {self.program('c')}": "--head: j was started with",
            **{other: f"{other.split()[0]}: j was started with another" for other in others},
            "--workload sort,hahs": "'hahs'",
        })
        self.program("b", "sort=2000 hash=500")
        self.refused(f"{again} {two}", says="was rebuilt")
        self.taskbench(again)  # the trial keeps the program that it was started with

    def test_what_is_no_journal_is_refused_and_left_alone(self):
        for content in (b"", b"garbage\n", b"{}\n", b"\xff\n"):
            self.write("j", content)
            self.refuse("ab", {
                "--resume --journal j": "j: ", "--base x --head y --journal j": "j exists"})
            self.assertEqual((self.folder / "j").read_bytes(), content)
        self.refused("ab --resume --journal none", says="none: does not exist")


class BrokenPrograms(AbTest):
    """Broken programs: each ends with status 5 and a message that names the program."""

    def test_at_once_or_late(self):
        for body, says in (
            ("print('no such device', file=sys.stderr); sys.exit(1)",
             "exited with status 1: no such device"),
            ("os.kill(os.getpid(), 9)", "was killed by signal 9 (Killed)"),
            ("time.sleep(60)", "did not end in time and was killed"),
            ("sys.exit(0)", "succeeded but wrote no result: it is not a benchmark"),
            ("open(flags['benchmark_out'], 'w').write('garbage'); sys.exit(0)",
             "is not valid JSON"),
        ):
            # Fails from its second process on, as a program may fail late.
            late = f"n = len(os.listdir('.')); open(f'run{{n}}', 'w').close()\nif n > 5: {body}"
            for text in (body, late):
                with self.subTest(body=text):
                    for file in self.folder.iterdir():
                        file.unlink()
                    answer = self.ab(self.program("base"), self.program("head", body=text),
                                     "--journal j --timeout 0.8s", status=5)
                    self.assertIn(says, answer.stderr)
                    self.assertIn("error: ", answer.stderr)
                    self.assertEqual(answer.stdout, "")

    def test_leaves_out_a_benchmark_that_it_had(self):
        body = "n = len(open(__file__ + '.runs').read())\nif n > 3: times.pop('hash')"
        answer = self.ab(
            self.program("base"), self.program("head", body=body), "--journal j", status=5)
        self.assertIn("left out 'hash', which it had measured before", answer.stderr)
        # What was measured before is complete, and the trial can be resumed.
        answer = self.taskbench("ab --resume --journal j", status=5)
        self.assertIn("left out 'hash'", answer.stderr)

    def test_leaves_a_process_behind(self):
        start = time.monotonic()
        sides = (self.program(name, body="os.fork() or time.sleep(60)") for name in "ab")
        self.ab(*sides, "--max-blocks 1 --inconclusive pass-always")
        self.assertLess(time.monotonic() - start, 40)


class Refusals(AbTest):
    def test_programs_names_and_numbers(self):
        good = self.program("good")
        self.refuse("ab", {
            "": "ab needs two programs",
            f"--base {good}": "ab needs two programs",
            f"--base {good} --head /no/such": "cannot be started",
            f"--base \"'\" --head {good}": "the quote ' is not closed",
            f"--base /bin/false --head {good}": "not a benchmark of a known kind",
        })
        self.refuse(f"ab --base {good} --head {self.program('b')}", {
            "--workload srot": "did you mean 'sort'?",
            "--delta 0": "--delta",
            "--delta much": "is not a percentage; write 3% or 0.03",
            "--delta 3": "'3' is not a percentage; write 3%",
            "--alpha 50%": "--alpha",
            "--budget 0s": "--budget",
            "--max-blocks 0": "--max-blocks",
            "--inconclusive maybe": "unknown meaning 'maybe'",
            "--json /no/such/r.json": "/no/such",
        })
        self.assertFalse((self.folder / "taskbench-ab.journal").exists())


if __name__ == "__main__":
    main()
