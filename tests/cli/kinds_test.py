#!/usr/bin/env python3
"""Programs other than Google Benchmark's: whole commands, and programs that print their times."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from taskbench_command import CommandTest, main

# Prints a line for each benchmark and repetition, such as "sort 1.000 ms".
PRINTS = """#!/bin/sh -u
i=0
while [ $i -lt "$TASKBENCH_REPETITIONS" ]; do
  us=$(({sort_us} + i))
  printf 'sort %d.%03d ms\\n' $((us / 1000)) $((us % 1000))
  echo "hash a file 3.$((i % 3))00 us"
  i=$((i + 1))
done
"""


class Commands(CommandTest):
    def run_commands(self, *commands, options="--repetitions 3 --min-time 1ms", **others):
        words = [word for command in commands for word in ("--command", command)]
        return self.taskbench(f"run {options} --json r.json", *words, **others)

    def rows(self, name):
        return [row for row in self.load("r.json")["benchmarks"]
                if row["run_name"] == name and row["run_type"] == "iteration"]

    def test_each_is_run_from_its_start_to_its_end(self):
        log = self.folder / "log"
        script = self.write("slow", f"#!/bin/sh\necho run >>{log}\nsleep 0.02\n", 0o755)
        answer = self.run_commands(f"slow={script}", "true")
        self.assertRegex(answer.stdout, r"(?m)^command +median ")
        self.assertRegex(answer.stdout, r"(?m)^slow +[\d,]+\.\d")
        rows = self.rows("slow")
        self.assertEqual([row["iterations"] for row in rows], [1, 1, 1])
        for row in rows:
            self.assertGreater(row["real_time"], 20e6)
            self.assertLess(row["cpu_time"], row["real_time"])
            self.assertGreater(row["minor_faults"], 0)
            self.assertGreaterEqual(row["voluntary_switches"], 1)
        self.assertGreaterEqual(len(log.read_text().splitlines()), 3 + 2)  # two of them to find out

    def test_a_repetition_runs_it_as_often_as_the_time_takes_or_as_it_is_told(self):
        self.run_commands("true", options="--repetitions 2 --min-time 100ms")
        self.assertGreater(self.rows("true")[0]["iterations"], 2)
        self.run_commands("true", options="--repetitions 2 --iterations true=3")
        self.assertEqual([row["iterations"] for row in self.rows("true")], [3, 3])
        self.run_commands("true", options="--iterations false=3", status=2)

    def test_no_shell_reads_it_and_its_output_is_thrown_away(self):
        script = self.write("says", f"#!/bin/sh\nprintf '%s|' \"$@\" >{self.folder}/words\n"
                            "echo out; echo err >&2; cat\n", 0o755)
        answer = self.run_commands(f"says={script} $HOME '*' a\\ b")
        self.assertEqual((self.folder / "words").read_text(), "$HOME|*|a b|")
        self.assertNotIn("out\n", answer.stdout)
        self.assertEqual(answer.stderr, "taskbench: note: wrote r.json\n")

    def test_memory_is_told_above_what_taskbench_takes_itself(self):
        large = f"{sys.executable} -IS -c \"x = b'1' * 200000000\""
        self.run_commands(f"large={large}", "true")
        self.assertGreater(self.rows("large")[0]["peak_memory_bytes"], 200e6)
        self.assertNotIn("peak_memory_bytes", self.rows("true")[0])

    def test_one_that_fails_has_no_times_and_says_why(self):
        script = self.write("once", f"#!/bin/sh\n[ ! -e {self.folder}/ran ] || exit 7\n"
                            f"touch {self.folder}/ran\n", 0o755)
        for command, why in (
                ("sh -c 'echo no luck >&2; exit 3'", "exited with status 3: no luck"),
                ("sh -c 'kill -9 $$'", r"was killed by signal 9 \(Killed\)"),
                ("/no/such", "'/no/such' cannot be started: No such file"),
                (f"{script}", "exited with status 7")):
            answer = self.run_commands(f"x={command}", "fine=true", status=5)
            self.assertRegex(answer.stderr, f"x: {why}")
            case = self.load("r.json")["taskbench"]["cases"][0]
            self.assertRegex(case["errors"][0], why)
            self.assertEqual(self.rows("x"), [])
            self.assertEqual(len(self.rows("fine")), 3)

    def test_how_one_ends_is_known_even_if_the_parent_process_ignores_its_children(self):
        answer = self.run_commands(
            "false", status=5,
            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertIn("false: exited with status 1", answer.stderr)

    def test_one_that_wants_a_terminal_or_prints_much_is_measured_or_fails_at_once(self):
        self.run_commands("x=sh -c 'head -c 100000000 /dev/zero; head -c 100000000 /dev/zero >&2'",
                          options="--repetitions 1 --min-time 1ms")
        self.assertEqual(len(self.rows("x")), 1)
        answer = self.run_commands("x=sh -c 'read answer </dev/tty'", status=5)
        self.assertRegex(answer.stderr, "x: exited with status .*/dev/tty")

    def test_what_it_leaves_behind_ends_with_it(self):
        script = self.write("leaves", "#!/bin/sh\nsleep 1000 &\n"
                            f"echo $! >>{self.folder}/pids\n", 0o755)
        self.run_commands(f"x={script}")
        for pid in (self.folder / "pids").read_text().split():
            for _ in range(500):
                if not Path(f"/proc/{pid}").exists():
                    break
                time.sleep(0.01)
            self.assertFalse(Path(f"/proc/{pid}").exists())

    def test_one_that_does_not_end_in_time_has_failed_and_the_others_go_on(self):
        start = time.monotonic()
        answer = self.run_commands(
            "x=sleep {n}", options="--param n=0.01,1000 --timeout 1s --repetitions 2 "
                                   "--min-time 1ms", status=5)
        self.assertLess(time.monotonic() - start, 60)
        self.assertIn("x/n:1000: did not end in time and was killed", answer.stderr)
        self.assertEqual((len(self.rows("x/n:0.01")), self.rows("x/n:1000")), (2, []))
        answer = self.run_commands("x=true", options="--prepare 'sleep 1000' --timeout 1s",
                                   status=5)
        self.assertIn("x: --prepare did not end in time and was killed", answer.stderr)

    def test_cpu_time_is_told_apart(self):
        copies = "dd if=/dev/zero of=/dev/null bs=1M count=1000"
        computes = f"{sys.executable} -IS -c 'sum(range(3000000))'"
        self.run_commands(f"copies={copies}", f"computes={computes}")
        for name, more, less in (("copies", "system_ns", "user_ns"),
                                 ("computes", "user_ns", "system_ns")):
            for row in self.rows(name):
                self.assertGreater(row[more], row[less])
                self.assertAlmostEqual(row[more] + row[less], row["cpu_time"], delta=10)

    def test_with_iterations_it_is_run_once_to_see_whether_it_works(self):
        log = self.folder / "log"
        self.run_commands(f"x=sh -c 'echo run >>{log}'",
                          options="--repetitions 4 --iterations x=3")
        self.assertEqual(len(log.read_text().split()), 1 + 4 * 3)

    def test_a_name_with_spaces_is_refused_with_one_that_will_do(self):
        answer = self.run_commands("my own sort=true", status=2)
        self.assertIn("--command 'my own sort=true': there is no program 'my'; a name cannot "
                      "contain spaces: write my-own-sort='...'", answer.stderr)
        self.run_commands("env A=1 true", "true --like=this")
        for missing in ("./made-by-setup n=3", "sotr --key=1 f"):
            self.assertIn("cannot be started", self.run_commands(missing, status=5).stderr)

    def test_a_name_may_have_slashes_and_a_command_without_one_spaces_too(self):
        self.run_commands("group/a=true", "sh -c 'exit 0 # a/b'",
                          options="--repetitions 2 --iterations group/a=2")
        names = {row["run_name"] for row in self.load("r.json")["benchmarks"]}
        self.assertEqual(names, {"group/a", "sh -c 'exit 0 # a/b'"})

    def test_an_interrupt_kills_it(self):
        process = subprocess.Popen(
            [os.environ["TASKBENCH_BINARY"], "run", "--command",
             f"sh -c 'touch {self.folder}/begun; sleep 1000'"],
            cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not (self.folder / "begun").exists():
            time.sleep(0.01)
        process.terminate()
        self.assertEqual((process.communicate(timeout=60), process.returncode)[1], 130)

    def test_what_is_to_be_done_before_and_after_is_done_and_not_timed(self):
        log = self.folder / "log"
        says = lambda word: f"sh -c 'echo {word} >>{log}'"
        self.run_commands(
            f"x={says('run')}",
            options=f"--repetitions 2 --iterations x=2 --setup \"{says('setup')}\" "
                    f"--prepare \"sh -c 'sleep 0.05; echo prepare >>{log}'\" "
                    f"--conclude \"{says('conclude')}\"")
        words = log.read_text().split()
        self.assertEqual(words[0], "setup")
        self.assertEqual(set(zip(words[1::3], words[2::3], words[3::3])),
                         {("prepare", "run", "conclude")})
        self.assertEqual(words.count("setup"), 1)
        for row in self.rows("x"):
            self.assertLess(row["real_time"], 50e6)

    def test_one_that_should_prepare_and_fails_is_named(self):
        for option in ("setup", "prepare", "conclude"):
            answer = self.run_commands("x=true", options=f"--{option} 'sh -c \"exit 3\"'", status=5)
            self.assertIn(f"x: --{option} exited with status 3", answer.stderr)
            self.assertEqual(self.rows("x"), [])

    def test_it_reads_a_file_if_it_is_told_to(self):
        text = self.write("text", "some words\n" * 10)
        script = self.write("reads", f"#!/bin/sh\nwc -l >{self.folder}/lines\n", 0o755)
        self.run_commands(f"x={script}", options=f"--input {text} --repetitions 1 --min-time 1ms")
        self.assertEqual((self.folder / "lines").read_text().split(), ["10"])
        answer = self.run_commands(f"x={script}", options="--input missing", status=5)
        self.assertIn("x: --input missing: No such file or directory", answer.stderr)
        self.run_commands("x=cat", options="--setup 'cp text made' --input made --repetitions 1 "
                                           "--min-time 1ms")

    def test_what_it_prints_goes_where_it_is_told_to(self):
        self.run_commands("x=echo {n}", options="--param n=1,22 --output out-{n} "
                                                "--repetitions 2 --min-time 1ms")
        self.assertEqual((self.read("out-1"), self.read("out-22")), ("1\n", "22\n"))
        answer = self.run_commands("x=sh -c 'echo told; echo lost >&2'",
                                   options="--output inherit --repetitions 2 --iterations x=1 "
                                           "--quiet")
        self.assertEqual(answer.stdout.count("told\n"), 1 + 2)
        self.assertNotIn("lost", answer.stdout + answer.stderr)
        answer = self.run_commands("x=true", options="--output no/folder", status=5)
        self.assertIn("x: --output no/folder: No such file or directory", answer.stderr)
        answer = self.run_commands("x=true", options="--output .", status=5)
        self.assertIn("x: --output .: Is a directory", answer.stderr)
        full = self.run_commands("x=sh -c 'echo all; exit $?'", options="--output /dev/full",
                                 status=5)
        self.assertRegex(full.stderr, "x: exited with status")

    def test_a_status_is_no_failure_if_it_is_told_so_and_a_signal_is(self):
        self.run_commands("x=sh -c 'exit 3'",
                          options="--ignore-failure --repetitions 2 --min-time 1ms")
        self.assertEqual([row["exit_status"] for row in self.rows("x")], [3, 3])
        answer = self.run_commands("x=sh -c 'kill -9 $$'", options="--ignore-failure", status=5)
        self.assertIn("was killed by signal 9", answer.stderr)

    def test_each_value_of_a_parameter_makes_a_command(self):
        log = self.folder / "log"
        self.run_commands(
            f"x=sh -c 'echo {{n}} {{w}} >>{log}'", "true",
            options="--repetitions 1 --iterations true=1 --min-time 1ms --param n=1,20 "
                    "--param w=a,b")
        self.assertEqual(set(log.read_text().splitlines()), {"1 a", "1 b", "20 a", "20 b"})
        names = {row["run_name"] for row in self.load("r.json")["benchmarks"]}
        self.assertEqual(names, {"true", "x/n:1/w:a", "x/n:1/w:b", "x/n:20/w:a", "x/n:20/w:b"})
        for options, why in (("--param n=1", "--param: no command has {n}"),
                             ("--param n", "--param 'n' is not NAME=VALUE[,VALUE...]"),
                             ("--param n=1 --param n=2", "--param: n is given twice")):
            self.assertIn(why, self.run_commands("true", options=options, status=2).stderr)

    def test_a_filter_keeps_commands_by_their_names(self):
        self.run_commands("one=true", "two=true", options="--filter ^t --repetitions 1")
        self.assertEqual({row["run_name"] for row in self.load("r.json")["benchmarks"]}, {"two"})
        answer = self.run_commands("one=true", options="--filter x", status=2)
        self.assertIn("'x' matches none of the 1 cases; the first is 'one'", answer.stderr)

    def test_options_of_commands_need_one(self):
        for option in ("--setup true", "--prepare true", "--conclude true", "--input f",
                       "--ignore-failure", "--timeout 1s", "--output f"):
            self.assertIn("requires --command", self.taskbench(f"run {option}", status=2).stderr)

    def test_what_cannot_be_meant_is_refused(self):
        for command, why in (("", "the command is empty"), ("x=", "the command is empty"),
                             ("x='a", "the quote ' is not closed")):
            self.assertIn(why, self.run_commands(command, status=2).stderr)
        self.assertIn("'true' is given twice", self.run_commands("true", "true", status=2).stderr)
        for other in ("--workers 2", "--scheduler go", "--time-budget 9s", "--pin",
                      "--load wrk", "ping_pong"):
            self.assertIn("exclude", self.run_commands("true", options=other, status=2).stderr)


# Answers like a program of each kind, and logs the options that it was given. Importing json and
# pathlib would take longer than the rest.
FRAMEWORK = """#!{python} -IS
import os, sys, time
words = sys.argv[1:]

