#!/usr/bin/env python3
"""`taskbench compare`, on files in Google Benchmark's format, valid and invalid."""

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import unittest
from pathlib import Path

from fake_program import fake_valgrind
from schemas import GONE, SCHEMAS, SchemaCase
from taskbench_command import BINARY, CommandTest, main

# compare.py from Debian's package libbenchmark-tools.
COMPARE_PY = Path("/usr/share/benchmark/compare.py")
# Stand-ins for two large packages: without U tests and geometric means, compare.py does not use
# them.
STAND_INS = {
    "numpy.py": "array = None\n",
    "scipy/__init__.py": "",
    "scipy/stats.py": "mannwhitneyu = None\n"
    "class gmean:\n    def __init__(self, times): pass\n    def any(self): return False\n",
}


class CompareTest(CommandTest):
    def file(self, name, medians, spread=0.001, repetitions=5, counters=None, **context):
        level = random.Random(name)
        rows = []
        for benchmark, ns in medians.items():
            factor = level.gauss(1, spread)
            for index in range(repetitions):
                rows.append({
                    "name": benchmark, "run_name": benchmark, "run_type": "iteration",
                    "repetition_index": index, "iterations": 10, "time_unit": "ns",
                    "real_time": ns * factor * (1 + index / 1e4), "cpu_time": ns,
                    **(counters or {}),
                })
        context = {"host_name": "host", "num_cpus": 2, "json_schema_version": 1, **context}
        self.write(name, json.dumps({"context": context, "benchmarks": rows}))
        return name

    def files(self, prefix, count, medians, **options):
        return ",".join(self.file(f"{prefix}{i}", medians, **options) for i in range(count))

    def compare(self, options, **others):
        return self.taskbench(f"compare {options}", **others)


