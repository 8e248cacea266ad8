"""Stand-ins: a benchmark program that is fast, slow, noisy or broken; valgrind; gnuplot."""

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
flags = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
if flags.get("benchmark_list_tests") == "true":
    print("\\n".join(times))
    sys.exit()
if "--version" in sys.argv:
    sys.exit("unrecognized command-line flag: --version")
{body}
def uniform():  # SplitMix64
    global drawn
    drawn = (drawn + 0x9E3779B97F4A7C15) % 2**64
    mixed = (drawn ^ drawn >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
    return (mixed ^ mixed >> 31) / 2**64
rows = []
for name, ns in times.items():
    real = float(ns) * math.exp({noise} * (sum(uniform() for _ in range(12)) - 6))
    for index in range(int(flags["benchmark_repetitions"])):
        rows.append(
            f'{{{{"name": "{{name}}", "run_name": "{{name}}", "run_type": "iteration",'
            f' "repetition_index": {{index}}, "iterations": 10, "real_time": {{real}},'
            f' "cpu_time": {{float(ns) * burnt}}, "time_unit": "ns"}}}}')
result = '{{"context": {{"json_schema_version": 1}}, "benchmarks": [' + ", ".join(rows) + "]}}"
with open(flags["benchmark_out"], "w") as out:
    out.write(result)
"""

# In place of gnuplot, so that faults are not a matter of luck. It draws what it is asked for.
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


def fake_gnuplot(folder, body=""):
    """Puts a gnuplot into `folder` that does `body` first; returns the PATH that finds it.

    In `body`, `name` is the plot's.
    """
    folder.mkdir(exist_ok=True)
    program = folder / "gnuplot"
    program.write_text(DRAWS.format(python=sys.executable, body=body), encoding="utf-8")
    program.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def fake_valgrind(folder, body):
    """Puts a valgrind into `folder` and returns the PATH that finds it.

    In `body`, `out` is the file that callgrind is told to write.
    """
    folder.mkdir(exist_ok=True)
    text = (
        f"#!{sys.executable} -IS\nimport os, sys, time\n"
        "out = next(w for w in sys.argv if w.startswith('--callgrind-out-file='))[21:]\n"
        f"{body}\n"
    )
    (folder / "valgrind").write_text(text, encoding="utf-8")
    (folder / "valgrind").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"
