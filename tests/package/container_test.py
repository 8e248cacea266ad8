#!/usr/bin/env python3
"""Runs the steps of ci/Containerfile, each in a bare Debian 12, as `podman build` would.

usage: container_test.py SOURCE [TEST...]"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SKIPPED = 77  # the exit status by which ctest calls a test skipped
NEEDED = ("mmdebstrap", "chroot", "git", "unshare")
SOURCE = Path(sys.argv[1])
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/"}


def steps_of(text):
    """Returns (keyword, the rest) of each instruction, in order."""
    joined = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", text))
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


class Roots:
    """A folder for each stage, which begins as a bare system."""

    def __init__(self, folder):
        self.folder = folder
        self.bare = folder / "bare"
        self.stages = []
        subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=apt", "bookworm", self.bare,
             "http://deb.debian.org/debian"],
            check=True, timeout=600,
        )

    def begin(self, name):
        root = self.folder / f"stage-{len(self.stages)}"
        subprocess.run(["cp", "--archive", "--reflink=auto", self.bare, root], check=True)
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
        for link in ("null", "zero", "urandom", "random", "tty"):
            device = root / "dev" / link
            if not device.exists():
                status = os.stat(f"/dev/{link}")
                os.mknod(device, status.st_mode, status.st_rdev)
        self.stages.append((name, root))

    @property
    def root(self):
        return self.stages[-1][1]

    def copy(self, words):
        of = re.fullmatch(r"--from=(\w+)", words[0])
        source, target = words[-2:]
        if of:
            begin = dict(self.stages)[of[1]] / source.lstrip("/")
            shutil.copytree(begin, self.root / target.lstrip("/"), symlinks=True)
        else:  # the build context: what git tracks
            subprocess.run(["git", "clone", "--quiet", SOURCE, self.root / target.lstrip("/")],
                           check=True)

    def run(self, command, **options):
        """Runs the command in the root's shell, with a /proc of its own while it runs."""
        namespace = ["unshare", "--mount", "--pid", "--fork", f"--mount-proc={self.root / 'proc'}"]
        return subprocess.run([*namespace, "chroot", self.root, "/bin/sh", "-c", command],
                              env=ENVIRONMENT, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, **options)


class Containerfile(unittest.TestCase):
    def test_each_of_its_steps_runs_in_a_bare_system_and_taskbench_gates_there(self):
        directory = tempfile.TemporaryDirectory(prefix="taskbench-container-")
        self.addCleanup(directory.cleanup)
        roots = Roots(Path(directory.name))
        command = None
        for keyword, rest in steps_of((SOURCE / "ci/Containerfile").read_text(encoding="utf-8")):
            with self.subTest(step=f"{keyword} {rest}"):
                if keyword == "FROM":
                    image, name = re.fullmatch(r"(\S+)(?: AS (\w+))?", rest).groups()
                    self.assertEqual(image, "docker.io/library/debian:12")
                    roots.begin(name)
                elif keyword == "COPY":
                    roots.copy(rest.split())
                elif keyword == "RUN":
                    done = roots.run(rest, timeout=3000)
                    self.assertEqual(done.returncode, 0, done.stdout[-3000:])
                else:
                    self.assertEqual(keyword, "CMD")
                    command = rest
        self.assertEqual(command, '["taskbench", "--help"]')
        self.assertIn("Compare two programs in CI", roots.run("taskbench --help").stdout)
        gated = roots.run("cd /tmp && taskbench ab --kind command --base 'sleep 0.01' "
                          "--head 'sleep 0.03' --repetitions 2 --max-blocks 8 --exact off")
        self.assertEqual(gated.returncode, 1, gated.stdout)
        counted = roots.run("taskbench run --command true --counters instructions-exact")
        self.assertEqual(counted.returncode, 0, counted.stdout)
        self.assertNotIn("n/a", counted.stdout)


if __name__ == "__main__":
    if lacking := [name for name in NEEDED if not shutil.which(name)]:
        print(f"skipped: needs {', '.join(lacking)}")
        sys.exit(SKIPPED)
    if os.geteuid() != 0:
        print("skipped: needs root, to change the root folder")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
