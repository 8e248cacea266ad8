#!/usr/bin/env python3
"""`taskbench run --counters`: with fake and broken perfs."""

import csv
import html
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from fake_program import HANGS, fake_gnuplot, fake_valgrind
from taskbench_command import BINARY, CommandTest, environment, main

# A perf that understands the command line of the real one. It prints what the test says: `lines`
# are templates of a line each, by event; `body` is run before anything else. It answers on the
# pipes, so that the program under it switches counters on and off as with the real one.
FAKE = r"""#!{python} -IS
import os, signal, subprocess, sys, threading, time
arguments = sys.argv[1:]
if arguments == ["--version"]:
    print({version!r})
    sys.exit()
split = arguments.index("--")
options, command = arguments[1:split], arguments[split + 1:]
def all_of(name):
    return [options[i + 1] for i, word in enumerate(options) if word == name]
events, out, control = all_of("-e"), all_of("-o")[0], all_of("--control")
json_wanted = "-j" in options
counting = command[0] != "true"
with open(os.path.join({log!r}), "a") as log:
    log.write(" ".join(arguments) + "\n")
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
with open(out, "w") as file:
    file.write("# started on Sat Nov 21 11:36:10 2026\n\n")
    for event in sum((e[1:-1].split(",") if e[0] == "{{" else [e] for e in events), []):
        for line in {lines!r}.get(event, {default!r}).splitlines():
            file.write(line.replace("EVENT", event) + "\n")
if counting and heard != b"enable\ndisable\n":
    sys.exit("the counters were not switched: %r" % heard)
sys.stdout.flush()
os._exit(status)
"""

COUNT = (
    '{"counter-value" : "1000.000000", "unit" : "", "event" : "EVENT", "event-runtime" : 5, '
    '"pcnt-running" : 100.00, "metric-value" : "0.1", "metric-unit" : "K/sec"}'
)
CASE = "chained_spawn/work_stealing/workers:1/length:10"


class CountersTest(CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "tmp").mkdir()

    def fake_perf(self, body="", lines=None, default=COUNT, version="perf version 6.8.12",
                  ack=b"ack\n\x00"):
        """Puts a perf on PATH; returns the environment that finds it."""
        folder = self.folder / "bin"
        folder.mkdir(exist_ok=True)
        text = FAKE.format(python=sys.executable, body=body, lines=lines or {}, default=default,
                           version=version, ack=ack, log=str(self.folder / "perf.log"))
        (folder / "perf").write_text(text, encoding="utf-8")
        (folder / "perf").chmod(0o755)
        return self.env(PATH=f"{folder}:{os.environ['PATH']}")

    def without_perf(self):
        folder = self.folder / "empty"
        folder.mkdir()
        for name in ("true", "sh", "env"):
            (folder / name).symlink_to(shutil.which(name))
        return self.env(PATH=str(folder))

    def env(self, **changes):
        return {"TMPDIR": str(self.folder / "tmp"), **changes}

    def arguments(self, counters, *more, workloads=("chained_spawn",)):
        return ["run", *self.small(*workloads), "--workers", "1", "--counters", counters,
                "--json", "r.json", *more]

    def counted(self, counters, *more, env=None, **options):
        """Runs and returns (taskbench object, events of the first case by name, result)."""
        result = self.taskbench(*self.arguments(counters, *more), env=env or self.env(), **options)
        own = self.load("r.json")["taskbench"]
        events = {event["event"]: event for event in own["cases"][0]["events_per_iteration"]}
        self.assertEqual(os.listdir(self.folder / "tmp"), [])
        return own, events, result

    def assert_null(self, event, reason):
        self.assertEqual(event["samples"], 0)
        for key in ("median", "mad", "min", "max", "median_per_operation"):
            self.assertIsNone(event[key], event)
        self.assertEqual(event["values"], [])
        self.assertIn(reason, event["reason"])


