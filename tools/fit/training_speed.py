#!/usr/bin/env python3
"""Fits the constants of a training step's time, training_constants.cc.

usage: tools/fit/training_speed.py               fit, test, and write the table
       tools/fit/training_speed.py cross GROUP   leave each source, framework,
                                                 model or card out in turn

The formula stands in src/analysis/timing/training_phases.cc; the program
`stepfit` (tools/stepfit) tells what it makes of the records for constants that
are tried here. Each constant has a prior and how far, as a factor, it may lie
off it; rows of one sweep count by the root of their number. Errors have long
tails (a setting that a record does not tell), so that the loss is soft.

Environment: STEPFIT (the program), SHARED (the folder of records).
Needs numpy and scipy.
"""

import collections
import math
import os
import re
import subprocess
import sys

import numpy as np
from scipy.optimize import least_squares

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("STEPFIT", ROOT + "/build/release/stepfit")
SHARED = os.environ.get("SHARED", ROOT + "/../shared")
TABLE = ROOT + "/src/analysis/timing/training_constants.cc"

# value, and the width of its logarithm.
PRIORS = {
    "volta": (0.6, 0.3),
    "turing": (0.6, 0.3),
    "ampere": (0.72, 0.15),
    "small_ampere": (0.75, 0.3),
    "ada": (0.65, 0.3),
    "hopper": (0.65, 0.15),
    "blackwell": (0.68, 0.15),
    "cdna": (0.5, 0.3),
    "tpu": (0.6, 0.3),
    "neuron": (0.4, 0.4),
    "other": (0.5, 0.01),
    "eager": (1.0, 0.01),
    "compiled": (1.0, 0.1),
    "fused": (1.0, 0.15),
    "xla": (1.0, 0.15),
    "megatron": (1.0, 0.15),
    "fp32": (1.2, 0.3),
    "tf32": (0.8, 0.3),
    "fp8_hopper": (0.75, 0.2),
    "fp8_blackwell": (0.75, 0.2),
    "fp8_other": (0.7, 0.2),
    "fp8_scaled": (0.9, 0.1),
    "fp4": (0.6, 0.2),
    "quantize": (8, 0.5),
    "half_width": (500, 0.6),
    "half_tokens": (500, 0.7),
    "attention": (0.6, 0.3),
    "attention_half": (500, 0.6),
    "attention_newer": (1.4, 0.2),
    "scores": (10, 0.5),
    "attention_older": (0.6, 0.2),
    "experts": (0.7, 0.3),
    "expert_width": (400, 0.7),
    "passes": (40, 0.5),
    "fused_passes": (0.7, 0.3),
    "routed": (12, 0.5),
    "expert_launch": (0.002, 0.6),
    "layer_launch": (0.0008, 0.5),
    "fused_launch": (0.4, 0.5),
    "step": (0.005, 1.0),
    "link": (0.75, 0.1),
    "network": (0.7, 0.15),
    "tensor_shown": (0.7, 0.4),
    "expert_shown": (0.6, 0.5),
    "data_shown": (0.15, 0.7),
    "context_shown": (0.2, 0.7),
    "bubble": (1.0, 0.2),
    "scale": (1.01, 0.01),
    "unstated": (0.3, 0.7),
    "unstated_megatron": (0.1, 0.8),
    "drift": (1.03, 0.05),
    "expert_drift": (1.15, 0.15),
    "rack": (1.05, 0.1),
    "rack_launch": (0.6, 0.4),
    "launch_drift": (1.3, 0.3),
    "recurrent": (0.5, 0.4),
    "offload": (5e-9, 1.0),
    "limited": (0.8, 0.15),
    "dequantize": (4, 0.7),
}
# How far a row is off beside its constants: its weight in the fit.
NOISE = 0.1
STEP = 1e-3  # of a constant's logarithm
ROUNDS = 25
HELD_ROUNDS = 6  # from the whole fit's constants
# The quantity of a row that is fitted, the first that it has.
FIRST = ["tokens/s", "step time", "samples/s", "TFLOPS", "TFLOPS, attention whole", "MFU", "MFU, attention whole"]


