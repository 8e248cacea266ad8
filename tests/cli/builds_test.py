#!/usr/bin/env python3
"""What `taskbench gate` builds revisions with, when it does so again, and where it puts them."""

import json
import os
import shutil
import time
from unittest import mock

from gate_test import REVISIONS, SLOWER, GateTest
from taskbench_command import main


class BuildTest(GateTest):
    def setUp(self):
        super().setUp()
        kept = mock.patch.dict(os.environ)
        kept.start()
        self.addCleanup(kept.stop)
        for name in ("CC", "CXX", "CFLAGS", "CXXFLAGS"):
            os.environ.pop(name, None)


class Flags(BuildTest):
    def is_optimised(self, preparing="", flags=None, **files):
        """Builds a revision by a script; returns whether its compiler optimises."""
        asking = ("printf '#ifdef __OPTIMIZE__\\noptimised\\n#endif\\n' >asks.c && "
                  f"cc $CFLAGS -E -P asks.c >{self.folder}/said && "
                  f"echo $CFLAGS >{self.folder}/flags")
        self.commit("other", build=self.build_script(f"{preparing}\n{asking}"), **files)
        self.gate("--build-only head", env={} if flags is None else {"CFLAGS": flags})
        return "optimised" in self.read("said")

    def test_what_is_built_is_optimised_unless_the_user_says_otherwise(self):
        default = ": ${CFLAGS=-O2}"  # as `CFLAGS ?= -O2` in a Makefile
        self.assertTrue(self.is_optimised(default))
        self.assertTrue(self.is_optimised())
        for flags in ("", "-O0"):
            self.assertFalse(self.is_optimised(default, flags))
        self.is_optimised(default, "-O3")
        self.assertRegex(self.read("flags"), r"^-O3 -ffunction-sections -ffile-prefix-map=\S+=\.$")

    def test_the_level_of_tools_that_put_cflags_after_it_is_left_alone(self):
        for file in ("meson.build", "Cargo.toml"):
            with self.subTest(file):
                self.assertFalse(self.is_optimised(**{file: ""}))
                self.assertIn("-ffunction-sections", self.read("flags"))
                (self.repository / file).unlink()

    def test_a_cache_that_flags_cannot_name_leaves_them_alone_and_says_so(self):
        asking = f'echo "$CFLAGS" >{self.folder}/flags'
        self.commit("other", build=self.build_script(asking))
        self.how = self.how.replace(f"{self.folder}/cache", f"'{self.folder}/a cache'")
        answer = self.gate("--build-only head")
        self.assertEqual(self.read("flags"), "\n")
        self.assertIn("has a blank or a quote, which CFLAGS cannot contain", answer.stderr)


class Submodules(BuildTest):
    def test_a_build_that_may_lack_them_is_told_how_to_fetch_them(self):
        self.commit("broken", **{"build": "exit 3\n", ".gitmodules": ""})
        answer = self.gate("--build-only head", status=5)
        self.assertIn("'git submodule update --init --recursive && ...'", answer.stderr)


class Cached(BuildTest):
    def setUp(self):
        super().setUp()
        self.commit("other", notes="x")

    def count_of_builds(self, **env):
        """Builds both sides if need be; returns how many were."""
        self.write("builds")
        self.gate("--build-only both", env=env)
        return len(self.built())

    def test_other_flags_mean_another_build(self):
        for name in ("RUSTFLAGS", "GIT_LFS_SKIP_SMUDGE", "CMAKE_BUILD_TYPE"):
            with self.subTest(name):
                counts = [self.count_of_builds(**{name: value}) for value in "aaba"]
                self.assertEqual(counts, [2, 0, 2, 0])

    def test_another_tool_chain_means_another_build(self):
        path = {"PATH": f"{self.folder}/tools:{os.environ['PATH']}"}
        behind = {"PATH": f"{self.folder}/wrappers:{path['PATH']}"}
        self.script("wrappers/cc", "# as that of ccache")
        for name, env in (("cc", behind), ("rustc", path),
                          ("other-cc", {**path, "CC": "other-cc -m64"}),
                          ("home/toolchains/stable/bin/rustc",
                           {"RUSTUP_HOME": f"{self.folder}/tools/home"})):
            with self.subTest(name):
                self.script(f"tools/{name}", "")
                self.count_of_builds(**env)
                self.assertEqual(self.count_of_builds(**env), 0)
                self.script(f"tools/{name}", "# of another version")
                self.assertEqual(self.count_of_builds(**env), 2)

    def test_the_same_files_in_another_order_or_by_other_names_mean_another_build(self):
        for name in ("one/gcc", "other/gcc", "tools/gcc", "tools/clang"):
            self.script(name, f"# {name}")
        one, other, tools = (self.folder / name for name in ("one", "other", "tools"))
        self.assertEqual([self.count_of_builds(PATH=f"{first}:{second}:{os.environ['PATH']}")
                          for first, second in ((one, other), (other, one), (one, other))],
                         [2, 2, 0])

        def count_with(cc):
            (tools / "cc").unlink(missing_ok=True)
            (tools / "cc").symlink_to(cc)  # as update-alternatives does
            return self.count_of_builds(PATH=f"{tools}:{os.environ['PATH']}")

        self.assertEqual([count_with(cc) for cc in ("gcc", "clang", "gcc")], [2, 2, 0])

    def test_a_git_that_knows_no_format_of_paths_finds_the_same_builds(self):
        self.count_of_builds()
        self.script("tools/git", 'case $2 in --path-format=*) echo "$2"; set -- "$1" "$3" ;; esac\n'
                                 f'exec {shutil.which("git")} "$@"')
        self.assertEqual(
            self.count_of_builds(PATH=f"{self.folder}/tools:{os.environ['PATH']}"), 0)

    def test_a_build_in_use_is_kept(self):
        self.commit("slow", build=self.build_script(f"touch {self.folder}/waits; sleep 60"))
        trial = self.start(f"gate {REVISIONS} {self.how}", cwd=self.repository)
        self.wait_until(self.written("waits"), trial)
        [base] = self.folder.glob(f"cache/*/{self.base}-*/built")
        for number in range(15):
            other = self.write(f"{base.parent.parent}/other-{number}/built")
            os.utime(other, times=(time.time() + 1000,) * 2)
        for is_used in (True, False):
            self.commit("newer", build=self.build_script(), notes=f"{is_used}")
            self.gate("--build-only head")
            self.assertEqual(base.exists(), is_used)
            self.assertEqual((base.parent / "source").exists(), is_used)
            trial.kill()
            trial.wait()

    def test_git_asks_for_no_password_on_a_terminal_that_it_could_not_read(self):
        self.commit("other", build=self.build_script())  # which calls git
        self.script("tools/git", f'echo "$GIT_TERMINAL_PROMPT" >>{self.folder}/asks\n'
                                 f'exec {shutil.which("git")} "$@"')
        self.gate("--build-only head",
                  env={"PATH": f"{self.folder}/tools:{os.environ['PATH']}"})
        self.assertEqual(set(self.read("asks").splitlines()), {"0"})


