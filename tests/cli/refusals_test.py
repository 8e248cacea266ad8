#!/usr/bin/env python3
"""Everything that cannot be done as asked is refused before anything is measured: exit status 2, no
result, one line that says what to do."""

import re
import resource
import time

from taskbench_command import CommandTest, main


class Names(CommandTest):
    def test_unknown_workload_suggests_the_nearest(self):
        says = "unknown workload 'chained_spwan'; did you mean 'chained_spawn'?"
        self.refused("run", "chained_spwan", says=says)

    def test_suggestions_know_beginnings_case_and_dashes(self):
        for wrong, right in (
            ("chained", "chained_spawn"),
            ("Ping-Pong", "ping_pong"),
            ("yeild_many", "yield_many"),
            ("spawnmany", "spawn_many"),
        ):
            with self.subTest(wrong):
                self.refused("run", wrong, says=f"did you mean '{right}'?")

    def test_unknown_workload_with_no_near_one_lists_all(self):
        result = self.refused("run", "zzzzzzzz", says="unknown workload 'zzzzzzzz'; there are ")
        for name in self.workload_names():
            self.assertIn(name, result.stderr)

    def test_unknown_scheduler(self):
        says = "--scheduler: unknown scheduler 'work_staeling'; did you mean 'work_stealing'?"
        self.refused("run", "--scheduler", "work_staeling", says=says)

    def test_unknown_format(self):
        self.refused("run", "--format", "tabel", says="format 'tabel'; did you mean 'table'?")
        self.refused("list", "--format", "jsno", says="unknown format 'jsno'; did you mean 'json'?")

    def test_unknown_command(self):
        self.refused("rnu", says="unknown command 'rnu'; did you mean 'run'?")
        commands = (
            "run, ab, gate, baseline, calibrate, compare, report, doctor, profile, trace, list, "
            "completion, help"
        )
        self.refused("frobnicate", says=f"there are {commands}")

    def test_unknown_option(self):
        self.refused("run", "--wrokers", "2", says="'--wrokers'; did you mean '--workers'?")
        self.refused("run", "--jsonflat=x", says="'--jsonflat'; did you mean '--json-flat'?")
        self.refused("--verison", says="unknown option '--verison'; did you mean '--version'?")
        self.refused("run", "-x", says="unknown option '-x'")

    def test_every_unknown_option_is_named(self):
        """Their values count as arguments, of which there are then too many; that is not said."""
        for command in (("run",), ("baseline", "save"), ("list",), ("ab",)):
            with self.subTest(command):
                words = (*command, "--nope", "a", "--hlep", "b")
                result = self.refused(*words, says="unknown option '--nope'")
                self.assertEqual(
                    result.stderr.splitlines()[1],
                    "taskbench: error: unknown option '--hlep'; did you mean '--help'?",
                )
                self.assertNotIn("only", result.stderr)

    def test_unknown_parameter(self):
        self.refused("run", "--param", "taks=1", says="'taks'; did you mean 'tasks'?")
        self.refused(
            "run", "--param", "chained_spawn.lenght=1",
            says="unknown parameter of chained_spawn 'lenght'; did you mean 'length'?",
        )
        self.refused(
            "run", "--param", "chained_spwan.length=1", says="did you mean 'chained_spawn'?"
        )

    def test_unknown_topic_and_shell(self):
        self.refused("list", "workload", says="did you mean 'workloads'?")
        self.refused("completion", "bsah", says="unknown shell 'bsah'; did you mean 'bash'?")

    def test_no_command(self):
        for command, some in (((), ("run", "ab", "help")), (("baseline",), ("save", "rm"))):
            words = " ".join(("taskbench", *command))
            result = self.refused(*command, says=f"name a command: `{words} COMMAND`")
            line = r"(?m)^  (\w+) +[A-Z].*\.$"
            listed = re.findall(line, self.taskbench(*command, "--help").stdout)
            self.assertEqual(re.findall(line, result.stderr), listed)
            for name in some:
                self.assertIn(name, listed)

    def test_given_twice(self):
        self.refused("run", "ping_pong", "ping_pong", says="workload 'ping_pong' is given twice")
        self.refused("run", "--scheduler", "work_stealing,work_stealing", says="given twice")
        self.refused("run", "--workers", "2", "--workers", "2", says="'2' is given twice")
        self.refused("run", "--workers", "2,02", says="--workers: 2 is given twice")
        self.refused("run", "--seed", "1", "--seed", "2", says="--seed is given 2 times")
        self.refused("list", "workloads", "parameters", says="give one TOPIC only")

    def test_missing_value(self):
        self.refused("run", "--json", says="--json needs a value: --json FILE")
        self.refused("run", "--json", "--quiet", says="'--quiet' looks like an option")
        self.refused("completion", says="name a shell: bash, zsh or fish")
        self.refused("run", "--workers", "1,,2", says="an item of '1,,2' is empty")


