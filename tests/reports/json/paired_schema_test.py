"""Validates what ab and gate write against docs/schema/paired-v1.schema.json.

usage: paired_schema_test.py SCHEMA

Needs python3-jsonschema, and the command's path in TASKBENCH_BINARY.
"""

import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cli"))

from fake_program import FAKE, fake_valgrind
from schema_case import SchemaCase, set_at
from taskbench_command import BINARY, CommandTest


class PairedSchemaTest(SchemaCase, CommandTest):
    def program(self, name, times, body="", noise=0.01):
        path = self.folder / name
        path.write_text(FAKE.format(python=sys.executable, times=times, noise=noise, body=body))
        path.chmod(0o755)
        return f"./{name}"

    def written(self, head, *arguments, command="gate", base=None, status=0, env=None):
        """What is written for these programs, which must follow the schema."""
        base = base or self.program("base", "sort=1000 gone=1")
        self.taskbench(
            command, "--base", base, "--head", head, *arguments, "--max-blocks", "2",
            "--inconclusive", "pass-always", "--json", "r.json", "--journal", f"j-{command}",
            status=status, env=env,
        )
        document = self.load("r.json")
        self.assertEqual(self.errors(document), [])
        return document

    def test_judged(self):
        head = self.program("head", "sort=1000 new=1")
        for command in ("ab", "gate"):
            document = self.written(head, command=command)
            self.assertEqual(document["outcome"], "judged")
            self.assertEqual(len(document["samples"]), 8)

    def test_identical(self):
        for name in ("one", "two"):
            shutil.copy(BINARY, self.folder / name)
        for command in ("ab", "gate"):
            document = self.written("./two", base="./one", command=command)
            self.assertEqual(document["outcome"], "identical")

    def test_failed(self):
        crashing = self.program("head", "sort=1000", body="sys.exit('no')")
        self.assertEqual(self.written(crashing, status=5)["failure"]["stage"], "measure")
        other = self.program("head", "other=1000")
        self.assertEqual(self.written(other, status=5)["failure"]["stage"], "compare")

    def test_taskbench_itself(self):
        for name in ("one", "two"):
            shutil.copy(BINARY, self.folder / name)
        options = "chained_spawn --workers 1 --param chained_spawn.length=10"
        self.written(
            f"./two {options}", "--run-identical", "--min-time", "1ms", "--delta", "900%",
            base=f"./one {options}",
        )

    def test_instructions_that_were_counted_and_that_could_not_be(self):
        for name in ("one", "two"):
            shutil.copy(BINARY, self.folder / name)
        options = "chained_spawn --workers 1 --param chained_spawn.length=10"
        count = ("--counters", "instructions-exact", "--run-identical", "--min-time", "1ms")
        path = fake_valgrind(
            self.folder / "bin", "open(out, 'w').write('events: Ir\\ntotals: 4000\\n')")
        document = self.written(
            f"./two {options}", *count, "--delta", "900%", base=f"./one {options}",
            env={"PATH": path},
        )
        self.assertEqual(document["benchmarks"][0]["instructions"]["verdict"], "PASS")
        self.assertEqual(len(document["instructions"]), 2)
        document = self.written(self.program("head", "sort=1000"), *count)
        self.assertIsNone(document["benchmarks"][0]["instructions"]["base"])

    def test_broken_files_are_refused(self):
        changes = {
            "another version": set_at("taskbench_paired", 2),
            "another version of the journal": set_at("setup", "taskbench_journal", 3),
            "an unknown outcome": set_at("outcome", "lost"),
            "a trial without a verdict": set_at("verdict", None),
            "judged and failed": set_at("failure", {}),
            "an outcome that the rest contradicts": set_at("outcome", "identical"),
            "a commit that is a name": set_at("base", "commit", "main"),
            "a verdict in small letters": set_at("benchmarks", 0, "verdict", "pass"),
            "a probability above 1": set_at("benchmarks", 0, "p", 1.5),
            "a time that is 0": set_at("samples", 0, "real_ns", "sort", 0),
            "a fifth process in a block": set_at("samples", 0, "position", 4),
            "a new key": set_at("benchmarks", 0, "new_key", 1),
        }
        self.assert_refused(self.written(self.program("head", "sort=1000")), changes)


if __name__ == "__main__":
    SchemaCase.schema_path = sys.argv[1]
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
