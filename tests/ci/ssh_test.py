#!/usr/bin/env python3
"""scripts/gate-ssh on hosts served by a real sshd: one that this test starts on loopback, with its
keys in a folder of its own. Needs openssh-server, parallel and rsync, and root."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

from fake_program import fake_benchmark  # noqa: E402

BINARY = os.environ["TASKBENCH_BINARY"]
SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
SEPARATED = Path("/run/sshd")  # needed by sshd, and normally made by an init script

SERVER = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile {folder}/sshd.pid
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
"""

CLIENT = """
Host one two gone
  HostName 127.0.0.1
  User root
  IdentityFile {folder}/user
  IdentitiesOnly yes
  StrictHostKeyChecking no
  UserKnownHostsFile {folder}/known
Host one two
  Port {port}
Host gone
  Port 1
"""


@unittest.skipUnless(os.getuid() == 0 and SSHD and shutil.which("parallel") and
                     shutil.which("rsync"),
                     "needs openssh-server, parallel and rsync, and root to start sshd")
class Ssh(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="taskbench-ssh-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = {**os.environ, "HOME": str(self.folder),
                            "PARALLEL_SSH": f"ssh -F {self.folder}/client"}
        for key in ("host", "user"):
            self.run_here("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key, status=0)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        for name, text in (("server", SERVER), ("client", CLIENT)):
            (self.folder / name).write_text(text.format(port=self.port, folder=self.folder))
        SEPARATED.mkdir(mode=0o755, exist_ok=True)
        process = subprocess.Popen([SSHD, "-D", "-f", self.folder / "server", "-E",
                                    self.folder / "sshd.log"], stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        end = time.monotonic() + 60
        while self.run_here("ssh", "-F", "client", "one", "true").returncode != 0:
            self.assertLess(time.monotonic(), end, "sshd does not answer")
            time.sleep(0.1)

    def run_here(self, *words, status=None):
        answer = subprocess.run(list(map(str, words)), cwd=self.folder, env=self.environment,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=300, check=False)
        if status is not None:
            self.assertEqual(answer.returncode, status, answer.stdout + answer.stderr)
        return answer

    def build(self, head=fake_benchmark("sort=1300 hash=500")):
        """Makes a folder of both programs; head is slower, unless given."""
        self.run_here("git", "init", "--quiet", status=0)
        for name, text in (("base", fake_benchmark("sort=1000 hash=500")), ("head", head)):
            (self.folder / "bench").write_text(text)
            (self.folder / "bench").chmod(0o755)
            self.run_here("git", "add", "bench", status=0)
            self.run_here("git", "-c", "user.name=T", "-c", "user.email=t@example.org", "commit",
                          "--quiet", "-m", name, status=0)
        self.run_here(BINARY, "gate", "--base-rev", "HEAD~", "--head-rev", "HEAD", "--build",
                      "true", "--program", "bench", "--cache", "cache", "--build-only", "both",
                      "--out", "built", status=0)

    def gate(self, hosts, *arguments, status=1):
        return self.run_here(
            ROOT / "scripts/gate-ssh", "--programs", "built", "--hosts", hosts, "--parts", 3,
            "--out", "gate's", "--taskbench", BINARY, "--", "--max-blocks", "12", "--exact", "off",
            *arguments, status=status)

    def test_hosts_share_the_parts_and_one_that_is_gone_costs_nothing(self):
        self.build()
        answer = self.gate("one,two")
        self.assertIn("FAIL: sort is 30.", answer.stdout)
        comment = (self.folder / "gate's/comment.md").read_text()
        self.assertIn("The blocks are those of 3 parts on 1 machine", comment)
        self.assertEqual(list(Path("~root/.cache").expanduser().glob("taskbench-gate-*")), [])
        answer = self.gate("one,gone")
        self.assertIn("FAIL: sort is 30.", answer.stdout)
        self.assertNotIn("missing", answer.stdout)

    def test_a_head_that_crashes_is_told_and_not_tried_again(self):
        self.build(fake_benchmark("sort=1000 hash=500", body="sys.exit('out of luck')"))
        answer = self.gate("one,two", status=5)
        self.assertNotIn("parts failed", answer.stderr)
        comment = (self.folder / "gate's/comment.md").read_text()
        self.assertIn("### taskbench: no verdict: head failed", comment)
        self.assertIn("out of luck", comment)

    def test_without_a_host_there_is_no_verdict(self):
        self.build()
        answer = self.gate("gone", status=2)
        self.assertIn("3 of 3 parts failed", answer.stderr)
        self.assertIn("no part has left a journal", answer.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
