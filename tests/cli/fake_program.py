"""Stand-ins: benchmark programs that are fast, slow, noisy or broken; perf; valgrind; gnuplot."""

import os
import sys
from pathlib import Path

# Interprets our files as Google Benchmark programs: the system starts it because of `#!`. Each
# benchmark takes its given time, multiplied by a factor that depends on the file's name and on how
# often it ran before. A Python part may follow; it makes each process 20 times as slow to start, so
# what does not change from run to run is said in lines of `Script` in benchmark_stand_in.cpp.
STAND_IN = Path(os.environ["TASKBENCH_BINARY"]).resolve().parents[1] / "tests/benchmark_stand_in"

# The Python part. `times` are in ns, by name; the other variables are fields of `Script` in
# benchmark_stand_in.cpp, which continues with them.
BODY = """python
#!{python}
import os, sys, time
stand_in, __file__ = sys.argv[1:3]
del sys.argv[1:3]
times = dict(part.split("=") for part in {times!r}.split())
burnt, waits, cut, counters = 1, 0, (), {{}}
flags = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
{body}
lines = [f"time {{name}}={{ns}}" for name, ns in times.items()]
lines += [f"cut {{name}}" for name in cut]
lines += [f"counter {{name}}={{value}}" for name, value in counters.items()]
lines += ["noise {noise}", "takes {takes_s}", f"burnt {{burnt}}", f"waits {{waits}}"]
os.environ["BENCHMARK_STAND_IN"] = "\\n".join(lines)
os.execv(stand_in, [stand_in, __file__, *sys.argv[1:]])
"""


def fake_benchmark(times, noise=0.002, body="", lists_by_filter=False, takes_s=0, more=()):
    """A program with the benchmarks `times`, as "NAME=NS NAME=NS", and the lines `more`. Before it
    measures, it runs `body`, Python that may change its variables, in place of `more`. A process
    sleeps `takes_s` for each benchmark that it measures, so that a budget determines the number of
    processes however fast the machine is."""
    lines = [f"#!{STAND_IN}", f"noise {noise}", f"takes {takes_s}", *more]
    lines += [f"time {part}" for part in times.split()]
    lines += ["lists_by_filter"] if lists_by_filter else []
    python = BODY.format(
        python=sys.executable, times=times, noise=noise, takes_s=takes_s, body=body)
    return "\n".join(lines) + "\n" + (python if body else "")


# A stand-in for gnuplot, so that faults occur reliably. It draws what it is asked for.
DRAWS = """#!{python} -IS
import sys
name = sys.argv[-1].removesuffix(".gp")
assert open(name + ".dat").read().startswith("# index 0")
{body}
open(name + ".svg", "w").write('<svg viewBox="0 0 9 9"><path d="M0,0 L9,9"/></svg>')
open(name + ".png", "wb").write(b"PNG" + b"IEND\\xaeB`\\x82")
"""

# A line of a stand-in that announces its start, and then never ends.
HANGS = "open({marker!r}, 'w').close(); import time; time.sleep(600)"


# A perf that understands the command line of the real one and answers on the pipes, so that the
# program under it switches counters and samples on and off as with the real one. `stat` prints what
# the test says: `lines` are line templates by event; `script` prints `script`, and `evlist` prints
# `recorded`. `body` runs before it measures. It needs no modules that take longer to import than
# all the rest does, as subprocess and threading do: the tests start a thousand.
PERF = r"""#!{python} -IS
import _signal, _thread, os, sys, time
arguments = sys.argv[1:]
def answer(command, text):
    if arguments[0] == command:
        sys.stdout.write(text)
        sys.exit()
answer("--version", {version!r} + "\n")
with open({log!r}, "a") as log:
    log.write(" ".join(arguments) + "\n")
answer("evlist", {recorded!r} + "\n")
answer("script", {script!r})
split = arguments.index("--")
options, command = arguments[1:split], arguments[split + 1:]
def all_of(name):
    return [options[i + 1] for i, word in enumerate(options) if word == name]
events, out, control = all_of("-e"), all_of("-o")[0], all_of("--control")
measuring = command[0] != "true"
def start(words):
    at_default = (_signal.SIGPIPE, _signal.SIGXFSZ)  # Python ignores them
    return os.posix_spawnp(words[0], words, os.environ, setsigdef=at_default)
def end_of(process):
    status = os.waitpid(process, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
def hang_up():
    commands, answers = control[0][5:].split(",")
    listening = os.open(commands, os.O_RDWR)
    child = start(command)
    os.read(listening, 7)
    os.close(os.open(answers, os.O_WRONLY))
    sys.exit(end_of(child))
{body}
heard = b""
if control:
    commands, answers = (os.open(p, os.O_RDWR) for p in control[0][5:].split(","))
    def serve():
        global heard
        while True:
            heard += os.read(commands, 100)
            os.write(answers, {ack!r})
    _thread.start_new_thread(serve, ())
status = end_of(start(command))
if arguments[0] == "stat":
    with open(out, "w") as file:
        file.write("# started on Sat Nov 21 11:36:10 2026\n\n")
        for event in sum((e[1:-1].split(",") if e[0] == "{{" else [e] for e in events), []):
            for line in {lines!r}.get(event, {default!r}).splitlines():
                file.write(line.replace("EVENT", event) + "\n")
    if measuring and heard != b"enable\ndisable\n":
        sys.exit("the counters were not switched: %r" % heard)
sys.stdout.flush()
os._exit(status)
"""

# A line of `perf stat -j` for an event.
COUNT = (
    '{"counter-value" : "1000.000000", "unit" : "", "event" : "EVENT", "event-runtime" : 5, '
    '"pcnt-running" : 100.00, "metric-value" : "0.1", "metric-unit" : "K/sec"}'
)

# Two samples, as `perf script` prints them.
STACKS = (
    "taskbench-wor-1 12 \n\t  18d408 taskbench::rt::task::poll\n\t  1098eb clone3\n\n"
    "taskbench-wor-0 11 \n\t  18d408 taskbench::rt::task::poll\n\t  1098eb clone3\n\n"
)


def put_on_path(folder, name, text):
    """Makes `text` a program in `folder`; returns the PATH that finds it."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def fake_perf(folder, **parts):
    """A perf that logs each call in perf.log, beside `folder`."""
    return put_on_path(folder, "perf", PERF.format(**{
        "python": sys.executable, "log": str(folder.parent / "perf.log"), "body": "", "lines": {},
        "default": COUNT, "version": "perf version 6.8.12", "ack": b"ack\n\x00",
        "script": STACKS, "recorded": "cycles:P", **parts}))


def fake_gnuplot(folder, body=""):
    """A gnuplot that first does `body`, in which `name` is the plot's name."""
    return put_on_path(folder, "gnuplot", DRAWS.format(python=sys.executable, body=body))


def fake_valgrind(folder, body):
    """A valgrind that does `body`, in which `out` is the output file given to callgrind."""
    return put_on_path(
        folder, "valgrind",
        f"#!{sys.executable} -IS\nimport os, sys, time\n"
        "out = next(w for w in sys.argv if w.startswith('--callgrind-out-file='))[21:]\n"
        f"{body}\n")
