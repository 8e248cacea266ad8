"""Validates result files against docs/schema/run-v1.schema.json.

usage: schema_test.py PRINT_SAMPLE SCHEMA

Needs python3-jsonschema.
"""

import sys
import unittest

from schema_case import GONE, SchemaCase, printed

PRINT_SAMPLE = ""

RUNS = ("complete", "several_schedulers", "partial", "failed", "single_repetition", "commands",
        "hostile", "empty", "counted")


class SchemaTest(SchemaCase, unittest.TestCase):
    def test_every_file_follows_it(self):
        for run in RUNS:
            for form in ("json", "flat"):
                with self.subTest(run=run, form=form):
                    self.assertEqual(self.errors(printed(PRINT_SAMPLE, form, run)), [])

    def test_broken_files_are_refused(self):
        case = "taskbench cases 0"
        self.check(printed(PRINT_SAMPLE, "json", "complete"), (
            ("context json_schema_version", 2),
            ("taskbench schema_version", 2),
            ("context caches", GONE),
            ("benchmarks 0 time_unit", "us"),
            ("benchmarks 0 real_time", None),
            ("benchmarks 0 steals", "many"),
            ("benchmarks 0 cpu_time", -1),
            ("benchmarks 0 aggregate_name", "mean"),  # on a repetition
            ("benchmarks 9 repetition_index", 0),  # on an aggregate
            ("benchmarks 0 repetition_index", GONE),
            (f"{case} parameters", GONE),
            (f"{case} parameters", {"depth": "deep"}),
            (f"{case} summary samples", 0),
            ("taskbench environment kernel", ""),
            ("taskbench drift stolen_share", 1.1),
            ("taskbench drift moved", ["seconds"]),  # which cannot move
            (f"{case} errors", "wrong"),
            (f"{case} events_per_iteration", [{"event": "cycles"}]),  # without a reason
        ), new_keys=("taskbench new_key", f"{case} summary new_key", "context new_key"))


if __name__ == "__main__":
    PRINT_SAMPLE, SchemaCase.schema_path = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
