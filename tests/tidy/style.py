"""Small rules for every source file."""

import re

from source import Finding

MAX_COLUMNS = 100
MAX_LINES = 700
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
SUFFIXES = (".hpp", ".cpp", ".py", ".sh", ".cmake", ".in", "CMakeLists.txt")


def is_source(path):
    in_scripts = path.startswith("scripts/") and "." not in path
    return path.endswith(SUFFIXES) or in_scripts or path == ".ci/run"


def check(source):
    """Yields a Finding for each breach in one file."""
    if not is_source(source.path):
        return
    yield from check_text(source)
    if source.path.endswith(".hpp"):
        yield from check_header_guard(source)
    if source.path.endswith(".cpp"):
        yield from check_own_header_first(source)


def check_text(source):
    if len(source.lines) - 1 > MAX_LINES:
        yield Finding(source.path, MAX_LINES + 1, f"the file is longer than {MAX_LINES} lines")
    if not source.text.endswith("\n") or source.text.endswith("\n\n"):
        yield Finding(source.path, len(source.lines), "the file must end with one line break")
    for number, line in enumerate(source.lines, start=1):
        if len(line) > MAX_COLUMNS:
            yield Finding(source.path, number, f"the line is longer than {MAX_COLUMNS} columns")
        if line != line.rstrip():
            yield Finding(source.path, number, "blanks at the end of the line")
        if "\t" in line:
            yield Finding(source.path, number, "a tab")
        if UNFINISHED.search(line):
            yield Finding(source.path, number, "unfinished work is an issue, not a comment")


def check_header_guard(source):
    code = [line.strip() for line in source.code_lines]
    first = next((line for line in code if line), "")
    if first != "#pragma once":
        yield Finding(source.path, 1, "a header's first line of code is #pragma once")


def check_own_header_first(source):
    """A .cpp that has a header must include it first, which proves the header self-contained if
    sources are compiled one by one."""
    if source.path.split("/")[0] not in ("runtime", "reports", "workloads", "cli"):
        return
    own = re.sub(r"\.cpp$", ".hpp", source.path)
    for position, (line, _, target) in enumerate(source.includes()):
        if target == own and position > 0:
            yield Finding(source.path, line, f"{own} must be the first include")
