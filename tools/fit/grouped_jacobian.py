"""Least squares of a model's logarithm whose constants belong to groups of rows.

A constant that belongs to one engine, card or backend moves that group's rows
alone, so the constants of one name are moved together: one evaluation of the
model gives a column for each. Every constant is held to a prior, weakly.
Needs numpy and scipy.
"""

import numpy as np
from scipy.optimize import least_squares

STEP = 1e-4
HELD = 0.35  # how strongly a prior holds, of its own sigma
NEAR = 0.12  # beyond it a row's error counts by its size, not its square


def columns(shared, grouped):
    """Of names without groups, and of (name, group kind, how many) with."""
    out = []
    at = 0
    for _ in shared:
        out.append([(at, None, None)])
        at += 1
    for _, kind, many in grouped:
        out.append([(at + j, kind, j) for j in range(many)])
        at += many
    return out


def fit(predict, measured, groups, weights, priors, sigmas, cols, start=None, iters=40):
    """`predict(x)` tells the rows; `groups[kind]` each row's group."""
    logs = np.log(measured)
    rows = len(logs)

    def error(x):
        return np.log(predict(x)) - logs

    def residuals(x):
        return np.concatenate([error(x) * weights, (x - priors) / sigmas * HELD])

    def jacobian(x):
        base = error(x)
        out = np.zeros((rows + len(x), len(x)))
        for col in cols:
            moved = x.copy()
            for i, _, _ in col:
                moved[i] -= STEP
            slope = (base - error(moved)) / STEP * weights
            for i, kind, j in col:
                if kind is None:
                    out[:rows, i] = slope
                else:
                    mine = groups[kind] == j
                    out[:rows, i][mine] = slope[mine]
        out[rows + np.arange(len(x)), np.arange(len(x))] = HELD / sigmas
        return out

    x0 = priors if start is None else start
    return least_squares(residuals, x0, jac=jacobian, loss="soft_l1", f_scale=NEAR, max_nfev=iters).x
