#!/usr/bin/env python3
"""What vLLM's profile run takes beside weights, fitted on starts that printed it.

usage: tools/fit/vllm_memory.py vllm_memory.jsonl CONFIGS ALIASES

In: starts with the lines that vLLM printed, and configurations by label.
Out, for each constant of src/engines/vllm/memory_account.cc: the value, how
many starts it rests on, and how far it moves as one model at a time is left
out. The terms:
  copies   of the logits in float32 that the sampler's dummy run holds, before
           0.17 and from then on (dense text models, no pipeline)
  rows     of the hidden size that the forward leaves for each token, and a
           share that does not depend on it (from 0.17 on, as above)
  outside  what lies outside PyTorch, by release, ranks and link
  unified  what a process takes of unified memory beside weights and peak
"""
import collections
import json
import os
import re
import statistics
import sys

GIB = 2.0 ** 30


def version_of(row):
    found = re.match(r"v?0\.(\d+)", row.get("engine_version") or "")
    return int(found.group(1)) if found else None


def text_of(config):
    return config.get("text_config") or config


def solve(rows):
    """Least squares with two or three columns, by normal equations."""
    size = len(rows[0][0])
    matrix = [[sum(x[i] * x[j] for x, _ in rows) for j in range(size)]
              for i in range(size)]
    right = [sum(x[i] * y for x, y in rows) for i in range(size)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(matrix[k][i]))
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        right[i], right[pivot] = right[pivot], right[i]
        for k in range(i + 1, size):
            factor = matrix[k][i] / matrix[i][i]
            matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i])]
            right[k] -= factor * right[i]
    out = [0.0] * size
    for i in reversed(range(size)):
        rest = sum(matrix[i][k] * out[k] for k in range(i + 1, size))
        out[i] = (right[i] - rest) / matrix[i][i]
    return out


def show(name, rows, models):
    if len(rows) < 4:
        return
    whole = solve(rows)
    apart = [solve([r for r, m in zip(rows, models) if m != left])
             for left in sorted(set(models)) if len(set(models)) > 2]
    for i, value in enumerate(whole):
        among = [one[i] for one in apart] or [value]
        print(f"{name}[{i}] {value:.3f}, {min(among):.3f} to {max(among):.3f} "
              f"({len(rows)} starts, {len(set(models))} models)")


def main():
    path, configs, aliases = sys.argv[1:4]
    names = json.load(open(aliases, encoding="utf-8"))
    early, late = [], []
    early_models, late_models = [], []
    outside = collections.defaultdict(list)
    unified = []
    for line in open(path, encoding="utf-8"):
        row = json.loads(line)
        measured = row["measured"]
        minor = version_of(row)
        if row.get("engine_gen") != "v1" or minor is None:
            continue
        ranks = row.get("tp") or 1
        fast = any(w in (row.get("gpu") or "")
                   for w in ("H100", "H200", "A100", "B200", "GB200"))
        if measured.get("non_torch_gib") is not None:
            era = "0.18 on" if minor >= 18 else "0.10" if minor == 10 else "to 0.17"
            kind = ("stages" if (row.get("pp") or 1) > 1 else
                    "one" if ranks == 1 else
                    f"{ranks} ranks, {'NVLink' if fast else 'PCIe'}")
            outside[era, kind].append(measured["non_torch_gib"])
        known = names.get(row["model"]) or {}
        file = os.path.join(configs, known.get("config") or "?")
        if not os.path.exists(file):
            continue
        config = json.load(open(file, encoding="utf-8"))
        text = text_of(config)
        if "GB10" in (row.get("gpu") or "") and ranks == 1:
            terms = [measured.get(k) for k in ("weights_gib", "kv_available_gib")]
            if all(t is not None for t in terms):
                unified.append((row["id"], 121.65 * row["gpu_memory_utilization"]
                                - sum(terms)))
        peak = measured.get("activation_peak_gib")
        asked = row.get("max_num_seqs") or (1024 if "H100" in (row.get("gpu") or "") else None)
        tokens = row.get("max_num_batched_tokens") or 8192
        dense = not any(text.get(k) for k in (
            "num_experts", "num_local_experts", "n_routed_experts"))
        if (peak is None or asked is None or not dense or text is not config
                or (row.get("pp") or 1) > 1 or row.get("dtype") == "float32"
                or peak < 1.2):
            continue
        logits = asked * text["vocab_size"] * 4 / GIB
        hidden = tokens * text["hidden_size"] * 2 / GIB
        if minor >= 17 and minor < 26:
            late.append(([logits, hidden, tokens / 8192], peak))
            late_models.append(row["model"])
        elif minor < 17:
            left = hidden * 1.1 + tokens / 8192 * 0.0785
            early.append(([logits], peak - left))
            early_models.append(row["model"])
    show("copies, rows, share from 0.17", late, late_models)
    show("copies before 0.17", early, early_models)
    for (era, kind), values in sorted(outside.items()):
        print(f"outside, {era}, {kind}: median {statistics.median(values):.2f}, "
              f"{min(values):.2f} to {max(values):.2f} ({len(values)} starts)")
    for name, rest in unified:
        print(f"unified, {name}: {rest:.2f} GiB beside weights and cache")


if __name__ == "__main__":
    main()
