"""Judges left-out lock guards by clang's analysis, which rejects unguarded uses of guarded
members."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

CLANG = next((found for name in ("clang++-16", "clang++") if (found := shutil.which(name))), None)


def without_guard(text, mutant):
    """Returns the text of the mutant's file without the declaration of its lock guard."""
    place = mutant.edits[0][0]
    begin = text.rindex(b"const", 0, place) if text[:place].endswith(b"const ") else place
    end = text.index(b";", place) + 1
    return text[:begin] + text[end:]


def refusal(root, mutant):
    """Returns clang's complaint about the sources without the guard; None if it accepts them, or is
    missing."""
    if mutant.kind != "lock" or CLANG is None:
        return None
    with tempfile.TemporaryDirectory(prefix="taskbench-mutants-") as name:
        changed = Path(name) / mutant.file
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_bytes(without_guard((root / mutant.file).read_bytes(), mutant))
        done = subprocess.run(
            [CLANG, "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Wthread-safety-beta",
             "-Werror=thread-safety", f"-I{name}", f"-I{root}", "-xc++", changed],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", check=False)
    why = re.search(r"error: (.*) \[-Werror,-Wthread-safety", done.stderr)
    return why.group(1) if why else None
