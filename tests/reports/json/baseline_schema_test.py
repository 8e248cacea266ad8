"""Validates stored baselines against docs/schema/baseline-v2.schema.json.

usage: baseline_schema_test.py PRINT_SAMPLE_BASELINE SCHEMA

Needs python3-jsonschema.
"""

import subprocess
import sys
import unittest

from schema_case import SchemaCase, parsed, remove, set_at

PRINT_SAMPLE_BASELINE = ""


class BaselineSchemaTest(SchemaCase, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        printed = subprocess.run([PRINT_SAMPLE_BASELINE], check=True, capture_output=True)
        cls.good = parsed(printed.stdout)

    def test_what_is_written_follows_it_and_every_key_is_described(self):
        self.assertEqual(self.errors(self.good), [])

    def test_readers_of_the_published_schema_take_new_keys(self):
        self.assert_readable_with(
            self.good, set_at("new_key", 1), set_at("processes", 0, "new_key", 1)
        )

    def test_broken_files_are_refused(self):
        self.assert_refused(self.good, {
            "another version": set_at("taskbench_baseline", 1),
            "a name that is a path": set_at("name", "../x"),
            "no machine": remove("machine"),
            "a number of CPUs that is no text": set_at("machine", "cpus", 2),
            "too few processes asked for": set_at("settings", "processes", 6),
            "no benchmarks": set_at("benchmarks", []),
            "no iterations": set_at("benchmarks", 0, "iterations", 0),
            "too few processes": set_at("processes", self.good["processes"][:6]),
            "a process without its canary": remove("processes", 0, "canary_after"),
            "a canary that took no time": set_at("processes", 0, "canary_before", "cpu_ns", 0),
            "a process of unknown circumstances": remove("processes", 0, "cpu_use"),
            "circumstances without their reason": set_at("processes", 3, "cpu_use", {}),
            "a negative time": set_at("processes", 0, "real_ns", {"spawn": -1}),
            "a new key": set_at("processes", 0, "new_key", 1),
        })


if __name__ == "__main__":
    PRINT_SAMPLE_BASELINE, SchemaCase.schema_path = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
