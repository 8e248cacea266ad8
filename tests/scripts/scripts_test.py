#!/usr/bin/env python3
"""The scripts, run in a copy of their folder with stand-ins for the commands that they call."""

import os
import re
import runpy
import unittest

from script_case import ROOT, RepositoryTest, ScriptTest

WORKLOADS = "chained_spawn ping_pong spawn_many spawn_local yield_many"


class EveryScript(ScriptTest):
    def test_explains_itself_with_examples(self):
        scripts = sorted(path.name for path in (ROOT / "scripts").iterdir() if path.is_file())
        self.assertIn("bench", scripts)
        for script in scripts:
            with self.subTest(script):
                answer = self.run_script(f"scripts/{script}", "--help")
                self.assertTrue(answer.stdout.startswith(f"usage: scripts/{script}"))
                self.assertIn("\nexamples:\n", answer.stdout)

    def test_cd_goes_nowhere_else(self):
        """CDPATH leads cd to other folders, and lets it print where it goes."""
        for path in (ROOT / "scripts").iterdir():
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            if text.startswith("#!/usr/bin/env bash") and re.search(r'^[^#\n]*\bcd "', text, re.M):
                self.assertIn("\nunset CDPATH ", text, path)

    def test_ci_runs_the_test_command(self):
        self.stand_in(self.root / "scripts/test")
        self.run_script(".ci/run", "-R", "x")
        self.assertEqual(self.called(), ["test --ci -R x"])


class SelftestGate(unittest.TestCase):
    def test_its_intervals_are_those_of_binom_test_in_r(self):
        rate_interval = runpy.run_path(str(ROOT / "scripts/selftest-gate"))["rate_interval"]
        for events, trials, low, high in ((0, 100, 0, 0.0362167), (20, 20, 0.8315665, 1),
                                          (7, 20, 0.1539092, 0.5921885)):
            found = rate_interval(events, trials)
            self.assertAlmostEqual(found[0], low, places=6)
            self.assertAlmostEqual(found[1], high, places=6)


