"""Reads the measured tables and says what each kind's shapes are made of.

A table is SYSTEM/KIND.csv.gz as /kernels/README.md describes it: one row is
one curve. `load` expands curves into columns of numbers; `derive` adds what
every feature is made of (operations, bytes, microseconds at the card's peak),
with the formulas of src/analysis/timing/kernel_work.h and
src/analysis/timing/kernel_point.cc, which must agree with this file: a
golden transcript holds the program to predict.py.
"""
import csv
import gzip
import json
import os
import zlib

import numpy as np

DATE = "2026-08-21"
SOURCE = ("ai-dynamo/aiconfigurator@095f58a5 aic-core/src/"
          "aiconfigurator_core/systems (Apache-2.0, NVIDIA CORPORATION & "
          "AFFILIATES)")
# System -> id in data/accelerators.jsonl.
SYSTEMS = {
    "a100_sxm": "a100-sxm-80gb", "b200_sxm": "b200", "b300_sxm": "b300",
    "b60": "arc-pro-b60", "gb200": "gb200", "gb300": "gb300",
    "h100_sxm": "h100-sxm", "h200_sxm": "h200-sxm", "l40s": "l40s",
    "rtx_pro_6000_server": "rtx-pro-6000-blackwell-server",
}
# Where the catalogue lacks them: what the runtime reports of a GB200's and a
# GB300's device (152 multiprocessors), and Blackwell's cache (126.5 MB on the
# B200).
SM = {"gb200": 152, "gb300": 152}
L2 = {"gb200": 126.5, "gb300": 126.5, "b300_sxm": 126.5, "b60": 18.0}

# Kind -> its swept column, and the columns that are words.
KINDS = {
    "gemm": ("m", ["dtype"]),
    "attention_prefill": ("seq_len", ["attn_dtype", "kv_dtype"]),
    "attention_decode": ("past_tokens", ["attn_dtype", "kv_dtype"]),
    "attention_encoder": ("seq_len", ["attn_dtype"]),
    "mla_prefill": ("seq_len", ["attn_dtype", "kv_dtype"]),
    "mla_decode": ("past_tokens", ["attn_dtype", "kv_dtype"]),
    "mla_bmm": ("tokens", ["op", "dtype"]),
    "moe": ("tokens", ["dtype", "distribution"]),
    "collective": ("message_bytes", ["op", "dtype"]),
    "allreduce_custom": ("message_bytes", ["mode"]),
    "quantize": ("m", ["op", "dtype"]),
    "mla_module_prefill": ("seq_len", ["attn_dtype", "kv_dtype",
                                       "gemm_dtype", "model"]),
    "mla_module_decode": ("past_tokens", ["attn_dtype", "kv_dtype",
                                          "gemm_dtype", "model"]),
    "dsa_module_prefill": ("seq_len", ["attn_dtype", "kv_dtype",
                                       "gemm_dtype", "model"]),
    "dsa_module_decode": ("past_tokens", ["attn_dtype", "kv_dtype",
                                          "gemm_dtype", "model"]),
    "msa_module_prefill": ("seq_len", ["attn_dtype", "kv_dtype",
                                       "gemm_dtype", "model"]),
    "msa_module_decode": ("past_tokens", ["attn_dtype", "kv_dtype",
                                          "gemm_dtype", "model"]),
    "dsv4_module_prefill": ("past_tokens", ["op", "attn_dtype", "kv_dtype",
                                            "gemm_dtype", "model"]),
    "dsv4_module_decode": ("past_tokens", ["op", "attn_dtype", "kv_dtype",
                                           "gemm_dtype", "model"]),
    "sparse_part": ("batch", ["op", "attn_dtype", "kv_dtype", "gemm_dtype",
                              "model", "score_mode"]),
    "linear_attention_gdn": ("batch", ["phase"]),
    "linear_attention_kda": ("batch", ["phase"]),
    "mamba2": ("batch", ["phase"]),
    "mhc": ("tokens", ["op"]),
    "moe_wideep_trtllm": ("tokens", ["op", "dtype", "distribution"]),
    "moe_wideep_sglang": ("tokens", ["phase", "dtype", "distribution"]),
    "mla_wideep_sglang": ("batch", ["phase", "kv_dtype"]),
    "mlp_wideep_sglang": ("tokens", ["phase"]),
    "moe_dsv4_mega": ("tokens", ["phase", "dtype", "distribution"]),
    "alltoall_trtllm": ("tokens", ["op", "dtype"]),
    "alltoall_deepep_normal": ("tokens", ["op"]),
    "alltoall_deepep_ll": ("tokens", ["op"]),
}
WORDS = ["framework", "version", "kernel"]
# Tables with several times a point: the word `op` tells which.
TIMES = {"alltoall_deepep_normal": ["dispatch", "combine"],
         "alltoall_deepep_ll": ["dispatch", "combine"]}
