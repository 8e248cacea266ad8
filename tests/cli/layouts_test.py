#!/usr/bin/env python3
"""`taskbench ab` and `gate` with programs linked in several layouts that take turns."""

import os
import re
import shutil
import subprocess

from gate_test import REVISIONS, GateTest
from taskbench_command import CommandTest, main

# Answers like a Google Benchmark program, records which executable it was, and prints its functions
# in the order of their addresses.
SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define F(name) __attribute__((noinline)) int name(int x) { return x * __LINE__ + LINE; }
F(f0)
F(f1)
F(f2)
F(f3)
F(f4)
F(f5)
F(f6)
F(f7)
static int (*volatile functions[])(int) = {f0, f1, f2, f3, f4, f5, f6, f7};
int main(int count, char **words) {
  const char *file = 0;
  int repetitions = 1;
  for (int i = 1; i < count; ++i) {
    if (!strncmp(words[i], "--version", 9)) return 1;
    if (!strcmp(words[i], "--order")) {
      for (unsigned long at = 0, i = 0; i < 8; ++i) printf("%p f%lu\\n", (void *)functions[i], i);
      return 0;
    }
    if (!strcmp(words[i], "--benchmark_filter=^$")) return 0;
    if (!strncmp(words[i], "--benchmark_out=", 16)) file = words[i] + 16;
    if (!strncmp(words[i], "--benchmark_repetitions=", 24)) repetitions = atoi(words[i] + 24);
  }
  if (!file) return printf("sort\\n") < 0;
  FILE *used = fopen(getenv("USED"), "a");
  fprintf(used, "%s\\n", words[0]);
  fclose(used);
  FILE *out = fopen(file, "w");
  fprintf(out, "{\\"context\\": {\\"json_schema_version\\": 1}, \\"benchmarks\\": [");
  for (int i = 0; i < repetitions; ++i) {
    fprintf(out, "%s{\\"name\\": \\"sort\\", \\"run_name\\": \\"sort\\", \\"run_type\\": "
            "\\"iteration\\", \\"repetition_index\\": %d, \\"iterations\\": 1000000, "
            "\\"real_time\\": %d, \\"cpu_time\\": %d, \\"time_unit\\": \\"ns\\"}",
            i ? ", " : "", i, 1000 + i, 1000 + i);
  }
  fprintf(out, "]}");
  return fclose(out);
}
"""

BUILDS = {
    "one command that compiles and links": "cc $CFLAGS -DLINE=LINE_ -o out/bench main.c",
    "objects and an archive, and other programs that had its name before":
                              "for i in 1 2 3 4 5; do echo 'int main(void) { return 7; }' | "
                              "cc -o out/bench -x c - || exit; done && "
                              "cc $CFLAGS -DLINE=LINE_ -c main.c -o main.o && "
                              "sed 's/main(/other(/' main.c >o.c && cc -c o.c -o o.o "
                              "-Df0=g0 -Df1=g1 -Df2=g2 -Df3=g3 -Df4=g4 -Df5=g5 -Df6=g6 -Df7=g7 "
                              "-DLINE=0 && ar rcs libo.a o.o && "
                              "cc -o out/bench main.o -Wl,--undefined=other -L. -lo",
    "link-time optimisation": "cc $CFLAGS -g -O1 -flto -DLINE=LINE_ -o out/bench main.c",
    "a response file, and a cross compiler":
        "mkdir own && ln -s \"$(command -v gcc)\" own/test-cross-gcc && "
        "printf '%s\\n' '#!/bin/sh' 'touch \"$0.used\"; exec ld \"$@\"' >own/test-cross-ld && "
        "chmod +x own/test-cross-ld && cc $CFLAGS -DLINE=LINE_ -c main.c -o 'a main.o' && "
        "printf '%s\\n' -o out/bench '\"a main.o\"' >words && export PATH=\"$PWD/own:$PATH\" && "
        "test-cross-gcc @words && test -e own/test-cross-ld.used",
    "a program that is moved and stripped": "cc $CFLAGS -DLINE=LINE_ -o bench main.c && "
                                            "strip bench && mv bench out/bench",
    "a linker of its own, as rustc has, and objects that are deleted":
        "mkdir own && printf '%s\\n' '#!/bin/sh' 'exec ld \"$@\"' >own/ld.lld && "
        "chmod +x own/ld.lld && "
        "cc $CFLAGS -DLINE=LINE_ -c main.c -o main.rcgu.o && "
        "cc -fuse-ld=lld -B$PWD/own -o out/bench $PWD/main.rcgu.o && rm main.rcgu.o",
    "lld": "cc $CFLAGS -fuse-ld=lld -DLINE=LINE_ -o out/bench main.c",
    "gold": "for i in 1 2 3 4 5; do echo \"int o$i(void) { return $i; }\" >o$i.c; "
            "cc -c o$i.c || exit; done; cc $CFLAGS -fuse-ld=gold -DLINE=LINE_ -o out/bench main.c "
            "o1.o o2.o o3.o o4.o o5.o",
}
NEEDS = {"lld": "ld.lld", "gold": "ld.gold"}


def order_of(executable):
    lines = subprocess.run([executable, "--order"], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return [line.split()[1] for line in sorted(lines, key=lambda line: int(line.split()[0], 16))]


class DrawnLayouts(GateTest):
    """Revisions of a program in C, built in different ways."""

    def setUp(self):
        super().setUp()
        os.environ["USED"] = str(self.folder / "used")
        self.how = f"--build 'sh build.sh' --program out/bench --cache {self.folder}/cache"

    def tearDown(self):
        del os.environ["USED"]
        super().tearDown()

    def build(self, how, line):
        text = how.replace("LINE_", str(line))
        return self.commit(f"line {line}", **{
            "main.c": SOURCE,
            **({"Cargo.toml": ""} if "rcgu" in how else {}),
            "build.sh": f"mkdir -p out && echo built >>{self.folder}/builds && {text}\n"})

    def compared(self, options, how="one command that compiles and links"):
        self.base = self.build(BUILDS[how], 1)
        self.git("tag", "--force", "v1.0")
        self.build(BUILDS[how], 2)
        (self.folder / "j").unlink(missing_ok=True)
        return self.gate(f"{self.files} --exact off {options}", command="ab")

    def used(self):
        return self.read("used").split()

    def test_an_interrupted_link_leaves_no_programs_to_measure(self):
        waits = f"case $* in *-Map=*) touch {self.folder}/links; sleep 60 ;; esac"
        self.script("tools/ld", f'{waits}\nexec {shutil.which("ld")} "$@"')
        self.base = self.build(BUILDS["one command that compiles and links"], 1)
        self.git("tag", "--force", "v1.0")
        self.build(BUILDS["one command that compiles and links"], 2)
        self.interrupt(f"gate {REVISIONS} {self.how} --build-only both --out {self.folder}/built",
                       when=self.written("links"), cwd=self.repository,
                       env={"PATH": f"{self.folder}/tools:{os.environ['PATH']}"})
        self.assertFalse((self.folder / "built/programs.json").exists())

    def test_every_block_has_a_layout_of_its_own_until_all_had_theirs(self):
        answer = self.compared("--links 4 --max-blocks 4 --inconclusive pass-always")
        for side in ("base", "head"):
            self.assertIn("layouts", self.load("r.json")[side], f"{answer.stdout}{answer.stderr}")
            layouts = self.load("r.json")[side]["layouts"]
            self.assertEqual(len(layouts), 4)
            self.assertEqual(len({tuple(order_of(file)) for file in layouts}), 4)
            for file in layouts:
                self.assertEqual(self.used().count(file), 2, file)
        self.assertEqual(self.read("builds").split(), ["built"] * 2)
        said = re.sub(r"\s+", " ", self.comment())
        self.assertIn("its code in another order each time, and these executables take turns: 4 "
                      "of base, 4 of head.", said)
        # Further trials do not link again.
        first = (self.folder / "cache").rglob("*.layout-1")
        times = [file.stat().st_mtime_ns for file in first]
        self.gate(f"--links 4 --max-blocks 1 --exact off "
                  f"--inconclusive pass-always --journal {self.folder}/k")
        self.assertEqual(times, [file.stat().st_mtime_ns
                                 for file in (self.folder / "cache").rglob("*.layout-1")])

    def test_whatever_way_it_is_built_its_functions_change_places(self):
        for how in BUILDS:
            with self.subTest(how):
                if not shutil.which(NEEDS.get(how, "ld")):
                    self.skipTest(f"there is no {NEEDS[how]}")
                self.compared("--links 3 --max-blocks 1 --inconclusive pass-always", how)
                result = self.load("r.json")
                for side in ("base", "head"):
                    layouts = result[side].get("layouts", [])
                    self.assertEqual(len(layouts), 3, result[side])
                    if how != "gold":  # gold moves only objects, and only one has functions
                        self.assertGreaterEqual(
                            len({tuple(order_of(file)) for file in layouts}), 2)

    def test_what_cannot_be_linked_again_is_measured_as_it_was_built(self):
        whys = {
            "cc -fno-function-sections -DLINE=LINE_ -o out/bench main.c":
                "the linker sees too few pieces of its code; compile with -ffunction-sections",
            "unset COMPILER_PATH; cc -DLINE=LINE_ -o out/bench main.c":
                "its build calls no linker that COMPILER_PATH leads to",
            "cc $CFLAGS -DLINE=LINE_ -o a main.c; strip a; mv a out/bench":
                "its build links programs, but none is bench",
            "cc $CFLAGS -DLINE=LINE_ -o bench main.c && "
            "printf '#!/bin/sh\n# LINE_\nexec ./bench \"$@\"\n' >out/bench && chmod +x out/bench":
                "its build links programs, but none is bench",
            "mkdir lib && echo 'int x(void) { return 1; }' >x.c && cc -shared -fPIC -o lib/libx.so "
            "x.c && LD_RUN_PATH=$PWD/lib cc $CFLAGS -DLINE=LINE_ -o out/bench main.c -Llib "
            "-Wl,--no-as-needed -lx": "linked again, it loads other libraries",
            "printf '#!/bin/sh\necho no room >&2; exit 1\n' >mktemp && chmod +x mktemp && "
            "PATH=$PWD:$PATH cc $CFLAGS -DLINE=LINE_ -o out/bench main.c":
                "its link could not be recorded: no room",
        }
        for how, why in whys.items():
            with self.subTest(why):
                BUILDS["it"] = how
                self.addCleanup(BUILDS.pop, "it", None)
                self.compared("--max-blocks 1 --inconclusive pass-always", "it")
                self.assertNotIn("layouts", self.load("r.json")["base"])
                self.assertIn(why, self.comment())
                self.assertIn("Where the linker puts code can shift times by 1 to 4 %",
                              re.sub(r"\s+", " ", self.comment()))

    def test_one_link_is_the_program_as_it_was_built(self):
        self.compared("--links 1 --max-blocks 1 --inconclusive pass-always")
        self.assertEqual({word.rsplit("/", 1)[1] for word in self.used()}, {"bench"})
        self.assertFalse(list((self.folder / "cache").rglob("*.layout-*")))

    def test_a_trial_goes_on_with_the_layouts_that_it_began_with(self):
        self.compared("--links 3 --max-blocks 2 --inconclusive pass-always")
        self.cut("j", 6)
        (self.folder / "used").unlink()
        self.gate(f"--links 3 --max-blocks 2 --inconclusive pass-always --resume "
                  f"--journal {self.folder}/j", command="ab")
        self.assertTrue(self.used())
        self.assertTrue(all(".layout-" in word for word in self.used()), self.used())
        self.cut("j", 6)
        answer = self.gate(f"--links 4 --resume --journal {self.folder}/j", command="ab", status=2)
        self.assertIn("--links: ", answer.stderr)
        for file in (self.folder / "cache").rglob("*.layout-2"):
            file.unlink()
        answer = self.taskbench(f"ab --resume --journal {self.folder}/j --max-blocks 2",
                                cwd=self.repository, status=2)
        self.assertIn("a layout of base, is not there any more", answer.stderr)


class LayoutsByHand(CommandTest):
    """Executables that match a pattern."""

    def setUp(self):
        super().setUp()
        for side, times in (("old", "sort=1000"), ("new", "sort=1001")):
            (self.folder / side).mkdir()
            for name in ("bench-1", "bench-2", "bench-3"):
                self.program(f"{side}/{name}", times)
            self.write(f"{side}/bench-notes", "no program")

    def test_they_take_turns(self):
        for base, head in (("old/bench-*", "new/bench-*"),
                           ("{old/bench-1,old/bench-2,old/bench-3}", "new/bench-[123]")):
            with self.subTest(base):
                self.taskbench("ab", "--base", base, "--head", head, "--max-blocks", "3",
                               "--json", "r.json", "--inconclusive", "pass-always")
                result = self.load("r.json")
                turns = [sample.get("layout", 0) for sample in result["samples"]]
                blocks = [set(turns[at:at + 4]) for at in range(0, 12, 4)]
                self.assertEqual(sorted(map(tuple, blocks)), [(0,), (1,), (2,)])
                for side, folder in (("base", "old"), ("head", "new")):
                    self.assertEqual(
                        result[side]["layouts"],
                        [str(self.folder / folder / f"bench-{i}") for i in (1, 2, 3)])
                    for i in (1, 2, 3):
                        self.assertTrue(len(self.read(f"{folder}/bench-{i}.runs")) >= 2)

    def test_a_rebuilt_one_is_noticed(self):
        how = ["--max-blocks", "2", "--inconclusive", "pass-always", "--journal", "j"]
        self.taskbench("ab", "--base", "old/bench-*", "--head", "new/bench-*", *how)
        self.cut("j", 6)
        with open(self.folder / "new/bench-2", "a", encoding="utf-8") as file:
            file.write("# built anew\n")
        answer = self.taskbench("ab", "--resume", *how, status=2)
        self.assertIn("is not the program that", answer.stderr)

    def test_a_pattern_that_means_nothing_is_refused(self):
        self.refused("ab", "--base", "none/bench-*", "--head", "new/bench-*",
                     says="--base: 'none/bench-*'")


if __name__ == "__main__":
    main()
