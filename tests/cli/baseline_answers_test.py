#!/usr/bin/env python3
"""The JSON that `taskbench baseline` prints conforms to its schema. Needs python3-jsonschema."""

import json

from baseline_test import LARGE, SLOW, BaselineTest, of_another_machine
from schemas import GONE, SCHEMAS, SchemaCase
from taskbench_command import main


class Answers(SchemaCase, BaselineTest):
    schema_path = SCHEMAS / "baseline_answers-v1.schema.json"

    def printed(self, options):
        return json.loads(self.baseline(f"{options} --format json").stdout)

    def test_a_comparison_keeps_to_it(self):
        self.given_baseline()
        self.baseline(f"compare {LARGE} --json r.json --program", self.program("b", SLOW), status=1)
        self.check(self.load("r.json"), (
            ("taskbench_baseline_comparison", 2),
            ("verdict", "SLOWER"),
            ("baseline commit", GONE),
            ("benchmarks 0 verdict", "ENVIRONMENT"),
            ("benchmarks 0 against_baseline stored_processes", 0),
            ("benchmarks 0 against_anchor", []),
            ("others_now", {"unknown": ""}),
            ("canary cpu moved", "no"),
        ), new_keys=("new_key", "benchmarks 0 new_key", "benchmarks 0 against_baseline new_key"))

    def test_what_is_not_judged_keeps_to_it(self):
        self.given_baseline()
        self.edit_both(of_another_machine)
        self.taskbench("gate --baseline default --json r.json", status=4)
        self.check(self.load("r.json"), (
            ("verdict", "PASS"),
            ("failure stage", "build"),
            ("failure message", ""),
        ), new_keys=("failure new_key",))

    def test_lists_and_details_keep_to_it(self):
        self.given_baseline()
        self.check(self.printed("list"), (
            ("baselines 0 key", ""),
            ("baselines 0 benchmarks 0", 1),
            ("baselines 0 anchor_date", GONE),
        ), new_keys=("baselines 0 new_key",))
        self.check(self.printed("show"), (
            ("machine", {}),
            ("baseline benchmarks 0 mad_ns", -1),
            ("anchor", GONE),
        ), new_keys=("new_key", "baseline new_key", "baseline benchmarks 0 new_key"))
        self.baseline("rm default")
        self.assertEqual(self.errors(self.printed("list")), [])


if __name__ == "__main__":
    main()
