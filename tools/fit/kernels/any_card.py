#!/usr/bin/env python3
"""Fits data/kernels/any.jsonl.gz: kernel times by a card's specification.

usage: tools/fit/kernels/any_card.py TABLES [--out data/kernels] [--kinds K,…]

For cards that nobody measured: one surface over all measured ones, whose
features know a card by its peaks, bandwidth, cache, links and
multiprocessors alone. Every kind is tried on each system by surfaces that saw
none of it; those errors are printed, and they make the interval. Needs numpy,
scipy and lightgbm.
"""
import argparse
import os
import sys
import time

import numpy as np

import features
import pack
import surface
import tables

KINDS = ["gemm", "attention_prefill", "attention_decode",
         "attention_encoder", "mla_prefill", "mla_decode", "mla_bmm", "moe",
         "collective", "allreduce_custom", "quantize"]
# One shape in as many is taken of each system.
SHARE = {"gemm": 24, "attention_prefill": 24, "attention_decode": 24,
         "attention_encoder": 3, "moe": 32}
SIZES = {"gemm": (90, 31), "attention_prefill": (60, 31),
         "attention_decode": (60, 31), "moe": (60, 31)}
SIZE = (40, 15)
# What tells one campaign's kernel and no card.
UNKNOWN = {"series", "code version", "code distribution"}


def joined(found):
    """Tables of several systems as one; words by text."""
    names = [w for w in found[0].words if w not in ("version", "kernel")]
    vocabulary = {n: sorted({t for table in found
                             for t in table.vocabulary[n]}) for n in names}
    words = {n: np.concatenate([
        np.array([vocabulary[n].index(t) for t in table.vocabulary[n]])[
            table.words[n]] for table in found]) for n in names}
    kept = set.intersection(*[set(t.numbers) for t in found])
    numbers = {n: np.concatenate([t.numbers[n] for t in found]) for n in kept}
    curve, shapes = [], []
    for table in found:
        curve.append(table.curve + len(shapes))
        shapes += table.shape
    return tables.Table(numbers, words,
                        np.concatenate([t.time for t in found]),
                        np.concatenate(curve), shapes, vocabulary)


class Series(surface.Series):
    """By framework and dtypes; no place."""

    def __init__(self, kind, table):
        self.own = [n for n in table.words if n != "distribution"]
        super().__init__(kind, table)

    def names_of(self, kind):
        return self.own


def fit(kind, root, cards):
    found, system = [], []
    for name, card in cards.items():
        table = tables.load(root, name, kind, SHARE.get(kind, 1))
        if table is None:
            continue
        tables.derive(kind, table, card)
        found.append(table)
        system += [name] * len(table.time)
    system = np.array(system)
    table = joined(found)
    series = Series(kind, table)
    kept = [t for t in features.FEATURES[kind] if t not in UNKNOWN]
    x, names = surface.matrix(kind, table, series, kept)
    target = series.target
    trees, leaves = SIZES.get(kind, SIZE)
    # Systems weigh alike.
    weight = np.zeros(len(target))
    for name in np.unique(system):
        weight[system == name] = 1 / (system == name).sum()
    weight /= weight.mean()
    error = np.full(len(target), np.nan)
    for name in np.unique(system):
        out = system == name
        booster = surface.train(x[~out], target[~out], trees, leaves,
                                weights=weight[~out])
        error[out] = surface.predict(booster, x[out]) - target[out]
        e = np.abs(np.exp(error[out]) - 1)
        print(kind, "without", name, f"median {np.median(e):.3f} "
              f"p90 {np.quantile(e, .9):.3f} "
              f"bias {np.exp(error[out].mean()):.3f}", flush=True)
    row = surface.row_of(kind, table, series, x, names, target, error,
                         (trees, leaves), weight, system)
    return row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tables")
    parser.add_argument("--out",
                        default=os.path.join(surface.ROOT, "data/kernels"))
    parser.add_argument("--kinds", default=",".join(KINDS))
    args = parser.parse_args()
    rows = tables.devices(os.path.join(surface.ROOT,
                                       "data/accelerators.jsonl"))
    cards = {s: tables.Card(s, rows[i]) for s, i in tables.SYSTEMS.items()}
    models = []
    for kind in args.kinds.split(","):
        start = time.time()
        row = fit(kind, args.tables, cards)
        models.append(row)
        print(kind, row["points"], row["left_out"],
              f"{time.time() - start:.0f} s", flush=True)
    data = pack.lines({"id": "any", "system": "any", "date": tables.DATE,
                       "source": tables.SOURCE,
                       "made_by": "tools/fit/kernels/any_card.py"}, models)
    with open(os.path.join(args.out, "any.jsonl.gz"), "wb") as file:
        file.write(data)
    print(len(data), "bytes")


if __name__ == "__main__":
    sys.exit(main())
