#!/usr/bin/env python3
"""The Debian packages: made by cpack, then unpacked in a root that holds only the packages they
depend on, where the command has to run.

usage: deb_test.py CPACK BUILD_DIR [TEST...]"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SKIPPED = 77  # the exit status by which ctest calls a test skipped
NEEDED = ("dpkg", "dpkg-deb", "dpkg-query", "dpkg-shlibdeps", "file", "gzip", "chroot")
CPACK, BUILD = sys.argv[1:3]
AS_ROOT = [] if os.geteuid() == 0 else ["unshare", "--map-root-user"]


def output_of(*command, **options):
    """Returns what the command prints; it must succeed."""
    answer = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        timeout=120, check=False, **options,
    )
    if answer.returncode != 0:
        raise AssertionError(f"{command}: status {answer.returncode}\n{answer.stderr}")
    return answer.stdout


def installed_alternative(dependency):
    """Returns the first package of `a (>= 1) | b` that is installed here."""
    names = [name.split()[0].split(":")[0] for name in dependency.split("|")]
    for name in names:
        answer = subprocess.run(
            ["dpkg-query", "-W", "-f=${db:Status-Status}", name], capture_output=True, text=True,
            check=False,
        )
        if answer.stdout.startswith("installed"):
            return name
    raise AssertionError(f"none of {names} is installed here, and the command was built with it")


def with_dependencies(field):
    """Returns the packages of a Depends field, and their dependencies."""
    found, waiting = set(), [field]
    while waiting:
        for dependency in filter(str.strip, waiting.pop().split(",")):
            name = installed_alternative(dependency)
            if name not in found:
                found.add(name)
                waiting.append(output_of("dpkg-query", "-W", "-f=${Pre-Depends},${Depends}", name))
    return found


def copy_package(name, root):
    """Copies the package as it is installed here, without files that no program loads."""
    for line in output_of("dpkg", "-L", name).splitlines():
        path = Path(line)
        if path.is_dir() or not os.path.lexists(path) or line.startswith("/usr/share/"):
            continue
        # Below the real folder, as /lib is a link to /usr/lib.
        target = root / path.parent.resolve().relative_to("/") / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target, follow_symlinks=False)


class DebianPackages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="taskbench-deb-")
        cls.addClassCleanup(directory.cleanup)
        cls.folder = Path(directory.name)
        output_of(
            CPACK, "--config", Path(BUILD) / "CPackConfig.cmake", "-B", cls.folder / "packed",
            "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip",  # quicker, and read the same way
        )
        cls.command = cls.only_package("taskbench")
        cls.headers = cls.only_package("libtaskbench-dev")
        cls.root = cls.folder / "root"
        cls.root.mkdir()
        output_of("dpkg-deb", "-x", cls.command, cls.root)

    @classmethod
    def only_package(cls, name):
        (package,) = (cls.folder / "packed").glob(f"{name}_*.deb")
        return package

    @staticmethod
    def field(package, name):
        return output_of("dpkg-deb", "--field", package, name).strip()

    def test_the_command_runs_where_there_is_only_what_it_depends_on(self):
        if AS_ROOT and subprocess.run([*AS_ROOT, "true"], check=False).returncode != 0:
            self.skipTest("needs root, or user namespaces")
        for folder in ("lib", "lib32", "lib64", "libx32"):
            if Path("/", folder).is_symlink():
                (self.root / folder).symlink_to(f"usr/{folder}")
        for name in with_dependencies(self.field(self.command, "Depends")):
            copy_package(name, self.root)
        chroot = [*AS_ROOT, "chroot", self.root, "/usr/bin/taskbench"]
        clean = {"PATH": "/usr/bin:/usr/sbin:/bin:/sbin", "HOME": "/"}
        self.assertTrue(output_of(*chroot, "--version", env=clean).startswith("taskbench "))
        output_of(
            *chroot, "run", "chained_spawn", "--workers", "1", "--repetitions", "2", "--min-time",
            "1ms", "--json", "/result.json", env=clean,
        )
        result = json.loads((self.root / "result.json").read_text(encoding="utf-8"))
        self.assertIn("chained_spawn", result["benchmarks"][0]["name"])

    def test_the_manual_page_is_found(self):
        page = self.root / "usr/share/man/man1/taskbench.1.gz"
        if shutil.which("man"):
            found = output_of("man", "-M", self.root / "usr/share/man", "-w", "taskbench")
            self.assertEqual(found, f"{page}\n")
        with gzip.open(page, "rt", encoding="utf-8") as text:
            self.assertRegex(text.read(), r'\n\.TH TASKBENCH "?1"? ')  # help2man 1.49.3 quotes it

    def test_completions_lie_where_the_shells_look_for_them(self):
        share = self.root / "usr/share"
        bash = share / "bash-completion/completions/taskbench"
        self.assertEqual(
            output_of("bash", "-c", f"source '{bash}' && complete -p taskbench"),
            "complete -F _taskbench taskbench\n",
        )
        # zsh reads this line of every file in its path, and runs none of them.
        zsh = (share / "zsh/vendor-completions/_taskbench").read_text(encoding="utf-8")
        self.assertTrue(zsh.startswith("#compdef taskbench\n"))
        fish = (share / "fish/vendor_completions.d/taskbench.fish").read_text(encoding="utf-8")
        self.assertRegex(fish, r"(?m)^complete -c taskbench ")

    def test_the_recipes_and_all_that_they_name_are_in_it(self):
        share = self.root / "usr/share/taskbench"
        readme = (share / "ci/README.md").read_text(encoding="utf-8")
        named = set(re.findall(r"`((?:ci|scripts)/[\w./-]+)`", readme))
        self.assertIn("scripts/gate-pr", named)
        only_in_the_sources = {"ci/Containerfile", "scripts/diff-baseline", "scripts/package"}
        for name in named - only_in_the_sources:
            self.assertTrue((share / name).exists(), name)
        linked = re.findall(r"\]\((\.\./[^)#]+)", readme)
        self.assertIn("../docs/programs.md", linked)
        for name in linked:
            self.assertTrue((share / "ci" / name).exists(), name)
        examples = share / "examples/gate"
        for script in (*(share / "scripts").iterdir(), examples / "shell/count",
                       *examples.glob("*/build-benchmarks")):
            self.assertTrue(os.access(script, os.X_OK), script)

    def test_the_packages_say_what_they_are(self):
        for package, section in ((self.command, "devel"), (self.headers, "libdevel")):
            self.assertEqual(self.field(package, "Section"), section)
            self.assertRegex(self.field(package, "Version"), r"^\d+\.\d+\.\d+-1$")
            self.assertRegex(self.field(package, "Maintainer"), r"^[^<]+ <\S+@\S+>$")
            synopsis, *text = self.field(package, "Description").splitlines()
            self.assertLess(len(synopsis), 80)
            self.assertGreater(len(text), 2)
            listed = output_of("dpkg-deb", "-c", package)
            name = self.field(package, "Package")
            for file in ("copyright", "changelog.gz", "changelog.Debian.gz"):
                self.assertIn(f" ./usr/share/doc/{name}/{file}\n", listed)
            owners = {line.split()[1] for line in listed.splitlines()}
            self.assertEqual(owners, {"root/root"})
        for tool in ("git", "gnuplot", "perf", "valgrind"):
            self.assertIn(tool, self.field(self.command, "Recommends"))

    def test_only_the_library_has_headers(self):
        files = {package: output_of("dpkg-deb", "-c", package)
                 for package in (self.command, self.headers)}
        for path in ("/usr/include/taskbench/runtime/runtime.hpp", "/libtaskbench_runtime.a",
                     "/cmake/taskbench/taskbenchConfig.cmake"):
            self.assertIn(f"{path}\n", files[self.headers])
            self.assertNotIn(f"{path}\n", files[self.command])
        self.assertNotIn("/usr/bin/", files[self.headers])


if __name__ == "__main__":
    missing = [tool for tool in NEEDED if not shutil.which(tool)]
    if missing:
        print(f"skipped: packages are made and read with {' '.join(missing)}")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