class Counting(CountersTest):
    def test_every_case_is_counted_in_five_processes_with_the_iterations_of_its_repetitions(self):
        own, events, _ = self.counted("instructions", "--quiet", env=self.fake_perf())
        rows = self.load("r.json")["benchmarks"]
        iterations = rows[0]["iterations"]
        event = events["instructions"]
        self.assertEqual(event["samples"], 5)
        self.assertAlmostEqual(event["median"], 1000 / iterations)
        self.assertAlmostEqual(event["median_per_operation"], 1000 / iterations / 10)
        self.assertEqual(event["mad"], 0)
        self.assertIsNone(event["reason"])
        self.assertEqual(
            own["counter_pass"],
            {"tool": "perf version 6.8.12", "requested": ["instructions"], "processes": 5,
             "reason": None},
        )
        log = (self.folder / "perf.log").read_text(encoding="utf-8").splitlines()
        runs = [line for line in log if " run " in line]
        self.assertEqual(len(runs), 5)
        for line in runs:
            self.assertIn(f"--iterations {CASE}={iterations} ", line + " ")
            self.assertIn("--param length=10", line)
            self.assertIn(" --workers 1 ", line)
            self.assertIn("-D -1 --control fifo:", line)

    def test_seed_pinning_scheduler_and_parameters_are_those_of_the_case(self):
        self.counted("cycles", "--quiet", "--scheduler", "current_thread", "--seed", "77", "--pin",
                     env=self.fake_perf())
        log = (self.folder / "perf.log").read_text(encoding="utf-8")
        line = [line for line in log.splitlines() if " run " in line][0]
        for words in ("--scheduler current_thread", "--seed 77", "--pin", "--repetitions 1 "):
            self.assertIn(words, line)

    def test_sets_and_events_may_be_mixed_and_each_event_is_counted_once(self):
        _, events, _ = self.counted("software,cycles,{instructions,branches},{task-clock,faults},"
                                    "cpu/a=1,b=2/",
                                    "--counters", "task-clock,basic", "--quiet",
                                    env=self.fake_perf())
        log = (self.folder / "perf.log").read_text(encoding="utf-8")
        line = [line for line in log.splitlines() if " run " in line][0]
        self.assertEqual(line.count("-e task-clock "), 1)
        self.assertEqual(line.count("-e cycles "), 1)
        self.assertIn("-e {instructions,branches} ", line)
        self.assertIn("-e cpu/a=1,b=2/ ", line)
        self.assertEqual(list(events)[:5], ["task-clock", "context-switches", "cpu-migrations",
                                            "page-faults", "cycles"])
        for event in events.values():
            self.assertEqual((event["samples"], event["reason"]), (5, None), event)

    def test_time_that_perf_takes_over_the_whole_process_is_null(self):
        _, events, _ = self.counted("duration_time,cycles", "--quiet", env=self.fake_perf())
        self.assert_null(events["duration_time"], "over the whole process")
        self.assertEqual(events["cycles"]["samples"], 5)

    def test_times_and_rows_are_there_and_hold_the_counts(self):
        own, events, _ = self.counted("cycles", "--quiet", env=self.fake_perf())
        rows = self.load("r.json")["benchmarks"]
        self.assertEqual([row["run_type"] for row in rows],
                         ["iteration"] * 2 + ["aggregate"] * 4)
        for row in rows[:2]:
            self.assertEqual(row["cycles"], events["cycles"]["median"])
        self.assertEqual(own["cases"][0]["summary"]["samples"], 2)

    def test_run_without_counters_says_nothing_of_them(self):
        self.taskbench("run", *self.small("chained_spawn"), "--json", "r.json", "--quiet",
                       env=self.fake_perf())
        text = (self.folder / "r.json").read_text(encoding="utf-8")
        self.assertNotIn("counter_pass", text)
        self.assertNotIn("events_per_iteration", text)
        self.assertFalse((self.folder / "perf.log").exists())

    def test_every_format_has_them(self):
        env = self.fake_perf(lines={"cycles": COUNT.replace("1000.000000", "<not supported>")})
        for name, part in (("table", "instructions"), ("markdown", "| instructions |"),
                           ("csv", "instructions_per_iteration")):
            with self.subTest(name):
                _, _, result = self.counted("cycles,instructions", "--format", name, env=env)
                self.assertIn(part, result.stdout)
                self.assertIn("not supported by this machine", result.stdout)
                if name == "csv":
                    rows = list(csv.DictReader(io.StringIO(result.stdout)))
                    self.assertEqual(rows[0]["instructions_samples"], "5")
                    self.assertEqual(rows[0]["cycles_per_iteration"], "")
                else:
                    self.assertIn("parks", result.stdout)
                    self.assertIn("perf version 6.8.12", result.stdout)

    def test_several_cases_have_counts_of_their_own(self):
        arguments = self.arguments("cycles", "--quiet", workloads=("chained_spawn", "ping_pong"))
        self.taskbench(*arguments, env=self.fake_perf())
        for case in self.load("r.json")["taskbench"]["cases"]:
            self.assertEqual(case["events_per_iteration"][0]["samples"], 5)