SKIPPED = {"dispatch_us", "combine_us", "dispatch_notify_us",
           "combine_notify_us", "dispatch_gbps", "combine_gbps", "device", "architecture", "repeats", "spread_pct", "power_w",
           "power_limit_w", "time_us", "source_policy", "pre_dispatch",
           "buffer_policy", "simulation_mode", "moe_kernel", "kernel_dtype"}

WEIGHT_BYTES = {"float32": 4, "tf32": 4, "bfloat16": 2, "half": 2, "fp8": 1,
                "fp8_e4m3": 1, "fp8_block": 1, "fp8_static": 1,
                "nvfp4": 0.5625, "sq": 1, "int8": 1, "int8_wo": 1,
                "int4_wo": 0.515625, "w4a16_mxfp4": 0.53125,
                "w4a8_mxfp4_mxfp8": 0.53125}
ACTIVATION_BYTES = dict(WEIGHT_BYTES, int8_wo=2, int4_wo=2, w4a16_mxfp4=2,
                        w4a8_mxfp4_mxfp8=1)
PEAK = {"float32": "fp32", "tf32": "tf32", "bfloat16": "bf16", "half": "bf16",
        "fp8": "fp8", "fp8_e4m3": "fp8", "fp8_block": "fp8",
        "fp8_static": "fp8", "nvfp4": "fp4", "sq": "int8", "int8": "int8",
        "int8_wo": "bf16", "int4_wo": "bf16", "w4a16_mxfp4": "bf16",
        "w4a8_mxfp4_mxfp8": "fp8"}


def devices(path):
    out = {}
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        out[row["id"]] = row
    return out


class Card:
    """What features need of a card."""

    def __init__(self, system, row):
        self.system = system
        self.id = row["id"]
        self.sm = SM.get(system) or row["sm_count"]
        self.l2 = 1e6 * (L2.get(system) or row["l2_mb"])
        self.bandwidth = 1e9 * row["mem_bandwidth_gbs"]
        self.tflops = row["dense_tflops"]
        link = row.get("nvlink_gbs_per_gpu")
        pcie = {"5.0 x16": 64 * 128 / 130, "4.0 x16": 32 * 128 / 130,
                "5.0 x8": 32 * 128 / 130}.get(row.get("pcie_gen_lanes"), 32.)
        self.link = 1e9 * (link / 2 if link else pcie)

    def peak(self, dtype):
        for key in (PEAK[dtype], "bf16"):
            if self.tflops.get(key):
                return self.tflops[key] * 1e12
        raise ValueError(dtype)


class Table:
    """Columns of one system's points of one kind."""

    def __init__(self, numbers, words, time, curve, shape, vocabulary):
        self.numbers = numbers        # name -> float64 per point
        self.words = words            # name -> index into vocabulary[name]
        self.time = time
        self.curve = curve            # index of the curve
        self.shape = shape            # the curve's shape as a text, by curve
        self.vocabulary = vocabulary


def left_out(kind, row):
    """Rows that say nothing of the device (README, 5)."""
    if kind == "gemm" and row["framework"] == "vllm":
        # Timed without a graph: the host's time.
        return row["dtype"] == "fp8_block" and row["version"] >= "0.2"
    return False


def rows_of(path, kind):
    """A table's curves; one of several times is as many curves."""
    for row in csv.DictReader(gzip.open(path, "rt", encoding="utf-8")):
        if kind not in TIMES:
            yield row
            continue
        for op in TIMES[kind]:
            yield dict(row, op=op, time_us=row[op + "_us"])


