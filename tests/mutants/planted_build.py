"""Builds the models, tests and storms of the runtime once, with every mutant in them."""

import json
import re
import subprocess
import sys

import operators

TARGETS = {  # in the order in which they judge
    "taskbench_runtime_models": "tests/model",
    "taskbench_pool_models": "tests/model",
    "taskbench_runtime_tests": "tests",
    "taskbench_testing_tests": "tests",
    "taskbench_stress": "tests",
}
CORE = ("runtime/queue/", "runtime/park/", "runtime/task/", "runtime/sync/", "runtime/driver/",
        "runtime/blocking/", "runtime/net/", "runtime/scheduler/", "runtime/base/biased_lock",
        "runtime/base/asymmetric_fences.hpp", "runtime/base/shared.hpp",
        "runtime/signal/listeners.hpp")
# Each file has its own range of numbers, so that changing one does not recompile the others.
# mutants.hpp has enough numbers for 256 files.
MOST_OF_A_FILE = 512
ERROR = re.compile(
    r"^(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<why>.*)",
    re.MULTILINE)


class PlantedBuild:
    """A copy of the tree with the mutants planted in it, and its build."""

    def __init__(self, root, folder):
        self.root = root
        self.folder = folder
        self.tree = folder / "tree"
        self.build = folder / "build"
        self.mutants = []
        self.not_compiled = {}  # by name: the compiler's error

    def tracked(self, *patterns):
        done = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard",
                               *patterns], cwd=self.root, check=True, stdout=subprocess.PIPE,
                              encoding="utf-8")
        return [file for file in sorted(set(done.stdout.split("\n")) - {""})
                if (self.root / file).exists()]

    def find(self):
        """Returns all mutants, numbered."""
        runtime = [file for file in self.tracked("runtime/*.hpp", "runtime/*.cpp")]
        core = [file for file in runtime if file.startswith(CORE)]
        sources = [file for file in runtime
                   if "ladder" not in file and (file.endswith(".cpp") or file in core)]
        found = operators.find(self.root, core, sources)
        self.mutants = [mutant for file in core for mutant in found[file]]
        for place, file in enumerate(core):
            for number, mutant in enumerate(found[file], start=place * MOST_OF_A_FILE + 1):
                mutant.number = number
        return self.mutants

    def text_of(self, file, own):
        """Returns the file's text in the planted tree, and the positions of what was planted in
        it."""
        text = (self.root / file).read_bytes()
        return operators.planted(text, own) if own else (text, [], [])

    def write(self, files=None):
        """Writes the tree, or these files of it; unchanged files keep their time stamps."""
        by_file = {}
        for mutant in self.mutants:
            if mutant.name not in self.not_compiled:
                by_file.setdefault(mutant.file, []).append(mutant)
        parts = ("runtime", "tests", "cmake", "examples")
        everything = [*self.tracked(*parts), "CMakeLists.txt"] if files is None else files
        for file in everything:
            text, _, _ = self.text_of(file, by_file.get(file))
            place = self.tree / file
            if not place.exists() or place.read_bytes() != text:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text)
        return by_file

    def configure(self):
        header = self.tree / "tests/mutants/mutants.hpp"
        recording = self.folder / "recording.o"
        subprocess.run(["c++", "-std=c++20", "-O1", f"-I{self.tree}", "-c",
                        self.tree / "tests/mutants/recording.cpp", "-o", recording], check=True)
        included = self.folder / "planted.cmake"
        included.write_text(f'add_compile_options(-w "SHELL:-include {header}")\n'
                            f'add_link_options("{recording}")\n', encoding="utf-8")
        command = ["cmake", "-S", self.tree, "-B", self.build, "-DCMAKE_BUILD_TYPE=Debug",
                   "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DCMAKE_UNITY_BUILD=ON",
                   "-DCMAKE_UNITY_BUILD_BATCH_SIZE=8", "-DTASKBENCH_BUILD_TOOLS=OFF",
                   "-DTASKBENCH_TEST_PROJECT=OFF", "-DTASKBENCH_INSTALL=OFF",
                   f"-DCMAKE_PROJECT_INCLUDE={included}"]
        if not (self.build / "CMakeCache.txt").exists():
            command += ["-G", "Ninja"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def compile(self, targets=tuple(TARGETS)):
        """Builds the targets, and takes out mutants that do not compile."""
        self.load_not_compiled()
        self.write()
        self.configure()
        while True:
            done = subprocess.run(["cmake", "--build", self.build, "--target", *targets, "--",
                                   "-k", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  encoding="utf-8", errors="replace", check=False)
            if done.returncode == 0:
                return
            (self.folder / "build.log").write_text(done.stdout, encoding="utf-8")
            if not self.take_out(done.stdout):
                sys.exit(f"mutate: the planted tree does not compile: see {self.folder}/build.log")

    def take_out(self, log):
        """Takes out the mutants that these errors are about. False: there are none."""
        by_file = self.write([])
        texts = {}
        culprits = {}
        for error in ERROR.finditer(log):
            place = str((self.build / error["file"]).resolve())
            file = place.removeprefix(f"{self.tree.resolve()}/")
            if file not in by_file:
                continue
            if file not in texts:
                texts[file] = self.text_of(file, by_file[file])
            for mutant in operators.blamed(*texts[file][1:], int(error["line"]),
                                           int(error["column"])):
                culprits.setdefault(mutant.name, (mutant, error["why"]))
        for name, (mutant, why) in culprits.items():
            self.not_compiled[name] = why[:100]
            print(f"does not compile: {name}: {why[:100]}", file=sys.stderr, flush=True)
        self.write({mutant.file for mutant, _ in culprits.values()})
        (self.folder / "not_compiled.json").write_text(
            json.dumps(self.not_compiled, indent=1), encoding="utf-8")
        return bool(culprits)

    def load_not_compiled(self):
        place = self.folder / "not_compiled.json"
        names = {mutant.name for mutant in self.mutants}
        if place.exists():
            before = json.loads(place.read_text(encoding="utf-8"))
            self.not_compiled = {name: why for name, why in before.items() if name in names}

    def program(self, target):
        return self.build / TARGETS[target] / target