class Folders(BuildTest):
    def test_both_sides_are_built_once_and_measured_anywhere(self):
        self.commit("slower", SLOWER)
        answer = self.gate(f"--build-only both --out {self.folder}/built --run-identical")
        head = self.git("rev-parse", "HEAD")
        self.assertEqual(answer.stdout, f"built base {self.base[:12]} and head {head[:12]}, in "
                                        f"{self.folder}/built\n")
        self.assertEqual(self.load("built/programs.json")["changed_files"], ["bench"])
        shutil.move(self.folder / "built", self.folder / "moved")
        shutil.rmtree(self.folder / "cache")
        self.taskbench(f"gate --programs moved --max-blocks 12 --json r.json", status=1)
        self.assertEqual(self.load("r.json")["head"]["commit"], head)
        self.assertFalse((self.folder / "cache").exists())
        for number in (1, 2):
            self.taskbench(f"gate --programs moved --part {number}/2 --max-blocks 20 "
                           f"--journal p{number}")
        self.taskbench("gate --merge p1 p2 --json r.json", status=1)
        self.assertEqual(self.load("r.json")["base"]["commit"], self.base)
        (self.folder / "moved/head/out/bench").chmod(0o644)  # as artifact stores leave it
        self.taskbench("gate --programs moved --part 1/2 --max-blocks 2 --journal p1")
        self.write("moved/head/out/bench", "other", 0o755)
        self.refused("gate --programs moved --part 1/2 --journal p1",
                     says="moved/head/out/bench is not the file that was built")
        self.refused("gate --programs cache", says="there is no such folder")
        self.refused("gate --programs repository", says="--build-only both --out makes the folder")
        self.refused("gate --base-rev a --head-rev b --build-only head --out x",
                     says="--out needs --build-only both")

    def test_a_folder_with_another_file_of_outputs_than_was_built_is_refused(self):
        (self.repository / "lib/__pycache__").mkdir(parents=True)
        self.commit("slower", SLOWER, **{"lib/rows": "many", "lib/__pycache__/rows": "old"})
        self.gate(f"--build-only both --out {self.folder}/built --outputs lib")
        part = "gate --programs built --part 1/2 --max-blocks 2 --journal p1"
        self.write("built/head/lib/__pycache__/rows", "new")  # as Python does
        self.taskbench(part)
        self.write("built/head/lib/rows", "few")
        self.refused(part, says="built/head/lib/rows is not the file that was built")

    def test_a_folder_of_equal_sources_says_that_there_is_nothing_to_measure(self):
        self.commit("nothing", notes="x")
        answer = self.gate(f"--build-only both --out {self.folder}/built", base="HEAD")
        self.assertIn("nothing was built, because base and head are one commit", answer.stderr)
        self.taskbench("gate --programs built --part 1/1 --journal p1")
        answer = self.taskbench("gate --merge p1")
        self.assertIn("PASS: nothing was measured, because base and head are one", answer.stdout)
        answer = self.taskbench("gate --programs built")
        self.assertIn("PASS: nothing was measured, because base and head are one", answer.stdout)

    def test_a_trial_of_a_folder_of_programs_goes_on_after_a_kill(self):
        self.commit("slower", SLOWER)
        self.gate(f"--build-only both --out {self.folder}/built --run-identical")
        part = "gate --part 1/2 --max-blocks 8 --exact off --journal p1"
        answer = self.taskbench(f"{part} --programs built")
        # On another machine than built them, programs load other libraries.
        programs = self.load("built/programs.json")
        self.write("p1", self.read("p1").replace(programs["base"]["digest"], "0123456789abcdef"))
        programs["base"]["digest"] = "0123456789abcdef"
        self.write("built/programs.json", json.dumps(programs))
        self.cut("p1", 7)
        shutil.copytree(self.folder / "built", self.folder / "copy")
        self.refused(f"{part} --programs copy --resume", says="--programs: p1 was started with '/")
        for _ in range(2):  # the second time, it is complete
            again = self.taskbench(f"{part} --programs built --resume")
            self.assertEqual(again.stdout, answer.stdout)
        errors = self.interrupt("gate --part 2/2 --exact off --journal p2 --programs built",
                                when=self.written("p2", lines=1))
        self.assertRegex(errors, r"taskbench gate --resume --journal p2 --programs \S*built\b")


if __name__ == "__main__":
    main()
