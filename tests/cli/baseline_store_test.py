#!/usr/bin/env python3
"""`taskbench baseline`: stores that are damaged, missing or read-only; the command line."""

import json
import signal

from baseline_test import LARGE, BaselineTest
from taskbench_command import become_nobody, main

COMMANDS = ("save", "compare", "list", "show", "promote", "rm")


class BadStores(BaselineTest):
    def test_bad_files_are_named_and_the_good_ones_listed(self):
        self.given_baseline()
        good = self.stored()
        text = good.read_text()
        later = text.replace('"taskbench_baseline": 2', '"taskbench_baseline": 9')
        contents = {
            "empty": b"", "cut": text.encode()[:400], "latin": b'{"a": "\xff"}', "other": b"[]",
            "later": later.encode(), "named": text.encode(),
        }
        for name, content in contents.items():
            (good.parent / f"{name}.json").write_bytes(content)
        (good.parent / "lonely.anchor.json").write_text(text)
        before = self.everything()
        answer = self.baseline("list", status=2)
        self.assertIn("default", answer.stdout)
        for name in (*contents, "lonely.anchor"):
            self.assertRegex(answer.stderr, rf"error: \S*{name}.json: ")
        self.assertIn("'taskbench_baseline' is 9; this taskbench reads version 2", answer.stderr)
        for name in contents:
            self.refused("baseline", "compare", name, says=f"{name}.json: ")
            self.refused("baseline", "show", name, says=f"{name}.json: ")
        self.save("cut", status=2)
        self.assertEqual(self.everything(), before)
        self.baseline("show")

    def test_stores_that_are_none(self):
        (self.folder / "file").touch()
        for command in ("list", "show", "compare"):
            self.refused("baseline", command, "--store", "file", says="is not a folder")
        self.refused("baseline", "save", "--store", "file", says="is not a folder")
        self.refused("baseline", "save", "--store", "file/deeper", says="is not a folder")
        self.refused("baseline", "save", "--store", "/proc/x", says="cannot write")
        for command in ("list", "show", "compare"):
            self.refused("baseline", command, "--store", "nothing",
                         says="nothing: there is no such folder; `taskbench baseline save")

    def test_what_is_no_journal_is_called_that_and_left_alone(self):
        self.given_baseline()
        (self.folder / "notes").write_text("hello\n")
        self.refused("baseline", "compare", "--journal", "notes",
                     says="notes exists, and is not the journal of a comparison; remove it, or")
        self.assertEqual((self.folder / "notes").read_text(), "hello\n")

    def test_an_unwritable_store_is_refused_before_anything_is_measured(self):
        self.given_baseline()
        before = self.everything()
        self.folder.chmod(0o755)
        folder = self.folder / "ci" / "baselines"
        for path in (folder, *folder.iterdir()):
            path.chmod(0o555)
        self.addCleanup(lambda: [p.chmod(0o755) for p in (folder, *folder.iterdir())])
        program = self.program("b", body="open('/tmp/never', 'w')")
        self.refused(
            "baseline", "save", "--program", program, "--journal", "/dev/null/j",
            says="permission denied", preexec_fn=become_nobody,
        )
        self.assertEqual(self.everything(), before)

    def test_a_full_disk_leaves_the_old_baseline(self):
        def limit():
            import resource  # a file size limit is a full disk that needs no root
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        self.given_baseline()
        before = self.everything()
        self.refused("baseline", "save", says="exceed the limit", preexec_fn=limit)
        self.assertEqual(self.everything(), before)

    def test_reports_that_cannot_be_written(self):
        self.given_baseline()
        self.refused("baseline", "compare", "--json", "/no/such/r.json", says="/no/such")
        full = self.baseline("compare", "--markdown", "/dev/full", "--processes", "1", status=2)
        self.assertIn("/dev/full", full.stderr)


class CommandLine(BaselineTest):
    def test_names(self):
        self.given_baseline()
        for command in ("compare", "show", "promote", "rm"):
            answer = self.refused("baseline", command, "defualt", says="did you mean 'default'?")
            self.assertIn("`taskbench baseline save defualt` saves one", answer.stderr)
        for name in ("../x", "a/b", "", ".hidden", "x.anchor", "ü"):
            self.refused("baseline", "save", name, says="'")
        for command in ("promote", "rm"):
            self.refused("baseline", command, says="needs the name")
        self.refused("baseline", "rm", "default", "--key", "xeon", says="--key: unknown key")

    def test_none_stored(self):
        self.refused(
            "baseline", "compare", says="there is no such folder; `taskbench baseline save`"
        )
        (self.folder / "ci/baselines").mkdir(parents=True)
        self.refused(
            "baseline", "compare", says="none is stored; `taskbench baseline save` saves one"
        )
        self.assertIn("NAME", self.baseline("list").stdout)

    def test_words_and_numbers(self):
        self.refused("baseline", says="name a command: `taskbench baseline COMMAND`")
        self.refused("baseline", "svae", says="did you mean 'save'?")
        self.refused("baseline", "save", "--prosesses", "9", says="did you mean '--processes'?")
        self.refused("baseline", "list", "x", says="unexpected argument 'x'")
        self.refused("baseline", "save", "--processes", "6", says="--processes")
        self.refused("baseline", "save", "--program", "", says="--program: it is empty")
        self.refused("baseline", "save", "--program", "/no/such", says="cannot be started")
        self.refused("baseline", "save", "--min-time", "x", says="--min-time")
        self.refused("baseline", "list", "--format", "xml", says="unknown format")
        program = self.program()
        self.refused(
            "baseline", "save", "--program", program, "--workload", "srot",
            says="did you mean 'sort'?",
        )
        self.assertFalse((self.folder / "ci").exists())

    def test_help_has_examples_and_exit_codes(self):
        top = self.taskbench("baseline", "--help").stdout
        for command in COMMANDS:
            self.assertRegex(top, rf"(?m)^  {command} +[A-Z].*\.$")
        for words in ((), *((command,) for command in COMMANDS)):
            with self.subTest(words):
                text = self.taskbench("baseline", *words, "--help").stdout
                usage = " ".join(("taskbench", "baseline", *words))
                self.assertIn(f"\nUsage: {usage} ", text)
                self.assertIn("\nExamples:\n", text)
                self.assertIn("\nExit status: ", text)
                for line in text.splitlines():
                    self.assertLessEqual(len(line), 100, line)


if __name__ == "__main__":
    main()
