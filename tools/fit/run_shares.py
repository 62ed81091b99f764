#!/usr/bin/env python3
"""What part of a prediction's error two runs share.

    build/release/foretell score inference_speed ROWS --points points.jsonl
    tools/fit/run_shares.py ROWS points.jsonl [ROWS points.jsonl ...]

ROWS are measured records (one JSON object a line) with the fields model, gpu
and framework or engine; points.jsonl is what `score --points` wrote of them.

The error of a comparison is the logarithm of measured over predicted. For the
pairs of comparisons of one quantity, card and engine, the mean product of two
errors over the mean square is the part of the variance that they share: once
for pairs of the same model, once for pairs of different models. Pairs count so
that every card with its engine weighs the same, however many rows it has.
Both shares stand in src/answers/calibration.cc, which rounds them down: to
trust a run too little is the lesser fault.
"""

import collections
import json
import math
import sys


def read(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def errors(rows_file, points_file):
    rows = read(rows_file)
    for point in read(points_file)[1:]:
        if not point["predicted"] or not point["measured"]:
            continue
        row = rows[point["line"] - 1]
        engine = row.get("framework") or row.get("engine") or ""
        where = (point["quantity"], row.get("gpu"), engine.split()[0].lower())
        yield where, row["model"], math.log(point["measured"] / point["predicted"])


def shares(samples):
    """Shares by pairs of the same and of different models, each a mean over
    cards with their engines."""
    by_where = collections.defaultdict(lambda: collections.defaultdict(list))
    for where, model, error in samples:
        by_where[where][model].append(error)
    same, other = [], []
    for models in by_where.values():
        all_errors = [e for group in models.values() for e in group]
        square = sum(e * e for e in all_errors) / len(all_errors)
        if len(all_errors) < 4 or square == 0:
            continue
        products = pairs = 0.0
        for group in models.values():
            if len(group) < 2:
                continue
            products += sum(group) ** 2 - sum(e * e for e in group)
            pairs += len(group) * (len(group) - 1)
        if pairs:
            same.append(products / pairs / square)
        sums = [sum(group) for group in models.values()]
        sizes = [len(group) for group in models.values()]
        pairs = sum(sizes) ** 2 - sum(n * n for n in sizes)
        if pairs:
            products = sum(sums) ** 2 - sum(s * s for s in sums)
            other.append(products / pairs / square)
    return same, other


def told(name, values):
    values = sorted(values)
    middle = values[len(values) // 2] if values else float("nan")
    mean = sum(values) / len(values) if values else float("nan")
    print(f"{name}: mean {mean:.2f}, median {middle:.2f}, of {len(values)} cards with an engine")


def main(arguments):
    if not arguments or len(arguments) % 2:
        sys.exit(__doc__)
    samples = []
    for rows_file, points_file in zip(arguments[::2], arguments[1::2]):
        samples += errors(rows_file, points_file)
    same, other = shares(samples)
    told("the same model", same)
    told("another model", other)


if __name__ == "__main__":
    main(sys.argv[1:])