class InstallDeps(ScriptTest):
    def setUp(self):
        super().setUp()
        self.debian = self.root / "os-release"
        self.debian.write_text('PRETTY_NAME="Debian"\nID=debian\n')
        for command in ("apt-get", "apt-cache"):
            self.stand_in(self.bin / command, "echo found")
        self.stand_in(self.bin / "sudo", 'exec "$@"')
        self.lacking()

    def lacking(self, *packages):
        """Makes dpkg-query answer that all packages except these are installed."""
        tests = "".join(f'[ "$p" = {package} ] && continue; ' for package in packages)
        body = f'shift 2; for p in "$@"; do {tests}echo "installed $p"; done'
        self.stand_in(self.bin / "dpkg-query", body)

    def install(self, options, **environment):
        return self.run_script("scripts/install-deps", "--os-release", self.debian,
                               *options.split(), **environment)

    def apt_calls(self):
        return [call for call in self.called() if call.startswith("apt-get")]

    def installed(self):
        """Returns what each call of apt-get should install."""
        return [call.split("recommends ")[1] for call in self.apt_calls() if "install" in call]

    def test_does_nothing_when_nothing_is_missing(self):
        for purpose in ("bench", "test"):
            answer = self.install(purpose)
            self.assertEqual((answer.stdout, answer.stderr), ("", ""))
        self.assertEqual(self.apt_calls(), [])

    def test_installs_what_is_missing_and_says_so_in_one_line(self):
        self.lacking("ninja-build", "libfmt-dev")
        answer = self.install("bench")
        self.assertEqual(
            answer.stdout, "Installing with apt-get, to build taskbench: ninja-build libfmt-dev\n"
        )
        self.assertEqual(self.installed(), ["ninja-build libfmt-dev"])

    def test_fetches_the_package_lists_when_there_are_none(self):
        self.lacking("cmake")
        self.stand_in(self.bin / "apt-cache", "exit 100")
        self.install("bench")
        self.assertEqual([call.split()[3] for call in self.apt_calls()], ["update", "install"])

    def test_takes_another_clang_only_where_clang_16_is_gone(self):
        for_tests = ["clang-16", "libclang-rt-16-dev", "clang-format-14"]
        self.lacking(*for_tests)
        self.install("test")
        gone = " && ".join(f'[ "$2" != {package} ]' for package in for_tests)
        self.stand_in(self.bin / "apt-cache", gone)
        self.install("test")
        self.assertEqual(self.installed(), [" ".join(for_tests), "clang libclang-rt-dev"])

    def test_asks_apt_for_nothing_where_what_is_missing_has_another_name_or_does_not_exist(self):
        gone = ("clang-16", "linux-perf", "clang-format-14", "chromium")
        lists = 'if [ "$1" = madison ]; then echo "g++ | 4:13"; else %s; fi' % " && ".join(
            f'[ "$2" != {package} ]' for package in gone)
        for lacking, known, fetched in (
            (gone, lists, ()),
            ((*gone, "jq"), lists, ("clang linux-tools-generic jq",)),
            (("linux-tools-generic", *gone), lists, ("clang linux-tools-generic",)),
            (("chromium",), "", ("chromium",)),  # no lists, but apt finds it
        ):
            self.calls.write_text("")
            self.lacking(*lacking)
            self.stand_in(self.bin / "apt-cache", known)
            self.install("test")
            self.assertEqual(tuple(self.installed()), fetched)
            self.assertEqual(bool(self.apt_calls()), bool(fetched))

    def test_a_failing_apt_is_reported(self):
        self.lacking("cmake")
        self.stand_in(self.bin / "apt-get", "echo no network; exit 100")
        self.assertIn("no network", self.install("bench", status=1).stderr)

    def test_each_purpose_needs_its_own(self):
        for lacking, purpose, needed in (
            ("clang-16 clang-format-14 libbenchmark-dev python3-jsonschema", "bench",
             "libbenchmark-dev"),
            ("clang-16 clang-format-14 libbenchmark-dev python3-jsonschema", "test",
             "libbenchmark-dev clang-16 clang-format-14 python3-jsonschema"),
            # Packaging needs tools that find a program's libraries and make the manual page.
            ("dpkg-dev file help2man libbenchmark-dev jq", "package",
             "libbenchmark-dev dpkg-dev file help2man"),
            ("dpkg-dev file help2man libbenchmark-dev jq", "bench", "libbenchmark-dev"),
            ("linux-perf valgrind", "--with perf bench", "linux-perf"),
        ):
            self.lacking(*lacking.split())
            self.lacking_tools()
            answer = self.install(f"--dry-run {purpose}")
            self.assertEqual(answer.stdout.split(), needed.split())
        self.assertEqual(self.apt_calls(), [])

    def lacking_tools(self):
        for tool in ("perf", "valgrind"):
            self.stand_in(self.bin / tool, "exit 127")

    def test_tools_that_count_are_installed_on_demand(self):
        self.lacking("linux-perf", "valgrind")
        self.lacking_tools()
        self.install("bench")
        self.assertEqual(self.apt_calls(), [])
        self.install("--with perf --with valgrind bench")
        self.assertEqual(self.installed(), ["linux-perf", "valgrind"])

    def test_tools_that_work_are_not_installed_from_wherever_they_came(self):
        self.lacking("linux-perf")
        self.stand_in(self.bin / "perf")
        self.install("--with perf bench")
        self.assertEqual(self.apt_calls(), [])

    def test_perf_is_found_under_the_names_that_ubuntu_has_for_it(self):
        self.lacking_tools()
        self.stand_in(self.bin / "apt-cache", '[ "$2" = linux-tools-generic ]')
        self.install("--with perf bench")
        self.assertTrue(self.apt_calls()[-1].endswith(" linux-tools-generic"))

    def test_tools_that_are_not_to_be_had_are_reported_before_anything_else_is_installed(self):
        self.lacking("cmake")
        self.lacking_tools()
        self.stand_in(self.bin / "apt-cache", '[ "$2" = cmake ] || [ "$2" = valgrind ]')
        self.stand_in(self.bin / "apt-get", 'case "$*" in *valgrind) exit 100 ;; esac')
        answer = self.install("--with perf bench", status=2)
        self.assertIn("missing: perf, and no package provides it here", answer.stderr)
        answer = self.install("--with valgrind bench", status=1)
        self.assertIn("apt-get install failed", answer.stderr)
        self.assertNotIn("cmake", "".join(self.apt_calls()))

    def test_other_systems_are_told_the_packages(self):
        self.debian.write_text("ID=fedora\n")
        answer = self.install("test", status=2)
        for name in ("dnf install", "pacman -S", "brew install", "google-benchmark-devel", "cli11"):
            self.assertIn(name, answer.stderr)
        self.install("test", TASKBENCH_SKIP_INSTALL="1")
        self.assertEqual(self.apt_calls(), [])

    def test_derived_systems_count_as_debian(self):
        self.debian.write_text('ID=linuxmint\nID_LIKE="ubuntu debian"\n')
        self.install("bench")

    def test_wrong_arguments_are_refused(self):
        for options in ("", "benhc", "--all bench", "--with gdb bench", "--with"):
            self.install(options, status=2)


