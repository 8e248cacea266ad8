#!/usr/bin/env python3
"""scripts/gate-comment, with a stand-in for the APIs of GitHub and GitLab on localhost."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "gate-comment"
MARKER = "<!-- taskbench-gate -->"
TOKEN = "token-of-the-comment-job"
SHA = "5" * 40


class Api(ThreadingHTTPServer):
    """Answers from `answers`, in pages, and records what was written."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = {}  # by path: an answer, or a list of rows
        self.written = []  # method, path, body
        self.tokens = set()
        self.status = {}  # by method: the status to fail with
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def answer(self, status, content):
        data = json.dumps(content).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", f"{self.server.url}/elsewhere")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_any(self):
        address = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(address.query)
        token = self.headers.get("PRIVATE-TOKEN", self.headers.get("Authorization"))
        self.server.tokens.add((address.path, token))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.command in self.server.status:
            return self.answer(self.server.status[self.command], {})
        content = json.loads(body) if body else None
        if content and "query" in content:
            return self.answer(200, {"data": {"viewer": {"login": "actions[bot]"}}})
        if content:
            self.server.written.append((self.command, address.path, content["body"]))
            return self.answer(200, {"id": 1})
        found = self.server.answers.get(address.path)
        if isinstance(found, list):
            if "head" in query:
                found = [row for row in found if row["label"] == query["head"][0]]
            size, page = (int(query[name][0]) for name in ("per_page", "page"))
            found = found[(page - 1) * size : page * size]
        return self.answer(404 if found is None else 200, found)

    do_GET = do_POST = do_PUT = do_PATCH = handle_any

    def log_message(self, *_):
        pass


class GateComment(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name) / "artifact"
        self.folder.mkdir()
        self.comment = self.folder / "comment.md"
        self.comment.write_text(f"{MARKER}\n### PASS\n")
        self.api = Api()
        self.addCleanup(self.api.server_close)
        self.addCleanup(self.api.shutdown)

    def run_script(self, *arguments, environment):
        return subprocess.run(
            [sys.executable, SCRIPT, "--folder", self.folder, *arguments],
            env={"PATH": os.environ["PATH"], **environment}, capture_output=True, text=True,
            cwd=self.folder.parent, timeout=60, check=False,
        )

    def posted(self, **options):
        """Returns what the service was given, in a single write."""
        answer = self.post(**options)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        ((method, path, body),) = self.api.written
        self.api.written.clear()
        return method, path, body

    def not_posted(self, says, status=0, **options):
        answer = self.post(**options)
        self.assertEqual(answer.returncode, status, answer.stderr)
        self.assertIn(says, answer.stdout + answer.stderr)
        self.assertEqual(self.api.written, [])


