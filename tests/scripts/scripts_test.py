#!/usr/bin/env python3
"""The scripts, run in a copy of their folder with stand-ins for the commands that they call."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = "chained_spawn ping_pong spawn_many spawn_local yield_many"


class ScriptTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name) / "a clone"
        self.bin = Path(directory.name) / "bin"
        self.calls = Path(directory.name) / "calls"
        for folder in ("scripts", ".ci"):
            shutil.copytree(ROOT / folder, self.root / folder)
        self.bin.mkdir()
        self.calls.touch()

    def stand_in(self, path, body=""):
        """Puts at `path` a script that notes how it was called, then runs `body`."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "{path.name} $*" >>"{self.calls}"\n{body}\n')
        path.chmod(0o755)

    def run_script(self, name, *arguments, cwd="/", **environment):
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("TASKBENCH_")}
        return subprocess.run(
            [self.root / name, *arguments],
            env={**inherited, "PATH": f"{self.bin}:{os.environ['PATH']}", **environment},
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
        )

    def called(self):
        return self.calls.read_text().splitlines()


class EveryScript(ScriptTest):
    def test_explains_itself_with_examples(self):
        scripts = sorted(path.name for path in (ROOT / "scripts").iterdir() if path.is_file())
        self.assertIn("bench", scripts)
        for script in scripts:
            with self.subTest(script):
                answer = self.run_script(f"scripts/{script}", "--help")
                self.assertEqual(answer.returncode, 0, answer.stderr)
                self.assertTrue(answer.stdout.startswith(f"usage: scripts/{script}"))
                self.assertIn("\nexamples:\n", answer.stdout)

    def test_ci_runs_the_test_command(self):
        self.stand_in(self.root / "scripts/test")
        self.assertEqual(self.run_script(".ci/run", "-R", "x").returncode, 0)
        self.assertEqual(self.called(), ["test --ci -R x"])


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
        """Makes dpkg-query answer that all packages but these are installed."""
        tests = "".join(f'[ "$p" = {package} ] && continue; ' for package in packages)
        body = f'shift 2; for p in "$@"; do {tests}echo "installed $p"; done'
        self.stand_in(self.bin / "dpkg-query", body)

    def install(self, *arguments, **environment):
        return self.run_script(
            "scripts/install-deps", "--os-release", str(self.debian), *arguments, **environment
        )

    def apt_calls(self):
        return [call for call in self.called() if call.startswith("apt-get")]

    def test_does_nothing_when_nothing_is_missing(self):
        for purpose in ("bench", "test"):
            answer = self.install(purpose)
            self.assertEqual((answer.returncode, answer.stdout, answer.stderr), (0, "", ""))
        self.assertEqual(self.apt_calls(), [])

    def test_installs_what_is_missing_and_says_so_in_one_line(self):
        self.lacking("ninja-build", "libfmt-dev")
        answer = self.install("bench")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(
            answer.stdout, "Installing with apt-get, to build taskbench: ninja-build libfmt-dev\n"
        )
        self.assertEqual(len(self.apt_calls()), 1)
        self.assertTrue(self.apt_calls()[0].endswith("ninja-build libfmt-dev"))

    def test_fetches_the_package_lists_when_there_are_none(self):
        self.lacking("cmake")
        self.stand_in(self.bin / "apt-cache", "exit 100")
        self.assertEqual(self.install("bench").returncode, 0)
        self.assertEqual([call.split()[3] for call in self.apt_calls()], ["update", "install"])

    def test_takes_another_clang_only_where_clang_16_is_gone(self):
        for_tests = ["clang-16", "libclang-rt-16-dev", "clang-format-14"]
        self.lacking(*for_tests)
        self.assertEqual(self.install("test").returncode, 0)
        gone = " && ".join(f'[ "$2" != {package} ]' for package in for_tests)
        self.stand_in(self.bin / "apt-cache", gone)
        self.assertEqual(self.install("test").returncode, 0)
        installs = [call.split("recommends ")[1] for call in self.apt_calls() if "install" in call]
        self.assertEqual(installs, [" ".join(for_tests), "clang libclang-rt-dev"])

    def test_a_failing_apt_is_reported(self):
        self.lacking("cmake")
        self.stand_in(self.bin / "apt-get", "echo no network; exit 100")
        answer = self.install("bench")
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("no network", answer.stderr)

    def test_bench_needs_no_test_tools(self):
        self.lacking("clang-16", "clang-format-14", "libbenchmark-dev", "python3-jsonschema")
        self.assertEqual(self.install("--dry-run", "bench").stdout, "libbenchmark-dev\n")
        answer = self.install("--dry-run", "test")
        for_tests = ["clang-16", "clang-format-14", "python3-jsonschema"]
        self.assertEqual(answer.stdout.split(), ["libbenchmark-dev", *for_tests])
        self.assertEqual(self.apt_calls(), [])

    def test_packages_need_tools_that_find_their_libraries_and_make_the_manual_page(self):
        self.lacking("dpkg-dev", "file", "help2man", "libbenchmark-dev", "jq")
        answer = self.install("--dry-run", "package")
        self.assertEqual(
            answer.stdout.split(), ["libbenchmark-dev", "dpkg-dev", "file", "help2man"])
        self.assertEqual(self.install("--dry-run", "bench").stdout, "libbenchmark-dev\n")

    def lacking_tools(self):
        for tool in ("perf", "valgrind"):
            self.stand_in(self.bin / tool, "exit 127")

    def test_tools_that_count_are_installed_on_demand(self):
        self.lacking("linux-perf", "valgrind")
        self.lacking_tools()
        self.assertEqual(self.install("bench").returncode, 0)
        self.assertEqual(self.apt_calls(), [])
        answer = self.install("--with", "perf", "--with", "valgrind", "bench")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        installs = [call.split("recommends ")[1] for call in self.apt_calls()]
        self.assertEqual(installs, ["linux-perf", "valgrind"])
        answer = self.install("--dry-run", "--with", "perf", "bench")
        self.assertEqual(answer.stdout, "linux-perf\n")

    def test_tools_that_work_are_not_installed_from_wherever_they_came(self):
        self.lacking("linux-perf")
        self.stand_in(self.bin / "perf")
        self.assertEqual(self.install("--with", "perf", "bench").returncode, 0)
        self.assertEqual(self.apt_calls(), [])

    def test_perf_is_found_under_the_names_that_ubuntu_has_for_it(self):
        self.lacking_tools()
        self.stand_in(self.bin / "apt-cache", '[ "$2" = linux-tools-generic ]')
        self.assertEqual(self.install("--with", "perf", "bench").returncode, 0)
        self.assertTrue(self.apt_calls()[-1].endswith(" linux-tools-generic"))

    def test_tools_that_are_not_to_be_had_stop_nothing(self):
        self.lacking("cmake")
        self.lacking_tools()
        self.stand_in(self.bin / "apt-cache", '[ "$2" = cmake ] || [ "$2" = valgrind ]')
        self.stand_in(self.bin / "apt-get", 'case "$*" in *valgrind) exit 100 ;; esac')
        answer = self.install("--with", "perf", "--with", "valgrind", "bench")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("going on without perf: no package provides it here", answer.stderr)
        self.assertIn("going on without valgrind\n", answer.stderr)
        self.assertTrue(self.apt_calls()[0].endswith(" cmake"))

    def test_other_systems_are_told_the_packages(self):
        self.debian.write_text("ID=fedora\n")
        answer = self.install("test")
        self.assertEqual(answer.returncode, 2)
        for name in ("dnf install", "pacman -S", "brew install", "google-benchmark-devel", "cli11"):
            self.assertIn(name, answer.stderr)
        self.assertEqual(self.install("test", TASKBENCH_SKIP_INSTALL="1").returncode, 0)
        self.assertEqual(self.apt_calls(), [])

    def test_derived_systems_count_as_debian(self):
        self.debian.write_text('ID=linuxmint\nID_LIKE="ubuntu debian"\n')
        self.assertEqual(self.install("bench").returncode, 0)

    def test_wrong_arguments_are_refused(self):
        for arguments in (
            [], ["benhc"], ["--all", "bench"], ["--with", "gdb", "bench"], ["--with"],
        ):
            self.assertEqual(self.install(*arguments).returncode, 2)


