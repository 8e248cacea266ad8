"""Other work on the machine, for as long as a block of the self-test runs."""

import os
import subprocess
import sys

PARENT_LIVES = "import os, sys, time\nparent = os.getppid()\nwhile os.getppid() == parent:\n"
BUSY = PARENT_LIVES + "    pass\n"
# 30 % of a CPU.
BURSTS = PARENT_LIVES + """
    end = time.monotonic() + 0.15
    while time.monotonic() < end: pass
    time.sleep(0.35)
"""


class Hogs:
    def __init__(self, count, program=BUSY, before=(), pinned=False):
        """`before`: words of a command that runs each. Pinned ones have a CPU of their own."""
        self.command = [*before, sys.executable, "-c", program]
        self.count = count
        self.cpus = sorted(os.sched_getaffinity(0)) if pinned else []

    def __enter__(self):
        self.processes = [subprocess.Popen(self.command) for _ in range(self.count)]
        for number, process in enumerate(self.processes if self.cpus else ()):
            os.sched_setaffinity(process.pid, {self.cpus[number % len(self.cpus)]})

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()
