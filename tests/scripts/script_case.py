"""What the tests of scripts share: a copy of the scripts, with stand-ins for what they call."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class ScriptTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name) / "a clone"
        self.bin = Path(directory.name) / "bin"
        self.calls = Path(directory.name) / "calls"
        for folder in ("scripts", ".ci"):
            shutil.copytree(ROOT / folder, self.root / folder)
        self.bin.mkdir()
        self.calls.touch()

    def stand_in(self, path, body=""):
        """Puts a script at `path` that records how it was called, then runs `body`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "{path.name} $*" >>"{self.calls}"\n{body}\n')
        path.chmod(0o755)

    def run_script(self, name, *arguments, cwd="/", status=0, **environment):
        """Runs a script, checks its exit status, and returns its output."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("TASKBENCH_")}
        answer = subprocess.run(
            [self.root / name, *map(str, arguments)],
            env={**inherited, "PATH": f"{self.bin}:{os.environ['PATH']}", **environment},
            cwd=cwd, capture_output=True, text=True, check=False,
        )
        self.assertEqual(answer.returncode, status, answer.stderr)
        return answer

    def called(self):
        return self.calls.read_text().splitlines()


class RepositoryTest(ScriptTest):
    """Tests with a git repository."""

    def setUp(self):
        super().setUp()
        self.repository = self.root.parent / "repository"
        self.repository.mkdir()
        self.git("init", "--quiet", "--initial-branch", "main")

    def git(self, *arguments):
        return subprocess.run(
            ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *map(str, arguments)],
            cwd=self.repository, capture_output=True, text=True, check=True,
        ).stdout.strip()

    def commit(self, message):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")
