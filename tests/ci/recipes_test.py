#!/usr/bin/env python3
"""The recipes in ci/: that they parse, that what they name exists, and that their shell parts do
what they should, with stand-ins for what they call. Needs python3-yaml."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / "ci" / "github" / "action.yml"
WORKFLOWS = (ROOT / "ci" / "github" / "gate.yml", ROOT / ".github" / "workflows" / "gate.yml")
GITLAB = ROOT / "ci" / "gitlab" / "gate.gitlab-ci.yml"
MARKER = "<!-- taskbench-gate -->"


def parsed(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps():
    return {step["name"]: step for step in parsed(ACTION)["runs"]["steps"]}


def gitlab_job():
    return parsed(GITLAB)["taskbench-gate"]


def shell_parts():
    """Name, shell and text of each."""
    for name, step in steps().items():
        if "run" in step:
            yield name, "bash", step["run"]
    for part in ("before_script", "script", "after_script"):
        yield part, "sh", "\n".join(gitlab_job()[part])


class Recipes(unittest.TestCase):
    def test_shell_parts_parse(self):
        for name, shell, text in shell_parts():
            with self.subTest(name):
                subprocess.run([shell, "-n", "-c", text], check=True)

    @unittest.skipUnless(shutil.which("shellcheck"), "needs shellcheck")
    def test_shell_parts_have_no_flaws_that_shellcheck_knows(self):
        for name, shell, text in shell_parts():
            with self.subTest(name):
                answer = subprocess.run(
                    ["shellcheck", "--shell", shell, "-"], input=text, capture_output=True,
                    text=True, check=False,
                )
                self.assertEqual(answer.stdout, "")

    def test_scripts_exist(self):
        for path in (ACTION, GITLAB, ROOT / "ci" / "README.md"):
            for script in re.findall(r"\bscripts/[\w-]+", path.read_text(encoding="utf-8")):
                self.assertTrue(os.access(ROOT / script, os.X_OK), script)

    def test_options_are_those_of_gate_pr_and_of_the_gate(self):
        of_script = re.findall(r"(?m)^    (--\w+)\)", (ROOT / "scripts/gate-pr").read_text())
        self.assertIn("--taskbench", of_script)
        of_gate = "".join(
            (ROOT / "cli" / name).read_text()
            for name in ("paired_options.cpp", "verdict_options.cpp")
        )
        gitlab = [line for line in gitlab_job()["script"] if "gate-pr" in line]
        for text in (steps()["Compare"]["run"], *gitlab):
            named = re.findall(r"(?<![\w-])--[a-z]+", text)
            self.assertIn("--base", named)
            for option in named:
                self.assertTrue(option in of_script or f'"{option}"' in of_gate, option)

    def test_every_input_is_used_and_no_other(self):
        action = parsed(ACTION)
        used = set(re.findall(r"inputs\.(\w+)", ACTION.read_text(encoding="utf-8")))
        self.assertEqual(used, set(action["inputs"]))
        for path in WORKFLOWS:
            for step in parsed(path)["jobs"]["gate"]["steps"][1:]:
                self.assertLessEqual(set(step.get("with", {})), set(action["inputs"]))

    def test_workflows_ask_for_no_more_rights_than_they_need(self):
        for path in WORKFLOWS:
            workflow = parsed(path)
            self.assertEqual(
                workflow["permissions"], {"contents": "read", "pull-requests": "write"}
            )
            self.assertEqual(list(workflow[True]), ["pull_request"])  # YAML's "on"
            checkout = workflow["jobs"]["gate"]["steps"][0]
            self.assertEqual(checkout["with"]["fetch-depth"], 0)
            self.assertIn("concurrency", workflow)

    def test_what_decides_runs_whatever_came_before(self):
        for name in ("Summary", "Artifact", "Comment", "Verdict"):
            self.assertTrue(steps()[name]["if"].startswith("always()"), name)
        self.assertEqual(gitlab_job()["artifacts"]["when"], "always")
        self.assertEqual(gitlab_job()["allow_failure"]["exit_codes"], [3])


class ShellParts(unittest.TestCase):
    """Run in a folder with a comment."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.calls = self.folder / "calls"
        self.calls.touch()
        (self.folder / "taskbench-gate").mkdir()
        self.comment = self.folder / "taskbench-gate" / "comment.md"
        self.comment.write_text(f"{MARKER}\n### PASS\n")

    def stand_in(self, name, body):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/bash\necho "{path.name} $*" >>"{self.calls}"\n{body}\n')
        path.chmod(0o755)

    def run_part(self, shell, text, **environment):
        # As GitHub calls bash, and GitLab sh.
        options = ["--noprofile", "--norc", "-e", "-o", "pipefail"] if shell == "bash" else ["-e"]
        return subprocess.run(
            [shell, *options, "-c", text], cwd=self.folder, capture_output=True, text=True,
            env={"PATH": f"{self.bin}:{os.environ['PATH']}", **environment}, check=False,
        )

    def called(self):
        return self.calls.read_text().splitlines()

    def compare(self, status=0, **inputs):
        self.stand_in("scripts/gate-pr", f"printf '<%s>' \"$@\" >>{self.calls}; exit {status}")
        values = {
            "BASE": "origin/main", "HEAD": "abc", "BUDGET": "5m", "DELTA": "3%", "BUILD": "",
            "PROGRAM": "", "COUNTERS": "", "TASKBENCH": "", "INCONCLUSIVE": "pass", **inputs,
        }
        output = self.folder / "output"
        answer = self.run_part(
            "bash", steps()["Compare"]["run"], GITHUB_OUTPUT=str(output), **values
        )
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(output.read_text(), f"status={status}\n")
        return self.called()[-1]

    def test_github_compare_hands_its_inputs_on(self):
        common = "<--base><origin/main><--head><abc><--out><taskbench-gate>"
        options = "<--budget><5m><--delta><3%><--inconclusive><pass>"
        self.assertEqual(self.compare(status=1), f"{common}<-->{options}")

    def test_github_compare_of_another_project(self):
        call = self.compare(BUILD="make 'a b'", PROGRAM="out/bench --x", TASKBENCH="taskbench")
        self.assertIn("<--out><taskbench-gate><--taskbench><taskbench><-->", call)
        self.assertTrue(call.endswith("<--build><make 'a b'><--program><out/bench --x>"), call)

    def test_github_compare_counts_instructions_where_valgrind_is_or_can_be_had(self):
        wanted = "<--inconclusive><pass><--counters><instructions-exact>"
        self.stand_in("bin/valgrind", "")
        self.stand_in("bin/sudo", "exit 1")
        self.assertTrue(self.compare(COUNTERS="instructions-exact").endswith(wanted))
        self.assertNotIn("sudo", self.calls.read_text())

    def post(self, listed=(), login="", fails=False):
        """With these comments on the pull request; without a login, who it is may not be asked."""
        self.stand_in(
            "bin/gh",
            'case "$*" in\n'
            '*" user "*) echo "${LOGIN:-{denied\\}}"; [[ -n $LOGIN ]]; exit ;;\n'
            '*--paginate*) jq -r "${@: -1}" <<<"$LISTED" ;;\n'
            'esac\nexit "$FAILS"',
        )
        return self.run_part(
            "bash", steps()["Comment"]["run"], GITHUB_REPOSITORY="o/r", NUMBER="7",
            RUNNER_TEMP=str(self.folder), LISTED=json.dumps(list(listed)), LOGIN=login,
            FAILS="1" if fails else "0",
        )

    @unittest.skipUnless(shutil.which("jq"), "needs jq")
    def test_github_posts_one_comment(self):
        self.assertEqual(self.post().returncode, 0)
        self.assertEqual(
            self.called()[-1],
            "gh api --method POST repos/o/r/issues/7/comments "
            "--field body=@taskbench-gate/comment.md",
        )

    @unittest.skipUnless(shutil.which("jq"), "needs jq")
    def test_github_updates_the_comment_that_is_there(self):
        ours = {"user": {"type": "Bot", "login": "b[bot]"}, "body": f"{MARKER}\n"}
        self.assertEqual(self.post([{"id": 42, **ours}, {"id": 43, **ours}]).returncode, 0)
        self.assertEqual(
            self.called()[-1],
            "gh api --method PATCH repos/o/r/issues/comments/42 "
            "--field body=@taskbench-gate/comment.md",
        )

    @unittest.skipUnless(shutil.which("jq"), "needs jq")
    def test_github_finds_its_comment_by_the_marker_and_its_author(self):
        person, bot = {"type": "User", "login": "p"}, {"type": "Bot", "login": "b[bot]"}
        comments = [
            {"id": 1, "user": {"type": "User", "login": "q"}, "body": f"{MARKER}\n"},
            {"id": 2, "user": bot, "body": f"> {MARKER}\n"},
            {"id": 3, "user": bot, "body": f"{MARKER}\n"},
            {"id": 4, "user": person, "body": "hello"},
            {"id": 5, "user": person, "body": f"{MARKER}\n"},
        ]
        for login, expected in (("", 3), ("p", 5)):
            self.assertEqual(self.post(comments, login).returncode, 0)
            patch = f"--method PATCH repos/o/r/issues/comments/{expected} "
            self.assertIn(patch, self.called()[-1])
        self.post(comments, "another")
        self.assertIn("--method POST ", self.called()[-1])

    @unittest.skipUnless(shutil.which("jq"), "needs jq")
    def test_github_cuts_a_comment_that_is_longer_than_github_takes(self):
        self.comment.write_text(f"{MARKER}\n" + 40_000 * "€", encoding="utf-8")
        self.assertEqual(self.post().returncode, 0)
        body = Path(self.called()[-1].rsplit("body=@", 1)[1])
        text = body.read_text(encoding="utf-8")
        self.assertTrue(text.startswith(f"{MARKER}\n€"))
        self.assertIn("cut here; all of it is in the artifact", text)
        self.assertLessEqual(len(text.encode()), 65_536)
        self.assertGreater(len(text.encode()), 64_000)

    def test_github_goes_on_without_a_comment_where_it_may_not_write(self):
        answer = self.post(fails=True)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("::notice::No comment", answer.stdout)

    def test_github_has_nothing_to_post_without_a_comment(self):
        self.comment.unlink()
        self.assertEqual(self.post().returncode, 0)
        self.assertEqual(self.called(), [])
        summary = str(self.folder / "summary")
        answer = self.run_part("bash", steps()["Summary"]["run"], GITHUB_STEP_SUMMARY=summary)
        self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_github_ends_as_the_gate_did(self):
        for status, expected in (("0", 0), ("1", 1), ("5", 5), ("", 2)):
            answer = self.run_part("bash", steps()["Verdict"]["run"], STATUS=status)
            self.assertEqual(answer.returncode, expected)

    def test_gitlab_calls_gate_pr(self):
        self.stand_in("scripts/gate-pr", f"printf '<%s>' \"$@\" >>{self.calls}; exit 3")
        self.stand_in("bin/git", "")
        answer = self.run_part(
            "sh", "\n".join(gitlab_job()["script"]), CI_COMMIT_SHA="abc",
            CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main",
            **{**gitlab_job()["variables"], "TASKBENCH_OPTIONS": "--build 'make all'"},
        )
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertEqual(
            self.called()[-1],
            "<--base><origin/gate-base><--head><abc><--out><taskbench-gate><-->"
            "<--budget><5m><--delta><3%><--build><make all>",
        )

    def note(self, listed="[]", token="t"):
        """With these notes on the merge request, which come in pages of 100."""
        self.stand_in(
            "bin/curl",
            'page=${@: -1} page=${page##*&page=}\n'
            'case "$*" in\n'
            '*per_page=100*) jq ".[$page * 100 - 100:$page * 100]" <<<"$LISTED" ;;\n'
            'esac',
        )
        answer = self.run_part(
            "sh", "\n".join(gitlab_job()["after_script"]), CI_API_V4_URL="https://x/api/v4",
            CI_PROJECT_ID="1", CI_MERGE_REQUEST_IID="7", LISTED=listed,
            TASKBENCH_GITLAB_TOKEN=token,
        )
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return self.called()

    @unittest.skipUnless(shutil.which("jq"), "needs jq")
    def test_gitlab_posts_one_note_and_updates_it(self):
        notes = "https://x/api/v4/projects/1/merge_requests/7/notes"
        data = "--data-urlencode body@taskbench-gate/comment.md"
        self.assertTrue(self.note()[-1].endswith(f"--request POST {data} {notes}"))
        listed = [{"id": 1, "body": "hello"}, {"id": 2, "body": f"{MARKER}\n"}]
        self.assertTrue(
            self.note(json.dumps(listed))[-1].endswith(f"--request PUT {data} {notes}/2")
        )

    @unittest.skipUnless(shutil.which("jq"), "needs jq")
    def test_gitlab_finds_its_note_behind_any_number_of_others(self):
        others = [{"id": i, "body": "hello"} for i in range(200)]
        for count in (99, 100, 200):
            listed = others[:count] + [{"id": 999, "body": f"{MARKER}\n"}]
            self.assertTrue(self.note(json.dumps(listed))[-1].endswith("/notes/999"), count)
            self.assertIn("--request POST", self.note(json.dumps(others[:count]))[-1])

    def test_gitlab_posts_nothing_without_a_token(self):
        self.assertEqual(self.note(token=""), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
