"""Validates stored baselines against docs/schema/baseline-v1.schema.json.

usage: baseline_schema_test.py PRINT_SAMPLE_BASELINE SCHEMA

Needs python3-jsonschema.
"""

import copy
import json
import subprocess
import sys
import unittest

import jsonschema

from schema_test import closed, refuse_constant

PRINT_SAMPLE_BASELINE = ""
SCHEMA = ""


class BaselineSchemaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(SCHEMA, encoding="utf-8") as file:
            cls.schema = json.load(file)
        cls.validator = jsonschema.Draft202012Validator(closed(cls.schema))
        text = subprocess.run([PRINT_SAMPLE_BASELINE], check=True, capture_output=True).stdout
        cls.good = json.loads(text.decode("utf-8"), parse_constant=refuse_constant)

    def errors(self, document):
        return [error.message for error in self.validator.iter_errors(document)]

    def test_schema_is_a_valid_schema(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_what_is_written_follows_it_and_every_key_is_described(self):
        self.assertEqual(self.errors(self.good), [])

    def test_readers_of_the_published_schema_take_new_keys(self):
        document = copy.deepcopy(self.good)
        document["new_key"] = document["processes"][0]["new_key"] = 1
        jsonschema.Draft202012Validator(self.schema).validate(document)

    def test_broken_files_are_refused(self):
        def changed(*path_and_value):
            document = copy.deepcopy(self.good)
            *path, last, value = path_and_value
            place = document
            for step in path:
                place = place[step]
            if value is None:
                del place[last]
            else:
                place[last] = value
            return document

        for document in (
            changed("taskbench_baseline", 2),
            changed("name", "../x"),
            changed("machine", None),
            changed("machine", "cpus", 2),
            changed("settings", "processes", 6),
            changed("benchmarks", []),
            changed("benchmarks", 0, "iterations", 0),
            changed("processes", self.good["processes"][:6]),
            changed("processes", 0, "canary_after", None),
            changed("processes", 0, "canary_before", "cpu_ns", 0),
            changed("processes", 0, "real_ns", {"spawn": -1}),
        ):
            self.assertNotEqual(self.errors(document), [])


if __name__ == "__main__":
    PRINT_SAMPLE_BASELINE, SCHEMA = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
