"""The rule of guarded members: each member declared beside a lock in runtime/ says whether the lock
guards it, so that clang can check it (runtime/base/thread_safety.hpp).

Beside a lock are the members that follow it, up to the next blank line, access specifier, or end of
the class. Each is annotated with TASKBENCH_GUARDED_BY, or is an atomic, a constant, a reference or
another lock, or has a comment "unguarded:" that says why. A lock that no annotation in its file
names has a comment that says what it "guards".
"""

import re

from source import Finding

LOCK = re.compile(r"\b(?:Mutex|SpinLock|BiasedLock) (?P<name>\w+);")
# Files in which locks are made of locks.
LOCKS = ("runtime/base/sync_primitives.hpp", "runtime/base/biased_lock.hpp")
END = re.compile(r"^\s*(?:\}|(?:public|protected|private):|$)")
FREE = re.compile(r"\bAtomic<|^\s*(?:static|constexpr|const|using|friend)\b|&\s*\w+;$")


def check(source):
    """Yields a Finding for each member beside a lock that does not say whether it is guarded."""
    if not source.is_cxx or not source.path.startswith("runtime/") or source.path in LOCKS:
        return
    for index, line in enumerate(source.code_lines):
        lock = LOCK.search(line)
        if not lock:
            continue
        name = lock.group("name")
        annotated = re.search(rf"TASKBENCH_GUARDED_BY\([^;]*\b{name}\b", source.code)
        if not annotated and "guards" not in source.comment_lines[index]:
            message = f'no member is guarded by {name}, and no comment says what it "guards"'
            yield Finding(source.path, index + 1, message)
        yield from check_beside(source, index + 1)


def check_beside(source, first):
    """Checks the members declared on the lines from `first` on."""
    start = first
    while start < len(source.lines) and not END.match(source.lines[start]):
        end = start
        # A declaration may span several lines, and begins with the comment above it.
        while end + 1 < len(source.lines) and not source.code_lines[end].rstrip().endswith(";"):
            if END.match(source.lines[end]):
                return
            end += 1
        code = " ".join(line.strip() for line in source.code_lines[start : end + 1]).strip()
        said = " ".join(source.comment_lines[start : end + 1])
        is_guarded = "TASKBENCH_GUARDED_BY" in code or "unguarded:" in said
        if not is_guarded and not FREE.search(code) and not LOCK.search(code):
            message = 'a member beside a lock: annotate it, or say "unguarded:" and why'
            yield Finding(source.path, end + 1, message)
        start = end + 1