class Bench(ScriptTest):
    def setUp(self):
        super().setUp()
        for script in ("install-deps", "build"):
            self.stand_in(self.root / "scripts" / script)
        self.stand_in(self.root / "build/release/cli/taskbench")

    def taskbench_call(self, options="", tools=""):
        self.run_script("scripts/bench", *options.split())
        calls = self.called()
        self.assertEqual(
            calls[-3:-1], [f"install-deps {tools}bench", "build release --target taskbench"])
        return calls[-1]

    def test_installs_what_counts_the_events_that_are_asked_for(self):
        perf, valgrind = "--with perf ", "--with valgrind "
        for options, tools in (
            ("--counters basic,software", perf),
            ("--counters=cycles", perf),
            ("--counters instructions-exact", valgrind),
            ("--counters basic,instructions-exact", valgrind + perf),
            ("--counters=instructions-exact --counters software", valgrind + perf),
            ("--report counters", ""),
        ):
            call = self.taskbench_call(options, tools)
            self.assertTrue(call.endswith(options), call)

    def test_what_the_user_gives_is_added_or_takes_the_place_of_its_own(self):
        for options, expected in (
            ("", f"{WORKLOADS} --json taskbench.json"),
            ("--workers 1,2", f"{WORKLOADS} --json taskbench.json --workers 1,2"),
            ("ping_pong --json=x.json", "ping_pong --json=x.json"),
            ("--json y.json", f"{WORKLOADS} --json y.json"),
            ("fib", "--json taskbench.json fib"),
            ("fib,sort --pin", "--json taskbench.json fib,sort --pin"),
            ("--workers=1 uts_binomial", "--json taskbench.json --workers=1 uts_binomial"),
            ("--param a=9 b=2", f"{WORKLOADS} --json taskbench.json --param a=9 b=2"),
            ("--command true", "--json taskbench.json --command true"),
        ):
            self.assertEqual(self.taskbench_call(options), f"taskbench run {expected}")

    def test_a_workload_may_follow_an_option_without_a_value(self):
        source = (ROOT / "cli/commands/run.cpp").read_text(encoding="utf-8")
        flags = re.findall(r'\.flag\("(--[\w-]+)"', source)
        self.assertIn("--pin", flags)
        for flag in flags:
            self.assertEqual(self.taskbench_call(f"{flag} fib"),
                             f"taskbench run --json taskbench.json {flag} fib")

    def test_nothing_is_built_without_what_counts(self):
        self.stand_in(self.root / "scripts/install-deps", "exit 2")
        self.run_script("scripts/bench", "--counters", "basic", status=2)
        self.assertEqual(self.called(), ["install-deps --with perf bench"])

    def test_fails_when_the_build_fails(self):
        self.stand_in(self.root / "scripts/build", "exit 3")
        self.run_script("scripts/bench", status=3)
        self.assertNotIn("taskbench", "".join(self.called()[2:]))


