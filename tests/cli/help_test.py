#!/usr/bin/env python3
"""`--help`, `--version`, and the manual page made from them."""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

from taskbench_command import BINARY, CommandTest, environment, main

COMMANDS = (
    "run", "ab", "gate", "baseline", "calibrate", "compare", "ladder", "report",
    "doctor", "profile", "trace", "list", "completion", "help",
)
PROSE = Path(__file__).resolve().parents[2] / "docs" / "man" / "taskbench.h2m"


class HelpTexts(CommandTest):
    def help_texts(self, **options):
        of_baseline = ("save", "compare", "list", "show", "promote", "rm")
        for command in ("", *COMMANDS, *(f"baseline {command}" for command in of_baseline)):
            yield self.taskbench(f"{command} --help", **options).stdout


class Help(HelpTexts):
    def test_every_command_is_listed_with_a_summary(self):
        text = self.taskbench("--help").stdout
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} +[A-Z].*\.$")

    def test_every_command_has_description_usage_options_and_examples(self):
        for command in COMMANDS:
            with self.subTest(command):
                text = self.taskbench(command, "--help").stdout
                self.assertRegex(text.splitlines()[0], r"^[A-Z].*\.$")
                self.assertIn(f"\nUsage: taskbench {command} ", text)
                self.assertIn("\nOptions:\n", text)
                self.assertIn("\nExamples:\n", text)

    def test_options_of_run_are_grouped_and_have_defaults(self):
        text = self.taskbench("run", "--help").stdout
        for group in ("What to measure:", "How to measure:", "Output:"):
            self.assertIn(f"\n\n{group}\n", text)
        for option, default in (
            ("--scheduler", "work_stealing"),
            ("--workers", "the CPUs that this process may use"),
            ("--repetitions", "9"),
            ("--min-time", "0.1s"),
            ("--seed", "1"),
            ("--format", "table"),
        ):
            entry = re.search(rf"(?m)^  {option} .*\n(?: {{10,}}.*\n)*", text).group()
            self.assertIn(f"[default: {default}]", entry)

    def test_lines_fit_the_terminal_and_at_most_100_columns(self):
        for columns, width in ((80, 80), (200, 100), (None, 100)):
            env = {"COLUMNS": str(columns)} if columns else {}
            for text in self.help_texts(env=env):
                for line in text.splitlines():
                    self.assertLessEqual(len(line), width, line)

    def test_no_word_is_lost_or_broken_on_a_narrow_terminal(self):
        for command in ("run", "gate"):
            narrow = self.taskbench(command, "--help", env={"COLUMNS": "60"}).stdout
            self.assertEqual(
                narrow.split(), self.taskbench(command, "--help").stdout.split(), command
            )

    def test_help_is_a_command_too(self):
        for words in ("", "run", "baseline save", "help"):
            with self.subTest(words):
                self.assertEqual(self.taskbench(f"help {words}").stdout,
                                 self.taskbench(f"{words} --help").stdout)
        self.refuse("help", {
            "rnu": "unknown command 'rnu'; did you mean 'run'?",
            "baseline sav": "unknown command 'sav'; did you mean 'save'?",
            "run x": "`taskbench run` has no commands; 'x' is one too",
        })
        self.assertEqual(self.taskbench("run -h").stdout, self.taskbench("run --help").stdout)


class Version(CommandTest):
    def test_says_version_commit_compiler_and_build_type(self):
        self.assertRegex(
            self.taskbench("--version").stdout,
            r"\Ataskbench \d+\.\d+\.\d+\n"
            r"git commit: ([0-9a-f]{40}(-dirty)?|unknown)\n"
            r"compiler: \S.*\n"
            r"build type: \S+\n\Z",
        )


@unittest.skipUnless(shutil.which("help2man"), "no help2man: scripts/install-deps test installs it")
class Manual(HelpTexts):
    """docs/man/taskbench.h2m and `taskbench help --all`"""

    @classmethod
    def setUpClass(cls):
        cls.page = subprocess.run(
            ["help2man", "--no-info", "--help-option=help --all", "--version-string=0",
             f"--include={PROSE}", BINARY],
            check=True, capture_output=True, encoding="utf-8", env=environment()).stdout

    def test_names_every_option_of_help_and_no_other(self):
        offered = set()
        for text in self.help_texts():
            listed = re.findall(r"(?m)^  (-\S+)", text)
            offered.update(name for names in listed for name in names.split(","))
        page = self.page.replace("\\-", "-")
        described = set(re.findall(r"(?m)^\.(?:TP|HP)\n(?:\\fB)?(--?[a-z][a-z-]*)", page))
        self.assertIn("--min-time", offered)
        self.assertEqual(described | {"--help"}, offered)
        prose = PROSE.read_text(encoding="utf-8").replace("\\-", "-")
        self.assertLessEqual(set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", prose)), offered)

    def test_has_a_section_for_every_command_in_the_order_of_help(self):
        sections = re.findall(r'(?m)^\.SH "?TASKBENCH ([A-Z]+)"?$', self.page)
        self.assertEqual(sections, [command.upper() for command in COMMANDS])

    def test_names_every_exit_status(self):
        for status in (0, 1, 2, 3, 4, 5, 130):
            self.assertRegex(self.page, rf"(?m)^\.TP\n\.B {status}$")

    def test_lines_begin_with_no_stray_control_character(self):
        """A text line that begins with a dot or an apostrophe would be lost."""
        known = r"^\.(\\\"|(TH|SH|SS|TP|HP|IP|PP|B|I|BR|RB|RI|IR|BI|br)\b)"
        for line in self.page.splitlines():
            if line.startswith((".", "'")):
                self.assertRegex(line, known)


if __name__ == "__main__":
    main()
