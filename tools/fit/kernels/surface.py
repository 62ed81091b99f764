"""Fits one kind of one system: trees over features, with an interval.

A first guess is a sum of a fixed part and of shares of what a kernel must do
(tables.BASIS), its weights by series and none negative. The trees correct it:
they sum to the logarithm of time over it. Errors are told of shapes that were left out: the shapes are
split by a hash into four parts, two of which (one of a large table) are
predicted by trees that did not see them. The interval comes from those errors: a second, small sum of
trees gives their size over the features, and the 5th and 95th percentile of
error over size close it.
"""
import os
import zlib

import lightgbm as lgb
import numpy as np
from scipy.optimize import nnls

import features
import pack
import tables

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                    "..")
# Kind -> trees and leaves, so that a system's file stays below 200 KB. What
# serves most has most.
SIZES = {
    "gemm": (250, 63), "attention_prefill": (120, 63),
    "attention_decode": (140, 63), "attention_encoder": (50, 31),
    "mla_prefill": (40, 31), "mla_decode": (60, 31), "mla_bmm": (40, 15),
    "moe": (130, 63), "collective": (40, 15), "allreduce_custom": (40, 15),
    "quantize": (25, 15),
    "linear_attention_gdn": (25, 31), "moe_wideep_trtllm": (20, 15),
    "moe_wideep_sglang": (12, 15), "mla_wideep_sglang": (15, 15),
    "mlp_wideep_sglang": (8, 7),
}
OTHER = (20, 15)
PARTS = 4
MANY = 150_000
SPREAD = (10, 15)
SETTINGS = {"objective": "l1", "num_threads": 1, "verbose": -1,
            "feature_fraction": .9, "bagging_fraction": .8, "bagging_freq": 1,
            "max_bin": 127, "seed": 9, "deterministic": True, "force_row_wise": True}
# Variables whose measured range is told, where a kind has them.
RANGED = ["m", "n", "k", "batch", "q_heads", "kv_heads", "head_dim",
          "seq_len", "past_tokens", "tokens", "hidden", "inner", "experts",
          "topk", "gpus", "message_bytes", "arithmetic_us", "memory_us"]


def part_of(text):
    return zlib.crc32(text.encode()) % PARTS


MOST_FITTED = 20000  # points of a series that its first guess is fitted to