class ComparePeers(ScriptTest):
    def compare(self, peers, *benchmarks):
        """Compares stand-ins for peers; returns their calls, and the tables."""
        self.stand_in(self.root / "scripts/build")
        for name in ("taskbench_peer", "asio_peer", "tbb_peer"):
            # Long enough that the script reads its peak memory.
            self.stand_in(self.root / "build/release/scripts/peers" / name,
                          """sleep 0.1; echo '{"real_ns": 2000, "cpu_ns": 3000}'""")
        tables = self.run_script(
            "scripts/compare-peers", "--peers", peers, "--rounds", "1", "--seconds", "3",
            "--threads", "1", *benchmarks, XDG_CACHE_HOME=str(self.root / "cache")).stdout
        return [call for call in self.called() if not call.startswith("build ")], tables

    def test_every_peer_spawns_the_same_and_shows_its_peak_memory(self):
        calls, tables = self.compare("taskbench,asio,tbb", "spawn")
        peers = {"taskbench": " work_stealing", "asio": ""}
        if "Missing: oneTBB; the package libtbb-dev would bring it.\n" not in tables:
            peers["tbb"] = ""
        self.assertEqual(sorted(calls), sorted(
            f"{peer}_peer {workload}{more}" for peer, more in peers.items()
            for workload in ("chained_spawn 1 3 1000", "ping_pong 1 3 1000", "spawn_many 1 3 10000",
                             "spawn_local 1 3 10000", "yield_many 1 3 200 1000")))
        rows = re.findall(
            r"^\| (taskbench|Asio|oneTBB) \| 2 \| 3 \| (?!0 )[\d.]+ \| [\d.,]+ \|$", tables, re.M)
        self.assertEqual(len(rows), len(calls), tables)
        self.assertEqual(tables.count("| time, µs | CPU, µs | peak memory, MB | switches per s |"),
                         len(WORKLOADS.split()))

    def test_forks_that_are_spawned(self):
        calls, tables = self.compare("taskbench,asio", "joins")
        self.assertEqual(calls, ["taskbench_peer spawned_fib 1 3 27 work_stealing",
                                 "taskbench_peer spawned_skynet 1 3 1000000 work_stealing"])
        self.assertIn("**joins: spawned_fib(27), 1 thread**", tables)

    def test_the_programs_know_the_workloads(self):
        peers = ROOT / "scripts/peers"
        joins = "spawned_fib spawned_skynet"
        for source, workloads in (
                ("spawning.hpp", WORKLOADS), ("taskbench.cpp", joins), ("tbb.cpp", joins),
                ("go/main.go", joins), ("rust/src/main.rs", joins)):
            text = (peers / source).read_text(encoding="utf-8")
            for workload in workloads.split():
                self.assertIn(f'"{workload}"', text)


class Test(ScriptTest):
    def setUp(self):
        super().setUp()
        for script in ("install-deps", "build"):
            self.stand_in(self.root / "scripts" / script)
        self.stand_in(self.bin / "ctest")

    def test_each_run_is_one_ctest_over_its_presets(self):
        some = " --target taskbench_ci_tests"
        for options, builds, left_out in (
            ([], ["quick --target taskbench_tests"], r" --label-exclude \.(ci|nightly)$"),
            (["--ci"], ["quick", "tsan" + some, "asan-ubsan" + some],
             r" --label-exclude \.nightly$"),
            (["--all"], ["release", "tsan", "asan-ubsan"], ""),
        ):
            with self.subTest(options):
                self.calls.write_text("")
                self.run_script("scripts/test", *options, "-R", "queue")
                calls = self.called()
                purpose = "nightly" if options == ["--all"] else "test"
                self.assertEqual(
                    calls[:-1],
                    [f"install-deps {purpose}", *(f"build {build}" for build in builds)])
                self.assertRegex(calls[-1], "^ctest .*" + re.escape(left_out + " -R queue") + "$")
                self.assertEqual("--label-exclude" in calls[-1], left_out != "")
                listed = (self.root / "build/test/CTestTestfile.cmake").read_text()
                presets = [build.split()[0] for build in builds]
                self.assertEqual(
                    listed, "".join(f'subdirs("{self.root}/build/{p}")\n' for p in presets))

    def test_chosen_presets(self):
        self.run_script("scripts/test", "--all", "--preset", "tsan", "--preset=dev")
        self.assertEqual(self.called()[1:3], ["build tsan", "build dev"])

    def test_a_failing_build_or_test_fails(self):
        self.stand_in(self.bin / "ctest", "exit 8")
        self.run_script("scripts/test", status=8)
        self.stand_in(self.root / "scripts/build", "exit 1")
        self.run_script("scripts/test", status=1)