def as_json(value):
    return repr(value).replace("'", '"')

def write(path, text, mode="w"):
    with open(path, mode) as file:
        file.write(text)

write({log!r}, as_json(words) + "\\n", "a")

def option(name, default=None):
    for i, word in enumerate(words):
        if word == name:
            return words[i + 1]
        if word.startswith(name + "="):
            return word[len(name) + 1:]
    return default

def noisy(ns, count):
    return [ns * (1 + i % 5 / 2000) for i in range(count)]

TIMES = {{"a": 1000.0, "b": {b}}}

def criterion():
    if option("--warm-up-time") == "0.5" and {whole_seconds}:
        sys.exit("error: Invalid value for '--warm-up-time'")
    if "--list" in words:
        print("a: benchmark\\ngroup/b: benchmark\\n\\n2 benchmarks")
        return
    if words[-1] == "^$":
        return
    for name, ns in TIMES.items():
        folder = os.environ["CRITERION_HOME"] + "/" + name + "/new"
        os.makedirs(folder)
        full = "a" if name == "a" else "group/b"
        write(folder + "/benchmark.json", as_json({{"full_id": full}}))
        count = int(option("--sample-size"))
        iterations = [10.0 * (i + 1) for i in range(count)]
        times = [n * ns for n, ns in zip(iterations, noisy(ns, count))]
        write(folder + "/sample.json", as_json({{"iters": iterations, "times": times}}))

