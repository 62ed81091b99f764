#!/usr/bin/env python3
"""Fits the constants of llama.cpp's speed and writes llamacpp_constants.cc.

usage: tools/fit/llamacpp_speed.py                      fit, and write the table
       tools/fit/llamacpp_speed.py cross device|model   one of them left out

The formula is that of src/analysis/timing/llamacpp_phases.cc. Environment as
of tools/fit/serving_shapes.py. Needs numpy and scipy.
"""

import sys
import zlib

import grouped_jacobian
from llamacpp_rows import *  # noqa: F403

GL = dict(
    host=(50e9, 0.4),
    recp=(1.0, 0.8),
    etakv=(0.7, 0.4),
    n0=(60.0, 0.7),
    attp=(0.3, 0.5),
    expp=(0.6, 0.3),
    expe=(0.85, 0.2),
    skew=(0.9, 0.1),
    multi=(0.6, 0.4),
    toolpp=(1.0, 0.5),
    tooltg=(0.93, 0.1),
    taumoe=(2e-5, 0.6),
    nofa=(1.5, 0.4),
    rec=(5e-5, 0.6),
    oldpp=(0.85, 0.2),
)
PA = {
    "etaq": ("bkq", {}, 0.15),
    "tau": ("bk", {"cuda": 1.5e-5, "rocm": 3e-5, "vulkan": 3e-5, "metal": 3e-5, "cpu": 1e-5}, 0.6),
    "c0": ("bk", {b: 2e-4 for b in BK}, 0.7),
    "eta": ("ar", {a: 0.75 for a in ARS}, 0.15),
    "effp": ("ar", {a: 0.35 for a in ARS}, 0.6),
    "effq": ("bkq", {}, 0.5),
    "bkp": ("bk", {b: 1.0 for b in BK}, 0.4),
}
NM = []
X0 = []
SG = []
for k, (v, s) in GL.items():
    NM.append((k, None))
    X0.append(math.log(v))
    SG.append(s)
for k, (t, dd, s) in PA.items():
    keys = {"bk": BK, "ar": ARS, "bkq": [(b, q) for b in BK for q in range(4)]}[t]
    for a in keys:
        NM.append((k, a))
        X0.append(math.log(dd.get(a, 1.0)))
        SG.append(s)
X0 = np.array(X0)
SG = np.array(SG)


def unpack(x):
    e = np.exp(x)
    P = {}
    i = 0
    for k in GL:
        P[k] = e[i]
        i += 1
    for k, (t, _, _) in PA.items():
        n = {"bk": 5, "ar": len(ARS), "bkq": 20}[t]
        P[k] = e[i : i + n]
        i += n
    return P


