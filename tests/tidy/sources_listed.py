"""Sources are listed in the CMakeLists.txt of their folder, never globbed: a file that is not
listed is neither built nor installed, and only this rule notices."""

import re

from source import CXX_SUFFIXES, Finding

PARTS = ("runtime", "reports", "workloads", "harness", "cli", "scripts/peers", "tests")
# Projects with lists of their own, and files for a copy of this project.
ELSEWHERE = ("tests/package/", "tests/runtime/added_scheduler/", "tests/mutants/")


def folders_with_lists(files):
    """Returns the parts, and the folders in them that have a list of their own."""
    inside = tuple(f"{part}/" for part in PARTS)
    return {*PARTS} | {
        path.removesuffix("/CMakeLists.txt")
        for path in files
        if path.endswith("/CMakeLists.txt")
        and path.startswith(inside)
        and not path.startswith(ELSEWHERE)
    }


def check(files, read_text):
    """`files` are all paths of the project; `read_text` returns the text of a path."""
    folders = folders_with_lists(files)
    sources = {folder: set() for folder in folders}
    for path in files:
        if path.endswith(CXX_SUFFIXES) and not path.startswith(ELSEWHERE):
            owners = [folder for folder in folders if path.startswith(f"{folder}/")]
            if owners:
                owner = max(owners, key=len)
                sources[owner].add(path[len(owner) + 1 :])
    for folder in sorted(folders):
        yield from check_list(folder, sources[folder], files, read_text)


def check_list(folder, sources, files, read_text):
    cmake = f"{folder}/CMakeLists.txt"
    if cmake not in files:
        if sources:
            yield Finding(cmake, 1, "is missing")
        return
    text = re.sub(r"#[^\n]*", "", read_text(cmake))
    listed = set(re.findall(r"[\w./-]+\.(?:cpp|hpp)\b", text))
    for path in sorted(sources - listed):
        yield Finding(cmake, 1, f"{path} is not listed")
    for path in sorted(listed - sources):
        yield Finding(cmake, 1, f"{path} is listed and does not exist")
    if re.search(r"\bfile\s*\(\s*GLOB", text):
        yield Finding(cmake, 1, "sources are listed, not globbed")
