#!/usr/bin/env python3
"""`taskbench gate`, and the revisions that it and `ab` build, on small local repositories."""

import shutil
import subprocess

from fake_program import fake_benchmark
from taskbench_command import BINARY, environment, is_gone, main
from terminal_session import TerminalTest

MARKER = "<!-- taskbench-gate -->"
SORT_AND_HASH = "sort=1000 hash=500"
SLOWER = "sort=1100 hash=500"
REVISIONS = "--base-rev v1.0 --head-rev HEAD"

# Enough where it matters only that there is an end.
SHORT = "--max-blocks 1 --inconclusive pass-always"


class GateTest(TerminalTest):
    """A repository whose build copies bench.src to out/bench and notes that it ran."""

    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repository"
        self.repository.mkdir()
        self.how = f"--build 'sh build.sh' --program out/bench --cache {self.folder}/cache"
        # Both files, outside of the repository.
        self.files = (f"--json {self.folder}/r.json --markdown {self.folder}/r.md "
                      f"--journal {self.folder}/j")
        self.git("init", "--quiet", "--initial-branch", "main")
        self.base = self.commit("base", build=self.build_script())
        self.git("tag", "v1.0")

    def build_script(self, more=""):
        return (
            f'echo "$(git rev-parse HEAD)" >>{self.folder}/builds\n'
            f"mkdir out && cp bench.src out/bench && chmod +x out/bench\n{more}\n"
        )

    def git(self, *arguments):
        answer = subprocess.run(
            ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *map(str, arguments)],
            cwd=self.repository, capture_output=True, text=True, check=True,
        )
        return answer.stdout.strip()

    def commit(self, message, times=SORT_AND_HASH, body="", build=None, program=None, **files):
        """A commit of this program; returns its digits."""
        bench = self.repository / "bench.src"
        if program:
            shutil.copy(program, bench)
        else:
            bench.write_text(fake_benchmark(times, body=body))
        if build is not None:
            files["build.sh"] = build
        for name, content in files.items():
            (self.repository / name).write_text(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def measured(self, name="copy"):
        """A copy of what the base measures."""
        return self.write(name, (self.repository / "bench.src").read_bytes(), 0o755)

    def gate(self, options="", base="v1.0", head="HEAD", command="gate", **others):
        return self.taskbench(f"{command} --base-rev {base} --head-rev {head} {self.how} {options}",
                              **{"cwd": self.repository, **others})

    def comment(self):
        return self.read("r.md")

    def built(self):
        return self.read("builds").split()


class PullRequests(GateTest):
    def test_a_planted_slowdown_fails_and_the_comment_says_which(self):
        head = self.commit("slower", SLOWER)
        self.gate(self.files, status=1)
        lines = self.comment().splitlines()
        self.assertEqual(lines[0], MARKER)
        self.assertEqual(
            lines[1], "### taskbench: FAIL: 1 of 2 benchmarks slower, 1 with more CPU time")
        self.assertEqual(lines[3], f"Head {head[:12]} (HEAD) against base {self.base[:12]} (v1.0).")
        self.assertRegex(self.comment(), r"(?m)^sort .*#.* \+\d+\.\d % FAIL$")
        self.assertRegex(self.comment(), r"(?m)^hash .* PASS$")
        result = self.load("r.json")
        self.assertEqual((result["outcome"], result["verdict"]), ("judged", "FAIL"))
        self.assertEqual(result["head"]["commit"], head)

    def test_the_comment_has_a_command_that_does_the_same(self):
        head = self.commit("slower", SLOWER)
        self.gate(f"{self.files} --workload sort --max-blocks 16", status=1)
        command = self.comment().split("```sh\n")[1].split("\n```")[0]
        self.assertEqual(
            command,
            f"taskbench ab --base-rev {self.base[:12]} --head-rev {head[:12]} "
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
        self.gate(f"{self.files} --title 'Speed of *it*'")
        self.assertIn(r"### Speed of \*it\*: PASS: none of 2 benchmarks slower", self.comment())

    def test_a_change_of_documentation_passes_without_a_run(self):
        base = self.commit("a binary", program=BINARY)
        self.commit("documentation", program=BINARY, readme="How to.\n")
        answer = self.gate(self.files, base=base)
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
        answer = self.gate(self.files, base=base, env={"CFLAGS": "-O0"})
        self.assertEqual(answer.stdout, "PASS: the two programs are the same, byte for byte\n")
        # What a build leaves beside the program may matter, until somebody says that it does not.
        base = self.commit("a log", build="make out/bench; pwd >out/log\n")
        self.commit("more documentation", readme="How not to.\n")
        answer = self.gate(f"{self.files} {SHORT}", base=base, status=5)  # it measures nothing
        self.assertIn("beside them, log differs: both are measured.", answer.stderr)
        self.gate(f"{self.files} --outputs out/bench", base=base)
        self.assertIn("PASS: the programs are identical", self.comment())

    def test_a_benchmark_that_only_one_side_has_is_told_and_fails_nothing(self):
        self.commit("another", "sort=1000 new=5")
        self.gate(f"{self.files} {SHORT}")
        self.assertIn("- hash: only base has it; nothing to compare with.", self.comment())
        self.assertIn("- new: only head has it; nothing to compare with.", self.comment())

    def test_two_programs_without_revisions(self):
        self.program("a", "sort=1000")
        self.program("b", "sort=1001")
        self.taskbench(f"gate --base ./a --head ./b --markdown r.md {SHORT}")
        self.assertIn("Head ./b against base ./a.", self.comment())
        self.assertIn("taskbench ab --base ./a --head ./b --seed", self.comment())
        self.assertTrue((self.folder / "taskbench-gate.journal").exists())

    def test_a_command_against_a_revision(self):
        for head, status in ((self.repository / "missing", 2), (self.measured(), 0)):
            self.taskbench(f"gate --base-rev v1.0 --head {head} {self.how} {SHORT}",
                           cwd=self.repository, status=status)


class Failures(GateTest):
    """Each ends with status 5, and both files say why."""

    def failed(self, stage, side, says, title, **options):
        answer = self.gate(self.files, status=5, **options)
        self.assertIn(says, answer.stderr)
        self.assertEqual(answer.stdout, "")
        comment = self.comment()
        self.assertTrue(
            comment.startswith(f"{MARKER}\n### taskbench: no verdict: {title}\n"), comment)
        self.assertIn("\nTo reproduce:\n", comment)
        result = self.load("r.json")
        self.assertEqual((result["outcome"], result["verdict"]), ("failed", None))
        self.assertEqual((result["failure"]["stage"], result["failure"]["side"]), (stage, side))
        self.assertIn(says, result["failure"]["message"])
        return comment

    def test_head_does_not_build(self):
        head = self.commit("broken", build="echo 'bench.c:7: error: expected `;`'; exit 3\n")
        comment = self.failed(
            "build", "head", f"head {head[:12]} does not build", "head does not build")
        self.assertIn("```text\nbench.c:7: error: expected `;`\n```", comment)
        self.assertIn("build.log", comment)
        self.assertEqual(self.load("r.json")["failure"]["log"], ["bench.c:7: error: expected `;`"])
        for file in ("r.md", "r.json"):
            (self.folder / file).unlink()
        self.gate(self.files, command="ab", status=5)  # which leaves no files then
        self.assertFalse((self.folder / "r.md").exists())

    def test_base_does_not_build(self):
        base = self.commit("broken", build="seq 100; exit 1\n")
        self.commit("repaired", build=self.build_script())
        comment = self.failed("build", "base", f"base {base[:12]} does not build",
                              "base does not build", base=base)
        self.assertIn("```text\n81\n82\n", comment)

    def test_a_log_cannot_break_out_of_its_block(self):
        self.commit("broken", build="printf '```\\n# Merge me\\n'; exit 1\n")
        comment = self.failed("build", "head", "does not build", "head does not build")
        self.assertIn("````text\n```\n# Merge me\n````\n", comment)

    def test_head_is_no_program_that_can_be_measured(self):
        for built, says in (
            ({"build": "true\n"}, "builds, but leaves no program at out/bench"),
            ({"build": self.build_script(), "program": "/bin/false"},
             "is neither taskbench nor a Google Benchmark program"),
        ):
            self.commit("not to be measured", **built)
            self.failed("start", "head", says, "head cannot be measured")

    def test_a_command_that_cannot_be_measured(self):
        base = self.measured()
        crash = self.script("crash", "echo no such library >&2\nexit 127")
        for head, status, says in ((crash, 5, "no such library"),
                                   (f"{self.folder}/none", 2, "cannot be started")):
            self.taskbench(f"gate --base {base} --head {head} {self.files}", status=status)
            self.assertIn("no verdict: head cannot be measured\n", self.comment())
            self.assertIn(says, self.comment())
            self.assertEqual(self.load("r.json")["failure"]["stage"], "start")

    def test_head_crashes_and_the_comment_names_the_benchmark(self):
        self.commit("crashes", body="if 'hash' in flags.get('benchmark_filter', 'hash'): "
                    "os.kill(os.getpid(), 11)")
        self.failed("measure", "head", "was killed by signal 11", "head failed in hash")
        self.assertEqual(self.load("r.json")["failure"]["benchmark"], "hash")

    def test_head_crashes_whatever_it_measures(self):
        self.commit("crashes", body="sys.exit('out of luck')")
        self.failed("measure", "head", "exited with status 1: out of luck",
                    "head failed while it was measured")

    def test_nothing_in_common(self):
        self.commit("all new", "new=1")
        says = "base and head have no benchmark in common"
        self.failed("compare", None, says, says)


class Cache(GateTest):
    def test_a_commit_is_built_once_for_each_command(self):
        head = self.commit("nothing", notes="x")
        for _ in range(2):
            self.gate(SHORT)
        self.assertEqual(self.built(), [self.base, head])
        how = self.how.replace("sh build.sh", "sh ./build.sh")
        self.taskbench(f"ab --base-rev {head} --head-rev {head} {how} {SHORT}", cwd=self.repository)
        self.assertEqual(self.built(), [self.base, head, head])

    def test_a_failed_build_is_not_kept(self):
        fail_once = self.build_script(f"test -e {self.folder}/lucky")
        head = self.commit("fails at first", build=fail_once)
        self.gate(status=5)
        self.write("lucky")
        self.gate(SHORT)
        self.assertEqual(self.built().count(head), 2)

    def test_a_killed_build_is_not_kept(self):
        wait = f"test -e {self.folder}/lucky || {{ touch {self.folder}/waits; sleep 60; }}"
        head = self.commit("slow", build=self.build_script(wait))
        self.kill(f"gate {REVISIONS} {self.how}", when=self.written("waits"), cwd=self.repository)
        self.write("lucky")
        self.gate(SHORT)
        self.assertEqual(self.built().count(head), 2)

    def test_control_c_ends_the_build(self):
        self.commit("slow", build=self.build_script(f"echo $$ >{self.folder}/pid; sleep 60"))
        said = self.interrupt(f"gate {REVISIONS} {self.how} {self.files}",
                              when=self.written("pid", lines=1), cwd=self.repository)
        self.assertIn("interrupted before the first block", said)
        # Its signal has been sent; when it dies of that is the kernel's matter.
        self.wait_until(lambda: is_gone(self.read("pid").strip()))
        self.assertFalse((self.folder / "r.md").exists())

    def test_a_deleted_cache_is_built_again(self):
        for _ in range(2):
            self.gate(SHORT)
            shutil.rmtree(self.folder / "cache")
        self.assertEqual(self.built(), [self.base, self.base])

    def test_the_cache_keeps_what_was_used_last(self):
        self.gate(SHORT, head=self.base)
        commits = []
        for number in range(17):
            commits.append(self.commit(f"number {number}"))
            self.gate(SHORT, base=commits[-1], head=commits[-1])
            self.gate(SHORT, head=self.base)  # the oldest, but in use
        kept = {path.parent.name for path in self.folder.glob("cache/*/*/built")}
        self.assertEqual(kept, {self.base, *commits[-15:]})
        sources = {path.parent.name for path in self.folder.glob("cache/*/*/source")}
        self.assertEqual(sources, kept)
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1 + len(kept))

    def test_a_bare_repository_whose_head_is_no_branch(self):
        self.git("clone", "--quiet", "--bare", self.repository, self.folder / "bare")
        self.write("bare/HEAD", "ref: refs/heads/gone\n")
        self.gate(f"{SHORT} {self.files}", head="main", cwd=self.folder / "bare")

    def test_two_at_once_build_once(self):
        head = self.commit("slow", build=self.build_script("sleep 0.5"))
        both = [
            self.start(f"ab --base-rev HEAD --head-rev HEAD {self.how} {SHORT} "
                       f"--journal {self.folder}/{name}", cwd=self.repository)
            for name in ("j1", "j2")
        ]
        for process in both:
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0)
        self.assertEqual(self.built(), [head])

    def test_progress_on_a_terminal(self):
        head = self.commit("slow", build=self.build_script("sleep 0.3"))
        text = self.shown(f"gate {REVISIONS} {self.how} {SHORT}", stdout=False,
                          cwd=self.repository)
        self.assertIn(f"building head {head[:12]} …, 0 s", text)

    def test_a_build_is_not_led_astray_by_variables_of_a_hook_nor_runs_one(self):
        head = self.commit("nothing", notes="x")
        hook = self.repository / ".git/hooks/post-checkout"
        self.write(hook, f"#!/bin/sh\ntouch {self.folder}/hooked\n", 0o755)
        self.gate(SHORT, env={"GIT_DIR": f"{self.repository}/.git", "GIT_INDEX_FILE": "/no/such"})
        self.assertEqual(self.built(), [self.base, head])
        self.assertNotIn("hooked", self.left())