def weights(time, parts):
    """Of the fixed part and of `parts`, for the least relative error."""
    step = max(1, len(time) // MOST_FITTED)
    a = np.stack([np.ones(len(time)), *parts], 1)[::step]
    t = time[::step]
    scale = np.maximum((a / t[:, None]).max(0), 1e-30)
    found, _ = nnls(a / t[:, None] / scale, np.ones(len(t)))
    found = found / scale
    if not found.any():
        found[0] = np.median(t)
    # Never nothing: a tenth of the least time.
    found[0] = max(found[0], 0.1 * t.min())
    return [float(f"{w:.5g}") for w in found]


class Series:
    """The rows of one kernel: its words, its first guess, and where the mean
    of what that leaves lies."""

    def __init__(self, kind, table):
        parts = [features.product(p, table.numbers)
                 for p in tables.basis_of(kind)]
        self.names = self.names_of(kind)
        key = np.zeros(len(table.time), int)
        for name in self.names:
            key = key * len(table.vocabulary[name]) + table.words[name]
        _, first, self.index = np.unique(key, return_index=True,
                                         return_inverse=True)
        self.base = np.zeros(len(table.time))
        found = []
        for i in range(len(first)):
            at = self.index == i
            w = weights(table.time[at], [p[at] for p in parts])
            self.base[at] = w[0] + sum(
                x * p[at] for x, p in zip(w[1:], parts))
            found.append(w)
        self.target = np.log(table.time / self.base)
        # Placed by how fast a series is where it is slowest to start.
        mean = np.array([found[i][0] for i in range(len(first))])
        self.place = np.argsort(np.argsort(mean))
        self.rows = []
        for i, at in enumerate(first):
            words = [int(table.words[n][at]) for n in self.names]
            self.rows.append([*words, int(self.place[i]),
                              int((self.index == i).sum()), found[i]])


    def names_of(self, kind):
        return tables.WORDS + tables.KINDS[kind][1]


def matrix(kind, table, series, texts=None):
    columns, names = [], []
    for text in texts or features.FEATURES[kind]:
        if text == "series":
            column = series.place[series.index].astype(float)
        elif text.startswith("code "):
            if text[5:] not in table.words:
                continue
            column = table.words[text[5:]].astype(float)
        else:
            try:
                column = features.evaluate(text, table.numbers)
            except KeyError:
                continue  # the table has no such column
        columns.append(np.broadcast_to(column, table.time.shape))
        names.append(text)
    return np.stack(columns, 1).astype(np.float32), names


def train(x, y, trees, leaves, weights=None, **more):
    least = 20 if len(y) > 5000 else 5
    # Fast learners: bytes are dearer than trees are good.
    rate = 0.2
    return lgb.train({**SETTINGS, "num_leaves": leaves,
                      "min_data_in_leaf": least, "learning_rate": rate,
                      **more}, lgb.Dataset(x, y, weight=weights), trees)


def predict(booster, x):
    return booster.predict(x, num_threads=1)


def row_of(kind, table, series, x, names, target, error, size, weight=None,
           group=None):
    """The kind's row: the whole surface, and the interval by `error` (nan
    where a point was not left out). `group` splits points into two halves for
    the interval's own test; their parts do otherwise."""
    known = ~np.isnan(error)
    size_of = np.log(np.abs(error[known]) + 0.003)
    spread = train(x[known], size_of, *SPREAD, objective="l2",
                   weights=None if weight is None else weight[known])
    # Over shapes that the second sum did not see either.
    part = np.array([part_of(s) for s in table.shape])[table.curve]
    if group is not None:
        part = np.array([part_of(g) for g in group])
    halves = part[known] == 0 if len(np.unique(part[known])) > 1 else \
        np.array([part_of(s + ".") for s in table.shape])[
            table.curve][known] < 2
    over = np.full(known.sum(), np.nan)
    for h in (halves, ~halves):
        if h.any() and not h.all():
            s = train(x[known][~h], size_of[~h], *SPREAD, objective="l2")
            over[h] = error[known][h] / np.exp(predict(s, x[known][h]))
    good = ~np.isnan(over)
    # error = predicted - true: the truth lies at predicted - error.
    q05, q95 = np.quantile(-over[good], [.05, .95]) if good.any() else (-9, 9)
    whole = train(x, target, *size, weights=weight)
    relative = np.abs(np.exp(error[known]) - 1)
    ranges = {}
    for name in RANGED:
        if name in table.numbers:
            column = table.numbers[name]
            ranges[name] = [float(f"{column.min():.6g}"),
                            float(f"{column.max():.6g}")]
    row = {"kind": kind, "points": len(target), "curves": len(table.shape),
           "left_out": {"points": int(known.sum()),
                        "median": round(float(np.median(relative)), 4),
                        "p90": round(float(np.quantile(relative, .9)), 4)},
           "words": {n: table.vocabulary[n] for n in series.names},
           "basis": tables.basis_of(kind), "series": series.rows,
           "ranges": ranges, "features": names,
           "interval": [round(float(q05), 4), round(float(q95), 4)],
           "centre": pack.pack(whole, len(names)),
           "spread": pack.pack(spread, len(names))}
    return row


def fit(kind, table, card, grow=1.):
    """The kind's row, and the errors of left-out shapes."""
    tables.derive(kind, table, card)
    series = Series(kind, table)
    target = series.target
    x, names = matrix(kind, table, series)
    trees, leaves = SIZES.get(kind, OTHER)
    trees = round(trees * grow)
    part = np.array([part_of(s) for s in table.shape])[table.curve]
    if len(np.unique(part)) < PARTS:  # few shapes: curves
        part = (np.arange(len(table.shape)) % PARTS)[table.curve]
    error = np.full(len(target), np.nan)
    # Of the largest tables one part is enough to tell errors by.
    for out in (0, 2) if len(target) < MANY else (0,):
        m = part == out
        if m.any() and not m.all():
            booster = train(x[~m], target[~m], trees, leaves)
            error[m] = predict(booster, x[m]) - target[m]
    row = row_of(kind, table, series, x, names, target, error,
                 (trees, leaves))
    return row, (x, target, error)
