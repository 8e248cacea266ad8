#!/usr/bin/env python3
"""`taskbench doctor`, and what `taskbench run` says about a machine that changed. Needs
python3-jsonschema."""

import os
import signal

from fake_program import put_on_path
from schemas import SCHEMAS, SchemaCase
from taskbench_command import CommandTest, last_lines, main
from terminal_session import TerminalTest

ORDER = ["serious", "moderate", "minor", "unknown", "ok"]
CHECKS = {
    "build", "quota", "load", "steal", "core", "governor", "thermal", "memory", "clock source",
    "boost", "smt", "hypervisor", "affinity", "aslr", "huge pages", "counters", "tools",
}


class Doctor(TerminalTest):
    def doctor(self, options="", **others):
        """Runs doctor, which exits with 0 or 4, depending on the machine."""
        return self.taskbench(f"doctor {options}", status=(0, 4), **others)

    @staticmethod
    def finding(report, check):
        return next(row for row in report["findings"] if row["check"] == check)


class Report(SchemaCase, Doctor):
    schema_path = SCHEMAS / "doctor-v1.schema.json"
    here = None

    def report(self):
        """Returns the report on this machine, made once for all these tests: as JSON, and as
        printed on a terminal."""
        if not Report.here:
            session = self.session("doctor --json doctor.json", columns=80)
            session.finish()
            Report.here = self.load("doctor.json"), session
        return Report.here

    def test_json_keeps_to_its_schema(self):
        self.assertEqual(self.errors(self.report()[0]), [])

    def test_every_check_is_there_worst_first_and_the_exit_status_says_whether_it_is_serious(self):
        report, session = self.report()
        self.assertEqual({row["check"] for row in report["findings"]}, CHECKS)
        severities = [row["severity"] for row in report["findings"]]
        self.assertEqual(severities, sorted(severities, key=ORDER.index))
        self.assertEqual(session.process.returncode, 4 if "serious" in severities else 0)
        self.assertEqual(report["disturbed"], "serious" in severities)

    def test_what_is_not_in_order_says_what_mends_it_and_what_is_unknown_why(self):
        for row in self.report()[0]["findings"]:
            with self.subTest(row["check"]):
                if row["severity"] in ("serious", "moderate", "minor"):
                    self.assertTrue(row["mend"])
                elif row["severity"] == "unknown":
                    self.assertTrue(row["reason"])
                self.assertTrue(row["matters"])

    def test_the_floor_has_units_spread_and_sample_counts(self):
        report, _ = self.report()
        floor = {row["name"]: row for row in report["floor"]}
        self.assertEqual(
            list(floor),
            ["clock_resolution", "clock_step", "clock_cost", "locked_instruction", "timer_jitter",
             "wake_up"],
        )
        for name, row in floor.items():
            with self.subTest(name):
                self.assertEqual(row["unit"], "ns")
                if name == "clock_resolution":
                    self.assertEqual(row["samples"], 1)
                    continue
                self.assertGreaterEqual(row["samples"], 100)
                self.assertLessEqual(row["min"], row["lower_quartile"])
                self.assertLessEqual(row["lower_quartile"], row["median"])
                self.assertLessEqual(row["median"], row["upper_quartile"])
                self.assertLessEqual(row["upper_quartile"], row["p99"])

    def test_each_workload_stands_beside_the_floor(self):
        names = [row["name"].split("/")[0] for row in self.report()[0]["workloads"]]
        self.assertEqual(names, self.workload_names())

    def test_build_and_machine_are_named(self):
        report, _ = self.report()
        self.assertTrue(report["environment"]["kernel"].startswith("Linux "))
        is_debug = report["environment"]["build_type"] == "Debug"
        if is_debug or "-fsanitize" in report["environment"]["compiler_flags"]:
            self.assertEqual(self.finding(report, "build")["severity"], "serious")

    def test_table_fits_80_columns_but_for_commands_and_has_colours_on_a_terminal(self):
        report, session = self.report()
        self.assertEqual(report["taskbench_doctor"], 1)
        self.assertIn("\x1b[1m", session.text)
        lines = last_lines(session.text.replace("\r\n", "\n"))
        text = "\n".join(lines)
        self.assertIn("wrote doctor.json", text)
        self.assertIn("taskbench doctor", text)
        for name in self.workload_names():
            self.assertRegex(text, rf"(?m)^{name} \([\w ]+\) +[\d,.]+ ")
        for line in lines:
            self.assertEqual(line, line.rstrip())
            # The name of a control group may exceed the width of a line.
            if "→" not in line and "/sys/fs/cgroup/" not in line:
                self.assertLessEqual(len(line), 80, line)


