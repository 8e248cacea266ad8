#!/usr/bin/env python3
"""`taskbench trace`: a file that trace viewers accept, a summary, and what is refused."""

import json
import re
import signal

from taskbench_command import CommandTest, main
from terminal_session import TerminalTest

# The phases of the Trace Event Format that are used, and their keys beyond the common ones.
NEEDED = {
    "M": {"args"},
    "X": {"ts", "dur", "cat", "args"},
    "i": {"ts", "s", "cat", "args"},
    "s": {"ts", "id", "cat"},
    "f": {"ts", "id", "cat", "bp"},
}
COMMON = {"ph", "pid", "tid", "name"}
ENDS = {"finished", "idle", "yielded", "woken"}
# Times are decimal fractions with three digits; binary sums of them are off by less than this.
HALF_NS = 0.0005


class TraceTest(CommandTest):
    def parameters(self, workload):
        """Returns options that make an iteration of this workload short."""
        def most(row):  # their time grows faster than the value
            return row["default"] if row["name"] in ("n", "depth") else row["max"]
        rows = [row for row in self.listed("parameters") if row["workload"] == workload]
        return " ".join(f"--param {row['name']}={max(row['min'], min(most(row), 20))}"
                        for row in rows)

    def trace(self, workload, options=""):
        result = self.taskbench(
            f"trace {workload} {self.parameters(workload)} {options} --out t.json")
        return result, self.load("t.json")

    def check_format(self, document):
        """Checks the rules of the format, and those by which viewers nest slices and draw
        arrows."""
        self.assertEqual(set(document), {"displayTimeUnit", "otherData", "traceEvents"})
        self.assertEqual(document["displayTimeUnit"], "ns")
        named, latest, open_slices, arrows = set(), 0, {}, {}
        for event in document["traceEvents"]:
            phase = event["ph"]
            self.assertIn(phase, NEEDED, event)
            self.assertEqual(set(event), COMMON | NEEDED[phase], event)
            self.assertIsInstance(event["pid"], int)
            self.assertIsInstance(event["tid"], int)
            if phase == "M":
                named.add((event["name"], event["tid"]))
                continue
            self.assertIn(("thread_name", event["tid"]), named, "a row without a name")
            self.assertGreaterEqual(event["ts"], latest, "not sorted")
            latest = event["ts"]
            if phase == "X":
                self.check_nesting(open_slices.setdefault(event["tid"], []), event)
            elif phase == "i":
                self.assertEqual(event["s"], "t")
            else:
                arrows.setdefault(event["id"], []).append(event)
        for begin, end in arrows.values():
            self.assertEqual((begin["ph"], end["ph"], end["bp"]), ("s", "f", "e"))
            self.assertEqual((begin["name"], begin["cat"]), (end["name"], end["cat"]))
            self.assertLessEqual(begin["ts"], end["ts"])
        return latest

    def check_nesting(self, open_slices, event):
        """Slices of one row must be nested or disjoint."""
        self.assertGreaterEqual(event["dur"], 0)
        end = event["ts"] + event["dur"]
        while open_slices and open_slices[-1] <= event["ts"] + HALF_NS:
            open_slices.pop()
        if open_slices:
            self.assertLessEqual(end, open_slices[-1] + HALF_NS, event)
        open_slices.append(end)


def slices(document, category):
    return [e for e in document["traceEvents"] if e["ph"] == "X" and e["cat"] == category]


def instants(document, name):
    return [e for e in document["traceEvents"] if e["ph"] == "i" and e["name"] == name]


def row_names(document):
    named = [e for e in document["traceEvents"] if e["name"] == "thread_name"]
    return {e["tid"]: e["args"]["name"] for e in named}