class Answers(CompareTest):
    def test_the_change_of_two_files_is_the_ratio_of_their_medians(self):
        self.file("a", {"sort": 100, "hash": 7}, spread=0.2)
        self.file("b", {"sort": 130, "hash": 7}, spread=0.2)
        answer = self.compare("a b --format json", status=3)
        for row in json.loads(answer.stdout)["benchmarks"]:
            base, head = (
                statistics.median(
                    each["real_time"] for each in self.load(name)["benchmarks"]
                    if each["name"] == row["name"]
                )
                for name in "ab"
            )
            self.assertAlmostEqual(row["change"], (head - base) / base)
            self.assertEqual(row["verdict"], "INCONCLUSIVE")
        table = self.compare("a b", status=3).stdout
        self.assertIn("one file a side: its repetitions are not independent samples", table)

    @unittest.skipUnless(COMPARE_PY.exists(), "needs Debian's package libbenchmark-tools")
    def test_google_benchmarks_compare_py_finds_the_same_ratios(self):
        for name, text in STAND_INS.items():
            self.write(name, text)
        medians = {"sort": 100, "hash": 7.5, "malloc/8/threads:2": 1e6}
        for name, change in (("a", 1), ("b", 1.13)):
            self.file(name, {key: ns * change for key, ns in medians.items()}, spread=0.2)
            document = self.load(name)
            for key in medians:  # the rows that it compares, which Google Benchmark writes itself
                times = [r["real_time"] for r in document["benchmarks"] if r["name"] == key]
                document["benchmarks"].append({
                    "name": f"{key}_median", "run_name": key, "run_type": "aggregate",
                    "aggregate_name": "median", "time_unit": "ns", "iterations": len(times),
                    "real_time": statistics.median(times), "cpu_time": medians[key],
                })
            self.write(name, json.dumps(document))
        subprocess.run(
            [sys.executable, COMPARE_PY, "--no-utest", "-d", "theirs.json", "benchmarks", "a", "b"],
            cwd=self.folder, env={**os.environ, "PYTHONPATH": str(self.folder)}, check=True,
            stdout=subprocess.DEVNULL,
        )
        theirs = {
            row["name"].removesuffix("_median"): row["measurements"][0]["time"]
            for row in self.load("theirs.json") if row["name"].endswith("_median")
        }
        answer = self.compare("a b --format json", status=3)
        ours = {row["name"]: row["change"] for row in json.loads(answer.stdout)["benchmarks"]}
        self.assertEqual(set(theirs), set(medians))
        for key in medians:
            self.assertAlmostEqual(ours[key], theirs[key], places=12)

    def test_several_files_a_side_carry_verdicts(self):
        base = self.files("base", 6, {"sort": 100, "hash": 7})
        slow = self.files("slow", 6, {"sort": 120, "hash": 7})
        answer = self.compare(f"--base {base} --head {slow}", status=1)
        self.assertRegex(answer.stdout, r"(?m)^sort .* FAIL ")
        self.assertRegex(answer.stdout, r"(?m)^hash .* PASS ")
        same = self.files("same", 6, {"sort": 100, "hash": 7})
        self.compare(f"--base {base} --head {same}")
        self.compare(f"--base {base} --head {slow} --delta 50%")

    def test_another_metric_is_judged_where_it_is_asked_for(self):
        def sides(base, head):
            sides = (f"--{side} " + self.files(side, 6, {"sort": 100}, counters=counters)
                     for side, counters in (("base", base), ("head", head)))
            return " ".join(sides)

        more = sides({"nodes": 100.0}, {"nodes": 110.0})
        self.compare(more)
        answer = self.compare(f"{more} --judge nodes=5%", status=1).stdout
        self.assertRegex(answer, r"(?m)^sort +PASS .*\n +its nodes +FAIL +100 +110 +\+10\.0 % ")
        self.assertIn("sort has 10.0 % more nodes", answer)
        self.assertIn("Also judged: 5.0 % more nodes", answer)
        self.compare(f"{more} --judge nodes=20%")
        self.compare(f"{more} --judge more:nodes=5%")
        fewer = sides({"nodes": 110.0}, {"nodes": 100.0})
        answer = self.compare(f"{fewer} --judge more:nodes=5%", status=1).stdout
        self.assertRegex(answer, r"(?m)^ +its nodes +FAIL +110 +100 +-9\.1 % ")
        said = self.compare(f"{more} --judge nodse=5%", status=2).stderr
        self.assertIn("unknown metric 'nodse'; did you mean 'nodes'?", said)
        none = self.compare(f"{sides({}, {})} --judge nodes=5%", status=2).stderr
        self.assertIn("the files report nothing but times", none)

    def noisy(self, spread):
        """Returns the arguments that compare six files on each side with scattered times."""
        times = [(f"n{i}", 100 + spread * (i % 3)) for i in range(6)]
        base = ",".join(self.file(f"base-{name}", {"x": time}) for name, time in times)
        head = ",".join(self.file(f"head-{name}", {"x": time + 1}) for name, time in times)
        return f"--base {base} --head {head} --inconclusive"

    def test_inconclusive_can_be_mapped(self):
        run = self.noisy(3)
        for meaning, status in (("pass", 0), ("fail", 1), ("inconclusive", 3)):
            self.compare(f"{run} {meaning}", status=status)

    def test_what_could_not_have_seen_five_times_delta_passes_only_when_asked_for_by_name(self):
        run = self.noisy(40)
        self.assertIn("a slowdown of 5 times --delta could not have been seen in x, so",
                      self.compare(f"{run} pass", status=3).stderr)
        self.compare(f"{run} pass-always")
        self.compare(f"{run} pass --delta 40%", status=0)

    def test_what_could_not_have_failed_passes_only_when_asked_for_by_name(self):
        self.file("a", {"x": 1})
        answer = self.compare("a a --inconclusive pass", status=3)
        self.assertIn("nothing could have failed", answer.stderr)
        self.compare("a a --inconclusive pass-always")

    def test_different_machines(self):
        for name, cpus in (("a", 2), ("b", 64), ("c", 2)):
            self.file(name, {"x": 1}, num_cpus=cpus)
        for files, says in (("a b", "different machines: num_cpus: '2' and '64'"),
                            ("a b c", "?: not judged, since the machines differ.")):
            self.assertIn(says, self.compare(files, status=4).stdout)

    def test_our_own_files_are_read(self):
        for name in ("1.json", "2.json"):
            self.taskbench(f"run --workers 1 --json {name} --quiet", *self.small("chained_spawn"))
        for form in ("table", "markdown", "csv", "json"):
            answer = self.compare(f"1.json 2.json --format {form}", status=3)
            self.assertIn("chained_spawn/work_stealing/workers:1/length:10", answer.stdout)

    def test_instructions_counted_with_another_seed_are_no_change_of_the_program(self):
        path = fake_valgrind(
            self.folder / "bin",
            "seed = int(sys.argv[sys.argv.index('--seed') + 1])\n"
            "open(out, 'w').write('events: Ir\\ntotals: %d\\n' % (4000 + 40 * seed))")
        for name, seed in (("0.json", 0), ("7.json", 7), ("again.json", 7)):
            self.taskbench(f"run --workers 1 --counters instructions-exact --seed {seed} --quiet "
                           f"--json {name}", *self.small("chained_spawn"), env={"PATH": path})
        answer = self.compare("0.json 7.json", status=3)
        self.assertRegex(answer.stdout, r"its instructions +INCONCLUSIVE +1,000 +1,070 ")
        self.assertIn("head with --seed 7; count both with the same --seed",
                      " ".join(answer.stdout.split()))
        answer = self.compare("7.json again.json", status=3)
        self.assertRegex(answer.stdout, r"its instructions +PASS +1,070 +1,070 ")