def load(root, system, kind, share=1):
    """Nothing where the system lacks the kind. One shape in `share`, by a
    hash, so that the same shapes are taken of every system."""
    path = os.path.join(root, system, kind + ".csv.gz")
    if not os.path.exists(path):
        return None
    swept, own_words = KINDS[kind]
    word_names = WORDS + own_words
    numbers, words, times, curves, shapes = {}, {}, [], [], []
    vocabulary = {name: {} for name in word_names}
    for row in rows_of(path, kind):
        if left_out(kind, row):
            continue
        if share > 1 and zlib.crc32(",".join(
                t for c, t in row.items() if " " not in t and c not in
                word_names and c not in SKIPPED).encode()) % share:
            continue
        x = np.array(row[swept].split(), float)
        t = np.array(row["time_us"].split(), float)
        keep = t > 0
        if row.get("device") and system == "b300_sxm":
            continue  # measured on a GB300
        if not keep.any():
            continue
        x, t = x[keep], t[keep]
        shape = []
        for name, text in row.items():
            if name in word_names:
                codes = vocabulary[name]
                value = codes.setdefault(text, len(codes))
                words.setdefault(name, []).append(np.full(len(x), value))
                continue
            if name in SKIPPED or name == swept or name == "model":
                continue
            if " " in text:  # another list
                value = np.array(text.split(), float)[keep]
            else:
                try:
                    value = float(text)
                except ValueError:
                    value = 0.
                shape.append(text)
            numbers.setdefault(name, []).append(
                np.broadcast_to(value, x.shape))
        numbers.setdefault(swept, []).append(x)
        times.append(t)
        curves.append(np.full(len(x), len(shapes)))
        shapes.append(",".join(shape))
    if not times:
        return None
    join = np.concatenate
    return Table({k: join(v).astype(float) for k, v in numbers.items()},
                 {k: join(v) for k, v in words.items()}, join(times),
                 join(curves), shapes,
                 {k: list(v) for k, v in vocabulary.items()})


def pairs(query, past, window):
    whole = query * past + query * (query + 1) / 2
    growing = np.clip(window - past, 0, query)
    cut = growing * past + growing * (growing + 1) / 2 + \
        (query - growing) * window
    return np.where((window <= 0) | (window >= past + query), whole, cut)


def by_word(table, name, values):
    return np.array([values[w] for w in table.vocabulary[name]])[
        table.words[name]]


def skew_of(word):
    for part in word.split("_"):
        try:
            return float(part)
        except ValueError:
            pass
    return 0.


