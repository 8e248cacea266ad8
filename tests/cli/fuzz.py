#!/usr/bin/env python3
"""Gives the command unlikely input: options with odd values in odd combinations, and damaged
result, journal, baseline and noise files. In every case, it must end in time with a documented exit
status, without a signal or an internal error, with a message that names what was wrong, and leave
no temporary file and no process behind.

  TASKBENCH_BINARY=build/dev/cli/taskbench tests/cli/fuzz.py --cases 20000
  ... tests/cli/fuzz.py --seed SEED --only CASE    repeats one case, and prints the answer
"""

import argparse
import ctypes
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from taskbench_command import BINARY, environment, signals_at_default

DOCUMENTED = {0, 1, 2, 3, 4, 5, 130}
READ_LIMIT_S = 20  # for commands that only read; builds with sanitizers are slow
STOP_LIMIT_S = 15
FAULTS = (
    "internal error", "terminate called", "Assertion", "Sanitizer", "runtime error:", "what():",
)
PR_SET_CHILD_SUBREAPER = 36

# A program that understands Google Benchmark's flags and takes no time.
PROGRAM = r"""#!/bin/sh
for word in "$@"; do
  case $word in
    --version) echo other; exit ;;
    --benchmark_list_tests*) echo alpha; echo beta/8; exit ;;
    --benchmark_out=*) out=${word#*=} ;;
  esac
done
rows=
for name in alpha beta/8; do
  for i in 0 1; do
    rows="$rows${rows:+,}{\"name\":\"$name\",\"run_name\":\"$name\",\"run_type\":\"iteration\",
      \"repetitions\":2,\"repetition_index\":$i,\"iterations\":10,\"real_time\":1$i.$$,
      \"cpu_time\":1$i.5,\"time_unit\":\"us\"}"
  done
done
echo "{\"context\":{\"num_cpus\":2},\"benchmarks\":[$rows]}" >"$out"
# """

NUMBERS = (
    "0", "-0", "-1", "1", "2", "3.5", "1e308", "-1e308", "1e999", "1e-320", "4294967296",
    "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616",
    "1" * 400, "0.1", "NaN",
)
TEXTS = (
    "", " ", "x", "../..", "/", "a/b", "\u001b[31m\u001b]0;t\u0007", "a\nb", "|`<b>*", "%s%n",
    "\u202e", "\U0001f600", "x" * 5000, "1970-01-01T00:00:00+00:00", "9999-99-99", "null",
)


# --- damage to files


def odd_json(rng):
    """Returns a value as JSON text, which may be invalid."""
    return rng.choice((
        lambda: rng.choice(NUMBERS),
        lambda: json.dumps(rng.choice(TEXTS)),
        lambda: rng.choice(("null", "true", "false", "[]", "{}", "[[]]", '{"":{}}', "")),
        lambda: "[" * 100000,
        lambda: "[" * 3000 + "]" * 3000,
        lambda: '{"a":' * 2000 + "1" + "}" * 2000,
        lambda: "[" + ",".join(["1"] * 50000) + "]",
        lambda: '"\\ud800"',
    ))()


def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from places(each, (*path, key))
    elif isinstance(value, list):
        for i, each in enumerate(value):
            yield from places(each, (*path, i))


def structural(rng, text):
    """Changes one value of a JSON document, or of one line of a journal."""
    lines = text.split("\n")
    whole = text.lstrip().startswith("{\n") or len([line for line in lines if line]) == 1
    at = 0 if whole else rng.randrange(max(1, len(lines) - 1))
    try:
        document = json.loads(text if whole else lines[at])
    except ValueError:
        return text
    every = list(places(document))
    path = rng.choice(every)
    marker = "@MARK@"
    if not path:
        changed = odd_json(rng)
    else:
        holder = document
        for step in path[:-1]:
            holder = holder[step]
        kind = rng.randrange(6)
        if kind == 0 and isinstance(holder, dict):
            del holder[path[-1]]
        elif kind == 1 and isinstance(holder, list):
            holder.extend([holder[path[-1]]] * rng.choice((1, 2, 5000)))
        elif kind == 2 and isinstance(holder, dict):
            holder[rng.choice(TEXTS)] = holder.pop(path[-1])
        else:
            holder[path[-1]] = marker
        changed = json.dumps(document).replace(json.dumps(marker), odd_json(rng))
    if whole:
        return changed
    lines[at] = changed
    return "\n".join(lines)