class Columns(CompareTest):
    def test_each_of_three_files_is_a_column(self):
        for name, ns in (("mon.json", 100), ("tue.json", 110), ("wed.json", 90)):
            self.file(name, {"sort": ns, "hash": 7}, spread=0)
        table = self.compare("mon.json tue.json wed.json").stdout
        self.assertRegex(table, r"benchmark +mon +tue +change +wed +change\n")
        self.assertRegex(table, r"sort .*100\.02 ns.* \+10\.0 % \? .* -10\.0 % \?\n")
        self.assertRegex(table, r"geometric mean .* \+4\.9 % .* -5\.1 %\n")
        self.assertIn("?: not judged. A file counts once", table)

    def test_columns_of_several_files_are_judged_in_every_format(self):
        columns = " ".join(f"--column={name}={self.files(name, 7, {'sort': ns, 'hash': 7})}"
                           for name, ns in (("old", 100), ("new", 120)))
        table = self.compare(columns).stdout
        self.assertRegex(table, r"sort .* \+\d+\.\d % \(p=0\.001\)\n")
        self.assertRegex(table, r"hash .* ~ \(p=\d\.\d+\)\n")
        markdown = self.compare(f"{columns} --format markdown").stdout
        self.assertIn("| benchmark | old | new | change |", markdown)
        document = json.loads(self.compare(f"{columns} --format json").stdout)
        (sort, hashed) = document["benchmarks"]
        self.assertTrue(sort["columns"][1]["changed"])
        self.assertFalse(hashed["columns"][1]["changed"])
        rows = self.compare(f"{columns} --format csv").stdout.splitlines()
        self.assertEqual(len(rows), 1 + 4)
        self.assertTrue(rows[2].startswith("sort,new,7,"))

    def test_one_file_is_split_by_what_its_names_tell(self):
        self.file("a", {"spawn/workers:1": 10, "spawn/workers:2": 20, "plain": 1}, spread=0)
        answer = self.compare("a --by workers")
        self.assertRegex(answer.stdout, r"benchmark +workers:1 +workers:2 +change\nspawn .*\+100")
        self.assertIn("have no 'workers': plain", answer.stderr)

    def test_schedulers_of_other_worker_counts_meet_where_it_is_clear_which(self):
        self.file("a", {"spawn/s:x/workers:2": 10, "spawn/s:y/workers:1": 20, "pp/s:x/workers:2": 1,
                        "pp/s:y/workers:2": 1}, spread=0)
        answer = self.compare("a --by s")
        self.assertRegex(answer.stdout, r"\nspawn .*\+100")
        self.assertRegex(answer.stdout, r"\npp/workers:2 ")
        self.assertIn("matched without their workers, which are not the same in each column: "
                      "spawn\n", answer.stderr)
        self.file("b", {"spawn/s:x/workers:2": 10, "spawn/s:x/workers:1": 10,
                        "spawn/s:y/workers:3": 20}, spread=0)
        self.refused("compare b --by s", says="no two columns have a benchmark in common")

    def test_other_names_are_mapped_before_benchmarks_are_paired(self):
        self.file("one", {"spawn/workers:1": 10}, spread=0)
        self.file("two", {"spawn/workers:2": 15}, spread=0)
        answer = self.compare("one two --map workers:1=workers:2", status=3)
        self.assertRegex(answer.stdout, r"spawn/workers:2 .*\+50\.0 %")
        self.file("both", {"spawn/workers:1": 10, "spawn/workers:2": 15})
        self.refused("compare both two --map workers:1=workers:2",
                     says="both: two benchmarks of one file would both be called")