class Dialects(CountersTest):
    def test_answer_without_the_terminating_nul(self):
        _, events, _ = self.counted("cycles", "--quiet", env=self.fake_perf(ack=b"ack\n"))
        self.assertEqual(events["cycles"]["samples"], 5)

    def test_perf_without_json_is_asked_for_fields(self):
        env = self.fake_perf(
            body='if json_wanted:\n    sys.exit("  Error: unknown switch `j\'")',
            lines={"task-clock": "1.50;msec;EVENT;1500000;100.00;0.9;CPUs utilized",
                   "cycles": "<not supported>;;EVENT;0;100.00;;"},
            version="perf version 5.10.209",
        )
        _, events, _ = self.counted("task-clock,cycles", "--quiet", env=env)
        self.assertEqual(events["task-clock"]["unit"], "ns")
        self.assertEqual(events["task-clock"]["samples"], 5)
        self.assert_null(events["cycles"], "not supported by this machine")

    def test_perf_that_ends_where_it_can_count_none_of_the_events_is_understood(self):
        """As perf 7 does. Beside others it prints such an event, as older versions do."""
        env = self.fake_perf(
            body='if events == ["cycles"]:\n    sys.exit("Error:\\nNo supported events found.\\n'
                 'The cycles event is not supported.")',
            version="perf version 7.2.13")
        _, events, result = self.counted("cycles,page-faults", env=env)
        self.assertEqual(events["page-faults"]["samples"], 5)
        self.assertEqual(events["cycles"]["reason"], "not supported by this machine")
        self.assertIn("n/a: cycles: not supported by this machine.\n", result.stdout)

    def test_perf_without_control_is_too_old(self):
        env = self.fake_perf(body='if control:\n    sys.exit("  Error: unknown option `control\'")',
                             version="perf version 5.4.1", default="1;;EVENT;1;100.00;;")
        _, events, result = self.counted("cycles", env=env)
        self.assert_null(events["cycles"], "'perf version 5.4.1' is too old")
        self.assertIn("perf counted nothing: 'perf version 5.4.1' is too old", result.stderr)

    def test_user_only_is_labelled_and_kernel_events_are_no_zeros(self):
        user = COUNT.replace("EVENT", "EVENT:u")
        env = self.fake_perf(default=user)
        _, events, result = self.counted("page-faults,context-switches,cycles:u", env=env)
        self.assertTrue(events["page-faults"]["user_only"])
        self.assertEqual(events["page-faults"]["samples"], 5)
        self.assert_null(events["context-switches"], "sudo sysctl kernel.perf_event_paranoid=1")
        self.assertIn("user only", result.stdout)

    def test_user_only_that_was_asked_for_is_not_laid_to_paranoia(self):
        env = self.fake_perf()
        _, events, result = self.counted("context-switches:u,sched:sched_switch:u,page-faults:u",
                                         env=env)
        self.assertTrue(events["page-faults:u"]["user_only"])
        for name in ("context-switches:u", "sched:sched_switch:u"):
            self.assert_null(events[name], "this happens in the kernel")
            self.assertNotIn("paranoid", events[name]["reason"])
        self.assertIn("where that was not asked for", result.stdout)

    def test_of_events_that_perf_prints_alike_one_is_counted(self):
        """As perf 6.1 prints tracepoints: without their modifiers."""
        env = self.fake_perf(lines={"raw_syscalls:sys_enter:k": COUNT.replace(
            "EVENT", "raw_syscalls:sys_enter")})
        for first, second in (("raw_syscalls:sys_enter:k", "raw_syscalls:sys_enter"),
                              ("raw_syscalls:sys_enter", "raw_syscalls:sys_enter:k")):
            with self.subTest(first):
                _, events, _ = self.counted(f"{first},{second}", "--quiet", env=env)
                self.assertEqual((events[first]["samples"], events[first]["reason"]), (5, None))
                self.assert_null(events[second], f"perf prints it by the name of {first}")

    def test_multiplexed_value_has_its_share(self):
        env = self.fake_perf(default=COUNT.replace("100.00", "48.25"))
        _, events, result = self.counted("cycles", env=env)
        self.assertAlmostEqual(events["cycles"]["counted_share"], 0.4825)
        self.assertIn("48 % of the time", result.stdout)

    def test_hybrid_cpu_has_a_line_for_each_of_its_kinds(self):
        atom = COUNT.replace("1000.000000", "<not counted>").replace("100.00", "0.00")
        env = self.fake_perf(default="\n".join((
            atom.replace("EVENT", "cpu_atom/EVENT/"), COUNT.replace("EVENT", "cpu_core/EVENT/"))))
        _, events, _ = self.counted("cycles", "--quiet", env=env)
        self.assertEqual(events["cpu_core/cycles/"]["samples"], 5)
        self.assert_null(events["cpu_atom/cycles/"], "not counted")


