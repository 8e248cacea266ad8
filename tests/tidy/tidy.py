#!/usr/bin/env python3
"""Checks the project's rules that a compiler does not know.

usage: tidy.py RULE...

Rules: floors, guarded, memory_order, style, sources_listed. Prints every breach as path:line:
message and exits 1 if there is one. The rules have tests of their own in rules_test.py.

examples:
  tests/tidy/tidy.py floors
  tests/tidy/tidy.py floors guarded memory_order style sources_listed
"""

import sys

import floors
import guarded
import memory_order
import sources_listed
import style
from source import project_files, project_root, read

PER_FILE = {
    "floors": floors,
    "guarded": guarded,
    "memory_order": memory_order,
    "style": style,
}
RULES = [*PER_FILE, "sources_listed"]


def run(rule, root, files):
    if rule == "sources_listed":
        yield from sources_listed.check(files, lambda path: read(root, path).text)
        return
    if rule == "floors":
        yield from floors.check_circles(read(root, path) for path in files)
    for path in files:
        if style.is_source(path):
            yield from PER_FILE[rule].check(read(root, path))


def main(arguments):
    unknown = [rule for rule in arguments if rule not in RULES]
    if not arguments or unknown:
        print(__doc__.strip(), file=sys.stderr)
        return 0 if "--help" in arguments else 2
    root = project_root()
    files = project_files(root)
    findings = [finding for rule in arguments for finding in run(rule, root, files)]
    for finding in findings:
        print(finding)
    print(f"{', '.join(arguments)}: {len(findings)} breaches in {len(files)} files")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