class Findings(Doctor):
    """Findings that a test can cause, all at once: as user nobody, with one CPU, and with hardly
    any tools."""

    here = None

    def report(self):
        Findings.here = Findings.here or self.made()
        return Findings.here

    def made(self):
        fake = self.folder / "bin"
        for name, body in (("gnuplot", "echo gnuplot 5.4"), ("perf", "echo no kernel >&2; exit 2")):
            put_on_path(fake, name, f"#!/bin/sh\n{body}\n")
        options = self.as_nobody()
        become_nobody = options.pop("preexec_fn")
        one = {min(os.sched_getaffinity(0))}

        def preexec():
            os.sched_setaffinity(0, one)
            become_nobody()

        self.folder.chmod(0o777)
        result = self.doctor("--quiet --json doctor.json", preexec_fn=preexec,
                             env={"PATH": str(fake)}, **options)
        return self.load("doctor.json"), result

    def test_quiet_prints_nothing_and_still_writes(self):
        report, result = self.report()
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        self.assertEqual(report["disturbed"], result.returncode == 4)

    def test_one_cpu(self):
        report, _ = self.report()
        row = self.finding(report, "affinity")
        self.assertEqual(row["severity"], "moderate")
        self.assertIn("1 CPU", row["found"])
        wake_up = report["floor"][-1]
        self.assertIn("on the same CPU", wake_up["what"])
        self.assertGreaterEqual(wake_up["samples"], 100)

    def test_counters_are_tried_and_not_inferred(self):
        self.assertRegex(
            self.finding(self.report()[0], "counters")["found"],
            r"^(hardware and software events( can be counted$| of user code only)"
            r"|no hardware counters here \([A-Z][^)]*\): software events"
            r"|perf_event_open: [A-Z].*: (nothing may be|no counter can be|this kernel))")

    def test_tools_that_are_missing_or_do_not_work_are_named_with_their_packages(self):
        row = self.finding(self.report()[0], "tools")
        self.assertEqual(row["severity"], "minor")
        self.assertIn("perf exited with status 2: no kernel", row["found"])
        self.assertIn("valgrind is not installed", row["found"])
        self.assertNotIn("gnuplot", row["found"])
        self.assertIn("objdump is not installed", row["found"])
        self.assertEqual(row["mend"], "sudo apt-get install linux-perf valgrind binutils")


class Output(Doctor):
    def test_unwritable_file_is_refused_before_anything_is_measured(self):
        self.refuse("doctor", {
            "--json no/such/folder/r.json": "no/such/folder",
            "--format jsno": "unknown format 'jsno'",
            "now": "unexpected argument 'now'",
        })

    def test_interrupted(self):
        process = self.start("doctor --json doctor.json")
        # doctor installs its signal handlers first; before that, SIGINT would just kill it.
        status = f"/proc/{process.pid}/status"
        while process.poll() is None:
            with open(status, encoding="ascii") as file:
                caught = next(line for line in file if line.startswith("SigCgt:"))
            if int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1:
                break
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
        self.assertEqual((process.returncode, output), (130, ""), errors)
        self.assertIn("interrupted", errors)
        self.assertFalse((self.folder / "doctor.json").exists())


class Drift(CommandTest):
    """What `taskbench run` says about a machine that changed."""

    def run_for(self, options):
        result = self.taskbench(
            f"run chained_spawn --workers 1 --repetitions 3 --json r.json {options}")
        return self.load("r.json")["taskbench"]["drift"], result

    def test_is_in_the_json_with_a_value_or_a_reason_each(self):
        drift, result = self.run_for("--min-time 300ms")
        self.assertGreater(drift["seconds"], 0.5)
        self.assertIsNotNone(drift["stolen_share"])
        self.assertIsNotNone(drift["others_share"])
        for name, value in drift.items():
            self.assertEqual(value is None, name in drift["reasons"], name)
        self.assertEqual(bool(drift["moved"]), "the machine was disturbed" in result.stderr)

    def test_a_run_that_is_too_short_says_so(self):
        drift, result = self.run_for("--min-time 1ms --param length=10")
        if drift["seconds"] < 0.5:
            self.assertIsNone(drift["stolen_share"])
            self.assertIn("ticks", drift["reasons"]["stolen_share"])
            self.assertNotIn("stolen_share", drift["moved"])
        self.assertEqual(bool(drift["moved"]), "the machine was disturbed" in result.stderr)


if __name__ == "__main__":
    main()
