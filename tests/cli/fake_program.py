"""Stand-ins: a benchmark program that is fast, slow, noisy or broken; valgrind; gnuplot."""

import os
import sys

# Speaks Google Benchmark's flags. Its times are made up: NAME=NS for each benchmark, times a factor
# that is drawn anew for each process, by its path's last part and by how often it was run before.
# The interpreter looks for no packages: there are hundreds of these processes.
FAKE = """#!{python} -IS
import json, math, os, random, sys, time
with open(__file__ + ".runs", "a+") as runs:
    runs.write(".")
    random.seed(f"{{os.path.basename(__file__)}} {{runs.tell()}}")
times = dict(part.split("=") for part in {times!r}.split())
flags = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
if flags.get("benchmark_list_tests") == "true":
    print("\\n".join(times))
    sys.exit()
if "--version" in sys.argv:
    sys.exit("unrecognized command-line flag: --version")
{body}
rows = []
for name, ns in times.items():
    factor = math.exp(random.gauss(0, {noise}))
    for index in range(int(flags["benchmark_repetitions"])):
        rows.append({{
            "name": name, "run_name": name, "run_type": "iteration", "repetition_index": index,
            "iterations": 10, "real_time": float(ns) * factor, "cpu_time": float(ns),
            "time_unit": "ns",
        }})
with open(flags["benchmark_out"], "w") as out:
    json.dump({{"context": {{"json_schema_version": 1}}, "benchmarks": rows}}, out)
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
