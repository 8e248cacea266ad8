#!/usr/bin/env python3
"""Progress on standard error: one rewritten line on a terminal, a few plain lines elsewhere."""

import re
import subprocess
import unicodedata

from taskbench_command import CommandTest, main, without_note_of_drift
from terminal_session import TerminalTest

SECONDS = r"(?:\d+ min )?\d+ s"
PROGRESS = rf"\d+/\d+ repetitions, {SECONDS} elapsed"


def elapsed_s(line):
    """Returns how long the run had taken when `line` was printed."""
    minutes, seconds = re.search(r"(?:(\d+) min )?(\d+) s elapsed", line).groups()
    return 60 * int(minutes or 0) + int(seconds)


def width(line):
    return sum(0 if unicodedata.combining(c) else 1 for c in line)


class OnATerminal(TerminalTest):
    def run_shown(self, *arguments, **options):
        return self.shown("run", *self.small(*arguments, **options.pop("small", {})), **options)

    def test_one_line_is_rewritten_and_removed_in_the_end(self):
        text = self.run_shown("chained_spawn", "ping_pong", stdout=False,
                              small={"min_time": "100ms", "repetitions": 5})
        updates = re.findall(rf"\r({PROGRESS}[^\r\x1b]*)\x1b\[K", text)
        self.assertGreaterEqual(len(updates), 3, text)
        self.assertNotIn("\n", text.rstrip("\r\n"))
        self.assertTrue(without_note_of_drift(text).endswith("\r\x1b[K"), text)
        self.assertRegex(updates[-1], rf"/10 repetitions, {SECONDS} elapsed, {SECONDS} left")
        self.assertIn(": chained_spawn/work_stealing/workers:", text)
        self.assertIn(": ping_pong/work_stealing/workers:", text)

    def test_line_is_cut_to_the_width_of_the_terminal(self):
        text = self.run_shown("chained_spawn", stdout=False, columns=40,
                              small={"min_time": "100ms", "repetitions": 5})
        updates = re.findall(r"\r([^\r\x1b]*)\x1b\[K", text)
        self.assertEqual(max(len(update) for update in updates), 39)

    def test_names_do_not_control_the_terminal_and_are_cut_between_characters(self):
        command = "sh -c 'sleep 0.02 # " + 30 * "漢" + "\x1b[2J\n'"
        for columns in (100, 180):
            with self.subTest(columns):
                text = self.shown("run", "--command", command, "--repetitions", "3",
                                  "--min-time", "20ms", stdout=False, columns=columns,
                                  env={"LC_ALL": "C.UTF-8"})
                updates = re.findall(r"\r([^\r\x1b]*)\x1b\[K", text)
                self.assertTrue(any("漢" in update for update in updates), text)
                self.assertLessEqual(max(
                    sum(2 if unicodedata.east_asian_width(c) == "W" else 1 for c in update)
                    for update in updates), columns - 1)
                self.assertNotIn("[2J", text.replace("\ufffd[2J", ""))
                self.assertNotIn("\n", without_note_of_drift(text).rstrip("\r\n"))

    def test_table_comes_after_the_line_is_gone(self):
        text = self.run_shown("chained_spawn", small={"min_time": "50ms"})
        table = text[text.rindex("\r\x1b[K") :]
        self.assertIn("chained_spawn", table)
        self.assertNotIn("elapsed", table)

    def test_dumb_terminal_gets_neither_escapes_nor_rewriting(self):
        for term in ("dumb", ""):
            with self.subTest(term):
                text = self.run_shown("chained_spawn", env={"TERM": term})
                self.assertNotIn("\x1b", text)
                self.assertNotIn("\r", text.replace("\r\n", ""))

    def test_colours_unless_no_color(self):
        for env, coloured in (({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False)):
            with self.subTest(env):
                text = self.run_shown("chained_spawn", env=env)
                self.assertEqual(bool(re.search(r"\x1b\[[\d;]*m", text)), coloured, text)

    def test_table_fits_the_terminal(self):
        text = self.run_shown("chained_spawn", stderr=False, columns=80)
        plain = re.sub(r"\x1b\[[\d;]*[mK]", "", text)
        widest = max(width(line) for line in plain.splitlines() if "chained_spawn" in line)
        self.assertLessEqual(widest, 80)

    def test_quiet_shows_nothing(self):
        text = self.shown("run --quiet --json r.json", *self.small("chained_spawn"))
        self.assertEqual(text, "")


class InALog(CommandTest):
    def test_first_line_after_two_seconds_then_at_most_every_ten(self):
        process = self.start("run", *self.endless("timer"), stdout=subprocess.DEVNULL)
        lines = [process.stderr.readline() for _ in range(2)]
        process.terminate()
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        for line in lines:
            self.assertRegex(
                line,
                rf"^taskbench: {PROGRESS}, {SECONDS} left: timer/work_stealing/workers:\d+",
            )
        # Times are printed in whole seconds, so 12.4 and 2.6 s are 9 apart.
        shown_at = [elapsed_s(line) for line in lines]
        self.assertGreaterEqual(shown_at[0], 2, lines)
        self.assertGreaterEqual(shown_at[1] - shown_at[0], 9, lines)

    def test_a_short_run_prints_no_progress(self):
        errors = self.taskbench("run", *self.small("chained_spawn")).stderr
        self.assertEqual(without_note_of_drift(errors), "")

    def test_more_workers_than_cpus_are_noted(self):
        result = self.taskbench("run", *self.small("chained_spawn"), "--workers", "64")
        self.assertRegex(result.stderr, r"taskbench: note: up to 64 workers share \d+ CPUs\n")


if __name__ == "__main__":
    main()
