#!/usr/bin/env python3
"""`taskbench gate`, and the revisions that it and `ab` build, on small local repositories."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from fake_program import FAKE
from taskbench_command import BINARY, CommandTest, environment, main, signals_at_default
from terminal_session import TerminalSession

MARKER = "<!-- taskbench-gate -->"
SORT_AND_HASH = "sort=1000 hash=500"

# Enough where it matters only that there is an end.
SHORT = ("--max-blocks", "1", "--inconclusive", "pass-always")


def is_gone(pid):
    """Whether the process has ended; who waits for it, if anybody, is not ours."""
    try:
        return Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


class GateTest(CommandTest):
    """A repository whose build copies bench.src to out/bench and notes that it ran."""

    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repository"
        self.repository.mkdir()
        self.builds = self.folder / "builds"
        self.git("init", "--quiet", "--initial-branch", "main")
        self.commit("base", build=self.build_script())
        self.git("tag", "v1.0")

    def build_script(self, more=""):
        return (
            f'echo "$(git rev-parse HEAD)" >>{self.builds}\n'
            f"mkdir out && cp bench.src out/bench && chmod +x out/bench\n{more}\n"
        )

    def git(self, *arguments):
        answer = subprocess.run(
            ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *arguments],
            cwd=self.repository, capture_output=True, text=True, check=True,
        )
        return answer.stdout.strip()

    def commit(self, message, times=SORT_AND_HASH, body="", build=None, program=None, **files):
        """A commit of this program; returns its digits."""
        bench = self.repository / "bench.src"
        if program:
            shutil.copy(program, bench)
        else:
            bench.write_text(
                FAKE.format(python=sys.executable, times=times, noise=0.002, body=body)
            )
        if build is not None:
            (self.repository / "build.sh").write_text(build)
        for name, content in files.items():
            (self.repository / name).write_text(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def how(self):
        return (
            "--build", "sh build.sh", "--program", "out/bench", "--cache", self.folder / "cache",
        )

    def gate(self, *arguments, base="v1.0", head="HEAD", status=0, command="gate", **options):
        return self.taskbench(
            command, "--base-rev", base, "--head-rev", head, *self.how(), *arguments,
            status=status, cwd=self.repository, **options,
        )

    def files(self):
        """Arguments that ask for both files, outside of the repository."""
        return (
            "--json", self.folder / "r.json", "--markdown", self.folder / "r.md",
            "--journal", self.folder / "j",
        )

    def comment(self):
        return (self.folder / "r.md").read_text(encoding="utf-8")

    def built(self):
        return self.builds.read_text().split() if self.builds.exists() else []


class PullRequests(GateTest):
    def test_a_planted_slowdown_fails_and_the_comment_says_which(self):
        head = self.commit("slower", times="sort=1100 hash=500")
        self.gate(*self.files(), status=1)
        lines = self.comment().splitlines()
        self.assertEqual(lines[0], MARKER)
        self.assertEqual(
            lines[1], "### taskbench: FAIL: 1 of 2 benchmarks slower, 1 with more CPU time")
        base = self.git("rev-parse", "v1.0")
        self.assertEqual(lines[3], f"Head {head[:12]} (HEAD) against base {base[:12]} (v1.0).")
        self.assertRegex(self.comment(), r"(?m)^sort .*#.* \+\d+\.\d % FAIL$")
        self.assertRegex(self.comment(), r"(?m)^hash .* PASS$")
        result = self.load("r.json")
        self.assertEqual((result["outcome"], result["verdict"]), ("judged", "FAIL"))
        self.assertEqual(result["head"]["commit"], head)

    def test_the_comment_has_a_command_that_does_the_same(self):
        head = self.commit("slower", times="sort=1100 hash=500")
        self.gate(*self.files(), "--workload", "sort", "--max-blocks", "16", status=1)
        command = self.comment().split("```sh\n")[1].split("\n```")[0]
        self.assertEqual(
            command,
            f"taskbench ab --base-rev {self.git('rev-parse', 'v1.0')[:12]} --head-rev {head[:12]} "
            "--build 'sh build.sh' --program out/bench --workload sort --seed 1 --delta 3% "
            "--budget 300s --max-blocks 16",
        )
        again = subprocess.run(
            ["sh", "-c", command.replace("taskbench", BINARY, 1)], cwd=self.repository,
            env=environment(XDG_CACHE_HOME=str(self.folder / "other")), capture_output=True,
            text=True, check=False,
        )
        self.assertEqual(again.returncode, 1, again.stderr)

    def test_no_difference_passes(self):
        self.commit("nothing", notes="x")
        self.gate(*self.files(), "--title", "Speed of *it*")
        self.assertIn(r"### Speed of \*it\*: PASS: none of 2 benchmarks slower", self.comment())

    def test_a_change_of_documentation_passes_without_a_run(self):
        base = self.commit("a binary", program=BINARY)
        self.commit("documentation", program=BINARY, readme="How to.\n")
        answer = self.gate(*self.files(), base=base)
        self.assertEqual(answer.stdout, "PASS: the two programs are the same, byte for byte\n")
        self.assertIn("PASS: the programs are identical", self.comment())
        result = self.load("r.json")
        self.assertEqual((result["outcome"], result["verdict"]), ("identical", "PASS"))
        self.assertFalse((self.folder / "j").exists())

    def test_a_change_of_documentation_of_a_project_with_debug_information_passes_too(self):
        files = {
            "bench.c": "#include <stdio.h>\n"
                       "int main(void) { puts(__FILE__ __DATE__ __TIME__); return 0; }\n",
            "Makefile": "out/bench: bench.c\n\tmkdir -p out\n"
                        "\t$(CC) $(CFLAGS) -g -o $@ $(CURDIR)/bench.c\n",
        }
        base = self.commit("debug information", build="sleep 1; make out/bench\n", **files)
        self.commit("documentation", readme="How to.\n")
        answer = self.gate(*self.files(), base=base, env={"CFLAGS": "-O0"})
        self.assertEqual(answer.stdout, "PASS: the two programs are the same, byte for byte\n")
        # What a build leaves beside the program may matter, until somebody says that it does not.
        head = self.commit("a log", build="make out/bench; pwd >out/log\n")
        base = head
        self.commit("more documentation", readme="How not to.\n")
        answer = self.gate(*self.files(), *SHORT, base=base, status=5)  # it measures nothing
        self.assertIn("beside them, log differs: both are measured.", answer.stderr)
        self.gate(*self.files(), "--outputs", "out/bench", base=base)
        self.assertIn("PASS: the programs are identical", self.comment())

    def test_a_benchmark_that_only_one_side_has_is_told_and_fails_nothing(self):
        self.commit("another", times="sort=1000 new=5")
        self.gate(*self.files(), *SHORT)
        self.assertIn("- hash: only base has it; nothing to compare with.", self.comment())
        self.assertIn("- new: only head has it; nothing to compare with.", self.comment())

    def test_two_programs_without_revisions(self):
        for name, ns in (("a", 1000), ("b", 1001)):
            path = self.folder / name
            path.write_text(
                FAKE.format(python=sys.executable, times=f"sort={ns}", noise=0.002, body="")
            )
            path.chmod(0o755)
        self.taskbench("gate", "--base", "./a", "--head", "./b", "--markdown", "r.md", *SHORT)
        self.assertIn("Head ./b against base ./a.", self.comment())
        self.assertIn("taskbench ab --base ./a --head ./b --seed", self.comment())
        self.assertTrue((self.folder / "taskbench-gate.journal").exists())

    def test_a_command_against_a_revision(self):
        self.taskbench(
            "gate", "--base-rev", "v1.0", "--head", self.repository / "missing", *self.how(),
            status=2, cwd=self.repository,
        )
        copy = self.folder / "copy"
        shutil.copy(self.repository / "bench.src", copy)
        copy.chmod(0o755)
        self.taskbench(
            "gate", "--base-rev", "v1.0", "--head", copy, *self.how(), *SHORT, cwd=self.repository
        )


class Failures(GateTest):
    """Each ends with status 5, and both files say why."""

    def failed(self, stage, side, says, **options):
        answer = self.gate(*self.files(), status=5, **options)
        self.assertIn(says, answer.stderr)
        self.assertEqual(answer.stdout, "")
        comment = self.comment()
        self.assertTrue(comment.startswith(f"{MARKER}\n### taskbench: no verdict: "), comment)
        self.assertIn("\nTo reproduce:\n", comment)
        result = self.load("r.json")
        self.assertEqual((result["outcome"], result["verdict"]), ("failed", None))
        self.assertEqual((result["failure"]["stage"], result["failure"]["side"]), (stage, side))
        self.assertIn(says, result["failure"]["message"])
        return comment

    def test_head_does_not_build(self):
        head = self.commit("broken", build="echo 'bench.c:7: error: expected `;`'; exit 3\n")
        comment = self.failed("build", "head", f"head {head[:12]} does not build")
        self.assertIn("no verdict: head does not build\n", comment)
        self.assertIn("```text\nbench.c:7: error: expected `;`\n```", comment)
        self.assertIn("build.log", comment)
        self.assertEqual(self.load("r.json")["failure"]["log"], ["bench.c:7: error: expected `;`"])

    def test_base_does_not_build(self):
        base = self.commit("broken", build="seq 100; exit 1\n")
        self.commit("repaired", build=self.build_script())
        comment = self.failed("build", "base", f"base {base[:12]} does not build", base=base)
        self.assertIn("no verdict: base does not build\n", comment)
        self.assertIn("```text\n81\n82\n", comment)

    def test_a_log_cannot_break_out_of_its_block(self):
        self.commit("broken", build="printf '```\\n# Merge me\\n'; exit 1\n")
        comment = self.failed("build", "head", "does not build")
        self.assertIn("````text\n```\n# Merge me\n````\n", comment)

    def test_the_build_leaves_no_program(self):
        self.commit("moved", build="true\n")
        comment = self.failed("start", "head", "builds, but leaves no program at out/bench")
        self.assertIn("no verdict: head cannot be measured\n", comment)

    def test_head_is_no_program_that_can_be_measured(self):
        self.commit("crashes at once", body="", program="/bin/false")
        self.failed("start", "head", "is neither taskbench nor a Google Benchmark program")

    def gate_commands(self, head, status):
        path = self.folder / "base"
        shutil.copy(self.repository / "bench.src", path)
        path.chmod(0o755)
        self.taskbench("gate", "--base", path, "--head", head, *self.files(), status=status)
        self.assertIn("no verdict: head cannot be measured\n", self.comment())
        self.assertEqual(self.load("r.json")["failure"]["stage"], "start")
        return self.comment()

    def test_a_command_that_crashes_at_its_start(self):
        crash = self.folder / "crash"
        crash.write_text("#!/bin/sh\necho no such library >&2\nexit 127\n")
        crash.chmod(0o755)
        self.assertIn("no such library", self.gate_commands(crash, status=5))

    def test_a_command_that_is_missing_is_wrong_input_and_both_files_say_so(self):
        self.assertIn("cannot be started", self.gate_commands(self.folder / "none", status=2))

    def test_head_crashes_and_the_comment_names_the_benchmark(self):
        body = "if 'hash' in flags.get('benchmark_filter', 'hash'): os.kill(os.getpid(), 11)"
        self.commit("crashes", body=body)
        comment = self.failed("measure", "head", "was killed by signal 11")
        self.assertIn("no verdict: head failed in hash\n", comment)
        self.assertEqual(self.load("r.json")["failure"]["benchmark"], "hash")

    def test_head_crashes_whatever_it_measures(self):
        self.commit("crashes", body="sys.exit('out of luck')")
        comment = self.failed("measure", "head", "exited with status 1: out of luck")
        self.assertIn("no verdict: head failed while it was measured\n", comment)

    def test_nothing_in_common(self):
        self.commit("all new", times="new=1")
        comment = self.failed("compare", None, "base and head have no benchmark in common")
        self.assertIn("no verdict: base and head have no benchmark in common\n", comment)

    def test_ab_leaves_no_files_then(self):
        self.commit("broken", build="exit 3\n")
        self.gate(*self.files(), command="ab", status=5)
        self.assertFalse((self.folder / "r.md").exists())


class Cache(GateTest):
    def test_a_commit_is_built_once(self):
        head = self.commit("nothing", notes="x")
        for _ in range(2):
            self.gate(*SHORT)
        self.assertEqual(self.built(), [self.git("rev-parse", "v1.0"), head])

    def test_another_command_builds_anew(self):
        head = self.commit("nothing", notes="x")
        for build in ("sh build.sh", "sh ./build.sh"):
            self.taskbench(
                "ab", "--base-rev", head, "--head-rev", head, "--build", build, "--program",
                "out/bench", "--cache", self.folder / "cache", "--max-blocks", "1",
                "--inconclusive", "pass-always", cwd=self.repository,
            )
        self.assertEqual(self.built(), [head, head])

    def test_a_failed_build_is_not_kept(self):
        fail_once = self.build_script(f"test -e {self.folder}/lucky")
        head = self.commit("fails at first", build=fail_once)
        self.gate(status=5)
        (self.folder / "lucky").touch()
        self.gate(*SHORT)
        self.assertEqual(self.built().count(head), 2)

    def test_a_killed_build_is_not_kept(self):
        wait = f"test -e {self.folder}/lucky || {{ touch {self.folder}/waits; sleep 60; }}"
        head = self.commit("slow", build=self.build_script(wait))
        process = subprocess.Popen(
            [BINARY, "gate", "--base-rev", "v1.0", "--head-rev", "HEAD", *map(str, self.how())],
            cwd=self.repository, env=environment(), stderr=subprocess.DEVNULL,
        )
        while not (self.folder / "waits").exists():
            time.sleep(0.01)
        process.kill()
        process.wait()
        (self.folder / "lucky").touch()
        self.gate(*SHORT)
        self.assertEqual(self.built().count(head), 2)

    def test_control_c_ends_the_build(self):
        wait = f"touch {self.folder}/waits; echo $$ >{self.folder}/pid; sleep 60"
        self.commit("slow", build=self.build_script(wait))
        process = subprocess.Popen(
            [BINARY, "gate", "--base-rev", "v1.0", "--head-rev", "HEAD", *map(str, self.how()),
             *map(str, self.files())],
            cwd=self.repository, env=environment(), stderr=subprocess.PIPE, text=True,
            preexec_fn=signals_at_default,
        )
        pid = self.folder / "pid"
        while not pid.exists() or not pid.read_text():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("interrupted before the first block", said)
        # Its signal has been sent; when it dies of that is the kernel's matter.
        deadline = time.monotonic() + 20
        while not is_gone(pid.read_text().strip()):
            self.assertLess(time.monotonic(), deadline, "the build goes on")
            time.sleep(0.01)
        self.assertFalse((self.folder / "r.md").exists())

    def test_a_deleted_cache_is_built_again(self):
        head = self.git("rev-parse", "HEAD")
        for _ in range(2):
            self.gate(*SHORT)
            shutil.rmtree(self.folder / "cache")
        self.assertEqual(self.built(), [head, head])

    def test_the_cache_keeps_what_was_used_last(self):
        first = self.git("rev-parse", "HEAD")
        self.gate(*SHORT, base=first, head=first)
        commits = []
        for number in range(17):
            commits.append(self.commit(f"number {number}"))
            self.gate(*SHORT, base=commits[-1], head=commits[-1])
            self.gate(*SHORT, base=first, head=first)  # the oldest, but in use
        kept = {path.parent.name for path in self.folder.glob("cache/*/*/built")}
        self.assertEqual(kept, {first, *commits[-15:]})
        sources = {path.parent.name for path in self.folder.glob("cache/*/*/source")}
        self.assertEqual(sources, kept)
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1 + len(kept))

    def test_a_bare_repository_whose_head_is_no_branch(self):
        bare = self.folder / "bare"
        self.git("clone", "--quiet", "--bare", str(self.repository), str(bare))
        (bare / "HEAD").write_text("ref: refs/heads/gone\n")
        self.taskbench(
            "gate", "--base-rev", "v1.0", "--head-rev", "main", *self.how(), *SHORT,
            "--journal", self.folder / "j", cwd=bare,
        )

    def test_two_at_once_build_once(self):
        head = self.commit("slow", build=self.build_script("sleep 0.5"))
        command = [
            BINARY, "ab", "--base-rev", "HEAD", "--head-rev", "HEAD", *map(str, self.how()),
            *SHORT,
        ]
        both = [
            subprocess.Popen(
                [*command, "--journal", str(self.folder / name)], cwd=self.repository,
                env=environment(), stdout=subprocess.DEVNULL,
            )
            for name in ("j1", "j2")
        ]
        self.assertEqual([process.wait(timeout=60) for process in both], [0, 0])
        self.assertEqual(self.built(), [head])

    def test_progress_on_a_terminal(self):
        head = self.commit("slow", build=self.build_script("sleep 0.3"))
        session = TerminalSession(
            ["gate", "--base-rev", "v1.0", "--head-rev", "HEAD", *map(str, self.how()),
             *SHORT],
            stdout=False, cwd=self.repository,
        )
        self.addCleanup(session.close)
        self.assertEqual(session.finish(), 0)
        self.assertIn(f"building head {head[:12]} …, 0 s", session.text)

    def test_a_build_is_not_led_astray_by_variables_of_a_hook(self):
        head = self.commit("nothing", notes="x")
        self.gate(
            *SHORT,
            env={"GIT_DIR": str(self.repository / ".git"), "GIT_INDEX_FILE": "/no/such"},
        )
        self.assertIn(head, self.built())
        self.assertIn(self.git("rev-parse", "v1.0"), self.built())

    def test_hooks_of_the_repository_are_not_run(self):
        hook = self.repository / ".git" / "hooks" / "post-checkout"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {self.folder}/hooked\n")
        hook.chmod(0o755)
        self.gate(*SHORT)
        self.assertFalse((self.folder / "hooked").exists())


class Journals(GateTest):
    def test_one_of_an_earlier_job_is_begun_anew_without_resume(self):
        self.commit("nothing", notes="x")
        self.gate(*self.files(), *SHORT)
        journal = self.folder / "j"
        first = journal.read_text()
        journal.write_text("".join(first.splitlines(keepends=True)[:-3]))
        self.gate(*self.files(), *SHORT)
        self.assertTrue(journal.read_text().endswith('{"end":"blocks"}\n'))
        self.assertNotEqual(journal.read_text().splitlines()[1], first.splitlines()[1])

    def test_resume_goes_on_with_it_or_begins_one(self):
        self.commit("slower", times="sort=1100 hash=500")
        run = (*self.files(), *SHORT, "--resume")
        self.gate(*run)
        journal = self.folder / "j"
        whole = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(whole[:-3]))
        self.gate(*run)
        self.assertEqual(journal.read_text().splitlines(keepends=True)[:-3], whole[:-3])
        self.assertEqual(len(journal.read_text().splitlines()), len(whole))
        comment = self.comment()
        self.taskbench("gate", *run)  # complete: without the repository and its programs
        self.assertEqual(self.comment(), comment)

    def test_resume_of_another_revision_is_refused(self):
        self.commit("slower", times="sort=1100 hash=500")
        self.gate(*self.files(), *SHORT)
        self.commit("repaired")
        answer = self.gate(*self.files(), "--resume", status=2)
        self.assertIn("--head-rev: HEAD is ", answer.stderr)

    def test_what_is_no_journal_is_left_alone(self):
        (self.folder / "j").write_text("my notes\n")
        answer = self.gate(*self.files(), status=2)
        self.assertIn("j exists", answer.stderr)
        self.assertEqual((self.folder / "j").read_text(), "my notes\n")


class Refusals(GateTest):
    def refused_gate(self, *arguments, says, cwd=None, **options):
        return self.refused("gate", *arguments, says=says, cwd=cwd or self.repository, **options)

    def test_unknown_revisions_with_the_nearest_name(self):
        self.git("branch", "feature/fast")
        for name, near in (("man", "main"), ("v1.1", "v1.0"), ("feature/fats", "feature/fast")):
            self.refused_gate(
                "--base-rev", name, "--head-rev", "HEAD", *self.how(),
                says=f"--base-rev: unknown revision '{name}'; did you mean '{near}'?",
            )
        for name in ("-x", "0123456789", "v1.0:build.sh"):
            self.refused_gate(
                "--base-rev=v1.0", f"--head-rev={name}", *self.how(),
                says=f"--head-rev: unknown revision '{name}'",
            )

    def test_a_shallow_clone_is_named_as_such(self):
        self.commit("second")
        shallow = self.folder / "shallow"
        subprocess.run(
            ["git", "clone", "--quiet", "--depth", "1", f"file://{self.repository}", shallow],
            check=True, capture_output=True,
        )
        self.refused_gate(
            "--base-rev", "v1.0", "--head-rev", "HEAD", says="this clone is shallow", cwd=shallow
        )

    def test_no_repository_and_no_git(self):
        run = ("--base-rev", "main", "--head-rev", "HEAD")
        self.refused_gate(*run, says="not a git repository", cwd="/")
        self.refused_gate(
            *run, says="git, which revisions need, cannot be started", env={"PATH": "/no/such"}
        )

    def test_options_that_contradict_each_other(self):
        self.refused_gate(says="gate needs two programs")
        self.refused_gate(
            "--base", "x", "--base-rev", "main", "--head", "y",
            says="--base and --base-rev exclude each other",
        )
        for program in ("/bin/true", "../bench", "out/../../bench"):
            self.refused_gate(
                "--base-rev", "main", "--head-rev", "HEAD", "--program", program,
                says="its path begins in the root",
            )
        self.refused_gate(
            "--base-rev", "main", "--head-rev", "HEAD", says="HOME is set",
            env={"HOME": "", "XDG_CACHE_HOME": ""},
        )
        self.refused_gate(
            "--base-rev", "main", "--head-rev", "HEAD", "--cache", "/dev/null/x",
            says="/dev/null/x",
        )

    def test_a_note_where_changes_are_not_committed(self):
        note = "uncommitted changes are not measured"
        (self.repository / "build.sh").write_text("changed")
        run = SHORT
        self.assertIn(note, self.gate(*run).stderr)
        self.git("checkout", "--quiet", "build.sh")
        self.assertNotIn(note, self.gate(*run).stderr)


if __name__ == "__main__":
    main()