def model(P, f):
    bk = f["bk"].astype(int)
    ar = f["ar"].astype(int)
    qc = f["qc"].astype(int)
    bq = bk * 4 + qc
    bw = f["BW"] * np.minimum(P["eta"][ar] * P["etaq"][bq], 0.97)
    tau = P["tau"][bk]

    def dist(T):
        return np.where(
            f["moe"] > 0,
            f["exp"] * np.maximum(1 - (1 - f["kE"]) ** (np.maximum(T, 1) * P["skew"]), f["kE"]),
            0,
        )

    b = f["b"]
    tot = (f["dense"] + f["exp"]) * f["b"] + f["head"] * np.minimum(f["b"] * 1.2, 2)
    over = np.where(f["uni"] > 0, 0, np.clip(1 - (f["mem"] * f["cnt"] * 0.94 - 1e9) / tot, 0, 1))
    over = np.maximum(
        over,
        np.where((f["ngl"] >= 0) & (f["ngl"] < f["L"]) & (f["uni"] == 0), 1 - f["ngl"] / f["L"], 0),
    )
    head = f["head"] * np.minimum(b * 1.2, 2)
    # generation: par sequences
    par = f["par"]
    ctx = f["d"] + f["n"] / 2 * (f["pp"] == 0)
    mem = ((f["dense"]) * b + head) / bw + dist(par) * b / (bw * P["expe"])
    kv = (
        par
        * (f["kv"] * ctx + f["kvw"] * np.minimum(ctx, f["win"]) + f["rec"])
        / (f["BW"] * np.minimum(P["eta"][ar], 0.97) * P["etakv"])
    )
    comp = (
        2
        * par
        * (f["dense"] + f["exp"] * f["kE"] + f["head"])
        / (f["F"] * P["effp"][ar] * P["effq"][bq] * P["bkp"][bk])
    )
    act = (mem**3 + comp**3) ** (1 / 3)
    step = act + kv + f["L"] * tau + f["moeL"] * P["taumoe"] + (f["rec"] > 0) * f["L"] * P["rec"] + P["c0"][bk]
    hostt = over * (f["dense"] * b + f["exp"] * np.maximum(f["kE"], 0) * b + head) / P["host"]
    step = step * (1 - over) + hostt + over * f["L"] * 2e-5
    tg = par / step * np.where(f["tool"] > 0, P["tooltg"], 1)
    # prompt
    n = f["n"] * par
    ub = np.minimum(f["n"], 512.0)
    steps = np.ceil(n / 512)
    eff = (
        f["F"]
        * P["effp"][ar]
        * P["effq"][bq]
        * P["bkp"][bk]
        * ub
        / (ub + P["n0"])
        * np.where(f["old"] > 0, P["oldpp"], 1)
    )
    comp = 2 * n * f["dense"] / eff + 2 * n * f["exp"] * f["kE"] / (eff * P["expp"])
    recp = np.where(f["rec"] > 0, P["recp"], 1)
    comp = comp * recp
    att = (
        2
        * n
        * (f["d"] + f["n"] / 2)
        * f["fl"]
        / (f["F"] * P["effp"][ar] * P["attp"] * P["bkp"][bk])
        * np.where(f["fa"] > 0, 1, P["nofa"])
    )
    memp = steps * (f["dense"] * b / bw + dist(ub) * b / bw)
    t = (
        (comp**2 + memp**2) ** 0.5
        + att
        + steps * (f["L"] * tau + P["c0"][bk] + (f["rec"] > 0) * f["L"] * P["rec"] + f["moeL"] * P["taumoe"])
    )
    t = (
        t * (1 - over)
        + over * np.maximum(2 * n * (f["dense"] + f["exp"] * f["kE"]) / 1.2e12 * 1.0, steps * tot / 20e9) * 0.5
    )
    t = t / np.where(f["cnt"] > 1, np.minimum(1 + P["multi"] * (np.minimum(f["cnt"], steps) - 1), f["cnt"]), 1)
    pp = n / t * np.where(f["tool"] > 0, P["toolpp"], 1)
    return np.where(f["pp"] > 0, pp, tg)


MANY = {"bk": len(BK), "ar": len(ARS), "bkq": 4 * len(BK)}
COLS = grouped_jacobian.columns(GL, [(k, t, MANY[t]) for k, (t, _, _) in PA.items()])


def fit(f, w, iters=30):
    groups = {"bk": f["bk"].astype(int), "ar": f["ar"].astype(int)}
    groups["bkq"] = groups["bk"] * 4 + f["qc"].astype(int)
    return grouped_jacobian.fit(lambda x: model(unpack(x), f), f["y"], groups, w, X0, SG, COLS, iters=iters)


def med(e):
    e = np.abs(np.exp(e) - 1)
    return "%.3f/%.3f" % (np.median(e), np.quantile(e, 0.9))


def wts(E):
    G = collections.Counter((e["r"]["device"], e["r"]["model"], e["kind"]) for e in E)
    return np.array([min(1, (6 / G[(e["r"]["device"], e["r"]["model"], e["kind"])]) ** 0.5) for e in E])