class Memory(CompareTest):
    # The counters that `taskbench run` writes.
    COUNTERS = ("hand_offs", "injector", "involuntary_switches", "lifo_hits", "local_schedules",
                "overflows", "parks", "polls", "queued_ns", "remote_schedules", "searches",
                "steals", "stolen", "voluntary_switches", "wakeups", "yields")

    def large_result(self, name, megabytes):
        """Written in pieces, as the measured memory of a child is never below that of this
        process."""
        counters = {name: 12.25 for name in self.COUNTERS}
        path = self.folder / name
        with path.open("w", encoding="utf-8") as file:
            file.write('{"context": {"json_schema_version": 1}, "benchmarks": [\n')
            index = 0
            while file.tell() < megabytes << 20:
                name = f"sort/n:{index // 20}/workers:{index // 10 % 2 + 1}"
                row = {"name": name, "run_name": name, "run_type": "iteration", "iterations": 10,
                       "repetition_index": index % 10, "real_time": 100.5 + index % 7,
                       "cpu_time": 100.5, "time_unit": "ns", **counters}
                file.write((",\n" if index else "") + json.dumps(row, indent=4))
                index += 1
            file.write("]}\n")
        return path.stat().st_size

    def most_bytes(self, arguments):
        with open(os.devnull, "w", encoding="utf-8") as nothing:
            process = subprocess.Popen([BINARY, *arguments.split()], stdout=nothing,
                                       stderr=nothing, cwd=self.folder)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 3 if "two" in arguments else 0)
        return 1024 * usage.ru_maxrss

    def test_of_large_results_is_at_most_three_times_their_size(self):
        self.taskbench("run --quiet --json r.json", *self.small("chained_spawn"))
        flags = self.load("r.json")["taskbench"]["environment"]["compiler_flags"]
        if "-fsanitize" in flags:
            self.skipTest("a sanitizer keeps what was freed, and sets blocks apart")
        empty = self.most_bytes("--version")
        size = self.large_result("one", 4)
        self.assertLess(self.most_bytes("compare one --by workers") - empty, 3 * size)
        size += self.large_result("two", 4)
        self.assertLess(self.most_bytes("compare one two") - empty, 3 * size)


class OtherTools(CompareTest):
    def test_results_of_other_tools_are_compared_and_have_no_cpu_time_where_it_is_not_known(self):
        for name, ns in (("old", 100), ("new", 150)):
            for i in range(7):
                lines = "".join(f"BenchmarkSort-2 10 {ns + j + i / 10} ns/op\n" for j in range(5))
                self.write(f"{name}{i}.txt", f"goos: linux\n{lines}PASS\n")
        files = [",".join(f"{name}{i}.txt" for i in range(7)) for name in ("old", "new")]
        answer = self.compare(f"--base {files[0]} --head {files[1]} --format json", status=1)
        [row] = json.loads(answer.stdout)["benchmarks"]
        self.assertEqual((row["name"], row["verdict"]), ("BenchmarkSort", "FAIL"))
        self.taskbench("report old0.txt --out out")
        self.assertRegex((self.folder / "out/report.md").read_text(),
                         r"BenchmarkSort +\| +102[.]0 ns .*\| +– +\| +5 +\|")

    def test_a_folder_of_criterion_is_a_result(self):
        def add(folder, ns):
            folder = self.folder / folder / "new"
            folder.mkdir(parents=True)
            (folder / "benchmark.json").write_text('{"full_id": "sort"}')
            (folder / "sample.json").write_text(
                json.dumps({"iters": [1.0] * 9, "times": [ns + i for i in range(9)]}))

        add("old/sort", 100.0)
        add("new/sort", 300.0)
        answer = self.compare("old new --format json", status=3)
        [row] = json.loads(answer.stdout)["benchmarks"]
        self.assertEqual(row["name"], "sort")
        self.assertGreater(row["change"], 1.5)
        (self.folder / "none").mkdir()
        self.assertIn("is a folder without samples of Criterion",
                      self.compare("old none", status=2).stderr)
        add("new/sort_2", 200.0)
        self.assertIn("new: 'sort' is there twice: two benchmarks have that name",
                      self.compare("old new", status=2).stderr)
        add("zero/sort", -4.0)
        self.assertIn("zero: 'sort' takes 0 ns",
                      self.compare("old zero", status=2).stderr)


