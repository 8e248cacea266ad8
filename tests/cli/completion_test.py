#!/usr/bin/env python3
"""`taskbench completion`: the shells offer what the program really takes."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from taskbench_command import BINARY, CommandTest, main
from terminal_session import TerminalSession

SHELLS = ("bash", "zsh", "fish")


class Completion(CommandTest):
    def script(self, shell):
        return self.taskbench("completion", shell).stdout

    def script_file(self, shell):
        path = self.folder / f"completion.{shell}"
        path.write_text(self.script(shell))
        return path

    def offered(self, *words):
        """What the program itself answers to the shells."""
        lines = self.taskbench("__complete", *words).stdout.splitlines()
        return [line.split("\t")[0] for line in lines]

    def run_options(self):
        text = self.taskbench("run", "--help").stdout
        return [n for names in re.findall(r"(?m)^  (-\S+)", text) for n in names.split(",")]


class Bash(Completion):
    def complete(self, *words):
        """What the completion function offers for the last word."""
        program = (
            'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _taskbench "$1";'
            ' printf "%s\\n" "${COMPREPLY[@]}"'
        )
        result = subprocess.run(
            ["bash", "--norc", "-c", program, "bash", self.script_file("bash"), BINARY, *words],
            cwd=self.folder, capture_output=True, encoding="utf-8", check=True,
        )
        self.assertEqual(result.stderr, "")
        return [line for line in result.stdout.split("\n") if line]

    def test_is_registered_for_taskbench(self):
        script = self.script_file("bash")
        registered = subprocess.run(
            ["bash", "--norc", "-c", f"source {script}; complete -p taskbench"],
            capture_output=True, encoding="utf-8", check=True,
        )
        self.assertEqual(registered.stdout, "complete -F _taskbench taskbench\n")

    def test_commands_and_global_options(self):
        commands = [
            "run", "ab", "gate", "baseline", "calibrate", "compare", "report",
            "doctor", "profile", "trace", "list", "completion", "help",
        ]
        self.assertEqual(self.complete(""), commands)
        self.assertEqual(self.complete("co"), ["compare", "completion"])
        self.assertEqual(set(self.complete("-")), {"-h", "--help", "--version"})

    def test_options_of_a_command(self):
        self.assertEqual(set(self.complete("run", "-")), set(self.run_options()))
        self.assertEqual(self.complete("run", "ping_pong", "--repe"), ["--repetitions"])
        self.assertEqual(set(self.complete("list", "-")), {"-h", "--help", "--format"})
        self.assertIn("--all-keys", self.complete("baseline", "rm", "--store", "save", "--"))

    def test_workloads_topics_and_shells(self):
        self.assertEqual(self.complete("run", ""), self.workload_names())
        self.assertEqual(self.complete("run", "ping_pong", "ch"), ["chained_spawn"])
        self.assertEqual(self.complete("list", ""), ["workloads", "schedulers", "parameters"])
        self.assertEqual(self.complete("completion", "f"), ["fish"])
        self.assertEqual(self.complete("help", "pro"), ["profile"])

    def test_subcommands_and_their_options(self):
        commands = ["save", "compare", "list", "show", "promote", "rm"]
        self.assertEqual(self.complete("baseline", ""), commands)
        self.assertEqual(self.complete("baseline", "p"), ["promote"])
        self.assertEqual(self.complete("baseline", "rm", "--a"), ["--all-keys"])
        self.assertEqual(self.complete("baseline", "save", "--jo"), ["--journal"])
        self.assertEqual(self.complete("baseline", "list", "--format", ""), ["table", "json"])
        self.assertEqual(set(self.complete("baseline", "-")), {"-h", "--help"})

    def test_values_of_options(self):
        schedulers = [row["name"] for row in self.listed("schedulers")]
        self.assertEqual(self.complete("run", "--scheduler", ""), schedulers)
        self.assertEqual(
            self.complete("run", "--scheduler", "work_stealing,cur"),
            ["work_stealing,current_thread"],
        )
        self.assertEqual(
            self.complete("run", "--format", ""), ["table", "libtest", "csv", "markdown"]
        )
        self.assertEqual(self.complete("list", "--format", ""), ["table", "json"])
        self.assertEqual(self.complete("run", "--workers", ""), [])

    def test_value_after_an_equals_sign(self):
        # Readline hands "--format=li" over as three words.
        self.assertEqual(self.complete("run", "--format", "=", "li"), ["libtest"])
        self.assertEqual(len(self.complete("run", "--format", "=")), 4)

    def test_parameters(self):
        offered = self.complete("run", "--param", "")
        expected = [f"{row['workload']}.{row['name']}=" for row in self.listed("parameters")]
        self.assertEqual(offered, expected)
        self.assertEqual(self.complete("run", "--param", "spawn_many.tasks", "=", "1"), [])

    def test_files(self):
        (self.folder / "old result.json").touch()
        self.assertEqual(self.complete("run", "--json", "old"), ["old result.json"])
        self.assertEqual(self.complete("run", "--json-flat", "old"), ["old result.json"])

    def test_flags_take_no_value(self):
        self.assertEqual(self.complete("run", "--quiet", ""), self.workload_names())


class Program(Completion):
    def test_every_option_of_every_command_is_offered(self):
        of_baseline = [f"baseline {each}" for each in self.offered("baseline", "")]
        for command in self.offered("") + of_baseline:
            words = command.split()
            text = self.taskbench(*words, "--help").stdout
            listed = re.findall(r"(?m)^  (-\S+)", text)
            with self.subTest(command):
                self.assertEqual(
                    set(self.offered(*words, "-")), {n for each in listed for n in each.split(",")}
                )

    def test_an_option_and_a_command_come_with_what_they_do(self):
        self.assertEqual(
            self.taskbench("__complete", "he").stdout, "help\tExplain a command\n"
        )
        self.assertEqual(
            self.taskbench("__complete", "run", "--pi").stdout,
            "--pin\tBind every worker to a CPU of its own\n",
        )

    def test_a_value_after_an_equals_sign_is_one_word_or_three(self):
        self.assertEqual(self.offered("run", "--format=li"), ["--format=libtest"])
        self.assertEqual(self.offered("run", "--format", "=", "li"), ["libtest"])
        self.assertEqual(self.offered("run", "--json="), [":files"])

    def test_odd_words_are_no_error(self):
        for words in (
            (), ("-",), ("--",), ("=",), ("run", "--nope=", "="), ("nope", ""), ("run", "--json")
        ):
            with self.subTest(words):
                self.taskbench("__complete", *words)

    def test_it_is_hidden(self):
        self.assertNotIn("__complete", self.taskbench("--help").stdout)


class EveryShell(Completion):
    def test_is_good_syntax(self):
        for shell in filter(shutil.which, SHELLS):
            checked = subprocess.run(
                [shell, "-n", self.script_file(shell)],
                capture_output=True, encoding="utf-8", check=False,
            )
            with self.subTest(shell):
                self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_first_lines_say_what_it_is(self):
        self.assertTrue(self.script("zsh").startswith("#compdef taskbench\n"))
        for shell in SHELLS:
            script = self.script(shell)
            self.assertIn(f"`taskbench completion {shell}`", "\n".join(script.splitlines()[:3]))
            self.assertTrue(script.endswith("\n"))


class Interactive(Completion):
    """Keys pressed at the prompt of each shell that is installed."""

    BEGIN = {
        "bash": (("--norc", "--noprofile", "-i"), "source {script}"),
        "zsh": (("-f", "-i"), "autoload -U compinit; compinit -D; source {script}"),
        "fish": (("--no-config", "-i"), "source {script}"),
    }
    TYPED = (
        ("trac", "trace"),
        ("run --repe", "run --repetitions"),
        ("run --scheduler work_stealing,cur", "run --scheduler work_stealing,current_thread"),
        ("run --format=li", "run --format=libtest"),
        ("run chai", "run chained_spawn"),
        ("baseline promo", "baseline promote"),
        ("run --param spawn_many.t", "run --param spawn_many.tasks="),
        ("run --json olde", "run --json older.json"),
        ("run --json=olde", "run --json=older.json"),
    )

    def test_the_tabulator_completes(self):
        (self.folder / "older.json").touch()
        for shell in filter(shutil.which, SHELLS):
            arguments, begin = self.BEGIN[shell]
            env = {"PATH": f"{Path(BINARY).resolve().parent}:{os.environ['PATH']}", "PS1": "> ",
                   "HOME": str(self.folder)}
            session = TerminalSession(
                arguments, columns=200, env=env, cwd=self.folder, program=shutil.which(shell)
            )
            self.addCleanup(session.close)
            session.press(f"{begin.format(script=self.script_file(shell))}\n".encode())
            for typed, completed in self.TYPED:
                with self.subTest(shell=shell, typed=typed):
                    session.press(f"taskbench {typed}\t\x01printf '[%s]' \n".encode())
                    words = "".join(f"[{word}]" for word in ("taskbench", *completed.split()))
                    session.read_until(lambda text, words=words: words in text)
            session.press(b"exit\n")


if __name__ == "__main__":
    main()
