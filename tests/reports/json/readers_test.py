"""Reads result files like the tools that should be able to read them.

usage: readers_test.py PRINT_SAMPLE

Each reader below follows the rules of the tool that it is named after, taken from the source files
and versions named. It contains none of the tool's code.
"""

import csv
import io
import json
import re
import subprocess
import sys
import unittest

PRINT_SAMPLE = ""

RUNS = (
    "complete",
    "several_schedulers",
    "partial",
    "failed",
    "single_repetition",
    "hostile",
    "empty",
    "counted",
)
UNITS_IN_NS = {"ps": 1e-3, "ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}


def printed(form, run):
    return subprocess.run(
        [PRINT_SAMPLE, form, run], check=True, capture_output=True
    ).stdout.decode("utf-8")


def strict_json(text):
    """Parses like JavaScript's JSON.parse and Rust's serde_json: no NaN, no Infinity, no duplicate
    keys that would hide one another."""

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    def unique(pairs):
        keys = [key for key, _ in pairs]
        if len(set(keys)) != len(keys):
            raise ValueError(f"a key comes twice in {keys}")
        return dict(pairs)

    return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)


class ComparePy:
    """google/benchmark tools/compare.py with tools/gbench/{util,report}.py, versions 1.7 to 1.9."""

    @staticmethod
    def load(text):
        document = json.loads(text)
        # util.py, load_benchmark_results (later than 1.7): exits unless the version is 1.
        version = document["context"].get("json_schema_version", 1)
        if version != 1:
            raise SystemExit(f"unsupported JSON schema version {version}")
        # util.py, sort_benchmark_results: stable, the last key weighs most.
        rows = document["benchmarks"]
        for key in (
            lambda row: row.get("repetition_index", -1),
            lambda row: row.get("run_type") == "aggregate",
            lambda row: row.get("per_family_instance_index", -1),
            lambda row: row.get("family_index", -1),
        ):
            rows = sorted(rows, key=key)
        return rows

    @staticmethod
    def compare(old, new):
        """report.py: rows are paired by name, then by position; both must have the time unit of the
        first. Returns {name: [change of real time]}, and how many repetitions the U test gets."""
        changes = {}
        repetitions = {}
        for name in dict.fromkeys(row["name"] for row in old):
            comparable = [
                row
                for row in old
                if row["name"] == name and {"time_unit", "real_time", "cpu_time"} <= row.keys()
            ]
            if not comparable:
                continue
            unit = comparable[0]["time_unit"]
            left = [row for row in old if row["name"] == name and row["time_unit"] == unit]
            right = [row for row in new if row["name"] == name and row["time_unit"] == unit]
            pairs = list(zip(left, right))
            if not pairs:
                continue
            changes[name] = [
                (b["real_time"] - a["real_time"]) / abs(a["real_time"]) if a["real_time"] else 0.0
                for a, b in pairs
            ]
            repetitions[name] = min(len(left), len(right))
        return changes, repetitions

    @staticmethod
    def geomean_rows(rows):
        """calculate_geomean skips aggregates, and needs a known unit."""
        rows = [row for row in rows if row.get("run_type") != "aggregate"]
        return [row["real_time"] * UNITS_IN_NS[row["time_unit"]] for row in rows]


class GitHubActionBenchmark:
    """benchmark-action/github-action-benchmark, src/extract.ts (extractGoogleCppResult,
    extractCargoResult) and src/write.ts (findAlerts), version 1."""

    @staticmethod
    def google_cpp(text):
        return [
            {
                "name": row["name"],
                "value": row["real_time"],
                "unit": row["time_unit"] + "/iter",
                "extra": f"iterations: {row['iterations']}\n"
                f"cpu: {row['cpu_time']} {row['time_unit']}\nthreads: {row['threads']}",
            }
            for row in strict_json(text)["benchmarks"]
        ]

    @staticmethod
    def alerts(current, previous, threshold=2.0):
        """The first of equal names counts on the previous side; every row can raise an alert."""
        raised = []
        for bench in current:
            before = next((b for b in previous if b["name"] == bench["name"]), None)
            if before and before["value"] and bench["value"] / before["value"] > threshold:
                raised.append(bench["name"])
        return raised


