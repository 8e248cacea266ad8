#!/usr/bin/env python3
"""`taskbench gate`, and the revisions that it and `ab` build, in small local repositories."""

import fcntl
import json
import os
import resource
import shutil
import subprocess

from fake_program import fake_benchmark
from taskbench_command import BINARY, environment, is_gone, main
from terminal_session import TerminalTest

MARKER = "<!-- taskbench-gate -->"
SORT_AND_HASH = "sort=1000 hash=500"
SLOWER = "sort=1100 hash=500"
REVISIONS = "--base-rev v1.0 --head-rev HEAD"

# Options for tests in which only the end matters.
SHORT = "--max-blocks 1 --inconclusive pass-always"


class GateTest(TerminalTest):
    """A repository whose build copies bench.src to out/bench and records that it ran."""

    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repository"
        self.repository.mkdir()
        self.how = f"--build 'sh build.sh' --program out/bench --cache {self.folder}/cache"
        # All three files are outside the repository.
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
        """Commits this program; returns the commit's hash."""
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
        """Makes a copy of what the base measures."""
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
        self.assertRegex(lines[1], r"### taskbench: FAIL: sort is [\d.]+ % slower \(90 % interval ")
        self.assertEqual(
            lines[3],
            f"Head {head[:12]} (HEAD) against base {self.base[:12]} (v1.0): 1 fails, 1 passes.")
        self.assertRegex(lines[5], r"- FAIL: \*\*sort\*\* is .*: it computes more, its CPU time \+")
        self.assertRegex(self.comment(), r"(?m)^sort +FAIL .*#.* \+\d+\.\d %$")
        self.assertRegex(self.comment(), r"(?m)^hash +PASS ")
        result = self.load("r.json")
        self.assertEqual((result["outcome"], result["verdict"]), ("judged", "FAIL"))
        self.assertEqual(result["head"]["commit"], head)
        self.assertEqual(result["setup"]["changed_files"], ["bench"])

    def test_the_comment_has_a_command_that_does_the_same(self):
        head = self.commit("slower", SLOWER)
        self.gate(f"{self.files} --workload sort --max-blocks 16", status=1)
        command = self.comment().split("```sh\n")[1].split("\n```")[0]
        self.assertEqual(
            command,
            f"taskbench ab --base-rev {self.base[:12]} --head-rev {head[:12]} "
            "--workload sort --build 'sh build.sh' --program out/bench --budget 5m "
            "--max-blocks 16 --seed 1 --delta 3%",
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
        self.assertIn(r"### Speed of \*it\*: PASS: none of 2 benchmarks is slower", self.comment())

    def test_commands_of_both_are_measured_by_the_taskbench_in_path(self):
        counts = "#!/bin/sh\ni=0\nwhile [ $i -lt {} ]; do i=$((i + 1)); done\n"
        self.commit("two", one=counts.format(3000), other=counts.format(3000))
        self.git("tag", "--force", "v1.0")
        self.commit("slower", one=counts.format(3000), other=counts.format(12000))
        self.how = f"--build 'chmod +x one other' --cache {self.folder}/cache --kind taskbench"
        found = {"PATH": f"{os.path.dirname(os.path.abspath(BINARY))}:{os.environ['PATH']}"}
        self.gate(f"{self.files} --program 'taskbench --command one=./one --command other=./other' "
                  "--repetitions 3 --min-time 1ms --max-blocks 8 --exact off", env=found, status=1)
        verdicts = {row["name"]: row["verdict"] for row in self.load("r.json")["benchmarks"]}
        self.assertEqual(set(verdicts), {"one", "other"})
        self.assertEqual({name for name, each in verdicts.items() if each == "FAIL"}, {"other"})
        # taskbench does not compare itself this way, as both sides would be one program.
        answer = self.gate(f"{self.files} --program 'taskbench ping_pong'", env=found, status=5)
        self.assertIn("leaves no program at taskbench", answer.stderr)

    def test_equal_builds_of_taskbench_pass_without_a_run(self):
        base = self.commit("a binary", program=BINARY)
        self.commit("a test", program=BINARY, **{"test.py": "assert True\n"})
        answer = self.gate(self.files, base=base)
        self.assertIn("PASS: nothing was measured, because both are the same taskbench",
                      answer.stdout)
        self.assertIn("### taskbench: PASS: nothing to measure\n", self.comment())
        result = self.load("r.json")
        self.assertEqual((result["outcome"], result["verdict"]), ("identical", "PASS"))
        self.assertFalse((self.folder / "j").exists())

    def test_equal_bytes_are_measured_until_it_is_said_which_files_matter(self):
        files = {
            "bench.c": "#include <stdio.h>\n#include <string.h>\n"
                       "int main(int n, char **words) {\n"
                       "  for (int i = 1; i < n; ++i) if (strstr(words[i], \"filter\")) return 0;\n"
                       "  puts(__FILE__ __DATE__ __TIME__); return 0; }\n",
            "Makefile": "out/bench: bench.c\n\tmkdir -p out\n"
                        "\t$(CC) $(CFLAGS) -g -o $@ $(CURDIR)/bench.c\n",
        }
        base = self.commit("debug information", build="sleep 1; make out/bench\n", **files)
        self.commit("what it may read", size="5000\n")
        flags = {"CFLAGS": "-O0"}
        # This program answers like a benchmark, but measures nothing.
        answer = self.gate(f"{self.files} {SHORT}", base=base, env=flags, status=5)
        self.assertIn("equal, byte for byte, but size differs: both are measured.", answer.stderr)
        self.assertIn("wrote no result", answer.stderr)
        self.gate(f"{self.files} --outputs out/bench", base=base, env=flags)
        self.assertIn("The executables, their libraries and out/bench are equal", self.comment())
        self.assertIn("--outputs out/bench", self.comment())
        answer = self.gate(f"{self.files} {SHORT} --outputs bench.src,Makefile,build.sh,size",
                           base=base, env=flags, status=5)
        self.assertIn("but base has no size: both are measured.", answer.stderr)

    def test_a_benchmark_that_only_one_side_has_is_told_and_fails_nothing(self):
        self.commit("another", "sort=1000 new=5")
        for chosen in ("", "--workload sort,hash,new"):
            self.gate(f"{self.files} {SHORT} {chosen}")
            self.assertIn("- hash: only base has it; nothing to compare with.", self.comment())
            self.assertIn("- new: only head has it; nothing to compare with.", self.comment())
        self.gate(f"{self.files} {SHORT} --workload hash,new", status=5)

    def test_two_programs_without_revisions(self):
        self.program("a", "sort=1000")
        self.program("b", "sort=1001")
        self.taskbench(f"gate --base ./a --head ./b --markdown r.md {SHORT}")
        self.assertIn("Head ./b against base ./a: 1 is undecided.", self.comment())
        self.assertIn("taskbench ab --base ./a --head ./b --budget 5m", self.comment())
        self.assertTrue((self.folder / "taskbench-gate.journal").exists())

    def test_a_command_against_a_revision(self):
        for head, status in ((self.repository / "missing", 2), (self.measured(), 0)):
            self.taskbench(f"gate --base-rev v1.0 --head {head} {self.how} {SHORT}",
                           cwd=self.repository, status=status)


class Folders(GateTest):
    """Each revision runs in its own checkout."""

    READS = "size = open('size.txt').read()\ntimes = {n: t + size for n, t in times.items()}"

    def setUp(self):
        super().setUp()
        self.base = self.commit("small", body=self.READS, **{"size.txt": "0"})
        self.head = self.commit("large", body=self.READS, **{"size.txt": "00"})
        self.git("checkout", "--quiet", self.base)

    def change(self, options=""):
        """Returns the change of the first benchmark in one block."""
        (self.folder / "j").unlink(missing_ok=True)
        self.gate(f"{SHORT} {self.files} {options}", base=self.base, head=self.head, command="ab")
        return self.load("r.json")["benchmarks"][0]["change"]

    def test_each_sees_its_own_files(self):
        self.assertAlmostEqual(self.change(), 9, delta=1)
        self.assertEqual([self.load("r.json")["setup"][side]["cwd"] for side in ("base", "head")],
                         [".", "."])
        self.assertNotIn("--cwd", self.load("r.json")["reproduce"])

    def test_another_folder_is_one_for_both_or_a_part_of_each(self):
        self.assertAlmostEqual(self.change(f"--cwd {self.repository}"), 0, delta=0.5)
        self.assertIn(f"--cwd {self.repository}", self.load("r.json")["reproduce"])
        self.change("--cwd ./out/..")
        self.assertEqual(self.load("r.json")["setup"]["head"]["cwd"], ".")
        answer = self.gate(f"--cwd none {self.files}", base=self.base, head=self.head, status=5)
        self.assertIn("head has no folder none to run in; --cwd names another", answer.stderr)
        self.refuse(f"ab {REVISIONS} {self.how} --cwd", {
            "../x": "--cwd '../x': give a path from the root of the checkout"}, cwd=self.repository)

    def test_a_failure_says_where_it_ran(self):
        self.commit("none", body=self.READS)
        self.git("rm", "--quiet", "size.txt")
        head = self.commit("gone", body=self.READS)
        answer = self.gate(self.files, base=self.base, head=head, status=5)
        self.assertRegex(answer.stderr, r"size.txt'; it ran in \S+/source \(--cwd\)")

    def test_a_journal_goes_on_where_it_began(self):
        self.change()
        self.cut("j", 3)
        again = f"ab --resume --journal {self.folder}/j --inconclusive pass-always"
        self.refused(f"{again} --base-rev {self.base} --head-rev {self.head} {self.how} --cwd out",
                     says="--cwd:", cwd=self.repository)
        lines = self.read("j").replace(',"cwd":"."', "").replace(
            '"taskbench_journal":4', '"taskbench_journal":2')
        whole = self.read("j")
        self.write("j", lines)
        named = f"{again} --base-rev {self.base} --head-rev {self.head} {self.how}"
        self.refused(named, says="an older taskbench, which ran revisions in the current folder",
                     cwd=self.repository)
        for how_named in (named, again):
            self.write("j", whole)
            self.taskbench(f"{how_named} --json {self.folder}/r.json", cwd=self.repository)
            self.assertGreater(self.load("r.json")["benchmarks"][0]["change"], 5)
        self.write("j", whole)
        shutil.rmtree(self.folder / "cache")
        self.refused(again, says="is not there any more; name the revisions again: --base-rev",
                     cwd=self.repository)

    def test_two_commands_run_in_the_folder_that_is_named(self):
        self.write("there/size.txt", "000")
        sides = [self.program(name, body=self.READS) for name in "ab"]
        run = f"ab --base ./a --head ./b {SHORT} --json r.json"
        self.taskbench(f"{run} --cwd there")
        self.assertGreater(self.load("r.json")["benchmarks"][0]["base_ns"], 500_000)
        self.assertEqual(self.load("r.json")["base"]["cwd"], f"{self.folder}/there")
        self.refused(f"{run} --cwd nowhere --journal k", says="no folder")
        self.assertEqual(len(sides), 2)


class Files(GateTest):
    """Output files are tried before anything is built, and nothing stale is left."""

    def setUp(self):
        super().setUp()
        self.commit("another", notes="x")

    def test_paths_are_tried_before_the_first_build(self):
        for option in ("journal", "markdown", "json"):
            self.refused(f"gate {REVISIONS} {self.how} --{option} /no/such/file",
                         says="there is no folder", cwd=self.repository)
        self.gate(f"{self.files} {SHORT}")
        self.cut("j", -3)
        builds = self.read("builds")
        shutil.rmtree(self.folder / "cache")
        with open(self.folder / "j", "rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            for resume in ("", "--resume"):
                self.refused(f"gate {REVISIONS} {self.how} {self.files} {resume}",
                             says="another taskbench is writing to it", cwd=self.repository)
        self.assertEqual(self.read("builds"), builds)

    def test_a_gate_that_cannot_write_leaves_no_comment_of_an_earlier_one(self):
        for name in ("r.md", "r.json"):
            self.write(name, "of yesterday")
        (self.folder / "link.md").symlink_to("r.md")
        files = self.files.replace("r.md", "link.md").replace(f"{self.folder}/j", "/no/such/j")
        self.refused(f"gate {REVISIONS} {self.how} {files}", says="/no/such/j",
                     cwd=self.repository)
        self.assertFalse((self.folder / "r.md").exists())
        self.assertFalse((self.folder / "r.json").exists())
        self.write("r.md", "of yesterday")
        self.refused(f"ab {REVISIONS} {self.how} {files}", says="/no/such/j", cwd=self.repository)
        self.assertEqual(self.read("r.md"), "of yesterday")  # ab leaves an old comment alone

    def test_a_comment_for_which_there_is_no_room_is_none(self):
        self.write("r.md", "of yesterday")
        small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        self.refused(f"gate {REVISIONS} {self.how} {self.files}", says="limit for file sizes",
                     cwd=self.repository, preexec_fn=small)
        self.assertFalse((self.folder / "r.md").exists())


class Names(GateTest):
    def test_names_with_commas_are_chosen_whole(self):
        times = "Fx<int,3>/Run=5 Fx<int,4>/Run=6 BM/a,b=7 sort=8"
        sides = f"--base {self.program('a', times)} --head {self.program('b', times)}"
        for chosen, names in (
            ("Fx<int,3>/Run", ["Fx<int,3>/Run"]),
            ("sort,Fx<int,4>,BM/a,b", ["Fx<int,4>/Run", "BM/a,b", "sort"]),
            ("Fx<int,3>' --workload 'sort", ["Fx<int,3>/Run", "sort"]),
        ):
            self.taskbench(f"ab {sides} {SHORT} --json r.json --workload '{chosen}'")
            self.assertEqual([row["name"] for row in self.load("r.json")["benchmarks"]], names)
            self.assertIn(f"--workload '{chosen.split(chr(39))[0]}'",
                          self.load("r.json")["reproduce"])
        self.refuse(f"ab {sides} {SHORT} --workload", {
            "'Fx<int,5>/Run'": "unknown benchmark 'Fx<int,5>/Run'; did you mean 'Fx<int,",
            "'sort,,Fx<int,3>'": "an item of 'sort,,Fx<int,3>' is empty",
            "'BM/a,b,BM/a,b'": "'BM/a,b' is given twice",
        })

    def test_what_is_no_benchmark_does_not_pass_for_being_identical(self):
        for command in ("ab", "gate"):
            for program, status in (("/bin/echo", 5), ("/bin/true", 2)):
                answer = self.taskbench(f"{command} --base {program} --head {program}",
                                        status=status)
                self.assertIn("what can be measured is taskbench", answer.stderr)


class Failures(GateTest):
    """Failures: each ends with status 5, and both files say why."""

    def failed(self, stage, side, says, title, **options):
        answer = self.gate(self.files, status=5, **options)
        self.assertIn(says, answer.stderr)
        self.assertEqual(answer.stdout, "")
        comment = self.comment()
        self.assertTrue(
            comment.startswith(f"{MARKER}\n### taskbench: no verdict: {title}\n"), comment)
        self.assertIn("\nTo measure it again:\n\n```sh\ntaskbench ab --base", comment)
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
        self.gate(self.files, command="ab", status=5)  # ab leaves no files then
        self.assertFalse((self.folder / "r.md").exists())

    def test_what_repairs_a_base_that_fails_is_inconclusive_and_may_pass(self):
        repair = {"build": self.build_script()}
        row = {"name": "sort", "run_name": "sort", "run_type": "iteration", "repetition_index": 0,
               "error_occurred": True, "error_message": "no device"}
        result = json.dumps({"context": {"json_schema_version": 1}, "benchmarks": [row]})
        fails = f"open(flags['benchmark_out'], 'w').write({result!r})\nsys.exit()"
        for broken, stage, title in (
            ({"build": "seq 100; exit 1\n"}, "build", "base does not build"),
            ({"build": "true\n"}, "start", "base cannot be measured"),
            ({"body": "sys.exit('no luck')", **repair}, "measure",
             "base failed while it was measured"),
            ({"body": fails, "times": "sort=1", **repair}, "compare",
             "base and head have no benchmark in common"),
        ):
            with self.subTest(stage):
                base = self.commit("broken", **broken)
                self.commit("repaired", **repair)
                answer = self.gate(f"{self.files} --timeout 60s", base=base, status=3)
                says = f"INCONCLUSIVE: {title}, so that there is nothing to compare with"
                self.assertEqual(answer.stdout,
                                 f"{says}; head builds, and its benchmarks run\n")
                self.assertTrue(self.comment().startswith(f"{MARKER}\n### taskbench: {says}\n"))
                result = self.load("r.json")
                self.assertEqual((result["outcome"], result["verdict"]),
                                 ("no_base", "INCONCLUSIVE"))
                self.assertEqual(result["failure"]["stage"], stage)
                if stage == "build":
                    self.assertIn("```text\n81\n82\n", self.comment())
                    self.gate(f"{self.files} --inconclusive pass", base=base)
                    self.gate(self.files, base=base, command="ab", status=5)

    def test_neither_builds(self):
        base = self.commit("broken", build="exit 1\n")
        self.commit("still", build="exit 2\n")
        comment = self.failed("build", "head", "does not build: the command exited with status 2",
                              "head does not build", base=base)
        self.assertIn("Base fails, too: base", comment)

    def test_a_log_cannot_break_out_of_its_block(self):
        self.commit("broken", build="printf '```\\n# Merge me\\n'; exit 1\n")
        comment = self.failed("build", "head", "does not build", "head does not build")
        self.assertIn("````text\n```\n# Merge me\n````\n", comment)

    def test_head_is_no_program_that_can_be_measured(self):
        for built, says in (
            ({"build": "true\n"}, "builds, but leaves no program at out/bench"),
            ({"build": "mkdir -p out/bench\n"}, "out/bench is a folder; --program names"),
            ({"build": "mkdir out; cp bench.src out/bench\n"}, "out/bench cannot be executed"),
            ({"build": self.build_script(), "program": "/bin/false"},
             "is not a benchmark of a known kind"),
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
            hint = "give a --base that runs, or a revision by --base-rev"
            self.assertNotIn(hint, self.comment())
            answer = self.taskbench(f"gate --base {head} --head {base} {self.files}",
                                    status=status)
            self.assertIn(says, answer.stderr)
            self.assertIn(hint, answer.stderr)
            self.assertIn("which leaves the result inconclusive", self.comment())

    def test_head_crashes_and_the_comment_names_the_benchmark(self):
        self.commit("crashes", body="if 'hash' in flags.get('benchmark_filter', 'hash'): "
                    "os.kill(os.getpid(), 11)")
        self.failed("measure", "head", "was killed by signal 11", "head failed in hash")
        self.assertEqual(self.load("r.json")["failure"]["benchmark"], "hash")

    def test_what_is_slower_stays_a_failure_if_base_crashes_afterwards(self):
        count = "number = len(open(__file__ + '.runs').read())\n"  # of this process
        self.base = self.commit("crashes later",
                                body=f"{count}if number > 24: sys.exit('out of luck')")
        self.git("tag", "--force", "v1.0")
        # The noise keeps hash undecided.
        self.commit("slower", "sort=1300 hash=0",
                    body=f"{count}times['hash'] = str(440 + number * 61 % 150)")
        answer = self.gate(f"{self.files} --exact off --inconclusive pass", status=1)
        self.assertIn("out of luck", answer.stderr)
        self.assertIn("FAIL: sort is ", self.comment())
        self.assertRegex(self.comment(), "Base failed .*nothing more was measured: .*out of luck")
        self.assertEqual(self.load("r.json")["verdict"], "FAIL")

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
        how = self.how.replace("sh build.sh", "sh ./build.sh") + " --run-identical"
        self.taskbench(f"ab --base-rev {head} --head-rev {head} {how} {SHORT}", cwd=self.repository)
        self.assertEqual(self.built(), [self.base, head, head])

    def test_one_side_alone_is_built_unless_nothing_would_be_measured(self):
        self.commit("nothing", notes="x")
        answer = self.gate("--build-only base")
        self.assertEqual(answer.stdout, f"built base {self.base[:12]}\n")
        self.assertEqual(self.built(), [self.base])
        answer = self.gate("--build-only head", base="HEAD")
        self.assertIn("nothing was built, because base and head are one commit", answer.stderr)
        self.assertEqual(answer.stdout, "")
        self.assertEqual(self.built(), [self.base])
        self.refuse("gate --base x --head y --build-only", {
            "base": "--build-only needs --base-rev and --head-rev",
            "bsae": "unknown side 'bsae'; did you mean 'base'?"})

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
        # The build was sent a signal; when it dies is up to the kernel.
        self.wait_until(lambda: is_gone(self.read("pid").strip()))
        self.assertFalse((self.folder / "r.md").exists())

    def test_a_deleted_cache_is_built_again(self):
        for _ in range(2):
            self.gate(f"{SHORT} --run-identical")
            shutil.rmtree(self.folder / "cache")
            for known in (self.repository / ".git/worktrees").iterdir():
                (known / "locked").write_text("initializing")  # as a killed git leaves it
        self.assertEqual(self.built(), [self.base, self.base])

    def test_the_cache_keeps_what_was_used_last(self):
        self.how += " --run-identical"
        self.gate(SHORT, head=self.base)
        commits = []
        for number in range(17):
            commits.append(self.commit(f"number {number}"))
            self.gate(SHORT, base=commits[-1], head=commits[-1])
            if number % 4 == 0:
                self.gate(SHORT, head=self.base)  # the oldest, but in use
        def commits_with(name):
            return {path.parent.name.split("-")[0]
                    for path in self.folder.glob(f"cache/*/*/{name}")}

        kept = commits_with("built")
        self.assertEqual(kept, {self.base, *commits[-15:]})
        self.assertEqual(commits_with("source"), kept)
        self.assertEqual(len(self.git("worktree", "list").splitlines()), 1 + len(kept))

    def test_a_bare_repository_whose_head_is_no_branch(self):
        self.git("clone", "--quiet", "--bare", self.repository, self.folder / "bare")
        self.write("bare/HEAD", "ref: refs/heads/gone\n")
        self.gate(f"{SHORT} {self.files}", head="main", cwd=self.folder / "bare")

    def test_two_at_once_build_once(self):
        head = self.commit("slow", build=self.build_script("sleep 0.5"))
        both = [
            self.start(f"ab --base-rev HEAD --head-rev HEAD {self.how} {SHORT} --run-identical "
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
        self.assertNotEqual(self.read("j").splitlines()[2], first[2])

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
        self.taskbench(f"gate {run}")  # complete: needs no repository or programs
        self.assertEqual(self.comment(), comment)
        for format, end in (("openmetrics", "# EOF\n"), ("bmf", "}\n")):  # as scripts/gate-pr does
            answer = self.taskbench(f"gate --resume --journal j --format {format}", status=3)
            self.assertTrue(answer.stdout.endswith(end), answer.stdout)

    def test_resume_of_another_revision_is_refused(self):
        self.commit("slower", SLOWER)
        self.gate(f"{self.files} {SHORT}")
        self.commit("repaired")
        answer = self.gate(f"{self.files} --resume", status=2)
        self.assertIn("--head-rev: HEAD is ", answer.stderr)

    def test_resume_of_another_program_or_build_is_refused(self):
        self.commit("slower", SLOWER)
        self.gate(f"{self.files} {SHORT}")
        how = self.how
        other = how.replace("--program out/bench", "--program 'out/bench --other'")
        for lines in (None, 3):  # of a complete trial, too
            self.cut("j", lines)
            for named in (f"{REVISIONS} {other}", "--program 'out/bench --other'"):
                self.refused(f"gate --resume --journal {self.folder}/j {named}",
                             says="--program: ", cwd=self.repository)
        self.how = how.replace("build.sh'", "build.sh; true'")
        answer = self.gate(f"{self.files} {SHORT} --resume", status=2)
        self.assertIn("was started with another build of base", answer.stderr)
        self.how = how
        self.gate(f"{self.files} {SHORT} --resume")


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
            ("", "revisions need git, but it cannot be started", {"env": {"PATH": "/no/such"}}),
            ("--run-identical", "HOME is set", {"env": {"HOME": "", "XDG_CACHE_HOME": ""}}),
            ("--run-identical --cache /dev/null/x", "/dev/null/x", {}),
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
