"""Stand-ins: a benchmark program that is fast, slow, noisy or broken; perf; valgrind; gnuplot."""

import os
import sys

# Speaks Google Benchmark's flags. Its times are made up: NAME=NS for each benchmark, times a factor
# that its path's last part and how often it was run before decide: normal by the central limit, the
# sum of twelve uniform values. There are hundreds of these processes: the interpreter looks for no
# packages, and json and random alone would take as long as everything else.
FAKE = """#!{python} -IS
import math, os, sys, time
with open(__file__ + ".runs", "a+") as runs:
    runs.write(".")
    drawn = int.from_bytes(f"{{os.path.basename(__file__)}} {{runs.tell()}}".encode(), "big")
times = dict(part.split("=") for part in {times!r}.split())
burnt = 1  # CPU time for a unit of wall time
waits = 0  # repetitions that wait for 3 ms besides
cut = ()  # benchmarks whose number of iterations was chosen while the process had no CPU
flags = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
if flags.get("benchmark_list_tests") == "true":
    print("\\n".join(times))
    sys.exit()
if "--version" in sys.argv:
    sys.exit("unrecognized command-line flag: --version")
{body}
if flags.get("benchmark_filter", "").endswith(")$"):  # names, not what they begin with
    wanted = flags["benchmark_filter"][2:-2].replace(chr(92), "").split("|")
    times = {{name: ns for name, ns in times.items() if name in wanted}}
def uniform():  # SplitMix64
    global drawn
    drawn = (drawn + 0x9E3779B97F4A7C15) % 2**64
    mixed = (drawn ^ drawn >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return (mixed ^ mixed >> 31) / 2**64
rows = []
for name, ns in times.items():
    real = float(ns) * math.exp({noise} * (sum(uniform() for _ in range(12)) - 6))
    iterations = 1 + int(1e9 * float(flags["benchmark_min_time"]) / float(ns))
    if name in cut:
        iterations, real = 1, 50 * real
    for index in range(int(flags["benchmark_repetitions"])):
        waited = 3e6 / iterations if index < waits else 0
        rows.append(
            f'{{{{"name": "{{name}}", "run_name": "{{name}}", "run_type": "iteration",'
            f' "repetition_index": {{index}}, "iterations": {{iterations}},'
            f' "real_time": {{real + waited}},'
            f' "cpu_time": {{float(ns) * burnt}}, "time_unit": "ns"}}}}')
result = '{{"context": {{"json_schema_version": 1}}, "benchmarks": [' + ", ".join(rows) + "]}}"
with open(flags["benchmark_out"], "w") as out:
    out.write(result)
"""


def fake_benchmark(times, noise=0.002, body=""):
    return FAKE.format(python=sys.executable, times=times, noise=noise, body=body)


# A stand-in for gnuplot, so that faults are not a matter of luck. It draws what it is asked for.
DRAWS = """#!{python} -IS
import sys
name = sys.argv[-1].removesuffix(".gp")
assert open(name + ".dat").read().startswith("# index 0")
{body}
open(name + ".svg", "w").write('<svg viewBox="0 0 9 9"><path d="M0,0 L9,9"/></svg>')
open(name + ".png", "wb").write(b"PNG" + b"IEND\\xaeB`\\x82")
"""

# A line of a stand-in that says that it has begun, and never ends.
HANGS = "open({marker!r}, 'w').close(); import time; time.sleep(600)"


# A perf that understands the command line of the real one, and answers on the pipes, so that the
# program under it switches counters and samples on and off as with the real one. `stat` prints what
# the test says: `lines` are templates of a line each, by event; `script` prints `script`, and
# `evlist` `recorded`. `body` is run before it measures.
PERF = r"""#!{python} -IS
import os, signal, subprocess, sys, threading, time
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
def hang_up():
    commands, answers = control[0][5:].split(",")
    listening = os.open(commands, os.O_RDWR)
    child = subprocess.Popen(command)
    os.read(listening, 7)
    os.close(os.open(answers, os.O_WRONLY))
    sys.exit(child.wait())
{body}
heard = b""
if control:
    commands, answers = (os.open(p, os.O_RDWR) for p in control[0][5:].split(","))
    def serve():
        global heard
        while True:
            heard += os.read(commands, 100)
            os.write(answers, {ack!r})
    threading.Thread(target=serve, daemon=True).start()
status = subprocess.call(command)
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

# What `perf stat -j` prints of an event.
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
    """A perf that notes each call in perf.log, beside `folder`."""
    return put_on_path(folder, "perf", PERF.format(**{
        "python": sys.executable, "log": str(folder.parent / "perf.log"), "body": "", "lines": {},
        "default": COUNT, "version": "perf version 6.8.12", "ack": b"ack\n\x00",
        "script": STACKS, "recorded": "cycles:P", **parts}))


def fake_gnuplot(folder, body=""):
    """A gnuplot that first does `body`, in which `name` is the plot's."""
    return put_on_path(folder, "gnuplot", DRAWS.format(python=sys.executable, body=body))


def fake_valgrind(folder, body):
    """A valgrind that does `body`, in which `out` is the file that callgrind is told to write."""
    return put_on_path(
        folder, "valgrind",
        f"#!{sys.executable} -IS\nimport os, sys, time\n"
        "out = next(w for w in sys.argv if w.startswith('--callgrind-out-file='))[21:]\n"
        f"{body}\n")
