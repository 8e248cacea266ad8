#!/usr/bin/env python3
"""Checks with clang-format that every C++ source is formatted as .clang-format says.

usage: check_format.py [--fix]

Versions of clang-format disagree with each other, so only version 14 (Debian 12's) is asked.
Exits 1 when a file differs, 77 when there is no clang-format 14. --fix formats the files in place.

examples:
  tests/tidy/check_format.py
  tests/tidy/check_format.py --fix
"""

import re
import shutil
import subprocess
import sys

from source import CXX_SUFFIXES, project_files, project_root

VERSION = 14


def find_clang_format():
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path is None:
            continue
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        if re.search(rf"\bversion {VERSION}\.", answer.stdout):
            return path
    return None


def main(arguments):
    if arguments not in ([], ["--fix"]):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if arguments == ["--help"] else 2
    clang_format = find_clang_format()
    if clang_format is None:
        print(f"clang-format {VERSION} is not installed; other versions format differently")
        return 77
    root = project_root()
    sources = [path for path in project_files(root) if path.endswith(CXX_SUFFIXES)]
    if not sources:
        print("no sources found")
        return 1
    mode = ["-i"] if arguments else ["--dry-run", "-Werror"]
    return subprocess.run([clang_format, *mode, *sources], cwd=root, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
