#!/usr/bin/env python3
"""`taskbench run --program`: another program's benchmarks, without a verdict."""

import os

from fake_program import fake_gnuplot
from schemas import SCHEMAS, SchemaCase
from taskbench_command import BINARY, CommandTest, main

GOOGLE_BENCHMARK = os.environ["TASKBENCH_GOOGLE_BENCHMARK"]

# Of the kind lines; logs how many repetitions each process is asked for.
PRINTS = """echo "$TASKBENCH_REPETITIONS" >>asked
for i in $(seq "$TASKBENCH_REPETITIONS"); do
  echo sort 1.$i ms
  echo sort 4.5 score
  echo hash a file 3 us
done"""


class RunProgram(SchemaCase, CommandTest):
    schema_path = SCHEMAS / "run-v1.schema.json"

    def measure(self, program, options="", name="r.json", **others):
        return self.taskbench(
            f"run --processes 3 --repetitions 3 --min-time 1ms --json {name} {options} --program",
            program, **others)

    def settings(self):
        return self.load("r.json")["taskbench"]["settings"]

    def rows(self, name):
        return [row for row in self.load("r.json")["benchmarks"]
                if row["run_name"] == name and row["run_type"] == "iteration"]

    def names(self):
        return [case["name"] for case in self.load("r.json")["taskbench"]["cases"]]

    def test_each_process_is_a_repetition_of_the_result(self):
        answer = self.measure(self.script("prints", PRINTS), "--kind lines")
        self.assertEqual(self.read("asked").split(), ["1", "3", "3", "3"])
        self.assertEqual(self.names(), ["sort", "hash a file"])
        rows = self.rows("sort")
        self.assertEqual([row["repetition_index"] for row in rows], [0, 1, 2])
        for row in rows:
            self.assertEqual(row["repetitions"], 3)
            self.assertTrue(1.1e6 <= row["real_time"] <= 1.3e6, row)
            self.assertEqual((row["cpu_time"], row["score"]), (0, 4.5))
        summary = self.load("r.json")["taskbench"]["cases"][0]["summary"]
        self.assertEqual((summary["samples"], summary["cpu_ns_median"]), (3, None))
        self.assertEqual((self.settings()["kind"], self.settings()["processes"],
                          self.settings()["repetitions"]), ("lines", 3, 3))
        self.assertEqual(self.errors(self.load("r.json")), [])
        said = " ".join(answer.stdout.split())
        self.assertRegex(answer.stdout, r"(?m)^benchmark +median ")
        self.assertNotIn("switches", said)
        self.assertIn("the median of 3 fresh processes of the kind lines;", said)

    def test_compare_and_report_read_it(self):
        program = self.script("prints", PRINTS)
        self.measure(program, "--kind lines")
        self.measure(program, "--kind lines", name="again.json")
        answer = self.taskbench("compare r.json again.json", status=3)
        self.assertIn("hash a file", answer.stdout)
        self.taskbench("report r.json --out out", env={"PATH": fake_gnuplot(self.folder / "bin")})
        self.assertIn("hash a file", self.read("out/report.md"))

    def test_one_of_google_benchmark_is_recognised_and_only_what_is_chosen_is_measured(self):
        self.measure(GOOGLE_BENCHMARK, "--workload BM_sum,BM_in_threads --filter '000$|threads'")
        self.assertEqual(self.names(), ["BM_sum/1000", "BM_sum/4000",
                                        "BM_in_threads/real_time/threads:2"])
        rows = self.rows("BM_sum/4000")
        self.assertEqual([row["size"] for row in rows], [4000] * 3)
        for row in rows:
            self.assertGreater(row["cpu_time"], 0)
        self.assertEqual(self.settings()["kind"], "google-benchmark")
        context = self.load("r.json")["context"]
        self.assertTrue(context["executable"].endswith("google_benchmark_program"), context)
        self.assertNotIn("taskbench_compiler", context)
        self.assertEqual(self.errors(self.load("r.json")), [])

    def test_a_benchmark_that_fails_is_named_and_the_others_are_measured(self):
        answer = self.measure(GOOGLE_BENCHMARK, "--workload BM_fails,BM_sum/1000", status=5)
        self.assertIn("taskbench: error: BM_fails: no such device\n", answer.stderr)
        self.assertEqual((len(self.rows("BM_fails")), len(self.rows("BM_sum/1000"))), (0, 3))
        self.measure(GOOGLE_BENCHMARK, "--workload BM_fails", status=5)

    def test_a_command_and_taskbench_itself_are_programs_too(self):
        self.measure("sleep 0.01", "--kind command --seed 7")
        self.assertEqual((self.names(), self.settings()["seed"]), (["command"], 7))
        for row in self.rows("command"):
            self.assertGreater(row["real_time"], 10e6)
        answer = self.measure(f"{BINARY} chained_spawn --workers 1 --param chained_spawn.length=10")
        [case] = self.load("r.json")["taskbench"]["cases"]
        self.assertEqual((case["workload"], case["workers"]), ("chained_spawn", 1))
        self.assertRegex(answer.stdout, r"(?m)^workload +median ")
        self.assertEqual(self.errors(self.load("r.json")), [])

    def test_a_program_that_fails_is_named(self):
        fails = self.script("fails", "echo no luck >&2; exit 3")
        answer = self.measure(fails, "--kind lines", status=5)
        self.assertIn("fails' exited with status 3: no luck", answer.stderr)

    def test_a_late_process_that_fails_leaves_what_the_others_have_measured(self):
        program = self.script("fails", "echo >>runs; [ $(wc -l <runs) -lt 4 ] || exit 3\n"
                              "echo sort 1 ms")
        answer = self.measure(program, "--kind lines --format csv", status=5)
        self.assertRegex(answer.stderr, "fails' exited with status 3; the results are partial\n")
        self.assertTrue(self.load("r.json")["taskbench"]["partial"])
        self.assertEqual(len(self.rows("sort")), 2)  # the first run does not count
        [titles, *records] = [line.split(",") for line in answer.stdout.splitlines()]
        self.assertEqual([dict(zip(titles, each))["cpu_ns"] for each in records], ["", ""])

    def test_a_process_that_does_not_end_in_time_is_killed(self):
        answer = self.measure(self.script("hangs", "exec sleep 1000"),
                              "--kind lines --timeout 0.2s", status=5)
        self.assertIn("did not end in time and was killed", answer.stderr)

    def test_an_interrupt_keeps_the_processes_that_have_ended(self):
        program = self.script("hangs", "echo >>runs; [ $(wc -l <runs) -lt 4 ] || exec sleep 1000\n"
                              "echo sort 1 ms")
        errors = self.interrupt("run --kind lines --processes 9 --json r.json --program", program,
                                when=self.written("runs", 4))
        self.assertIn("interrupted; the results are partial", errors)
        self.assertTrue(self.load("r.json")["taskbench"]["partial"])
        self.assertEqual(len(self.rows("sort")), 2)  # the first run does not count

    def test_what_cannot_be_meant_is_refused(self):
        program = f"--program {GOOGLE_BENCHMARK}"
        lines = f"--program {self.script('prints', PRINTS)} --kind lines"
        self.refuse("run", {
            "--kind lines": "--kind requires --program",
            "--processes 3": "--processes requires --program",
            "--workload sort": "--workload requires --program",
            "--timeout 1s": "--timeout requires --command or --program",
            "--program ''": "--program: it is empty",
            "--program \"'a\"": "--program ''a': the quote ' is not closed",
            "--program ./missing": "--program: './missing' ",
            "--program ./ --kind lines": "--program: './' is a directory; name the program in it",
            "--program true": "--program: 'true' lists no benchmarks",
            "--program true --kind comand": "did you mean 'command'?",
            f"{program} --workload BM_sun/1000": "did you mean 'BM_sum/1000'?",
            f"{program} --filter none": "'none' matches none of the 4 cases",
            f"{program} --filter (": "--filter: '(' is not a regular expression",
            f"{lines} --workload sotr": "unknown benchmark 'sotr'; did you mean 'sort'?",
            f"{lines} --filter none": "'none' matches none of the 2 cases; the first is 'sort'",
        })
        self.refuse("run --program true", dict.fromkeys((
            "--command true", "ping_pong", "--scheduler go", "--workers 2", "--param n=1", "--list",
            "--time-budget 9s", "--iterations a=1", "--pin", "--counters basic", "--load wrk",
        ), "exclude each other"))


if __name__ == "__main__":
    main()
