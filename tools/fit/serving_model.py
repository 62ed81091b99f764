"""The formula of served speed over arrays, and the priors of its constants.

As src/analysis/timing/serving_phases.cc computes it, for all rows at once.
Of a constant: its prior and how sure that is, as a logarithm. GLOB are shared,
AR of families of cards, EN of engines.
"""

from serving_rows import *  # noqa: F403

GLOB = dict(
    hfe=(2.5e-5, 0.5),
    ar0=(4e-6, 0.4),
    ar1=(2e-6, 0.5),
    arp=(1.5e-5, 0.6),
    linke=(0.6, 0.3),
    pciee=(0.5, 0.4),
    taul=(2e-5, 0.7),
    taur=(2e-5, 0.7),
    taud=(4e-5, 0.7),
    skew=(0.8, 0.2),
    n0=(150.0, 0.5),
    imb=(1.2, 0.2),
    effe=(0.7, 0.3),
    dp0=(3e-5, 0.8),
    effpe=(0.7, 0.3),
    effa=(0.5, 0.3),
    elt=(1.0, 0.4),
    p8=(0.9, 0.3),
    p4=(0.8, 0.3),
    w4e=(0.85, 0.15),
    w8e=(0.9, 0.15),
    w4p=(0.8, 0.3),
    e4=(0.75, 0.15),
    etak=(0.85, 0.1),
    etae=(0.85, 0.1),
    plim=(0.8, 0.1),
    tpe=(0.05, 0.4),
)
AR = dict(
    eta=(
        {
            "ampere": 0.83,
            "ada": 0.9,
            "hopper": 0.87,
            "hopper_narrow": 0.62,
            "blackwell": 0.85,
            "bw_small": 0.85,
            "cdna3": 0.65,
            "neuron": 0.6,
            "turing": 0.8,
            "other": 0.75,
        },
        0.1,
    ),
    effp=(
        {
            "ampere": 0.7,
            "ada": 0.7,
            "hopper": 0.6,
            "hopper_narrow": 0.75,
            "blackwell": 0.6,
            "bw_small": 0.6,
            "cdna3": 0.4,
            "neuron": 0.4,
            "turing": 0.5,
            "other": 0.4,
        },
        0.2,
    ),
    effd=(
        {
            "ampere": 0.7,
            "ada": 0.7,
            "hopper": 0.6,
            "hopper_narrow": 0.8,
            "blackwell": 0.5,
            "bw_small": 0.5,
            "cdna3": 0.35,
            "neuron": 0.4,
            "turing": 0.5,
            "other": 0.4,
        },
        0.25,
    ),
    taua=({a: (0.8 if a == "blackwell" else 1.0) for a in ARCH}, 0.25),
)
T0 = {
    "trtllm": 40e-6,
    "trtllm_pt": 35e-6,
    "vllm": 50e-6,
    "vllm_2023": 300e-6,
    "vllm_early": 100e-6,
    "vllm_06": 80e-6,
    "vllm_rocm": 60e-6,
    "sglang": 45e-6,
    "ft": 60e-6,
    "hf": 800e-6,
    "hf_quant": 850e-6,
    "hf_fp8": 1000e-6,
    "graphs": 60e-6,
    "neuron": 100e-6,
    "tinychat": 50e-6,
    "autoawq": 60e-6,
    "turbomind": 60e-6,
    "gptfast": 60e-6,
    "exllama": 50e-6,
    "mlc": 100e-6,
    "eager": 400e-6,
}
EN = dict(
    tau=(T0, 0.5),
    taum=({e: (2e-5 if v < 2e-4 else v * 0.8) for e, v in T0.items()}, 0.5),
    c0=({e: 3e-4 for e in ENG}, 0.7),
    cr=({e: 1e-5 for e in ENG}, 0.7),
    ee=({e: 1.0 for e in ENG}, 0.12),
    fp=({e: 1.0 for e in ENG}, 0.25),
    mix=({e: 0.95 for e in ENG}, 0.06),
    h0=({e: 0.01 for e in ENG}, 0.8),
    h1=({e: 1.0 for e in ENG}, 0.6),
    ht=({e: 5e-6 for e in ENG}, 0.8),
    hd=({e: 1.0 for e in ENG}, 1.0),
    kvx=({e: 1.0 for e in ENG}, 0.1),
    g1=({e: 1.0 for e in ENG}, 0.15),
    lng=({e: (2e-4 if e == "vllm_early" or e == "vllm_06" else 1e-6) for e in ENG}, 0.6),
)


def pack():
    names = []
    x0 = []
    sg = []
    for k, (v, s) in GLOB.items():
        names.append((k, None))
        x0.append(math.log(v))
        sg.append(s)
    for k, (dd, s) in AR.items():
        for a in ARCH:
            names.append((k, a))
            x0.append(math.log(dd[a]))
            sg.append(s)
    for k, (dd, s) in EN.items():
        for e in ENG:
            names.append((k, e))
            x0.append(math.log(dd[e]))
            sg.append(s if not (k == "kvx" and (e.startswith("hf"))) else 0.5)
    return names, np.array(x0), np.array(sg)


