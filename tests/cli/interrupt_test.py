#!/usr/bin/env python3
"""^C, SIGTERM and SIGHUP: what is complete is kept; a second ^C or SIGTERM kills."""

import os
import re
import signal
import subprocess
from pathlib import Path

from taskbench_command import main
from terminal_session import TerminalTest


def repetitions_done(text):
    """Reads the count from the newest progress line."""
    found = re.findall(r"(\d+)/\d+ repetitions", text)
    return int(found[-1]) if found else -1


class Interrupted(TerminalTest):
    def assert_partial_result(self, session):
        self.assertEqual(session.finish(), 130, session.text)
        self.assertIn("taskbench: note: interrupted; the results are partial", session.text)
        result = self.load("r.json")
        self.assertTrue(result["taskbench"]["partial"])
        rows = [row for row in result["benchmarks"] if row["run_type"] == "iteration"]
        self.assertGreater(len(rows), 0)
        self.assertLess(len(rows), 10000)
        self.assertIn("yield_many", session.text[session.text.rindex("\r\x1b[K") :])
        self.assertRegex(session.text, "(?i)partial")

    def test_control_c_and_sigterm_write_what_is_complete_and_exit_130(self):
        for end in (lambda session: session.press(b"\x03"),
                    lambda session: session.process.send_signal(signal.SIGTERM)):
            session = self.session("run --json r.json", *self.endless())
            session.read_until(lambda text: repetitions_done(text) > 0)
            end(session)
            self.assert_partial_result(session)

    def test_terminal_that_is_closed_does_the_same_and_may_say_so_twice(self):
        process = self.start("run --json r.json", *self.endless(), stdout=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        for line in process.stderr:
            if repetitions_done(line) > 0:
                break
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertTrue(self.load("r.json")["taskbench"]["partial"])

    def test_before_the_first_repetition_is_complete(self):
        session = self.session("run --json r.json",
                               *self.small("chained_spawn", min_time="1h", repetitions=1))
        session.read_until(lambda text: repetitions_done(text) == 0)
        session.press(b"\x03")
        self.assertEqual(session.finish(), 130, session.text)
        result = self.load("r.json")
        self.assertTrue(result["taskbench"]["partial"])
        self.assertEqual(result["benchmarks"], [])

    def test_second_signal_kills_at_once(self):
        for second in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(second):
                # One iteration takes long, and a run stops only between iterations. The main thread
                # runs it itself: if it waited for workers in a system call, ThreadSanitizer would
                # hold a signal back until the call returns.
                session = self.session("run yield_many --scheduler current_thread --json r.json "
                                       "--param tasks=100 yields=1000000000")
                # Not earlier: before the run has begun, the first signal would suffice, and the
                # result would be written.
                session.read_until(lambda _: self.cpu_time_s(session.process.pid) > 0.2)
                session.process.send_signal(signal.SIGINT)
                session.read_until(lambda _: not self.is_caught(session.process.pid))
                session.process.send_signal(second)
                self.assertEqual(session.finish(), -second)
                self.assertFalse((self.folder / "r.json").exists())

    @staticmethod
    def cpu_time_s(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def is_caught(pid):
        """Whether SIGINT still has a handler, which the first one removes."""
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            caught = next(line for line in status if line.startswith("SigCgt:"))
        return bool(int(caught.split()[1], 16) & 1 << (signal.SIGINT - 1))

    def test_while_it_is_found_out_whether_programs_are_equal(self):
        for name in ("one/true", "two/true"):
            self.write(name, Path("/bin/true").read_bytes(), 0o755)
        self.script("tools/ldd", f"touch {self.folder}/asked\nsleep 60")
        errors = self.interrupt("ab --kind command --base one/true --head two/true --outputs true",
                                when=self.written("asked"),
                                env={"PATH": f"{self.folder}/tools:{os.environ['PATH']}"})
        self.assertIn("interrupted before the first block", errors)


if __name__ == "__main__":
    main()
