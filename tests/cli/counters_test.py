#!/usr/bin/env python3
"""`taskbench run --counters`, with fake and broken perfs."""

import csv
import fcntl
import html
import io
import json
import os
import re
import shutil

from fake_program import COUNT, HANGS, fake_gnuplot, fake_valgrind
from taskbench_command import PerfTest, is_gone, main

CASE = "chained_spawn/work_stealing/workers:1/length:10"
NOT_SUPPORTED = COUNT.replace("1000.000000", "<not supported>")
USER_ONLY = COUNT.replace("EVENT", "EVENT:u")


class CountersTest(PerfTest):
    def fake_valgrind(self, body):
        return self.env(PATH=fake_valgrind(self.folder / "bin", body))

    def without_perf(self):
        folder = self.folder / "empty"
        folder.mkdir()
        for name in ("true", "sh", "env"):
            (folder / name).symlink_to(shutil.which(name))
        return self.env(PATH=str(folder))

    def arguments(self, counters, *more, workloads=("chained_spawn",), file="r.json"):
        return ["run", *self.small(*workloads), "--workers", "1", "--counters", counters,
                "--json", file, *more]

    def counted(self, counters, *more, env=None, **options):
        """Runs and returns (taskbench object, events of the first case by name, result)."""
        result = self.taskbench(*self.arguments(counters, *more), env=env or self.env(), **options)
        own = self.load("r.json")["taskbench"]
        events = {event["event"]: event for event in own["cases"][0]["events_per_iteration"]}
        self.assertEqual(os.listdir(self.folder / "tmp"), [])
        return own, events, result

    def events(self, counters, *more, **options):
        return self.counted(counters, "--quiet", *more, **options)[1]

    def assert_counted(self, *events):
        for event in events:
            self.assertEqual((event["samples"], event["reason"]), (5, None), event)

    def assert_null(self, event, reason):
        self.assertEqual(event["samples"], 0)
        for key in ("median", "mad", "min", "max", "median_per_operation"):
            self.assertIsNone(event[key], event)
        self.assertEqual(event["values"], [])
        self.assertIn(reason, event["reason"])


class Counting(CountersTest):
    def test_every_case_is_counted_in_five_processes_with_the_iterations_of_its_repetitions(self):
        own, events, _ = self.counted("cycles", "--quiet", env=self.fake_perf())
        rows = self.load("r.json")["benchmarks"]
        iterations = rows[0]["iterations"]
        event = events["cycles"]
        self.assert_counted(event)
        self.assertAlmostEqual(event["median"], 1000 / iterations)
        self.assertAlmostEqual(event["median_per_operation"], 1000 / iterations / 10)
        self.assertEqual(event["mad"], 0)
        self.assertEqual(
            own["counter_pass"],
            {"tool": "perf version 6.8.12", "requested": ["cycles"], "processes": 5,
             "reason": None},
        )
        self.assertEqual(len(self.runs()), 5)
        for line in self.runs():
            for words in (f"--iterations {CASE}={iterations} ", "--param length=10",
                          " --workers 1 ", "-D -1 --control fifo:"):
                self.assertIn(words, line + " ")
        # The times and rows are present and include the counts.
        self.assertEqual([row["run_type"] for row in rows],
                         ["iteration"] * 2 + ["aggregate"] * 4)
        for row in rows[:2]:
            self.assertEqual(row["cycles"], event["median"])
        self.assertEqual(own["cases"][0]["summary"]["samples"], 2)

    def test_seed_pinning_scheduler_and_parameters_are_those_of_the_case(self):
        self.events("cycles", "--scheduler", "current_thread", "--seed", "77", "--pin",
                    env=self.fake_perf())
        for words in ("--scheduler current_thread", "--seed 77", "--pin", "--repetitions 1 "):
            self.assertIn(words, self.runs()[0])

    def test_sets_and_events_may_be_mixed_and_each_event_is_counted_once(self):
        events = self.events(
            "software,cycles,{instructions,branches},{task-clock,faults},cpu/a=1,b=2/",
            "--counters", "task-clock,basic", env=self.fake_perf())
        line = self.runs()[0]
        self.assertEqual(line.count("-e task-clock "), 1)
        self.assertEqual(line.count("-e cycles "), 1)
        self.assertIn("-e {instructions,branches} ", line)
        self.assertIn("-e cpu/a=1,b=2/ ", line)
        self.assertEqual(list(events)[:5], ["task-clock", "context-switches", "cpu-migrations",
                                            "page-faults", "cycles"])
        self.assert_counted(*events.values())

    def test_time_that_perf_takes_over_the_whole_process_is_null(self):
        events = self.events("duration_time,cycles", env=self.fake_perf())
        self.assert_null(events["duration_time"], "over the whole process")
        self.assert_counted(events["cycles"])

    def test_run_without_counters_says_nothing_of_them(self):
        self.taskbench("run", *self.small("chained_spawn"), "--json", "r.json", "--quiet",
                       env=self.fake_perf())
        self.assertNotIn("counter_pass", self.read("r.json"))
        self.assertNotIn("events_per_iteration", self.read("r.json"))
        self.assertFalse((self.folder / "perf.log").exists())

    def test_every_format_has_them(self):
        env = self.fake_perf(lines={"cycles": NOT_SUPPORTED})
        for name, part in (("table", "instructions"), ("markdown", "| instructions |"),
                           ("csv", "instructions_per_iteration")):
            with self.subTest(name):
                _, _, result = self.counted("cycles,instructions", "--format", name, env=env)
                self.assertIn(part, result.stdout)
                self.assertIn("not supported by this machine", result.stdout)
                if name == "csv":
                    (row, *_) = csv.DictReader(io.StringIO(result.stdout))
                    self.assertEqual(row["instructions_samples"], "5")
                    self.assertEqual(row["cycles_per_iteration"], "")
                else:
                    self.assertIn("parks", result.stdout)
                    self.assertIn("perf version 6.8.12", result.stdout)

    def test_several_cases_have_counts_of_their_own(self):
        arguments = self.arguments("cycles", "--quiet", workloads=("chained_spawn", "ping_pong"))
        self.taskbench(*arguments, env=self.fake_perf())
        for case in self.load("r.json")["taskbench"]["cases"]:
            self.assert_counted(case["events_per_iteration"][0])