class Refusals(CompareTest):
    def test_files_that_cannot_be_read(self):
        self.file("good", {"x": 1})
        cases = {
            "empty": (b"", "is empty"),
            "truncated": (b'{"benchmarks": [{"name"', "is not valid JSON, at line 1"),
            "binary": (bytes(range(256)), "is not valid JSON"),
            "foreign": (b'{"results": []}', "has no benchmark"),
            "nan": (b'{"benchmarks": [{"name": "x", "iterations": 1, "real_time": NaN,'
                    b' "cpu_time": 1}]}', "'x' has \"real_time\": NaN,"),
            "newer": (b'{"benchmarks": [], "taskbench": {"schema_version": 99}}',
                      "'taskbench.schema_version' is 99; this taskbench reads versions up to 1"),
        }
        for name, (content, says) in cases.items():
            self.write(name, content)
            self.refuse("compare", {f"good {name}": f"{name}: ", f"{name} good": says})
        (self.folder / "loop").symlink_to("loop")
        self.refuse("", {
            "compare good loop": "loop: cannot be opened: Too many levels of symbolic links",
            "compare loop loop": "loop: cannot be opened: Too many levels of symbolic links",
            "report loop --out out": "loop: cannot be opened: Too many levels of symbolic links",
            "compare good missing": "missing: does not exist",
            "compare good .": ".: is a folder",
            "compare good /dev/zero": "/dev/zero: does not end after 256 MiB",
            "report /dev/zero --out out": "/dev/zero: does not end after",
        })

    def test_a_locale_without_utf_8_gets_ascii(self):
        self.file("a", {"spawn→x": 1000})
        self.file("b", {"spawn→x": 2000})
        for locale, is_ascii in (("C", True), ("de_DE.ISO-8859-1", True), ("C.UTF-8", False)):
            with self.subTest(locale):
                result = self.compare("a b", status=3, env={"LC_ALL": locale})
                self.assertEqual(result.stdout.isascii(), is_ascii, result.stdout)
        self.assertIn("+100.0 %", result.stdout)

    def test_in_ascii_columns_stay_aligned(self):
        base, head = (self.files(side, 5, {"漢字": ns, "sort": ns})
                      for side, ns in (("base", 1000), ("head", 1300)))
        answer = self.compare(f"--base {base} --head {head}", status=1, env={"LC_ALL": "C"})
        lines = answer.stdout.splitlines()[:3]
        self.assertIn(" ~ ", lines[1])
        self.assertEqual(len({len(line) for line in lines}), 1, answer.stdout)

    def test_exact_counts_of_nothing_are_a_wrong_file(self):
        document = self.load(self.file("good", {"x": 1}))
        document["taskbench"] = {"cases": [{"name": "x", "events_per_iteration": [
            {"event": "instructions-exact", "values": [0, 0, 0]}]}]}
        self.write("bad", json.dumps(document))
        self.refuse("", {
            "compare good bad": "bad: 'x' has 0 instructions per iteration",
            "report bad --out out": "bad: 'x' has 0 instructions",
        })

    def test_interrupted_while_it_waits_for_a_file_it_ends_at_once(self):
        os.mkfifo(self.folder / "pipe")
        command = self.start("compare pipe", self.file("good", {"x": 1}))
        with open(self.folder / "pipe", "w", encoding="utf-8"):  # opens once it reads
            command.send_signal(signal.SIGINT)
            output, said = command.communicate(timeout=20)
        self.assertEqual((command.returncode, output, said),
                         (130, "", "taskbench: note: interrupted\n"))

    def test_one_result_given_several_times_is_refused(self):
        base = self.files("base", 3, {"sort": 100})
        self.file("one", {"sort": 120})
        self.write("copy", self.read("one"))
        (self.folder / "link").symlink_to("one")
        for again in ("./one", "copy", "link"):
            for side, other in (("head", "base"), ("base", "head")):
                self.refused(
                    f"compare --{other} {base} --{side} one,{again}",
                    says=f"--{side}: one and {again} are the same result; leave one out")
        self.compare("one copy", status=3)

    def test_nothing_in_common(self):
        for name, benchmark in (("a", "x"), ("b", "y"), ("one", "spawn/workers:1"),
                                ("two", "spawn/workers:2")):
            self.file(name, {benchmark: 1})
        self.file("empty", {})
        self.refuse("compare", {
            "a b": "the first has x; the second has y",
            "a empty": "the first has x; the second has none",
            "one two": "'spawn/workers:1' is near 'spawn/workers:2': --map OLD=NEW renames",
        })

    def test_which_files_belong_together_is_not_guessed(self):
        self.file("a", {"x": 1})
        self.refuse("compare", {
            **{words: "compare takes two files"
               for words in ("", "a", "--base a", "a --head a")},
            "a a a": "a and a are the same result; leave one out",
            **{words: "give columns in one way only"
               for words in ("--column x=a a", "--by workers", "--by workers --base a --head a")},
            "--column a": "'a' is not NAME=FILE",
            "--column x=a": "--column: give it twice",
            "a --by workers": "the names have 0 values for it",
            "a a --map x": "'x' is not OLD=NEW",
            "a a --format tabel": "did you mean 'table'?",
        })


