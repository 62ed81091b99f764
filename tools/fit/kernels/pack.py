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


def shortened(packed, trees):
    """The same without its last trees, which correct least."""
    data = zlib.decompress(base64.b64decode(packed["packed"]))
    leaves, all_trees = packed["leaves"], packed["trees"]
    nodes, splits = 2 * leaves - all_trees, leaves - all_trees
    at = (nodes + 7) // 8
    bits = np.unpackbits(np.frombuffer(data[:at], np.uint8))[:nodes]
    streams = []
    for size in (splits, splits, leaves, 3 * sum(packed["thresholds"]),
                 4 * all_trees):
        streams.append(data[at:at + size])
        at += size
    end = 0
    for _ in range(trees):
        open_nodes = 1
        while open_nodes:
            open_nodes += 1 if bits[end] else -1
            end += 1
    kept_splits = int(bits[:end].sum())
    kept_leaves = end - kept_splits
    scales = streams[4]
    whole = np.packbits(bits[:end]).tobytes() + streams[0][:kept_splits] + \
        streams[1][:kept_splits] + streams[2][:kept_leaves] + streams[3] + \
        b"".join(scales[i * all_trees:i * all_trees + trees]
                 for i in range(4))
    return dict(packed, trees=trees, leaves=kept_leaves,
                packed=base64.b64encode(zlib.compress(whole, 9)).decode())


def fitting(header, models, most):
    """The file, of at most `most` bytes: the largest sums lose trees."""
    data = lines(header, models)
    while len(data) > most:
        for row in sorted(models, key=lambda r: -r["centre"]["leaves"])[:4]:
            trees = row["centre"]["trees"]
            row["centre"] = shortened(row["centre"], trees - trees // 50 - 1)
        data = lines(header, models)
    return data


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def lines(header, models):
    """A card's file: a JSON object a line, packed."""
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n"
                   for row in [header, *models])
    return gzip.compress(text.encode(), 9, mtime=0)
