#!/usr/bin/env python3
"""scripts/gate-slurm on a real Slurm: a controller and a node that this test starts on loopback,
with all their files in a folder of its own. Needs slurm-wlm and munge, and root."""

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


# Twice the work takes twice the time, on any machine.
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

# A change of this repository that makes only one workload slower, by a factor of two or more.
CHANGED = "workloads/ping_pong.cpp"
BEFORE = "  (void)question.first.send(Signal{});\n"
AFTER = BEFORE + "  for (volatile int spun = 0; spun < 5000;) spun = spun + 1;\n"


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
        self.addCleanup(self.run_here, "scancel", "--user", "root")  # left by a failed test

    def daemon(self, name, *arguments):
        path = shutil.which(name)
        process = subprocess.Popen([path, *map(str, arguments)], env=self.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def run_here(self, *words, status=None):
        answer = subprocess.run(list(map(str, words)), cwd=self.folder, env=self.environment,
                                capture_output=True, text=True, timeout=900, check=False)
        if status is not None:
            self.assertEqual(answer.returncode, status, answer.stdout + answer.stderr)
        return answer

    def wait_until(self, condition):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end, "Slurm does not start")
            time.sleep(0.1)

    def git(self, *arguments):
        return self.run_here("git", "-C", self.folder / "repository", "-c", "user.name=T", "-c",
                             "user.email=t@example.org", *arguments, status=0)

    def build(self, *recipe):
        """Builds both sides of the last change of the repository, into the folder built."""
        subprocess.run([BINARY, "gate", "--base-rev", "HEAD~", "--head-rev", "HEAD", *recipe,
                        "--cache", self.folder / "cache", "--build-only", "both", "--out",
                        self.folder / "built"], cwd=self.folder / "repository", check=True,
                       timeout=2400)

    def commit(self, file, texts):
        """Makes a commit for each text of the file."""
        (self.folder / "repository").mkdir()
        self.git("init", "--quiet")
        for text in texts:
            (self.folder / "repository" / file).write_text(text)
            (self.folder / "repository" / file).chmod(0o755)
            self.git("add", file)
            self.git("commit", "--quiet", "-m", "change it")

    def gate(self, *arguments, status):
        return self.run_here(
            ROOT / "scripts/gate-slurm", "--programs", "built", "--parts", PARTS, "--out", "gate's",
            "--taskbench", BINARY, "--wait", "--sbatch", "--time=5", "--", "--exact", "off",
            *arguments, status=status)

    def test_a_gate_of_two_revisions_runs_end_to_end(self):
        self.commit("bench", [fake_benchmark("sort=1000 hash=500"),
                              fake_benchmark("sort=1300 hash=500")])
        self.build("--build", "true", "--program", "bench")
        answer = self.gate("--max-blocks", "12", status=1)
        self.assertIn("FAIL: sort is 30.", answer.stdout)
        comment = (self.folder / "gate's/comment.md").read_text()
        self.assertIn(f"The blocks are those of {PARTS} parts on 1 machine", comment)

    def test_a_program_of_google_benchmark_is_built_once_and_measured_by_all_parts(self):
        self.commit("bench.cpp", [PROGRAM % 1000, PROGRAM % 2000])
        self.build("--build", "g++ -O1 $CXXFLAGS bench.cpp -o bench -lbenchmark -lpthread",
                   "--program", "bench", "--links", "2")
        self.gate("--max-blocks", "24", status=1)
        report = json.loads((self.folder / "gate's/gate.json").read_text())
        self.assertEqual({row["name"]: row["verdict"] for row in report["benchmarks"]}["sum"],
                         "FAIL")
        self.assertEqual(report["blocks"], 24)

    @unittest.skipUnless((ROOT / ".git").exists(), "needs the repository, not its files alone")
    def test_a_gate_of_this_repository_finds_the_workload_that_a_commit_has_made_slower(self):
        self.run_here("git", "clone", "--quiet", ROOT, "repository", status=0)
        changed = self.folder / "repository" / CHANGED
        self.assertIn(BEFORE, changed.read_text())
        changed.write_text(changed.read_text().replace(BEFORE, AFTER))
        self.git("commit", "--quiet", "--all", "-m", "spin before each question")
        # Unoptimised, in large batches, without tests: the whole command is built twice.
        self.build("--build", "cmake --preset quick -DTASKBENCH_BUILD_TESTS=OFF "
                   "-DTASKBENCH_COMPARABLE=ON && cmake --build build/quick --target taskbench "
                   '--parallel "$(nproc)"', "--program", "build/quick/cli/taskbench", "--links",
                   "2")
        self.gate("--max-blocks", "24", "--workload", "ping_pong,chained_spawn", status=1)
        report = json.loads((self.folder / "gate's/gate.json").read_text())
        verdicts = {row["name"].partition("/")[0]: row["verdict"] for row in report["benchmarks"]}
        self.assertEqual(set(verdicts), {"ping_pong", "chained_spawn"})
        self.assertEqual(verdicts["ping_pong"], "FAIL")
        self.assertNotEqual(verdicts["chained_spawn"], "FAIL")
        self.assertEqual(report["blocks"], 24)


if __name__ == "__main__":
    unittest.main(verbosity=2)
