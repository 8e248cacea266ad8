#!/usr/bin/env python3
"""`taskbench gate` and `ab` with revisions that differ in nothing a program can see."""

from fake_program import fake_benchmark
from gate_test import SHORT, GateTest
from taskbench_command import main


class SameSources(GateTest):
    """Revisions that differ in nothing a program can see are neither built nor measured."""

    def written(self, **files):
        """Commits these files; in their names, __ stands for a slash and _DOT_ for a dot."""
        for name, content in files.items():
            path = self.repository / name.replace("__", "/").replace("_DOT_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return self.committed()

    def committed(self, message="a change"):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")

    def passes(self, says, options="", **revisions):
        program = "out/bench" if "--program" in self.how else "build/release/cli/taskbench"
        says += f"; nothing was built, so that --program {program} was not checked"
        answer = self.gate(f"{self.files} {options}", **revisions)
        self.assertEqual(answer.stdout, f"PASS: nothing was measured, because {says}\n")
        self.assertEqual(self.load("r.json")["why"], says)
        self.assertIn(f"\n{says[0].upper()}{says[1:]}", self.comment().replace("\\", ""))
        self.assertFalse((self.folder / "builds").exists())
        return answer

    def is_built(self, options="", **revisions):
        """Expects that something is built, which shows because the build fails."""
        self.how = f"--build false --cache {self.folder}/cache"
        answer = self.gate(f"{self.files} {options}", status=5, **revisions)
        self.assertIn("does not build", answer.stderr)

    def test_documentation(self):
        only = "the commits differ only in what counts as documentation:"
        self.written(README_DOT_md="How to.\n", LICENSE="MIT\n", docs__a__b_DOT_md="b\n",
                     docs__c_DOT_md="c\n", docs__d_DOT_md="d\n", docs__e_DOT_md="e\n")
        self.passes(f"{only} LICENSE, README.md, docs/a/b.md, docs/c.md, docs/d.md and 1 more")
        self.is_built("--documentation none")
        self.is_built("--documentation '*.md,docs/**/*.md'")
        self.how = self.how.replace("false", "'sh build.sh'")
        self.git("tag", "before")
        self.written(data__a__x_DOT_txt="1")
        self.passes(f"{only} data/a/x.txt", "--documentation 'data/**'", base="before")
        self.assertIn("--documentation 'data/**' --delta 3%\n", self.comment())
        self.is_built(base="before", options="--documentation 'data/*'")

    def test_one_commit_and_equal_files(self):
        self.passes(f"base and head are one commit, {self.base[:12]}")
        head = self.committed("nothing")
        self.git("checkout", "--quiet", "--detach", self.base)
        self.write(self.repository / "new.c")
        answer = self.passes("the two commits have the same files", head=head)
        self.assertIn("note: what is not committed was not looked at: new.c", answer.stderr)

    def test_a_program_that_is_there_already_is_checked(self):
        self.written(README_DOT_md="How to.\n")
        passes = "nothing was measured, because the commits differ only in what counts as"

        def fails(says, program, **options):
            for command in ("gate", "ab"):
                answer = self.gate(f"{self.files} --program {program}", command=command, status=5,
                                   **options)
                self.assertIn(says, answer.stderr)
            self.assertIn("no verdict: it cannot be measured\n", self.comment())
            self.assertFalse((self.folder / "builds").exists())

        self.how = self.how.replace("--program out/bench", "")
        for program, says in (("docs", "docs is a folder; --program names the program in it"),
                              ("bench.src", "bench.src cannot be executed"),
                              ("say.sh", "it is a script, which has to hand its arguments on")):
            (self.repository / "docs").mkdir(exist_ok=True)
            self.write(self.repository / "say.sh", "#!/bin/sh\n", 0o755)
            fails(f"--program, in {self.repository}: ", program)
            fails(says, program)
        answer = self.gate(f"{self.files} --program none")
        self.assertIn(passes, answer.stdout)
        self.assertIn("nothing was built, so that --program none was not checked", self.comment())
        # A program that does not start may lack what a build makes.
        self.write(self.repository / "broken.sh", "#!/bin/sh\nexit 127\n", 0o755)
        self.assertIn("--program broken.sh was not checked",
                      self.gate("--program broken.sh").stdout)
        self.write(self.repository / "good", fake_benchmark("a=1", lists_by_filter=True), 0o755)
        self.assertTrue(self.gate("--program good").stdout.endswith("documentation: README.md\n"))
        self.assertIn("nothing was built, so that --program none and --workload were not checked\n",
                      self.gate("--program none --workload sort").stdout)

    def test_a_program_that_was_built_earlier_is_checked(self):
        self.base = self.written(bench_DOT_src=fake_benchmark("a=1", lists_by_filter=True))
        self.git("tag", "--force", "v1.0")
        self.written(README_DOT_md="How to.\n")
        self.assertIn("was not checked", self.gate().stdout)
        self.gate(f"{SHORT} --run-identical")
        self.assertNotIn("was not checked", self.gate().stdout)
        self.how = self.how.replace("out/bench", "out/none")
        answer = self.gate(self.files, status=5)
        self.assertIn("builds, but leaves no program at out/none", answer.stderr)

    def test_all_else_is_built(self):
        readme = self.written(README_DOT_md="How to.\n", data__x_DOT_md="1", build_DOT_h="x")
        (self.repository / "linked").symlink_to("data")
        linked = self.committed()
        changes = {
            "data below another folder": lambda: self.written(data__x_DOT_md="2"),
            "permissions": lambda: (self.repository / "build.h").chmod(0o755),
            "a link": lambda: ((self.repository / "linked").unlink(),
                               (self.repository / "linked").symlink_to("docs")),
            "a file that is gone": lambda: (self.repository / "build.h").unlink(),
            "documentation that becomes data": lambda: (self.repository / "README.md").rename(
                self.repository / "data/y.md"),
        }
        for name, change in changes.items():
            with self.subTest(name):
                self.git("checkout", "--quiet", "--force", "--detach", linked)
                change()
                self.is_built(base=linked, head=self.committed())
        self.assertNotEqual(readme, linked)

    def test_a_submodule_is_built_whatever_is_ignored(self):
        revisions = []
        for digit in "12":
            self.git("update-index", "--add", "--cacheinfo", f"160000,{digit * 40},docs/s.md")
            self.git("commit", "--quiet", "--message", digit)
            revisions.append(self.git("rev-parse", "HEAD"))
        self.git("config", "diff.ignoreSubmodules", "all")
        modules = '[submodule "s"]\n\tpath = docs/s.md\n\turl = ./s\n\tignore = all\n'
        (self.repository / ".gitmodules").write_text(modules)
        self.is_built(base=revisions[0], head=revisions[1])

    def test_documentation_to_which_a_link_leads_is_built(self):
        for number, target in enumerate(("../docs/a.md", "../docs/", "../other", "/none")):
            with self.subTest(target):
                self.written(docs__a_DOT_md=f"1{number}")
                (self.repository / "data").mkdir(exist_ok=True)
                (self.repository / "other").unlink(missing_ok=True)
                (self.repository / "other").symlink_to("nowhere")
                (self.repository / "data/x").unlink(missing_ok=True)
                (self.repository / "data/x").symlink_to(target)
                base = self.committed()
                head = self.written(docs__a_DOT_md=f"2{number}")
                if target == "/none":
                    self.gate(self.files, base=base, head=head)
                else:
                    self.is_built(base=base, head=head)
                    self.how = self.how.replace("false", "'sh build.sh'")


if __name__ == "__main__":
    main()
