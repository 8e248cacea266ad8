#!/usr/bin/env python3
"""The recipes for gates on many machines: they parse, what they name exists, no job has a token,
and what scripts/gate-merge and the loop in docs/parts.md do."""

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

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's packages, even for another Python
try:
    from kubernetes.client import models
except ImportError:
    models = None

BINARY = os.environ["TASKBENCH_BINARY"]
GITHUB = ROOT / "ci/github/gate-parts.yml"
GITLAB = ROOT / "ci/gitlab/gate-parts.gitlab-ci.yml"
KUBERNETES = ROOT / "ci/kubernetes/gate-parts.yaml"
SCRIPTS = ("gate-merge", "gate-slurm", "gate-ssh")

HEAD_FAILED = "<!-- taskbench-gate -->\n### taskbench: no verdict: head failed in sort\n\nHere.\n"
BASE_FAILED = ("<!-- taskbench-gate -->\n### taskbench: INCONCLUSIVE: base failed in sort, so that "
               "there is nothing to compare with\n\nHere.\n")
# Fails, once the test has said how often the program may start.
CRASHES = """
if os.path.exists(__file__ + ".most"):
    if len(open(__file__ + ".runs").read()) > int(open(__file__ + ".most").read()):
        sys.exit("out of luck")
"""


def parsed(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def texts():
    """Yields name, shell and text of each shell part."""
    for job in parsed(GITHUB)["jobs"].values():
        for number, step in enumerate(job["steps"]):
            if "run" in step:
                yield f"{job['name'][:5]}{number}", "bash", step["run"]
    for name, job in parsed(GITLAB).items():
        yield name, "sh", "\n".join(job["script"])
    (container,) = parsed(KUBERNETES)["spec"]["template"]["spec"]["containers"]
    yield "kubernetes", "sh", container["args"][0]


SCALARS = {"str": str, "int": int, "bool": bool, "object": object}


def typed(kind, value):
    """Returns the value as the Kubernetes API declares it; a ValueError if a field is unknown,
    missing, or of another type. A client silently accepts unknown fields."""
    if kind in SCALARS:
        if not isinstance(value, SCALARS[kind]):
            raise ValueError(f"{value!r} is no {kind}")
        return value
    within = re.fullmatch(r"(list\[|dict\(str, )(.*)[\])]", kind)
    if within and within.group(1) == "list[":
        return [typed(within.group(2), each) for each in value]
    if within:
        return {typed("str", key): typed(within.group(2), each) for key, each in value.items()}
    model = getattr(models, kind)
    kinds = {name: model.openapi_types[own] for own, name in model.attribute_map.items()}
    owns = {name: own for own, name in model.attribute_map.items()}
    unknown = set(value) - set(kinds)
    if unknown:
        raise ValueError(f"{kind} has no {unknown}")
    return model(**{owns[name]: each if each is None else typed(kinds[name], each)
                    for name, each in value.items()})


class Recipes(unittest.TestCase):
    @unittest.skipUnless(shutil.which("shellcheck"), "needs shellcheck")
    def test_shell_parts_have_no_flaws_that_shellcheck_knows(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [ROOT / "scripts" / name for name in SCRIPTS]
            for number, (name, shell, text) in enumerate(texts()):
                files.append(Path(folder, f"{number}-{name}"))
                files[-1].write_text(f"#!/bin/{shell}\n{text}\n", encoding="utf-8")
            answer = subprocess.run(["shellcheck", *files], capture_output=True, text=True,
                                    check=False)
        self.assertEqual(answer.stdout, "")

    def test_options_are_those_of_the_gate_and_of_the_scripts(self):
        known = "".join(path.read_text() for path in (ROOT / "cli").glob("*/*.cpp"))
        for script in (*SCRIPTS, "gate-pr", "install-taskbench"):
            known += (ROOT / "scripts" / script).read_text()
        count = 0
        for name, _, text in texts():
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", text):
                self.assertRegex(known, rf'"{option}"|(?m:^ +{option}\))', (name, option))
                count += 1
            for script in re.findall(r"\bscripts/[\w-]+", text):
                self.assertTrue(os.access(ROOT / script, os.X_OK), script)
        self.assertGreater(count, 30)

    def test_gitlab_hands_on_what_the_recipe_for_one_machine_takes(self):
        job = parsed(ROOT / "ci/gitlab/gate.gitlab-ci.yml")["taskbench-gate"]
        known = {name for name in job["variables"] if name.startswith("GATE_")}
        inherited = set(re.findall(r"GATE_[A-Z_]+", "\n".join(job["before_script"])))
        used = set(re.findall(r"GATE_[A-Z_]+", GITLAB.read_text(encoding="utf-8")))
        # The parts refuse --explain.
        self.assertEqual(known - inherited - used, {"GATE_EXPLAIN"})

    def test_the_jobs_have_no_token_and_parts_do_not_stop_each_other(self):
        workflow = parsed(GITHUB)
        self.assertEqual(workflow["permissions"], {"contents": "read"})
        self.assertEqual(workflow["name"], parsed(ROOT / "ci/github/gate.yml")["name"])
        for path in (GITHUB, GITLAB, KUBERNETES):
            for token in ("github.token", "secrets.", "_TOKEN", "pull_request_target"):
                self.assertNotIn(token, path.read_text())
        pinned = 0
        known = "".join(path.read_text()
                        for path in (ROOT / "action.yml", *(ROOT / "ci/github").glob("*.yml")))
        for action in re.findall(r"uses: (\S+)", GITHUB.read_text()):
            self.assertRegex(action, r"^[\w/-]+@[0-9a-f]{40}$")
            self.assertGreater(known.count(action), 1, "other recipes use another version")
            pinned += 1
        self.assertGreater(pinned, 5)
        part = workflow["jobs"]["part"]
        self.assertNotIn("permissions", part)
        self.assertIs(part["strategy"]["fail-fast"], False)
        self.assertTrue(workflow["jobs"]["merge"]["if"].startswith("always() && "))
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                self.assertNotIn("${{", step.get("run", ""))
                if "checkout@" in step.get("uses", ""):
                    self.assertIs(step["with"]["persist-credentials"], False)
        jobs = parsed(GITLAB)
        self.assertGreater(jobs["taskbench-part"]["parallel"], 1)
        self.assertIs(jobs["taskbench-part"]["allow_failure"], True)
        self.assertEqual(jobs["taskbench-gate"]["rules"][0]["when"], "always")

    def test_kubernetes_starts_as_many_parts_as_it_tells_them(self):
        job = parsed(KUBERNETES)
        self.assertEqual((job["apiVersion"], job["kind"]), ("batch/v1", "Job"))
        spec = job["spec"]
        self.assertEqual(spec["completionMode"], "Indexed")
        pod = spec["template"]["spec"]
        self.assertEqual(pod["restartPolicy"], "Never")
        self.assertIs(pod["automountServiceAccountToken"], False)
        (container,) = pod["containers"]
        self.assertIn(f"+ 1))/{spec['completions']}\"", container["args"][0])
        self.assertEqual(container["resources"]["requests"], container["resources"]["limits"])
        claimed = {volume["name"] for volume in pod["volumes"]}
        self.assertEqual(claimed, {mount["name"] for mount in container["volumeMounts"]})


    @unittest.skipUnless(models, "needs python3-kubernetes")
    def test_kubernetes_knows_all_that_the_manifest_says(self):
        typed("V1Job", parsed(KUBERNETES))
        for change in ({"completionMod": "Indexed"}, {"completions": "8"}, {"template": None}):
            job = parsed(KUBERNETES)
            job["spec"].update(change)
            with self.assertRaises(ValueError, msg=change):
                typed("V1Job", job)

    def test_kubernetes_measures_each_part_once(self):
        spec = parsed(KUBERNETES)["spec"]
        (container,) = spec["template"]["spec"]["containers"]
        with tempfile.TemporaryDirectory() as folder:
            stub = Path(folder, "taskbench")
            stub.write_text('#!/bin/sh\nprintf "<%s>" "$@"\n')
            stub.chmod(0o755)
            calls = []
            for index in range(spec["completions"]):
                given = {"PATH": f"{folder}:{os.environ['PATH']}",
                         "JOB_COMPLETION_INDEX": str(index)}
                # The kubelet substitutes values that it knows; the rest stays as it is.
                words = [re.sub(r"\$\(([^)]*)\)", lambda found: given.get(found[1], found[0]), word)
                         for word in (*container["command"], *container["args"])]
                calls.append(subprocess.run(words, env=given, capture_output=True, text=True,
                                            check=True).stdout)
        for number, call in enumerate(calls, 1):
            self.assertIn(f"<--part><{number}/{len(calls)}>", call)
            self.assertIn(f"<--journal></parts/part-{number}.journal>", call)
        self.assertEqual(len(set(calls)), 8)


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="taskbench-recipes-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/taskbench").symlink_to(BINARY)

    def run_here(self, *words, status=0):
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        answer = subprocess.run(list(map(str, words)), cwd=self.folder, capture_output=True,
                                text=True, check=False, timeout=100,
                                env={**os.environ, "PATH": path, "HOME": str(self.folder)})
        self.assertEqual(answer.returncode, status, answer.stdout + answer.stderr)
        return answer

    def test_the_loop_of_the_documentation_and_what_merges(self):
        self.run_here("git", "init", "--quiet", "--initial-branch", "main")
        for name, times in (("base", "sort=1000"), ("head", "sort=1300")):
            (self.folder / "bench").write_text(fake_benchmark(times))
            (self.folder / "bench").chmod(0o755)
            self.run_here("git", "add", "bench")
            self.run_here("git", "-c", "user.name=T", "-c", "user.email=t@example.org", "commit",
                          "--quiet", "-m", name)
        page = (ROOT / "docs/parts.md").read_text()
        loop = re.search(r"```sh\n(.*?)```", page, re.DOTALL).group(1)
        loop = loop.replace("origin/main", "HEAD~ --build true --program bench")
        loop = loop.replace('--part "', '--max-blocks 12 --part "')
        self.run_here("sh", "-e", "-c", loop, status=1)
        self.assertIn("FAIL: sort is 30.", (self.folder / "comment.md").read_text())
        (self.folder / "part-2.journal").unlink()
        merge = (ROOT / "scripts/gate-merge", "--parts", ".")
        answer = self.run_here(*merge, "--", "--format", "csv", status=1)
        self.assertIn("sort,wall_time_ns,FAIL", answer.stdout)
        comment = (self.folder / "taskbench-gate/comment.md").read_text()
        self.assertIn("1 of 4 parts is missing: 2.", comment)
        self.assertTrue((self.folder / "taskbench-gate/report/index.html").exists())
        (self.folder / "part-3.md").write_text(HEAD_FAILED)
        self.run_here(*merge, status=1)
        comment = (self.folder / "taskbench-gate/comment.md").read_text()
        self.assertRegex(comment.splitlines()[1], "^### taskbench: FAIL: sort is 30.")
        self.assertTrue(comment.endswith(
            "\nParts in which a program failed: 3. What part 3 says:\n\n"
            + HEAD_FAILED.partition("\n")[2]), comment)
        for number in (1, 3, 4):
            (self.folder / f"part-{number}.journal").unlink()
        self.run_here(*merge, status=5)
        self.assertEqual((self.folder / "taskbench-gate/comment.md").read_text(), HEAD_FAILED)
        (self.folder / "part-3.md").write_text(BASE_FAILED)
        self.run_here(*merge, status=3)
        for meaning, status in (("inconclusive", 3), ("pass", 0), ("pass-always", 0), ("fail", 1),
                                ("passing", 2)):
            self.run_here(*merge, "--", "--inconclusive", meaning, status=status)
            self.run_here(*merge, "--", f"--inconclusive={meaning}", status=status)
        self.run_here(*merge, "--", "--title", "sort --inconclusive pass", status=3)
        self.assertEqual((self.folder / "taskbench-gate/comment.md").read_text(), BASE_FAILED)
        (self.folder / "part-3.md").unlink()
        self.run_here(*merge, status=2)
        self.assertIn("no part has left a journal",
                      (self.folder / "taskbench-gate/comment.md").read_text())

    def test_what_slurm_does_not_take_is_no_verdict_and_shows_no_earlier_one(self):
        (self.folder / "built").mkdir()
        (self.folder / "built/programs.json").write_text("{}")
        (self.folder / "out").mkdir()
        sbatch = self.folder / "bin/sbatch"
        for refused in ("part", "merge"):
            sbatch.write_text('#!/bin/sh\ncase "$*" in *--job-name=taskbench-%s*) exit 1 ;; esac\n'
                              'echo 7\n' % refused)
            sbatch.chmod(0o755)
            for wait in ((), ("--wait",)):
                (self.folder / "out/merge.log").write_text("an earlier PASS\n")
                answer = self.run_here(ROOT / "scripts/gate-slurm", "--programs", "built",
                                       "--out", "out", *wait, status=2)
                self.assertNotIn("an earlier PASS", answer.stdout)
                self.assertIn("gate-slurm: ", answer.stderr)

    def test_ssh_does_not_remove_the_programs_that_it_is_given(self):
        (self.folder / "built").mkdir()
        (self.folder / "built/programs.json").write_text("{}")
        answer = self.run_here(ROOT / "scripts/gate-ssh", "--programs", "built", "--hosts", "none",
                               "--out", ".", status=2)
        self.assertIn("its folder built is overwritten", answer.stderr)
        self.assertTrue((self.folder / "built/programs.json").exists())

    def test_a_relative_path_of_taskbench_holds_for_all_jobs(self):
        (self.folder / "built").mkdir()
        (self.folder / "built/programs.json").write_text("{}")
        for name, body in (("mine", 'echo "called with $*"'), ("bin/rsync", ""),
                           ("bin/parallel", 'echo "$*" >>"$HOME/jobs"; echo x >part-1.journal'),
                           ("bin/sbatch", 'echo "$*" >>"$HOME/jobs"; echo 7')):
            (self.folder / name).write_text(f"#!/bin/sh\n{body}\n")
            (self.folder / name).chmod(0o755)
        path = self.folder.resolve() / "mine"
        (self.folder / "out").mkdir()
        (self.folder / "out/part-list.c").touch()
        for script, hosts in (("gate-ssh", ("--hosts", "none")), ("gate-slurm", ())):
            answer = self.run_here(ROOT / "scripts" / script, "--programs", "built", *hosts,
                                   "--out", "out", "--taskbench", "./mine")
            jobs = (self.folder / "jobs").read_text()
            self.assertIn(f"'{path}' 'gate' '--programs'", jobs)
            if hosts:
                self.assertIn("called with gate --merge", answer.stdout)
            else:
                self.assertIn(f"'--taskbench' '{path}'", jobs)
            (self.folder / "jobs").unlink()
        self.assertTrue((self.folder / "out/part-list.c").exists())

    def test_parts_have_their_nodes_to_themselves_unless_an_option_says_otherwise(self):
        (self.folder / "built").mkdir()
        (self.folder / "built/programs.json").write_text("{}")
        sbatch = self.folder / "bin/sbatch"
        sbatch.write_text('#!/bin/sh\necho "$*" | head -n 1 >>"$HOME/jobs"; echo 7\n')
        sbatch.chmod(0o755)
        options = ["--programs", "built", "--sbatch", "-pquiet"]
        self.run_here(ROOT / "scripts/gate-slurm", *options)
        self.run_here(ROOT / "scripts/gate-slurm", *options, "--sbatch", "--oversubscribe")
        part, merge, shared, _ = (self.folder / "jobs").read_text().splitlines()
        self.assertIn(" --requeue --exclusive -pquiet --wrap ", part)
        self.assertNotIn("--exclusive", merge)
        self.assertIn(" --requeue -pquiet --oversubscribe --wrap ", shared)

    def test_an_option_without_a_value_is_an_error_and_no_verdict(self):
        for script in (*SCRIPTS, "gate-pr", "diff-baseline"):
            for value in ((), ("",)):
                answer = self.run_here(ROOT / "scripts" / script, "--out", *value, status=2)
                self.assertEqual(answer.stderr, f"{script}: --out needs a value\n")

    def test_what_a_script_cannot_do_is_an_error_and_no_verdict(self):
        (self.folder / "built").mkdir()
        (self.folder / "built/programs.json").write_text("{}")
        for tool in ("sbatch", "parallel", "rsync"):
            (self.folder / "bin" / tool).write_text("#!/bin/sh\n")
            (self.folder / "bin" / tool).chmod(0o755)
        self.run_here("git", "init", "--quiet")
        self.run_here("git", "-c", "user.name=T", "-c", "user.email=t@example.org", "commit",
                      "--quiet", "--allow-empty", "-m", "one")
        for script, options in (
            ("gate-pr", ("--base", "HEAD")),
            ("gate-merge", ()),
            ("gate-slurm", ("--programs", "built")),
            ("gate-ssh", ("--programs", "built", "--hosts", "none")),
            ("diff-baseline", ("--taskbench", "true")),
        ):
            self.run_here(ROOT / "scripts" / script, *options, "--out", "/dev/null/out", status=2)
        # A comment that cannot be written where there is no judge to write it.
        self.run_here(ROOT / "scripts/gate-pr", "--base", "HEAD", "--out", "/proc/self",
                      "--taskbench", "none", status=2)

    def test_names_that_are_not_ascii_reach_the_jobs_in_the_c_locale(self):
        (self.folder / "built").mkdir()
        (self.folder / "built/programs.json").write_text("{}")
        name = "größe's $x"
        for tool, body in ((name, 'printf "<%s>" "$@" >>"$HOME/called"'), ("bin/rsync", ""),
                           ("bin/sbatch", 'for last; do :; done; sh -c "$last"; echo 7'),
                           ("bin/parallel", 'for word; do [ "$word" != ::: ] || break; job=$word; '
                                            'done; sh -c "$job"')):
            (self.folder / tool).write_text(f"#!/bin/sh\n{body}\n")
            (self.folder / tool).chmod(0o755)
        for script, hosts in (("gate-slurm", ()), ("gate-ssh", ("--hosts", "none"))):
            answer = subprocess.run(
                [ROOT / "scripts" / script, "--programs", "built", *hosts, "--out", "örtlich",
                 "--taskbench", f"./{name}", "--", "--title", name],
                cwd=self.folder, capture_output=True, check=False, timeout=100,
                env={"PATH": f"{self.folder}/bin:{os.environ['PATH']}", "HOME": str(self.folder),
                     "LC_ALL": "C", "SLURM_ARRAY_TASK_ID": "3"})
            called = (self.folder / "called").read_text(encoding="utf-8")
            self.assertIn(f"<--quiet><--title><{name}><--part>", called, answer.stderr)
            if not hosts:
                journal = self.folder.resolve() / "örtlich/part-3.journal"
                self.assertIn(f"<3/8><--journal><{journal}>", called)
            (self.folder / "called").unlink()

    def test_a_head_that_crashes_in_some_parts_is_a_failure_whatever_the_others_find(self):
        for name, body in (("base", ""), ("head", CRASHES)):
            (self.folder / name).write_text(fake_benchmark("sort=1000", body=body))
            (self.folder / name).chmod(0o755)
        def part(number, status=0):
            self.run_here("taskbench", "gate", "--base", "./base", "--head", "./head",
                          "--part", f"{number}/2", "--max-blocks", "16", "--exact", "off",
                          "--journal", f"part-{number}.journal", "--markdown", f"part-{number}.md",
                          status=status)
        part(1)
        started = len((self.folder / "head.runs").read_text())
        (self.folder / "head.most").write_text(str(started + 8))
        part(2, status=5)
        self.assertIn('"position"', (self.folder / "part-2.journal").read_text())
        (self.folder / "part-9.md").write_text("# Part 9 of something else\n")
        merge = (ROOT / "scripts/gate-merge", "--parts", ".")
        answer = self.run_here(*merge, status=5)
        self.assertIn("gate-merge: Parts in which a program failed: 2. taskbench: no verdict: head "
                      "failed", answer.stderr)
        comment = (self.folder / "taskbench-gate/comment.md").read_text()
        self.assertTrue(comment.startswith(
            "<!-- taskbench-gate -->\n### taskbench: no verdict: head failed"), comment)
        self.assertIn("out of luck", comment)
        self.assertRegex(comment, "program failed: 2. The blocks that were measured say:\n\n"
                         "### taskbench: (PASS|INCONCLUSIVE)")
        for told in (BASE_FAILED, HEAD_FAILED + "Base fails, too: no luck\n"):
            (self.folder / "part-2.md").unlink()
            alone = subprocess.run([*merge, "--taskbench", BINARY], cwd=self.folder, check=False,
                                   capture_output=True, timeout=100).returncode
            self.assertIn(alone, (0, 3))
            (self.folder / "part-2.md").write_text(told)
            self.run_here(*merge, status=alone)
            self.assertIn("What part 2 says:",
                          (self.folder / "taskbench-gate/comment.md").read_text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