def show(E, e):
    for k in ("tg", "pp"):
        v = [i for i, x in enumerate(E) if x["kind"] == k]
        print(k, len(v), med(e[v]), "bias %+.3f" % np.mean(e[v]))
        G = collections.defaultdict(list)
        for i in v:
            G[(E[i]["bk"], E[i]["ar"])].append(i)
        for g, u in sorted(G.items(), key=lambda t: -len(t[1])):
            print("   ", g, len(u), med(e[u]), "b%+.2f" % np.median(e[u]))


def cross(E, f, w, key):
    """Errors where a device, or a model, is left out."""
    out = np.zeros(len(E))
    fold = np.array([zlib.crc32(repr(z["r"][key]).encode()) % 5 for z in E])
    for k in range(5):
        t = fold != k
        x = fit({a: b[t] for a, b in f.items()}, w[t], 15)
        te = {a: b[~t] for a, b in f.items()}
        out[~t] = np.log(model(unpack(x), te) / te["y"])
    show(E, out)
    for k in ("tg", "pp"):
        v = np.array([z["kind"] == k for z in E])
        print(k, "90 % within", round(float(np.quantile(np.abs(out[v]), 0.9)), 2))


def write(P):
    n = lambda v: "%.3g" % v
    m = [
        ("host", "host"),
        ("recurrent_prompt", "recp"),
        ("cache_bandwidth", "etakv"),
        ("prompt_half", "n0"),
        ("attention_prompt", "attp"),
        ("expert_prompt", "expp"),
        ("expert_bandwidth", "expe"),
        ("distinct", "skew"),
        ("several", "multi"),
        ("tool_prompt", "toolpp"),
        ("tool_generation", "tooltg"),
        ("expert_layer", "taumoe"),
        ("without_flash", "nofa"),
        ("recurrent_layer", "rec"),
        ("early_prompt", "oldpp"),
    ]
    o = ["""// Written by tools/fit/llamacpp_speed.py; do not edit.
#include <algorithm>

#include "analysis/timing/llamacpp_phases.h"

namespace foretell {
namespace {

// clang-format off
constexpr LlamaShared kShared = {"""]
    for a, b in m:
        o.append("    .%s = %s," % (a, n(P[b])))
    o.append("};\n\n// In the order of LlamaBackend.\nconstexpr LlamaBackendConstants kBackends[] = {")
    for i, b in enumerate(BK):
        o.append(
            "    {.bandwidth = {%s},\n     .prompt = {%s},\n     .layer = %s, .step = %s, .prompt_all = %s},"
            % (
                ", ".join(n(v) for v in P["etaq"][i * 4 : i * 4 + 4]),
                ", ".join(n(v) for v in P["effq"][i * 4 : i * 4 + 4]),
                n(P["tau"][i]),
                n(P["c0"][i]),
                n(P["bkp"][i]),
            )
        )
    o.append("};\n\nconstexpr LlamaDeviceConstants kDevices[] = {")
    for i, a in enumerate(ARS):
        o.append('    {.name = "%s", .bandwidth = %s, .prompt = %s},' % (a, n(P["eta"][i]), n(P["effp"][i])))
    o.append("""};
// clang-format on

}  // namespace

const LlamaShared& LlamaSharedConstants() { return kShared; }

const LlamaBackendConstants& LlamaBackendOf(LlamaBackend backend) {
  return kBackends[static_cast<int>(backend)];
}

const LlamaDeviceConstants* LlamaDevicesOf(std::string_view name) {
  const auto found =
      std::ranges::find(kDevices, name, &LlamaDeviceConstants::name);
  return found == std::end(kDevices) ? nullptr : &*found;
}

}  // namespace foretell""")
    open(ROOT + "/src/analysis/timing/llamacpp_constants.cc", "w").write("\n".join(o) + "\n")


if __name__ == "__main__":
    E = load()
    f = prep(E)
    w = wts(E)
    if sys.argv[1:2] == ["cross"]:
        cross(E, f, w, sys.argv[2])
    else:
        x = fit(f, w)
        show(E, np.log(model(unpack(x), f) / f["y"]))
        write(unpack(x))