NAMES, X0, SG = pack()
IDX = {n: i for i, n in enumerate(NAMES)}
CAPS = dict(
    eta=0.97,
    effp=0.92,
    effd=0.92,
    etak=1.0,
    etae=1.0,
    skew=1.0,
    linke=0.95,
    pciee=0.95,
    e4=1.0,
    w4e=1.05,
    w8e=1.05,
    p8=1.05,
    p4=1.05,
)
UB = np.array([math.log(CAPS[n[0]]) if n[0] in CAPS else X0[i] + 3 for i, n in enumerate(NAMES)])


class PV:
    pass


def unpack(x):
    e = np.exp(np.minimum(x, UB))
    P = {}
    i = 0
    for k in GLOB:
        P[k] = e[i]
        i += 1
    for k in AR:
        P[k] = e[i : i + len(ARCH)]
        i += len(ARCH)
    for k in EN:
        P[k] = e[i : i + len(ENG)]
        i += len(ENG)
    return P


def model4(P, f, probe=False):
    ei = f["eng"].astype(int)
    ai = f["arch"].astype(int)
    eng = lambda n: P[n][ei]
    arch = lambda n: P[n][ai]
    tp, pp, dp = f["tp"], f["pp"], f["dp"]
    kvtp = np.where(f["lat"] > 0, 1, np.minimum(tp, f["kvh"]))
    pl = 1 - (1 - P["plim"]) * f["plim"]
    bw = f["BW"] * np.minimum(arch("eta") * eng("ee"), 0.98) * pl
    wk = (
        (1 - (1 - P["w4e"]) * f["q_w4"])
        * (1 - (1 - P["w8e"]) * f["q_w8"])
        * (1 - (1 - P["e4"]) * f["q_fp4"] * (1 - f["moe"]))
    )
    lnk = f["link"] * np.where(f["nvl"] > 0, P["linke"], P["pciee"])
    lg = np.log2(np.maximum(tp, 1))
    effd = arch("effd")

    def ar(nb):
        return np.where(
            tp > 1,
            np.where(f["nvl"] > 0, P["ar0"] + P["ar1"] * lg, P["arp"] * lg) + 2 * (tp - 1) / tp * nb / lnk,
            0,
        )

    tau = (
        eng("tau")
        + eng("taum") * f["moeL"] / f["L"]
        + P["taul"] * f["lat"]
        + P["taur"] * (f["rec"] > 0)
        + P["taud"] * f["dsa"]
    ) * arch("taua")
    hf = np.isin(ei, [ENG.index("hf"), ENG.index("hf_quant"), ENG.index("hf_fp8"), ENG.index("eager")])
    tau = tau + np.where(hf, P["hfe"] * f["E"] * f["moeL"] / f["L"], 0)

    def distinct(T):
        return f["E"] * np.maximum(1 - (1 - f["k"] / f["E"]) ** (np.maximum(T, 1) * P["skew"]), f["k"] / f["E"])

    def smax(a, b):
        return (a**3 + b**3) ** (1 / 3)

    def linear(n, nh, T):
        def one(W, b, F, m, w):
            return smax(W * b / tp / (bw * w), 2 * m * W / tp / (F * effd))

        t = (
            one(f["Wa"], f["ba"], f["Fa"], n, wk)
            + one(f["Wm"], f["bm"], f["Fm"], n, wk)
            + one(f["Wh"], np.where(f["ba"] == 4, 4.0, 2.0), f["F16"], nh, 1.0)
        )
        sh = f["ep"] * f["mtp"]
        mem = f["We"] / f["E"] * distinct(T) * f["be"] / sh / (bw * P["etae"])
        comp = 2 * T * f["We"] / f["E"] * f["k"] / sh * P["imb"] / (f["Fe"] * effd * P["effe"])
        return t + np.where(f["moe"] > 0, smax(mem, comp), 0)

    def dec(b, ctx):
        b = np.maximum(b / pp, 1.0)
        T = b * dp
        ctx_kv = np.where(hf, 3 + 2 * f["grp"], 1.0)
        kv = ctx_kv * b * (f["kv"] * ctx + f["kvw"] * np.minimum(ctx, f["win"])) / kvtp * eng("kvx") + b * f["rec"] / tp
        gpu = linear(b, b, T) + kv / (bw * P["etak"])
        host = f["L"] * (tau + np.where(f["I"] + f["O"] > 8192, eng("lng"), 0))
        t = np.where(hf, smax(gpu, host), gpu + host) + 2 * f["L"] * ar(b * f["h"] * 2) + eng("c0") + eng("cr") * b * pp
        t = t + np.where((dp > 1) & (f["moe"] > 0), f["moeL"] * (P["dp0"] + T * f["h"] * 4 / lnk), 0)
        return t

    effp0 = (
        np.minimum(arch("effp") * eng("fp"), 0.95)
        * (1 - (1 - P["p8"]) * f["q_fp8"])
        * (1 - (1 - P["p4"]) * f["q_fp4"])
        * (1 - (1 - P["w4p"]) * f["q_w4"])
        * pl
    )
    lenf = f["lenf"]

    def pre(n, steps, chunk):
        """n tokens of a sequence, in `steps` steps of `chunk` tokens."""
        ef = chunk / (chunk + P["n0"]) * effp0 / (1 + P["tpe"] * lg)
        comp = 2 * n * (f["Wa"] / f["Fa"] + f["Wm"] / f["Fm"]) / tp / ef
        compe = 2 * n * dp * f["We"] / f["E"] * f["k"] / (f["ep"] * f["mtp"]) / (f["Fe"] * ef * P["effpe"]) * P["imb"]
        att = n * f["I"] * lenf * f["afl"] / tp / (f["F16"] * P["effa"])
        nb = n * f["h"] * 2
        com = 2 * f["L"] * np.where(tp > 1, 2 * (tp - 1) / tp * nb / lnk, 0)
        el = f["L"] * P["elt"] * nb * 10 / bw / np.maximum(1, tp**0.5)
        return (lambda g, h: np.where(hf, smax(g, h), g + h))(
            comp + np.where(f["moe"] > 0, compe, 0) + att + com + el + steps * linear(np.ones_like(n), 1, chunk),
            steps * (f["L"] * tau + eng("c0")),
        )

    I, O, C = f["I"] * 1.0, f["O"] * 1.0, f["C"] * 1.0
    lenf = f["lenf"]
    # capacity
    W = (f["Wa"] * f["ba"] + f["Wm"] * f["bm"] + 2 * f["Wh"] * 2) / tp + f["We"] * f["be"] / (f["ep"] * f["mtp"])
    W = W / pp
    avail = np.maximum(f["mem"] * 0.9 - W - 2.5e9, 1e8)
    per = (f["kv"] * (I * lenf + O * lenf * f["occ"]) + f["kvw"] * np.minimum(lenf * (I + O), f["win"]) + f["rec"]) / kvtp / pp
    cap = np.clip(avail / np.maximum(per, 1), 1, 2048) * 1.0
    if probe:
        return dec, pre, cap
    ctx = I * lenf + O * 0.5
    CH = 8192.0
    n = I * lenf
    O = O * lenf
    marg = pre(n, n / CH, np.maximum(np.minimum(n, CH), 2048.0))
    one = pre(n, np.ceil(n / CH), np.minimum(n, CH))
    # static
    stat_n = C / dp * n
    spre = pre(stat_n, np.ceil(stat_n / CH), np.minimum(stat_n, CH))
    sdec = dec(C / dp, ctx)
    e2e = spre + (O - 1) * sdec + eng("h0")
    sttft = spre + eng("h0")
    # offline
    bo = cap
    do = dec(bo, ctx)
    othr = (O * do + bo * marg * eng("mix") / pp) / (bo * dp * O)
    # closed or rate
    b = np.where(f["r_rate"] > 0, 4.0, C / dp)
    bb = np.minimum(b, cap)
    for it in range(6):
        td = dec(bb, ctx)
        tpot = td + np.maximum(bb - 1, 0) / O * marg * eng("mix")
        nb = np.minimum(np.maximum(f["rate"] * (one + O * tpot), 1.0), cap)
        bb = np.where(f["r_rate"] > 0, 0.5 * bb + 0.5 * nb, bb)
        if not (f["r_rate"] > 0).any():
            break
    cyc = O * tpot
    rho = np.minimum(bb * marg / (cyc + marg), 0.95)
    wait = 0.5 * rho / (1 - rho)
    ttft = (
        one * eng("g1") * np.where(f["Q"] > 0, f["Q"], 1 + wait)
        + eng("h0")
        + (eng("h1") + f["si"]) * td
        + eng("ht") * n
        + eng("hd") * (dp > 1) * td
    )
    cthr = (ttft + (O - 1) * tpot) / (bb * dp * O)
    return np.stack(
        [
            np.where(f["r_static"] > 0, sttft, ttft),
            np.where(f["r_static"] > 0, sdec, tpot),
            e2e,
            np.where(f["r_offline"] > 0, othr, cthr),
        ]
    )


def model(P, f):
    g, inv, kind = compact(f)
    return predict(P, g, inv, kind)


def compact(f):
    skip = ("y", "k_ttft", "k_tpot", "k_e2e", "k_thr")
    keys = [k for k in f if k not in skip]
    A = np.stack([f[k] for k in keys], 1)
    u, inv = np.unique(A, axis=0, return_inverse=True)
    g = {k: u[:, i] for i, k in enumerate(keys)}
    kind = np.argmax(np.stack([f["k_ttft"], f["k_tpot"], f["k_e2e"], f["k_thr"]], 1), 1)
    return g, inv.ravel(), kind


def predict(P, g, inv, kind):
    M = model4(P, g)
    return M[kind, inv]