def bytewise(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice((1, 4, 100, 5000)))
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            del data[at:end]
        elif kind == 3:
            data[at:at] = data[at:end]
        elif kind == 4:
            odd = (b"\xff\xfe", b"\x00", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r\n")
            data[at:at] = rng.choice(odd)
        else:
            numbers = [m.span() for m in re.finditer(rb"-?\d+(\.\d+)?", bytes(data[:200000]))]
            if numbers:
                first, last = rng.choice(numbers)
                data[first:last] = rng.choice(NUMBERS).encode()
    return bytes(data)


def damaged(rng, data):
    if rng.random() < 0.6:
        return structural(rng, data.decode()).encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:
        return rng.choice((b"", b"\n", b"null", b"[]", b"\x00" * 100000, b"PK\x03\x04"))
    return bytewise(rng, data)


# --- input


class Case:
    """The words to call the command with, in a folder of its own that holds copies of the
    samples."""

    def __init__(self, words, names, measures=False):
        self.words = words
        self.names = names  # the message of a refusal must contain one of them
        self.measures = measures  # may take long, and must then end on ^C


def file_cases(rng, folder):
    """Returns a command that reads a damaged file."""
    store, noise = folder / "store", next((folder / "store").glob("*.noise.json"))
    baselines = [path for path in store.rglob("*.json") if path != noise]
    two = ("--base", "./p1", "--head", "./p2", "--store", "store")
    quick = ("--max-blocks", "1", "--budget", "1s", "--journal", "new.journal", "--store", "store")
    out = ("--json", "out.json", "--markdown", "out.md")
    stored = ("--store", "store")
    file, words = rng.choice((
        ("result.json", ("compare", "result.json", "other.json")),
        ("other.json", ("compare", "result.json", "other.json", "--format", "markdown")),
        ("other.json", ("compare", "--base", "result.json", "--head", "other.json")),
        ("result.json", ("report", "result.json", "--out", "out")),
        ("other.json", ("report", "result.json", "other.json", "--out", "out")),
        ("ab.json", ("report", "ab.json", "--out", "out")),
        ("ab.json", ("compare", "ab.json", "result.json")),
        ("ab.journal", ("ab", "--resume", "--journal", "ab.journal", *out)),
        ("ab.journal", ("ab", *two, "--journal", "ab.journal", *out, "--max-blocks", "1")),
        ("ab.journal", ("gate", *two, "--resume", "--journal", "ab.journal", *out)),
        ("cal/001.journal", ("calibrate", "./p1", "./p2", "--trust-me", "--resume", "--journal",
                             "cal", "--trials", "6", "--blocks", "2", "--store", "new-store")),
        (noise, ("ab", "--base", "./p1", "--head", "./p2", *quick, *out)),
        (rng.choice(baselines), ("baseline", "list", *stored)),
        (rng.choice(baselines), ("baseline", "list", *stored, "--format", "json")),
        (rng.choice(baselines), ("baseline", "show", "b", *stored)),
        (rng.choice(baselines), ("baseline", "promote", "b", *stored)),
        (rng.choice(baselines), ("baseline", "rm", "b", *stored)),
        (rng.choice(baselines), ("baseline", "compare", "b", *stored, "--processes", "1", *out)),
        (rng.choice(baselines), ("gate", "--baseline", "b", *stored, *out)),
        ("save.journal", ("baseline", "save", "--resume", "--journal", "save.journal", *stored)),
        ("cmp.journal", ("baseline", "compare", "b", "--resume", "--journal", "cmp.journal",
                         *stored, *out)),
    ))
    path = folder / file
    path.write_bytes(damaged(rng, path.read_bytes()))
    # "b": if the file's name does not identify the baseline, the message names it.
    return Case(words, (path.name, path.parent.name + "/", "'b'", "./p1", "journal"),
                measures=words[0] in ("ab", "gate", "calibrate") or words[1] in ("compare", "save"))


def odd_value(rng):
    return rng.choice((
        lambda: rng.choice(NUMBERS), lambda: rng.choice(TEXTS[1:]),
        lambda: rng.choice(("(" * 20000, "(a*)*" * 50, "[", "a{999}{999}{999}", "\\", "\\C")),
        lambda: ",".join(rng.choices(("1", "2", "work_stealing", "current_thread", ""), k=3)),
        lambda: ",".join(map(str, range(1, 4097))),
        lambda: rng.choice(("1ms", "100us", "1h", "1e3s", "-1s", "5 %", "1%", "inf")),
        lambda: rng.choice(("tasks=1", "tasks=", "=", "length=10", "ping_pong.pairs=1", "x.y.z=1")),
        lambda: rng.choice((".", "/dev/null", "/dev/full", "no/such", "result.json", "p1")),
        lambda: rng.choice(("--quiet", "-", "--", "-x", "--json")),
        lambda: "x" * 100000,
    ))()


def option_cases(rng, commands):
    """Returns a command with some of its options, some of them with odd values."""
    words, options = rng.choice(commands)
    given = list(words)
    if words in (["run"], ["trace"], ["profile"]):
        given += [rng.choice(("ping_pong", "chained_spawn", "yield_many", "ping_pnog"))]
    cheap = {"--repetitions": "1", "--min-time": "100us", "--workers": "1", "--out": "out",
             "--max-blocks": "1", "--budget": "1s", "--base": "./p1", "--head": "./p2",
             "--duration": "10ms", "--processes": "7", "--store": "store",
             "--journal": "new.journal"}
    used = [name for name in options if name in cheap or rng.random() < 0.15]
    odd = set(rng.sample(used, min(len(used), rng.choice((0, 1, 1, 2))))) if used else set()
    for name in rng.sample(used, len(used)):
        if options[name] is None:
            given += [name]
        elif name in odd or name not in cheap:
            given += rng.choice(([name, odd_value(rng)], [f"{name}={odd_value(rng)}"]))
        else:
            given += [name, cheap[name]]
    if rng.random() < 0.15:
        given.insert(rng.randrange(len(words), len(given) + 1), odd_value(rng))
    names = ["taskbench COMMAND"]
    for word in given:
        names += [part[:40] for part in (word, *word.split("=", 1)) if part.strip()]
        if not word.isprintable():  # unprintable characters are shown like this
            names += ["\ufffd"]
    return Case([word.replace("\0", "") for word in given], names, measures=True)


# --- what must hold for every answer


def children():
    with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children", encoding="ascii") as file:
        return file.read().split()


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def left_behind(folder):
    end = time.monotonic() + 2  # a process killed with its parent takes a moment to disappear
    while True:
        reap()
        processes = children()
        if not processes or time.monotonic() > end:
            break
        time.sleep(0.01)
    for process in processes:
        os.kill(int(process), signal.SIGKILL)
    found = [f"process {process}" for process in processes]
    found += [str(path) for path in (folder / "tmp").iterdir()]
    found += [str(path) for path in folder.rglob("*.tmp")]
    return found


class Answer:
    def __init__(self, case, folder):
        command = [BINARY, *case.words]
        started = time.monotonic()
        self.late = False
        self.interrupted = False
        with subprocess.Popen(
            command, cwd=folder, env=environment(TMPDIR=str(folder / "tmp")),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=signals_at_default,
        ) as process:
            try:
                limit = 1 if case.measures else READ_LIMIT_S
                self.out, self.errors = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                self.late = not case.measures
                self.interrupted = True
                process.send_signal(signal.SIGINT)
                try:
                    self.out, self.errors = process.communicate(timeout=STOP_LIMIT_S)
                except subprocess.TimeoutExpired:
                    self.late = True
                    process.kill()
                    self.out, self.errors = process.communicate()
        self.status = process.returncode
        if self.interrupted and self.status == -signal.SIGINT:
            self.status = 130  # it had begun nothing, and does not catch the signal yet
        self.elapsed_s = time.monotonic() - started

    def faults(self, case):
        if self.late:
            yield f"took longer than {self.elapsed_s:.1f} s"
        if self.status not in DOCUMENTED:
            yield f"exit status {self.status}"
        for fault in FAULTS:
            if fault in self.errors.decode("utf-8", "replace"):
                yield f"said '{fault}'"
        for name, data in (("output", self.out), ("errors", self.errors)):
            try:
                control = re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", data.decode("utf-8"))
            except UnicodeDecodeError:
                yield f"its {name} is not UTF-8"
                continue
            if control:
                yield f"its {name} has the control character {control.group()!r}"
        if self.status in (2, 5):
            lines = self.errors.decode("utf-8", "replace").splitlines()
            said = [line for line in lines if line.startswith("taskbench: error: ")]
            if not said:
                yield "no error was said"
            elif len(said[0]) > 4000:
                yield f"a message of {len(said[0])} characters"
            elif self.status == 2 and not any(name in "\n".join(lines) for name in case.names):
                yield f"the message names none of {sorted(set(case.names))[:20]}"


# The options that `run` has for a --program, and the first of them for nothing else.
OF_PROGRAMS = ("--workload", "--processes", "--kind", "--filter", "--repetitions", "--min-time",
               "--seed", "--timeout", "--format", "--json", "--json-flat", "--report", "--quiet")
ONLY_OF_PROGRAMS = ("--program", *OF_PROGRAMS[:3])


def describe_commands():
    """Returns each command with its options, which map to the label of their value, or None."""
    found = []
    for words in ([], ["run"], ["run", "--program", "./p1"], ["ab"], ["gate"],
                  ["calibrate", "./p1", "./p2", "--trust-me"], ["compare"],
                  ["report", "result.json"], ["profile"], ["trace"], ["list"], ["completion"],
                  ["help"], ["baseline"], ["baseline", "save"], ["baseline", "compare"],
                  ["baseline", "list"], ["baseline", "show"], ["baseline", "rm"]):
        path = [word for word in words if word.isalpha()]
        text = subprocess.run([BINARY, *path, "--help"], capture_output=True, check=True,
                              encoding="utf-8", env=environment()).stdout
        options = {m.group(1): m.group(2)
                   for m in re.finditer(r"(?m)^  (--[a-z-]+)(?: ([A-Zi]\S*))?(?:  |$)", text)}
        options.pop("--help", None)
        if words[:1] == ["run"]:
            options = {name: label for name, label in options.items()
                       if (name in OF_PROGRAMS if words[1:] else name not in ONLY_OF_PROGRAMS)}
        found.append((words, options))
    return found


def make_samples(folder):
    def call(*words, statuses=(0,)):
        result = subprocess.run([BINARY, *words], cwd=folder, capture_output=True, check=False,
                                env=environment(TMPDIR=str(folder)), encoding="utf-8")
        if result.returncode not in statuses:
            sys.exit(f"taskbench {shlex.join(words)} exited with {result.returncode}:\n"
                     f"{result.stdout}{result.stderr}")

    for name in ("p1", "p2"):
        (folder / name).write_text(PROGRAM + name + "\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    small = ("chained_spawn", "--param", "length=10", "--min-time", "100us", "--workers", "1")
    for name in ("result.json", "other.json"):
        call("run", *small, "--repetitions", "3", "--json", name, "--quiet")
    store = ("--store", "store")
    call("ab", "--base", "./p1", "--head", "./p2", "--max-blocks", "2", "--journal", "ab.journal",
         "--json", "ab.json", statuses=(3,))
    call("calibrate", "./p1", "./p2", "--trust-me", "--allow-busy", "--trials", "6",
         "--blocks", "2", "--journal", "cal", *store)
    call("baseline", "save", "b", "--allow-busy", "--program", "./p1", "--processes", "7", *store)
    # Journals of both baseline commands, as if the last process had not ended.
    endless = ("baseline", "save", "c", "--program", "./p1", "--processes", "300")
    with subprocess.Popen(
        [BINARY, *endless, "--journal", "save.journal", *store], cwd=folder, env=environment(),
        preexec_fn=signals_at_default, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:
        end = time.monotonic() + 30
        while not (folder / "save.journal").exists() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
    # Any outcome will do: beside other tests, the machine is not as it was at the save.
    call("baseline", "compare", "b", *store, "--processes", "1", "--journal", "cmp.journal",
         statuses=(0, 1, 3, 4))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seconds", type=float, help="end after so long, whatever --cases says")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="default: drawn")
    parser.add_argument("--only", type=int, help="run this one case, and show it")
    given = parser.parse_args()
    print(f"fuzz: --seed {given.seed} --cases {given.cases}", flush=True)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # adopts orphans
    work = Path(tempfile.mkdtemp(prefix="taskbench-fuzz-"))
    failures = 0
    done = 0
    try:
        samples = work / "samples"
        samples.mkdir()
        make_samples(samples)
        commands = describe_commands()
        end = time.monotonic() + (given.seconds or float("inf"))
        for number in range(given.cases) if given.only is None else (given.only,):
            if time.monotonic() > end:
                break
            rng = random.Random(f"{given.seed} {number}")
            folder = work / "case"
            shutil.copytree(samples, folder)
            (folder / "tmp").mkdir()
            case = option_cases(rng, commands) if rng.random() < 0.4 else file_cases(rng, folder)
            answer = Answer(case, folder)
            faults = [*answer.faults(case), *(f"left behind: {x}" for x in left_behind(folder))]
            done += 1
            if faults or given.only is not None:
                failures += bool(faults)
                shown = [word if len(word) < 100 else word[:100] + "…" for word in case.words]
                print(f"--- --seed {given.seed} --only {number}: {'; '.join(faults) or 'good'}\n"
                      f"taskbench {shlex.join(shown)}\n"
                      f"exit status {answer.status} after {answer.elapsed_s:.2f} s\n"
                      f"{answer.out[-1500:].decode('utf-8', 'replace')}\n"
                      f"{answer.errors[-3000:].decode('utf-8', 'replace')}", flush=True)
            if given.only is not None:
                print(f"its folder is kept: {folder}")
                return 1 if faults else 0
            shutil.rmtree(folder)
    finally:
        if given.only is None:
            shutil.rmtree(work, ignore_errors=True)
    print(f"fuzz: {done} cases, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
