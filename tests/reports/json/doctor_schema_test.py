"""Validates what doctor writes against docs/schema/doctor-v1.schema.json.

usage: doctor_schema_test.py PRINT_SAMPLE_DOCTOR SCHEMA

Needs python3-jsonschema, and the command's path in TASKBENCH_BINARY.
"""

import os
import subprocess
import sys
import unittest

from schema_case import SchemaCase, parsed, set_at

PRINT_SAMPLE_DOCTOR = ""


class DoctorSchemaTest(SchemaCase, unittest.TestCase):
    @staticmethod
    def printed(*command, statuses=(0,)):
        result = subprocess.run(command, capture_output=True, check=False)
        assert result.returncode in statuses, result.stderr
        return parsed(result.stdout)

    def sample(self, machine):
        return self.printed(PRINT_SAMPLE_DOCTOR, "json", machine)

    def test_every_machine_follows_it_and_every_key_is_described(self):
        for machine in ("quiet", "disturbed", "unknown"):
            with self.subTest(machine):
                self.assertEqual(self.errors(self.sample(machine)), [])
        self.assertFalse(self.sample("quiet")["disturbed"])
        self.assertTrue(self.sample("disturbed")["disturbed"])

    def test_the_command_follows_it_here(self):
        binary = os.environ["TASKBENCH_BINARY"]
        document = self.printed(binary, "doctor", "--format", "json", statuses=(0, 4))
        self.assertEqual(self.errors(document), [])

    def test_readers_of_the_published_schema_take_new_keys(self):
        self.assert_readable_with(
            self.sample("quiet"), set_at("new_key", 1), set_at("findings", 0, "new_key", "x")
        )

    def test_broken_files_are_refused(self):
        changes = {
            "another version": set_at("taskbench_doctor", 2),
            "an unknown check": set_at("findings", 0, "check", "moon"),
            "an unknown severity": set_at("findings", 0, "severity", "bad"),
            "found nothing": set_at("findings", 0, "found", None),
            "found and unknown": set_at("findings", 0, "severity", "unknown"),
            "another unit": set_at("floor", 0, "unit", "us"),
            "a negative time": set_at("floor", 0, "median", -1),
            "a share above 1": set_at("at_work", "stolen_share", 2),
            "no list of what moved": set_at("at_rest", "moved", None),
            "a new key": set_at("workloads", 0, "new_key", 1),
        }
        self.assert_refused(self.sample("quiet"), changes)


if __name__ == "__main__":
    PRINT_SAMPLE_DOCTOR, SchemaCase.schema_path = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