def libtest():
    for name, ns in TIMES.items():
        print(f"tests::{{name}}: benchmark" if "--list" in words else
              f"test tests::{{name}} ... bench: {{ns:,.0f}} ns/iter (+/- 3)")

def go():  # on one CPU: it prints no number of CPUs behind a name
    if option("-test.list"):
        print("BenchmarkHash")
        return
    import re
    levels = option("-test.bench").split("/")
    least_ns = int(option("-test.benchtime").removesuffix("ns"))
    for name, ns in zip(("BenchmarkHash/md5", "BenchmarkHash/sha-256"), TIMES.values()):
        if not all(map(re.search, levels, name.split("/"))):
            continue
        if "-test.v" in words:
            print(name)
        for time_ns in noisy(ns, int(option("-test.count"))):
            print(f"{{name}} \\t {{round(least_ns / ns) + 1}}\\t {{time_ns}} ns/op")

def catch2():
    if "--list-reporters" in words:
        print("Available reporters:\\n  xml: Reports test results as an XML document")
        return
    time.sleep({start_s} + {sample_s} * int(option("--benchmark-samples")))
    rows = "".join(f"<BenchmarkResults name='{{name}}' samples='1' iterations='1'>"
                   f"<mean value='{{ns}}'/></BenchmarkResults>" for name, ns in TIMES.items())
    text = f"<Catch2TestRun><TestCase name='x [y]/z'>{{rows}}</TestCase></Catch2TestRun>"
    write(option("--out"), text)

