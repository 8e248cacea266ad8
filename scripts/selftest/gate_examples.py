"""The repositories in examples/gate: their needs, and how one benchmark becomes slower."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples/gate"
DEBIAN_CRATES = Path("/usr/share/cargo/registry")
DEBIAN_PYTHON = "/usr/bin/python3"  # the one that Debian's packages are for


def has_pytest_benchmark():
    return subprocess.run([DEBIAN_PYTHON, "-c", "import pytest_benchmark"], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


@dataclass(frozen=True)
class Example:
    name: str
    needs: str
    file: str
    text: str        # the text in the file, with {} for a number
    steps: int       # that number
    slower: str      # the benchmark that contains it
    others: tuple    # all others
    kind: str = ""   # the kind's name in reports
    options: tuple = ()
    turns: int = 0   # of a loop whose counter begins with that number
    command: str = ""  # required command; its name, if empty
    crate: str = ""    # required Rust crate

    def is_there(self):
        """Whether this machine has everything it needs."""
        if self.crate:
            return bool(shutil.which("cargo")) and any(DEBIAN_CRATES.glob(f"{self.crate}-0*"))
        if self.name == "python":
            return has_pytest_benchmark()
        if self.name == "catch2":
            return bool(shutil.which("cmake")) and Path("/usr/lib/cmake/Catch2").exists()
        return bool(shutil.which(self.command or self.name))

    def change(self, percent):
        """What stands in the file, and what takes its place."""
        turns = self.turns or self.steps
        more = turns * percent // 100
        return (self.text.format(self.steps),
                self.text.format(-more if self.turns else self.steps + more))

    def repository(self, folder, percent):
        """Makes a repository with a branch origin/main, and a commit above it in which one
        benchmark is slower; with 0 %, one that changes nothing. Returns the words of the command
        in its README, without its budget."""
        shutil.copytree(FOLDER / self.name, folder)
        [block] = re.findall(r"```sh\n(.*?)```", (folder / "README.md").read_text(), re.S)

        def git(*words):
            subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words],
                           cwd=folder, check=True)

        def commit():
            git("add", "-A")
            git("commit", "-qm", "a commit")

        git("init", "-q")
        commit()
        git("update-ref", "refs/remotes/origin/main", "HEAD")
        file = folder / self.file
        before, old_new = file.read_text(), self.change(percent)
        if before.count(old_new[0]) != 1:
            raise ValueError(f"{file} has '{old_new[0]}' not once")
        file.write_text(before.replace(*old_new) + ("" if percent else "\n"))
        commit()
        command = block.replace("\\\n", " ").removeprefix("taskbench ")
        return re.sub(r" --budget \S+", "", command)

    def environment(self, folder):
        """What its build and its program want to find; files are put into the folder."""
        if self.name == "go":
            return {"GOFLAGS": "-mod=mod", "GOCACHE": str(folder / "go")}
        if self.name == "python":
            return {"PATH": f"{os.path.dirname(DEBIAN_PYTHON)}:{os.environ['PATH']}"}
        if self.crate or self.command == "cargo":
            home = folder / "cargo"
            home.mkdir(exist_ok=True)
            (home / "config.toml").write_text(
                '[source.crates-io]\nreplace-with = "debian"\n'
                f'[source.debian]\ndirectory = "{DEBIAN_CRATES}"\n')
            return {"CARGO_HOME": str(home), "CARGO_TARGET_DIR": str(folder / "target")}
        return {}


EXAMPLES = {example.name: example for example in (
    Example("shell", "nothing", "count", "i={}", 0, "command", (), "command", turns=30_000,
            command="sh"),
    Example("lines", "a C compiler", "five.c", 'repeat("b", {})', 1000, "b",
            ("a", "c", "sizes 100", "sizes 200"), "lines", command="cc"),
    Example("go", "Go", "five/five_test.go", "{{ benchmark(b, {}) }}", 1000, "BenchmarkB",
            ("BenchmarkA", "BenchmarkC", "BenchmarkSizes/n=100", "BenchmarkSizes/n=200"), "go"),
    # Criterion 0.3 measures each benchmark for two seconds at least, in each process.
    Example("rust", "Cargo and Debian's librust-criterion-dev", "benches/five.rs", "steps({})",
            1000, "b", ("a",), "criterion-0.3", ("--workload", "a,b", "--max-blocks", "8"),
            crate="criterion"),
    # libtest measures each benchmark for about a second, in each process.
    Example("libtest", "Cargo", "benches/five.rs", "steps({}));", 1000, "b", ("a",), "libtest",
            ("--workload", "a,b", "--max-blocks", "8"), command="cargo"),
    Example("python", "Debian's python3-pytest-benchmark", "test_five.py", "steps, {}", 1000,
            "test_five.py::test_b",
            tuple(f"test_five.py::test_{name}" for name in ("a", "c", "sizes[100]", "sizes[200]")),
            "pytest"),
    Example("cmake", "CMake", "five.cpp", "B(benchmark::State& state) {{ steps(state, {})", 1000,
            "B", ("A", "C", "Sizes/100", "Sizes/200")),
    Example("catch2", "CMake and Debian's catch2", "five.cpp", "steps({})", 1000, "steps/b",
            ("steps/a", "steps/c", "sizes, few of them/100", "sizes, few of them/200"), "catch2"),
)}
