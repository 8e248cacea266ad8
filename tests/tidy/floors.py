"""Who may include whom: the floors of the house."""

import posixpath
import re

from source import Finding

# The runtime's floors: each folder and the folders it may include besides itself.
RUNTIME_FLOORS = {
    "base": set(),
    "trace": {"base"},
    "queue": {"base"},
    "task": {"base", "trace", "queue"},
    "sync": {"base", "task"},
    "park": {"base", "trace"},
    "driver": {"base", "trace", "queue", "task", "park"},
    "time": {"base", "task", "sync", "driver"},
    "blocking": {"base", "trace", "queue", "task", "park"},
    "net": {"base", "task", "sync", "driver", "time", "blocking"},
    "signal": {"base", "net"},
    "scheduler": {"base", "trace", "queue", "task", "sync", "park", "driver", "blocking"},
}

# What users of the runtime may include; the delays are for taskbench's own command alone.
RUNTIME_PUBLIC = (
    "runtime/runtime.hpp",
    "runtime/ladder.hpp",
    "runtime/base/cache_line.hpp",
    "runtime/blocking/spawn_blocking.hpp",
    "runtime/net/",
    "runtime/signal/",
    "runtime/sync/",
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

# Clocks that may be set at any time, forwards or backwards, and so must make no difference.
WALL_CLOCK = re.compile(
    r"\b(?:system_clock|CLOCK_REALTIME\w*|CLOCK_TAI|FUTEX_CLOCK_REALTIME|gettimeofday)\b"
    r"|\btime\s*\(\s*(?:nullptr|NULL|0)\s*\)"
)

PARTS = {"runtime", "reports", "workloads", "cli"}


def check(source):
    """Yields a Finding for each #include that goes upward, and each name that goes around base."""
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
    """Why `path` may not include the project's header `target`; None when it may."""
    part, other = path.split("/")[0], target.split("/")[0]
    if part == "runtime":
        if other != "runtime":
            return "runtime knows nothing of the rest"
        return why_not_in_runtime(path, target)
    if part == "reports":
        return None if other == "reports" else "reports knows nothing of the rest"
    if other == "runtime" and not target.startswith(RUNTIME_PUBLIC):
        return "only the public headers of runtime: " + ", ".join(RUNTIME_PUBLIC)
    if part == "workloads":
        if other == "cli":
            return "cli is above workloads"
        measures = path.startswith(("workloads/measure/", "workloads/machine/"))
        if other == "reports" and not (measures and target.startswith("reports/model/")):
            return "workloads include of reports only its model, and only in measure/ and machine/"
    return None


def why_not_in_runtime(path, target):
    floor, below = floor_of(path), floor_of(target)
    if floor is None or floor == below:
        return None  # the façade is on top of everything
    if below is None:
        return "the façade is on top of everything"
    for name in (floor, below):
        if name not in RUNTIME_FLOORS:
            return f"runtime/{name}/ has no floor; give it one in tests/tidy/floors.py"
    if below not in RUNTIME_FLOORS[floor]:
        allowed = ", ".join(sorted(RUNTIME_FLOORS[floor])) or "nothing"
        return f"{floor} stands on {allowed}"
    return None


def floor_of(path):
    """The folder below runtime/, or None for a file of the façade."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else None
