#!/usr/bin/env python3
"""Whatever cannot be done as requested is refused before anything is measured: exit status 2, no
result, and one line that says what to do."""

import re
import resource
import time

from taskbench_command import CommandTest, main


def up_to(count):
    return ",".join(map(str, range(1, count + 1)))


class Names(CommandTest):
    def test_unknown_workload_suggests_the_nearest(self):
        says = "unknown workload 'chained_spwan'; did you mean 'chained_spawn'?"
        self.refused("run chained_spwan", says=says)

    def test_suggestions_know_beginnings_case_and_dashes(self):
        self.refuse("run", {
            "chained": "did you mean 'chained_spawn'?",
            "Ping-Pong": "did you mean 'ping_pong'?",
            "yeild_many": "did you mean 'yield_many'?",
            "spawnmany": "did you mean 'spawn_many'?",
        })

    def test_unknown_workload_with_no_near_one_lists_all(self):
        result = self.refused("run zzzzzzzz", says="unknown workload 'zzzzzzzz'; there are ")
        for name in self.workload_names():
            self.assertIn(name, result.stderr)

    def test_other_unknown_names(self):
        self.refuse("", {
            "run --scheduler work_staeling":
                "--scheduler: unknown scheduler 'work_staeling'; did you mean 'work_stealing'?",
            "run --format tabel": "format 'tabel'; did you mean 'table'?",
            "list --format jsno": "unknown format 'jsno'; did you mean 'json'?",
            "list workload": "did you mean 'workloads'?",
            "completion bsah": "unknown shell 'bsah'; did you mean 'bash'?",
            "rnu": "unknown command 'rnu'; did you mean 'run'?",
            "frobnicate": "there are run, ab, gate, baseline, calibrate, compare, ladder, report, "
                          "doctor, profile, trace, list, completion, help",
            "run --wrokers 2": "'--wrokers'; did you mean '--workers'?",
            "run --jsonflat=x": "'--jsonflat'; did you mean '--json-flat'?",
            "--verison": "unknown option '--verison'; did you mean '--version'?",
            "--format csv list": "'--format' is an option of `taskbench list`: write it directly",
            "baseline --store st list": "'--store' is an option of `taskbench baseline list`: ",
            "list -- --format csv": "'--format' is an option of `taskbench list`: ",
            "run -x": "unknown option '-x'",
            "run --param taks=1": "'taks'; did you mean 'tasks'?",
            "run --param chained_spawn.lenght=1":
                "unknown parameter of chained_spawn 'lenght'; did you mean 'length'?",
            "run --param chained_spwan.length=1": "did you mean 'chained_spawn'?",
        })

    def test_every_unknown_option_is_named(self):
        """The values of unknown options count as arguments, of which there are then too many; this
        is not reported."""
        for command in ("run", "baseline save", "list", "ab"):
            with self.subTest(command):
                words = f"{command} --nope a --hlep b"
                result = self.refused(words, says="unknown option '--nope'")
                self.assertEqual(
                    result.stderr.splitlines()[1],
                    "taskbench: error: unknown option '--hlep'; did you mean '--help'?",
                )
                self.assertNotIn("only", result.stderr)

    def test_no_command(self):
        for command, some in (("", ("run", "ab", "help")), (" baseline", ("save", "rm"))):
            result = self.refused(command, says=f"name a command: `taskbench{command} COMMAND`")
            line = r"(?m)^  (\w+) +[A-Z].*\.$"
            listed = re.findall(line, self.taskbench(f"{command} --help").stdout)
            self.assertEqual(re.findall(line, result.stderr), listed)
            self.assertLessEqual(set(some), set(listed))

    def test_given_twice(self):
        self.refuse("", {
            "run ping_pong ping_pong": "workload 'ping_pong' is given twice",
            "run ping_pong,ping_pong": "workload 'ping_pong' is given twice",
            "run ping_pong,yield_mny": "did you mean 'yield_many'?",
            "run --scheduler work_stealing,work_stealing": "given twice",
            "run --workers 2 --workers 2": "'2' is given twice",
            "run --workers 2,02": "--workers: 2 is given twice",
            "run --seed 1 --seed 2": "--seed is given 2 times",
            "run --param tasks=1 --param tasks=2": "--param: 'tasks' is given twice",
            "run --param spawn_many.tasks=1 spawn_many.tasks=1":
                "--param: 'spawn_many.tasks' is given twice",
            "list workloads parameters": "give one TOPIC only",
        })

    def test_missing_value(self):
        self.refuse("", {
            "run --json": "--json needs a value: --json FILE",
            "run --json --quiet": "'--quiet' looks like an option",
            "completion": "name a shell: bash, zsh or fish",
            "run --workers 1,,2": "an item of '1,,2' is empty",
        })