class Bencher:
    """bencherdev/bencher, lib/bencher_adapter/src/adapters/cpp/google.rs with util.rs and
    lib/bencher_valid/src/benchmark_name.rs: one field of the wrong shape voids the file."""

    @staticmethod
    def read(text):
        document = strict_json(text)
        if not all(isinstance(cache, dict) for cache in document["context"]["caches"]):
            raise ValueError("caches must be a list of objects")
        metrics = {}
        for row in document["benchmarks"]:
            name, time = row["name"], row["real_time"]
            if not 0 < len(name.encode("utf-8")) <= 1024:
                raise ValueError(f"bad name {name!r}")
            if isinstance(time, bool) or not isinstance(time, (int, float)):
                raise ValueError(f"bad time {time!r}")
            # The last of equal names remains.
            metrics[name] = time * UNITS_IN_NS[row["time_unit"]]
        return metrics


def lnt(text):
    """llvm/llvm-test-suite litsupport/modules/microbenchmark.py: cpu_time by name, whatever the
    unit says; the last of equal names remains."""
    return {row["name"]: row["cpu_time"] for row in json.loads(text)["benchmarks"]}


class EveryFile(unittest.TestCase):
    def test_is_read(self):
        for run in RUNS:
            for form in ("json", "flat"):
                with self.subTest(run=run, form=form):
                    text = printed(form, run)
                    ComparePy.load(text)
                    Bencher.read(text)
                    for bench in GitHubActionBenchmark.google_cpp(text):
                        self.assertIsInstance(bench["value"], (int, float))


class ComparePyTest(unittest.TestCase):
    def test_exits_on_another_schema_version_and_ours_is_one(self):
        text = printed("json", "complete")
        with self.assertRaises(SystemExit):
            ComparePy.load(text.replace('"json_schema_version": 1', '"json_schema_version": 2'))

    def test_order_of_rows_is_the_one_it_sorts_into(self):
        for run in RUNS:
            with self.subTest(run=run):
                text = printed("json", run)
                self.assertEqual(ComparePy.load(text), json.loads(text)["benchmarks"])

    def test_file_against_itself_is_no_change_in_any_row(self):
        rows = ComparePy.load(printed("json", "complete"))
        changes, repetitions = ComparePy.compare(rows, rows)
        self.assertEqual(len(changes), 5 * (1 + 4))
        self.assertEqual({change for row in changes.values() for change in row}, {0.0})
        # Nine repetitions are enough for the U test.
        self.assertEqual(repetitions["yield_many/work_stealing/workers:2"], 9)

    def test_rows_of_a_scheduler_are_paired_only_with_the_same(self):
        one = ComparePy.load(printed("json", "complete"))
        other = ComparePy.load(printed("json", "several_schedulers"))
        changes, _ = ComparePy.compare(one, other)
        self.assertIn("chained_spawn/work_stealing/workers:2", changes)
        self.assertNotIn("chained_spawn/current_thread/workers:1", changes)
        self.assertEqual(set(changes["chained_spawn/work_stealing/workers:2"]), {0.0})

    def test_geomean_is_over_positive_times_of_repetitions(self):
        for form, count in (("json", 45), ("flat", 5)):
            times = ComparePy.geomean_rows(ComparePy.load(printed(form, "complete")))
            self.assertEqual(len(times), count)
            self.assertTrue(all(time > 0 for time in times))