def derive(kind, table, card):
    """Adds flops, bytes, arithmetic_us, memory_us and others to numbers."""
    v = table.numbers
    size = len(table.time)
    zero = np.zeros(size)
    weight = activation = None
    dtype = {"attention_prefill": "attn_dtype",
             "attention_encoder": "attn_dtype", "mla_prefill": "attn_dtype",
             "attention_decode": "attn_dtype",
             "mla_decode": "attn_dtype"}.get(kind, "dtype")
    if dtype in table.words:
        weight = by_word(table, dtype, WEIGHT_BYTES)
        activation = by_word(table, dtype, ACTIVATION_BYTES)
        peak = by_word(table, dtype, {
            d: card.peak(d) for d in table.vocabulary[dtype]})
    else:
        peak = np.full(size, card.peak("bfloat16"))
    cache = by_word(table, "kv_dtype", WEIGHT_BYTES) \
        if "kv_dtype" in table.words else np.full(size, 2.)
    flops, moved, crossed = zero, zero, zero
    if kind == "gemm":
        m, n, k = v["m"], v["n"], v["k"]
        flops = 2 * m * n * k
        v["weights"] = n * k * weight
        moved = v["weights"] + m * k * activation + 2 * m * n
    elif kind in ("attention_prefill", "attention_encoder"):
        q, h, d, b = v["seq_len"], v["q_heads"], v["head_dim"], v["batch"]
        v.setdefault("kv_heads", h)
        past = v.get("past_tokens", zero)
        seen = q * (past + q) if kind == "attention_encoder" else \
            pairs(q, past, v["window"])
        v["seen"] = seen / q
        flops = 4 * b * h * d * seen
        moved = b * d * (4 * h * q + v["kv_heads"] * 2 * (2 * q + past * cache))
    elif kind == "attention_decode":
        length = v["past_tokens"] + 1
        length = np.where(v["window"] > 0, np.minimum(length, v["window"]),
                          length)
        v["seen"] = length
        h, d, b = v["q_heads"], v["head_dim"], v["batch"]
        flops = 4 * b * h * d * length
        moved = b * d * (2 * v["kv_heads"] * length * cache + 4 * h)
    elif kind == "mla_prefill":
        q, h, b = v["seq_len"], v["q_heads"], v["batch"]
        seen = pairs(q, zero, zero)
        flops = 2 * 320 * b * h * seen
        moved = 2 * b * h * (q * 320 + q * 320)
    elif kind == "mla_decode":
        h, b, length = v["q_heads"], v["batch"], v["past_tokens"] + 1
        v["seen"] = length
        flops = 2 * 1088 * b * h * length
        moved = b * (length * 576 * cache + h * 1088 * 2)
    elif kind == "mla_bmm":
        flops = 2 * v["tokens"] * v["q_heads"] * 128 * 512
        moved = v["q_heads"] * (128 * 512 * weight + v["tokens"] * 640 * 2)
    elif kind in ("moe", "moe_wideep_trtllm", "moe_wideep_sglang"):
        v["skew"] = by_word(table, "distribution", {
            w: skew_of(w) for w in table.vocabulary["distribution"]})
        inner = v["inter"] / v["moe_tp"]
        v["inner"] = inner
        v["local"] = v["experts"] / v["moe_ep"]
        share = np.minimum(v["topk"] / v["experts"], 1)
        routed = v["tokens"] * v["topk"] / v["moe_ep"]
        v["routed"] = routed
        v["chosen"] = v["local"] * (1 - (1 - share) ** v["tokens"])
        v["each"] = routed / v["local"]
        flops = 6 * routed * v["hidden"] * inner
        moved = v["chosen"] * 3 * v["hidden"] * inner * weight + \
            routed * (2 * v["hidden"] + 3 * inner) * activation
    elif kind in ("collective", "allreduce_custom"):
        r = v["gpus"]
        crossed = v["message_bytes"] * (r - 1) / r
        if kind == "allreduce_custom":
            crossed = crossed * 2
        else:
            crossed = crossed * by_word(table, "op", {
                w: 2 if w == "all_reduce" else 1
                for w in table.vocabulary["op"]})
    elif kind == "quantize":
        moved = v["m"] * v["k"] * 3
    else:
        for name in ("tokens", "batch", "seq_len", "past_tokens", "q_heads",
                     "hidden", "compress_ratio"):
            v.setdefault(name, zero)
        rows = np.maximum(v["batch"], 1) * np.maximum(v["seq_len"], 1)
        v["rows"] = np.maximum(rows, v["tokens"])
        reach = np.where(v["seq_len"] > 1, v["seq_len"] / 2, 1) + \
            v["past_tokens"]
        v["pairs"] = v["rows"] * reach
    v["arithmetic_us"] = np.maximum(flops / peak * 1e6, 1e-6)
    v["memory_us"] = np.maximum(moved / card.bandwidth * 1e6, 1e-6)
    v["link_us"] = np.maximum(crossed / card.link * 1e6, 1e-6)
    v["sm"] = np.full(size, float(card.sm))
    v["l2"] = np.full(size, card.l2)


# What a time is made of, beside a fixed part: the basis of each kind's first
# guess, which the trees correct.
MODULE = ["rows", "pairs", "rows*q_heads", "pairs*q_heads"]
BASIS = {
    "collective": ["link_us", "message_bytes"],
    "allreduce_custom": ["link_us", "message_bytes"],
    "quantize": ["memory_us", "m"],
    "linear_attention_gdn": ["rows", "rows*num_v_heads",
                             "batch*num_v_heads"],
    "linear_attention_kda": ["rows", "rows*num_v_heads",
                             "batch*num_v_heads"],
    "mamba2": ["rows", "rows*nheads", "batch*nheads"],
    "mhc": ["tokens", "tokens*hidden"],
    "mlp_wideep_sglang": ["tokens"],
    "moe_dsv4_mega": ["tokens", "tokens*hidden"],
    "alltoall_trtllm": ["tokens", "tokens*moe_ep"],
    "alltoall_deepep_normal": ["tokens*hidden", "tokens*hidden*topk"],
    "alltoall_deepep_ll": ["tokens*hidden", "tokens*hidden*topk"],
}


def basis_of(kind):
    if "module" in kind or kind in ("sparse_part", "mla_wideep_sglang"):
        return MODULE
    return BASIS.get(kind, ["arithmetic_us", "memory_us"])