class Journals(GateTest):
    def test_one_of_an_earlier_job_is_begun_anew_without_resume(self):
        self.commit("nothing", notes="x")
        self.gate(f"{self.files} {SHORT}")
        first = self.read("j").splitlines()
        self.cut("j", -3)
        self.gate(f"{self.files} {SHORT}")
        self.assertTrue(self.read("j").endswith('{"end":"blocks"}\n'))
        self.assertNotEqual(self.read("j").splitlines()[1], first[1])

    def test_resume_goes_on_with_it_or_begins_one(self):
        self.commit("slower", SLOWER)
        run = f"{self.files} {SHORT} --resume"
        self.gate(run)
        whole = self.read("j").splitlines()
        self.cut("j", -3)
        self.gate(run)
        self.assertEqual(self.read("j").splitlines()[:-3], whole[:-3])
        self.assertEqual(len(self.read("j").splitlines()), len(whole))
        comment = self.comment()
        self.taskbench(f"gate {run}")  # complete: without the repository and its programs
        self.assertEqual(self.comment(), comment)

    def test_resume_of_another_revision_is_refused(self):
        self.commit("slower", SLOWER)
        self.gate(f"{self.files} {SHORT}")
        self.commit("repaired")
        answer = self.gate(f"{self.files} --resume", status=2)
        self.assertIn("--head-rev: HEAD is ", answer.stderr)