class Numbers(CommandTest):
    def test_out_of_range_or_none(self):
        for option, values, says in (
            ("workers", "0 00 1000000 99999999999999999999999 -1 4097",
             "'{}' is out of range; it must be from 1 to 4096"),
            ("workers", "two 1.5 0x2 2_ +2", "'{}' is not a whole number"),
            ("repetitions", "0 -3 10001 1000000000000", "must be from 1 to 10000"),
            ("repetitions", "many", "is not a whole number"),
            ("min-time", "0 -1 1us 2h 1e300 1e9999 inf", "it must be from 100us to 1h"),
            ("min-time", "nan soon 5x _ s 1_s", "is not a duration; write seconds"),
            ("time-budget", "0 1ms 25h", "it must be from 100ms to 24h"),
            ("seed", "-1 18446744073709551616", "from 0 to 18446744073709551615"),
        ):
            for value in (each.replace("_", " ") for each in values.split()):
                with self.subTest(option, value=value):
                    self.refused("run", f"--{option}", value, says=says.format(value))
        self.refused("run", "--min-time", "", says="is not a duration; write seconds")

    def test_what_goes_together(self):
        count = len(self.workload_names())
        self.refuse("", {
            "run --scheduler current_thread --workers 2":
                "scheduler 'current_thread' has one worker and cannot have 2; give --workers 1",
            "trace ping_pong --scheduler work_stealing,current_thread --workers 2 --out t.json":
                "give one scheduler and one worker count only",
            # Refused before the first thread is started.
            f"run --workers {up_to(4096)}": f"these are {4096 * count} cases",
            "run --workers 4096,4095": f"these cases have {8191 * count} workers in all, each a "
                                       "thread, and all exist at once; the limit is 30000",
            f"run --repetitions 10000 --min-time 100us --workers {up_to(21)}":
                f"10000 of {21 * count} cases are more than 1000000 in all",
            "run --time-budget 1s --repetitions 1100 --workers 1":
                f"1s is too short for 1100 repetitions of {count} cases; "
                f"give at least {11 * count}s",
            "run --repetitions 10000 --min-time 1h --workers 1":
                f"10000 repetitions of {count} cases at --min-time 1h take {count}0000h; "
                "the limit is 24h",
            "run chained_spawn --pin --workers 2048": "--pin gives every worker a CPU",
        })


class Contradictions(CommandTest):
    def test_iterations_are_checked(self):
        case = "chained_spawn/work_stealing/workers:1"
        self.refuse("run chained_spawn --workers 1 --iterations", {
            "7": "'7' is not CASE=N",
            "chained_spwan=7": "unknown case 'chained_spwan'",
            f"{case}=0": "--iterations",
            f"{case}=7 --iterations {case}=8": "given twice",
            f"{case}=7 --time-budget 1s": "exclude each other",
        })

    def test_options_that_exclude_each_other(self):
        self.refuse("run", {
            "--min-time 1 --time-budget 10s": "--min-time and --time-budget exclude each other",
            "--quiet": "--quiet without --json, --json-flat",
            "--quiet --json r.json --format csv": "--format and --quiet exclude each other",
        })

    def test_files(self):
        (self.folder / "link.json").symlink_to("r.json")
        both = "--json and --json-flat name the same file"
        self.refuse("run --json", {
            **{f"r.json --json-flat {other}": both
               for other in ("r.json", "./r.json", self.folder / "r.json", "link.json")},
            "''": "--json: the file name is empty",
            "-": "--json: '-' is not a file",
        })


