#!/usr/bin/env python3
"""Fits the constants of served speed and writes serving_numbers.cc.

usage: tools/fit/serving_speed.py          fit, and write the table
       tools/fit/serving_speed.py cross    groups left out, a fifth at a time

The formula is that of src/analysis/timing/serving_phases.cc, over all rows at
once. Every constant has a prior (its value and how sure, as a logarithm) and
is moved by the rows that it takes part in; engines and cards without rows keep
the prior. Rows of one sweep share their weight. Half widths of intervals (SPREAD
below) are what nine of ten left-out rows stay within. Needs numpy, scipy and
numba.
"""

import sys
import zlib

import grouped_jacobian
from closed_load import queues
from serving_model import *  # noqa: F403


def med(e):
    e = np.abs(np.exp(e) - 1)
    return "%.3f/%.3f" % (np.median(e), np.quantile(e, 0.9))


COLS = grouped_jacobian.columns(GLOB, [(n, "arch", len(ARCH)) for n in AR] + [(n, "eng", len(ENG)) for n in EN])


def fitx(f, w, rounds=2, iters=10):
    """Waits follow from the constants, and constants from the waits."""
    x = X0
    groups = {k: f[k].astype(int) for k in ("arch", "eng")}
    for _ in range(rounds):
        queues(unpack(x), f)
        g, inv, kind = compact(f)
        x = grouped_jacobian.fit(
            lambda v: predict(unpack(v), g, inv, kind), f["y"], groups, w, X0, SG, COLS, x, iters
        )
    queues(unpack(x), f)
    return x


def weights(E):
    G = collections.Counter((e["grp"], e["kind"]) for e in E)
    kw = {"ttft": 0.6, "tpot": 1.0, "e2e": 1.5, "thr": 1.2}
    return np.array(
        [
            kw[e["kind"]]
            * min(1.5, max(0.15, (20 / G[(e["grp"], e["kind"])]) ** 0.5))
            * (1.6 if e["set"] == "sp" and e["kind"] == "tpot" else 1)
            for e in E
        ]
    )


def summary(E, e):
    def sel(fn, name):
        v = [i for i, x in enumerate(E) if fn(x)]
        if v:
            print("%-28s n%5d %s bias %+.3f" % (name, len(v), med(e[v]), np.mean(e[v])))

    sel(lambda x: x["set"] == "sp" and x["kind"] == "ttft", "SP ttft")
    sel(lambda x: x["set"] == "sp" and x["kind"] == "tpot", "SP tpot")
    for k in ("ttft", "tpot", "e2e", "thr"):
        sel(lambda x: x["set"] == "is" and x["kind"] == k, "IS " + k)
    sel(lambda x: x["set"] == "is", "IS all")
    sel(lambda x: x["set"] == "is" and x["row"]["batch_or_concurrency"] == 1, "IS single stream")
    sel(
        lambda x: x["set"] == "is" and x["row"]["batch_or_concurrency"] == 1 and x["kind"] != "ttft",
        "IS single decode",
    )
    G = collections.defaultdict(list)
    for i, x in enumerate(E):
        if x["set"] == "sp":
            G[(x["kind"], x["grp"])].append(i)
    for k in ("ttft", "tpot"):
        print(
            "SP median of groups",
            k,
            "%.3f" % np.median([np.median(np.abs(np.exp(e[v]) - 1)) for (kk, _), v in G.items() if kk == k]),
        )


def detail(E, e, st="is"):
    G = collections.defaultdict(list)
    for i, x in enumerate(E):
        if x["set"] == st:
            G[(x["eng"], x["kind"], x["regime"], x["model"][:20], str(x["q"])[:12], x["gpu"][:12])].append(i)
    for k, v in sorted(G.items(), key=lambda t: -len(t[1]) * np.median(np.abs(e[t[1]])))[:45]:
        print("%-95s n%4d %s b%+.2f" % (k, len(v), med(e[v]), np.median(e[v])))


WHAT = {
    "trtllm": "TensorRT-LLM with compiled engines",
    "trtllm_pt": "TensorRT-LLM with its PyTorch backend",
    "vllm": "vLLM with its V1 engine",
    "vllm_2023": "vLLM of 2023",
    "vllm_early": "vLLM 0.4 and 0.5",
    "vllm_06": "vLLM 0.6 and 0.7",
    "vllm_rocm": "vLLM on ROCm",
    "sglang": "SGLang",
    "ft": "FasterTransformer and Megatron",
    "hf": "Transformers, eager",
    "hf_quant": "Transformers, eager, packed weights",
    "hf_fp8": "Transformers, eager, fp8 weights",
    "graphs": "Transformers under CUDA graphs",
    "neuron": "Transformers NeuronX",
    "tinychat": "TinyChat",
    "autoawq": "AutoAWQ",
    "turbomind": "LMDeploy TurboMind",
    "gptfast": "gpt-fast (torch.compile)",
    "exllama": "ExLlama and ExLlamaV2",
    "mlc": "MLC-LLM",
    "eager": "another engine, eager",
}


# First tokens and tokens in flight, whole requests, throughput, prompts by
# themselves: by what `cross` prints.
SPREAD = (0.88, 0.45, 0.75, 0.43, 1.2)


