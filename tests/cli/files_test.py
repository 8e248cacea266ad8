#!/usr/bin/env python3
"""The files that `taskbench run` writes: complete or not at all, and refused in time."""

import os
import resource
import shutil
import subprocess

from taskbench_command import BINARY, CommandTest, become_nobody, main


def can_mount():
    """Whether this process can get a mount namespace of its own with a tmpfs in it."""
    if os.getuid() != 0 or shutil.which("unshare") is None:
        return False
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "-o", "size=64k", "none", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


class Written(CommandTest):
    def test_json_is_google_benchmark_json_with_one_key_of_ours(self):
        self.taskbench("run", *self.small(), "--json", "r.json")
        result = self.load("r.json")
        self.assertEqual(set(result), {"context", "benchmarks", "taskbench"})
        self.assertEqual(result["context"]["json_schema_version"], 1)
        self.assertFalse(result["taskbench"]["partial"])
        names = {row["run_name"].split("/")[0] for row in result["benchmarks"]}
        self.assertEqual(names, set(self.workload_names()))
        environment = result["taskbench"]["environment"]
        for key in ("kernel", "compiler", "build_type", "git_commit", "hypervisor", "cpu_model"):
            self.assertIn(key, environment)
        self.assertIn("--json", result["taskbench"]["settings"]["command_line"])

    def test_flat_json_has_one_row_a_case(self):
        cases = ("chained_spawn", "echo", "fairness")
        self.taskbench("run", *self.small(*cases), "--json-flat", "flat.json")
        names = [row["name"].split("/")[0] for row in self.load("flat.json")["benchmarks"]]
        self.assertEqual(sorted(names), sorted(cases))

    def test_both_files_and_a_note_of_each(self):
        self.write("a.json", "an older one is replaced")
        result = self.taskbench("run --json a.json --json-flat b.json",
                                *self.small("chained_spawn"))
        self.assertIn("taskbench: note: wrote a.json\n", result.stderr)
        self.assertIn("taskbench: note: wrote b.json\n", result.stderr)
        self.assertEqual(self.left(), ["a.json", "b.json"])
        self.assertIn("benchmarks", self.load("a.json"))


class Refused(CommandTest):
    def test_places_that_take_no_file(self):
        (self.folder / "results").mkdir()
        self.refuse("run", {
            "--json no/such/r.json": 'there is no folder "no/such"',
            "--json-flat no/such/r.json": 'there is no folder "no/such"',
            "--json results": "it is a folder",
        })

    def test_denied_permission(self):
        self.write("closed/r.json", "old")
        (self.folder / "closed").chmod(0o555)
        self.refuse("run --json", {
            "closed/r.json": "permission denied", "closed/new.json": "permission denied",
        }, **self.as_nobody())
        self.assertEqual(self.read("closed/r.json"), "old")
        (self.folder / "closed").chmod(0o755)

    def test_full_disk(self):
        arguments = ("run", "--json", "disk/r.json", "--repetitions", "100")
        (self.folder / "disk").mkdir()
        if can_mount():
            script = 'mount -t tmpfs -o size=64k none disk && exec "$0" "$@"'
            self.refused(
                "--mount", "sh", "-c", script, BINARY, *arguments, binary="unshare",
                says="no space is left",
            )
        else:
            # A file size limit takes effect at the same place, and needs no privilege.
            self.refused(
                *arguments, says="the limit for file sizes",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
            )
        self.assertEqual(self.left("disk"), [])


class Failed(CommandTest):
    """Failures that only show when writing: the result must not be lost with the file."""

    def test_device_without_space(self):
        names = ("chained_spawn", "ping_pong")
        result = self.taskbench("run --json /dev/full --json-flat flat.json", *self.small(*names),
                                status=2)
        self.assertIn('taskbench: error: cannot write "/dev/full": ', result.stderr)
        for name in names:
            self.assertIn(name, result.stdout)
        self.assertIn("benchmarks", self.load("flat.json"))

    def test_folder_removed_during_the_run(self):
        folder = self.folder / "results"
        folder.mkdir()
        process = self.start("run --workers 4 --json results/r.json",
                             *self.small("chained_spawn", min_time="500ms", repetitions=1))
        # The check leaves nothing behind, so the folder can be removed once it is done.
        self.wait_until(lambda: self.measuring(process.pid), process)
        folder.rmdir()
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, stderr)
        self.assertIn("there is no folder", stderr)
        self.assertIn("chained_spawn", stdout)

    @staticmethod
    def measuring(pid):
        """Whether the workers run: there is then more than one thread."""
        try:
            return len(os.listdir(f"/proc/{pid}/task")) > 2
        except FileNotFoundError:
            return True


class FailedWorkload(CommandTest):
    def test_others_are_reported_and_the_exit_status_is_5(self):
        """A scheduler that gets no threads fails; one that needs none does not."""
        binary = self.as_nobody()["binary"]
        self.folder.chmod(0o777)

        def without_threads():
            become_nobody()
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

        result = self.taskbench(
            "run --scheduler work_stealing,current_thread --json r.json",
            *self.small("chained_spawn"), binary=binary, preexec_fn=without_threads, status=5,
            # A leak check, if the command is built with one, takes a thread, too.
            env={"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"},
        )
        error = next(line for line in result.stderr.splitlines() if "error:" in line)
        self.assertIn("chained_spawn/work_stealing/", error)
        self.assertIn("current_thread", result.stdout)
        written = self.load("r.json")
        measured = {row["run_name"].split("/")[1] for row in written["benchmarks"]}
        self.assertEqual(measured, {"current_thread"})
        failed = {case["scheduler"]: case["failed"] for case in written["taskbench"]["cases"]}
        self.assertEqual(failed, {"work_stealing": True, "current_thread": False})


if __name__ == "__main__":
    main()
