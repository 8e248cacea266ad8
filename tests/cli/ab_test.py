#!/usr/bin/env python3
"""`taskbench ab`, on programs that are made to be fast, slow, noisy or broken."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

from fake_program import FAKE, fake_valgrind
from taskbench_command import BINARY, CommandTest, environment, main


class AbTest(CommandTest):
    def program(self, name, times="sort=1000 hash=500", noise=0.002, body=""):
        path = self.folder / name
        path.write_text(FAKE.format(python=sys.executable, times=times, noise=noise, body=body))
        path.chmod(0o755)
        return str(path)

    def ab(self, base, head, *arguments, status=0, **options):
        return self.taskbench(
            "ab", "--base", base, "--head", head, *arguments, status=status, **options
        )

    def verdicts(self, name="r.json"):
        return {row["name"]: row["verdict"] for row in self.load(name)["benchmarks"]}


class Verdicts(AbTest):
    def test_h4_no_difference_passes(self):
        answer = self.ab(self.program("a"), self.program("b"), "--json", "r.json")
        self.assertIn("PASS: none of 2 benchmarks slower", answer.stdout)
        self.assertEqual(self.verdicts(), {"sort": "PASS", "hash": "PASS"})
        self.assertEqual(self.load("r.json")["blocks"], 8)

    def test_h4_a_slowdown_fails_and_names_what_is_slower(self):
        head = self.program("b", times="sort=1100 hash=500")
        files = ("--json", "r.json", "--markdown", "r.md")
        answer = self.ab(self.program("a"), head, *files, status=1)
        self.assertEqual(self.verdicts(), {"sort": "FAIL", "hash": "PASS"})
        self.assertIn("FAIL: 1 of 2 benchmarks slower", answer.stdout)
        comment = (self.folder / "r.md").read_text()
        self.assertTrue(comment.startswith("### taskbench: FAIL: 1 of 2 benchmarks slower"))
        self.assertIn("taskbench ab --base", comment)

    def test_h4_a_speedup_passes(self):
        head = self.program("b", times="sort=800 hash=500")
        self.ab(self.program("a"), head)

    def test_h4_too_much_noise_is_inconclusive_and_says_what_it_would_take(self):
        base, head = self.program("a", noise=0.3), self.program("b", noise=0.3)
        run = ("--max-blocks", "8", "--workload", "sort")
        answer = self.ab(base, head, *run, status=3)
        self.assertRegex(answer.stdout, r"about \d+ blocks tell it from\s+the 3.0 % that\s+matter")
        self.ab(base, head, *run, "--inconclusive", "pass", status=0)
        self.ab(base, head, *run, "--inconclusive", "fail", status=1)

    def test_h4_the_budget_ends_it(self):
        slow = "time.sleep(0.1)"
        start = time.monotonic()
        self.ab(
            self.program("a", noise=0.3, body=slow), self.program("b", noise=0.3, body=slow),
            "--budget", "2s", "--json", "r.json", status=3,
        )
        self.assertLess(time.monotonic() - start, 20)
        self.assertLess(self.load("r.json")["blocks"], 64)

    def test_half_of_forty_benchmarks_that_are_slower_are_found_in_eleven_blocks(self):
        def times(factor):
            return " ".join(f"b{i}={1000 * (factor if i < 20 else 1)}" for i in range(40))

        base = self.program("a", times=times(1), noise=0.05)
        head = self.program("b", times=times(1.3), noise=0.05)
        self.ab(base, head, "--max-blocks", "11", "--json", "r.json", status=1)
        for name, verdict in self.verdicts().items():
            self.assertEqual(verdict == "FAIL", int(name[1:]) < 20, name)

    def test_what_could_not_have_failed_does_not_pass_unless_asked_for_by_name(self):
        base, head = self.program("a", noise=0.1), self.program("b", times="sort=9000 hash=500")
        run = ("--max-blocks", "5", "--json", "r.json", "--markdown", "r.md", "--inconclusive")
        answer = self.ab(base, head, *run, "pass", status=3)
        says = "5 blocks can fail nothing, however much slower head is; a FAIL takes 7"
        notes = answer.stderr.splitlines()
        self.assertRegex(notes[0], f"note: a block takes .* s: {says}")
        self.assertIn("nothing could have failed, so --inconclusive pass", notes[-1])
        self.assertIn(says, (self.folder / "r.md").read_text())
        self.assertFalse(self.load("r.json")["could_fail"])
        self.assertEqual(self.load("r.json")["blocks_that_can_fail"], 7)
        self.ab(base, head, *run, "pass-always", "--quiet")
        self.ab(base, head, *run, "fail", "--quiet", status=1)

    def test_more_cpu_time_at_the_same_wall_time_fails(self):
        self.ab(self.program("a"), self.program("b", body="burnt = 1.3"), "--json", "r.json",
                "--max-blocks", "16", status=1)
        for row in self.load("r.json")["benchmarks"]:
            self.assertEqual((row["verdict"], row["cpu_time"]["verdict"]), ("PASS", "FAIL"))

    def test_the_machine_is_read_around_each_process(self):
        self.ab(self.program("a"), self.program("b"), "--json", "r.json", "--max-blocks", "8")
        for sample in self.load("r.json")["samples"]:
            self.assertGreater(sample["machine"]["seconds"], 0)
        self.assertIn("others_share", self.load("r.json")["machine"])

    def test_delta_decides_what_matters(self):
        head = self.program("b", times="sort=1100 hash=500")
        self.ab(self.program("a"), head, "--delta", "20%")

    def test_identical_binaries_pass_without_a_run(self):
        for name in ("one", "two"):
            shutil.copy(BINARY, self.folder / name)
        answer = self.ab("./one --workers 1", "./two --workers 1")
        self.assertEqual(answer.stdout, "PASS: the two programs are the same, byte for byte\n")
        self.assertFalse((self.folder / "taskbench-ab.journal").exists())

    def test_a_name_that_is_none_does_not_pass_for_that(self):
        both = ("--base", BINARY, "--head", BINARY, "--min-time", "1ms", "--workload")
        self.assertIn("unknown benchmark 'chained_spwan'; did you mean 'chained_spawn'?",
                      self.taskbench("ab", *both, "chained_spwan", status=2).stderr)
        self.assertIn("--workload: unknown benchmark 'nope'; there are chained_spawn/",
                      self.taskbench("gate", *both, "nope", status=2).stderr)
        self.taskbench("ab", *both, "chained_spawn")

    def test_equal_binaries_with_other_files_beside_them_are_measured(self):
        for side, plugin in (("old", "fast"), ("new", "slow")):
            (self.folder / side).mkdir()
            shutil.copy(RealGoogleBenchmark.PROGRAM, self.folder / side / "bench")
            (self.folder / side / "plugin.so").write_text(plugin)
        run = ("old/bench", "new/bench", "--workload", "BM_sum/1000", "--min-time", "1ms",
               "--max-blocks", "1", "--inconclusive", "pass-always")
        answer = self.ab(*run)
        self.assertIn("beside them, plugin.so differs: both are measured.", answer.stderr)
        self.assertIn("name them by --outputs", answer.stderr)
        self.assertIn("1 block,", answer.stdout)
        self.assertIn("PASS: the two", self.ab(*run, "--outputs", "bench").stdout)
        self.refused("ab", "--base", "old/bench", "--head", "new/bench", "--outputs", "plugn.so",
                     says="--outputs: neither")
        self.refused("ab", "--base", "old/bench", "--head", "new/bench", "--outputs", "../new",
                     says="--outputs '../new': its path begins in the folder of the program")
        shutil.copy(self.folder / "old/plugin.so", self.folder / "new/plugin.so")
        self.assertIn("PASS: the two", self.ab(*run).stdout)

    def test_taskbench_itself_with_shared_iteration_counts(self):
        for name in ("one", "two"):
            shutil.copy(BINARY, self.folder / name)
        options = "chained_spawn --workers 1 --param chained_spawn.length=10"
        self.ab(
            f"./one {options}", f"./two {options}", "--run-identical", "--min-time", "1ms",
            "--max-blocks", "2", "--json", "r.json", "--inconclusive", "pass-always",
            "--delta", "900%",
        )
        result = self.load("r.json")
        name = "chained_spawn/work_stealing/workers:1/length:10"
        self.assertGreater(result["setup"]["iterations"][name], 0)
        self.assertEqual(len(result["samples"]), 8)
        self.assertIn("polls", result["samples"][0]["counters"][name])

    def test_benchmarks_of_one_side_are_told_and_not_compared(self):
        answer = self.ab(
            self.program("a", times="sort=1000 old=5"), self.program("b", times="sort=1000 new=5")
        )
        self.assertIn("old: only base has it; nothing to compare with.", answer.stdout)
        self.assertIn("new: only head has it; nothing to compare with.", answer.stdout)


class RealGoogleBenchmark(AbTest):
    """A program with Google Benchmark's own main. Its path is in TASKBENCH_GOOGLE_BENCHMARK."""

    PROGRAM = os.environ["TASKBENCH_GOOGLE_BENCHMARK"]

    QUICK = ("--repetitions", "2", "--min-time", "1ms", "--max-blocks", "2", "--delta", "900%",
             "--inconclusive", "pass-always", "--json", "r.json")

    def variant(self, setting):
        path = self.folder / setting
        path.write_text(f'#!/bin/sh\n{setting} exec {self.PROGRAM} "$@"\n')
        path.chmod(0o755)
        return str(path)

    def test_h4_any_google_benchmark_program_is_compared(self):
        run = ("--repetitions", "3", "--min-time", "2ms", "--max-blocks", "16", "--json", "r.json")
        sides = (self.PROGRAM, self.variant("TEST_SLOWER=3"))
        answer = self.ab(*sides, *run, "--workload", "BM_sum", status=1)
        self.assertEqual(self.verdicts(), {"BM_sum/1000": "FAIL", "BM_sum/4000": "FAIL"})
        self.assertIn("size 1,000 → 3,000", answer.stdout)
        for row in self.load("r.json")["benchmarks"]:
            self.assertGreater(row["change"], 0.5)

    def test_names_with_threads_and_real_time_are_compared(self):
        self.ab(
            self.PROGRAM, f"{self.PROGRAM} --benchmark_enable_random_interleaving=false",
            "--workload", "BM_in_threads", *self.QUICK,
        )
        self.assertEqual(list(self.verdicts()), ["BM_in_threads/real_time/threads:2"])

    def test_a_mistyped_name_is_told_from_all_names(self):
        answer = self.ab(self.PROGRAM, self.variant("TEST_SOUND=1"),
                         "--workload", "BM_in_threads,BM_sun/1000", status=2)
        self.assertIn("did you mean 'BM_sum/1000'?", answer.stderr)

    def test_what_fails_in_base_is_told_and_left_out(self):
        answer = self.ab(self.PROGRAM, self.variant("TEST_SOUND=1"), *self.QUICK)
        self.assertIn("BM_fails: fails in base; nothing to compare with.", answer.stdout)
        self.assertEqual(len(self.verdicts()), 3)
        self.assertNotIn("BM_fails", self.verdicts())

    def test_what_cannot_be_judged_is_told_and_left_out(self):
        answer = self.ab(self.variant("TEST_ODD=1"), self.variant("TEST_ODD='1'"), *self.QUICK)
        reasons = {row["name"]: row["reason"] for row in self.load("r.json")["setup"]["left_out"]}
        self.assertEqual(set(reasons), {"BM_aggregates/1", "BM_no_time/iterations:3/manual_time",
                                        "BM_twice/1"})
        self.assertIn("reports only aggregates of it (ReportAggregatesOnly)",
                      reasons["BM_aggregates/1"])
        self.assertIn("real_time of 0.0", reasons["BM_no_time/iterations:3/manual_time"])
        self.assertIn("two benchmarks of the name", reasons["BM_twice/1"])
        self.assertIn("BM_aggregates/1: left out: base reports only", answer.stdout)
        self.assertEqual({name for name in self.verdicts() if "complexity" in name},
                         {"BM_complexity/1", "BM_complexity/8"})
        named = ("--workload", "BM_sum/1000,BM_aggregates", "--journal", "l")
        answer = self.ab(
            self.variant("TEST_ODD=1"), self.variant("TEST_ODD='1'"), *self.QUICK, *named)
        self.assertIn("BM_aggregates/1: left out: base reports only", answer.stdout)
        self.assertEqual(list(self.verdicts()), ["BM_sum/1000"])
        only = ("--workload", "BM_aggregates", "--journal", "k")
        answer = self.ab(self.variant("TEST_ODD=1"), self.variant("TEST_ODD='1'"), *only, status=5)
        self.assertIn("BM_aggregates/1 is left out: base reports only", answer.stderr)

    def test_what_is_listed_and_writes_no_result_is_told(self):
        head = self.program("b", times="sort=1000 hash=500 ghost=1", body="del times['ghost']")
        answer = self.ab(self.program("a"), head,
                         "--max-blocks", "1", "--inconclusive", "pass-always")
        self.assertIn("ghost: left out: it is listed, but no result of it was", answer.stdout)

    def test_what_fails_in_head_alone_has_failed_unless_others_are_chosen(self):
        sides = (self.variant("TEST_SOUND=1"), self.PROGRAM)
        answer = self.ab(*sides, *self.QUICK, status=5)
        self.assertIn("BM_fails failed: no such device", answer.stderr)
        self.ab(*sides, *self.QUICK, "--workload", "BM_sum/1000")
        self.assertEqual(list(self.verdicts()), ["BM_sum/1000"])