def write(E, f, x, spread=SPREAD):
    P = unpack(x)
    ec = collections.Counter(int(i) for i in f["eng"])
    ac = collections.Counter(int(i) for i in f["arch"])

    def n(v):
        return "%.3g" % v

    o = []
    o.append("""// Written by tools/fit/serving_speed.py; do not edit.
#include "analysis/timing/serving_constants.h"

namespace foretell {
namespace {

// clang-format off
constexpr EngineConstants kEngines[] = {""")
    for i, e in enumerate(ENG):
        t = [
            n(P["tau"][i]),
            n(P["taum"][i]),
            n(P["hfe"]) if e in ("hf", "hf_quant", "hf_fp8", "eager") else "0",
            n(P["c0"][i]),
            n(P["cr"][i]),
            n(P["ee"][i]),
            n(P["fp"][i]),
            n(P["mix"][i]),
            n(P["h0"][i]),
            n(P["h1"][i]),
            n(P["kvx"][i]),
            n(P["lng"][i] if P["lng"][i] > 1e-5 else 0),
            n(P["g1"][i]),
            n(P["ht"][i]),
            n(P["hd"][i]),
        ]
        k = [
            "layer",
            "expert_layer",
            "expert",
            "step",
            "request",
            "bandwidth",
            "prefill",
            "mix",
            "first",
            "first_steps",
            "cache_reads",
            "long_layer",
            "first_prompt",
            "first_token",
            "first_data",
        ]
        o.append('    {.name = "%s", .what = "%s", .rows = %d,' % (e, WHAT[e], ec[i]))
        kv = [".%s = %s" % a for a in zip(k, t)]
        for j in range(0, len(kv), 3):
            o.append("     " + ", ".join(kv[j : j + 3]) + ("," if j + 3 < len(kv) else "},"))
    o.append("};\n\nconstexpr CardConstants kCards[] = {")
    for i, a in enumerate(ARCH):
        o.append('    {.name = "%s", .rows = %d, .bandwidth = %s,' % (a, ac[i], n(P["eta"][i])))
        o.append(
            "     .prefill = %s, .arithmetic = %s, .layer = %s}," % (n(P["effp"][i]), n(P["effd"][i]), n(P["taua"][i]))
        )
    o.append("};\n\nconstexpr SharedConstants kShared = {")
    m = [
        ("reduce", "ar0"),
        ("reduce_doubling", "ar1"),
        ("reduce_pcie", "arp"),
        ("link_share", "linke"),
        ("pcie_share", "pciee"),
        ("latent_layer", "taul"),
        ("recurrent_layer", "taur"),
        ("indexer_layer", "taud"),
        ("distinct", "skew"),
        ("prefill_half", "n0"),
        ("imbalance", "imb"),
        ("expert_arithmetic", "effe"),
        ("expert_prefill", "effpe"),
        ("attention_prefill", "effa"),
        ("elementwise", "elt"),
        ("tensor_prefill", "tpe"),
        ("gather", "dp0"),
        ("fp8_prefill", "p8"),
        ("fp4_prefill", "p4"),
        ("weight4_prefill", "w4p"),
        ("weight4_bandwidth", "w4e"),
        ("weight8_bandwidth", "w8e"),
        ("fp4_bandwidth", "e4"),
        ("cache_bandwidth", "etak"),
        ("expert_bandwidth", "etae"),
    ]
    for a, b in m:
        o.append("    .%s = %s," % (a, n(P[b])))
    o.append("};\n// clang-format on\n\nconstexpr ServedSpreads kSpreads = {")
    names = ("first_token", "token", "request", "throughput", "prompt")
    o.append("    " + ",\n    ".join(".%s = %g" % z for z in zip(names, spread)) + "};")
    o.append("""
}  // namespace

std::span<const EngineConstants> ServedEngines() { return kEngines; }
std::span<const CardConstants> ServedCards() { return kCards; }
const SharedConstants& ServedShared() { return kShared; }
const ServedSpreads& SpreadsOfServed() { return kSpreads; }

}  // namespace foretell""")
    open(ROOT + "/src/analysis/timing/serving_numbers.cc", "w").write("\n".join(o) + "\n")
    print("plim", n(P["plim"]))


def cross(E, f, w):
    """Errors of rows whose (model, card, engine) the fit has not seen."""
    fold = np.array([zlib.crc32(repr((z["model"], z["gpu"], z["eng"])).encode()) % 5 for z in E])
    out = np.zeros(len(E))
    for k in range(5):
        tr = fold != k
        x = fitx({a: b[tr] for a, b in f.items()}, w[tr], iters=8)
        te = {a: b[~tr] for a, b in f.items()}
        queues(unpack(x), te)
        out[~tr] = np.log(model(unpack(x), te) / te["y"])
    summary(E, out)
    for kind, regime in (
        ("ttft", "closed"),
        ("tpot", "closed"),
        ("ttft", "static"),
        ("tpot", "static"),
        ("e2e", "static"),
        ("thr", "offline"),
    ):
        v = [i for i, z in enumerate(E) if z["kind"] == kind and z["regime"] == regime]
        print(kind, regime, len(v), "90 % within", round(float(np.quantile(np.abs(out[v]), 0.9)), 2))


if __name__ == "__main__":
    E = load()
    f = prep(E)
    w = weights(E)
    if sys.argv[1:] == ["cross"]:
        cross(E, f, w)
    else:
        x = fitx(f, w)
        summary(E, np.log(model(unpack(x), f) / f["y"]))
        write(E, f, x)
