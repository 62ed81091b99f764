"""Models, cards and engines of the sets of serving speed, for the fits.

In: the program (its `model --tensors --json` tells a model's tensors and what
generation keeps), the folder of shared records and data/accelerators.jsonl.
Out: sums over tensors, as src/analysis/timing/served_shape.h has them.

Environment: FORETELL (the program), SHARED (the folder with configs/, truth/
and kernels/).
"""

import collections
import json
import math
import os
import re
import subprocess

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("FORETELL", ROOT + "/build/release/foretell")
SHARED = os.environ.get("SHARED", ROOT + "/../shared")


def told(config):
    """What the program tells of a configuration; None where it refuses."""
    path = SHARED + "/configs/" + config
    done = subprocess.run([PROGRAM, "model", path, "--tensors", "--json"], capture_output=True, text=True, check=False)
    try:
        out = json.loads(done.stdout)
        out["_raw"] = json.load(open(path))
        return out if "layers" in out else None
    except (ValueError, OSError):
        return None


A = json.load(open(SHARED + "/truth/aliases.json"))


def nested(raw):
    out = dict(raw)
    for k in ("text_config", "llm_config", "language_config", "thinker_config"):
        if isinstance(raw.get(k), dict):
            out.update(nested(raw[k]))
    return out


def conf(m):
    a = A.get(m)
    if a and a["config"]:
        return a["config"]
    f = m.replace("zhipuai/", "zai-org/").replace("/", "--") + ".json"
    return f if os.path.exists(SHARED + "/configs/" + f) else None


TOW = (
    "vision",
    "visual",
    "audio",
    "multi_modal",
    "mm_projector",
    "image_newline",
    "encoder.layers",
    "speech",
    "embed_vision",
)


class Shape:
    pass


def shape(cfg):
    d = told(cfg)
    if d is None:
        return None
    raw = nested(d["_raw"])
    s = Shape()
    s.cfg = cfg
    s.layers = max([x["layers"] for x in d["layers"]["stacks"] if "vision" not in x["stack"]] or [0])
    s.hidden = raw.get("hidden_size") or raw.get("n_embd") or raw.get("d_model") or 0
    s.heads = raw.get("num_attention_heads") or raw.get("n_head") or raw.get("num_heads") or 1
    s.k = 0
    s.E = 0
    s.head = 0
    s.emb = 0
    s.attn = 0
    s.mlp = 0
    s.exp = 0
    s.router = 0
    s.other = 0
    s.moe_layers = 0
    s.exp_inter = 0
    tied = True
    for t in d["tensors"]:
        n = t["name"]
        sh = json.loads(t["shape"])
        el = t["elements"]["value"]
        c = t["count"]
        if any(x in n for x in TOW):
            continue
        if len(sh) < 2:
            s.other += el
            continue
        if "lm_head" in n or "embed_out" in n or "output_layer" in n:
            s.head += el
            tied = False
            continue
        if (
            re.search(
                r"embed_tokens\.|wte\.|word_embeddings\.|embed_in\.|embeddings\.weight|tok_embeddings",
                n,
            )
            and not "layers.#" in n
        ):
            s.emb += el
            continue
        if "layers.#" not in n and ".h.#" not in n and "blocks.#" not in n and "layer.#" not in n:
            s.other += el
            continue
        if "embed_tokens_per_layer" in n:
            continue
        if re.search(r"\.experts\b", n) and "shared" not in n:
            s.exp += el
            if len(sh) == 3:
                s.E = max(s.E, sh[0])
                s.moe_layers = max(s.moe_layers, c)
            continue
        if (
            re.search(r"(gate\.weight|router|gate\.wg)", n)
            and len(sh) == 2
            and (sh[0] == (s.E or sh[0]))
            and "gate_proj" not in n
            and (raw.get("num_experts") or raw.get("n_routed_experts") or raw.get("num_local_experts"))
        ):
            s.router += el
            continue
        if re.search(r"attn|attention|mixer|mamba|ssm|linear_attn|conv\.|short_conv", n) and "experts" not in n:
            s.attn += el
        else:
            s.mlp += el
    if tied:
        s.head = s.emb
    s.k = (
        raw.get("num_experts_per_tok")
        or raw.get("num_experts_per_token")
        or raw.get("top_k_experts")
        or raw.get("moe_topk")
        or raw.get("moe_top_k")
        or 0
    )
    if not s.E:
        s.k = 0
    c = d["cache"]
    s.states = c.get("layers") or c.get("states") or c
    s.raw = raw
    return s


def state_feats(s):
    """kv groups -> list of (layers, elems per token, window, kind, heads, kd, vd)"""
    out = []
    for g in s.states.get("groups", []):
        out.append((g["kind"], g["layers"], g["heads"], g["key_dim"], g["value_dim"], g["window"]))
    return out


DEV = {}
for l in open(ROOT + "/data/accelerators.jsonl"):
    d = json.loads(l)
    DEV[d["id"]] = d
SYS = {
    "b200_sxm": "b200",
    "b300_sxm": "b300",
    "gb200": "gb200",
    "gb300": "gb300",
    "h100_sxm": "h100-sxm",
    "h200_sxm": "h200-sxm",
}
cache = {}


def S(m):
    c = conf(m)
    if c is None:
        return None
    if c not in cache:
        cache[c] = shape(c)
    return cache[c]
