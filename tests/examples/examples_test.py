#!/usr/bin/env python3
"""Runs the programs of examples/, in the folder named as the first argument."""

import subprocess
import sys
import time
import unittest
from pathlib import Path


class Examples(unittest.TestCase):
    folder = None

    def run_example(self, name):
        return subprocess.run([self.folder / name], capture_output=True, encoding="utf-8",
                              timeout=60, check=True)

    def test_timer_future_waits_two_seconds_between_its_lines(self):
        begun = time.monotonic()
        result = self.run_example("timer_future")
        self.assertEqual((result.stdout, result.stderr), ("howdy!\ndone!\n", ""))
        self.assertGreaterEqual(time.monotonic() - begun, 2)


if __name__ == "__main__":
    Examples.folder = Path(sys.argv.pop(1))
    unittest.main()