class Instructions(AbTest):
    """`--counters instructions-exact`: a metric of its own."""

    NAME = "chained_spawn/work_stealing/workers:1/length:10"

    def copies(self):
        for name in ("one", "two"):
            shutil.copy(BINARY, self.folder / name)
        options = "chained_spawn --workers 1 --param chained_spawn.length=10"
        return f"./one {options}", f"./two {options}"

    def counted(self, base, head, *arguments, of_two=4000, broken="pass", status=0, env=None):
        """Of the copy `two` valgrind counts `of_two` instructions, of any other 4,000."""
        body = (
            f"two = any(w.endswith('/two') for w in sys.argv)\n{broken}\n"
            f"open(out, 'w').write('events: Ir\\ntotals: %d\\n' % ({of_two} if two else 4000))"
        )
        env = {"PATH": fake_valgrind(self.folder / "bin", body), **(env or {})}
        return self.ab(
            base, head, "--counters", "instructions-exact", "--run-identical", "--min-time", "1ms",
            "--max-blocks", "8", "--delta", "900%", "--json", "r.json", "--markdown", "r.md",
            *arguments, status=status, env=env,
        )

    def row(self):
        (row,) = self.load("r.json")["benchmarks"]
        return row["instructions"]

    def test_h2_more_of_them_fail_though_the_time_passes(self):
        answer = self.counted(*self.copies(), of_two=4012, status=1)
        self.assertEqual(self.verdicts(), {self.NAME: "PASS"})
        self.assertEqual(
            self.row(),
            {"verdict": "FAIL", "reason": None, "base": 1000, "head": 1003, "threshold": 0.002,
             "change": self.row()["change"], "repeats": True},
        )
        self.assertAlmostEqual(self.row()["change"], 0.003)
        self.assertIn("FAIL: none of 1 benchmark slower, 1 with more instructions", answer.stdout)
        self.assertRegex(answer.stdout, r"  its instructions +1,000 +1,003 +\+0.30 % +exact")
        comment = (self.folder / "r.md").read_text()
        self.assertIn(f"- {self.NAME}: 0.30 % more instructions, 1,000 → 1,003", comment)
        self.assertIn("--counters instructions-exact", comment)

    def test_h2_as_many_or_nearly_and_fewer_pass(self):
        for count, says in ((4000, "PASS"), (4007, "PASS"), (3900, "PASS, fewer")):
            with self.subTest(count):
                self.counted(*self.copies(), "--journal", f"j{count}", of_two=count)
                self.assertEqual(self.row()["verdict"], "PASS")
                self.assertIn(f"| {says} |", (self.folder / "r.md").read_text())

    def test_h2_both_sides_are_counted_with_one_seed(self):
        seed = "sys.argv[sys.argv.index('--seed') + 1]"
        self.counted(*self.copies(), "--seed", "7",
                     broken=f"open('seeds', 'a').write({seed} + '\\n')")
        seeds = (self.folder / "seeds").read_text().split()
        self.assertEqual(len(seeds), 2 * 5)
        self.assertEqual(len(set(seeds)), 1, seeds)
        # What a program is given of its own cannot give it another.
        base, head = self.copies()
        answer = self.counted(base, f"{head} --seed 3", "--journal", "k", status=5)
        self.assertIn("--seed is given 2 times", answer.stderr)

    def test_h2_the_same_journal_gives_the_same_bytes_and_no_count_is_lost(self):
        first = self.counted(*self.copies(), "--journal", "j", of_two=4012, status=1)
        whole = (self.folder / "j").read_text().splitlines(keepends=True)
        written = [(self.folder / name).read_bytes() for name in ("r.json", "r.md")]
        again = ("ab", "--resume", "--journal", "j", "--json", "r.json", "--markdown", "r.md")
        for lines in (len(whole), 2):  # the setup and base's count: head is counted again
            (self.folder / "j").write_text("".join(whole[:lines]))
            env = {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
            answer = self.taskbench(*again, status=1, env=env)
            if lines == len(whole):
                self.assertEqual(answer.stdout, first.stdout)
                self.assertEqual(
                    [(self.folder / name).read_bytes() for name in ("r.json", "r.md")], written)
        self.assertEqual((self.folder / "j").read_text().splitlines(keepends=True)[:3], whole[:3])

    def test_h2_what_cannot_be_counted_is_told_and_inconclusive(self):
        base, head = self.copies()
        answer = self.counted(base, head, broken="two and sys.exit('no memory')", status=3)
        self.assertEqual(self.row()["verdict"], "INCONCLUSIVE")
        self.assertEqual(
            self.row()["reason"], "of head: under callgrind it exited with status 1: no memory")
        self.assertIsNone(self.row()["base"])
        self.assertIn(
            "INCONCLUSIVE: none of 1 benchmark slower, the instructions of 1 not known",
            answer.stdout)
        self.counted(base, head, "--inconclusive", "pass", "--journal", "k",
                     broken="two and sys.exit('no memory')")

    def test_h2_of_other_programs_they_cannot_be_counted(self):
        self.counted(self.program("a"), self.program("b"), status=3)
        for row in self.load("r.json")["benchmarks"]:
            self.assertEqual(row["verdict"], "PASS")
            reason = row["instructions"]["reason"]
            self.assertIn("of base: only programs that are taskbench", reason)

    def test_h2_without_valgrind_its_package_is_named(self):
        base, head = self.copies()
        (self.folder / "empty").mkdir()
        self.ab(
            base, head, "--counters", "instructions-exact", "--run-identical", "--min-time", "1ms",
            "--max-blocks", "1", "--json", "r.json", "--inconclusive", "pass-always",
            env={"PATH": str(self.folder / "empty")},
        )
        self.assertIn("Debian's package valgrind brings it", self.row()["reason"])

    def test_other_counters_are_refused(self):
        run = ("--base", self.program("a"), "--head", self.program("b"), "--counters")
        for command in ("ab", "gate"):
            self.refused(command, *run, "cycles", says="only instructions-exact can")
        self.refused("gate", "--baseline", "x", "--head", "y", "--counters", "instructions-exact",
                     says="--counters and --baseline exclude each other")


class Journals(AbTest):
    def test_the_budget_and_the_timeout_are_kept(self):
        slow = "time.sleep(0.05)"
        both = ("--base", self.program("a", noise=0.3, body=slow),
                "--head", self.program("b", noise=0.3, body=slow))
        self.taskbench("ab", *both, "--journal", "j", "--budget", "1s", "--timeout", "77s",
                       "--inconclusive", "pass-always")
        lines = (self.folder / "j").read_text().splitlines()
        setup = json.loads(lines[0])
        self.assertEqual((setup["budget_s"], setup["timeout_s"]), (1, 77))
        block = [json.dumps({**json.loads(line), "took_s": 0.3}) for line in lines[1:5]]
        for more, says in (((), 1), (("--budget", "2.5s"), 2)):
            (self.folder / "j").write_text("\n".join([lines[0], *block, ""]))
            self.taskbench("ab", "--resume", "--journal", "j", "--json", "r.json",
                           "--inconclusive", "pass-always", *more)
            self.assertEqual(min(self.load("r.json")["blocks"], 2), says)

    def test_a_complete_one_gives_the_same_verdict_byte_for_byte_without_the_programs(self):
        run = ("--journal", "j", "--json", "1.json", "--markdown", "1.md")
        first = self.ab(self.program("a"), self.program("b"), *run)
        os.remove(self.folder / "a")
        again = self.taskbench(
            "ab", "--resume", "--journal", "j", "--json", "2.json", "--markdown", "2.md"
        )
        self.assertEqual(again.stdout, first.stdout)
        for kind in ("json", "md"):
            one, two = ((self.folder / f"{n}.{kind}").read_bytes() for n in (1, 2))
            self.assertEqual(one, two)

    def test_killed_at_any_moment_it_goes_on(self):
        base = self.program("a", body="time.sleep(0.02)")
        head = self.program("b", body="time.sleep(0.02)")
        command = [BINARY, "ab", "--base", base, "--head", head, "--journal", "j"]
        journal = self.folder / "j"
        kills = 0
        for lines in (1, 4, 11, 20):
            process = subprocess.Popen(
                command, cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while process.poll() is None:
                if journal.exists() and journal.read_text().count("\n") >= lines:
                    process.kill()
                    kills += 1
                    break
                time.sleep(0.002)
            process.wait()
            command = [BINARY, "ab", "--resume", "--journal", "j"]
        self.assertEqual(kills, 4)
        complete = [line for line in journal.read_text().split("\n")[:-1]]
        self.taskbench("ab", "--resume", "--journal", "j", "--json", "r.json")
        # What was measured before the kill is still there, and nothing twice.
        self.assertEqual(journal.read_text().split("\n")[: len(complete)], complete)
        places = [(s["block"], s["position"]) for s in self.load("r.json")["samples"]]
        self.assertEqual(places, [(i // 4, i % 4) for i in range(len(places))])

    def test_control_c_says_how_to_go_on_and_kills_what_it_measures(self):
        body = "os.path.exists('j') and (open('pid', 'w').write(str(os.getpid())), time.sleep(60))"
        base = self.program("a", body=body)
        process = subprocess.Popen(
            [BINARY, "ab", "--base", base, "--head", self.program("b"), "--journal", "j"],
            cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True,
        )
        while not (self.folder / "pid").exists() or not (self.folder / "pid").read_text():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("interrupted; continue with: taskbench ab --resume --journal j", said)
        child = int((self.folder / "pid").read_text())
        with self.assertRaises(ProcessLookupError):
            os.kill(child, 0)

    def test_control_c_before_the_first_block(self):
        base = self.program("a", body="open('pid', 'w').close(); time.sleep(60)")
        process = subprocess.Popen(
            [BINARY, "ab", "--base", base, "--head", self.program("b"), "--journal", "j"],
            cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            text=True,
        )
        while not (self.folder / "pid").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("interrupted before the first block", said)
        self.assertFalse((self.folder / "j").exists())

    def test_unfinished_ones_are_not_overwritten_and_finished_ones_at_the_default_place_are(self):
        base, head = self.program("a"), self.program("b")
        self.ab(base, head)
        self.ab(base, head)
        journal = self.folder / "taskbench-ab.journal"
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(lines[:-1]))
        self.refused("ab", "--base", base, "--head", head, says="its trial has not ended")
        self.taskbench("ab", "--resume")

    def test_a_program_that_was_built_anew_is_noticed(self):
        base, head = self.program("a"), self.program("b")
        self.ab(base, head, "--journal", "j")
        journal = self.folder / "j"
        journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:6]))
        self.program("b", times="sort=2000 hash=500")
        self.refused("ab", "--resume", "--journal", "j", says="it was built anew")

    def test_a_complete_one_is_not_taken_for_the_verdict_of_other_programs(self):
        base, head = self.program("a"), self.program("b")
        self.ab(base, head, "--journal", "j", "--delta", "4%")
        again = ("ab", "--resume", "--journal", "j")
        self.taskbench(*again, "--base", base, "--head", head, "--delta", "4%")
        self.refused(*again, "--head", self.program("c"), says="--head: j was started with")
        for option, value in (
            ("--delta", "5%"), ("--alpha", "2%"), ("--seed", "2"), ("--repetitions", "2"),
            ("--min-time", "1ms"), ("--max-blocks", "9"), ("--counters", "instructions-exact"),
            ("--workload", "sort"),
        ):
            self.refused(*again, option, value, says=f"{option}: j was started with another")
        self.program("b", times="sort=2000 hash=500")
        self.refused(*again, "--base", base, "--head", head, says="it was built anew")
        self.taskbench(*again)  # what it was started with, it still says

    def test_what_is_no_journal_is_refused_and_left_alone(self):
        for content in ("", "garbage\n", "{}\n", "\xff\n"):
            (self.folder / "j").write_bytes(content.encode("latin-1"))
            self.refused("ab", "--resume", "--journal", "j", says="j: ")
            self.refused("ab", "--base", "x", "--head", "y", "--journal", "j", says="j exists")
            self.assertEqual((self.folder / "j").read_bytes(), content.encode("latin-1"))
        self.refused("ab", "--resume", "--journal", "none", says="none: cannot be opened")


class BrokenPrograms(AbTest):
    """Each ends with status 5 and a message that names the program."""

    def broken(self, body, says, *arguments):
        # From its second process on: a program may fail late.
        late = "n = len(os.listdir('.')); open(f'run{n}', 'w').close()\nif n > 5:\n    " + body
        for when, text in (("at once", body), ("late", late)):
            with self.subTest(when, body=body):
                for file in self.folder.iterdir():
                    file.unlink()
                head = self.program("head", body=text)
                answer = self.ab(
                    self.program("base"), head, "--journal", "j", *arguments, status=5
                )
                self.assertIn(says, answer.stderr)
                self.assertIn("error: ", answer.stderr)
                self.assertEqual(answer.stdout, "")

    def test_exits_with_an_error(self):
        self.broken("print('no such device', file=sys.stderr); sys.exit(1)",
                    "exited with status 1: no such device")

    def test_is_killed(self):
        self.broken("os.kill(os.getpid(), 9)", "was killed by signal 9 (Killed)")

    def test_hangs(self):
        self.broken("time.sleep(60)", "did not end in time and was killed", "--timeout", "0.8s")

    def test_writes_nothing(self):
        self.broken("sys.exit(0)", "result.json: does not exist")

    def test_writes_garbage(self):
        self.broken("open(flags['benchmark_out'], 'w').write('garbage'); sys.exit(0)",
                    "is no valid JSON")

    def test_leaves_out_a_benchmark_that_it_had(self):
        body = "n = len(open(__file__ + '.runs').read())\nif n > 3: times.pop('hash')"
        answer = self.ab(self.program("base"), self.program("head", body=body), "--journal", "j",
                         status=5)
        self.assertIn("left out 'hash', which it had measured before", answer.stderr)
        # What was measured before is whole, and can be gone on with.
        answer = self.taskbench("ab", "--resume", "--journal", "j", status=5)
        self.assertIn("left out 'hash'", answer.stderr)

    def test_has_nothing_in_common(self):
        answer = self.ab(self.program("a", times="x=1"), self.program("b", times="y=1"), status=5)
        self.assertIn("base and head have no benchmark in common", answer.stderr)

    def test_leaves_a_process_behind(self):
        body = "os.fork() or time.sleep(60)"
        start = time.monotonic()
        self.ab(self.program("a", body=body), self.program("b", body=body), "--max-blocks", "1",
                "--inconclusive", "pass-always")
        self.assertLess(time.monotonic() - start, 40)


class Refusals(AbTest):
    def test_programs_that_cannot_be_measured(self):
        good = self.program("good")
        self.refused("ab", says="ab needs two programs")
        self.refused("ab", "--base", good, says="ab needs two programs")
        self.refused("ab", "--base", good, "--head", "/no/such", says="cannot be started")
        self.refused("ab", "--base", "'", "--head", good, says="the quote ' is not closed")
        self.refused("ab", "--base", "/bin/false", "--head", good, says="neither taskbench nor")

    def test_names_and_numbers(self):
        run = ("ab", "--base", self.program("a"), "--head", self.program("b"))
        self.refused(*run, "--workload", "srot", says="did you mean 'sort'?")
        self.refused(*run, "--delta", "0", says="--delta")
        self.refused(*run, "--delta", "much", says="is not a percentage; write 3% or 0.03")
        self.refused(*run, "--alpha", "50%", says="--alpha")
        self.refused(*run, "--budget", "0s", says="--budget")
        self.refused(*run, "--max-blocks", "0", says="--max-blocks")
        self.refused(*run, "--inconclusive", "maybe", says="unknown meaning 'maybe'")
        self.refused(*run, "--json", "/no/such/r.json", says="/no/such")
        self.assertFalse((self.folder / "taskbench-ab.journal").exists())


if __name__ == "__main__":
    main()