class Written(TraceTest):
    def test_every_workload_on_every_scheduler_keeps_to_the_format(self):
        for workload in self.workload_names():
            for scheduler in ("work_stealing", "current_thread"):
                with self.subTest(workload=workload, scheduler=scheduler):
                    # Without a warm-up, whose last poll may end after the trace has begun.
                    _, document = self.trace(workload, f"--scheduler {scheduler} --warmup 0")
                    self.check_format(document)
                    # A server's tasks begin before the trace and end after it.
                    if workload not in ("echo", "tcp_ping_pong", "accept_storm", "http_hello",
                                        "grpc_unary"):
                        self.check_polls(document, workload)

    def check_polls(self, document, workload):
        """Every spawned task must be polled to its end, on the rows of workers, except a task that
        has lost its worker: its thread has no row."""
        names = row_names(document)
        ended = set()
        for poll in slices(document, "poll"):
            self.assertRegex(names[poll["tid"]], r"^worker \d+$")
            self.assertIn(poll["args"]["end"], ENDS)
            self.assertEqual(poll["name"], f"task {poll['args']['task']}")
            if poll["args"]["end"] == "finished":
                ended.add(poll["args"]["task"])
        spawned = {event["args"]["task"] for event in instants(document, "spawn")}
        self.assertLessEqual(ended, spawned)
        if workload != "blocking_calls":
            self.assertEqual(spawned, ended)
        self.assertEqual(spawned, set(range(1, len(spawned) + 1)))

    def test_there_is_a_row_for_each_worker_and_one_for_the_threads_outside(self):
        _, document = self.trace("spawn_many", "--workers 3")
        expected = {"outside the scheduler", "worker 0", "worker 1", "worker 2"}
        self.assertEqual(set(row_names(document).values()), expected)
        outside = {event["tid"] for event in instants(document, "spawn")}
        self.assertEqual({row_names(document)[tid] for tid in outside}, {"outside the scheduler"})

    def test_as_many_iterations_as_were_asked_for_and_the_warm_up_left_out(self):
        for warmup in ("0", "5"):
            _, document = self.trace("spawn_many", f"--iterations 4 --warmup {warmup}")
            names = [each["name"] for each in slices(document, "iteration")]
            self.assertEqual(names, [f"iteration {i}" for i in range(1, 5)])
            self.assertEqual(len(instants(document, "spawn")), 4 * 20)
            self.assertEqual(document["otherData"]["iterations"], 4)

    def test_arrows_lead_to_every_first_poll(self):
        _, document = self.trace("ping_pong", "--warmup 0")
        begins = {(p["tid"], p["ts"]) for p in slices(document, "poll")}
        ends = [event for event in document["traceEvents"] if event["ph"] == "f"]
        for event in ends:
            self.assertIn((event["tid"], event["ts"]), begins)
        causes = len(instants(document, "spawn")) + len(instants(document, "wake"))
        self.assertEqual(len(ends), causes)

    def test_lost_events_are_told_and_the_rest_keeps_to_the_format(self):
        result = self.taskbench("trace yield_many --param tasks=20 yields=500 --events 64 "
                                "--workers 1 --out t.json")
        document = self.load("t.json")
        self.check_format(document)
        lost = document["otherData"]["events_lost"]
        self.assertEqual(set(lost), {"worker 0", "outside"})
        self.assertGreater(lost["worker 0"], 2 * 20 * 500 - 64)
        self.assertIn(f"{lost['worker 0']:,}", result.stdout)
        self.assertRegex(result.stdout, r"raise\s+--events")

    def test_the_file_says_what_was_traced_and_where(self):
        _, document = self.trace("chained_spawn", "--workers 1")
        facts = document["otherData"]
        self.assertEqual(facts["case"], "chained_spawn/work_stealing/workers:1/length:20")
        self.assertIn(facts["clock"], ("tsc", "CLOCK_MONOTONIC"))
        self.assertGreater(facts["event_cost_ns"], 0)
        for key in ("taskbench_version", "git_commit", "cpu_model", "kernel", "date"):
            self.assertIn(key, facts)

    def test_an_older_file_is_replaced(self):
        self.write("t.json", "old")
        self.trace("chained_spawn")
        self.assertEqual(self.left(), ["t.json"])

    def test_standard_output_can_be_the_file(self):
        options = f"{self.parameters('chained_spawn')} --quiet --out /dev/stdout"
        result = self.taskbench(f"trace chained_spawn {options}")
        self.check_format(json.loads(result.stdout))