class Dialects(CountersTest):
    def test_answer_without_the_terminating_nul(self):
        self.assert_counted(self.events("cycles", env=self.fake_perf(ack=b"ack\n"))["cycles"])

    def test_perf_without_json_is_asked_for_fields(self):
        events = self.events("task-clock,cycles", env=self.fake_perf(
            "\"-j\" in options and sys.exit(\"  Error: unknown switch `j'\")",
            lines={"task-clock": "1.50;msec;EVENT;1500000;100.00;0.9;CPUs utilized",
                   "cycles": "<not supported>;;EVENT;0;100.00;;"},
            version="perf version 5.10.209"))
        self.assertEqual(events["task-clock"]["unit"], "ns")
        self.assert_counted(events["task-clock"])
        self.assert_null(events["cycles"], "not supported by this machine")

    def test_perf_that_ends_where_it_can_count_none_of_the_events_is_understood(self):
        """perf 7 does this. Beside other events, it prints such an event like older versions."""
        _, events, result = self.counted("cycles,page-faults", env=self.fake_perf(
            'events == ["cycles"] and sys.exit("Error:\\nNo supported events found.\\n'
            'The cycles event is not supported.")', version="perf version 7.2.13"))
        self.assert_counted(events["page-faults"])
        self.assertEqual(events["cycles"]["reason"], "not supported by this machine")
        self.assertIn("n/a: cycles: not supported by this machine.\n", result.stdout)

    def test_what_is_not_counted_is_told_where_no_table_tells_it(self):
        env = self.fake_perf(lines={"cycles": NOT_SUPPORTED})
        says = "taskbench: note: --counters: n/a: cycles: not supported by this machine."
        for option in ("--quiet", "--format=csv"):
            _, events, result = self.counted("cycles,page-faults", option, env=env)
            self.assert_null(events["cycles"], "not supported by this machine")
            self.assertIn(f"{says}\n", result.stderr)
        self.assertNotIn("--counters", self.counted("cycles", env=env)[2].stderr)
        old = self.fake_perf("control and sys.exit(\"  Error: unknown option `control'\")")
        result = self.counted("cycles", "--quiet", env=old)[2]
        self.assertIn("perf counted nothing: 'perf version 6.8.12' is too old", result.stderr)

    def test_perf_without_control_is_too_old(self):
        _, events, result = self.counted("cycles", env=self.fake_perf(
            "control and sys.exit(\"  Error: unknown option `control'\")",
            version="perf version 5.4.1", default="1;;EVENT;1;100.00;;"))
        self.assert_null(events["cycles"], "'perf version 5.4.1' is too old")
        self.assertIn("perf counted nothing: 'perf version 5.4.1' is too old", result.stderr)

    def test_user_only_is_labelled_and_kernel_events_are_no_zeros(self):
        _, events, result = self.counted("page-faults,context-switches,cycles:u",
                                         env=self.fake_perf(default=USER_ONLY))
        self.assertTrue(events["page-faults"]["user_only"])
        self.assert_counted(events["page-faults"])
        self.assert_null(events["context-switches"], "sudo sysctl kernel.perf_event_paranoid=1")
        self.assertIn("user only", result.stdout)

    def test_user_only_that_was_asked_for_is_not_laid_to_paranoia(self):
        _, events, result = self.counted("context-switches:u,sched:sched_switch:u,page-faults:u",
                                         env=self.fake_perf())
        self.assertTrue(events["page-faults:u"]["user_only"])
        for name in ("context-switches:u", "sched:sched_switch:u"):
            self.assert_null(events[name], "this happens in the kernel")
            self.assertNotIn("paranoid", events[name]["reason"])
        self.assertIn("where that was not asked for", result.stdout)

    def test_of_events_that_perf_prints_alike_one_is_counted(self):
        """perf 6.1 prints tracepoints this way: without their modifiers."""
        plain = "raw_syscalls:sys_enter"
        env = self.fake_perf(lines={f"{plain}:k": COUNT.replace("EVENT", plain)})
        for first, second in ((f"{plain}:k", plain), (plain, f"{plain}:k")):
            with self.subTest(first):
                events = self.events(f"{first},{second}", env=env)
                self.assert_counted(events[first])
                self.assert_null(events[second], f"perf prints it by the name of {first}")

    def test_multiplexed_value_has_its_share(self):
        env = self.fake_perf(default=COUNT.replace("100.00", "48.25"))
        _, events, result = self.counted("cycles", env=env)
        self.assertAlmostEqual(events["cycles"]["counted_share"], 0.4825)
        self.assertIn("48 % of the time", result.stdout)

    def test_hybrid_cpu_has_a_line_for_each_of_its_kinds(self):
        atom = COUNT.replace("1000.000000", "<not counted>").replace("100.00", "0.00")
        events = self.events("cycles", env=self.fake_perf(default="\n".join((
            atom.replace("EVENT", "cpu_atom/EVENT/"), COUNT.replace("EVENT", "cpu_core/EVENT/")))))
        self.assert_counted(events["cpu_core/cycles/"])
        self.assert_null(events["cpu_atom/cycles/"], "not counted")


