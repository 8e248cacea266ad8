#!/usr/bin/env python3
"""The recipes in ci/, and the workflows of this repository: they parse, what they name exists, no
job has both a token and the request's code, and their shell parts work, with stand-ins for what
they call. Needs python3-yaml."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / "action.yml"
OWN = ROOT / ".github" / "workflows"
GATES = (ROOT / "ci" / "github" / "gate.yml", OWN / "gate.yml")
COMMENTS = (ROOT / "ci" / "github" / "gate-comment.yml", OWN / "gate-comment.yml")
TRACK = ROOT / "ci" / "github" / "track.yml"
WORKFLOWS = (*GATES, *COMMENTS, TRACK, *sorted(OWN.glob("*.yml")))
GITLAB = ROOT / "ci" / "gitlab" / "gate.gitlab-ci.yml"
COMPONENT = ROOT / "templates" / "gate.yml"
COPIED = ("gate-comment", "gate-merge", "gate-pr", "install-taskbench")
TOOLS = ("valgrind", "objdump", "gnuplot")
IS_MEASURED = "github.event.action != 'edited' || github.event.changes.base"


def parsed(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps():
    return {step["name"]: step for step in parsed(ACTION)["runs"]["steps"]}


def steps_of(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def gitlab_script(job, part="script"):
    """Returns the script as GitLab gives it to the shell: one command a line."""
    return "\n".join(parsed(GITLAB)[job][part])


def shell_parts():
    """Yields name, shell and text of each shell part."""
    for name, step in steps().items():
        if "run" in step:
            yield name, "bash", step["run"]
    for path in (*GATES, *COMMENTS, TRACK):
        for step in steps_of(parsed(path)):
            if "run" in step:
                yield str(path), "bash", step["run"]
    yield "gate, before", "sh", gitlab_script("taskbench-gate", "before_script")
    for job in ("taskbench-gate", "taskbench-comment"):
        yield job, "sh", gitlab_script(job)
    yield "comment, after", "sh", gitlab_script("taskbench-comment", "after_script")


def strings_in(value):
    if isinstance(value, dict):
        for key, each in value.items():
            yield from (str(key), *strings_in(each))
    elif isinstance(value, list):
        for each in value:
            yield from strings_in(each)
    else:
        yield str(value)


class Recipes(unittest.TestCase):
    @unittest.skipUnless(shutil.which("shellcheck"), "needs shellcheck")
    def test_shell_parts_and_scripts_have_no_flaws_that_shellcheck_knows(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [
                path for path in sorted((ROOT / "scripts").iterdir())
                if path.is_file() and path.read_bytes().startswith(b"#!/usr/bin/env bash")
            ]
            self.assertGreater(len(files), 5)
            for number, (name, shell, text) in enumerate(shell_parts()):
                files.append(Path(folder, f"{number} {name.replace('/', ' ')}"))
                files[-1].write_text(f"#!/bin/{shell}\n{text}\n", encoding="utf-8")
            answer = subprocess.run(
                ["shellcheck", *files], capture_output=True, text=True, check=False
            )
        self.assertEqual(answer.stdout, "")

    def test_scripts_exist(self):
        for path in (ACTION, *COMMENTS, GITLAB, ROOT / "ci" / "README.md"):
            for script in re.findall(r"\bscripts/[\w-]+", path.read_text(encoding="utf-8")):
                self.assertTrue(os.access(ROOT / script, os.X_OK), script)

    def test_what_is_to_be_copied_is_listed(self):
        readme = (ROOT / "ci" / "README.md").read_text(encoding="utf-8")
        files = [f"scripts/{name}" for name in COPIED]
        files += [str(path.relative_to(ROOT))
                  for path in (ACTION, GATES[0], COMMENTS[0], TRACK, GITLAB)]
        for file in files:
            self.assertRegex(readme, rf"(?m)^\|.*`{re.escape(file)}`")

    def test_examples_name_all_packages_that_their_builds_need(self):
        # make comes with what builds taskbench, but not if taskbench is in the cache.
        readme = (ROOT / "ci" / "README.md").read_text(encoding="utf-8")
        examples = [yaml.safe_load(text) for text in re.findall(r"```yaml\n(# .gitlab-ci.*?)```",
                                                                readme, re.DOTALL)]
        copied, component = examples[0]["taskbench-gate"]["variables"], (
            examples[1]["include"][0]["inputs"])
        for packages in (copied["GATE_PACKAGES"], component["packages"]):
            self.assertLessEqual({"g++", "make", "cmake"}, set(packages.split()))
        self.assertLessEqual({"GATE_TASKBENCH_REPOSITORY", "GATE_TASKBENCH_REVISION"}, set(copied))
        self.assertLessEqual({"repository", "revision"}, set(component))

    def test_an_image_is_built_without_what_is_configured_for_another_folder(self):
        self.assertIn("COPY . /taskbench", (ROOT / "ci/Containerfile").read_text(encoding="utf-8"))
        left_out = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        self.assertLessEqual({"/build/", "/.cache/"}, set(left_out))

    def test_options_are_those_of_gate_pr_and_of_the_gate(self):
        of_script = re.findall(r"(?m)^    (--[\w-]+)\)", (ROOT / "scripts/gate-pr").read_text())
        self.assertIn("--taskbench", of_script)
        of_gate = "".join(path.read_text() for path in (ROOT / "cli").glob("*/*.cpp"))
        calls = (steps()["Build the base"]["run"], steps()["Compare"]["run"],
                 gitlab_script("taskbench-gate"))
        for text in calls:
            call = text[re.search(r"gate-pr\b", text).start():].split("; then")[0].split("||")[0]
            script, gate = re.split(r"\s--\s", call)
            for option in re.findall(r"(?<![\w-])--[a-z-]+", script):
                self.assertIn(option, of_script)
            for option in re.findall(r"(?<![\w-])--[a-z-]+", gate):
                self.assertIn(f'"{option}"', of_gate)

    def test_every_input_is_used_and_no_other(self):
        action = parsed(ACTION)
        used = set(re.findall(r"inputs\.([\w-]+)", ACTION.read_text(encoding="utf-8")))
        self.assertEqual(used, set(action["inputs"]))
        for path in (*GATES, TRACK):
            for step in parsed(path)["jobs"]["gate"]["steps"][1:]:
                self.assertLessEqual(set(step.get("with", {})), set(action["inputs"]))
        # Inputs that are commented out count, too.
        for name in re.findall(r"(?m)^ +# ([\w-]+): ", GATES[0].read_text(encoding="utf-8")):
            self.assertIn(name, action["inputs"])

    def test_every_variable_of_gitlab_is_used_and_no_other(self):
        job = parsed(GITLAB)["taskbench-gate"]
        text = gitlab_script("taskbench-gate", "before_script") + gitlab_script("taskbench-gate")
        self.assertEqual(
            set(re.findall(r"GATE_[A-Z_]+", text)),
            {name for name in job["variables"] if name.startswith("GATE_")},
        )

    def test_what_decides_runs_whatever_came_before(self):
        for name in ("Summary", "Artifact", "Verdict"):
            self.assertEqual(steps()[name]["if"], "always()")
        jobs = parsed(GITLAB)
        self.assertEqual(jobs["taskbench-gate"]["artifacts"]["when"], "always")
        self.assertEqual(jobs["taskbench-gate"]["allow_failure"]["exit_codes"], [3])
        self.assertEqual(jobs["taskbench-comment"]["rules"][0]["when"], "always")
        self.assertIs(jobs["taskbench-comment"]["allow_failure"], True)

    def test_this_repository_uses_what_it_gives_others(self):
        for given, own in zip((GATES[0], COMMENTS[0]), (GATES[1], COMMENTS[1])):
            given, own = parsed(given), parsed(own)
            for job in given["jobs"].values():
                for step in job["steps"]:
                    if "taskbench-gate" in step.get("uses", ""):
                        step.clear()
                        step["uses"] = "./"
                        step["with"] = {"counters": "instructions-exact"}
            self.assertEqual(given, own)


class Security(unittest.TestCase):
    def test_actions_are_named_by_their_commit(self):
        for path in (ACTION, *WORKFLOWS):
            for action, comment in re.findall(
                r"(?m)^ +(?:- )?uses: (\S+)(.*)$", path.read_text(encoding="utf-8")
            ):
                if not action.startswith("./"):
                    self.assertRegex(action, r"^[\w/-]+@[0-9a-f]{40}$", path)
                    self.assertRegex(comment, r"^ # v\d+\.\d+\.\d+$", path)

    def test_no_checkout_leaves_its_token_on_the_disk(self):
        checkouts = [
            step for path in (ACTION, *WORKFLOWS)
            for step in (parsed(path)["runs"]["steps"] if path == ACTION
                         else steps_of(parsed(path)))
            if step.get("uses", "").startswith("actions/checkout@")
        ]
        self.assertGreaterEqual(len(checkouts), 5)
        for step in checkouts:
            self.assertIs(step["with"]["persist-credentials"], False)

    def test_the_jobs_that_run_the_requests_code_have_no_token(self):
        for path in (*GATES, OWN / "ci.yml"):
            workflow = parsed(path)
            self.assertEqual(workflow["permissions"], {"contents": "read"})
            self.assertNotIn("pull_request_target", workflow[True])  # YAML's "on"
            for job in workflow["jobs"].values():
                self.assertNotIn("permissions", job)
        jobs = parsed(GITLAB)
        named = "\n".join(strings_in([
            parsed(ACTION), [parsed(path) for path in GATES], jobs["taskbench-gate"]]))
        for token in ("github.token", "secrets.", "GITHUB_TOKEN", "GH_TOKEN", "_TOKEN"):
            self.assertNotIn(token, named)
        self.assertNotIn("environment", jobs["taskbench-gate"])
        self.assertEqual(jobs["taskbench-comment"]["environment"]["name"], "taskbench-comment")

    def test_the_jobs_that_have_a_token_run_nothing_of_the_request(self):
        for path in COMMENTS:
            workflow = parsed(path)
            self.assertEqual(list(workflow[True]), ["workflow_run"])
            gate = parsed(GATES[0])["name"]
            self.assertEqual(workflow[True]["workflow_run"]["workflows"], [gate])
            self.assertEqual(workflow["permissions"], {})
            self.assertEqual(workflow["jobs"]["comment"]["permissions"], {
                "actions": "read", "contents": "read", "pull-requests": "write",
            })
            checkout, download, script = steps_of(workflow)
            self.assertEqual(set(checkout["with"]), {"persist-credentials"})  # the default branch
            self.assertTrue(download["with"]["path"].startswith("${{ runner.temp }}/"))
            self.assertTrue(script["run"].startswith("scripts/gate-comment "))
        job = parsed(GITLAB)["taskbench-comment"]
        self.assertEqual(job["variables"]["GIT_STRATEGY"], "none")
        self.assertIn('--branch "$CI_DEFAULT_BRANCH"', gitlab_script("taskbench-comment"))
        ran = [line.split()[0] for line in job["script"]]
        self.assertEqual(ran, ["apt-get", "rm", "if", "trusted/scripts/gate-comment"])

    def test_nothing_is_pasted_into_the_text_of_a_script(self):
        for path in (ACTION, *WORKFLOWS):
            parts = parsed(path)["runs"]["steps"] if path == ACTION else steps_of(parsed(path))
            for step in parts:
                self.assertNotIn("${{", step.get("run", ""), path)
        for _, _, text in shell_parts():
            self.assertNotRegex(text, r"\beval\b")

    def test_a_gate_of_a_text_that_was_edited_hides_and_ends_no_other(self):
        for path in GATES:
            workflow = parsed(path)
            types = workflow[True]["pull_request"]["types"]
            self.assertEqual(types, ["opened", "synchronize", "reopened", "edited"])
            job = workflow["jobs"]["gate"]
            self.assertEqual(job["if"], IS_MEASURED)
            self.assertIn(f"({IS_MEASURED}) && 'Slower?' || '", job["name"])
            self.assertIn(f"({IS_MEASURED}) && ", workflow["concurrency"]["group"])
            self.assertTrue(workflow["concurrency"]["group"].endswith("|| github.run_id }}"))

    def test_a_merge_queue_gets_the_check_that_it_may_require(self):
        for path in (*GATES, ROOT / "ci/github/gate-parts.yml"):
            workflow = parsed(path)
            self.assertIn("merge_group", workflow[True])
            # One group of all in the queue would cancel all but the last.
            self.assertTrue(workflow["concurrency"]["group"].startswith(
                "gate-${{ github.event.pull_request.number || github.run_id }}"))
            base = (parsed(ACTION)["inputs"]["base"]["default"] if path in GATES else
                    workflow["jobs"]["build"]["steps"][-3]["env"]["BASE"])
            self.assertTrue(base.startswith("${{ github.event.merge_group.base_sha || "), base)
        readme = (ROOT / "ci/README.md").read_text(encoding="utf-8")
        one_step = yaml.safe_load(re.search(r"```yaml\n(.*?)```", readme, re.DOTALL).group(1))
        self.assertEqual(list(one_step[True]), ["pull_request", "merge_group", "push"])

    def test_the_request_is_checked_out_merged_so_that_old_ones_have_the_recipe(self):
        for path in GATES:
            checkout = parsed(path)["jobs"]["gate"]["steps"][0]
            self.assertEqual(checkout["with"], {"fetch-depth": 0, "persist-credentials": False})


class ShellParts(unittest.TestCase):
    """The shell parts, run in a folder with a comment."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.calls = self.folder / "calls"
        self.calls.touch()
        self.output = self.folder / "output"
        for tool in TOOLS:
            self.stand_in(f"bin/{tool}")

    def stand_in(self, name, body=""):
        """Makes a command that records its arguments, each in angle brackets."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        note = f'{{ printf "{path.name}"; printf "<%s>" "$@"; echo; }} >>"{self.calls}"'
        path.write_text(f"#!/bin/bash\n{note}\n{body}\n")
        path.chmod(0o755)

    def run_part(self, shell, text, **environment):
        # The options with which GitHub calls bash, and GitLab sh.
        options = ["--noprofile", "--norc", "-e", "-o", "pipefail"] if shell == "bash" else ["-e"]
        return subprocess.run(
            [shutil.which(shell), *options, "-c", text], cwd=self.folder, capture_output=True,
            text=True, check=False,
            env={"PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.folder),
                 "RUNNER_TEMP": "temp", "GITHUB_OUTPUT": str(self.output),
                 "GITHUB_WORKSPACE": str(self.folder),
                 "GITHUB_ACTION_PATH": str(self.folder / ".github/actions/taskbench-gate"),
                 **environment},
        )

    def only_in_bin(self, *names):
        """Returns a PATH with these commands of the system, and with the stand-ins."""
        for name in names:
            (self.bin / name).symlink_to(shutil.which(name))
        return str(self.bin)

    def called(self):
        return self.calls.read_text().splitlines()

    def step(self, name, **environment):
        """Runs a step with its own environment, except values that are expressions."""
        step = steps()[name]
        given = {key: "" for key in step.get("env", {})}
        if "SCRIPTS" in given:
            given["SCRIPTS"] = "scripts"
        of_runner = {"ImageOS", "ImageVersion", "GITHUB_ACTION_PATH", "PATH"}
        self.assertLessEqual(set(environment), set(given) | of_runner)
        answer = self.run_part("bash", step["run"], **{**given, **environment})
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return self.output.read_text() if self.output.exists() else ""

    INPUTS = {
        "BASE": "origin/main", "HEAD": "abc", "BUDGET": "5m", "DELTA": "3%", "TITLE": "my bench",
        "INCONCLUSIVE": "pass", "FOLDER": "gate", "REQUEST": "7",
    }
    COMPARED = (
        "gate-pr<--base><origin/main><--head><abc><--out><gate>{}<--><--budget><5m><--delta><3%>"
        "<--inconclusive><pass><--title><my bench>{}"
    )

    def test_github_compare_hands_its_inputs_on(self):
        self.stand_in("scripts/gate-pr", "mkdir gate; exit 1")
        self.assertEqual(self.step("Compare", **self.INPUTS), "status=1\n")
        self.assertEqual(self.called(), [self.COMPARED.format("", "")])
        self.assertEqual((self.folder / "gate/request").read_text(), "7\n")

    def test_github_compare_of_another_project(self):
        self.stand_in("scripts/gate-pr")
        self.step(
            "Compare", **self.INPUTS, BUILD="make 'a b' $(x)", PROGRAM="out/bench --x",
            TASKBENCH="taskbench", OUTPUTS="plugins", WORKLOAD="a b", ALPHA="5%", MIN_TIME="1ms",
            COUNTERS="instructions-exact", DOCUMENTATION="doc/**", FOLDER_OF_RUN="data",
            ACKNOWLEDGE="fences", KIND="lines", JUDGE="peak_memory_bytes=5%", CHANGED_FIRST="a *,b",
        )
        self.assertEqual(self.called(), [self.COMPARED.format(
            "<--taskbench><taskbench>",
            "<--build><make 'a b' $(x)><--program><out/bench --x>"
            "<--kind><lines><--outputs><plugins>"
            "<--workload><a b><--documentation><doc/**><--cwd><data><--alpha><5%><--min-time><1ms>"
            "<--counters><instructions-exact><--acknowledge><fences>"
            "<--judge><peak_memory_bytes=5%><--changed-first><a *,b>")])
        self.assertFalse((self.folder / "gate").exists())

    def test_github_explains_a_failure_unless_it_is_told_not_to(self):
        self.assertEqual(parsed(ACTION)["inputs"]["explain"]["default"], "true")
        self.assertEqual(steps()["Compare"]["env"]["EXPLAIN"],
                         "${{ inputs.explain == 'true' && 'yes' || '' }}")
        self.stand_in("scripts/gate-pr")
        self.step("Compare", **self.INPUTS, EXPLAIN="yes")
        (call,) = self.called()
        self.assertIn("<--out><gate><--explain><-->", call)

    def test_github_installs_what_counts_and_plots_also_if_nothing_is_explained(self):
        self.stand_in("scripts/gate-pr")
        for result in ("exit 0", "exit 1"):  # without the packages, there is a verdict all the same
            self.stand_in("bin/sudo", result)
            for missing in TOOLS:
                (self.bin / missing).unlink()
                self.calls.write_text("")
                self.step("Compare", **self.INPUTS, PATH=self.only_in_bin())
                self.stand_in(f"bin/{missing}")
                install = ["sudo<apt-get><-q><-y><install><valgrind><binutils><gnuplot-nox>"]
                self.assertEqual(self.called()[:-1], ["sudo<apt-get><-q><update>"] +
                                 (install if result == "exit 0" else []))
                self.assertIn("gate-pr<", self.called()[-1])

    def test_github_keeps_the_base_that_was_built(self):
        self.stand_in("scripts/gate-pr", "echo built base c0")
        text = self.step("Build the base", BASE="c0", HEAD="c1", BUILD="make -j2",
                         PROGRAM="out/bench", DOCUMENTATION="doc/**")
        self.assertEqual(text, "built=true\n")
        self.assertEqual(self.called(), [
            "gate-pr<--base><c0><--head><c1><--build-base><--out><temp/taskbench-base><-->"
            "<--build><make -j2><--program><out/bench><--documentation><doc/**>"])
        self.output.unlink()
        for what in ("exit 5", "exit 0"):  # it failed, or nothing had to be built
            self.stand_in("scripts/gate-pr", what)
            self.assertEqual(self.step("Build the base", BASE="c0", HEAD="c1"), "")

    def test_github_keys_of_the_cache_tell_apart_what_must_not_be_mixed(self):
        self.stand_in("bin/git", "echo c0ffee")

        def keys(**environment):
            self.output.unlink(missing_ok=True)
            return self.step("Keys", BASE="b", HEAD="h", **environment)

        text = keys(BUILD="make", ImageOS="ubuntu24")
        self.assertRegex(
            text, r"^base=c0ffee\nbuild=[0-9a-f]{16}\nsystem=\S*ubuntu24\S*\nscripts=scripts\n"
                  r"package=\n$")
        self.assertEqual(text, keys(BUILD="make", ImageOS="ubuntu24"))
        self.assertNotEqual(text, keys(BUILD="make x", ImageOS="ubuntu24"))
        self.assertNotEqual(text, keys(BUILD="make", ImageOS="ubuntu26"))
        self.stand_in("bin/git", "exit 128")
        self.assertIn("base=\n", keys(BUILD="make"))
        restore, save = (steps()[name]["with"] for name in (
            "The base's build from the cache", "Keep the base's build"))
        self.assertEqual(restore, save)
        parts = [f"steps.keys.outputs.{part}" for part in ("system", "base", "build")]
        for part in ("inputs.artifact", *parts):
            self.assertIn(f"${{{{ {part} }}}}", restore["key"])

    def test_gitlab_keeps_the_cache_of_each_request_and_job_apart(self):
        package, base = (cache["key"] for cache in parsed(GITLAB)["taskbench-gate"]["cache"])
        for key in (package, base):
            self.assertIn("$CI_MERGE_REQUEST_IID", key)
        self.assertIn("$GATE_TASKBENCH_REVISION", package)
        self.assertIn("$CI_JOB_NAME_SLUG", base)
        self.assertIn("$CI_MERGE_REQUEST_DIFF_BASE_SHA", base)

    def test_github_installs_the_taskbench_that_is_asked_for(self):
        self.stand_in("scripts/install-taskbench")
        self.step("Install taskbench", REPOSITORY="https://x/y z", REVISION="f00", PACKAGE="f00")
        self.assertEqual(self.called(), [
            "install-taskbench<--repository><https://x/y z><--revision><f00>"
            f"<--cache><{self.folder}/.cache/taskbench-package>"])

    def test_github_action_of_taskbenchs_repository_brings_scripts_and_sources_along(self):
        with tempfile.TemporaryDirectory() as elsewhere:
            action = Path(elsewhere)
            keys = {"BASE": "b", "HEAD": "h", "GITHUB_ACTION_PATH": elsewhere}
            self.stand_in(action / "scripts/gate-pr")
            self.stand_in(action / "scripts/install-taskbench")

            def key(**environment):
                self.output.unlink(missing_ok=True)
                text = self.step("Keys", **{**keys, **environment})
                self.assertIn(f"\nscripts={action / 'scripts'}\n", text)
                return text.splitlines()[-1]

            package = key()
            self.assertRegex(package, r"^package=[0-9a-f]{40}$")
            self.assertEqual(key(), package)
            (action / "a source.cpp").write_text("int x;")
            self.assertNotEqual(key(), package)
            package = key()
            self.stand_in(action / "build/package/built by an earlier gate")
            self.assertEqual(key(), package)
            self.assertEqual(key(REVISION="f00"), "package=f00")
            self.assertEqual(key(TASKBENCH="/usr/bin/taskbench"), "package=")
            self.calls.write_text("")
            self.step("Install taskbench", PACKAGE="f00", SCRIPTS=str(action / "scripts"),
                      GITHUB_ACTION_PATH=elsewhere)
            self.assertEqual(self.called(), [
                f"install-taskbench<--source><{elsewhere}><--revision><f00>"
                f"<--cache><{self.folder}/.cache/taskbench-package>"])
            # Its sources are not those of another commit.
            self.step("Install taskbench", REVISION="f00", PACKAGE="f00",
                      SCRIPTS=str(action / "scripts"), GITHUB_ACTION_PATH=elsewhere)
            self.assertIn("<--repository><><--revision><f00>", self.called()[-1])

    def test_github_action_in_its_own_repository_builds_the_judge_from_the_base(self):
        self.stand_in("scripts/gate-pr")
        self.stand_in("bin/git", "echo c0ffee")
        text = self.step("Keys", BASE="b", HEAD="h", GITHUB_ACTION_PATH=f"{self.folder}/./")
        self.assertEqual(text.splitlines()[-1], "package=")

    def test_a_taskbench_that_cannot_be_installed_ends_no_job_before_its_comment(self):
        steps_by_name = steps()
        self.assertIs(steps_by_name["Install taskbench"]["continue-on-error"], True)
        self.assertIn("steps.install.outcome == 'success'", steps_by_name["Keep taskbench"]["if"])
        self.stand_in("bin/apt-get")
        self.stand_in("scripts/install-taskbench", "exit 1")
        variables = {**parsed(GITLAB)["taskbench-gate"]["variables"],
                     "GATE_TASKBENCH_REVISION": "f00"}
        before = gitlab_script("taskbench-gate", "before_script")
        answer = self.run_part("sh", f"{before}\necho \"<$GATE_TASKBENCH>\"", **variables)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("could not be installed", answer.stdout)
        self.assertTrue(answer.stdout.endswith("<taskbench>\n"))

    def test_github_summary_is_the_comment_where_there_is_one(self):
        summary = self.folder / "summary"
        text = steps()["Summary"]["run"]
        for comment in (None, "### PASS\n"):
            if comment:
                (self.folder / "gate").mkdir()
                (self.folder / "gate/comment.md").write_text(comment)
            answer = self.run_part(
                "bash", text, FOLDER="gate", GITHUB_STEP_SUMMARY=str(summary))
            self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(summary.read_text(), "### PASS\n")
        (self.folder / "gate/comment.md").write_text("x" * 2**21)
        self.run_part("bash", text, FOLDER="gate", GITHUB_STEP_SUMMARY=str(summary))
        self.assertLess(summary.stat().st_size, 2**20)

    def test_github_hands_what_was_measured_to_a_tracker_that_is_named(self):
        [push] = [step for step in steps_of(parsed(TRACK)) if "run" in step]
        # The first push to a branch has no commit before it.
        job = parsed(TRACK)["jobs"]["gate"]
        self.assertEqual(job["if"], f"github.event.before != '{'0' * 40}'")
        self.stand_in("bin/curl")
        url = "http://metrics.example.org"
        for gateway, is_measured in (("", True), (url, False), (url, True)):
            if is_measured:
                (self.folder / "taskbench-gate").mkdir(exist_ok=True)
                (self.folder / "taskbench-gate/gate.openmetrics").write_text("# EOF\n")
            else:
                shutil.rmtree(self.folder / "taskbench-gate")
            answer = self.run_part("bash", push["run"], PUSHGATEWAY=gateway)
            self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(self.called(), [
            "curl<--fail><--silent><--show-error><--data-binary>"
            f"<@taskbench-gate/gate.openmetrics><{url}/metrics/job/taskbench>"])

    def test_github_ends_as_the_gate_did(self):
        for status, expected in (("0", 0), ("1", 1), ("5", 5), ("", 2)):
            answer = self.run_part("bash", steps()["Verdict"]["run"], STATUS=status)
            self.assertEqual(answer.returncode, expected)

    def gitlab_gate(self, **variables):
        self.stand_in("scripts/gate-pr", "exit 3")
        given = {
            "CI_COMMIT_SHA": "abc", "CI_MERGE_REQUEST_DIFF_BASE_SHA": "base", "CI_PIPELINE_ID": "7",
            **parsed(GITLAB)["taskbench-gate"]["variables"], **variables,
        }
        self.calls.write_text("")
        answer = self.run_part("sh", gitlab_script("taskbench-gate"), **given)
        self.assertEqual(answer.returncode, 3, answer.stderr)
        return self.called()[-1]

    def test_gitlab_compares_with_the_commit_that_the_request_left(self):
        common = ("<--out><taskbench-gate/7><--explain><-->"
                  "<--budget><5m><--delta><3%><--title><taskbench>")
        self.assertEqual(self.gitlab_gate(), f"gate-pr<--base><base><--head><abc>{common}")
        merged = self.gitlab_gate(CI_MERGE_REQUEST_SOURCE_BRANCH_SHA="source")
        self.assertEqual(merged, f"gate-pr<--base><base><--head><source>{common}")

    def test_gitlab_comments_on_no_file_of_another_pipeline_or_gate(self):
        self.stand_in("bin/apt-get")
        self.stand_in("bin/git", "mkdir -p trusted/scripts && printf '#!/bin/sh\\necho \"$*\"\\n' "
                                 ">trusted/scripts/gate-comment && chmod +x trusted/scripts/*")
        given = parsed(GITLAB)["taskbench-comment"]["variables"]
        answer = self.run_part("sh", gitlab_script("taskbench-comment"), **given,
                               CI_DEFAULT_BRANCH="main", CI_REPOSITORY_URL="u", CI_PIPELINE_ID="7")
        self.assertEqual(
            answer.stdout, "--folder taskbench-gate/7 --marker taskbench-gate gitlab\n")
        (self.folder / "taskbench-gate/7").mkdir(parents=True)
        self.run_part("sh", gitlab_script("taskbench-comment", "after_script"))
        self.assertFalse((self.folder / "taskbench-gate").exists())

    def test_gitlab_compares_another_project(self):
        call = self.gitlab_gate(
            GATE_TASKBENCH="taskbench", GATE_BUILD="make 'a b'; $(x)", GATE_PROGRAM="out/bench",
            GATE_ALPHA="5%", GATE_MIN_TIME="1ms", GATE_WORKLOAD="a", GATE_COUNTERS="c",
            GATE_OUTPUTS="o", GATE_KIND="lines", GATE_JUDGE="peak_memory_bytes=5%",
            GATE_CHANGED_FIRST="a *",
        )
        self.assertIn("<--taskbench><taskbench><--explain><-->", call)
        self.assertTrue(call.endswith(
            "<--build><make 'a b'; $(x)><--program><out/bench><--kind><lines><--outputs><o>"
            "<--workload><a>"
            "<--alpha><5%><--min-time><1ms><--counters><c><--judge><peak_memory_bytes=5%>"
            "<--changed-first><a *>"), call)

    def component(self, **given):
        """Returns its inputs, and its jobs with these: GitLab pastes values as text, then
        parses."""
        header, text = COMPONENT.read_text(encoding="utf-8").split("---\n")
        inputs = yaml.safe_load(header)["spec"]["inputs"]
        for name, each in inputs.items():
            value = given.get(name.replace("-", "_"), each.get("default", ""))
            text = text.replace(f"$[[ inputs.{name} ]]", value)
        self.assertNotIn("$[[", text)
        return inputs, yaml.safe_load(text)

    def test_the_gitlab_component_hands_its_inputs_on_to_the_recipe_as_they_are(self):
        odd = {"repository": "https://x/y.git", "revision": "0" * 40, "program": "out/b --x",
               "build": 'make "a: b" # c', "changed_first": "*sort*", "documentation": "**.md",
               "judge": "a=5%", "explain": ""}
        inputs, jobs = self.component(**odd)
        self.assertEqual({name for name, each in inputs.items() if "default" not in each},
                         {"repository", "revision", "build", "program"})
        self.assertEqual(jobs["include"], [{"local": f"/{GITLAB.relative_to(ROOT)}"}])
        recipe = parsed(GITLAB)["taskbench-gate"]["variables"]
        variables = jobs["taskbench-gate"]["variables"]
        self.assertEqual(set(recipe) - set(variables), {"GIT_DEPTH", "XDG_CACHE_HOME",
                                                        "GATE_TASKBENCH"})
        self.assertLessEqual(set(variables), set(recipe))
        prefixes = {"repository": "GATE_TASKBENCH_", "revision": "GATE_TASKBENCH_"}
        for name in inputs:
            variable = prefixes.get(name, "GATE_") + name.upper().replace("-", "_")
            usual = recipe[variable]
            self.assertEqual(variables[variable], odd.get(name.replace("-", "_"), usual), variable)
        comment = jobs["taskbench-comment"]["variables"]
        self.assertEqual(comment, {"GATE_TASKBENCH_REPOSITORY": odd["repository"],
                                   "GATE_TASKBENCH_REVISION": odd["revision"]})
        self.assertLessEqual(set(comment), set(parsed(GITLAB)["taskbench-comment"]["variables"]))

    def test_the_gitlab_component_calls_what_it_has_fetched(self):
        _, jobs = self.component(repository="the repository", revision="0" * 40)
        scripts = ".cache/taskbench-source/scripts"
        self.stand_in("bin/apt-get")
        self.stand_in("bin/git", f"mkdir -p {scripts}; for name in gate-pr install-taskbench; do "
                                 f"printf '#!/bin/sh\\necho fetched $(basename $0) >>calls\\n' "
                                 f">{scripts}/$name; chmod +x {scripts}/$name; done")
        variables = {**parsed(GITLAB)["taskbench-gate"]["variables"],
                     **jobs["taskbench-gate"]["variables"],
                     "CI_COMMIT_SHA": "abc", "CI_MERGE_REQUEST_DIFF_BASE_SHA": "base",
                     "CI_PIPELINE_ID": "7"}
        answer = self.run_part(
            "sh", gitlab_script("taskbench-gate", "before_script") + "\n" +
            gitlab_script("taskbench-gate"), **variables)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("<clone><--quiet><--><the repository><.cache/taskbench-source>",
                      self.calls.read_text())
        self.assertEqual(self.called()[-2:], ["fetched install-taskbench", "fetched gate-pr"])

    def test_gitlab_installs_the_taskbench_that_is_asked_for(self):
        for name in ("bin/apt-get", "bin/git", "scripts/install-taskbench"):
            self.stand_in(name)
        before = gitlab_script("taskbench-gate", "before_script")
        given = {**parsed(GITLAB)["taskbench-gate"]["variables"],
                 "PATH": self.only_in_bin("xargs")}
        tools = "<ca-certificates><git><valgrind><binutils><gnuplot-nox>"
        for missing in ("git", *TOOLS, None):
            if missing:
                (self.bin / missing).unlink()
            self.calls.write_text("")
            answer = self.run_part("sh", f"{before}\necho \"<$GATE_TASKBENCH>\"", **given)
            self.assertEqual((answer.returncode, answer.stdout), (0, "<>\n"), answer.stderr)
            install = f"apt-get<-q><-y><install><--no-install-recommends>{tools}"
            self.assertEqual(self.called(),
                             ["apt-get<-q><update>", install] if missing else [], missing)
            if missing:
                self.stand_in(f"bin/{missing}")
        given.update(
            GATE_TASKBENCH_REPOSITORY="u", GATE_TASKBENCH_REVISION="f00", GATE_PACKAGES="g++ make",
        )
        answer = self.run_part("sh", f"{before}\necho \"<$GATE_TASKBENCH>\"", **given)
        self.assertEqual((answer.returncode, answer.stdout), (0, "<taskbench>\n"), answer.stderr)
        self.assertTrue(self.called()[-2].endswith(f"{tools}<g++><make>"))
        self.assertEqual(
            self.called()[-1], "install-taskbench<--repository><u><--revision><f00>"
            "<--cache><.cache/taskbench-package>")


if __name__ == "__main__":
    unittest.main(verbosity=2)
