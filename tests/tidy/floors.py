"""The floors of ARCHITECTURE.md: which folder may include which."""

import posixpath
import re

from source import Finding

# Every folder, with the folders that it may include besides itself. No folder names one below it in
# this list, so there can be no cycle.
FLOORS = {
    "runtime/base": "",
    "runtime/trace": "runtime/base",
    "runtime/queue": "runtime/base",
    "runtime/task": "runtime/base runtime/trace runtime/queue",
    "runtime/sync": "runtime/base runtime/task",
    "runtime/park": "runtime/base runtime/trace",
    "runtime/driver": "runtime/base runtime/trace runtime/queue runtime/task runtime/park",
    "runtime/time": "runtime/base runtime/task runtime/sync runtime/driver",
    "runtime/blocking": "runtime/base runtime/trace runtime/queue runtime/task runtime/park",
    "runtime/net": "runtime/base runtime/task runtime/sync runtime/driver runtime/time"
    " runtime/blocking",
    "runtime/signal": "runtime/base runtime/net",
    # What schedulers have in common, then each scheduler.
    "runtime/scheduler": "runtime/base runtime/trace runtime/queue runtime/task runtime/sync"
    " runtime/park runtime/driver runtime/blocking",
    "runtime/scheduler/channel": "runtime/scheduler",
    "runtime/scheduler/current_thread": "runtime/scheduler",
    "runtime/scheduler/global_queue": "runtime/scheduler",
    "runtime/scheduler/sharded": "runtime/scheduler",
    "runtime/scheduler/tokio01": "runtime/scheduler",
    "runtime/scheduler/work_stealing": "runtime/scheduler",
    "runtime/scheduler/go": "runtime/scheduler runtime/scheduler/work_stealing",
    "runtime/scheduler/in_turn": "runtime/scheduler runtime/scheduler/work_stealing",
    "runtime": "ANY_OF_RUNTIME",
    "runtime/testing": "runtime/base runtime/trace runtime/task runtime/sync runtime/driver"
    " runtime/time runtime/net runtime/scheduler runtime",
    "reports/model": "",
    "reports/stats": "reports/model",
    "reports/verdict": "reports/model reports/stats",
    "reports/perf": "reports/model",
    "reports/json": "reports/model reports/stats reports/verdict",
    "reports/tools": "reports/model reports/json",
    "reports/render": "reports/model reports/stats reports/verdict",
    "workloads/base": "PUBLIC_OF_RUNTIME",
    "workloads/net": "PUBLIC_OF_RUNTIME workloads/base",
    "workloads": "PUBLIC_OF_RUNTIME workloads/base workloads/net",
    "harness/os": "reports/model",
    "harness/machine": "harness/os reports/model",
    "harness/bench": "harness/os harness/machine reports/model workloads/base workloads"
    " PUBLIC_OF_RUNTIME",
    "harness/files": "harness/os reports/model reports/tools reports/json",
    "harness/programs": "harness/os harness/machine harness/bench harness/files reports/model"
    " reports/stats reports/tools reports/json",
    "harness/counting": "harness/os harness/bench harness/files harness/programs reports/model"
    " reports/perf reports/json PUBLIC_OF_RUNTIME",
    "harness/trials": "harness/os harness/machine harness/bench harness/files harness/programs"
    " harness/counting reports/model reports/stats reports/verdict reports/perf reports/json",
    "cli/output": "ANY_OF_HARNESS ANY_OF_REPORTS",
    "cli/options": "cli/output ANY_OF_HARNESS ANY_OF_REPORTS workloads/base workloads"
    " PUBLIC_OF_RUNTIME",
    "cli/commands": "cli/output cli/options ANY_OF_HARNESS ANY_OF_REPORTS workloads/base workloads"
    " PUBLIC_OF_RUNTIME",
    "cli": "cli/output cli/options cli/commands ANY_OF_HARNESS ANY_OF_REPORTS workloads/base",
}


def all_in(part, above):
    """Returns the folders of a part that come before `above`."""
    before = list(FLOORS)[:list(FLOORS).index(above)]
    return {folder for folder in before if folder.split("/")[0] == part}


def allowed_below(folder):
    """Returns the folders that this one may include, without PUBLIC_OF_RUNTIME, which stands for
    headers."""
    below = set()
    for word in FLOORS[folder].split():
        if word.startswith("ANY_OF_"):
            below |= all_in(word.removeprefix("ANY_OF_").lower(), folder)
        elif word != "PUBLIC_OF_RUNTIME":
            below.add(word)
        if word.startswith("runtime/scheduler"):  # passes on what it may include itself
            below |= allowed_below(word)
    return below - {folder}