class GitHubActionBenchmarkTest(unittest.TestCase):
    def test_flat_file_gives_one_value_a_name(self):
        benches = GitHubActionBenchmark.google_cpp(printed("flat", "complete"))
        names = [bench["name"] for bench in benches]
        self.assertEqual(len(names), 5)
        self.assertEqual(len(set(names)), 5)
        self.assertEqual(
            benches[0],
            {
                "name": "chained_spawn/work_stealing/workers:2",
                "value": 60123.4,
                "unit": "ns/iter",
                "extra": "iterations: 14967\ncpu: 61325.868 ns\nthreads: 1",
            },
        )

    def test_full_file_is_read_but_a_deviation_can_raise_an_alert(self):
        """Why --json-flat exists: the same times, only noisier, raise an alert through their stddev
        row."""
        text = printed("json", "complete")
        previous = GitHubActionBenchmark.google_cpp(text)
        noisier = strict_json(text)
        for row in noisier["benchmarks"]:
            if row.get("aggregate_name") == "stddev":
                row["real_time"] *= 3
        current = GitHubActionBenchmark.google_cpp(json.dumps(noisier))
        raised = GitHubActionBenchmark.alerts(current, previous)
        self.assertEqual(len(raised), 5)
        self.assertTrue(all(name.endswith("_stddev") for name in raised))

        flat = GitHubActionBenchmark.google_cpp(printed("flat", "complete"))
        self.assertFalse([b for b in flat if re.search(r"_(mean|median|stddev|cv)$", b["name"])])

    def test_failed_case_is_no_value_of_zero(self):
        for form in ("json", "flat"):
            benches = GitHubActionBenchmark.google_cpp(printed(form, "failed"))
            self.assertFalse([b for b in benches if b["name"].startswith("ping_pong")])
            self.assertTrue(benches)


class BencherTest(unittest.TestCase):
    def test_file_from_an_unknown_machine_still_has_caches(self):
        self.assertEqual(strict_json(printed("json", "hostile"))["context"]["caches"], [])

    def test_flat_file_gives_the_median_where_the_full_one_gives_the_last_repetition(self):
        name = "chained_spawn/work_stealing/workers:2"
        self.assertEqual(Bencher.read(printed("flat", "complete"))[name], 60123.4)
        rows = [r for r in strict_json(printed("json", "complete"))["benchmarks"]]
        last = [row["real_time"] for row in rows if row["name"] == name][-1]
        self.assertEqual(Bencher.read(printed("json", "complete"))[name], last)

    def test_there_is_no_big_o_and_no_rms_row(self):
        for run in RUNS:
            for row in strict_json(printed("json", run))["benchmarks"]:
                self.assertFalse({"big_o", "rms"} & row.keys())
                self.assertIn("real_time", row)

    def test_no_name_carries_a_mark_that_it_interprets(self):
        for run in RUNS:
            for name in Bencher.read(printed("json", run)):
                self.assertNotRegex(name, r"(_bencher_ignore|BencherIgnore|-bencher-ignore)$")


class LntTest(unittest.TestCase):
    def test_cpu_times_are_comparable_though_it_ignores_units(self):
        for run in RUNS:
            rows = strict_json(printed("json", run))["benchmarks"]
            self.assertLessEqual({row["time_unit"] for row in rows}, {"ns"})
        times = lnt(printed("flat", "complete"))
        self.assertEqual(times["chained_spawn/work_stealing/workers:2"], 61325.868)


class CsvTest(unittest.TestCase):
    def test_pythons_reader_gives_back_what_was_written(self):
        for run in RUNS:
            with self.subTest(run=run):
                # The hostile run has bytes that are not UTF-8; CSV passes them through.
                output = subprocess.run(
                    [PRINT_SAMPLE, "csv", run], check=True, capture_output=True
                ).stdout.decode("utf-8", "surrogateescape")
                records = list(csv.reader(io.StringIO(output, newline=""), strict=True))
                self.assertTrue(all(len(record) == len(records[0]) for record in records))

    def test_records_are_repetitions(self):
        records = list(csv.DictReader(io.StringIO(printed("csv", "complete"), newline="")))
        self.assertEqual(len(records), 45)
        self.assertEqual(records[0]["real_ns"], "60123.4")


if __name__ == "__main__":
    PRINT_SAMPLE = sys.argv[1]
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
