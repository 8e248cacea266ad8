"""Validates result files against docs/schema/run-v1.schema.json.

usage: schema_test.py PRINT_SAMPLE_RUN SCHEMA

Needs python3-jsonschema.
"""

import subprocess
import sys
import unittest

from schema_case import SchemaCase, parsed, remove, set_at

PRINT_SAMPLE_RUN = ""

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


def printed(form, run):
    command = [PRINT_SAMPLE_RUN, form, run]
    return parsed(subprocess.run(command, check=True, capture_output=True).stdout)


class SchemaTest(SchemaCase, unittest.TestCase):
    def test_every_file_follows_it(self):
        for run in RUNS:
            for form in ("json", "flat"):
                with self.subTest(run=run, form=form):
                    self.assertEqual(self.errors(printed(form, run)), [])

    def test_every_key_that_is_written_is_described(self):
        document = printed("json", "complete")
        document["taskbench"]["cases"][0]["summary"]["new_key"] = 1
        self.assertEqual(len(self.errors(document)), 1)

    def test_readers_of_the_published_schema_take_new_keys(self):
        self.assert_readable_with(
            printed("json", "complete"),
            set_at("taskbench", "new_key", {"anything": [1, 2]}),
            set_at("taskbench", "cases", 0, "summary", "new_key", 1),
            set_at("context", "new_key", "x"),
        )

    def test_broken_files_are_refused(self):
        case = ("taskbench", "cases", 0)
        changes = {
            "another schema version": set_at("context", "json_schema_version", 2),
            "another version of ours": set_at("taskbench", "schema_version", 2),
            "no caches": remove("context", "caches"),
            "another time unit": set_at("benchmarks", 0, "time_unit", "us"),
            "a time that is null": set_at("benchmarks", 0, "real_time", None),
            "a counter that is text": set_at("benchmarks", 0, "steals", "many"),
            "a negative time": set_at("benchmarks", 0, "cpu_time", -1),
            "a repetition with an aggregate": set_at("benchmarks", 0, "aggregate_name", "mean"),
            "an aggregate with a repetition": set_at("benchmarks", 9, "repetition_index", 0),
            "no repetition index": remove("benchmarks", 0, "repetition_index"),
            "no parameters": remove(*case, "parameters"),
            "a parameter that is text": set_at(*case, "parameters", {"depth": "deep"}),
            "no samples": set_at(*case, "summary", "samples", 0),
            "an empty text": set_at("taskbench", "environment", "kernel", ""),
            "a share above 1": set_at("taskbench", "drift", "stolen_share", 1.1),
            "a quantity that does not move": set_at("taskbench", "drift", "moved", ["seconds"]),
            "an error that is not in a list": set_at(*case, "errors", "wrong"),
            "an event without a reason key": set_at(
                *case, "events_per_iteration", [{"event": "cycles"}]
            ),
        }
        self.assert_refused(printed("json", "complete"), changes)


if __name__ == "__main__":
    PRINT_SAMPLE_RUN, SchemaCase.schema_path = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