class Page(CountersTest):
    """`run --counters ... --report DIR`, with stand-ins for perf and gnuplot."""

    def texts(self):
        """Returns the text of the page without markup, and the Markdown."""
        page = html.unescape(self.read("out/index.html"))
        return re.sub(r"<[^>]*>", "", page), self.read("out/report.md")

    def test_has_the_counts_and_says_why_others_are_missing(self):
        env = self.fake_perf(default=USER_ONLY.replace("100.00", "48.25"),
                             lines={"cycles": NOT_SUPPORTED})
        fake_gnuplot(self.folder / "bin")
        self.taskbench(*self.arguments("basic,software", "--report", "out", "--quiet"), env=env)
        case = self.load("out/result.json")["taskbench"]["cases"][0]
        events = {event["event"]: event for event in case["events_per_iteration"]}
        self.assert_null(events["cycles"], "not supported by this machine")
        self.assert_counted(events["instructions"])
        self.assertIn("counters.svg", self.left("out/plots"))
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

    def test_control_c_while_counting_still_draws_the_plots(self):
        hangs = HANGS.format(marker=str(self.folder / "begun"))
        env = self.fake_perf(f"if measuring:\n    {hangs}")
        fake_gnuplot(self.folder / "bin")
        errors = self.interrupt(*self.arguments("cycles", "--report", "out"),
                                when=self.written("begun"), env=env)
        self.assertIn("interrupted while counting; the times are complete", errors)
        self.assertNotIn("not drawn", errors)
        self.assertEqual(self.left("out"), ["index.html", "plots", "report.md", "result.json"])
        self.assertEqual(sum(name.endswith(".svg") for name in self.left("out/plots")), 2)
        for text in self.texts():
            self.assertIn("cycles was not counted: interrupted before it was counted.", text)