class OnGitHub(GateComment):
    COMMENTS = "/repos/o/r/issues/7/comments"

    def setUp(self):
        super().setUp()
        self.api.answers["/repos/o/r/pulls"] = [self.pull(7)]
        self.api.answers[self.COMMENTS] = []

    @staticmethod
    def pull(number, sha=SHA, repository="someone/fork"):
        return {
            "number": number, "label": f"{repository.split('/')[0]}:a/b&c",
            "head": {"sha": sha, "repo": {"full_name": repository}},
        }

    @staticmethod
    def written(identifier, login, body=f"{MARKER}\nold"):
        return {"id": identifier, "user": {"login": login}, "body": body}

    def post(self, *arguments, **environment):
        return self.run_script(*arguments, "github", environment={
            "GITHUB_API_URL": self.api.url, "GITHUB_GRAPHQL_URL": f"{self.api.url}/graphql",
            "GITHUB_REPOSITORY": "o/r", "GITHUB_TOKEN": TOKEN, "HEAD_SHA": SHA,
            "HEAD_REPOSITORY": "someone/fork", "HEAD_BRANCH": "a/b&c", **environment,
        })

    def test_posts_a_comment_on_the_request_of_a_fork(self):
        self.assertEqual(self.posted(), ("POST", self.COMMENTS, f"{MARKER}\n### PASS\n"))

    def test_updates_its_own_comment_and_no_other_with_the_marker(self):
        self.api.answers[self.COMMENTS] = [
            self.written(1, "person"),
            self.written(2, "other[bot]"),
            self.written(3, "actions[bot]", f"> {MARKER}\n"),
            self.written(4, "actions[bot]", "<!-- taskbench-gate-clang -->\n"),
            *(self.written(number, "person") for number in range(100, 250)),
            self.written(5, "actions[bot]", f"{MARKER}\r\nold"),
            self.written(6, "actions[bot]"),
        ]
        self.assertEqual(self.posted()[:2], ("PATCH", "/repos/o/r/issues/comments/5"))

    def test_the_marker_is_the_jobs_and_each_gate_has_its_own(self):
        self.comment.write_text("<!-- taskbench-gate -->\n<!-- another -->\nx <!-- y -->\n")
        self.api.answers[self.COMMENTS] = [self.written(1, "actions[bot]")]
        answer = self.post("--marker", "gate clang")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        ((method, _, body),) = self.api.written
        self.assertEqual(method, "POST")
        self.assertTrue(body.startswith("<!-- gate clang -->\n<"), body)
        self.assertEqual(body.count("<!--"), 1)
        for marker in ("a --> b", "a\nb", "", "$(x)"):
            self.assertEqual(self.post("--marker", marker).returncode, 2)

    def test_a_commit_that_is_no_longer_the_head_gets_no_comment(self):
        self.api.answers["/repos/o/r/pulls"] = [self.pull(7, sha="6" * 40)]
        self.not_posted("no longer the head of an open pull request")

    def test_another_repository_with_that_branch_gets_no_comment(self):
        self.api.answers["/repos/o/r/pulls"] = [self.pull(7, repository="someone/other")]
        self.not_posted("no longer the head of an open pull request")
        self.not_posted("no longer the head of an open pull request", HEAD_REPOSITORY="")

    def test_the_artifact_only_chooses_among_the_requests_of_this_head(self):
        (self.folder / "request").write_text("9\n")
        self.assertEqual(self.posted()[1], self.COMMENTS)
        self.api.answers["/repos/o/r/pulls"] += [self.pull(8)]
        self.not_posted("no longer the head")
        (self.folder / "request").write_text("7\n")
        self.assertEqual(self.posted()[1], self.COMMENTS)

    def test_cuts_what_is_longer_than_github_takes(self):
        self.comment.write_text(f"{MARKER}\n```\n" + 3_000 * f"{20 * '€'}\n", encoding="utf-8")
        _, _, body = self.posted()
        self.assertLessEqual(len(body.encode()), 65_000)
        self.assertGreater(len(body.encode()), 64_000)
        self.assertTrue(body.endswith(
            "€\n```\n\n(truncated here; the full text is in the artifact of the job)\n"
        ), body[-90:])
        self.assertTrue(body.startswith(f"{MARKER}\n```\n€"))
        self.assertNotIn("\ufffd", body)

    def test_what_github_refuses_is_said_and_the_token_is_not(self):
        self.api.status = {"POST": 403}
        answer = self.post()
        self.assertEqual(answer.returncode, 1)
        self.assertIn("not posted: POST", answer.stderr)
        self.assertIn("403", answer.stderr)
        self.assertNotIn(TOKEN, answer.stdout + answer.stderr)

    def test_the_token_does_not_follow_a_redirection(self):
        self.api.status = {"GET": 302}
        self.not_posted("302", status=1)
        self.assertNotIn("/elsewhere", {path for path, _ in self.api.tokens})

    def test_a_missing_variable_is_named(self):
        self.not_posted("HEAD_SHA is not set", status=1, HEAD_SHA="")


