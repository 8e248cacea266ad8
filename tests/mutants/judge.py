"""Judges planted mutants: by the models that reach them, then by the tests, then by the storms;
lock guards are also judged by the compiler."""

import json
import os
import re
import resource
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import thread_safety
from planted_build import TARGETS

# Tests that together need less than this run first, in one process; the others follow.
QUICK_S = 0.3
# Limits of CPU and wall-clock time for a process: a multiple of what its tests took without a
# mutant, plus some seconds.
CPU_TIMES, CPU_MORE_S = 10, 10
CLOCK_TIMES, CLOCK_MORE_S = 8, 25
MEMORY_BYTES = 6 << 30
STORM_SECONDS = 14  # for all storms together, a second each
# Tests with real threads can also fail by chance on a busy machine: such a failure counts only if
# one of this many further runs fails as well.
REPEATS = 3
MODELS = ("taskbench_runtime_models", "taskbench_pool_models")
STORMS = "taskbench_stress"
# Tests of programs that abort take long, and no mutants are planted in assertions.
NOT_RUN = {"taskbench_runtime_tests": "*DeathTest*"}


class Judge:
    def __init__(self, build, within_s=None):
        self.build = build
        self.within_s = within_s  # of each program, only tests that take this long together
        self.tests = {}  # by program: a list of (name, seconds, numbers reached)
        self.kills = {}
        self.lock = threading.Lock()

    # Mutants reached by each test.

    def record(self):
        """Runs everything once without a mutant, unless that has been done with these programs."""
        for target in TARGETS:
            program = self.build.program(target)
            file = self.build.folder / f"{target}.reached"
            if not file.exists() or file.stat().st_mtime < program.stat().st_mtime:
                partial = file.with_suffix(".partial")
                partial.unlink(missing_ok=True)
                environment = self.environment(target) | {"TASKBENCH_MUTANTS_RECORD": str(partial)}
                with open(self.build.folder / f"{target}.log", "wb") as log:
                    subprocess.run([program, f"--gtest_filter=-{NOT_RUN.get(target, '')}"],
                                   env=environment, stdout=log, stderr=log, check=False)
                partial.rename(file)
            self.tests[target] = [
                (test["test"], max(test["ms"], 1) / 1000, frozenset(test["reached"]))
                for test in map(json.loads, file.read_text(encoding="utf-8").splitlines())
                if not test["failed"]]

    @staticmethod
    def environment(target):
        # Includes models of the schedulers ours is compared with, and bounds that take too long in
        # CI.
        environment = dict(os.environ, MALLOC_PERTURB_="165", TASKBENCH_COMPARED_MODELS="1")
        if target == STORMS:
            environment["TASKBENCH_STRESS_SECONDS"] = str(STORM_SECONDS)
        return environment

    def batches(self, target, number):
        """Returns the program's tests that reach the mutant; those that have killed others or are
        quick come first."""
        reaching = [(name, seconds) for name, seconds, reached in self.tests[target]
                    if number in reached]
        reaching.sort(key=lambda test: test[1] / (1 + self.kills.get(test[0], 0)))
        batch, total, in_all = [], 0.0, 0.0
        limit = QUICK_S
        for name, seconds in reaching:
            in_all += seconds
            if self.within_s is not None and in_all > self.within_s:
                break
            if batch and total + seconds > limit:
                yield batch, total
                batch, total, limit = [], 0.0, limit * 8
            batch.append(name)
            total += seconds
        if batch:
            yield batch, total

    def is_reached(self, number):
        """Whether any test reaches the mutant, however long it takes."""
        return any(number in reached for target in TARGETS for *_, reached in self.tests[target])

    # Judging one mutant.

    def judge(self, mutant):
        """Returns what killed the mutant, by which of the three kinds, and the seconds that this
        took."""
        began = time.monotonic()
        reached = False
        doubt = ""
        for target in TARGETS:
            for batch, seconds in self.batches(target, mutant.number):
                reached = True
                while batch and (said := self.run(target, batch, seconds, mutant.number)):
                    test, why = said
                    if target not in MODELS and not self.fails_again(target, test, batch, seconds,
                                                                     mutant.number):
                        doubt = f"{test} failed once in {REPEATS + 1} runs: {why}"
                        batch = [name for name in batch if name != test] if test in batch else []
                        continue  # with the remaining tests
                    with self.lock:
                        self.kills[test] = self.kills.get(test, 0) + 1
                    by = ("model" if target in MODELS else "storm" if target == STORMS else "test")
                    return {"verdict": "killed", "by": by, "test": test, "why": why,
                            "seconds": round(time.monotonic() - began, 2)}
        if said := thread_safety.refusal(self.build.root, mutant):
            return {"verdict": "killed", "by": "compiler", "test": "", "why": said,
                    "seconds": round(time.monotonic() - began, 2)}
        verdict = "survived" if reached else "not reached"
        if not reached and self.is_reached(mutant.number):
            verdict = "not judged"
            doubt = f"every test that reaches it takes longer than {self.within_s} s"
        return {"verdict": verdict, "by": "", "test": "", "why": doubt,
                "seconds": round(time.monotonic() - began, 2)}

    def fails_again(self, target, test, batch, seconds, number):
        names = [test] if test in batch else batch
        return any(self.run(target, names, seconds, number) for _ in range(REPEATS))

    def run(self, target, names, seconds, number):
        """Returns the test that fails and why, or None."""
        cpu = int(CPU_TIMES * seconds + CPU_MORE_S)
        clock = CLOCK_TIMES * seconds + CLOCK_MORE_S
        if target == STORMS:
            cpu, clock = 1000, 3 * seconds + CLOCK_MORE_S

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))

        with tempfile.TemporaryDirectory(prefix="taskbench-mutants-") as folder:
            # In a file, as an argument is limited to 128 KiB.
            flags = Path(folder) / "flags"
            flags.write_text(f"--gtest_filter={':'.join(names)}\n", encoding="utf-8")
            with open(Path(folder) / "output", "w+b") as output:
                process = subprocess.Popen(
                    [self.build.program(target), "--gtest_fail_fast", f"--gtest_flagfile={flags}"],
                    env=self.environment(target) | {"TASKBENCH_MUTANT": str(number)},
                    stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd=folder,
                    preexec_fn=limit, start_new_session=True)
                try:
                    status = process.wait(timeout=clock)
                except subprocess.TimeoutExpired:
                    status = None
                finally:
                    try:
                        os.killpg(process.pid, 9)
                    except ProcessLookupError:
                        pass
                    process.wait()
                output.seek(0)
                text = output.read(1 << 20).decode(errors="replace")
        if status == 0:
            return None
        return self.said(text, status)

    @staticmethod
    def said(text, status):
        failed = re.search(r"FAILED  \] ([\w/.]+)", text)
        begun = re.findall(r"RUN      \] ([\w/.]+)", text)
        test = failed.group(1) if failed else begun[-1] if begun else "(before the first test)"
        if status is None or status in (-24, -9):
            return test, "time-out"
        why = re.search(r"Expected: false\n(.*)", text)
        if why:
            return test, why.group(1).split(", at ")[0].split(";")[0][:70]
        if status < 0:
            return test, f"ended by signal {-status}"
        return test, "failed"


class Results:
    """The verdicts so far, one line of JSON each, so that a killed run can be resumed."""

    def __init__(self, path):
        self.path = path
        self.all = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    result = json.loads(line)
                except ValueError:  # the run was killed while writing
                    continue
                self.all[result["name"]] = result
        self.lock = threading.Lock()

    def add(self, name, result):
        with self.lock:
            self.all[name] = {"name": name, **result}
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(self.all[name], ensure_ascii=False) + "\n")


def judge_all(judge, results, mutants, jobs, tell):
    with ThreadPoolExecutor(jobs) as pool:
        def one(mutant):
            result = judge.judge(mutant)
            results.add(mutant.name, result)
            tell(mutant, result)
        list(pool.map(one, mutants))
