#!/usr/bin/env python3
"""Output of --format openmetrics and bmf, read by Prometheus's parser and Bencher's schema."""

import json
import statistics
import sys

import jsonschema

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's packages, even for another Python
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as older_parser

from taskbench_command import CommandTest, main

# https://bencher.dev/docs/reference/bencher-metric-format
BENCHER_SCHEMA = {
    "type": "object",
    "patternProperties": {".+": {"type": "object", "patternProperties": {".{1,64}": {
        "type": "object",
        "properties": {each: {"type": "number"}
                       for each in ("value", "lower_value", "upper_value")},
        "required": ["value"],
        "additionalProperties": False}}}},
}


class Formats(CommandTest):
    def setUp(self):
        super().setUp()
        # A result of Google Benchmark, with names that must be escaped.
        self.times = {'say "hi"/n:1': [30, 10, 20], "C:\\new\nline": [5, 5, 5]}
        for file, factor in (("a.json", 1), ("b.json", 2)):
            self.write(file, json.dumps({"context": {"num_cpus": 2}, "benchmarks": [
                {"name": name, "run_name": name, "run_type": "iteration", "repetitions": 3,
                 "repetition_index": i, "threads": 1, "iterations": 100, "time_unit": "us",
                 "real_time": time * factor, "cpu_time": time, "bytes/s": 7}
                for name, times in self.times.items() for i, time in enumerate(times)]}))

    def open_metrics(self, *arguments, **options):
        """Returns what is printed, as {family: {labels: value}}."""
        text = self.taskbench(*arguments, "--format", "openmetrics", **options).stdout
        # Prometheus's older format, which its push gateway reads, must give the same.
        families = list(text_string_to_metric_families(text))
        self.assertEqual([each.samples for each in older_parser(text)],
                         [each.samples for each in families])
        for each in families:
            self.assertEqual(each.type, "gauge")
            self.assertTrue(each.documentation)
            self.assertTrue(each.name.endswith(each.unit), each)
        return {each.name: {tuple(sample.labels.values()): sample.value for sample in each.samples}
                for each in families}

    def bencher(self, *arguments, **options):
        metrics = json.loads(self.taskbench(*arguments, "--format", "bmf", **options).stdout)
        jsonschema.validate(metrics, BENCHER_SCHEMA)
        return metrics

    def test_a_run_has_medians_with_their_deviations_and_all_counters(self):
        arguments = ["run", *self.small("spawn_local", "ping_pong", repetitions=3),
                     "--workers", "1", "--json", "r.json"]
        found = self.open_metrics(*arguments)
        times = [row["real_time"] for row in self.load("r.json")["benchmarks"]
                 if row["run_type"] == "iteration" and row["run_name"].startswith("ping_pong")]
        median = statistics.median(times)
        ping_pong = ("ping_pong/work_stealing/workers:1/pings:10",)
        self.assertEqual(len(found["taskbench_wall_time_seconds"]), 2)
        self.assertAlmostEqual(found["taskbench_wall_time_seconds"][ping_pong], median / 1e9)
        mad = statistics.median(abs(time - median) for time in times)
        self.assertAlmostEqual(found["taskbench_wall_time_mad_seconds"][ping_pong], mad / 1e9)
        for name in ("cpu_time_seconds", "polls", "voluntary_switches"):
            self.assertIn(ping_pong, found[f"taskbench_{name}"])

    def test_a_run_for_bencher_has_latencies_in_nanoseconds(self):
        metrics = self.bencher("run", *self.small("ping_pong", repetitions=3), "--workers", "1",
                               "--json", "r.json")
        times = [row["real_time"] for row in self.load("r.json")["benchmarks"]
                 if row["run_type"] == "iteration"]
        latency = metrics["ping_pong/work_stealing/workers:1/pings:10"]["latency"]
        self.assertAlmostEqual(latency["value"], statistics.median(times), places=3)
        self.assertLessEqual(latency["lower_value"], latency["value"])
        self.assertLessEqual(latency["value"], latency["upper_value"])

    def test_a_comparison_has_both_sides_the_change_and_one_verdict(self):
        found = self.open_metrics("compare a.json b.json", status=3)
        for name, times in self.times.items():
            base = statistics.median(times) / 1e6
            sides = found["taskbench_wall_time_seconds"]
            self.assertAlmostEqual(sides[name, "base"], base)
            self.assertAlmostEqual(sides[name, "head"], 2 * base)
            self.assertAlmostEqual(found["taskbench_change_ratio"][name, "wall_time"], 1)
            verdicts = {labels[2]: value for labels, value in found["taskbench_verdict"].items()
                        if labels[0] == name}
            self.assertEqual(verdicts, {"PASS": 0, "FAIL": 0, "INCONCLUSIVE": 1})

    def test_a_comparison_for_bencher_is_the_head(self):
        metrics = self.bencher("compare a.json b.json", status=3)
        self.assertEqual({name: round(of["latency"]["value"], 3) for name, of in metrics.items()},
                         {'say "hi"/n:1': 40_000, "C:\\new\nline": 10_000})

    def test_columns_are_labels(self):
        found = self.open_metrics("compare --column old=a.json --column new=b.json")
        self.assertEqual({labels[1] for labels in found["taskbench_wall_time_seconds"]},
                         {"old", "new"})
        self.assertEqual({labels[1] for labels in found["taskbench_change_ratio"]}, {"new"})

    def test_a_trial_has_both_sides_the_change_and_one_verdict(self):
        program = self.program()
        found = self.open_metrics(
            "ab", "--base", program, "--head", program, "--max-blocks", "2", status=(0, 3))
        benchmarks = {labels[0] for labels in found["taskbench_wall_time_seconds"]}
        self.assertTrue(benchmarks)
        for benchmark in benchmarks:
            self.assertEqual(sum(value for labels, value in found["taskbench_verdict"].items()
                                 if labels[:2] == (benchmark, "wall_time")), 1)

    def test_what_is_not_measured_has_no_such_formats(self):
        self.refuse("list", {"--format openmetrics": "openmetrics", "--format bmf": "bmf"})


if __name__ == "__main__":
    main()