class Numbers(CommandTest):
    def test_workers(self):
        limit = "it must be from 1 to 4096"
        for value in ("0", "00", "1000000", "99999999999999999999999", "-1", "4097"):
            with self.subTest(value):
                self.refused("run", "--workers", value, says=f"'{value}' is out of range; {limit}")
        for value in ("two", "1.5", "0x2", "2 ", "+2"):
            with self.subTest(value):
                self.refused("run", "--workers", value, says=f"'{value}' is not a whole number")

    def test_single_worker_scheduler_with_more_workers(self):
        self.refused(
            "run", "--scheduler", "current_thread", "--workers", "2",
            says="scheduler 'current_thread' has one worker and cannot have 2; give --workers 1",
        )
        self.refused(
            "trace", "ping_pong", "--scheduler", "work_stealing,current_thread", "--workers", "2",
            "--out", "t.json", says="give one scheduler and one worker count only",
        )

    def test_so_many_workers_or_cases_that_it_could_not_end(self):
        """Found out before the first thread is started."""
        every = ",".join(map(str, range(1, 4097)))
        self.refused("run", "--workers", every, says="these are 20480 cases")
        self.refused(
            "run", "--workers", "4096,4095",
            says="these cases have 40955 workers in all, each a thread, and all exist at once; "
            "the limit is 20480",
        )

    def test_repetitions(self):
        for value in ("0", "-3", "10001", "1000000000000"):
            with self.subTest(value):
                self.refused("run", "--repetitions", value, says="must be from 1 to 10000")
        self.refused(
            "run", "--repetitions", "10000", "--min-time", "100us", "--workers",
            ",".join(map(str, range(1, 22))),
            says="10000 of 105 cases are more than 1000000 in all",
        )
        self.refused("run", "--repetitions", "many", says="is not a whole number")

    def test_min_time(self):
        for value in ("0", "-1", "1us", "2h", "1e300", "1e9999", "inf"):
            with self.subTest(value):
                self.refused("run", "--min-time", value, says="it must be from 100us to 1h")
        for value in ("nan", "soon", "5x", "", "s", "1 s"):
            with self.subTest(value):
                self.refused("run", "--min-time", value, says="is not a duration; write seconds")

    def test_time_budget(self):
        for value in ("0", "1ms", "25h"):
            with self.subTest(value):
                self.refused("run", "--time-budget", value, says="it must be from 100ms to 24h")

    def test_time_budget_that_the_repetitions_cannot_keep(self):
        self.refused(
            "run", "--time-budget", "1s", "--repetitions", "1000", "--workers", "1",
            says="1s is too short for 1000 repetitions of 5 cases; give at least 50s",
        )

    def test_a_run_of_more_than_a_day(self):
        self.refused(
            "run", "--repetitions", "10000", "--min-time", "1h", "--workers", "1",
            says="10000 repetitions of 5 cases at --min-time 1h take 50000h; the limit is 24h",
        )

    def test_seed(self):
        for value in ("-1", "18446744073709551616"):
            with self.subTest(value):
                self.refused("run", "--seed", value, says="from 0 to 18446744073709551615")

    def test_pin_with_more_workers_than_cpus(self):
        self.refused("run", "--pin", "--workers", "4096", says="--pin gives every worker a CPU")


class Contradictions(CommandTest):
    def test_iterations_are_checked(self):
        case = "chained_spawn/work_stealing/workers:1"
        run = ("run", "chained_spawn", "--workers", "1", "--iterations")
        self.refused(*run, "7", says="'7' is not CASE=N")
        self.refused(*run, "chained_spwan=7", says="unknown case 'chained_spwan'")
        self.refused(*run, f"{case}=0", says="--iterations")
        self.refused(*run, f"{case}=7", "--iterations", f"{case}=8", says="given twice")
        self.refused(*run, f"{case}=7", "--time-budget", "1s", says="exclude each other")

    def test_min_time_with_time_budget(self):
        says = "--min-time and --time-budget exclude each other"
        self.refused("run", "--min-time", "1", "--time-budget", "10s", says=says)

    def test_quiet_without_a_file(self):
        self.refused("run", "--quiet", says="--quiet without --json or --json-flat")

    def test_quiet_with_a_format(self):
        self.refused(
            "run", "--quiet", "--json", "r.json", "--format", "csv",
            says="--format and --quiet exclude each other",
        )

    def test_one_file_for_both_forms(self):
        says = "--json and --json-flat name the same file"
        (self.folder / "link.json").symlink_to("r.json")
        for other in ("r.json", "./r.json", str(self.folder / "r.json"), "link.json"):
            with self.subTest(other):
                self.refused("run", "--json", "r.json", "--json-flat", other, says=says)

    def test_file_without_a_name(self):
        self.refused("run", "--json", "", says="--json: the file name is empty")
        self.refused("run", "--json", "-", says="--json: '-' is not a file")