class Build(ScriptTest):
    def test_presets_are_checked(self):
        for arguments in ([], ["../x"], ["--preset"]):
            self.run_script("scripts/build", *arguments, status=2)

    def test_a_failing_configure_step_shows_its_output(self):
        self.stand_in(self.bin / "cmake", "echo what is missing; exit 1")
        answer = self.run_script("scripts/build", "release", status=1)
        self.assertIn("what is missing", answer.stderr)


class Package(ScriptTest):
    def setUp(self):
        super().setUp()
        self.stand_in(self.root / "scripts/install-deps")
        self.stand_in(self.bin / "cmake")
        names = "taskbench_1_all.deb libtaskbench-dev.deb"
        self.stand_in(self.bin / "cpack", f'cd "$4" && touch {names}')

    def test_builds_and_prints_where_the_packages_are(self):
        folder = self.root.parent / "out"
        for arguments, out in ((["--out", "out"], folder), ([], self.root / "build/package")):
            answer = self.run_script("scripts/package", *arguments, cwd=self.root.parent,
                                     CDPATH=".")
            packages = [f"{out}/libtaskbench-dev.deb", f"{out}/taskbench_1_all.deb"]
            self.assertEqual(answer.stdout.splitlines(), packages)
            self.assertEqual(sorted(str(path) for path in out.glob("*.deb*")), packages)
        calls = self.called()[:4]
        self.assertEqual(calls[0], "install-deps package")
        self.assertTrue(calls[1].startswith("cmake --preset release -B build/package "), calls)
        self.assertTrue(calls[2].startswith("cmake --build build/package "), calls)

    def test_the_folders_of_a_package_are_open_to_all_whoever_makes_it(self):
        self.stand_in(self.bin / "cpack", f'umask >>"{self.calls}"; touch "$4/x.deb"')
        self.addCleanup(os.umask, os.umask(0o077))
        self.run_script("scripts/package")
        self.assertEqual(self.called()[-1], "0022")

    def test_a_step_that_fails_shows_its_output_and_leaves_no_package(self):
        for command in ("cpack", "cmake"):
            self.stand_in(self.bin / command, "echo what went wrong; exit 1")
            answer = self.run_script("scripts/package", "--out", self.root / "out", status=1)
            self.assertIn("what went wrong", answer.stderr)
            self.assertEqual((answer.stdout, list((self.root / "out").iterdir())), ("", []))
        self.run_script("scripts/package", "--ot", status=2)


class InstallTaskbench(RepositoryTest):
    """Installs from a repository whose script makes a package that holds only its commit."""

    def setUp(self):
        super().setUp()
        script = self.repository / "scripts/package"
        self.stand_in(script, 'cd "$(dirname "$0")" && git rev-parse HEAD >"$2/taskbench_1.deb"')
        script.write_text(script.read_text().replace("\ncd ", '\nmkdir -p "$2"\ncd ', 1))
        self.one, self.two = self.commit("one"), self.commit("two")
        self.cache = self.root.parent / "cache"
        self.stand_in(self.bin / "apt-get", 'eval "package=\\${$#}"; cat "$package" 2>/dev/null')
        self.stand_in(self.bin / "sudo", 'exec "$@"')
        self.stand_in(self.bin / "taskbench", "echo taskbench 1")

    def install(self, revision, **options):
        return self.run_script(
            "scripts/install-taskbench", "--repository", self.repository, "--revision", revision,
            "--cache", self.cache, **options,
        )

    def test_builds_the_package_of_each_commit_once_and_installs_it(self):
        for revision in (self.one, self.two, self.one):
            answer = self.install(revision)
            self.assertEqual(answer.stdout, "taskbench 1\n")
            self.assertIn(revision, answer.stderr)  # the content of the package
        self.assertEqual(sum(call.startswith("package ") for call in self.called()), 2)
        self.assertEqual(len(list(self.cache.iterdir())), 2)

    def test_fetches_the_package_lists_where_installing_fails_without(self):
        self.stand_in(
            self.bin / "apt-get",
            f'case "$*" in *update*) touch "{self.root}/lists" ;; *) [ -e "{self.root}/lists" ] ;; '
            "esac",
        )
        self.install(self.one)
        verbs = [call.split()[3] for call in self.called() if call.startswith("apt-get")]
        self.assertEqual(verbs, ["install", "update", "install"])

    def test_a_build_that_fails_leaves_nothing_in_the_cache(self):
        self.stand_in(self.repository / "scripts/package", "exit 1")
        self.install(self.commit("broken"), status=1)
        self.assertEqual(list(self.cache.iterdir()), [])

    def test_refuses_what_may_come_to_mean_another_commit(self):
        for revision in ("main", self.one[:39], self.one.upper(), ""):
            self.assertIn("--revision", self.install(revision, status=2).stderr)
        self.assertFalse(self.cache.exists())
        self.install("0" * 40, status=128)


