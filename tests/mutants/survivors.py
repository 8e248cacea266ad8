"""The mutants that nothing kills: survivors.json, which holds

  judged      folders and files of which every mutant has been judged: whatever survives there must
              be in the list below
  equivalent  mutants that change nothing that a program could see, by the reason why
"""

import json
from pathlib import Path

FILE = Path(__file__).resolve().parent / "survivors.json"


class Survivors:
    def __init__(self, text=None):
        data = json.loads(FILE.read_text(encoding="utf-8") if text is None else text)
        self.judged = tuple(data["judged"])
        self.groups = data["equivalent"]
        self.reasons = {name: group["why"] for group in self.groups for name in group["mutants"]}

    def has_been_judged(self, file):
        return file.startswith(self.judged)


def faults(survivors, mutants):
    """Yields what is wrong with the list, given all `mutants` by name."""
    seen = set()
    for name in [name for group in survivors.groups for name in group["mutants"]]:
        if name in seen:
            yield f"twice: {name}"
        elif name not in mutants:
            yield f"no mutant any more: {name}"
        seen.add(name)
    for group in survivors.groups:
        if len(group["why"].split()) < 4:
            yield f"says no reason: {group['why']!r}"
