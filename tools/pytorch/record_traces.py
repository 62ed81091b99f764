#!/usr/bin/env python3
"""Record whole operator sequences for one small-depth variant of each class.

    record_traces.py CONFIGS.txt OUT_DIR [only=forward] [KEY=VALUE...]

CONFIGS.txt names one configuration file a line. Depth is cut to two blocks, or to one period of
the pattern where layers differ (layer_types, hybrid patterns); widths stay as published.
Each trace is OUT_DIR/<label>.<attn>-<dtype>-<mode>.jsonl.gz: the first line is the case's
result as record.py prints it, then one operator a line. With only=forward the operators are those
of the forward pass, and the file is OUT_DIR/<label>.<attn>-<dtype>.jsonl.gz.
"""
import copy
import gzip
import json
import pathlib
import signal
import sys
import tempfile

import record


DEPTH = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "num_decoder_layers", "num_encoder_layers", "depth")
PER_LAYER = ("layer_types", "mlp_layer_types", "layers_block_type", "block_types", "no_rope_layers", "sliding_window_pattern_list",
             "num_key_value_heads_per_layer", "attn_layer_indices", "moe_layers", "hybrid_override_pattern", "layers_types")


def shallow(raw):
    """A copy of the raw configuration with few layers, keeping one full period of a mixed pattern."""
    raw = copy.deepcopy(raw)

    def cut(c):
        keep = 2
        for key in ("layer_types", "layers_block_type", "block_types", "mlp_layer_types"):
            v = c.get(key)
            if isinstance(v, list) and len(set(map(str, v))) > 1 and key != "block_types":
                first = {}
                for i, t in enumerate(v):
                    first.setdefault(str(t), i)
                keep = max(keep, max(first.values()) + 1)
        for key in ("sliding_window_pattern", "full_attention_interval", "attn_layer_period"):
            if isinstance(c.get(key), int):
                keep = max(keep, c[key])
        if isinstance(c.get("first_k_dense_replace"), int):
            c["first_k_dense_replace"] = min(1, c["first_k_dense_replace"])
        for key in DEPTH:
            if isinstance(c.get(key), int) and c[key] > keep:
                c[key] = keep
        for key in PER_LAYER:
            if isinstance(c.get(key), (list, str)) and len(c[key]) > keep and key not in ("attn_layer_indices", "block_types"):
                c[key] = c[key][:keep]
        for v in list(c.values()):
            if isinstance(v, dict):
                cut(v)

    cut(raw)
    return raw


def main(listing, out, *settings):
    signal.signal(signal.SIGALRM, record.too_long)
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    keys = dict(x.split("=", 1) for x in settings)
    only = keys.pop("only", None)
    for line in pathlib.Path(listing).read_text().split():
        path = pathlib.Path(line)
        name = record.label(path).replace("/", "__")
        mode = "" if only else f"-{keys.get('mode', 'train')}"
        file = out / f"{name}.{keys.get('attn', 'sdpa')}-{keys.get('dtype', 'float32')}{mode}.jsonl.gz"
        if file.exists():
            continue
        signal.alarm(120)
        try:
            with tempfile.TemporaryDirectory() as d:
                small = pathlib.Path(d) / path.name
                raw = shallow(json.loads(path.read_text()))
                small.write_text(json.dumps(raw))
                result, trace = record.run_case(small, keys, want_trace=True)
            result["config"] = record.label(path)
            result["shallow"] = {k: raw[k] for k in DEPTH if k in raw}
            result.pop("seconds", None)
            trace = [r for r in trace if only in (None, r["phase"])]
            with gzip.GzipFile(file, "wb", compresslevel=9, mtime=0) as f:
                f.write("".join(json.dumps(r, separators=(",", ":")) + "\n" for r in [{"result": result}, *trace]).encode())
            print("ok", file.name, len(trace))
        except Exception as e:
            print("failed", name, type(e).__name__, str(e)[:160])
        signal.alarm(0)
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
