#!/usr/bin/env python3
"""`taskbench completion`: the shells offer exactly what the program accepts."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from taskbench_command import BINARY, main
from terminal_session import TerminalTest

SHELLS = ("bash", "zsh", "fish")


class Completion(TerminalTest):
    def text(self, shell):
        return self.taskbench(f"completion {shell}").stdout

    def script_file(self, shell):
        return self.write(f"completion.{shell}", self.text(shell))

    def offered(self, *words):
        """Returns what the program itself answers to the shells."""
        lines = self.taskbench("__complete", *words).stdout.splitlines()
        return [line.split("\t")[0] for line in lines]

    def options_of(self, command):
        """Returns the options of a command that its help lists."""
        listed = re.findall(r"(?m)^  (-\S+)", self.taskbench(f"{command} --help").stdout)
        return {name for names in listed for name in names.split(",")}


class Bash(Completion):
    def complete(self, *words):
        """Returns what the completion function offers for the last word."""
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

    def test_words_and_what_is_offered_for_the_last(self):
        commands = (
            "run ab gate baseline calibrate compare ladder report doctor profile trace list "
            "completion help")
        workloads = " ".join(self.workload_names())
        rungs = [row["name"] for row in self.listed("rungs") if row["name"].startswith("ladder_")]
        schedulers = " ".join([row["name"] for row in self.listed("schedulers")] + rungs)
        parameters = " ".join(
            f"{row['workload']}.{row['name']}=" for row in self.listed("parameters"))
        self.write("old")
        for words, offered in (
            ("_", commands),
            ("co", "compare completion"),
            ("run ping_pong --repe", "--repetitions"),
            ("run _", workloads),
            ("run ping_pong chai", "chained_spawn"),
            ("list _", "workloads schedulers rungs parameters"),
            ("completion f", "fish"),
            ("help pro", "profile"),
            ("baseline _", "save compare list show promote rm"),
            ("baseline p", "promote"),
            ("baseline rm --a", "--all-keys"),
            ("baseline save --jo", "--journal"),
            ("baseline list --format _", "table markdown csv html json"),
            ("run --scheduler _", schedulers),
            ("run --scheduler work_stealing,cur", "work_stealing,current_thread"),
            ("run --format _", "table markdown csv html json openmetrics bmf"),
            ("list --format _", "table markdown csv html json"),
            ("run --workers _", ""),
            ("run --format = ma", "markdown"),  # the words that Readline makes of "--format=ma"
            ("run --format =", "table markdown csv html json openmetrics bmf"),
            ("run --param _", parameters),
            ("run --param spawn_many.tasks = 1", ""),
            ("run --json old", "old"),
            ("run --json-flat old", "old"),
            ("run --quiet _", workloads),  # a flag takes no value
        ):
            with self.subTest(words):
                found = self.complete(*("" if word == "_" else word for word in words.split()))
                self.assertEqual(found, offered.split())

    def test_options(self):
        self.assertEqual(set(self.complete("-")), {"-h", "--help", "--version"})
        for command in ("run", "list", "baseline"):
            self.assertEqual(set(self.complete(command, "-")), self.options_of(command))
        self.assertEqual(self.options_of("list"), {"-h", "--help", "--format"})
        self.assertEqual(self.options_of("baseline"), {"-h", "--help"})
        self.assertIn("--all-keys", self.complete("baseline", "rm", "--store", "save", "--"))

    def test_a_file_with_a_space_in_its_name(self):
        self.write("old result.json")
        self.assertEqual(self.complete("run", "--json", "old"), ["old result.json"])


class Program(Completion):
    def test_every_option_of_every_command_is_offered(self):
        of_baseline = [f"baseline {each}" for each in self.offered("baseline", "")]
        for command in self.offered("") + of_baseline:
            with self.subTest(command):
                self.assertEqual(set(self.offered(*command.split(), "-")),
                                 self.options_of(command))

    def test_an_option_and_a_command_come_with_what_they_do(self):
        for words, says in (("he", "help\tExplain a command\n"),
                            ("run --pi", "--pin\tBind every worker to a CPU of its own\n")):
            self.assertEqual(self.taskbench(f"__complete {words}").stdout, says)

    def test_a_value_after_an_equals_sign_is_one_word_or_three(self):
        self.assertEqual(self.offered("run", "--format=ma"), ["--format=markdown"])
        self.assertEqual(self.offered("run", "--format", "=", "ma"), ["markdown"])
        self.assertEqual(self.offered("run", "--json="), [":files"])

    def test_odd_words_are_no_error(self):
        for words in ("", "-", "--", "=", "run --nope= =", "nope ''", "run --json"):
            with self.subTest(words):
                self.taskbench(f"__complete {words}")

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
        self.assertTrue(self.text("zsh").startswith("#compdef taskbench\n"))
        for shell in SHELLS:
            script = self.text(shell)
            self.assertIn(f"`taskbench completion {shell}`", "\n".join(script.splitlines()[:3]))
            self.assertTrue(script.endswith("\n"))


class Interactive(Completion):
    """Keys pressed at the prompt of each installed shell."""

    BEGIN = {
        "bash": (("--norc", "--noprofile", "-i"), "source {script}"),
        "zsh": (("-f", "-i"), "autoload -U compinit; compinit -D; source {script}"),
        "fish": (("--no-config", "-i"), "source {script}"),
    }
    TYPED = (
        ("trac", "trace"),
        ("run --repe", "run --repetitions"),
        ("run --scheduler work_stealing,cur", "run --scheduler work_stealing,current_thread"),
        ("run --format=ma", "run --format=markdown"),
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
            session = self.session(*arguments, columns=200, env=env, program=shutil.which(shell))
            session.press(f"{begin.format(script=self.script_file(shell))}\n".encode())
            for typed, completed in self.TYPED:
                with self.subTest(shell=shell, typed=typed):
                    session.press(f"taskbench {typed}\t\x01printf '[%s]' \n".encode())
                    words = "".join(f"[{word}]" for word in ("taskbench", *completed.split()))
                    session.read_until(lambda text, words=words: words in text)
            session.press(b"exit\n")


if __name__ == "__main__":
    main()