class Page(CountersTest):
    """`run --counters ... --report DIR`, with stand-ins for perf and gnuplot."""

    def env_of_page(self, **perf):
        env = self.fake_perf(**perf)
        fake_gnuplot(self.folder / "bin")
        return env

    def texts(self):
        """The page without its markup, and the Markdown."""
        page = (self.folder / "out/index.html").read_text(encoding="utf-8")
        return (re.sub(r"<[^>]*>", "", html.unescape(page)),
                (self.folder / "out/report.md").read_text(encoding="utf-8"))

    def test_has_the_counts_and_says_why_others_are_missing(self):
        env = self.env_of_page(
            default=COUNT.replace("EVENT", "EVENT:u").replace("100.00", "48.25"),
            lines={"cycles": COUNT.replace("1000.000000", "<not supported>")})
        self.taskbench(*self.arguments("basic,software", "--report", "out", "--quiet"), env=env)
        case = self.load("out/result.json")["taskbench"]["cases"][0]
        events = {event["event"]: event for event in case["events_per_iteration"]}
        self.assert_null(events["cycles"], "not supported by this machine")
        self.assertEqual(events["instructions"]["samples"], 5)
        self.assertIn("counters.svg", os.listdir(self.folder / "out/plots"))
        for text in self.texts():
            self.assertIn("cycles was not counted: not supported by this machine.", text)
            self.assertRegex(
                text, r"context-switches,[^:]* were not counted: user mode only was counted, and "
                "this happens in the kernel; ")
            for meaning in ("user only, without what the kernel did",
                            "extrapolated from 48 % of the time"):
                self.assertIn("branch-misses, branches, cache-misses, cache-references, "
                              f"instructions, page-faults, task-clock: {meaning}", text)
            self.assertIn("Counters per operation", text)
        for name in ("branches", "cache-misses", "task-clock", "parks"):
            self.assertIn(f"\n| {name} |", self.texts()[1])

    def test_without_perf_it_is_made_and_names_the_package(self):
        env = self.without_perf()
        fake_gnuplot(self.folder / "empty")
        self.taskbench(*self.arguments("basic,software", "--report", "out", "--quiet"), env=env)
        for text in self.texts():
            sentence = re.search(r".* were not counted: perf is not installed; the package "
                                 "linux-perf brings it", text)[0]
            for event in ("instructions", "page-faults"):
                self.assertIn(event, sentence)
        self.assertIn("counters.svg", os.listdir(self.folder / "out/plots"))

    def test_control_c_while_counting_still_draws_the_plots(self):
        begun = self.folder / "begun"
        hangs = HANGS.format(marker=str(begun))
        env = self.env_of_page(body=f"if counting:\n    {hangs}")
        errors = self.interrupt(
            self.arguments("cycles", "--report", "out"), begun, env)
        self.assertIn("interrupted while counting; the times are complete", errors)
        self.assertNotIn("not drawn", errors)
        self.assertEqual(sorted(os.listdir(self.folder / "out")),
                         ["index.html", "plots", "report.md", "result.json"])
        self.assertEqual(len([name for name in os.listdir(self.folder / "out/plots")
                              if name.endswith(".svg")]), 2)
        for text in self.texts():
            self.assertIn("cycles was not counted: interrupted before it was counted.", text)


