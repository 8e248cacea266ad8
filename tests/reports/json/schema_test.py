"""Validates result files against docs/schema/run-v1.schema.json.

usage: schema_test.py PRINT_SAMPLE_RUN SCHEMA

Needs python3-jsonschema.
"""

import copy
import json
import subprocess
import sys
import unittest

import jsonschema

PRINT_SAMPLE_RUN = ""
SCHEMA = ""

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


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def printed(form, run):
    text = subprocess.run([PRINT_SAMPLE_RUN, form, run], check=True, capture_output=True).stdout
    return json.loads(text.decode("utf-8"), parse_constant=refuse_constant)


def closed(schema):
    """The schema with every object closed that lists its keys: a key that the published schema
    does not describe is an error here, though readers must ignore it."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(part) for key, part in schema.items()}
    if "required" in schema and "properties" in schema and "type" in schema:
        result.setdefault("additionalProperties", False)
    return result


class SchemaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(SCHEMA, encoding="utf-8") as file:
            cls.schema = json.load(file)
        cls.validator = jsonschema.Draft202012Validator(closed(cls.schema))

    def errors(self, document):
        return [
            f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
            for error in self.validator.iter_errors(document)
        ]

    def test_schema_is_a_valid_schema(self):
        self.assertEqual(
            self.schema["$schema"], "https://json-schema.org/draft/2020-12/schema"
        )
        jsonschema.Draft202012Validator.check_schema(self.schema)

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
        document = printed("json", "complete")
        document["taskbench"]["new_key"] = {"anything": [1, 2]}
        document["taskbench"]["cases"][0]["summary"]["new_key"] = 1
        document["context"]["new_key"] = "x"
        jsonschema.Draft202012Validator(self.schema).validate(document)

    def test_broken_files_are_refused(self):
        def set_at(*path_and_value):
            *path, last, value = path_and_value

            def change(document):
                for step in path:
                    document = document[step]
                document[last] = value

            return change

        def remove(*path):
            def change(document):
                for step in path[:-1]:
                    document = document[step]
                del document[path[-1]]

            return change

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
        good = printed("json", "complete")
        for what, change in changes.items():
            with self.subTest(what):
                document = copy.deepcopy(good)
                change(document)
                self.assertNotEqual(self.errors(document), [])


if __name__ == "__main__":
    PRINT_SAMPLE_RUN, SCHEMA = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