class Faults(CountersTest):
    """Whatever is wrong with perf, the times are there, and the exit status is as without it."""

    def test_no_tool_is_one_line_that_names_the_package_and_nothing_is_measured(self):
        env = self.without_perf()
        for counters, says in (
            ("basic", "perf is not installed; the package linux-perf provides it (Ubuntu: "
                      "linux-tools-generic)"),
            ("instructions-exact", "valgrind is not installed; the package valgrind provides it"),
        ):
            result = self.taskbench(*self.arguments(counters), env=env, status=4)
            self.assertEqual(result.stderr, f"taskbench: error: {says}\n")
            self.assertEqual(result.stdout, "")
            self.assertFalse((self.folder / "r.json").exists())

    def test_event_that_perf_does_not_know_is_refused_with_one_that_is_near(self):
        env = self.fake_perf("""
for unknown in ("task_clok", "nosuch"):
    if unknown in events:
        sys.stderr.write(f"event syntax error: '{unknown}'\\n            \\\\___ parser error\\n"
                         "Run 'perf list' for a list of valid events\\n\\n Usage: perf stat\\n")
        sys.exit(129)
""")
        for event, says in (("task_clok", "did you mean 'task-clock'?"),
                            ("nosuch", "`perf list` shows those that it knows")):
            result = self.taskbench(*self.arguments(f"cycles,{event}"), env=env, status=2)
            self.assertEqual(result.stderr, "taskbench: error: --counters: perf knows no event "
                                            f"'{event}'; {says}\n")
            self.assertFalse((self.folder / "r.json").exists())

    def test_one_event_that_perf_refuses_costs_no_other(self):
        events = self.events("cycles,sched:any,instructions", env=self.fake_perf("""
if "sched:any" in events:
    sys.stderr.write("event syntax error: 'sched:any'\\n            \\\\___ can't access trace "
                     "events\\n\\n Usage: perf stat\\n")
    sys.exit(129)
"""))
        self.assert_null(events["sched:any"], "not permitted")
        self.assert_counted(events["cycles"], events["instructions"])

    def test_denied_by_paranoia_comes_with_the_command_that_relaxes_it(self):
        _, events, result = self.counted("basic", env=self.fake_perf("""
sys.stderr.write("Error:\\nAccess to performance monitoring and observability operations is "
                 "limited.\\n" + "x" * 900 + "\\nperf_event_paranoid setting is 4:\\n"
                 "  -1: Allow use of (almost) all events by all users\\n")
sys.exit(255)
"""))
        self.assert_null(events["cycles"], "perf_event_paranoid is 4; `sudo sysctl "
                                           "kernel.perf_event_paranoid=1` allows it")
        self.assertIn("kernel.perf_event_paranoid=1", result.stderr)

    def test_perf_that_does_not_work_with_this_kernel(self):
        env = self.fake_perf()
        warning = "WARNING: perf not found for kernel 5.15.0-91"
        self.script("bin/perf", f"echo '{warning}' >&2\nexit 2")
        self.assert_null(self.events("cycles", env=env)["cycles"], warning)

    def test_perf_that_fails_or_hangs_while_counting(self):
        for body, says in (
            ("sys.exit('failed to attach: EINVAL')", "failed to attach: EINVAL"),
            ("print('Segmentation fault', file=open(out, 'w')), sys.exit()", "cannot be read"),
            ("open(out, 'w').write('{\"counter-value\" : \"12'), sys.exit()", "cannot be read"),
            ("open(out, 'w').close(), sys.exit()", "wrote no counts"),
            ("sys.exit()", "wrote no counts"),
            ("start(command), os.write(2, b'Events disabled\\nEvents enabled\\n'), "
             "os.kill(os.getpid(), 9)", "perf stat was killed by signal 9 (Killed)"),
            ("hang_up()", "perf did not answer 'enable'"),
        ):
            with self.subTest(body):
                env = self.fake_perf(f"measuring and ({body})")
                self.assert_null(self.events("cycles", env=env)["cycles"], says)

    def test_perf_that_hangs_is_given_up_after_ten_seconds(self):
        events = self.events("basic,software", env=self.fake_perf("time.sleep(1000)"))
        for event in events.values():
            self.assert_null(event, "perf stat did not end in time and was killed")

    def test_value_that_is_missing_in_one_process_leaves_the_others_and_a_reason(self):
        event = self.events("cycles", env=self.fake_perf(r"""
if measuring:
    with open(out + ".runs", "a+") as runs:
        runs.write(".")
        if runs.tell() == 3:
            sys.exit("the third fails")
"""))["cycles"]
        self.assertEqual(event["samples"], 2)
        self.assertIn("the third fails", event["reason"])

    def test_control_c_while_counting_leaves_no_process_and_no_file(self):
        env = self.fake_perf(f"""
if measuring:
    child = start(["sleep", "1000"])
    print(os.getpid(), child, file=open({str(self.folder / "pids")!r}, "w", 1))
    end_of(child)
""")
        errors = self.interrupt(*self.arguments("cycles", "--quiet"),
                                when=self.written("pids", lines=1), env=env)
        self.assertIn("interrupted while counting; the times are complete", errors)
        self.assertEqual(self.left("tmp"), [])
        self.wait_until(lambda: all(map(is_gone, self.read("pids").split())))
        own = self.load("r.json")["taskbench"]
        self.assertFalse(own["partial"])
        self.assert_null(own["cases"][0]["events_per_iteration"][0], "interrupted")

    def test_taskbench_killed_while_counting_leaves_the_times(self):
        hangs = HANGS.format(marker=str(self.folder / "begun"))
        self.kill(*self.arguments("cycles", "--json-flat", "flat.json", "--quiet"),
                  when=self.written("begun"), env=self.fake_perf(f"if measuring:\n    {hangs}"))
        (row, *_) = self.load("flat.json")["benchmarks"]
        self.assertGreater(row["real_time"], 0)
        (case,) = self.load("r.json")["taskbench"]["cases"]
        self.assertEqual(case["summary"]["samples"], 2)

    def test_what_a_killed_one_has_left_is_removed_by_a_later_one(self):
        hangs = HANGS.format(marker=str(self.folder / "begun"))
        self.kill(*self.arguments("cycles", "--quiet"), when=self.written("begun"),
                  env=self.fake_perf(f"if measuring:\n    {hangs}"))
        (scratch,) = (self.folder / "tmp").iterdir()
        held = self.folder / "tmp/taskbench-scratch-of-another"
        for folder in (held, self.folder / "tmp/taskbench-cache"):
            folder.mkdir()
        for folder in (scratch, held, self.folder / "tmp/taskbench-cache"):
            os.utime(folder, (1, 1))  # a younger folder may be one being made
        lock = os.open(held, os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.taskbench(*self.arguments("cycles", "--quiet"), env=self.fake_perf())
        self.assertEqual(self.left("tmp"), ["taskbench-cache", held.name])

    def test_what_is_no_regular_file_gets_the_result_once(self):
        arguments = self.arguments("cycles", "--quiet", file="/dev/stdout")
        result = self.taskbench(*arguments, env=self.fake_perf())
        (case,) = json.loads(result.stdout)["taskbench"]["cases"]
        self.assert_counted(case["events_per_iteration"][0])

    def test_folder_for_temporary_files_that_cannot_be_written(self):
        env = {**self.fake_perf(), "TMPDIR": str(self.folder / "nowhere")}
        _, events, result = self.counted("cycles,{branches,branch-misses}", env=env)
        self.assertIn("perf counted nothing: ", result.stderr)
        self.assertEqual(len(self.load("r.json")["benchmarks"]), 6)
        self.assertEqual(list(events), ["cycles", "branches", "branch-misses"])
        for event in events.values():
            self.assert_null(event, "TMPDIR")
            self.assertIn("nowhere", event["reason"])


class Refusals(CountersTest):
    def test_what_is_no_event(self):
        self.refuse("run chained_spawn", {f"'--counters={given}'": says for given, says in (
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
        )})

    def test_names_of_perf_that_look_like_ours_are_no_slips(self):
        names = ("instructions", "instructions:u", "branch-instructions", "cache-misses",
                 "cache-references", "topdown-retiring", "cpu-clock", "task-clock", "cs")
        events = self.events(",".join(names), env=self.fake_perf())
        self.assertEqual(set(events), set(names))


class Exactly(CountersTest):
    """`--counters instructions-exact`, by valgrind's callgrind."""

    def test_counts_are_per_iteration_and_scatter_is_told(self):
        log = str(self.folder / "count")
        _, events, result = self.counted("instructions-exact", env=self.fake_valgrind(
            f"n = os.path.exists({log!r}) and len(open({log!r}).read()) or 0\n"
            f"open({log!r}, 'a').write('x')\n"
            "open(out, 'w').write('events: Ir\\ntotals: %d\\n' % (4000 + 40 * (n == 2)))"))
        event = events["instructions-exact"]
        self.assertEqual((event["median"], event["min"], event["max"]), (1000, 1000, 1010))
        self.assertEqual(event["samples"], 5)
        self.assertRegex(result.stderr, r"counts of its instructions differ by up to 1 %")
        self.assertIn("callgrind: instructions of the scheduler in_turn",
                      " ".join(result.stdout.split()))

    def test_failures_are_reasons(self):
        for body, reason in (
            ("sys.exit('no memory')", "under callgrind it exited with status 1: no memory"),
            ("pass", "callgrind wrote no count of it"),
            ("open(out, 'w').write('events: Ir\\ntot')", "callgrind wrote no count of it"),
            ("os.kill(os.getpid(), 9)", "under callgrind it was killed by signal 9"),
        ):
            with self.subTest(body):
                env = self.fake_valgrind(body) if body else self.without_perf()
                events = self.events("instructions-exact", env=env)
                self.assert_null(events["instructions-exact"], reason)

    def test_perf_and_callgrind_count_side_by_side(self):
        env = self.fake_perf()
        self.fake_valgrind("open(out, 'w').write('events: Ir\\ntotals: 4000\\n')")
        events = self.events("cycles,instructions-exact", env=env)
        self.assertEqual(events["instructions-exact"]["median"], 1000)
        self.assertIsNotNone(events["cycles"]["median"])

    def count_command(self, body, options=""):
        """Counts a command under a valgrind that does `body`; returns the event and the output."""
        answer = self.taskbench(
            "run --command x=true --iterations x=1 --repetitions 1 --json r.json "
            f"--counters instructions-exact {options}", env=self.fake_valgrind(body))
        (case,) = self.load("r.json")["taskbench"]["cases"]
        (event,) = case["events_per_iteration"]
        return event, " ".join(answer.stdout.split())

    def test_of_a_command_all_processes_of_a_run_count(self):
        self.write("in", "given")
        log = str(self.folder / "log")
        event, printed = self.count_command(
            "for process in '12':\n"
            "    with open(out.replace('%p', process), 'w') as file:\n"
            "        file.write('events: Ir\\ntotals: %s000\\n' % process)\n"
            f"open({log!r}, 'a').write(sys.stdin.read() + ' ' + sys.argv[-1] + '\\n')",
            "--input in --prepare 'sh -c \"echo before >> log\"' "
            "--conclude 'sh -c \"echo after >> log\"'")
        self.assertEqual((event["median"], event["samples"]), (3000, 5))
        runs = self.read("log").split("\n")[:-1]
        self.assertEqual(runs[-15:], ["before", "given true", "after"] * 5)
        self.assertIn("callgrind: instructions of all processes of a run, from its start to its "
                      "end", printed)

    def test_a_command_that_fails_under_callgrind_is_not_counted_unless_it_may(self):
        body = "open(out, 'w').write('events: Ir\\ntotals: 4000\\n')\nsys.exit(3)"
        event, _ = self.count_command(body)
        self.assert_null(event, "under callgrind it exited with status 3")
        event, _ = self.count_command(body, "--ignore-failure")
        self.assertEqual(event["median"], 4000)

    def test_of_a_command_nothing_else_can_be_counted(self):
        answer = self.taskbench("run --command true --counters cycles", status=2)
        self.assertIn("--counters of a --command: only instructions-exact can be counted; `perf "
                      "stat CMD` counts the others", answer.stderr)


if __name__ == "__main__":
    main()
