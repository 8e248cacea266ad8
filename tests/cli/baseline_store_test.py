#!/usr/bin/env python3
"""`taskbench baseline`: stores that are damaged, missing or read-only; the command line."""

import resource
import signal

from baseline_test import BaselineTest
from taskbench_command import become_nobody, main

COMMANDS = ("save", "compare", "list", "show", "promote", "rm")


class BadStores(BaselineTest):
    def setUp(self):
        super().setUp()
        self.given_baseline()
        self.before = self.everything()

    def test_bad_files_are_named_and_the_good_ones_listed(self):
        folder, text = self.stored().parent, self.stored().read_text()
        later = text.replace('"taskbench_baseline": 2', '"taskbench_baseline": 9')
        contents = {
            "empty": b"", "cut": text.encode()[:400], "latin": b'{"a": "\xff"}', "other": b"[]",
            "later": later, "named": text, "lonely.anchor": text,
        }
        for name, content in contents.items():
            self.write(folder / f"{name}.json", content)
        before = self.everything()
        answer = self.baseline("list", status=2)
        self.assertIn("default", answer.stdout)
        for name in contents:
            self.assertRegex(answer.stderr, rf"error: \S*{name}.json: ")
        self.assertIn("'taskbench_baseline' is 9; this taskbench reads", answer.stderr)
        for name in contents:
            if name != "lonely.anchor":
                self.refuse("baseline", {
                    f"{command} {name}": f"{name}.json: " for command in ("compare", "show")})
        self.save("cut", status=2)
        self.assertEqual(self.everything(), before)
        self.baseline("show")

    def test_stores_that_are_none(self):
        (self.folder / "loop").symlink_to("loop")
        self.write("file")
        missing = "nothing: there is no such folder; `taskbench baseline save"
        self.refuse("baseline", {
            **{f"{command} --store file": "is not a folder"
               for command in ("list", "show", "compare", "save")},
            **{f"{command} --store nothing": missing for command in ("list", "show", "compare")},
            "save --store file/deeper": "is not a folder",
            "save --store loop/deeper": "/loop is not a folder",
            "save --store /proc/x": "--store /proc/x: cannot write",
        })

    def test_what_is_no_journal_is_called_that_and_left_alone(self):
        self.write("notes", "hello\n")
        self.refused("baseline compare --journal notes",
                     says="notes exists, and is not the journal of a comparison; remove it, or")
        self.assertEqual(self.read("notes"), "hello\n")

    def test_an_unwritable_store_is_refused_before_anything_is_measured(self):
        self.folder.chmod(0o755)
        folder = self.folder / "ci/baselines"
        for path in (folder, *folder.iterdir()):
            path.chmod(0o555)
            self.addCleanup(path.chmod, 0o755)
        program = self.program("b", body="open('/tmp/never', 'w')")
        self.refused(f"baseline save --program {program} --journal /dev/null/j",
                     says="permission denied", preexec_fn=become_nobody)
        self.assertEqual(self.everything(), self.before)

    def test_a_full_disk_leaves_the_old_baseline(self):
        def limit():  # a file size limit acts like a full disk, without root
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

        self.refused("baseline save", says="exceed the limit", preexec_fn=limit)
        self.assertEqual(self.everything(), self.before)

    def test_reports_that_cannot_be_written(self):
        self.refused("baseline compare --json /no/such/r.json", says="/no/such")
        full = self.baseline("compare --markdown /dev/full --processes 1", status=2)
        self.assertIn("/dev/full", full.stderr)


class CommandLine(BaselineTest):
    def test_names(self):
        self.given_baseline()
        for command in ("compare", "show", "promote", "rm"):
            answer = self.refused(f"baseline {command} defualt", says="did you mean 'default'?")
            self.assertIn("`taskbench baseline save defualt` saves one", answer.stderr)
        self.refuse("baseline", {
            **{f"save '{name}'": "'" for name in ("../x", "a/b", "", ".hidden", "x.anchor", "ü")},
            "promote": "needs the name",
            "rm": "needs the name",
            "rm default --key xeon": "--key: unknown key",
        })

    def test_none_stored(self):
        self.refused("baseline compare",
                     says="there is no such folder; `taskbench baseline save`")
        (self.folder / "ci/baselines").mkdir(parents=True)
        self.refused("baseline compare",
                     says="none is stored; `taskbench baseline save` saves one")
        self.assertIn("NAME", self.baseline("list").stdout)

    def test_words_and_numbers(self):
        self.refuse("baseline", {
            "": "name a command: `taskbench baseline COMMAND`",
            "svae": "did you mean 'save'?",
            "save --prosesses 9": "did you mean '--processes'?",
            "list x": "unexpected argument 'x'",
            "save --processes 6": "--processes",
            "save --program ''": "--program: it is empty",
            "save --program /no/such": "cannot be started",
            "save --min-time x": "--min-time",
            "list --format xml": "unknown format",
            f"save --program {self.program()} --workload srot": "did you mean 'sort'?",
        })
        self.assertFalse((self.folder / "ci").exists())

    def test_help_has_examples_and_exit_codes(self):
        top = self.taskbench("baseline --help").stdout
        for command in COMMANDS:
            self.assertRegex(top, rf"(?m)^  {command} +[A-Z].*\.$")
        for words in ("baseline", *(f"baseline {command}" for command in COMMANDS)):
            with self.subTest(words):
                text = self.taskbench(f"{words} --help").stdout
                self.assertIn(f"\nUsage: taskbench {words} ", text)
                self.assertIn("\nExamples:\n", text)
                self.assertIn("\nExit status: ", text)


if __name__ == "__main__":
    main()