class Bench(ScriptTest):
    def setUp(self):
        super().setUp()
        for script in ("install-deps", "build"):
            self.stand_in(self.root / "scripts" / script)
        self.stand_in(self.root / "build/release/cli/taskbench")

    def taskbench_call(self, *arguments, tools=""):
        answer = self.run_script("scripts/bench", *arguments)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        calls = self.called()
        self.assertEqual(
            calls[-3:-1], [f"install-deps {tools}bench", "build release --target taskbench"])
        return calls[-1]

    def test_installs_what_counts_the_events_that_are_asked_for(self):
        perf, valgrind = "--with perf ", "--with valgrind "
        for arguments, tools in (
            (["--counters", "basic,software"], perf),
            (["--counters=cycles"], perf),
            (["--counters", "instructions-exact"], valgrind),
            (["--counters", "basic,instructions-exact"], valgrind + perf),
            (["--counters=instructions-exact", "--counters", "software"], valgrind + perf),
            (["--report", "counters"], ""),
        ):
            call = self.taskbench_call(*arguments, tools=tools)
            self.assertTrue(call.endswith(" ".join(arguments)), call)

    def test_runs_all_workloads_and_writes_json(self):
        expected = f"taskbench run {WORKLOADS} --json taskbench.json"
        self.assertEqual(self.taskbench_call(), expected)

    def test_hands_arguments_on(self):
        expected = f"taskbench run {WORKLOADS} --json taskbench.json --workers 1,2"
        self.assertEqual(self.taskbench_call("--workers", "1,2"), expected)

    def test_workloads_and_json_of_the_user_take_the_place_of_its_own(self):
        call = self.taskbench_call("ping_pong", "--json=x.json")
        self.assertEqual(call, "taskbench run ping_pong --json=x.json")
        call = self.taskbench_call("--json", "y.json")
        self.assertEqual(call, f"taskbench run {WORKLOADS} --json y.json")

    def test_fails_when_the_build_fails(self):
        self.stand_in(self.root / "scripts/build", "exit 3")
        self.assertEqual(self.run_script("scripts/bench").returncode, 3)
        self.assertNotIn("taskbench", "".join(self.called()[2:]))