class Expressions(CommandTest):
    def test_bad_regular_expression(self):
        for bad in ("(", "[a", "*", "a{2,1}"):
            with self.subTest(bad):
                says = f"--filter: '{bad}' is not a regular expression: "
                self.refused("run", "--filter", bad, says=says)
        self.refused("run", "--filter", "ab{2,1}", says="size: '{2,1}', at byte 3")

    def test_an_expression_takes_neither_long_nor_a_deep_stack(self):
        for hard in ("(" * 20000, "(" * 20000 + "x" + ")" * 20000, "(((((x*)*)*)*)*)*y{30}$",
                     "((a{900}){900}){900}", "x" * 100000):
            with self.subTest(hard[:20]):
                started = time.monotonic()
                result = self.refused("run", "--filter", hard, says="--filter: '")
                self.assertLess(len(result.stderr), 400)
                self.assertLess(time.monotonic() - started, 10)

    def test_filter_that_matches_nothing_shows_what_a_name_looks_like(self):
        self.refused(
            "run", "--filter", "chaned", "--workers", "2",
            says="'chaned' matches none of the 5 cases; the first is "
            "'chained_spawn/work_stealing/workers:2'",
        )


class Journals(CommandTest):
    def test_one_that_is_a_folder_or_a_device(self):
        folder = self.folder / "folder"
        folder.mkdir()
        two = ("--base", "a", "--head", "b")
        store = (("baseline", "save"), ("baseline", "compare"))
        for command in (("ab", *two), ("gate", *two), *store):
            for more in ((), ("--resume",)):
                with self.subTest(command=command, more=more):
                    self.refused(*command, "--journal", folder, *more,
                                 says=f"--journal: '{folder}' is a directory; name a file")
                    self.refused(*command, "--journal", "/dev/null", *more,
                                 says="--journal: '/dev/null' is not a regular file")
        (self.folder / "file").touch()
        self.refused("calibrate", "a", "b", "--journal", "file",
                     says="--journal: 'file' is a file; name a folder")

    def test_a_folder_in_place_of_a_program(self):
        (self.folder / "programs").mkdir()
        self.refused("ab", "--base", "./programs", "--head", "x",
                     says="--base: './programs' is a directory; name the program in it")
        self.refused("ab", "--base", "programs", "--head", "x",
                     says="'programs' is not in PATH; write './programs' for the one in this")
        self.refused("ab", "--base", "no-such-program", "--head", "x",
                     says="'no-such-program' is not a program in PATH; give the path of its file")


class Memory(CommandTest):
    def test_too_little_is_said_and_is_no_internal_error(self):
        limit = 512 << 20

        def little_memory():
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

        try:
            self.taskbench("--version", preexec_fn=little_memory)
        except AssertionError:
            self.skipTest("built with a sanitizer, which reserves more than that")
        self.refused(
            "trace", "ping_pong", "--workers", "3", "--events", "16777216", "--out", "t.json",
            says="there is not enough memory for what was asked for", preexec_fn=little_memory,
        )
        self.assertEqual(list(self.folder.iterdir()), [])


class Parameters(CommandTest):
    def test_ill_formed(self):
        for bad in ("tasks", "=1", "tasks=", ".tasks=1", "spawn_many.=1"):
            with self.subTest(bad):
                says = f"--param: '{bad}' is not of the form NAME=VALUE or WORKLOAD.NAME=VALUE"
                self.refused("run", "--param", bad, says=says)

    def test_not_a_number(self):
        self.refused("run", "--param", "tasks=many", says="'many' is not a whole number")

    def test_out_of_range_names_the_range(self):
        for row in self.listed("parameters"):
            target = f"{row['workload']}.{row['name']}"
            for value in (row["min"] - 1, row["max"] + 1):
                with self.subTest(target=target, value=value):
                    self.refused(
                        "run", "--param", f"{target}={value}",
                        says=f"--param {target}: '{value}' is out of range; "
                        f"it must be from {row['min']} to {row['max']}",
                    )

    def test_given_twice(self):
        says = "--param: 'tasks' is given twice"
        self.refused("run", "--param", "tasks=1", "--param", "tasks=2", says=says)
        self.refused(
            "run", "--param", "spawn_many.tasks=1", "spawn_many.tasks=1",
            says="--param: 'spawn_many.tasks' is given twice",
        )

    def test_of_a_workload_that_is_not_run(self):
        self.refused(
            "run", "ping_pong", "--param", "yield_many.yields=5",
            says="'yield_many.yields' is for a workload that is not run; add yield_many",
        )
        self.refused(
            "run", "ping_pong", "--param", "yields=5",
            says="no workload of this run has a parameter 'yields'; yield_many has",
        )


class NothingMeasured(CommandTest):
    def test_a_refusal_comes_at_once_and_leaves_no_file(self):
        started = time.monotonic()
        self.refused("run", "--json", "r.json", "--workers", "1,0", says="out of range")
        self.assertLess(time.monotonic() - started, 5)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    main()