def pytest():
    rows = [{{"fullname": f"t.py::test_{{name}}[x]", "stats": {{"iterations": 100, "data": [
        ns / 1e9 for ns in noisy(ns, int(option("--benchmark-min-rounds")))]}}}}
        for name, ns in TIMES.items()]
    for row in rows:
        row["stats"]["cpu_data"] = row["stats"]["data"]
    with open(os.environ["PYTHONPATH"].split(":")[0] + "/taskbench_pytest.py") as plugin:
        assert "import pytest" in plugin.read()
    write(option("--benchmark-json"), as_json({{"benchmarks": rows}}))

def pyperf():
    rows = [{{"metadata": {{"name": name}}, "runs": [
        {{"values": [ns / 1e9 for ns in noisy(ns, int(option("--values")))]}}]}}
        for name, ns in TIMES.items()]
    document = {{"benchmarks": rows, "metadata": {{"unit": "second"}}}}
    write(option("--output"), as_json(document), "x")

def jmh():
    rows = [{{"benchmark": f"org.{{name}}", "params": {{"n": "1"}}, "primaryMetric":
             {{"scoreUnit": "ns/op", "rawData": [noisy(ns, int(option("-i")))]}}}}
            for name, ns in TIMES.items()]
    write(option("-rff"), as_json(rows))