class Refusals(GateTest):
    def test_unknown_revisions_with_the_nearest_name(self):
        self.git("branch", "feature/fast")
        near = {"man": "main", "v1.1": "v1.0", "feature/fats": "feature/fast"}
        self.refuse(f"gate {self.how}", {
            **{f"--base-rev {name} --head-rev HEAD":
               f"--base-rev: unknown revision '{name}'; did you mean '{near[name]}'?"
               for name in near},
            **{f"--base-rev=v1.0 --head-rev={name}": f"--head-rev: unknown revision '{name}'"
               for name in ("-x", "0123456789", "v1.0:build.sh")},
        }, cwd=self.repository)

    def test_what_cannot_be_built_from(self):
        self.commit("second")
        shallow = self.folder / "shallow"
        self.git("clone", "--quiet", "--depth", "1", f"file://{self.repository}", shallow)
        for more, says, options in (
            ("", "this clone is shallow", {"cwd": shallow}),
            ("", "not a git repository", {"cwd": "/"}),
            ("", "git, which revisions need, cannot be started", {"env": {"PATH": "/no/such"}}),
            ("", "HOME is set", {"env": {"HOME": "", "XDG_CACHE_HOME": ""}}),
            ("--cache /dev/null/x", "/dev/null/x", {}),
        ):
            self.refused(f"gate {REVISIONS} {more}", says=says,
                         **{"cwd": self.repository, **options})

    def test_options_that_contradict_each_other(self):
        self.refuse("gate", {
            "": "gate needs two programs",
            "--base x --base-rev main --head y": "--base and --base-rev exclude each other",
            **{f"{REVISIONS} --program {program}": "give a path from the root"
               for program in ("/bin/true", "../bench", "out/../../bench")},
        }, cwd=self.repository)

    def test_a_note_where_changes_are_not_committed(self):
        note = "uncommitted changes are not measured"
        (self.repository / "build.sh").write_text("changed")
        self.assertIn(note, self.gate(SHORT).stderr)
        self.git("checkout", "--quiet", "build.sh")
        self.assertNotIn(note, self.gate(SHORT).stderr)


if __name__ == "__main__":
    main()