class Formula:
    """The program, and the records that it told."""

    def __init__(self):
        self.run = subprocess.Popen(
            [
                PROGRAM,
                SHARED + "/truth/training_speed.jsonl",
                SHARED + "/configs",
                SHARED + "/truth/aliases.json",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.names = self.run.stdout.readline().split()
        self.rows = []
        for line in self.run.stdout:
            if not line.strip():
                break
            f = line.rstrip("\n").split("\t")
            self.rows.append(
                dict(
                    id=f[0],
                    source=f[1],
                    pair=f[1] + " " + f[3],
                    framework=f[2],
                    model=re.sub(r"[^a-z0-9]", "", f[3].lower()),
                    card=f[4],
                    experts=f[5] == "1",
                    stated=f[6] == "1",
                    stages=float(f[7]),
                    quantity=f[8],
                    value=float(f[9]),
                )
            )
        self.logs = np.log([r["value"] for r in self.rows])

    def ratios(self, x):
        """Logarithms of predicted over measured, for all rows."""
        print(*(repr(v) for v in np.exp(x).tolist()), file=self.run.stdin, flush=True)
        told = np.array(self.run.stdout.readline().split(), dtype=float)
        return np.log(np.maximum(told, 1e-12)) - self.logs


def primary(rows):
    best = {}
    for i, r in enumerate(rows):
        old = best.get(r["id"])
        if old is None or FIRST.index(r["quantity"]) < FIRST.index(rows[old]["quantity"]):
            best[r["id"]] = i
    return np.array(sorted(best.values()))


def fit(formula, rows, start, rounds=ROUNDS):
    """Logarithms of the constants by the rows of those indices."""
    names = formula.names
    x0 = np.log([PRIORS[n][0] for n in names])
    width = np.array([PRIORS[n][1] for n in names])
    count = collections.Counter((formula.rows[i]["source"], formula.rows[i]["model"]) for i in rows)
    weight = np.array([count[formula.rows[i]["source"], formula.rows[i]["model"]] ** -0.25 for i in rows])
    sign = np.array([-1.0 if formula.rows[i]["quantity"] == "step time" else 1.0 for i in rows])

    def losses(x):
        off = formula.ratios(x)[rows] * sign / NOISE
        # The square root of a soft absolute value, with its sign.
        soft = np.sign(off) * np.sqrt(2 * (np.sqrt(1 + off * off) - 1))
        return np.concatenate([soft * weight, (x - x0) / width])

    def slopes(x):
        base = losses(x)
        columns = []
        for i in range(len(x)):
            moved = x.copy()
            moved[i] += STEP
            columns.append((losses(moved) - base) / STEP)
        return np.array(columns).T

    return least_squares(losses, start, jac=slopes, x_scale=width, max_nfev=rounds).x


def tell(name, off):
    e = np.abs(np.exp(off) - 1)
    print(
        f"{name:34} n {len(off):4d}  median {np.median(e):.3f}  p90 {np.quantile(e, 0.9):.3f}"
        f"  bias {math.exp(np.mean(off)):.3f}",
        flush=True,
    )


def parts(formula, rows, off):
    tell("all", off)
    for key in ("source", "card", "model"):
        of = collections.defaultdict(list)
        for i, o in zip(rows, off):
            of[formula.rows[i][key]].append(o)
        for k, v in sorted(of.items(), key=lambda kv: -len(kv[1])):
            if len(v) >= 4:
                tell(f"  {key} {k[:24]}", np.array(v))


def cross(formula, rows, group, start):
    """Each group's rows by constants that saw no row of it."""
    out = np.zeros(len(rows))
    keys = sorted({formula.rows[i][group] for i in rows})
    for key in keys:
        held = np.array([formula.rows[i][group] == key for i in rows])
        x = fit(formula, rows[~held], start, HELD_ROUNDS)
        out[held] = formula.ratios(x)[rows[held]]
    return out


def main():
    formula = Formula()
    rows = primary(formula.rows)
    start = np.log([PRIORS[n][0] for n in formula.names])
    x = fit(formula, rows, start)
    if len(sys.argv) > 2 and sys.argv[1] == "cross":
        tell(sys.argv[2] + " left out", cross(formula, rows, sys.argv[2], x))
        return
    off = formula.ratios(x)[rows]
    parts(formula, rows, off)
    for n, v in zip(formula.names, np.exp(x)):
        print(f"{n:20} {v:.5g}   (prior {PRIORS[n][0]:.5g})")
    if len(sys.argv) > 1 and sys.argv[1] == "look":
        return
    held = cross(formula, rows, "pair", x)
    tell("source with model left out", held)
    for other in ("source", "framework", "model", "card"):
        tell(other + " left out", cross(formula, rows, other, x))
    write(formula, rows, x, held)


def write(formula, rows, x, held):
    stated = np.array([formula.rows[i]["stated"] for i in rows])
    experts = np.array([formula.rows[i]["experts"] for i in rows])
    width = lambda of: float(np.quantile(np.abs(held[of]), 0.9))
    text = open(TABLE).read()
    lines = "\n".join(f"      {v:.5g},  // {n}" for n, v in zip(formula.names, np.exp(x)))
    text = re.sub(r"(fitted: begin\n).*?(      // fitted: end)", lambda m: m[1] + lines + "\n" + m[2], text, flags=re.S)
    spread = (
        f"      .stated = {width(stated & ~experts):.3f},\n"
        f"      .unstated = {width(~stated & ~experts):.3f},\n"
        f"      .experts = {width(experts):.3f},\n"
    )
    text = re.sub(r"(spread: begin\n).*?(      // spread: end)", lambda m: m[1] + spread + m[2], text, flags=re.S)
    open(TABLE, "w").write(text)


if __name__ == "__main__":
    main()