class Test(ScriptTest):
    def setUp(self):
        super().setUp()
        for script in ("install-deps", "build"):
            self.stand_in(self.root / "scripts" / script)
        self.stand_in(self.bin / "ctest")

    def test_each_run_is_one_ctest_over_its_presets(self):
        some = " --target taskbench_ci_tests"
        for options, builds, left_out in (
            ([], ["quick"], r" --label-exclude \.(ci|nightly)$"),
            (["--ci"], ["quick", "tsan" + some, "asan-ubsan" + some],
             r" --label-exclude \.nightly$"),
            (["--all"], ["release", "tsan", "asan-ubsan"], ""),
        ):
            with self.subTest(options):
                self.calls.write_text("")
                answer = self.run_script("scripts/test", *options, "-R", "queue")
                self.assertEqual(answer.returncode, 0, answer.stderr)
                calls = self.called()
                self.assertEqual(
                    calls[:-1], ["install-deps test", *(f"build {build}" for build in builds)])
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
        self.assertEqual(self.run_script("scripts/test").returncode, 8)
        self.stand_in(self.root / "scripts/build", "exit 1")
        self.assertEqual(self.run_script("scripts/test").returncode, 1)


class Build(ScriptTest):
    def test_presets_are_checked(self):
        for arguments in ([], ["../x"], ["--preset"]):
            self.assertEqual(self.run_script("scripts/build", *arguments).returncode, 2)

    def test_a_failing_configure_step_shows_its_output(self):
        self.stand_in(self.bin / "cmake", "echo what is missing; exit 1")
        answer = self.run_script("scripts/build", "release")
        self.assertEqual(answer.returncode, 1)
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
            answer = self.run_script("scripts/package", *arguments, cwd=self.root.parent)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            packages = [f"{out}/libtaskbench-dev.deb", f"{out}/taskbench_1_all.deb"]
            self.assertEqual(answer.stdout.splitlines(), packages)
            self.assertEqual(sorted(str(path) for path in out.glob("*.deb*")), packages)
        calls = self.called()[:4]
        self.assertEqual(calls[0], "install-deps package")
        self.assertTrue(calls[1].startswith("cmake --preset release -B build/package "), calls)
        self.assertTrue(calls[2].startswith("cmake --build build/package "), calls)

    def test_a_step_that_fails_shows_its_output_and_leaves_no_package(self):
        for command in ("cpack", "cmake"):
            self.stand_in(self.bin / command, "echo what went wrong; exit 1")
            answer = self.run_script("scripts/package", "--out", str(self.root / "out"), cwd="/")
            self.assertEqual(answer.returncode, 1)
            self.assertIn("what went wrong", answer.stderr)
            self.assertEqual((answer.stdout, list((self.root / "out").iterdir())), ("", []))
        self.assertEqual(self.run_script("scripts/package", "--ot").returncode, 2)