class Json(SchemaCase, CompareTest):
    schema_path = SCHEMAS / "compare-v1.schema.json"

    def answer(self, options, status):
        return json.loads(self.compare(f"{options} --format json", status=status).stdout)

    def test_a_verdict_keeps_to_its_schema(self):
        base = self.files("a", 7, {"sort": 100, "hash": 7, "gone": 1})
        head = self.files("b", 7, {"sort": 130, "hash": 7})
        document = self.answer(f"--base {base} --head {head}", status=1)
        self.check(document, (
            ("taskbench_compare", 2),
            ("verdict", "fail"),
            ("machine_differs", None),
            ("benchmarks 0 reason", GONE),
            ("benchmarks 0 p", 2),
            ("benchmarks 0 base_ns", "100"),
            ("only_base 0", 1),
        ), new_keys=("new_key", "benchmarks 0 new_key"))

    def test_a_benchmark_that_failed_keeps_to_it_and_has_no_figures(self):
        document = self.load(self.file("a", {"sort": 100}))
        document["benchmarks"] = [{
            "name": "sort", "run_name": "sort", "run_type": "iteration", "repetition_index": 0,
            "error_occurred": True, "error_message": "no disk"}]
        self.write("b", json.dumps(document))
        document = self.answer("a b", status=5)
        (row,) = document["benchmarks"]
        self.assertEqual((row["head_ns"], row["change"]), (None, None))
        self.assertGreater(row["base_ns"], 0)
        self.assertIn("no times of head: it failed there", row["reason"])
        self.check(document, (("benchmarks 0 head_ns", "0"), ("benchmarks 0 change", GONE)))

    def test_a_metric_that_is_asked_for_keeps_to_it(self):
        base = self.files("a", 7, {"sort": 100}, counters={"hits/s": 9.0})
        head = self.files("b", 7, {"sort": 100}, counters={"hits/s": 8.0})
        document = self.answer(f"--base {base} --head {head} --judge hits/s=3%", status=1)
        self.check(document, (
            ("benchmarks 0 judged 0 metric", GONE),
            ("benchmarks 0 judged 0 more_is_better", False),
            ("benchmarks 0 judged 0 delta", 0),
            ("benchmarks 0 judged 0 head", "8"),
        ), new_keys=("benchmarks 0 judged 0 new_key",))

    def test_counters_and_instructions_keep_to_it(self):
        small = "run chained_spawn --workers 1 --repetitions 3 --min-time 1ms --quiet"
        env = {**os.environ, "PATH": fake_valgrind(
            self.folder / "bin", "open(out, 'w').write('events: Ir\\ntotals: 4000\\n')")}
        for name, length in (("a", 100), ("b", 1000)):
            self.taskbench(f"{small} --param length={length} --json {name} "
                           "--counters instructions-exact", env=env)
            text = self.read(name)
            self.write(name, text.replace(f"/length:{length}", ""))
        document = self.answer("a b", status=3)
        self.assertIsNotNone(document["benchmarks"][0]["instructions"])
        self.check(document, (("benchmarks 0 instructions repeats", 1),
                              ("benchmarks 0 instructions threshold", GONE)))

    def test_a_table_keeps_to_it(self):
        for name in "abc":
            self.file(name, {"sort": 100, "hash": 7})
        self.check(self.answer("a b c", status=0), (
            ("taskbench_compare_columns", GONE),
            ("columns 0", None),
            ("benchmarks 0 columns 0 files", -1),
            ("benchmarks 0 columns 1 changed", "no"),
        ), new_keys=("new_key", "benchmarks 0 columns 0 new_key"))


if __name__ == "__main__":
    main()