class Summary(TraceTest):
    def test_counts_agree_with_the_file(self):
        result, document = self.trace("spawn_local", "--workers 2 --iterations 3")
        header, *lines = result.stdout.split("\n\n")[1].splitlines()
        titles = re.split(r"\s{2,}", header.strip())
        names = row_names(document)
        for line in lines:
            name, *cells = re.split(r"\s{2,}", line)
            shown = dict(zip(titles, cells))
            for title, found in (
                ("polls", slices(document, "poll")),
                ("spawns", instants(document, "spawn")),
                ("wakes", instants(document, "wake")),
                ("steals", instants(document, "steal")),
                ("ovfl", instants(document, "overflow")),
            ):
                here = [e for e in found if names[e["tid"]].startswith(name)]
                if shown[title] != "–":
                    self.assertEqual(int(shown[title].replace(",", "")), len(here), title)

    def test_says_where_the_file_is_and_what_opens_it(self):
        result, _ = self.trace("chained_spawn")
        self.assertIn("taskbench: note: wrote t.json; open it in https://ui.perfetto.dev",
                      result.stderr)
        self.assertRegex(result.stdout, r"^chained_spawn/work_stealing/\S+ · 1 iteration in ")

    def test_quiet_prints_nothing(self):
        result, _ = self.trace("chained_spawn", "--quiet")
        self.assertEqual((result.stdout, result.stderr), ("", ""))


class Refused(TraceTest):
    def test_names_and_numbers(self):
        one_case = "one scheduler and one worker count only"
        self.refuse("trace --out t.json", {
            "chained_spwan": "did you mean 'chained_spawn'?",
            "": "name a workload: chained_spawn, ",
            "tasks=3": "name a workload",
            "ping_pong spawn_many": "one WORKLOAD only",
            "ping_pong --scheduler work_staeling": "did you mean 'work_stealing'?",
            "ping_pong --param pigns=3": "did you mean 'pings'?",
            "ping_pong --evnets 9": "did you mean '--events'?",
            "ping_pong --workers 1,2": one_case,
            "ping_pong --scheduler work_stealing,current_thread --workers 1": one_case,
            "ping_pong --iterations 0": "--iterations: '0' is out of range",
            "ping_pong --warmup -1": "--warmup: '-1' is out of range",
            "ping_pong --events 15": "from 16 to 16777216",
            "ping_pong --events 16777217": "from 16 to 16777216",
            "ping_pong --events 16777216 --workers 64":
                "16777216 of 64 workers take more than 4 GiB; give fewer",
        })

    def test_files(self):
        self.refuse("trace ping_pong", {
            "": "say where to write the trace: --out FILE",
            "--out -": "'-' is not a file",
            "--out no/such/t.json": 'there is no folder "no/such"',
            "--out .": "it is a folder",
        })
        self.assertEqual(self.left(), [])

    def test_denied_permission_is_found_out_before_and_leaves_the_old_file(self):
        self.write("closed/t.json", "old")
        (self.folder / "closed").chmod(0o555)
        self.refused("trace ping_pong --out closed/t.json", says="permission denied",
                     **self.as_nobody())
        self.assertEqual(self.read("closed/t.json"), "old")
        (self.folder / "closed").chmod(0o755)


class Failed(TraceTest):
    def test_a_file_that_cannot_be_written_does_not_cost_the_summary(self):
        result = self.taskbench(
            f"trace chained_spawn {self.parameters('chained_spawn')} --out /dev/full", status=2)
        self.assertIn('taskbench: error: cannot write "/dev/full": ', result.stderr)
        self.assertIn("worker 0", result.stdout)


class Interrupted(TerminalTest):
    def interrupted(self, options, number):
        """Returns all output if the signal comes after the first iteration."""
        session = self.session(f"trace chained_spawn {options} --out t.json")
        session.read_until(lambda text: re.search(r"[1-9]\d*/\d+ iterations", text))
        session.process.send_signal(number)
        self.assertEqual(session.finish(), 130, session.text)
        return session.text

    def test_control_c_keeps_the_complete_iterations(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            text = self.interrupted("--iterations 1000000 --events 1024 --warmup 0", number)
            found = re.search(r"interrupted; the trace has (\d+) of 1000000 iter", text)
            document = self.load("t.json")
            self.assertEqual(document["otherData"]["iterations"], int(found.group(1)))
            (self.folder / "t.json").unlink()

    def test_during_the_warm_up_nothing_is_written(self):
        text = self.interrupted("--warmup 1000000", signal.SIGINT)
        self.assertIn("interrupted before the first traced iteration", text)
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    main()
