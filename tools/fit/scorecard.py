#!/usr/bin/env python3
"""Writes the figures that `foretell scorecard` tells without a folder: data/scorecard.jsonl.

    foretell scorecard --truth ../shared/truth --json > card.json
    tools/fit/scorecard.py card.json 2026-11-30 > data/scorecard.jsonl
"""
import json
import sys


def main():
    card = json.load(open(sys.argv[1]))
    card = card.get("result", card)
    print(json.dumps({"date": sys.argv[2]}))
    for kind in ("device", "formula"):
        for line in card[kind + "s"]:
            row = {k: line[k] for k in ("set", "group", "rows", "scored")}
            figures = {k: round(v, 4) for k, v in line.items() if k not in row and v is not None}
            print(json.dumps({"kind": kind, **row, "figures": figures}))


if __name__ == "__main__":
    main()
