"""What the tests of the published schemas share. Needs python3-jsonschema."""

import copy
import json
from pathlib import Path

import jsonschema


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


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def parsed(text):
    """JSON in UTF-8, without the NaN and Infinity that Python would take."""
    return json.loads(text.decode("utf-8"), parse_constant=refuse_constant)


def set_at(*path_and_value):
    """A change of a document: puts the last argument at the place that the others lead to."""
    *path, last, value = path_and_value

    def change(document):
        for step in path:
            document = document[step]
        document[last] = value

    return change


def remove(*path):
    """A change of a document: takes away what the path leads to."""
    *path, last = path

    def change(document):
        for step in path:
            document = document[step]
        del document[last]

    return change


class SchemaCase:
    """Mixed into a TestCase; `schema_path` must be set before it runs."""

    schema_path = ""

    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(Path(cls.schema_path).read_text(encoding="utf-8"))
        cls.validator = jsonschema.Draft202012Validator(closed(cls.schema))

    def errors(self, document):
        """What breaks the closed schema."""
        return [
            f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
            for error in self.validator.iter_errors(document)
        ]

    def assert_readable_with(self, good, *changes):
        """Who follows the published schema must take what later versions add."""
        document = copy.deepcopy(good)
        for change in changes:
            change(document)
        jsonschema.Draft202012Validator(self.schema).validate(document)

    def assert_refused(self, good, changes):
        """Each of the named changes makes of a good document one that breaks the schema."""
        self.assertEqual(self.errors(good), [])
        for what, change in changes.items():
            with self.subTest(what):
                document = copy.deepcopy(good)
                change(document)
                self.assertNotEqual(self.errors(document), [])

    def test_schema_is_a_valid_schema(self):
        self.assertEqual(self.schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        jsonschema.Draft202012Validator.check_schema(self.schema)
