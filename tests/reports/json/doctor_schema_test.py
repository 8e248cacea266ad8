"""Validates what doctor writes for made-up machines against docs/schema/doctor-v1.schema.json.
tests/cli/doctor_test.py does it for this machine.

usage: doctor_schema_test.py PRINT_SAMPLE SCHEMA

Needs python3-jsonschema.
"""

import sys
import unittest

from schema_case import SchemaCase, printed

PRINT_SAMPLE = ""


class DoctorSchemaTest(SchemaCase, unittest.TestCase):
    def test_every_machine_follows_it(self):
        for machine, is_disturbed in (("quiet", False), ("disturbed", True), ("unknown", True)):
            with self.subTest(machine):
                document = printed(PRINT_SAMPLE, "json", machine)
                self.assertEqual(self.errors(document), [])
                self.assertEqual(document["disturbed"], is_disturbed)

    def test_broken_files_are_refused(self):
        self.check(printed(PRINT_SAMPLE, "json", "quiet"), (
            ("taskbench_doctor", 2),
            ("findings 0 check", "moon"),
            ("findings 0 severity", "bad"),
            ("findings 0 found", None),
            ("findings 0 severity", "unknown"),  # although something was found
            ("floor 0 unit", "us"),
            ("floor 0 median", -1),
            ("at_work stolen_share", 2),
            ("at_rest moved", None),
        ), new_keys=("new_key", "findings 0 new_key", "workloads 0 new_key"))


if __name__ == "__main__":
    PRINT_SAMPLE, SchemaCase.schema_path = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
