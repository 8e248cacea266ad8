#!/usr/bin/env python3
"""`taskbench run --command` beside hyperfine, which measures the same. They alternate every two
runs, so that other load on the machine affects both."""

import json
import math
import shutil
import statistics
import subprocess
import unittest

from taskbench_command import CommandTest, main

HYPERFINE = shutil.which("hyperfine")
# Each command, the number of turns for each tool, and the number of pairs: twenty in all.
COMMANDS = (
    ("true", 12, 4),
    ("sleep 0.004", 12, 4),
    ("sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'", 12, 4),
    ("sort numbers", 8, 4),
    ("sh -c 'sort numbers | uniq -c | sort -n > /dev/null'", 6, 3),
    ("sleep 3", 1, 1),
)


@unittest.skipUnless(HYPERFINE, "no hyperfine here: scripts/install-deps nightly installs it")
class BesideHyperfine(CommandTest):
    def of_hyperfine(self, command):
        """Returns the times of two runs, in s."""
        subprocess.run([HYPERFINE, "-N", "--warmup", "1", "--runs", "2", "--style", "none",
                        "--export-json", "h.json", command], cwd=self.folder, check=True,
                       capture_output=True)
        return self.load("h.json")["results"][0]["times"]

    def of_taskbench(self, command):
        self.taskbench("run", "--command", f"x={command}", "--iterations", "x=1", "--repetitions",
                       "2", "--quiet", "--json", "t.json")
        rows = self.load("t.json")["benchmarks"]
        return [row["real_time"] / 1e9 for row in rows if row["run_type"] == "iteration"]

    def test_the_means_agree_within_their_spreads(self):
        self.write("numbers", "".join(f"{i * 7919 % 100_003}\n" for i in range(100_000)))
        apart = []
        less = []
        for command, turns, pairs in COMMANDS:
            for _ in range(pairs):
                theirs = []
                ours = []
                for turn in range(turns):
                    if turn % 2 == 0:
                        theirs += self.of_hyperfine(command)
                    ours += self.of_taskbench(command)
                    if turn % 2 != 0:
                        theirs += self.of_hyperfine(command)
                difference = statistics.mean(ours) - statistics.mean(theirs)
                # At least a thousandth of the mean, as runs as few as two tell little of their
                # spread.
                spread = max(math.hypot(statistics.stdev(ours), statistics.stdev(theirs)),
                             statistics.mean(theirs) / 1000)
                if abs(difference) > 2 * spread:
                    apart.append(f"{command}: {1e3 * difference:+.3f} ms, spread "
                                 f"{1e3 * spread:.3f} ms")
                if command == "true":
                    less.append(statistics.median(ours) - statistics.median(theirs))
        self.assertEqual(apart, [], json.dumps(apart))
        # Starting a command takes at most as long as in hyperfine.
        self.assertLess(statistics.median(less), 0.1e-3)


if __name__ == "__main__":
    main()
