#!/usr/bin/env python3
"""`--help`, `--version`, and the manual page that must say the same."""

import re
from pathlib import Path

from taskbench_command import CommandTest, main

COMMANDS = (
    "run", "ab", "gate", "baseline", "calibrate", "compare", "report",
    "doctor", "profile", "trace", "list", "completion", "help",
)
MANUAL = Path(__file__).resolve().parents[2] / "docs" / "man" / "taskbench.1"


class HelpTexts(CommandTest):
    def help_texts(self, **options):
        yield self.taskbench("--help", **options).stdout
        for command in COMMANDS:
            yield self.taskbench(command, "--help", **options).stdout
        for command in ("save", "compare", "list", "show", "promote", "rm"):
            yield self.taskbench("baseline", command, "--help", **options).stdout


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
        for words in ((), ("run",), ("baseline", "save"), ("help",)):
            with self.subTest(words):
                self.assertEqual(
                    self.taskbench("help", *words).stdout, self.taskbench(*words, "--help").stdout
                )
        self.refused("help", "rnu", says="unknown command 'rnu'; did you mean 'run'?")
        self.refused("help", "baseline", "sav", says="unknown command 'sav'; did you mean 'save'?")
        self.refused("help", "run", "x", says="`taskbench run` has no commands; 'x' is one too")

    def test_short_option_too(self):
        long_form = self.taskbench("run", "--help").stdout
        self.assertEqual(self.taskbench("run", "-h").stdout, long_form)


class Version(CommandTest):
    def test_says_version_commit_compiler_and_build_type(self):
        self.assertRegex(
            self.taskbench("--version").stdout,
            r"\Ataskbench \d+\.\d+\.\d+\n"
            r"git commit: ([0-9a-f]{40}(-dirty)?|unknown)\n"
            r"compiler: \S.*\n"
            r"build type: \S+\n\Z",
        )


class Manual(HelpTexts):
    """docs/man/taskbench.1"""

    def test_names_every_option_of_help_and_no_other(self):
        offered = set()
        for text in self.help_texts():
            listed = re.findall(r"(?m)^  (-\S+)", text)
            offered.update(name for names in listed for name in names.split(","))
        page = MANUAL.read_text(encoding="utf-8").replace("\\-", "-")
        described = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", page))
        self.assertIn("--min-time", offered)
        self.assertEqual(described, offered)

    def test_names_every_command_format_and_exit_status(self):
        page = MANUAL.read_text(encoding="utf-8")
        for command in COMMANDS:
            self.assertRegex(page, rf"(?m)^\.TP\n\.B {command}$")
        formats = re.search(r"What is printed: (.*?)\.", self.taskbench("run", "--help").stdout)
        for name in formats.group(1).split(", "):
            self.assertRegex(page, rf"(?m)^(\.BR? )?{name}\b")
        for status in (0, 1, 2, 3, 4, 5, 130):
            self.assertRegex(page, rf"(?m)^\.TP\n\.B {status}$")

    def test_what_is_indented_ends(self):
        """Else all that follows stands further right, and the next example further still."""
        open_at = None
        for number, line in enumerate(MANUAL.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith((".RS", ".SH", ".SS")):
                self.assertIsNone(open_at, f"line {number}: .RS of line {open_at} is still open")
            if line.startswith(".RS"):
                open_at = number
            elif line.startswith(".RE"):
                self.assertIsNotNone(open_at, f"line {number}: .RE ends nothing")
                open_at = None
        self.assertIsNone(open_at, f".RS of line {open_at} is never closed")

    def test_lines_begin_with_no_stray_control_character(self):
        """A line of text that begins with a dot or an apostrophe would be lost."""
        known = r"^\.(\\\"|(TH|SH|SS|TP|PP|RS|RE|B|I|BR|RB|RI|IR|BI|br)\b)"
        for line in MANUAL.read_text(encoding="utf-8").splitlines():
            if line.startswith((".", "'")):
                self.assertRegex(line, known)


if __name__ == "__main__":
    main()
