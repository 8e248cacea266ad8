"""Validates what ladder writes against docs/schema/ladder-v1.schema.json.

usage: ladder_schema_test.py SCHEMA

Needs python3-jsonschema, and the command's path in TASKBENCH_BINARY.
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cli"))

from schema_case import SchemaCase
from taskbench_command import CommandTest


class LadderSchemaTest(SchemaCase, CommandTest):
    def written(self, blocks):
        self.taskbench(
            "ladder chained_spawn imbalance --param length=10 tasks=10 --min-time 1ms "
            f"--repetitions 1 --quiet --json r.json --max-blocks {blocks}")
        return self.load("r.json")

    def test_with_and_without_intervals(self):
        for blocks in (1, 8):
            document = self.written(blocks)
            self.assertEqual(self.errors(document), [])
            spawn, imbalance = document["workloads"]
            self.assertEqual(spawn["document"]["before_ns"], 2019796)
            self.assertIsNone(imbalance["document"])
            step = spawn["rungs"][1]["step"]
            self.assertEqual(step["low"] is None, blocks == 1)

    def test_broken_files_are_refused(self):
        self.check(self.written(1), (
            ("taskbench_ladder", 2),
            ("workers", 0),
            ("interval_level", 1),
            ("rungs 0 step", None),
            ("workloads 0 rungs 0 median_ns", 0),
            ("workloads 0 rungs 1 step ratio", 0),
            ("workloads 0 rungs 1 total sure", None),
            ("workloads 0 document ratio", None),
            ("workloads 0 blocks_ns 0 0", -1),
        ), new_keys=("new_key", "rungs 0 new_key", "workloads 0 rungs 1 step new_key"))


if __name__ == "__main__":
    SchemaCase.schema_path = sys.argv[1]
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
