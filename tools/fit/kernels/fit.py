#!/usr/bin/env python3
"""Fits data/kernels/<card>.jsonl.gz from measured kernel times.

usage: tools/fit/kernels/fit.py TABLES [SYSTEM ...] [--out data/kernels]

TABLES is the folder of aiconfigurator's tables (README.md there says what
they are: commit 095f58a5 of 2026-08-21, Apache-2.0). Needs numpy and
lightgbm; one thread, a few minutes a system. The same bytes for the same
tables and the same versions of both. Prints for every kind the error of
shapes that the trees did not see, and what its row takes.
"""
import argparse
import json
import os
import sys
import time

import pack
import surface
import tables

ROOT = surface.ROOT
MOST = 200_000  # bytes of a system


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tables")
    parser.add_argument("systems", nargs="*")
    parser.add_argument("--out", default=os.path.join(ROOT, "data/kernels"))
    parser.add_argument("--kinds", help="of these alone; the file keeps "
                        "its others")
    parser.add_argument("--grow", type=float, default=1., help="as many "
                        "times the trees, where a file has room")
    args = parser.parse_args()
    rows = tables.devices(os.path.join(ROOT, "data/accelerators.jsonl"))
    for system in args.systems or tables.SYSTEMS:
        card = tables.Card(system, rows[tables.SYSTEMS[system]])
        path = os.path.join(args.out, card.id + ".jsonl.gz")
        models = []
        if args.kinds and os.path.exists(path):
            models = [m for m in pack.read(path)[1:]
                      if m["kind"] not in args.kinds.split(",")]
        for kind in args.kinds.split(",") if args.kinds else tables.KINDS:
            table = tables.load(args.tables, system, kind)
            if table is None:
                continue
            start = time.time()
            row, _ = surface.fit(kind, table, card, args.grow)
            models.append(row)
            print(system, kind, row["points"], row["left_out"],
                  len(json.dumps(row)), f"{time.time() - start:.0f} s",
                  flush=True)
        header = {"id": card.id, "system": system,
                  "multiprocessors": card.sm, "l2_mb": card.l2 / 1e6,
                  "date": tables.DATE, "source": tables.SOURCE,
                  "made_by": "tools/fit/kernels/fit.py"}
        os.makedirs(args.out, exist_ok=True)
        models.sort(key=lambda m: list(tables.KINDS).index(m["kind"]))
        text = pack.fitting(header, models, MOST)
        with open(path, "wb") as file:
            file.write(text)
        print(system, len(text), "bytes", flush=True)


if __name__ == "__main__":
    sys.exit(main())