class OnGitLab(GateComment):
    REQUEST = "/projects/3/merge_requests/7"
    NOTES = f"{REQUEST}/notes"

    def setUp(self):
        super().setUp()
        self.api.answers[self.REQUEST] = {"sha": SHA}
        self.api.answers["/user"] = {"id": 50}
        self.api.answers[self.NOTES] = []

    @staticmethod
    def note(identifier, author, body=f"{MARKER}\nold"):
        return {"id": identifier, "author": {"id": author}, "body": body}

    def post(self, *arguments, **environment):
        return self.run_script(*arguments, "gitlab", environment={
            "CI_API_V4_URL": self.api.url, "CI_PROJECT_ID": "999", "CI_COMMIT_SHA": SHA,
            "CI_MERGE_REQUEST_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7",
            "TASKBENCH_GITLAB_TOKEN": TOKEN, **environment,
        })

    def test_posts_a_note_in_the_project_of_the_request(self):
        self.assertEqual(self.posted(), ("POST", self.NOTES, f"{MARKER}\n### PASS\n"))
        self.assertEqual({token for _, token in self.api.tokens}, {TOKEN})

    def test_updates_its_own_note_and_no_other_with_the_marker(self):
        self.api.answers[self.NOTES] = [
            self.note(1, 51), self.note(2, 50, f"hello\n{MARKER}"), *(
                self.note(number, 52) for number in range(100, 300)), self.note(3, 50),
        ]
        self.assertEqual(self.posted()[:2], ("PUT", f"{self.NOTES}/3"))
        self.api.answers[self.NOTES].pop()
        self.assertEqual(self.posted()[:2], ("POST", self.NOTES))

    def test_commands_mentions_and_controls_do_nothing_and_look_as_before(self):
        lines = ["/merge", "  /approve", "> /label ~x", "@all see #12, !3", "&#124; a/b # c"]
        self.comment.write_text("\n".join(lines) + "\x00\x1b[31m\r\n")
        _, _, body = self.posted()
        self.assertNotRegex(body, r"(?m)^[\s>]*/|@all|#12\b(?<!&#12)|!3|[\x00\x1b\r]")
        looks = body.replace("\u200b", "").splitlines()[1:]
        self.assertEqual(looks, [*lines[:-1], f"{lines[-1]}[31m"])
        self.assertIn("&#124; a/b # c", body)

    def test_without_a_token_nothing_is_posted(self):
        self.not_posted("TASKBENCH_GITLAB_TOKEN is not set", TASKBENCH_GITLAB_TOKEN="")

    def test_a_commit_that_is_no_longer_the_head_gets_no_note(self):
        self.not_posted("no longer the head of the merge request", CI_COMMIT_SHA="6" * 40)
        merged = {"CI_COMMIT_SHA": "6" * 40, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": SHA}
        self.assertEqual(self.posted(**merged)[0], "POST")

    def test_a_gate_without_a_comment_posts_nothing(self):
        self.comment.unlink()
        self.not_posted("the gate left no comment")
        self.folder.rmdir()
        self.not_posted("the gate left no comment")

    def test_only_a_plain_file_is_read(self):
        secret = self.folder.parent / "comment.md"
        secret.write_text("secret")
        self.comment.unlink()
        self.comment.symlink_to(secret)
        self.not_posted("comment.md", status=1)
        self.comment.unlink()
        os.mkfifo(self.comment)
        self.not_posted("is not a plain file", status=1)
        self.comment.unlink()
        self.folder.rmdir()
        self.folder.symlink_to(secret.parent)
        self.not_posted("comment.md", status=1)

    def test_no_part_of_a_relative_folder_is_a_link(self):
        (self.folder / "7").mkdir()
        self.comment.rename(self.folder / "7/comment.md")
        self.assertEqual(self.post("--folder", "artifact/7").returncode, 0)
        self.api.written.clear()
        (self.folder.parent / "link").symlink_to(self.folder)
        answer = self.post("--folder", "link/7")
        self.assertEqual((answer.returncode, self.api.written), (1, []), answer.stdout)
        self.assertIn("link/7/comment.md: a part of the path is a link", answer.stderr)


if __name__ == "__main__":
    unittest.main()
