#!/usr/bin/env python3
"""Writes what data/kernels says of curves, as a table of kernel times.

usage: tools/fit/kernels/predict.py ROOT SYSTEM KIND > KIND.csv

In: ROOT/SYSTEM/KIND.csv.gz, whose times are not looked at. Out: the same
curves with predicted times. A second reading of the packed trees, apart from
the program's: tests/golden/score_kernels.txt holds `foretell score kernels`
to these tables.
"""
import base64
import csv
import gzip
import os
import sys
import zlib

import numpy as np

import features
import pack
import surface
import tables


def trees_of(packed):
    """Each tree as nested (feature, threshold, left, right) or a number."""
    data = zlib.decompress(base64.b64decode(packed["packed"]))
    leaves, trees = packed["leaves"], packed["trees"]
    nodes, splits = 2 * leaves - trees, leaves - trees
    at = (nodes + 7) // 8
    bits = iter(np.unpackbits(np.frombuffer(data[:at], np.uint8))[:nodes])
    chosen = iter(data[at:at + splits])
    index = iter(data[at + splits:at + 2 * splits])
    at += 2 * splits
    values = iter(np.frombuffer(data[at:at + leaves], np.int8))
    at += leaves
    count = sum(packed["thresholds"])
    planes = [data[at + i * count:at + (i + 1) * count] for i in range(3)]
    flat = [np.frombuffer(bytes([a, b, c, 0]), ">f4")[0]
            for a, b, c in zip(*planes)]
    starts = np.cumsum([0, *packed["thresholds"]])
    at += 3 * count
    planes = [data[at + i * trees:at + (i + 1) * trees] for i in range(4)]
    scales = [np.frombuffer(bytes(b), ">f4")[0] for b in zip(*planes)]

    def node(scale):
        if not next(bits):
            return float(next(values)) * float(scale)
        feature = next(chosen)
        threshold = flat[starts[feature] + next(index)]
        return feature, threshold, node(scale), node(scale)

    return [node(scale) for scale in scales]


def value_of(tree, x):
    while isinstance(tree, tuple):
        tree = tree[2] if x[tree[0]] <= tree[1] else tree[3]
    return tree


def main():
    root, system, kind = sys.argv[1:4]
    rows = tables.devices(os.path.join(surface.ROOT,
                                       "data/accelerators.jsonl"))
    card = tables.Card(system, rows[tables.SYSTEMS[system]])
    table = tables.load(root, system, kind)
    tables.derive(kind, table, card)
    path = os.path.join(surface.ROOT, "data/kernels", card.id + ".jsonl.gz")
    model = next(m for m in pack.read(path)[1:] if m["kind"] == kind)
    trees = trees_of(model["centre"])
    names = list(model["words"])
    columns = []
    found = []
    for i in range(len(table.time)):
        words = [model["words"][n].index(
            table.vocabulary[n][table.words[n][i]]) for n in names]
        found.append(next(s for s in model["series"]
                          if s[:len(names)] == words))
    for text in model["features"]:
        if text == "series":
            column = [s[len(names)] for s in found]
        elif text.startswith("code "):
            column = [s[names.index(text[5:])] for s in found]
        else:
            column = features.evaluate(text, table.numbers)
        columns.append(np.broadcast_to(column, table.time.shape))
    x = np.stack(columns, 1).astype(np.float32)
    parts = [features.product(p, table.numbers) for p in model["basis"]]
    guess = [s[-1][0] + sum(w * p[i] for w, p in zip(s[-1][1:], parts))
             for i, s in enumerate(found)]
    time = np.array(guess) * np.exp(
        [sum(value_of(t, row) for t in trees) for row in x])
    path = os.path.join(root, system, kind + ".csv.gz")
    source = list(csv.DictReader(gzip.open(path, "rt", encoding="utf-8")))
    out = csv.DictWriter(sys.stdout, source[0].keys(), lineterminator="\n")
    out.writeheader()
    for i, row in enumerate(source):
        row["time_us"] = " ".join(f"{t:.7g}" for t in time[table.curve == i])
        out.writerow(row)


if __name__ == "__main__":
    main()
