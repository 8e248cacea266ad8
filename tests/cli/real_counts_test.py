#!/usr/bin/env python3
"""`taskbench run --counters instructions-exact` with the real valgrind, under which an unoptimised
taskbench takes seconds to start. explain_test.py does the same for `ab`."""

import json
import shutil
import unittest

from counters_test import CountersTest
from taskbench_command import main


class RealValgrind(CountersTest):
    @unittest.skipUnless(shutil.which("valgrind"),
                         "no valgrind here: scripts/install-deps test installs it")
    def test_real_counts_fail_a_change_just_above_two_per_mille_that_the_times_do_not_see(self):
        small = "run chained_spawn --repetitions 1 --min-time 1ms --quiet"
        self.taskbench(f"{small} --json r.json")
        flags = self.load("r.json")["taskbench"]["environment"]["compiler_flags"]
        if "-fsanitize" in flags:
            self.skipTest("a program that a sanitizer watches does not run under valgrind")
        for length in (1000, 1003):  # 0.25 to 0.3 % more instructions
            self.taskbench(f"{small} --workers 2 --param length={length} --json {length}.json "
                           "--counters instructions-exact", env=self.env())
            (case,) = self.load(f"{length}.json")["taskbench"]["cases"]
            (event,) = case["events_per_iteration"]
            self.assertEqual(event["samples"], 5)
            self.assertEqual(event["min"], event["max"])
            # The name hides the parameter, as if the program had changed instead.
            text = self.read(f"{length}.json")
            self.write(f"{length}.json", text.replace(f"/length:{length}", ""))
        answer = self.taskbench("compare 1000.json 1003.json --format json", status=1,
                                env=self.env())
        (row,) = json.loads(answer.stdout)["benchmarks"]
        self.assertEqual(row["verdict"], "INCONCLUSIVE")
        self.assertEqual(row["instructions"]["verdict"], "FAIL")
        self.assertGreater(row["instructions"]["change"], 0.002)
        self.assertLess(row["instructions"]["change"], 0.003)


if __name__ == "__main__":
    main()
