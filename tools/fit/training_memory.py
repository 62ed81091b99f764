#!/usr/bin/env python3
"""How far predicted peaks of training runs are off, by what was laid over a step.

usage: tools/fit/training_memory.py PROGRAM training_memory.jsonl [CONFIGS ALIASES]

In: measured training runs, scored by `foretell score training_memory`. Used
are peaks of max_memory_allocated whose unit is sure, on one card or divided.
Out: for each kind of job (plain; packed weights or a fused loss; divided among
cards) how many rows and groups there are, and the error that nine of ten rows
stay below, taken over groups that are left out one at a time: the largest of
those is the margin. The margins of src/answers/train_memory.cc are these,
rounded up.
"""
import collections
import json
import subprocess
import sys
import tempfile


def kind_of(row):
    sharding = (row.get("sharding") or {}).get("kind")
    if sharding not in (None, "none"):
        return "divided"
    if row.get("quant") != "none" or row.get("fused_loss"):
        return "packed or fused"
    return "plain"


def errors_of(program, rows, extra):
    """The relative errors of one group's rows."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
        file.flush()
        done = subprocess.run(
            [program, "score", "training_memory", file.name, "--json"] + extra,
            capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    return [score["error"] for score in answer.get("worst", [])
            if score["quantity"] == "allocated"]


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def main():
    program, path = sys.argv[1:3]
    extra = []
    if len(sys.argv) > 4:
        extra = ["--configs", sys.argv[3], "--aliases", sys.argv[4]]
    groups = collections.defaultdict(list)
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        measured = row.get("measured") or {}
        if (measured.get("metric") == "max_memory_allocated"
                and measured.get("peak_gib_norm")):
            groups[kind_of(row), row["group"]].append(row)
    found = collections.defaultdict(dict)
    for (kind, group), rows in sorted(groups.items()):
        errors = []
        for start in range(0, len(rows), 90):  # `worst` holds a hundred
            errors += errors_of(program, rows[start:start + 90], extra)
        if errors:
            found[kind][group] = errors
    for kind, by_group in sorted(found.items()):
        margins = []
        for left_out in by_group:
            rest = [error for group, errors in by_group.items()
                    if group != left_out or len(by_group) == 1
                    for error in errors]
            margins.append(quantile(rest, 0.9))
        rows = sum(len(errors) for errors in by_group.values())
        print(f"{kind}: {rows} rows of {len(by_group)} groups, nine of ten "
              f"within {max(margins):.4f}")
        print("  groups: " + ", ".join(sorted(by_group)))


if __name__ == "__main__":
    main()
