#!/usr/bin/env python3
"""`scripts/selftest-targets`, with a stand-in for the judging taskbench."""

import json
import os
import re
import shutil
import signal
import subprocess
import unittest

from script_case import ROOT, ScriptTest


class SelftestTargets(ScriptTest):
    """The stand-in judges as the file `answer` says: failing benchmarks, then an exit status."""

    def setUp(self):
        super().setUp()
        shutil.copytree(ROOT / "examples/gate", self.root / "examples/gate")
        self.stand_in(self.bin / "g++", 'while [ "$1" != -o ]; do shift; done; touch "$2"')
        self.taskbench = self.bin / "taskbench"
        self.stand_in(self.taskbench, f"""
case "$*" in *--merge*--journal*) exit 2 ;; *--part*) exit 0 ;; esac
read -r fails status <'{self.root}/answer'
while [ "$1" != --json ]; do shift; done
interval=$(cat '{self.root}/interval' 2>/dev/null || echo '"interval_low": 0, "interval_high": 1')
echo '{{"blocks": 32, "benchmarks": [{{"name": "work/1", "verdict": "PASS", '$interval'}},' >"$2"
echo '{{"name": "'$fails'", "verdict": "PASS", "cpu_time": {{"verdict": "FAIL"}},' >>"$2"
echo '"detectable": 0.0437,' >>"$2"
echo '"interval_low": 0, "interval_high": 1}}]}}' >>"$2"
rm -f '{self.root}/interval'  # of the first report alone
exit $status""")

    def targets(self, *options, answer="none 0", status=0):
        (self.root / "answer").write_text(answer + "\n")
        return self.run_script("scripts/selftest-targets", "--taskbench", self.taskbench,
                               "--out", self.root / "out", *options, status=status).stdout

    def test_counts_what_was_found_and_what_failed_falsely(self):
        said = self.targets("--target", "busy-10", "--trials", "2", answer="work/6 1")
        self.assertRegex(said, r"\| busy-10 \| .*18 of 20 \| 2 of 2 \| 0 of 2 \| 32 \|")
        said = self.targets("--target", "busy-10", "--trials", "3", answer="work/5 1", status=1)
        self.assertNotIn("busy-10 2 of 3", said)  # two trials are kept
        self.assertRegex(said, r"\| busy-10 \| .* \| 2 of 3 \| 1 of 3 \|")
        self.assertIn("2 of 3 | 1 of 3", self.targets("--target", "busy-10", "--report", status=1))

    def test_trials_of_a_file_are_continued(self):
        kept = self.root / "kept.jsonl"
        kept.write_text('{"target": "busy-10", "right": true, "false": [], "took_s": 9, '
                        '"blocks": 8}\n')
        said = self.targets("--target", "busy-10", "--trials", "2", "--trials-file", kept,
                            answer="work/6 1")
        self.assertRegex(said, r"\| busy-10 \| .*18 of 20 \| 2 of 2 \|")
        self.assertIn("busy-10 2 of 2", said)
        first, second = map(json.loads, kept.read_text().splitlines())
        self.assertEqual((first["took_s"], second["right"], "load" in second), (9, True, True))

    def test_the_docs_have_the_table_of_the_trials_that_are_kept(self):
        said = subprocess.run(
            [ROOT / "scripts/selftest-targets", "--report", "--out", self.root / "out",
             "--trials-file", ROOT / "docs/design/gate_trials.jsonl"],
            check=False, capture_output=True, text=True).stdout  # 1 if a target is missed
        docs = (ROOT / "docs/design/measurement.md").read_text()
        self.assertIn("\n".join(re.findall(r"^\|.*", said, re.M)), docs)

    def test_a_reader_that_has_read_enough_is_no_error(self):
        reader, writer = os.pipe()
        os.close(reader)
        answer = subprocess.run(
            [ROOT / "scripts/selftest-targets", "--report", "--out", self.root / "out"],
            stdout=writer, stderr=subprocess.PIPE, check=False)
        os.close(writer)
        self.assertEqual((answer.returncode, answer.stderr), (-signal.SIGPIPE, b""))

    def test_unchanged_programs_have_to_pass(self):
        self.targets("--target", "busy-aa", "--trials", "1", answer="none 0", status=1)
        said = self.targets("--target", "busy-aa", "--trials", "2", answer="none 3", status=1)
        self.assertRegex(said, r"\| busy-aa \| .* \| 1 of 2 \| 2 of 2 \|")

    def test_parts_are_measured_one_by_one_and_their_merge_is_judged(self):
        said = self.targets("--target", "parts-10", "--trials", "1", answer="work/6 1")
        self.assertRegex(said, r"\| parts-10 \| .* \| 1 of 1 \| 0 of 1 \|")
        calls = [call for call in self.called() if call.startswith("taskbench ")]
        self.assertEqual([" --part %d/4 " % part in call for part, call in
                          zip((1, 2, 3, 4), calls)], [True] * 4)
        self.assertRegex(calls[4], "^taskbench ab --merge( [^.]*/part-[1-4]-of-4.journal){4} ")
        said = self.targets("--target", "parts-aa", "--trials", "1", answer="work/6 1", status=1)
        self.assertRegex(said, r"\| parts-aa \| .* \| 0 of 1 \| 1 of 1 \|")

    def test_parts_have_to_agree_with_one_piece(self):
        said = self.targets("--target", "parts-whole", "--trials", "1", answer="work/6 1")
        self.assertRegex(said, r"\| parts-whole \| .* \| 1 of 1 \| 0 of 1 \|")
        (self.root / "interval").write_text('"interval_low": 2, "interval_high": 3')
        said = self.targets("--target", "parts-whole", "--trials", "2", answer="work/6 1", status=1)
        self.assertRegex(said, r"\| parts-whole \| .* \| 1 of 2 \| 0 of 2 \|")

    def test_what_is_called_detectable_is_planted(self):
        said = self.targets("--target", "power", "--trials", "1", answer="work/6 1", status=1)
        # Found, plus a false alarm in the first trial, in which nothing is slower.
        self.assertRegex(said, r"\| power \| .* \| 1 of 1 \| 1 of 1 \|")
        self.assertEqual([re.search(r"-DSLOWER=(\d+) ", call)[1] for call in self.called()
                          if call.startswith("g++")], ["0", "0", "44"])

    def test_an_example_is_gated_by_the_command_of_its_readme(self):
        said = self.targets("--target", "shell-10,shell-aa", "--trials", "1", answer="command 1",
                            status=1)
        self.assertRegex(said, r"\| shell-10 \| .* \| 1 of 1 \| 0 of 1 \|")
        self.assertRegex(said, r"\| shell-aa \| .* \| 0 of 1 \| 1 of 1 \|")
        calls = [call for call in self.called() if call.startswith("taskbench gate ")]
        self.assertEqual(["--program ./count 30000" in call for call in calls], [True] * 2)
        self.assertIn("i=-3000", (self.root / "out/example-shell-10/count").read_text())
        self.assertIn("i=0", (self.root / "out/example-shell-0/count").read_text())

    def test_what_is_no_target_or_no_time_is_refused(self):
        self.assertIn("busy-10", self.run_script("scripts/selftest-targets", "--target", "busy",
                                                 status=2).stderr)
        self.run_script("scripts/selftest-targets", "--time", "1", status=2)


if __name__ == "__main__":
    unittest.main()