# What users of the runtime may include; the delays are only for taskbench's own command.
RUNTIME_PUBLIC = (
    "runtime/runtime.hpp",
    "runtime/ladder.hpp",
    "runtime/base/cache_line.hpp",
    "runtime/blocking/spawn_blocking.hpp",
    "runtime/net/",
    "runtime/signal/",
    "runtime/sync/",
    "runtime/testing/",
    "runtime/time/",
    "runtime/trace/planted_delay.hpp",
)

# The permutation tester replaces these, which works only if nobody bypasses them.
PRIMITIVES = "runtime/base/sync_primitives.hpp"
PRIMITIVE_HEADERS = {
    "atomic",
    "barrier",
    "condition_variable",
    "future",
    "latch",
    "mutex",
    "semaphore",
    "shared_mutex",
    "stop_token",
    "thread",
}

# Ways around base that need no header: clocks, and thread-local variables.
AROUND_BASE = re.compile(
    r"\bthread_local\b|\b(?:steady|high_resolution)_clock\b|\b_*rdtscp?\b"
    r"|\b(?:clock_gettime|this_thread|usleep|nanosleep|sched_yield)\b"
)

# Clocks that may be set at any time, forwards or backwards, and so must have no effect.
WALL_CLOCK = re.compile(
    r"\b(?:system_clock|CLOCK_REALTIME\w*|CLOCK_TAI|FUTEX_CLOCK_REALTIME|gettimeofday)\b"
    r"|\btime\s*\(\s*(?:nullptr|NULL|0)\s*\)"
)

PARTS = {folder.split("/")[0] for folder in FLOORS}


def check(source):
    """Yields a Finding for each #include that goes upward, and each name that bypasses base."""
    part = source.path.split("/")[0]
    if not source.is_cxx or part not in PARTS:
        return
    for line, form, target in source.includes():
        reason = None
        if form == "<":
            if part == "runtime" and target in PRIMITIVE_HEADERS and source.path != PRIMITIVES:
                reason = f"only {PRIMITIVES} includes it; name the types of rt::base"
            elif target.split("/")[0] in PARTS:
                reason = "the project's own headers are included with quotes"
        elif "/" not in target or target.split("/")[0] not in PARTS:
            reason = "includes are written from the project's root"
        elif posixpath.normpath(target) != target:
            reason = "the path has detours"
        else:
            reason = why_not(source.path, target)
        if reason:
            yield Finding(source.path, line, f"may not include {target}: {reason}")
    if part != "runtime":
        return
    for match in WALL_CLOCK.finditer(source.code):
        message = f"{match.group()} is the wall clock's, which may be set at any time"
        yield Finding(source.path, source.line_at(match.start()), message)
    if not source.path.startswith(PRIMITIVES.removesuffix("hpp")):
        for match in AROUND_BASE.finditer(source.code):
            message = f"{match.group()} is for {PRIMITIVES} alone; name what rt::base has"
            yield Finding(source.path, source.line_at(match.start()), message)


def why_not(path, target):
    """Returns why `path` may not include the project's header `target`; None if it may."""
    folder, below = posixpath.dirname(path), posixpath.dirname(target)
    for name in (folder, below):
        if name not in FLOORS:
            return f"{name}/ has no floor; give it one in tests/tidy/floors.py"
    if folder == below or below in allowed_below(folder):
        return None
    if below.split("/")[0] == "runtime" and "PUBLIC_OF_RUNTIME" in FLOORS[folder]:
        if target.startswith(RUNTIME_PUBLIC):
            return None
        return "only the public headers of runtime: " + ", ".join(RUNTIME_PUBLIC)
    return f"{folder} stands on {FLOORS[folder] or 'nothing'}"


def check_circles(sources):
    """Yields a Finding for each cycle of headers, and for each cycle of folders."""
    files, folders = {}, {}
    for source in sources:
        if not source.is_cxx or source.path.split("/")[0] not in PARTS:
            continue
        folder = posixpath.dirname(source.path)
        for line, form, target in source.includes():
            if form == "<":
                continue
            files.setdefault(source.path, {})[target] = (source.path, line)
            if posixpath.dirname(target) != folder:
                place = (source.path, line)
                folders.setdefault(folder, {}).setdefault(posixpath.dirname(target), place)
    for graph in (files, folders):
        for circle in circles(graph):
            path, line = graph[circle[-2]][circle[-1]]
            yield Finding(path, line, f"closes a circle: {' -> '.join(circle)}")


def circles(graph):
    """Yields a path back to its beginning for each edge that closes a cycle in a walk of the
    graph."""
    done = set()
    for root in sorted(graph):
        trail, walk = [], [(root, iter(sorted(graph.get(root, {}))))]
        if root in done:
            continue
        trail.append(root)
        while walk:
            node, edges = walk[-1]
            target = next(edges, None)
            if target is None:
                done.add(node)
                trail.pop()
                walk.pop()
            elif target in trail:
                yield [*trail[trail.index(target):], target]
            elif target not in done:
                trail.append(target)
                walk.append((target, iter(sorted(graph.get(target, {})))))