class InstallTaskbench(ScriptTest):
    """From a repository whose script makes a package that is a note of its commit."""

    def setUp(self):
        super().setUp()
        self.repository = self.root.parent / "repository"
        script = self.repository / "scripts/package"
        self.stand_in(script, 'cd "$(dirname "$0")" && git rev-parse HEAD >"$2/taskbench_1.deb"')
        script.write_text(script.read_text().replace("\ncd ", '\nmkdir -p "$2"\ncd ', 1))
        self.git("init", "--quiet")
        self.git("add", "--all")
        self.commits = []
        for message in ("one", "two"):
            self.git("commit", "--quiet", "--allow-empty", "--message", message)
            self.commits.append(self.git("rev-parse", "HEAD"))
        self.cache = self.root.parent / "cache"
        self.stand_in(self.bin / "apt-get", 'eval "package=\\${$#}"; cat "$package" 2>/dev/null')
        self.stand_in(self.bin / "sudo", 'exec "$@"')
        self.stand_in(self.bin / "taskbench", "echo taskbench 1")

    def git(self, *arguments):
        return subprocess.run(
            ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments],
            cwd=self.repository, capture_output=True, text=True, check=True,
        ).stdout.strip()

    def install(self, revision, repository=None):
        return self.run_script(
            "scripts/install-taskbench", "--repository", str(repository or self.repository),
            "--revision", revision, "--cache", str(self.cache),
        )

    def test_builds_the_package_of_each_commit_once_and_installs_it(self):
        for revision in (self.commits[0], self.commits[1], self.commits[0]):
            answer = self.install(revision)
            self.assertEqual((answer.returncode, answer.stdout), (0, "taskbench 1\n"))
            self.assertIn(revision, answer.stderr)  # the content of what apt-get was given
        self.assertEqual(sum(call.startswith("package ") for call in self.called()), 2)
        self.assertEqual(len(list(self.cache.iterdir())), 2)

    def test_fetches_the_package_lists_where_installing_fails_without(self):
        self.stand_in(
            self.bin / "apt-get",
            f'case "$*" in *update*) touch "{self.root}/lists" ;; *) [ -e "{self.root}/lists" ] ;; '
            "esac",
        )
        self.assertEqual(self.install(self.commits[0]).returncode, 0)
        verbs = [call.split()[3] for call in self.called() if call.startswith("apt-get")]
        self.assertEqual(verbs, ["install", "update", "install"])

    def test_a_build_that_fails_leaves_nothing_in_the_cache(self):
        self.stand_in(self.repository / "scripts/package", "exit 1")
        self.git("commit", "--quiet", "--all", "--message", "broken")
        self.assertEqual(self.install(self.git("rev-parse", "HEAD")).returncode, 1)
        self.assertEqual(list(self.cache.iterdir()), [])

    def test_refuses_what_may_come_to_mean_another_commit(self):
        for revision in ("main", self.commits[0][:39], self.commits[0].upper(), ""):
            answer = self.install(revision)
            self.assertNotEqual(answer.returncode, 0)
            self.assertIn("--revision", answer.stderr)
        self.assertFalse(self.cache.exists())
        self.assertNotEqual(self.install("0" * 40).returncode, 0)


