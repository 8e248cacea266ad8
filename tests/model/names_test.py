#!/usr/bin/env python3
"""Checks that no name of the runtime is the same for the linker when its sources are compiled
against other primitives: else an inline function of either kind could be taken for the other's.

usage: names_test.py NM RUNTIME MODELLED

NM lists the symbols of RUNTIME, the archive of the runtime, and of MODELLED, that of the same
sources behind tests/model/runtime_primitives.hpp.
"""

import re
import subprocess
import sys
import unittest

# Mangled names: of whatever has to do with the namespace of the runtime, its types in the
# standard's templates included, and of what is in the standard library, or the compiler's.
RUNTIME = re.compile(r"(?<!\d)9taskbench")
MODEL = re.compile(r"(?<!\d)15taskbench_model")
LIBRARY = re.compile(
    r"_Z(?:T[VIS]|G[VR]|Z)*N?[VKO]*(?:St|S[absiod]|9__gnu_cxx)|_Z(?:nw|dl)|DW\.ref\."
)
TESTER = re.compile(r"_Z(?:T[VIS]|G[VR]|Z)*N?[VKO]*2mc")


def external(nm, archive):
    """The names that an archive defines for others."""
    lines = subprocess.run(
        [nm, "--extern-only", "--defined-only", "--format=posix", archive],
        check=True, capture_output=True, text=True,
    ).stdout.splitlines()
    return {line.split()[0] for line in lines if len(line.split()) > 1}


class Names(unittest.TestCase):
    def test_no_name_of_the_runtime_is_in_both(self):
        both = ORDINARY & MODELLED
        self.assertEqual({name for name in both if not LIBRARY.match(name)}, set())
        self.assertEqual({name for name in both if RUNTIME.search(name)}, set())

    def test_every_name_is_the_runtimes_own_or_the_librarys(self):
        for names, own, other in ((ORDINARY, RUNTIME, MODEL), (MODELLED, MODEL, RUNTIME)):
            self.assertEqual({name for name in names if other.search(name)}, set())
            strangers = {name for name in names if not own.search(name) and not LIBRARY.match(name)}
            strangers = {name for name in strangers if not TESTER.match(name)}
            self.assertEqual(strangers, set())

    def test_both_have_names_in_which_no_primitive_shows(self):
        park = "2rt13work_stealing4Idle4parkEjb"
        self.assertIn(f"_ZN9taskbench{park}", ORDINARY)
        self.assertIn(f"_ZN15taskbench_model{park}", MODELLED)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    ORDINARY = external(sys.argv[1], sys.argv[2])
    MODELLED = external(sys.argv[1], sys.argv[3])
    unittest.main(argv=sys.argv[:1])
