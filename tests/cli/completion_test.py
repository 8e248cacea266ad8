#!/usr/bin/env python3
"""`taskbench completion`: scripts that offer what the program really takes."""

import re
import shutil
import subprocess

from taskbench_command import CommandTest, main

SHELLS = ("bash", "zsh", "fish")


class Completion(CommandTest):
    def script(self, shell):
        return self.taskbench("completion", shell).stdout

    def run_options(self):
        text = self.taskbench("run", "--help").stdout
        return [n for names in re.findall(r"(?m)^  (-\S+)", text) for n in names.split(",")]

    def everything(self):
        """Every word that a script must know."""
        yield from ("run", "list", "completion", *SHELLS)
        yield from self.workload_names()
        yield from (row["name"] for row in self.listed("schedulers"))
        yield from (f"{row['workload']}.{row['name']}" for row in self.listed("parameters"))
        yield from ("table", "libtest", "csv", "markdown", "json")


class Bash(Completion):
    def complete(self, *words):
        """What the completion function offers for the last word."""
        script = self.folder / "completion.bash"
        script.write_text(self.script("bash"))
        program = (
            'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _taskbench;'
            ' printf "%s\\n" "${COMPREPLY[@]}"'
        )
        result = subprocess.run(
            ["bash", "--norc", "-c", program, "bash", str(script), "taskbench", *words],
            cwd=self.folder, capture_output=True, encoding="utf-8", check=True,
        )
        self.assertEqual(result.stderr, "")
        return [line for line in result.stdout.split("\n") if line]

    def test_is_registered_for_taskbench(self):
        script = self.folder / "completion.bash"
        script.write_text(self.script("bash"))
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

    def test_workloads_topics_and_shells(self):
        self.assertEqual(self.complete("run", ""), self.workload_names())
        self.assertEqual(self.complete("run", "ping_pong", "ch"), ["chained_spawn"])
        self.assertEqual(self.complete("list", ""), ["workloads", "schedulers", "parameters"])
        self.assertEqual(self.complete("completion", "f"), ["fish"])
        self.assertEqual(self.complete("help", "pro"), ["profile"])

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


class EveryShell(Completion):
    def test_knows_every_name(self):
        for shell in SHELLS:
            script = self.script(shell)
            for word in self.everything():
                with self.subTest(shell=shell, word=word):
                    self.assertRegex(script, rf"(?<![\w.]){re.escape(word)}(?!\w)")

    def test_knows_every_option_of_run(self):
        for shell in SHELLS:
            script = self.script(shell)
            for option in self.run_options():
                name = option.lstrip("-")
                form = rf"-[ls] {name} " if shell == "fish" else rf"(?<![\w-]){option}(?![\w-])"
                with self.subTest(shell=shell, option=option):
                    self.assertRegex(script, form)

    def test_is_good_syntax(self):
        """By the shell itself where it is installed, else by its brackets and quotes."""
        for shell in SHELLS:
            script = self.script(shell)
            with self.subTest(shell):
                self.assertTrue(script.endswith("\n"))
                self.assertEqual(script.replace("\\'", "").count("'") % 2, 0)
                self.assertEqual(script.count("{"), script.count("}"))
                if shutil.which(shell):
                    path = self.folder / f"completion.{shell}"
                    path.write_text(script)
                    checked = subprocess.run(
                        [shell, "-n", str(path)], capture_output=True, encoding="utf-8", check=False
                    )
                    self.assertEqual((checked.returncode, checked.stderr), (0, ""))

    def test_first_lines_say_what_it_is(self):
        self.assertTrue(self.script("zsh").startswith("#compdef taskbench\n"))
        for shell in SHELLS:
            head = "\n".join(self.script(shell).splitlines()[:3])
            self.assertIn(f"`taskbench completion {shell}`", head)


class Fish(Completion):
    def test_offers_names_where_fish_is_installed_and_has_conditions_everywhere(self):
        script = self.script("fish")
        seen = r"__fish_\w+( \w+)*"
        for line in script.splitlines():
            if line.startswith("complete ") and line != "complete -c taskbench -f":
                self.assertRegex(line, rf"^complete -c taskbench -n '{seen}(; and (not )?{seen})*'")
        if shutil.which("fish"):
            path = self.folder / "completion.fish"
            path.write_text(script)
            offered = subprocess.run(
                ["fish", "-c", f"source {path}; complete -C 'taskbench run --scheduler '"],
                capture_output=True, encoding="utf-8", check=True,
                env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin"},
            ).stdout
            names = [line.split("\t")[0] for line in offered.splitlines()]
            self.assertEqual(
                sorted(names), sorted(row["name"] for row in self.listed("schedulers"))
            )


if __name__ == "__main__":
    main()
