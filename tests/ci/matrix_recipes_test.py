#!/usr/bin/env python3
"""The recipes for many machines of GitHub and GitLab, job by job, as their runners start them: with
a repository of two revisions, folders in place of the artifact store, stand-ins for what installs
taskbench, and a taskbench that measures only a few blocks."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))

from fake_program import fake_benchmark  # noqa: E402

BINARY = os.environ["TASKBENCH_BINARY"]
PARTS = 4
BLOCKS = 12

# Dies where the test says so, like a machine that is taken away.
TASKBENCH = f"""#!/bin/sh
echo "$*" >>~/calls
case "$*" in
  *"--part $DIES/"*) kill -9 $$ ;;
  *--part*) exec {BINARY} "$@" --max-blocks {BLOCKS} --exact off ;;
esac
exec {BINARY} "$@"
"""


def parsed(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def scripts_to_copy():
    """Returns the names that the table of ci/README.md says to copy to scripts/."""
    rows = re.findall(r"(?m)^\|.*\| `scripts/` \|$", (ROOT / "ci/README.md").read_text())
    return re.findall(r"`scripts/([\w-]+)`", "\n".join(rows))


class Jobs(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="taskbench-matrix-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.store = self.folder / "store"
        self.write("bin/taskbench", TASKBENCH)
        self.write("bin/sudo", '#!/bin/sh\necho "$@" >>~/packages\nexit $SUDO\n')
        self.repository = self.folder / "repository"
        self.git("init", "--quiet", "--initial-branch", "main", self.repository, cwd=self.folder)
        self.write("repository/scripts/install-taskbench",
                   '#!/bin/sh\necho "$@" >>~/installed\nmkdir -p ~/.cache/taskbench-package\n')
        for name in set(scripts_to_copy()) - {"install-taskbench"}:
            shutil.copy(ROOT / "scripts" / name, self.repository / "scripts" / name)
        self.base = self.commit("sort=1000 hash=500")

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def git(self, *words, cwd=None):
        return subprocess.run(
            ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *map(str, words)],
            cwd=cwd or self.repository, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, times, build="true"):
        """Commits a revision whose program takes these times."""
        self.write("repository/bench", fake_benchmark(times))
        self.write("repository/build", f"#!/bin/sh\n{build}\n")
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", times)
        return self.git("rev-parse", "HEAD")

    def checked_out(self, job):
        folder = self.folder / "jobs" / job
        self.git("clone", "--quiet", self.repository, folder, cwd=self.folder)
        return folder

    def shell(self, words, text, folder, environment):
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        return subprocess.run(
            [*words, "-c", text], cwd=folder, capture_output=True, text=True, check=False,
            timeout=300, stdin=subprocess.DEVNULL,
            env={"PATH": path, "HOME": str(self.folder), "DIES": "-", "SUDO": "0",
                 **environment})

    def stored(self, name):
        return sorted(path.relative_to(self.store / name).as_posix()
                      for path in (self.store / name).rglob("*") if path.is_file())


class GitHub(Jobs):
    """Knows only the parts of the workflow language that this workflow needs, and fails at any
    other."""

    WORKFLOW = parsed(ROOT / "ci/github/gate-parts.yml")

    def setUp(self):
        super().setUp()
        self.cached = []
        self.statuses = {}

    def value(self, expression, context):
        if not isinstance(expression, str):
            return str(expression)
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: context[found.group(1)], expression)

    def holds(self, condition, failed, context):
        terms = (condition or "success()").split(" && ")
        if not {"always()", "success()"} & set(terms):
            terms.append("success()")
        for term in terms:
            compared = re.fullmatch(r"([\w.-]+) (==|!=) '?(\w+)'?", term)
            if compared:
                is_equal = context.get(compared.group(1)) == compared.group(3)
                if is_equal != (compared.group(2) == "=="):
                    return False
            elif term != "always()":
                self.assertEqual(term, "success()")
                if failed:
                    return False
        return True

    def run_job(self, name, number=None, needs=None, **environment):
        """Returns whether the job failed, its outputs and what it printed."""
        job = self.WORKFLOW["jobs"][name]
        label = name if number is None else f"{name}-{number}"
        context = {"github.event.merge_group.base_sha || format('origin/{0}', github.base_ref)":
                       "origin/main",
                   "github.event.pull_request.head.sha || github.sha": self.head, **(needs or {}),
                   "github.event.pull_request.number": "7", "matrix.part": str(number),
                   "env.TASKBENCH_REVISION": "f00",
                   "strategy.job-total": str(PARTS)}
        folder = self.folder / "jobs" / label
        folder.mkdir(parents=True)
        failed, printed = False, ""
        for step in job["steps"]:
            if not self.holds(step.get("if"), failed, context):
                continue
            given = {key: self.value(value, context) for key, value in step.get("with", {}).items()}
            uses = step.get("uses", "run").partition("@")[0]
            if uses == "actions/checkout":
                self.checked_out(label)
            elif uses == "actions/cache/restore":
                hit = "true" if given["key"] in self.cached else ""
                context[f"steps.{step['id']}.outputs.cache-hit"] = hit
            elif uses == "actions/cache/save":
                self.cached.append(given["key"])
            elif uses == "actions/upload-artifact":
                self.upload(folder, given)
            elif uses == "actions/download-artifact":
                if "pattern" in given:  # without it, each would be in a folder of its own
                    self.assertEqual(given["merge-multiple"], "True")
                for artifact in self.store.glob(given.get("name") or given["pattern"]):
                    shutil.copytree(artifact, folder, dirs_exist_ok=True)
            else:
                self.assertEqual(uses, "run")
                for file in ("output", "summary"):
                    (self.folder / file).touch()
                answer = self.shell(
                    ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"], step["run"], folder,
                    {**self.WORKFLOW["env"], "BUILD": "./build", "PROGRAM": "bench",
                     "KIND": "google-benchmark",
                     **{key: self.value(value, context)
                        for key, value in step.get("env", {}).items()},
                     "GITHUB_OUTPUT": f"{self.folder}/output",
                     "GITHUB_STEP_SUMMARY": f"{self.folder}/summary", **environment})
                printed += answer.stdout + answer.stderr
                self.statuses[step.get("name")] = answer.returncode
                context[f"steps.{step.get('id')}.outcome"] = (
                    "failure" if answer.returncode else "success")
                failed = failed or (answer.returncode != 0 and not step.get("continue-on-error"))
                for line in (self.folder / "output").read_text().splitlines():
                    key, _, value = line.partition("=")
                    context[f"steps.{step.get('id')}.outputs.{key}"] = value
                (self.folder / "output").unlink()
        outputs = {key: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: context.get(found.group(1), ""),
                               value)
                   for key, value in job.get("outputs", {}).items()}
        return failed, outputs, printed

    def upload(self, folder, given):
        path = folder / given["path"]
        target = self.store / given["name"]
        if path.is_dir():
            shutil.copytree(path, target)
        elif path.exists():
            target.mkdir(parents=True)
            shutil.copy(path, target)
        else:
            self.assertEqual(given.get("if-no-files-found"), "ignore")

    def run_workflow(self, dies="-", **environment):
        """Returns the texts of all jobs, by name."""
        jobs = self.WORKFLOW["jobs"]
        self.assertGreater(len(jobs["part"]["strategy"]["matrix"]["part"]), PARTS)
        failed, outputs, printed = self.run_job("build")
        texts = {"build": printed}
        state = {f"needs.build.outputs.{key}": value for key, value in outputs.items()}
        if self.holds(jobs["part"]["if"], failed, state):
            for number in jobs["part"]["strategy"]["matrix"]["part"][:PARTS]:
                one_failed, _, texts[number] = self.run_job("part", number, state, DIES=dies,
                                                            **environment)
                self.assertEqual(one_failed, str(number) == dies, texts[number])
                failed = failed or one_failed
        if self.holds(jobs["merge"]["if"], failed, state):
            self.merge_failed, _, texts["merge"] = self.run_job("merge", needs=state,
                                                                **environment)
        return texts

    def request(self, *revision):
        self.git("checkout", "--quiet", "-b", "request")
        self.head = self.commit(*revision)
        self.git("checkout", "--quiet", "main")

    def test_build_parts_and_merge_give_one_verdict(self):
        self.request("sort=1300 hash=500")
        texts = self.run_workflow()
        self.assertTrue(self.merge_failed, texts["merge"])
        self.assertIn("FAIL: sort is 30.", texts["merge"])
        self.assertEqual(self.stored("taskbench-part-2"), ["part-2.journal"])
        self.assertLess({"comment.md", "gate.json", "report/index.html", "request"},
                        set(self.stored("taskbench-gate")))
        self.assertEqual((self.store / "taskbench-gate/request").read_text(), "7\n")
        self.assertIn("FAIL: sort is 30.", (self.folder / "summary").read_text())
        installed = (self.folder / "installed").read_text().splitlines()
        self.assertEqual(len(installed), 1 + PARTS + 1)
        calls = (self.folder / "calls").read_text()
        self.assertEqual(calls.count(" --kind google-benchmark "), 1 + PARTS)

    def test_the_first_part_has_what_counts_and_the_merge_what_plots(self):
        self.request("sort=1300 hash=500")
        texts = self.run_workflow(SUDO="1")  # a network without the packages stops nothing
        self.assertIn("FAIL: sort is 30.", texts["merge"])
        self.assertEqual((self.folder / "packages").read_text(), 2 * "apt-get -q update\n")
        for number in range(1, PARTS + 1):
            is_first = number == 1
            self.assertEqual("::warning::valgrind" in texts[number], is_first, texts[number])
        self.assertIn("::warning::gnuplot", texts["merge"])
        for name, job in self.WORKFLOW["jobs"].items():
            installed = " ".join(re.findall("install ([a-z -]+);", str(job["steps"])))
            self.assertEqual(installed, {"part": "valgrind binutils", "merge": "gnuplot-nox"}.get(
                name, ""))

    def test_taskbench_is_built_once_for_a_request(self):
        self.request("sort=1300 hash=500")
        for _ in range(2):
            failed, _, printed = self.run_job("build", ImageOS="ubuntu24", ImageVersion="7.1",
                                              RUNNER_OS="Linux", RUNNER_ARCH="X64")
            self.assertFalse(failed, printed)
            self.assertEqual(self.cached, ["taskbench-package-Linux-X64-ubuntu24-7.1-f00"])
            shutil.rmtree(self.folder / "jobs")
            shutil.rmtree(self.store)

    def test_a_taskbench_that_cannot_be_installed_is_told_in_the_comment(self):
        self.request("sort=1300 hash=500")
        (self.folder / "bin/taskbench").unlink()
        self.write("repository/scripts/install-taskbench", "#!/bin/sh\nexit 1\n")
        self.commit("sort=1000 hash=500", "true #")
        self.run_job("build", PATH=f"{self.folder}/bin:/usr/bin:/bin")
        self.assertEqual(self.statuses["Build"], 2)
        self.assertEqual(self.cached, [])
        self.assertIn("taskbench, which judges, is not installed",
                      (self.store / "taskbench-gate/comment.md").read_text())

    def test_what_gate_refuses_ends_with_2_and_not_as_slower(self):
        self.head = "0" * 40
        failed, _, printed = self.run_job("build")
        self.assertEqual((failed, self.statuses["Build"]), (True, 2), printed)
        self.assertFalse((self.store / "taskbench-gate").exists())
        self.write("bin/taskbench", "#!/bin/sh\nexit 2\n")
        folder = self.checked_out("refused")
        (folder / "part-1.journal").write_text("{}")
        (step,) = [each for each in self.WORKFLOW["jobs"]["merge"]["steps"]
                   if each.get("name") == "Merge"]
        answer = self.shell(["bash", "-e", "-o", "pipefail"], step["run"], folder,
                            {"REQUEST": "7", "GITHUB_STEP_SUMMARY": str(self.folder / "summary")})
        self.assertEqual(answer.returncode, 2, answer.stderr)
        self.assertEqual((folder / "taskbench-gate/request").read_text(), "7\n")

    def test_a_part_that_dies_costs_its_own_blocks(self):
        self.request("sort=1300 hash=500")
        texts = self.run_workflow(dies="2")
        self.assertIn("FAIL: sort is 30.", texts["merge"])
        self.assertIn("1 of 4 parts is missing: 2.",
                      (self.store / "taskbench-gate/comment.md").read_text())

    def test_what_does_not_build_has_a_comment_and_no_parts(self):
        self.request("sort=1300 hash=500", "echo of no use; exit 1")
        texts = self.run_workflow()
        # A job that is skipped would count as passed.
        self.assertEqual(list(texts), ["build", "merge"])
        self.assertTrue(self.merge_failed)
        self.assertIn("of no use", (self.store / "taskbench-gate/comment.md").read_text())

    def test_a_request_that_repairs_the_build_of_its_base_may_be_merged(self):
        self.commit("sort=1000 hash=500", "echo of no use; exit 1")
        self.request("sort=1300 hash=500")
        self.assertEqual(list(self.run_workflow()), ["build"])
        self.assertIn("of no use", (self.store / "taskbench-gate/comment.md").read_text())


class GitLab(Jobs):
    RECIPE = parsed(ROOT / "ci/gitlab/gate-parts.gitlab-ci.yml")
    SINGLE = parsed(ROOT / "ci/gitlab/gate.gitlab-ci.yml")

    def job(self, name):
        """Returns the job merged with what it extends: lists are replaced, variables are merged."""
        own = {**self.SINGLE.get(name, {}), **self.RECIPE[name]}
        if "extends" in own:
            own = {**self.job(own["extends"]), **own}
        return own

    def run_job(self, name, label, **environment):
        job = self.job(name)
        folder = self.checked_out(label)
        for needed in job["needs"]:
            self.assertIs(needed["artifacts"], True)
            for artifact in sorted(self.store.glob(f"{needed['job']}*")):
                shutil.copytree(artifact, folder, dirs_exist_ok=True, symlinks=True)
        variables = {**job["variables"], "GATE_TASKBENCH": "taskbench", "GATE_BUILD": "./build",
                     "GATE_PROGRAM": "bench", "CI_COMMIT_SHA": self.head,
                     "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.base, "CI_PIPELINE_ID": "7"}
        variables["XDG_CACHE_HOME"] = str(folder / ".cache")
        answer = self.shell(["sh", "-e"], "\n".join(job["script"]), folder,
                            {**variables, **environment})
        self.assertEqual(job["artifacts"]["when"], "always")
        for path in job["artifacts"]["paths"]:
            if (folder / path).exists():
                shutil.copytree(folder / path, self.store / label / path, symlinks=True)
        shutil.rmtree(folder / ".cache", ignore_errors=True)
        return answer

    def test_build_parts_and_merge_give_one_verdict_without_one_that_died(self):
        self.head = self.commit("sort=1300 hash=500")
        built = self.run_job("taskbench-build", "taskbench-build")
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertGreater(self.job("taskbench-part")["parallel"], PARTS)
        for number in range(1, PARTS + 1):
            answer = self.run_job("taskbench-part", f"taskbench-part-{number}",
                                  CI_NODE_INDEX=str(number), CI_NODE_TOTAL=str(PARTS), DIES="3")
            self.assertEqual(answer.returncode != 0, number == 3, answer.stderr)
        self.assertIs(self.job("taskbench-part")["allow_failure"], True)
        answer = self.run_job("taskbench-gate", "taskbench-gate")
        self.assertEqual(answer.returncode, 1, answer.stderr)
        self.assertIn("FAIL: sort is 30.", answer.stdout)
        comment = (self.store / "taskbench-gate/taskbench-gate/7/comment.md").read_text()
        self.assertIn("1 of 4 parts is missing: 3.", comment)

    def test_what_does_not_build_has_a_comment_and_no_verdict(self):
        self.head = self.commit("sort=1300 hash=500", "echo of no use; exit 1")
        self.assertEqual(self.run_job("taskbench-build", "taskbench-build").returncode, 5)
        answer = self.run_job("taskbench-gate", "taskbench-gate")
        self.assertEqual(answer.returncode, 5, answer.stderr)
        comment = (self.store / "taskbench-gate/taskbench-gate/7/comment.md").read_text()
        self.assertIn("of no use", comment)

    def test_a_request_that_repairs_the_build_of_its_base_may_be_merged(self):
        self.base = self.commit("sort=1000 hash=500", "echo of no use; exit 1")
        self.head = self.commit("sort=1300 hash=500")
        for name in ("taskbench-build", "taskbench-gate"):
            answer = self.run_job(name, name)
            self.assertEqual(answer.returncode, 3, answer.stdout + answer.stderr)
            self.assertEqual(self.job(name)["allow_failure"], {"exit_codes": [3]})
        comment = (self.store / "taskbench-gate/taskbench-gate/7/comment.md").read_text()
        self.assertIn("of no use", comment)

    def test_the_scripts_may_be_those_of_a_clone_of_taskbench(self):
        self.git("rm", "--quiet", "-r", "scripts")
        self.head = self.commit("sort=1300 hash=500")
        scripts = {"GATE_SCRIPTS": str(ROOT / "scripts")}
        built = self.run_job("taskbench-build", "taskbench-build", **scripts)
        self.assertEqual(built.returncode, 0, built.stderr)
        answer = self.run_job("taskbench-gate", "taskbench-gate", **scripts)
        self.assertIn("no part has left a journal", answer.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
