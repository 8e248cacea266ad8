"""The mutants that nothing kills: survivors.json, which holds

  judged      folders and files of which every mutant has been judged: whatever survives there must
              be in the list below
  equivalent  mutants that change nothing that a program could see, by the reason why
"""

import json
import re
from pathlib import Path

FILE = Path(__file__).resolve().parent / "survivors.json"
NAME = re.compile(r"(?P<file>[\w/.]+), (?P<function>[^:]*(?:operator\S+)?): (?P<what>.*?)"
                  r"(?: \((?P<which>\d+)\))?$")


class Survivors:
    def __init__(self, text=None):
        data = json.loads(FILE.read_text(encoding="utf-8") if text is None else text)
        self.judged = tuple(data["judged"])
        self.groups = data["equivalent"]
        self.reasons = {name: group["why"] for group in self.groups for name in group["mutants"]}

    def has_been_judged(self, file):
        return file.startswith(self.judged)


def faults(survivors, source_of):
    """What is wrong with the list. `source_of` gives the Source of a file, or None."""
    seen = set()
    for name in [name for group in survivors.groups for name in group["mutants"]]:
        if name in seen:
            yield f"twice: {name}"
        seen.add(name)
        parts = NAME.match(name)
        if parts is None:
            yield f"no mutant has such a name: {name}"
            continue
        source = source_of("runtime/" + parts["file"])
        if source is None:
            yield f"the file is gone: {name}"
            continue
        text = source.text_of(0, len(source.text))
        codes = re.findall(r"`([^`]*)`", parts["what"])
        for code in codes or [parts["what"].split(" to ")[0]]:
            code = re.sub(r"^(return|bool \w+ =|if) ?|…$", "", code)
            if code.startswith("(") and parts["what"].startswith("`if ("):
                code = code[1:-1].removesuffix("…")
            if code not in text:
                yield f"the code is gone: {name}"
                break
    for group in survivors.groups:
        if len(group["why"].split()) < 4:
            yield f"says no reason: {group['why']!r}"