{kind}()
"""


class Frameworks(CommandTest):
    """A stand-in for each kind; gate_examples_test.py has the real ones."""

    def program(self, name, kind, b=2000.0, whole_seconds=False, start_s=0, sample_s=0):
        self.log = self.folder / "log"
        return self.write(name, FRAMEWORK.format(
            python=sys.executable, kind=kind, b=b, log=str(self.log), whole_seconds=whole_seconds,
            start_s=start_s, sample_s=sample_s), 0o755)

    def words(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def fails_in(self, kind, function, name, others, cpu=False, **options):
        self.taskbench(
            f"ab --max-blocks 8 --exact off --json r.json --kind {kind} --base",
            self.program("base", function, **options), "--head",
            self.program("head", function, 2500.0, **options), status=1)
        result = self.load("r.json")
        self.assertEqual({row["name"]: row["verdict"] for row in result["benchmarks"]},
                         {name: "FAIL", others: "PASS"})
        self.assertEqual(result["setup"]["kind"], kind)
        self.assertEqual(bool(result["setup"]["cpu_time_of"]), cpu)

    def only(self, kind, function, name):
        self.log.unlink(missing_ok=True)
        self.taskbench(
            f"ab --max-blocks 1 --exact off --inconclusive pass-always --kind {kind} --workload",
            name, "--base", self.program("base", function), "--head",
            self.program("head", function))
        return self.words()[-1]

    def test_criterion(self):
        self.fails_in("criterion", "criterion", "group/b", "a")
        words = self.only("criterion", "criterion", "group/b")
        self.assertEqual(words[-1], "^(group/b)$")
        self.assertLess(float(words[words.index("--measurement-time") + 1]), 1)

    def test_criterion_of_version_0_3_is_told_whole_seconds(self):
        self.fails_in("criterion-0.3", "criterion", "group/b", "a", whole_seconds=True)
        self.assertIn("1", self.words()[-1])
        answer = self.taskbench("ab --kind criterion --base ./base --head ./head", status=2)
        self.assertIn("it is not a benchmark of Criterion 0.4 or later", answer.stderr)

    def test_libtest(self):
        self.fails_in("libtest", "libtest", "tests::b", "tests::a")
        self.assertEqual(self.only("libtest", "libtest", "tests::b")[-2:], ["--exact", "tests::b"])

    def test_go(self):
        self.fails_in("go", "go", "BenchmarkHash/sha-256", "BenchmarkHash/md5")
        words = self.only("go", "go", "BenchmarkHash/sha-256")
        self.assertIn("-test.bench=^(BenchmarkHash)$/^(sha-256)$", words)

    def test_metrics_of_go_are_judged_if_they_are_named_and_allocations_in_any_case(self):
        def counting(name, steals, allocations):
            return self.script(
                name, "case $1 in -test.list=*) echo BenchmarkSort; exit ;; esac\n"
                "n=${*#*-test.count=}\nfor i in $(seq ${n%% *}); do echo "
                f"BenchmarkSort 9 100$(($$ % 10)).$i ns/op {steals}.$i steals/op 64 B/op "
                f"{allocations} allocs/op; done")

        self.taskbench("ab --kind go --max-blocks 8 --exact off --judge steals/op=5% --json r.json "
                       "--base", counting("a", 20, 2), "--head", counting("b", 25, 3), status=1)
        [row] = self.load("r.json")["benchmarks"]
        self.assertEqual(row["verdict"], "PASS")
        self.assertEqual([(each["metric"], each["verdict"]) for each in row["judged"]],
                         [("steals/op", "FAIL")])
        self.assertEqual({each["kind"]: each["verdict"] for each in row["kinds"]},
                         {"allocations": "FAIL", "allocated-bytes": "PASS"})

    def test_catch2(self):
        self.fails_in("catch2", "catch2", "x [y]/z/b", "x [y]/z/a")
        words = self.only("catch2", "catch2", "x [y]/z/b")
        self.assertEqual(words[-1], "x \\[y\\],x \\[y\\]/z")

    def samples_of_catch2(self, sample_s):
        self.taskbench(
            "ab --budget 10s --max-blocks 1 --exact off --inconclusive pass-always "
            "--kind catch2 --base",
            self.program("base", "catch2", start_s=0.35, sample_s=sample_s), "--head",
            self.program("head", "catch2", start_s=0.35, sample_s=sample_s))
        return [int(words[words.index("--benchmark-samples") + 1]) for words in self.words()
                if "--benchmark-samples" in words]

    def test_catch2_takes_more_samples_where_its_start_takes_far_longer(self):
        self.assertGreaterEqual(self.samples_of_catch2(0)[-1], 2 * 180)

    def test_catch2_takes_no_more_samples_where_these_take_long(self):
        samples = self.samples_of_catch2(0.002)
        self.assertGreaterEqual(max(samples), 2 * 180)
        self.assertEqual(samples[-1], 180)

    def test_pytest(self):
        self.fails_in("pytest", "pytest", "t.py::test_b[x]", "t.py::test_a[x]", cpu=True)
        words = self.only("pytest", "pytest", "t.py::test_b[x]")
        self.assertEqual(words[-2:], ["-k", "test_b"])
        self.assertIn("--benchmark-enable", words)  # the configuration may disable them

    def test_pyperf(self):
        self.fails_in("pyperf", "pyperf", "b", "a")

    def test_jmh(self):
        self.fails_in("jmh", "jmh", "org.b/n=1", "org.a/n=1")
        words = self.only("jmh", "jmh", "org.b/n=1")
        self.assertEqual(words[-1], r"^(org\.b)$")
        self.assertEqual(words[words.index("-wi") + 1], words[words.index("-i") + 1])

    def test_what_a_command_of_jmh_says_itself_is_not_said_twice(self):
        program = self.program("base", "jmh")
        self.taskbench("ab --max-blocks 1 --exact off --inconclusive pass-always --kind jmh",
                       "--base", f"{program} -wi 30", "--head", f"{program} -wi 30")
        self.assertEqual(self.words()[-1].count("-wi"), 1)

    def test_one_that_writes_no_result_is_said_to(self):
        for kind, says in (("criterion", "is not a benchmark of Criterion"),
                           ("libtest", "lists no benchmarks"),
                           ("catch2", "it is not a test program of Catch2"),
                           ("pytest", "wrote no result: it is not pytest, with benchmarks"),
                           ("pyperf", "wrote no result: it is not a script with benchmarks of"),
                           ("jmh", "wrote no result: it is not a program of JMH")):
            answer = self.taskbench(f"ab --kind {kind} --base true --head 'true x'",
                                    status=(2, 5))
            self.assertIn(says, " ".join(answer.stderr.split()), kind)


class Compared(CommandTest):
    def compare(self, base, head, options="", **others):
        blocks = "" if "--max-blocks" in options else "--max-blocks 8"
        return self.taskbench(f"ab {blocks} --exact off --json r.json --journal j {options}",
                              "--base", base, "--head", head, **others)

    def verdicts(self):
        return {row["name"]: row["verdict"] for row in self.load("r.json")["benchmarks"]}

    def printing(self, name, sort=1.0):
        return self.write(name, PRINTS.format(sort_us=round(1000 * sort)), 0o755)

    def test_a_command_that_became_slower_fails(self):
        self.compare("sleep 0.01", "sleep 0.03", "--kind command --repetitions 2", status=1)
        self.assertEqual(self.verdicts(), {"command": "FAIL"})
        self.assertEqual(self.load("r.json")["setup"]["kind"], "command")

    def test_the_peak_of_a_commands_memory_is_judged_if_it_is_asked_for(self):
        def filled(megabytes):
            return f"dd if=/dev/zero of=/dev/null bs={megabytes}M count=1"
        self.compare(filled(24), filled(28), "--kind command --repetitions 1 --max-blocks 8 "
                     "--judge peak_memory_bytes=5%", status=1)
        [row] = self.load("r.json")["benchmarks"]
        [memory] = row["judged"]
        self.assertEqual((memory["metric"], memory["verdict"]), ("peak_memory_bytes", "FAIL"))
        self.assertAlmostEqual(memory["change"], 28 / 24 - 1, delta=0.03)

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_what_a_command_and_its_children_execute_is_counted_if_it_is_asked_for(self):
        def counting(to):
            return f"sh -c 'seq {to}; true'"
        self.compare(counting(2000), counting(2600), "--kind command --repetitions 1 "
                     "--max-blocks 1 --inconclusive pass-always "
                     "--counters instructions-exact", status=1)
        [row] = self.load("r.json")["benchmarks"]
        counts = row["instructions"]
        self.assertEqual((counts["verdict"], counts["reason"]), ("FAIL", None))
        # The shell alone executes fewer.
        self.assertGreater(counts["base"], 200_000)
        self.assertGreater(counts["change"], 0.01)

    def test_a_command_runs_where_it_is_told_to(self):
        (self.folder / "there").mkdir()
        self.write("tool", "#!/bin/sh\npwd >>cwds\n", 0o755)
        self.compare("./tool", "./tool 2", "--kind command --cwd there --max-blocks 1 "
                     "--inconclusive pass-always")
        self.assertEqual(set((self.folder / "there/cwds").read_text().split()),
                         {str((self.folder / "there").resolve())})

    def test_times_that_a_program_prints_are_judged(self):
        self.compare(self.printing("a"), self.printing("b", 1.2), "--kind lines", status=1)
        self.assertEqual(self.verdicts(), {"sort": "FAIL", "hash a file": "PASS"})
        self.assertEqual(self.load("r.json")["setup"]["cpu_time_of"], {})

    def whole(self, ns):
        """Returns a program that prints a time in whole nanoseconds."""
        return self.write(f"of_{ns}", "#!/bin/sh\nfor i in $(seq $TASKBENCH_REPETITIONS); do\n"
                          f"echo sort {ns} ns; done\n", 0o755)

    def test_a_step_of_the_last_printed_digit_is_no_slowdown_and_its_size_is_the_noise_floor(self):
        for head, status in ((20, 0), (21, 0), (23, 1)):
            (self.folder / "j").unlink(missing_ok=True)
            answer = self.compare(f"{self.whole(20)} base", self.whole(head), "--kind lines",
                                  status=status)
            [row] = self.load("r.json")["benchmarks"]
            self.assertAlmostEqual(row["delta"], 1 / 19.5)
            said = " ".join(answer.stdout.split())
            self.assertIn("the program prints times in steps of 1 ns", said)
            self.assertEqual("code layout aside" in said, status == 1, said)

    def test_a_program_that_prints_lines_may_say_which_way_a_metric_is_better(self):
        def scoring(name, score):
            return self.write(name, "#!/bin/sh\nfor i in $(seq $TASKBENCH_REPETITIONS); do\n"
                              f"echo sort 1.$i ms; echo sort {score}.$i score more; done\n", 0o755)
        high, low = scoring("high", 90), scoring("low", 80)

        def judged(base, head, score, status=0):
            (self.folder / "j").unlink(missing_ok=True)
            return self.compare(base, head, f"--kind lines --judge {score}", status=status)

        judged(high, low, "score=5%", status=1)
        [metric] = self.load("r.json")["benchmarks"][0]["judged"]
        self.assertTrue(metric["more_is_better"])
        judged(low, high, "score=5%")
        judged(low, high, "less:score=5%", status=1)
        answer = judged(high, low, "score=100%", status=5)
        self.assertIn("the program says that more 'score' is better", answer.stderr)
        other = self.write("other", Path(low).read_text().replace(" more;", " less;"), 0o755)
        answer = judged(high, other, "score=5%", status=5)
        self.assertIn("give more:score or less:score", answer.stderr)

    def test_the_report_says_what_it_is_and_what_is_not_known_of_it(self):
        answer = self.taskbench("ab --kind lines --max-blocks 8 --journal j", "--base",
                                self.printing("a"), "--head", self.printing("b"))
        said = " ".join(answer.stdout.split())
        self.assertIn("are of the kind lines, which reports no CPU time", said)
        self.assertIn("Nothing was counted exactly: callgrind cannot tell where a benchmark "
                      "begins and ends in a program that prints lines", said)
        self.assertNotIn("what both execute was counted", said)

    def test_a_program_that_prints_no_times_is_told_how(self):
        silent = self.write("silent", "#!/bin/sh\necho hello\n", 0o755)
        answer = self.compare(silent, self.printing("b"), "--kind lines", status=5)
        self.assertIn("printed no line of the form NAME VALUE UNIT, such as 'sort 1.5 ms'",
                      answer.stderr)

    def test_what_is_not_a_time_is_left_out_and_named(self):
        sized = self.write("sized", "#!/bin/sh\necho size 3 MB; echo sort 1 ms\n", 0o755)
        self.compare(sized, sized, "--kind lines")
        self.assertEqual(self.verdicts(), {"sort": "PASS"})
        [left_out] = self.load("r.json")["setup"]["left_out"]
        self.assertEqual(left_out["name"], "size")
        self.assertIn("is in 'MB', which is no unit of time", left_out["reason"])

    def test_a_resumed_trial_keeps_its_kind(self):
        self.compare(self.printing("a"), self.printing("b"), "--kind lines --max-blocks 1",
                     status=3)
        self.taskbench("ab --resume --journal j", status=3)
        answer = self.taskbench("ab --resume --journal j --kind command", status=2)
        self.assertIn("--kind", answer.stderr)

    def test_a_baseline_keeps_the_kind_of_its_program_and_has_the_floor_of_its_digits(self):
        cpus = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cpus)
        os.sched_setaffinity(0, {max(cpus)})  # where the canary takes least
        self.taskbench("baseline save --processes 7 --kind lines --store s --allow-busy --program",
                       self.whole(20))
        answer = self.taskbench("baseline compare --store s --processes 7 --allow-busy "
                                "--json r.json --program", self.whole(30), status=(1, 3, 4))
        [row] = self.load("r.json")["benchmarks"]
        self.assertAlmostEqual(row["against_baseline"]["delta"], 1 / 19.5)
        self.assertIn("the program prints times in steps of 1 ns", " ".join(answer.stdout.split()))
        stored = [json.loads(path.read_text()) for path in (self.folder / "s").rglob("*.json")]
        self.assertEqual({each["program"]["kind"] for each in stored}, {"lines"})

    def test_taskbench_itself_measures_commands_of_two_versions_with_what_prepares_them(self):
        self.write("tool", "#!/bin/sh\nsleep $1\n", 0o755)
        taskbench = os.environ["TASKBENCH_BINARY"]
        words = "--command x='./tool {}' --prepare true"
        self.compare(f"{taskbench} {words.format(0.01)}", f"{taskbench} {words.format(0.03)}",
                     "--repetitions 2", status=1)
        self.assertEqual(self.verdicts(), {"x": "FAIL"})

    def test_what_has_to_be_named_is_suggested(self):
        java = self.write("java", "#!/bin/sh\nexit 1\n", 0o755)
        for program, kind in ((f"{sys.executable} -m pytest .", "pytest"),
                              (f"{java} -jar x.jar", "jmh")):
            answer = self.compare(program, "true", status=(2, 5))
            self.assertIn(f"--kind {kind} measures", answer.stderr)

    def test_an_unknown_kind_is_refused_with_the_nearest(self):
        answer = self.compare("true", "true", "--kind comand", status=2)
        self.assertIn("did you mean 'command'?", answer.stderr)

    def test_what_is_of_another_kind_than_said_is_refused(self):
        answer = self.compare("/bin/true", "/bin/true", "--kind go", status=2)
        self.assertIn("it is not a test binary of Go (go test -c)", answer.stderr)


if __name__ == "__main__":
    main()