class GatePr(RepositoryTest):
    """In a repository whose build makes a taskbench that records how it was called."""

    def setUp(self):
        super().setUp()
        self.out = self.repository / "taskbench-gate"
        self.put("scripts/install-deps", "#!/bin/sh\n")
        self.put(
            "scripts/build",
            '#!/bin/sh\ncd "$(dirname "$0")/.." || exit\n'
            f'echo "build $* of $(git log -1 --format=%s)" >>"{self.calls}"\n'
            "mkdir -p build/release/cli && cp taskbench build/release/cli/\n",
        )
        self.put(
            "taskbench",
            f'#!/bin/sh\necho "taskbench $*" >>"{self.calls}"\n'
            '[ "$1" = gate ] || exit ${REPORT_STATUS:-0}\n'
            'while [ $# -gt 1 ]; do [ "$1" = --markdown ] && echo comment >"$2"\n'
            '[ "$1" = --json ] && [ -z "$NO_JSON" ] && '
            'printf \'{\\n  "outcome": "%s",\\n  "complete": %s\\n}\\n\' "$OUTCOME" '
            '"${COMPLETE:-true}" >"$2"\n'
            '[ "$1" = --format ] && echo "$2"; shift; done\n'
            "exit ${STATUS:-0}\n",
        )

    def put(self, name, text):
        path = self.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def pull_request(self, gate_in_base=True):
        """Makes a branch off main, which then moves on; returns the commit where they part."""
        if gate_in_base:
            self.put("cli/commands/gate.cpp", "")
        fork = self.commit("fork")
        self.git("checkout", "--quiet", "-b", "change")
        if not gate_in_base:
            self.put("cli/commands/gate.cpp", "")
        self.commit("change")
        self.git("checkout", "--quiet", "main")
        self.commit("main goes on")
        self.git("checkout", "--quiet", "change")
        return fork

    def gate_pr(self, *arguments, **options):
        return self.run_script(
            "scripts/gate-pr", *arguments, XDG_CACHE_HOME=str(self.root.parent / "cache"),
            **{"cwd": self.repository, **options})

    def call(self, fork, head="HEAD", out="taskbench-gate", more=""):
        return (
            f"taskbench gate --base-rev {fork} --head-rev {head} --markdown {out}/comment.md "
            f"--json {out}/gate.json --journal {out}/gate.journal{more}"
        )

    @staticmethod
    def report(out="taskbench-gate"):
        return f"taskbench report {out}/gate.json --out {out}/report"

    def test_the_taskbench_of_the_fork_judges_the_change_since_then(self):
        fork = self.pull_request()
        for status in (0, 3):
            answer = self.gate_pr("--base", "main", status=status, STATUS=str(status))
            self.assertEqual(answer.stdout, "taskbench-gate/comment.md\n")
        build = "build release --target taskbench of fork"
        self.assertEqual(self.called(), 2 * [build, self.call(fork), self.report()])

    def test_the_taskbench_of_the_head_judges_where_the_fork_has_no_gate(self):
        fork = self.pull_request(gate_in_base=False)
        answer = self.gate_pr("--base", "main")
        self.assertIn("has no gate; the pull request's own taskbench judges", answer.stderr)
        build = "build release --target taskbench of change"
        self.assertEqual(self.called(), [build, self.call(fork), self.report()])

    def test_what_was_measured_is_left_for_trackers(self):
        fork = self.pull_request()
        taskbench = str(self.repository / "taskbench")
        formats = ("openmetrics", "bmf")
        for ended in (("judged", "true"), ("failed", "true"), ("judged", "false")):
            self.gate_pr("--base", "main", "--taskbench", taskbench, status=1, STATUS="1",
                         OUTCOME=ended[0], COMPLETE=ended[1])
            for format in formats:
                left = self.out / f"gate.{format}"
                self.assertEqual(left.read_text() if left.exists() else None,
                                 f"{format}\n" if ended == ("judged", "true") else None)
        # tests/cli/gate_test.py has taskbench take these options.
        self.assertEqual(self.called(), [self.call(fork), self.report(), *(
            f"taskbench gate --resume --journal taskbench-gate/gate.journal --format {format}"
            for format in formats), *2 * [self.call(fork), self.report()]])

    def test_the_verdict_stands_without_plots(self):
        fork = self.pull_request()
        taskbench = str(self.repository / "taskbench")
        for environment, says in (
            ({"REPORT_STATUS": "2"}, "the verdict stands without it"), ({"NO_JSON": "1"}, ""),
        ):
            answer = self.gate_pr(
                "--base", "main", "--taskbench", taskbench, status=1, STATUS="1", **environment)
            self.assertEqual(answer.stdout, "taskbench-gate/comment.md\n")
            self.assertIn(says, answer.stderr)
        self.assertEqual(self.called(), [self.call(fork), self.report(), self.call(fork)])

    def test_options_and_arguments(self):
        fork = self.pull_request()
        taskbench = str(self.repository / "taskbench")
        self.git("checkout", "--quiet", "main")
        self.gate_pr(
            "--base", "main", "--head", "change", "--out", "a b", "--taskbench", taskbench, "--",
            "--build", "make all", "--budget", "1m",
        )
        more = " --build make all --budget 1m"
        self.assertEqual(
            self.called(),
            [self.call(fork, head="change", out="a b", more=more), self.report("a b")])

    def test_a_failure_is_explained_by_a_judge_that_can(self):
        fork = self.pull_request()
        taskbench = str(self.repository / "taskbench")
        arguments = ("--base", "main", "--taskbench", taskbench, "--explain", "--", "--delta", "5%")
        self.gate_pr(*arguments)
        self.assertEqual(self.called()[1], self.call(fork, more=" --delta 5%"))
        can = (self.repository / "taskbench").read_text().replace(
            "while", '[ "$2" != --help ] || { echo "  --explain"; exit; }\nwhile')
        self.put("taskbench", can)
        self.gate_pr(*arguments)
        self.assertEqual(self.called()[-2], self.call(fork, more=" --explain --delta 5%"))

    def test_the_base_alone_is_built_by_no_judge_of_the_request(self):
        fork = self.pull_request()
        self.gate_pr("--base", "main", "--build-base", "--", "--build", "make")
        build = "build release --target taskbench of fork"
        self.assertEqual(self.called(), [
            build, f"taskbench gate --base-rev {fork} --head-rev HEAD --build-only base "
            "--build make"])
        self.assertEqual(list(self.out.iterdir()), [])

    def test_the_base_alone_is_not_built_where_only_the_request_has_a_judge(self):
        self.pull_request(gate_in_base=False)
        answer = self.gate_pr("--base", "main", "--build-base", status=2)
        self.assertIn("the pull request's own must not touch a cache", answer.stderr)

    def test_what_an_earlier_run_wrote_is_gone(self):
        self.pull_request()
        self.out.mkdir()
        (self.out / "comment.md").touch()
        (self.out / "report").mkdir()
        taskbench = self.root.parent / "silent"
        self.stand_in(taskbench, "exit 2")
        answer = self.gate_pr("--base", "main", "--taskbench", taskbench, status=2)
        self.assertEqual(answer.stdout, "")
        self.assertEqual(list(self.out.iterdir()), [])

    def test_without_a_judge_the_comment_says_that_there_is_no_verdict(self):
        self.pull_request()
        killed = self.root.parent / "killed"
        self.stand_in(killed, "kill -9 $$")
        for taskbench, status, says in (
            ("no-such-taskbench", 2, "no-such-taskbench, which judges, is not installed"),
            (str(killed), 137, "taskbench gate ended with status 137"),
        ):
            answer = self.gate_pr("--base", "main", "--taskbench", taskbench, status=status)
            self.assertEqual(answer.stdout, "taskbench-gate/comment.md\n")
            lines = (self.out / "comment.md").read_text().splitlines()
            self.assertEqual(lines[0], "<!-- taskbench-gate -->")
            self.assertIn(f"### taskbench: no verdict: {says}", lines[1])

    def test_a_judge_that_does_not_build_gives_no_verdict(self):
        self.put("scripts/build", "#!/bin/sh\nexit 1\n")
        self.pull_request()
        self.gate_pr("--base", "main", status=2)
        self.assertIn("could not be built from", (self.out / "comment.md").read_text())

    def test_a_shallow_clone_is_told_what_to_fetch(self):
        self.pull_request()
        shallow = self.root.parent / "shallow"
        source = f"file://{self.repository}"
        self.git("clone", "--quiet", "--depth", "1", "--no-single-branch", source, shallow)
        for base in ("origin/main", "HEAD~3"):
            answer = self.gate_pr("--base", base, cwd=shallow, status=2)
            self.assertIn("git fetch --unshallow", answer.stderr)

    def test_refusals(self):
        self.commit("no taskbench here")
        for arguments, says in (
            (("--base", "no-such"), "unknown revision 'no-such'\n"),
            (("--base", "HEAD"), "this repository builds no taskbench to judge with"),
            (("--bsae", "HEAD"), "unknown argument '--bsae'"),
            (("HEAD",), "unknown argument 'HEAD'"),
        ):
            self.assertIn(f"gate-pr: {says}", self.gate_pr(*arguments, status=2).stderr)
        self.gate_pr("--base", "HEAD", cwd="/", status=2)


