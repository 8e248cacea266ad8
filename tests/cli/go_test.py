#!/usr/bin/env python3
"""The gate of a Go module, from its sources. Needs Go."""

import os
import shutil
import subprocess
import unittest

from taskbench_command import CommandTest, main

MODULE = "module example.org/five\n\ngo 1.19\n"
PACKAGE = """package five

import "testing"

var sink int

func benchmark(b *testing.B, n int) {{
    for i := 0; i < b.N; i++ {{
        for j := 0; j < n; j++ {{
            sink += j ^ (sink << 1)
        }}
    }}
}}

func BenchmarkA(b *testing.B) {{ benchmark(b, 300) }}
func BenchmarkB(b *testing.B) {{ benchmark(b, {b}) }}
func BenchmarkC(b *testing.B) {{ benchmark(b, 500) }}
func BenchmarkSizes(b *testing.B) {{
    b.Run("n=100", func(b *testing.B) {{ benchmark(b, 100) }})
    b.Run("n=200", func(b *testing.B) {{ benchmark(b, 200) }})
}}
func TestNothing(t *testing.T) {{}}
"""


@unittest.skipUnless(shutil.which("go"), "needs Go")
class Go(CommandTest):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repository"
        (self.repository / "five").mkdir(parents=True)
        self.git("init", "-q")
        (self.repository / "go.mod").write_text(MODULE)
        for b, tag in ((1000, "base"), (1300, "slower")):
            (self.repository / "five/five_test.go").write_text(PACKAGE.format(b=b))
            self.git("add", "-A")
            self.git("commit", "-qm", tag)
            self.git("tag", tag)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words],
                       cwd=self.repository, check=True)

    def gate(self, base, head, options="", **others):
        return self.taskbench(
            f"gate --build 'go test -c -o out/bench.test ./five' --program out/bench.test "
            f"--cwd five --cache {self.folder}/cache --json {self.folder}/r.json "
            f"--base-rev {base} --head-rev {head} --journal {self.folder}/j {options}",
            cwd=self.repository, env={"GOFLAGS": "-mod=mod", "GOCACHE": str(self.folder / "go"),
                                      "HOME": os.environ.get("HOME", "/")}, **others)

    def verdicts(self):
        return {row["name"]: row["verdict"] for row in self.load("r.json")["benchmarks"]}

    def test_a_slower_benchmark_of_a_package_fails_and_no_other(self):
        self.gate("base", "slower", "--budget 45s", status=1)
        self.assertEqual({name for name, verdict in self.verdicts().items() if verdict == "FAIL"},
                         {"BenchmarkB"})
        self.assertEqual(set(self.verdicts()),
                         {"BenchmarkA", "BenchmarkB", "BenchmarkC", "BenchmarkSizes/n=100",
                          "BenchmarkSizes/n=200"})
        setup = self.load("r.json")["setup"]
        self.assertEqual((setup["kind"], setup["left_out"]), ("go", []))

    def test_some_benchmarks_are_chosen_by_their_names(self):
        self.gate("base", "slower", "--max-blocks 2 --inconclusive pass-always "
                  "--workload BenchmarkSizes/n=100,BenchmarkA")
        self.assertEqual(set(self.verdicts()), {"BenchmarkA", "BenchmarkSizes/n=100"})
        self.gate("base", "slower", "--workload BenchmarkSizes/n=1", status=2)


if __name__ == "__main__":
    main()
