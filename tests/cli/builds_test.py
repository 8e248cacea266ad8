#!/usr/bin/env python3
"""What `taskbench gate` builds revisions with, and when it builds them again."""

import os
from unittest import mock

from gate_test import GateTest
from taskbench_command import main


class BuildTest(GateTest):
    def setUp(self):
        super().setUp()
        kept = mock.patch.dict(os.environ)
        kept.start()
        self.addCleanup(kept.stop)
        for name in ("CC", "CXX", "CFLAGS", "CXXFLAGS"):
            os.environ.pop(name, None)


class Flags(BuildTest):
    def is_optimised(self, preparing="", flags=None, **files):
        """Builds a revision by a script; returns whether its compiler optimises."""
        asking = ("printf '#ifdef __OPTIMIZE__\\noptimised\\n#endif\\n' >asks.c && "
                  f"cc $CFLAGS -E -P asks.c >{self.folder}/said && "
                  f"echo $CFLAGS >{self.folder}/flags")
        self.commit("other", build=self.build_script(f"{preparing}\n{asking}"), **files)
        self.gate("--build-only head", env={} if flags is None else {"CFLAGS": flags})
        return "optimised" in self.read("said")

    def test_what_is_built_is_optimised_unless_the_user_says_otherwise(self):
        default = ": ${CFLAGS=-O2}"  # as `CFLAGS ?= -O2` in a Makefile
        self.assertTrue(self.is_optimised(default))
        self.assertTrue(self.is_optimised())
        for flags in ("", "-O0"):
            self.assertFalse(self.is_optimised(default, flags))
        self.is_optimised(default, "-O3")
        self.assertRegex(self.read("flags"), r"^-O3 -ffunction-sections -ffile-prefix-map=\S+=\.$")

    def test_the_level_of_tools_that_put_cflags_after_it_is_left_alone(self):
        for file in ("meson.build", "Cargo.toml"):
            with self.subTest(file):
                self.assertFalse(self.is_optimised(**{file: ""}))
                self.assertIn("-ffunction-sections", self.read("flags"))
                (self.repository / file).unlink()


class Cached(BuildTest):
    def setUp(self):
        super().setUp()
        self.commit("other", notes="x")

    def count_of_builds(self, **env):
        """Builds both sides if need be; returns how many were."""
        self.write("builds")
        self.gate("--build-only both", env=env)
        return len(self.built())

    def test_other_flags_mean_another_build(self):
        for name in ("RUSTFLAGS", "CGO_CFLAGS", "CMAKE_BUILD_TYPE"):
            with self.subTest(name):
                counts = [self.count_of_builds(**{name: value}) for value in "aaba"]
                self.assertEqual(counts, [2, 0, 2, 0])

    def test_another_tool_chain_means_another_build(self):
        path = {"PATH": f"{self.folder}/tools:{os.environ['PATH']}"}
        for name, env in (("cc", path), ("rustc", path),
                          ("other-cc", {**path, "CC": "other-cc -m64"}),
                          ("home/toolchains/stable/bin/rustc",
                           {"RUSTUP_HOME": f"{self.folder}/tools/home"})):
            with self.subTest(name):
                self.script(f"tools/{name}", "")
                self.count_of_builds(**env)
                self.assertEqual(self.count_of_builds(**env), 0)
                self.script(f"tools/{name}", "# of another version")
                self.assertEqual(self.count_of_builds(**env), 2)


if __name__ == "__main__":
    main()