class Faults(CountersTest):
    """Whatever is wrong with perf, the times are there and the exit status is as without it."""

    def test_no_perf_is_one_line_that_names_the_package(self):
        own, events, result = self.counted("basic,software", env=self.without_perf())
        lines = [line for line in result.stderr.splitlines() if "perf" in line]
        self.assertEqual(lines, [
            "taskbench: note: perf counted nothing: perf is not installed; the package linux-perf "
            "brings it (Ubuntu: linux-tools-generic)"
        ])
        self.assertEqual(len(events), 10)
        for event in events.values():
            self.assert_null(event, "the package linux-perf brings it")
        self.assertIsNone(own["counter_pass"]["tool"])
        self.assertIn("Nothing was counted: perf is not installed", result.stdout)

    def test_perf_that_does_not_work_with_this_kernel(self):
        env = self.fake_perf()
        (self.folder / "bin" / "perf").write_text(
            "#!/bin/sh\necho 'WARNING: perf not found for kernel 5.15.0-91' >&2\nexit 2\n",
            encoding="utf-8")
        _, events, _ = self.counted("cycles", "--quiet", env=env)
        self.assert_null(events["cycles"], "WARNING: perf not found for kernel 5.15.0-91")

    def test_one_event_that_perf_refuses_costs_no_other(self):
        env = self.fake_perf(body="""
if "nosuch" in events:
    sys.stderr.write("event syntax error: 'nosuch'\\n            \\\\___ parser error\\n"
                     "Run 'perf list' for a list of valid events\\n\\n Usage: perf stat\\n")
    sys.exit(129)
""")
        _, events, _ = self.counted("cycles,nosuch,instructions", "--quiet", env=env)
        self.assertEqual(events["nosuch"]["reason"],
                         "event syntax error: 'nosuch'; parser error")
        self.assert_null(events["nosuch"], "")
        self.assertEqual(events["cycles"]["samples"], 5)
        self.assertEqual(events["instructions"]["samples"], 5)

    def test_denied_by_paranoia_comes_with_the_command_that_relaxes_it(self):
        env = self.fake_perf(body="""
sys.stderr.write("Error:\\nAccess to performance monitoring and observability operations is "
                 "limited.\\n" + "x" * 900 + "\\nperf_event_paranoid setting is 4:\\n"
                 "  -1: Allow use of (almost) all events by all users\\n")
sys.exit(255)
""")
        _, events, result = self.counted("basic", env=env)
        self.assert_null(events["cycles"], "perf_event_paranoid is 4; `sudo sysctl "
                                           "kernel.perf_event_paranoid=1` allows it")
        self.assertIn("kernel.perf_event_paranoid=1", result.stderr)

    def test_perf_that_fails_to_attach_while_counting(self):
        env = self.fake_perf(body='if counting:\n    sys.exit("failed to attach: EINVAL")')
        _, events, _ = self.counted("cycles", "--quiet", env=env)
        self.assert_null(events["cycles"], "failed to attach: EINVAL")

    def test_perf_that_hangs_is_given_up_after_ten_seconds(self):
        env = self.fake_perf(body="time.sleep(1000)")
        _, events, _ = self.counted("basic,software", "--quiet", env=env)
        for event in events.values():
            self.assert_null(event, "perf stat did not end in time and was killed")

    def test_perf_that_is_killed_half_way(self):
        env = self.fake_perf(body="""
if counting:
    subprocess.Popen(command)
    sys.stderr.write("Events disabled\\nEvents enabled\\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGKILL)
""")
        _, events, _ = self.counted("cycles", "--quiet", env=env)
        self.assertEqual(events["cycles"]["reason"], "perf stat was killed by signal 9 (Killed)")

    def test_perf_that_hangs_up_ends_the_process_with_a_reason(self):
        env = self.fake_perf(body="""
if counting:
    commands, answers = control[0][5:].split(",")
    listening = os.open(commands, os.O_RDWR)
    child = subprocess.Popen(command)
    os.read(listening, 7)
    os.close(os.open(answers, os.O_WRONLY))
    sys.exit(child.wait())
""")
        _, events, _ = self.counted("cycles", "--quiet", env=env)
        self.assert_null(events["cycles"], "perf did not answer 'enable'")

    def test_output_that_is_garbage_cut_off_or_missing(self):
        for body, says in (
            ("print('Segmentation fault', file=open(out, 'w')); sys.exit()", "cannot be read"),
            ("open(out, 'w').write('{\"counter-value\" : \"12'); sys.exit()", "cannot be read"),
            ("open(out, 'w').close(); sys.exit()", "wrote no counts"),
            ("sys.exit()", "wrote no counts"),
        ):
            with self.subTest(body):
                env = self.fake_perf(body=f"if counting:\n    {body}")
                _, events, _ = self.counted("cycles", "--quiet", env=env)
                self.assert_null(events["cycles"], says)

    def test_value_that_is_missing_in_one_process_leaves_the_others_and_a_reason(self):
        env = self.fake_perf(body=r"""
if counting:
    with open(out + ".runs", "a+") as runs:
        runs.write(".")
        if runs.tell() == 3:
            sys.exit("the third fails")
""")
        _, events, _ = self.counted("cycles", "--quiet", env=env)
        self.assertEqual(events["cycles"]["samples"], 2)
        self.assertIn("the third fails", events["cycles"]["reason"])

    def test_control_c_while_counting_leaves_no_process_and_no_file(self):
        env = self.fake_perf(body="""
if counting:
    child = subprocess.Popen(["sleep", "1000"])
    with open(LOG + ".pids.tmp", "w") as file:
        file.write("%d %d" % (os.getpid(), child.pid))
    os.rename(LOG + ".pids.tmp", LOG + ".pids")
    child.wait()
""".replace("LOG", repr(str(self.folder / "perf.log"))))
        process = subprocess.Popen(
            [BINARY, *self.arguments("cycles", "--quiet")], cwd=self.folder, env=environment(**env),
            stderr=subprocess.PIPE, encoding="utf-8",
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(process.kill)
        pids = self.folder / "perf.log.pids"
        self.wait_until(pids.exists)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("interrupted while counting; the times are complete", errors)
        self.assertEqual(os.listdir(self.folder / "tmp"), [])
        for pid in pids.read_text(encoding="utf-8").split():
            self.wait_until(lambda pid=pid: not self.is_running(pid))
        own = self.load("r.json")["taskbench"]
        self.assertFalse(own["partial"])
        self.assert_null(own["cases"][0]["events_per_iteration"][0], "interrupted")

    def test_taskbench_killed_while_counting_leaves_the_times(self):
        hangs = HANGS.format(marker=str(self.folder / "begun"))
        env = self.fake_perf(body=f"if counting:\n    {hangs}")
        process = subprocess.Popen(
            [BINARY, *self.arguments("cycles", "--json-flat", "flat.json", "--quiet")],
            cwd=self.folder, env=environment(**env))
        self.addCleanup(process.kill)
        self.wait_until((self.folder / "begun").exists)
        process.kill()
        process.wait()
        (row, *_) = self.load("flat.json")["benchmarks"]
        self.assertGreater(row["real_time"], 0)
        (case,) = self.load("r.json")["taskbench"]["cases"]
        self.assertEqual(case["summary"]["samples"], 2)

    def test_what_is_no_regular_file_gets_the_result_once(self):
        arguments = self.arguments("cycles", "--quiet")
        arguments[arguments.index("r.json")] = "/dev/stdout"
        result = self.taskbench(*arguments, env=self.fake_perf())
        (case,) = json.loads(result.stdout)["taskbench"]["cases"]
        self.assertEqual(case["events_per_iteration"][0]["samples"], 5)

    def wait_until(self, condition):
        end = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)

    @staticmethod
    def is_running(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
        except FileNotFoundError:
            return False

    def test_folder_for_temporary_files_that_cannot_be_written(self):
        env = self.fake_perf()
        env["TMPDIR"] = str(self.folder / "nowhere")
        result = self.taskbench(*self.arguments("cycles,{branches,branch-misses}"), env=env)
        self.assertIn("perf counted nothing: ", result.stderr)
        self.assertEqual(len(self.load("r.json")["benchmarks"]), 6)
        events = self.load("r.json")["taskbench"]["cases"][0]["events_per_iteration"]
        self.assertEqual([event["event"] for event in events],
                         ["cycles", "branches", "branch-misses"])
        for event in events:
            self.assert_null(event, "TMPDIR")
            self.assertIn("nowhere", event["reason"])


class Refusals(CountersTest):
    def test_what_is_no_event(self):
        for given, says in (
            ("sofware", "unknown set 'sofware'; did you mean 'software'?"),
            ("Topdwon", "did you mean 'topdown'?"),
            ("top-down", "unknown set 'top-down'; did you mean 'topdown'?"),
            ("instruction-exact", "event 'instruction-exact'; did you mean 'instructions-exact'?"),
            ("INSTRUCTIONS-EXACT", "did you mean 'instructions-exact'?"),
            ("instructions_exact", "did you mean 'instructions-exact'?"),
            ("basic,instructions-exact:u", "did you mean 'instructions-exact'?"),
            ("basic,", "--counters: 'basic,' has an empty item"),
            ("basic,basic", "--counters: 'basic' is given twice"),
            ("--all", "'--all' is neither a set nor the name of an event"),
            ("two words", "'two words' is neither a set nor the name of an event"),
        ):
            with self.subTest(given):
                self.refused("run", "chained_spawn", f"--counters={given}", says=says)

    def test_names_of_perf_that_look_like_ours_are_no_slips(self):
        names = ("instructions", "instructions:u", "branch-instructions", "cache-misses",
                 "cache-references", "topdown-retiring", "cpu-clock", "task-clock", "cs")
        _, events, _ = self.counted(",".join(names), env=self.without_perf())
        self.assertEqual(set(events), set(names))


class Exactly(CountersTest):
    """`--counters instructions-exact`, by valgrind's callgrind."""

    def fake_valgrind(self, body):
        return self.env(PATH=fake_valgrind(self.folder / "bin", body))

    def test_counts_are_per_iteration_and_scatter_is_told(self):
        log = self.folder / "count"
        body = (
            f"n = os.path.exists({str(log)!r}) and len(open({str(log)!r}).read()) or 0\n"
            f"open({str(log)!r}, 'a').write('x')\n"
            "open(out, 'w').write('events: Ir\\ntotals: %d\\n' % (4000 + 40 * (n == 2)))"
        )
        _, events, result = self.counted("instructions-exact", env=self.fake_valgrind(body))
        event = events["instructions-exact"]
        self.assertEqual((event["median"], event["min"], event["max"]), (1000, 1000, 1010))
        self.assertEqual(event["samples"], 5)
        self.assertRegex(result.stderr, r"counts of its instructions differ by up to 1 %")
        self.assertIn("callgrind: instructions of the scheduler in_turn", self.joined(result))

    def joined(self, result):
        return " ".join(result.stdout.split())

    def test_without_valgrind_its_package_is_named(self):
        _, events, _ = self.counted("instructions-exact", env=self.without_perf())
        self.assert_null(events["instructions-exact"], "Debian's package valgrind brings it")

    def test_failures_are_reasons(self):
        for body, reason in (
            ("sys.exit('no memory')", "under callgrind it exited with status 1: no memory"),
            ("pass", "callgrind wrote no count of it"),
            ("open(out, 'w').write('events: Ir\\ntot')", "callgrind wrote no count of it"),
            ("os.kill(os.getpid(), 9)", "under callgrind it was killed by signal 9"),
        ):
            with self.subTest(body):
                _, events, _ = self.counted("instructions-exact", env=self.fake_valgrind(body))
                self.assert_null(events["instructions-exact"], reason)

    def test_perf_and_callgrind_count_side_by_side(self):
        env = self.fake_perf()
        self.fake_valgrind("open(out, 'w').write('events: Ir\\ntotals: 4000\\n')")
        _, events, _ = self.counted("cycles,instructions-exact", env=env)
        self.assertEqual(events["instructions-exact"]["median"], 1000)
        self.assertIsNotNone(events["cycles"]["median"])


if __name__ == "__main__":
    main()
