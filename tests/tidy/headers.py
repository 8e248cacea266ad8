#!/usr/bin/env python3
"""Compiles headers by themselves, as if each were included first.

usage: headers.py COMPILER [FOLDER_OF_GENERATED_HEADERS]...

Only headers without a .cpp of the same name: a .cpp includes its header first, which proves the
same if each source is compiled by itself (presets dev and dev-clang). Prints the compiler's errors
for headers that do not compile, and exits 1 if there is one.

examples:
  tests/tidy/headers.py g++
  tests/tidy/headers.py g++ build/release/generated
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from source import project_files, project_root


def errors_of(compiler, folders, root, path):
    """Returns the compiler's errors; empty for a header that compiles."""
    includes = [f"-I{folder}" for folder in (root, *folders)]
    answer = subprocess.run(
        [compiler, "-std=c++20", *includes, "-fsyntax-only", "-w", "-x", "c++", path],
        cwd=root, capture_output=True, text=True, check=False,
    )
    return answer.stderr if answer.returncode else ""


def main(arguments):
    if not arguments or arguments[0] == "--help":
        print(__doc__.strip(), file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    compiler, *folders = arguments
    folders = [os.path.abspath(folder) for folder in folders]
    root = project_root()
    files = set(project_files(root))
    headers = sorted(path for path in files
                     if path.endswith(".hpp") and path.removesuffix("hpp") + "cpp" not in files)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        errors = list(pool.map(lambda path: errors_of(compiler, folders, root, path), headers))
    print("".join(errors), end="")
    bad = sum(bool(each) for each in errors)
    print(f"{bad} of {len(headers)} headers do not compile by themselves")
    return 1 if bad or not headers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
