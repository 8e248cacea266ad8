#!/usr/bin/env python3
"""Groups the rows that the models print by suite, for the table in
docs/design/permutation_testing.md. Reads them from standard input."""

import re
import sys

ROW = re.compile(r"\| (?:\w+/)?(?P<of>\w+)\.\S+ \| (?P<threads>\d+) \| (?P<preemptions>\w+) \| "
                 r"(?P<stale>\w+) \| (?P<executions>\d+) \| (?P<seconds>[\d.]+) \|$")


def all_of(rows, column):
    values = {row[column] for row in rows}
    return ", ".join(sorted(values, key=lambda value: (value == "none", value)))


def main():
    groups = {}
    for line in sys.stdin:
        if row := ROW.match(line.rstrip("\n")):
            groups.setdefault(row["of"], []).append(row)
    for of, rows in groups.items():
        executions = sum(int(row["executions"]) for row in rows)
        seconds = sum(float(row["seconds"]) for row in rows)
        print(f"| {of} | {len(rows)} | {all_of(rows, 'threads')} | {all_of(rows, 'preemptions')} | "
              f"{all_of(rows, 'stale')} | {executions:,} | {seconds:.1f} |")


if __name__ == "__main__":
    main()
