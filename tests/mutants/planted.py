"""`scripts/mutate --planted`: mutation operators over the concurrent core of the runtime."""

import sys
from collections import Counter, defaultdict
from pathlib import Path

import judge
import planted_build
import survivors


def folder_of(mutant):
    return mutant.file.rsplit("/", 1)[0]


def piece_of(mutants, piece):
    """Returns the I-th of N pieces: every N-th mutant, so that each piece has some of every
    file."""
    if piece is None:
        return mutants
    which, of = piece
    return mutants[which - 1::of]


def table(mutants, results, not_compiled, known):
    """Returns a row for each folder: the outcomes of its mutants."""
    columns = ("model", "test", "storm", "compiler", "time-out", "equivalent", "no reason",
               "not reached", "does not compile", "not judged")
    rows = defaultdict(Counter)
    for mutant in mutants:
        row = rows[folder_of(mutant)]
        row["planted"] += 1
        result = results.get(mutant.name)
        if mutant.name in not_compiled:
            row["does not compile"] += 1
        elif result is None or result["verdict"] == "not judged":
            row["not judged"] += 1
        elif result["verdict"] == "killed":
            row["time-out" if result["why"] == "time-out" else result["by"]] += 1
        elif mutant.name in known.reasons:
            row["equivalent"] += 1
        else:
            row["no reason" if result["verdict"] == "survived" else "not reached"] += 1
    rows["together"] = sum((row for _, row in sorted(rows.items())), Counter())
    lines = ["| folder | planted | " + " | ".join(columns) + " |",
             "|:--|--:|" + "--:|" * len(columns)]
    for name, row in rows.items():
        shown = f"`{name}/`" if name != "together" else name
        cells = " | ".join(str(row[column] or "") for column in columns)
        lines.append(f"| {shown} | {row['planted']} | {cells} |")
    return "\n".join(lines)


def run(arguments, root):
    """Returns the exit status."""
    folder = root / "build/mutants"
    folder.mkdir(parents=True, exist_ok=True)
    build = planted_build.PlantedBuild(root, folder)
    mutants = build.find()
    known = survivors.Survivors()
    if wrong := list(survivors.faults(known, {mutant.name for mutant in mutants})):
        sys.exit("\n".join(f"mutate: survivors.json: {each}" for each in wrong))
    paths = tuple(path.rstrip("/") for path in arguments.planted)
    chosen = [mutant for mutant in piece_of(mutants, arguments.piece)
              if arguments.only in mutant.name and
              (not paths or mutant.file.startswith(paths))]
    if not chosen:
        sys.exit("mutate: no such mutant")
    if arguments.sample is not None:
        chosen = chosen[::max(1, len(chosen) // arguments.sample)][:arguments.sample]
    if arguments.list:
        print("\n".join(mutant.name for mutant in chosen))
        return 0
    results = judge.Results(Path(arguments.results or folder / "results.jsonl"))
    if arguments.table:
        build.load_not_compiled()
        print(table(chosen, results.all, build.not_compiled, known))
        return 0
    build.compile()
    judging = judge.Judge(build, arguments.within)
    judging.record()
    work = [mutant for mutant in chosen if mutant.name not in build.not_compiled and
            is_due(results.all.get(mutant.name), arguments.again)]
    print(f"{len(chosen)} mutants, of which {len(work)} are to be judged", flush=True)
    done = Counter()

    def tell(mutant, result):
        done["all"] += 1
        if result["verdict"] == "killed" and not arguments.verbose:
            return
        said = known.reasons.get(mutant.name) or f"{result['test']} {result['why']}".strip()
        print(f"[{done['all']}/{len(work)}] **{result['verdict']}** {mutant.file}:{mutant.line} "
              f"{mutant.name}: {said}", flush=True)

    judge.judge_all(judging, results, work, arguments.jobs, tell)
    print(table(chosen, results.all, build.not_compiled, known))
    return verdict(chosen, results.all, build.not_compiled, known)


def is_due(result, again):
    return (result is None or result["verdict"] == "not judged" or
            (again and result["verdict"] != "killed"))


def verdict(mutants, results, not_compiled, known):
    """Returns 1 if a mutant survives that the list of survivors does not name, although its file
    was judged before, or if one is killed that, according to the list, nothing could kill."""
    status = 0
    for mutant in mutants:
        result = results.get(mutant.name)
        if (result is None or mutant.name in not_compiled or
                result["verdict"] == "not judged"):
            continue
        listed = mutant.name in known.reasons
        if result["verdict"] != "killed" and not listed and known.has_been_judged(mutant.file):
            print(f"survived, and is not in survivors.json: {mutant.name}")
            status = 1
        if result["verdict"] == "killed" and listed:
            print(f"wrongly listed as equivalent: {mutant.name}: {result['test']} {result['why']}")
            status = 1
    return status
