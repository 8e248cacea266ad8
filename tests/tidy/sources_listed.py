"""Sources are listed in the CMakeLists.txt of their folder, never globbed: a file that is not
listed is neither built nor installed, which shows only here."""

import re

from source import CXX_SUFFIXES, Finding

PARTS = ("runtime", "reports", "workloads", "harness", "cli", "scripts/peers", "tests")
# Projects with lists of their own, and files for a copy of this project.
ELSEWHERE = ("tests/package/", "tests/runtime/added_scheduler/")


def check(files, read_text):
    """`files` are all paths of the project, `read_text` gives a path's text."""
    for part in PARTS:
        cmake = f"{part}/CMakeLists.txt"
        sources = {
            path[len(part) + 1 :]
            for path in files
            if path.startswith(f"{part}/")
            and path.endswith(CXX_SUFFIXES)
            and not path.startswith(ELSEWHERE)
        }
        if cmake not in files:
            if sources:
                yield Finding(cmake, 1, "is missing")
            continue
        text = re.sub(r"#[^\n]*", "", read_text(cmake))
        listed = set(re.findall(r"[\w./-]+\.(?:cpp|hpp)\b", text))
        for path in sorted(sources - listed):
            yield Finding(cmake, 1, f"{path} is not listed")
        for path in sorted(listed - sources):
            yield Finding(cmake, 1, f"{path} is listed and does not exist")
        if re.search(r"\bfile\s*\(\s*GLOB", text):
            yield Finding(cmake, 1, "sources are listed, not globbed")
