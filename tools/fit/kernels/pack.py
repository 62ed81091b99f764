"""Writes a sum of trees as text, small.

A tree in preorder: one bit a node (1: a split), one byte a split for its
feature and one for its threshold (an index into that feature's list), one
signed byte a leaf, times the tree's scale. Thresholds are the upper three
bytes of a float32, scales all four. The streams stand one after the other,
packed by zlib, as base64. src/input/kernel_trees.cc reads them.
"""
import base64
import gzip
import json
import zlib

import numpy as np


def rounded(value):
    """To what three bytes of a float32 hold."""
    bits = np.float32(value).view(np.uint32)
    return (np.uint32(bits) + np.uint32(0x80)) & np.uint32(0xffffff00)


def unsure(value):
    return float(np.uint32(rounded(value)).view(np.float32))


def planes(values, kept):
    """The upper bytes of float32s, first all first bytes, and so on."""
    raw = np.array(values, ">f4").tobytes()
    return b"".join(raw[i::4] for i in range(kept))


def pack(booster, features):
    """`booster`: of lightgbm, splits of numbers only."""
    model = booster.dump_model()
    thresholds = [set() for _ in range(features)]

    def collect(node):
        if "split_feature" in node:
            thresholds[node["split_feature"]].add(unsure(node["threshold"]))
            collect(node["left_child"])
            collect(node["right_child"])

    trees = [t["tree_structure"] for t in model["tree_info"]]
    for tree in trees:
        collect(tree)
    lists = [sorted(s) for s in thresholds]
    where = [{t: i for i, t in enumerate(s)} for s in lists]
    bits, split_features, split_thresholds, leaves, scales = [], [], [], [], []
    for tree in trees:
        values = []

        def walk(node):
            if "split_feature" not in node:
                bits.append(0)
                values.append(node["leaf_value"])
                return
            assert node["decision_type"] == "<="
            bits.append(1)
            f = node["split_feature"]
            split_features.append(f)
            split_thresholds.append(where[f][unsure(node["threshold"])])
            walk(node["left_child"])
            walk(node["right_child"])

        walk(tree)
        values = np.array(values)
        scale = float(np.float32(max(np.abs(values).max() / 127, 1e-9)))
        scales.append(scale)
        leaves.extend(int(round(v / scale)) & 255 for v in values)
    flat = [t for row in lists for t in row]
    data = np.packbits(np.array(bits, np.uint8)).tobytes() + \
        bytes(split_features) + bytes(split_thresholds) + bytes(leaves) + \
        planes(flat, 3) + planes(scales, 4)
    text = base64.b64encode(zlib.compress(data, 9)).decode()
    return {"trees": len(trees), "leaves": len(leaves),
            "thresholds": [len(row) for row in lists], "packed": text}


def lines(header, models):
    """A card's file: a JSON object a line, packed."""
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n"
                   for row in [header, *models])
    return gzip.compress(text.encode(), 9, mtime=0)
