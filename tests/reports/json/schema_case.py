"""What the tests of the published schemas share. Needs python3-jsonschema."""

import copy
import json
import subprocess
from pathlib import Path

import jsonschema


def closed(schema):
    """Closes every object of the schema that lists its keys: here, a key that the published schema
    does not describe is an error, although readers must ignore it."""
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


def printed(*command):
    """Returns what the command prints: JSON in UTF-8, without the NaN and Infinity that Python
    accepts."""
    result = subprocess.run(command, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.decode("utf-8"), parse_constant=refuse_constant)


# Stands for a change that removes what the path leads to.
GONE = object()


def changed(document, path, value):
    """Returns a copy with `value` at the place given by the keys in `path`, separated by spaces."""
    result = copy.deepcopy(document)
    *steps, last = [int(key) if key.isdigit() else key for key in path.split()]
    place = result
    for step in steps:
        place = place[step]
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return result


class SchemaCase:
    """Mixed into a TestCase; `schema_path` must be set before it runs."""

    schema_path = ""

    @classmethod
    def setUpClass(cls):
        cls.schema = json.loads(Path(cls.schema_path).read_text(encoding="utf-8"))
        cls.validator = jsonschema.Draft202012Validator(closed(cls.schema))

    def errors(self, document):
        """Returns the violations of the closed schema."""
        return [
            f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
            for error in self.validator.iter_errors(document)
        ]

    def check(self, good, broken, new_keys=()):
        """Each change in `broken` must make a good document violate the schema; `new_keys`, like
        the keys that later versions add, must be accepted by the published schema."""
        self.assertEqual(self.errors(good), [])
        for path, value in broken:
            with self.subTest(path, value=value):
                self.assertNotEqual(self.errors(changed(good, path, value)), [])
        for path in new_keys:
            later = changed(good, path, {"anything": [1, 2]})
            jsonschema.Draft202012Validator(self.schema).validate(later)
            self.assertEqual(len(self.errors(later)), 1)

    def test_schema_is_a_valid_schema(self):
        self.assertEqual(self.schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        jsonschema.Draft202012Validator.check_schema(self.schema)