class DiffBaseline(ScriptTest):
    FILES = (
        "--journal taskbench-baseline/compare.journal "
        "--markdown taskbench-baseline/comment.md --json taskbench-baseline/baseline.json"
    )

    def setUp(self):
        super().setUp()
        for script in ("install-deps", "build"):
            self.stand_in(self.root / "scripts" / script)
        self.binary = self.root / "build/release/cli/taskbench"
        self.stand_in(self.binary, "exit ${STATUS:-0}")
        self.folder = self.root.parent / "folder"
        self.folder.mkdir()

    def diff(self, *arguments, **options):
        return self.run_script("scripts/diff-baseline", *arguments, cwd=self.folder, **options)

    def test_builds_and_compares(self):
        for status in (0, 4):
            self.diff(status=status, STATUS=str(status))
        program = str(self.binary).replace(" ", "\\ ")
        self.assertEqual(self.called()[:3], [
            "install-deps bench", "build release --target taskbench",
            f"taskbench baseline compare default --store ci/baselines --program {program} "
            + self.FILES,
        ])

    def test_saves(self):
        self.diff("--save", "--program", "x")
        self.assertEqual(
            self.called()[-1],
            "taskbench baseline save default --store ci/baselines --program x "
            "--journal taskbench-baseline/save.journal",
        )

    def test_what_a_killed_job_left_is_in_nobodys_way(self):
        for action, arguments in (("compare", ()), ("save", ("--save",))):
            journal = self.folder / f"taskbench-baseline/{action}.journal"
            journal.parent.mkdir(exist_ok=True)
            journal.touch()
            self.diff(*arguments, "--", "--resume")
            self.assertTrue(journal.exists())
            self.assertTrue(self.called()[-1].endswith(" --resume"))
            self.diff(*arguments)
            self.assertFalse(journal.exists())
            self.diff(*arguments, "--", "--journal", "own")
            self.assertEqual(self.called()[-1].count("--journal"), 1)

    def test_options_and_arguments(self):
        self.diff(
            "--name", "nightly", "--store", "s", "--out", "o", "--program", "out/bench --x",
            "--taskbench", str(self.binary), "--", "--delta", "5%",
        )
        self.assertEqual(self.called(), [
            "taskbench baseline compare nightly --store s --program out/bench --x "
            "--journal o/compare.journal --markdown o/comment.md --json o/baseline.json --delta 5%"
        ])
        self.diff("nightly", status=2)

    def test_fails_when_the_build_fails(self):
        self.stand_in(self.root / "scripts/build", "exit 1")
        self.assertIn("does not build", self.diff(status=5).stderr)


if __name__ == "__main__":
    unittest.main()