class Expressions(CommandTest):
    def test_bad_regular_expression(self):
        self.refuse("run --filter", {
            **{f"'{bad}'": f"--filter: '{bad}' is not a regular expression: "
               for bad in ("(", "[a", "*", "a{2,1}")},
            "ab{2,1}": "size: '{2,1}', at byte 3",
        })

    def test_an_expression_takes_neither_long_nor_a_deep_stack(self):
        for hard in ("(" * 20000, "(" * 20000 + "x" + ")" * 20000, "(((((x*)*)*)*)*)*y{30}$",
                     "((a{900}){900}){900}", "x" * 100000):
            with self.subTest(hard[:20]):
                started = time.monotonic()
                result = self.refused("run", "--filter", hard, says="--filter: '")
                self.assertLess(len(result.stderr), 400)
                self.assertLess(time.monotonic() - started, 10)

    def test_filter_that_matches_nothing_shows_what_a_name_looks_like(self):
        count = len(self.workload_names())
        self.refused("run --filter chaned --workers 2",
                     says=f"'chaned' matches none of the {count} cases; the first is "
                     "'chained_spawn/work_stealing/workers:2'")


class Journals(CommandTest):
    def test_one_that_is_a_folder_or_a_device(self):
        folder = self.folder / "folder"
        folder.mkdir()
        two = "--base a --head b"
        for command in (f"ab {two}", f"gate {two}", "baseline save", "baseline compare"):
            self.refuse(f"{command} --journal", {
                f"{place}{more}": f"--journal: '{place}' is {says}"
                for place, says in ((folder, "a directory; name a file"),
                                    ("/dev/null", "not a regular file"))
                for more in ("", " --resume")
            })
        self.write("file")
        self.refused("calibrate a b --journal file",
                     says="--journal: 'file' is a file; name a folder")

    def test_a_folder_in_place_of_a_program(self):
        (self.folder / "programs").mkdir()
        self.refuse("ab --head x --base", {
            "./programs": "--base: './programs' is a directory; name the program in it",
            "programs": "'programs' is not in PATH; write './programs' for the one in this",
            "no-such-program":
                "'no-such-program' is not a program in PATH; give the path of its file",
        })


class Memory(CommandTest):
    def test_too_little_is_said_and_is_no_internal_error(self):
        def little_memory():
            resource.setrlimit(resource.RLIMIT_AS, (512 << 20, 512 << 20))

        try:
            self.taskbench("--version", preexec_fn=little_memory)
        except AssertionError:
            self.skipTest("built with a sanitizer, which reserves more than that")
        self.refused("trace ping_pong --workers 3 --events 16777216 --out t.json",
                     says="there is not enough memory for what was asked for",
                     preexec_fn=little_memory)
        self.assertEqual(self.left(), [])


class Parameters(CommandTest):
    def test_ill_formed(self):
        for bad in ("tasks", "=1", "tasks=", ".tasks=1", "spawn_many.=1"):
            says = f"--param: '{bad}' is not of the form NAME=VALUE or WORKLOAD.NAME=VALUE"
            self.refused("run --param", bad, says=says)
        self.refused("run --param tasks=many", says="'many' is not a whole number")

    def test_out_of_range_names_the_range(self):
        for row in self.listed("parameters"):
            target, least, most = f"{row['workload']}.{row['name']}", row["min"], row["max"]
            self.refuse("run --param", {
                f"{target}={value}": f"--param {target}: '{value}' is out of range; "
                                     f"it must be from {least} to {most}"
                for value in (least - 1, most + 1)
            })

    def test_of_a_workload_that_is_not_run(self):
        self.refuse("run ping_pong --param", {
            "yield_many.yields=5":
                "'yield_many.yields' is for a workload that is not run; add yield_many",
            "calls=5": "no workload of this run has a parameter 'calls'; blocking_calls has",
        })


class NothingMeasured(CommandTest):
    def test_a_refusal_comes_at_once_and_leaves_no_file(self):
        started = time.monotonic()
        self.refused("run --json r.json --workers 1,0", says="out of range")
        self.assertLess(time.monotonic() - started, 5)
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    main()