class GatePr(ScriptTest):
    """In a repository whose build makes a taskbench that notes how it was called."""

    def setUp(self):
        super().setUp()
        self.repository = self.root.parent / "repository"
        self.repository.mkdir()
        self.out = self.repository / "taskbench-gate"
        self.git("init", "--quiet", "--initial-branch", "main")
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
            '[ "$1" = --json ] && [ -z "$NO_JSON" ] && echo {} >"$2"; shift; done\n'
            "exit ${STATUS:-0}\n",
        )

    def git(self, *arguments, cwd=None):
        answer = subprocess.run(
            ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments],
            cwd=cwd or self.repository, capture_output=True, text=True, check=True,
        )
        return answer.stdout.strip()

    def put(self, name, text):
        path = self.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def commit(self, message):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def pull_request(self, gate_in_base=True):
        """A branch off main, which has gone on since; returns where they part."""
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

    def gate_pr(self, *arguments, cwd=None, **environment):
        return self.run_script(
            "scripts/gate-pr", *arguments, cwd=cwd or self.repository,
            XDG_CACHE_HOME=str(self.root.parent / "cache"), **environment,
        )

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
            answer = self.gate_pr("--base", "main", STATUS=str(status))
            self.assertEqual(answer.returncode, status, answer.stderr)
            self.assertEqual(answer.stdout, "taskbench-gate/comment.md\n")
        build = "build release --target taskbench of fork"
        self.assertEqual(self.called(), 2 * [build, self.call(fork), self.report()])

    def test_the_taskbench_of_the_head_judges_where_the_fork_has_no_gate(self):
        fork = self.pull_request(gate_in_base=False)
        answer = self.gate_pr("--base", "main")
        self.assertIn("has no gate; the pull request's own taskbench judges", answer.stderr)
        build = "build release --target taskbench of change"
        self.assertEqual(self.called(), [build, self.call(fork), self.report()])

    def test_the_verdict_stands_without_plots(self):
        fork = self.pull_request()
        taskbench = str(self.repository / "taskbench")
        for environment, says in (
            ({"REPORT_STATUS": "2"}, "the verdict stands without it"), ({"NO_JSON": "1"}, ""),
        ):
            answer = self.gate_pr(
                "--base", "main", "--taskbench", taskbench, STATUS="1", **environment)
            self.assertEqual(answer.returncode, 1, answer.stderr)
            self.assertEqual(answer.stdout, "taskbench-gate/comment.md\n")
            self.assertIn(says, answer.stderr)
        self.assertEqual(self.called(), [self.call(fork), self.report(), self.call(fork)])

    def test_options_and_arguments(self):
        fork = self.pull_request()
        taskbench = str(self.repository / "taskbench")
        self.git("checkout", "--quiet", "main")
        answer = self.gate_pr(
            "--base", "main", "--head", "change", "--out", "a b", "--taskbench", taskbench, "--",
            "--build", "make all", "--budget", "1m",
        )
        self.assertEqual(answer.returncode, 0, answer.stderr)
        more = " --build make all --budget 1m"
        self.assertEqual(
            self.called(),
            [self.call(fork, head="change", out="a b", more=more), self.report("a b")])

    def test_what_an_earlier_run_wrote_is_gone(self):
        self.pull_request()
        self.out.mkdir()
        (self.out / "comment.md").touch()
        (self.out / "report").mkdir()
        taskbench = self.root.parent / "silent"
        self.stand_in(taskbench, "exit 2")
        answer = self.gate_pr("--base", "main", "--taskbench", str(taskbench))
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertEqual(list(self.out.iterdir()), [])

    def test_without_a_judge_the_comment_says_that_there_is_no_verdict(self):
        self.pull_request()
        killed = self.root.parent / "killed"
        self.stand_in(killed, "kill -9 $$")
        for taskbench, status, says in (
            ("no-such-taskbench", 2, "no-such-taskbench, which judges, is not installed"),
            (str(killed), 137, "taskbench gate ended with status 137"),
        ):
            answer = self.gate_pr("--base", "main", "--taskbench", taskbench)
            self.assertEqual(answer.returncode, status, answer.stderr)
            self.assertEqual(answer.stdout, "taskbench-gate/comment.md\n")
            lines = (self.out / "comment.md").read_text().splitlines()
            self.assertEqual(lines[0], "<!-- taskbench-gate -->")
            self.assertIn(f"### taskbench: no verdict: {says}", lines[1])

    def test_a_judge_that_does_not_build_gives_no_verdict(self):
        self.put("scripts/build", "#!/bin/sh\nexit 1\n")
        self.pull_request()
        answer = self.gate_pr("--base", "main")
        self.assertEqual(answer.returncode, 2, answer.stderr)
        self.assertIn("could not be built from", (self.out / "comment.md").read_text())

    def test_a_shallow_clone_is_told_what_to_fetch(self):
        self.pull_request()
        shallow = self.root.parent / "shallow"
        source = f"file://{self.repository}"
        self.git("clone", "--quiet", "--depth", "1", "--no-single-branch", source, str(shallow))
        for base in ("origin/main", "HEAD~3"):
            answer = self.gate_pr("--base", base, cwd=shallow)
            self.assertEqual(answer.returncode, 2, answer.stderr)
            self.assertIn("git fetch --unshallow", answer.stderr)

    def test_refusals(self):
        self.commit("no taskbench here")
        for arguments, says in (
            (("--base", "no-such"), "unknown revision 'no-such'\n"),
            (("--base", "HEAD"), "this repository builds no taskbench to judge with"),
            (("--bsae", "HEAD"), "unknown argument '--bsae'"),
            (("HEAD",), "unknown argument 'HEAD'"),
        ):
            answer = self.gate_pr(*arguments)
            self.assertEqual(answer.returncode, 2, answer.stderr)
            self.assertIn(f"gate-pr: {says}", answer.stderr)
        self.assertEqual(self.gate_pr("--base", "HEAD", cwd="/").returncode, 2)


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

    def diff(self, *arguments, **environment):
        return self.run_script(
            "scripts/diff-baseline", *arguments, cwd=self.folder, **environment
        )

    def test_builds_and_compares(self):
        for status in (0, 4):
            self.assertEqual(self.diff(STATUS=str(status)).returncode, status)
        program = str(self.binary).replace(" ", "\\ ")
        self.assertEqual(self.called()[:3], [
            "install-deps bench", "build release --target taskbench",
            f"taskbench baseline compare default --store ci/baselines --program {program} "
            + self.FILES,
        ])

    def test_saves(self):
        self.assertEqual(self.diff("--save", "--program", "x").returncode, 0)
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
        self.assertEqual(self.diff("nightly").returncode, 2)

    def test_fails_when_the_build_fails(self):
        self.stand_in(self.root / "scripts/build", "exit 3")
        self.assertEqual(self.diff().returncode, 3)


if __name__ == "__main__":
    unittest.main()
