"""Validates stored baselines against docs/schema/baseline-v2.schema.json.

usage: baseline_schema_test.py PRINT_SAMPLE SCHEMA

Needs python3-jsonschema.
"""

import sys
import unittest

from schema_case import GONE, SchemaCase, printed

PRINT_SAMPLE = ""


class BaselineSchemaTest(SchemaCase, unittest.TestCase):
    def test_what_is_written_follows_it_and_broken_files_are_refused(self):
        good = printed(PRINT_SAMPLE, "baseline")
        self.check(good, (
            ("taskbench_baseline", 1),
            ("name", "../x"),
            ("machine", GONE),
            ("machine cpus", 2),  # no text
            ("settings processes", 6),
            ("benchmarks", []),
            ("benchmarks 0 iterations", 0),
            ("processes", good["processes"][:6]),
            ("processes 0 canary_after", GONE),
            ("processes 0 canary_before cpu_ns", 0),
            ("processes 0 cpu_use", GONE),
            ("processes 3 cpu_use", {}),  # without its reason
            ("processes 0 real_ns", {"spawn": -1}),
        ), new_keys=("new_key", "processes 0 new_key"))


if __name__ == "__main__":
    PRINT_SAMPLE, SchemaCase.schema_path = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
