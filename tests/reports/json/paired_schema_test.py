"""Validates what ab and gate write against docs/schema/paired-v1.schema.json.

usage: paired_schema_test.py SCHEMA

Needs python3-jsonschema, and the command's path in TASKBENCH_BINARY.
"""

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "cli"))

from fake_program import fake_valgrind
from schema_case import SchemaCase
from taskbench_command import BINARY, CommandTest


class PairedSchemaTest(SchemaCase, CommandTest):
    def written(self, head, options="", command="gate", base=None, **others):
        """Returns what is written for these programs, which must follow the schema."""
        base = base or self.program("base", "sort=1000 gone=1")
        self.taskbench(
            f"{command} {options} --max-blocks 2 --inconclusive pass-always --json r.json "
            f"--journal j{len(self.left())}", "--base", base, "--head", head, **others)
        document = self.load("r.json")
        self.assertEqual(self.errors(document), [])
        return document

    def copies(self, options=""):
        for name in ("one", "two"):
            shutil.copy(BINARY, self.folder / name)
        return {"base": f"./one {options}", "head": f"./two {options}"}

    def test_judged_and_identical(self):
        judged = {"head": self.program("head", "sort=1000 new=1")}
        for sides, outcome in ((judged, "judged"), (self.copies(), "identical")):
            for command in ("ab", "gate"):
                document = self.written(**sides, command=command)
                self.assertEqual(document["outcome"], outcome)
                self.assertEqual(len(document.get("samples", ())), 8 * (outcome == "judged"))

    def test_metrics_that_are_judged(self):
        nodes = [self.program(name, more=[f"counter nodes={count}", "counter hits/s=7"])
                 for name, count in (("base", 1000), ("head", 1120))]
        document = self.written(nodes[1], "--judge nodes=5%,hits/s=9%", base=nodes[0])
        self.assertEqual(len(document["benchmarks"][0]["judged"]), 2)

    def test_failed(self):
        crashing = self.program("head", "sort=1000", body="sys.exit('no')")
        self.assertEqual(self.written(crashing, status=5)["failure"]["stage"], "measure")
        other = self.program("head", "other=1000")
        self.assertEqual(self.written(other, status=5)["failure"]["stage"], "compare")

    def test_a_base_that_fails(self):
        for words in ("init -q", "add -A", "commit -qm broken --allow-empty", "tag broken"):
            self.git(words)
        self.program("bench")
        for words in ("add -A", "commit -qm repaired"):
            self.git(words)
        self.taskbench("gate --base-rev broken --head-rev HEAD --build true --program bench "
                       "--cache cache --json r.json --journal j", status=3)
        self.assertEqual(self.errors(self.load("r.json")), [])

    def git(self, words):
        subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.org",
                        *words.split()], cwd=self.folder, check=True)

    def test_taskbench_itself_and_instructions_that_were_counted_or_could_not_be(self):
        sides = self.copies("chained_spawn --workers 1 --param chained_spawn.length=10")
        how = "--run-identical --min-time 1ms --delta 900%"
        self.written(**sides, options=f"{how} --exact off")
        count = f"{how} --counters instructions-exact"
        path = fake_valgrind(
            self.folder / "bin", "open(out, 'w').write('events: Ir\\ntotals: 4000\\n')")
        document = self.written(**sides, options=count, env={"PATH": path})
        self.assertEqual(document["benchmarks"][0]["instructions"]["verdict"], "PASS")
        self.assertEqual(len(document["instructions"]), 2)
        document = self.written(self.program("head", "sort=1000"), count)
        self.assertIsNone(document["benchmarks"][0]["instructions"]["base"])

    def test_kinds_of_counts_and_what_explains_a_failure(self):
        sides = self.copies("chained_spawn --workers 1 --param chained_spawn.length=10")
        path = fake_valgrind(
            self.folder / "bin",
            "two = any(w.endswith('/two') for w in sys.argv)\n"
            "lines = ('events: Ir', 'ob=bench', 'fl=a', 'fn=f', 'cfn=malloc', 'calls=%d 0x20 0',\n"
            "         '0x14 0 4', '0x18 0 %d', 'totals: %d', '')\n"
            "text = '\\n'.join(lines) % ((80, 400, 400) if two else (8, 40, 40))\n"
            "open(out, 'w').write(text)")
        how = "--run-identical --min-time 1ms --counters instructions-exact --explain"
        document = self.written(**sides, options=how, env={"PATH": path}, status=1)
        self.check(document, (
            ("benchmarks 0 kinds 0 verdict", "INCONCLUSIVE"),
            ("benchmarks 0 kinds 0 base", -1),
            ("instructions 0 kinds allocations 0", "two"),
            ("explanations 0 base", None),
            ("explanations 0 functions", None),
            ("explanations 0 kinds 0 kind", ""),
        ))

    def test_broken_files_are_refused(self):
        self.check(self.written(self.program("head", "sort=1000")), (
            ("taskbench_paired", 2),
            ("setup taskbench_journal", 5),
            ("outcome", "lost"),
            ("verdict", None),
            ("failure", {}),  # judged and failed
            ("outcome", "identical"),
            ("base commit", "main"),
            ("benchmarks 0 verdict", "pass"),
            ("benchmarks 0 p", 1.5),
            ("samples 0 real_ns sort", 0),
            ("samples 0 position", 4),
            ("benchmarks 0 new_key", 1),
        ))


if __name__ == "__main__":
    SchemaCase.schema_path = sys.argv[1]
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
