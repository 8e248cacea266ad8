#!/usr/bin/env python3
"""scripts/gate-slurm on a real Slurm: a controller and a node that this test starts on loopback,
with all of their files in a folder of its own. Needs slurm-wlm and munge, and root."""

import json
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
PARTS = 3

CONFIGURATION = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=10 State=UP
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=100000
ReturnToService=2
MinJobAge=300
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
"""


# Twice the work is twice the time, on any machine.
PROGRAM = """
#include <benchmark/benchmark.h>
static void sum(benchmark::State& state) {
  for (auto _ : state) {
    for (int i = 0; i < %d; ++i) benchmark::DoNotOptimize(i);
  }
}
BENCHMARK(sum);
BENCHMARK_MAIN();
"""


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@unittest.skipUnless(os.getuid() == 0 and shutil.which("slurmctld") and shutil.which("munged"),
                     "needs slurm-wlm and munge, and root to start them")
class Slurm(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="taskbench-slurm-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        host = socket.gethostname().split(".")[0]
        configuration = self.folder / "slurm.conf"
        configuration.write_text(CONFIGURATION.format(
            host=host, ports=free_ports(2), folder=self.folder, cpus=os.cpu_count()))
        self.environment = {**os.environ, "SLURM_CONF": str(configuration)}
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}",
                    f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid",
                    f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/seed")
        self.wait_until(lambda: (self.folder / "munge.socket").exists())
        self.daemon("slurmctld", "-D", "-f", configuration)
        self.daemon("slurmd", "-D", "-N", host, "-f", configuration)
        self.wait_until(lambda: "idle" in self.run_here("sinfo", "-h", "-o", "%T").stdout)

    def daemon(self, name, *arguments):
        path = shutil.which(name)
        process = subprocess.Popen([path, *map(str, arguments)], env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def run_here(self, *words, status=None):
        answer = subprocess.run(list(map(str, words)), cwd=self.folder, env=self.environment,
                                capture_output=True, text=True, timeout=300, check=False)
        if status is not None:
            self.assertEqual(answer.returncode, status, answer.stdout + answer.stderr)
        return answer

    def wait_until(self, condition):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end, "Slurm does not start")
            time.sleep(0.1)

    def build(self, file, revisions, *recipe):
        """Both sides of a repository whose `file` has one text after the other, in built."""
        repository = self.folder / "repository"
        repository.mkdir()
        def git(*arguments):
            return self.run_here("git", "-C", repository, "-c", "user.name=T", "-c",
                                 "user.email=t@example.org", *arguments, status=0)
        git("init", "--quiet")
        for text in revisions:
            (repository / file).write_text(text)
            (repository / file).chmod(0o755)
            git("add", file)
            git("commit", "--quiet", "-m", "change it")
        subprocess.run([BINARY, "gate", "--base-rev", "HEAD~", "--head-rev", "HEAD", *recipe,
                        "--cache", self.folder / "cache", "--build-only", "both", "--out",
                        self.folder / "built"], cwd=repository, check=True, timeout=600)

    def gate(self, *arguments, status):
        return self.run_here(
            ROOT / "scripts/gate-slurm", "--programs", "built", "--parts", PARTS, "--out", "gate's",
            "--taskbench", BINARY, "--wait", "--sbatch", "--time=5", "--", "--exact", "off",
            *arguments, status=status)

    def test_a_gate_of_two_revisions_runs_end_to_end(self):
        self.build("bench", [fake_benchmark("sort=1000 hash=500"),
                             fake_benchmark("sort=1300 hash=500")],
                   "--build", "true", "--program", "bench")
        answer = self.gate("--max-blocks", "12", status=1)
        self.assertIn("FAIL: sort is 30.", answer.stdout)
        comment = (self.folder / "gate's/comment.md").read_text()
        self.assertIn(f"The blocks are those of {PARTS} parts on 1 machine", comment)

    def test_a_program_of_google_benchmark_is_built_once_and_measured_by_all_parts(self):
        self.build("bench.cpp", [PROGRAM % 1000, PROGRAM % 2000], "--build",
                   "g++ -O1 $CXXFLAGS bench.cpp -o bench -lbenchmark -lpthread", "--program",
                   "bench", "--links", "2")
        self.gate("--max-blocks", "24", status=1)
        report = json.loads((self.folder / "gate's/gate.json").read_text())
        self.assertEqual({row["name"]: row["verdict"] for row in report["benchmarks"]}["sum"],
                         "FAIL")
        self.assertEqual(report["blocks"], 24)


if __name__ == "__main__":
    unittest.main(verbosity=2)
