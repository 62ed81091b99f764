"""Measured serving as rows of numbers: what a run was, and what it took.

In: serving_points.jsonl and inference_speed.jsonl. Out: one entry a measured
quantity, with its regime: "closed" (requests in flight), "static" (a batch by
itself), "offline" (a full queue), "rate". The names of engines and of
families of cards are those of src/analysis/timing/serving_constants.cc; which
words lead to them is told in src/answers/served_job.cc too.
"""

from serving_shapes import *  # noqa: F403

# ---------- engines
ENG = [
    "trtllm",
    "trtllm_pt",
    "vllm",
    "vllm_2023",
    "vllm_early",
    "vllm_06",
    "vllm_rocm",
    "sglang",
    "ft",
    "hf",
    "hf_quant",
    "hf_fp8",
    "graphs",
    "neuron",
    "tinychat",
    "autoawq",
    "turbomind",
    "gptfast",
    "exllama",
    "mlc",
    "eager",
]


def engine_of(name, version, gpu):
    n = name.lower()
    if "pytorch backend" in n or n == "trtllm":
        return "trtllm_pt"
    if "tensorrt" in n or "optimum nvidia" in n:
        return "trtllm"
    if "neuron" in n:
        return "neuron"
    if "vllm" in n:
        if "rocm" in n:
            return "vllm_rocm"
        v = version or ""
        if v.startswith("0.6.") or v.startswith("0.7"):
            return "vllm_06"
        if "2023" in v or v.startswith("0.1.") or v.startswith("0.2") or v.startswith("0.3"):
            return "vllm_2023"
        if v.startswith("0.4") or v.startswith("0.5"):
            return "vllm_early"
        return "vllm"
    if "sglang" in n:
        return "sglang"
    if "fastertransformer" in n or "megatron" in n:
        return "ft"
    if "tinychat" in n:
        return "tinychat"
    if "huggingface transformers baseline" in n:
        return "graphs"
    if "autoawq" in n:
        return "autoawq"
    if "turbomind" in n or "lmdeploy" in n:
        return "turbomind"
    if "gpt-fast" in n:
        return "gptfast"
    if "exllama" in n:
        return "exllama"
    if "mlc" in n:
        return "mlc"
    if "transformers" in n:
        return "hf"
    return "eager"


ARCH = [
    "ampere",
    "ada",
    "hopper",
    "hopper_narrow",
    "blackwell",
    "bw_small",
    "cdna3",
    "neuron",
    "turing",
    "other",
]


def arch_of(d):
    a = d["arch"]
    if a.startswith("Ampere"):
        return "ampere"
    if a.startswith("Ada"):
        return "ada"
    if a.startswith("Hopper"):
        return "hopper_narrow" if d.get("sm_count") and d["mem_bandwidth_gbs"] / d["sm_count"] > 40 else "hopper"
    if a.startswith("Blackwell"):
        return "blackwell" if d["id"] in ("b200", "b300", "gb200", "gb300", "b100") else "bw_small"
    if "CDNA" in a:
        return "cdna3"
    if "trainium" in d["id"] or "inferentia" in d["id"]:
        return "neuron"
    if a.startswith("Turing") or a.startswith("Volta"):
        return "turing"
    return "other"


GPU = {
    "A100-SXM-80GB": "a100-sxm-80gb",
    "H200-SXM-141GB": "h200-sxm",
    "H20-96GB": "h20",
    "H100-SXM-80GB": "h100-sxm",
    "MI300X": "mi300x",
    "RTX 4090": "rtx-4090",
    "B200-180GB": "b200",
    "L40S": "l40s",
    "A100-80GB": "a100-sxm-80gb",
    "GB200-192GB": "gb200",
    "AWS Inferentia2 (Inf2.48xlarge)": "inferentia2",
    "AWS Trainium1 (trn1.32xlarge)": "trainium1",
    "Jetson AGX Orin": "jetson-agx-orin-64gb",
    "RTX PRO 6000 Blackwell Server": "rtx-pro-6000-blackwell-server",
    "A100-SXM-80GB (power limited to 330 W)": "a100-sxm-80gb",
    "RTX 4090 (WSL2)": "rtx-4090",
    "GH200-480GB (96GB HBM3)": "gh200-96gb",
    "A100 (PCIe-linked, not NVLink)": "a100-pcie-80gb",
    "A100": "a100-sxm-80gb",
    "A10G": "a10g",
    "RTX 3090 Ti": "rtx-3090-ti",
    "T4 16GB": "t4",
    "AWS Inferentia2 (inf2.48xlarge)": "inferentia2",
    "Intel Arc Pro B60 24GB": "arc-pro-b60",
    "A100-40GB": "a100-sxm-40gb",
    "A100-SXM-40GB": "a100-sxm-40gb",
    "MI250X (one GCD)": "mi250x",
    "RX 7900 XTX": "rx-7900-xtx",
}


def link_of(d):
    if d.get("nvlink_gbs_per_gpu"):
        return d["nvlink_gbs_per_gpu"] * 1e9 / 2
    m = re.search(r"([\d.]+) GB/s", d.get("scale_up_link") or "")
    return float(m.group(1)) * 1e9 / 2 if m else None


def quant_of(p, model, engine, arch, moe):
    """(class, attn, mlp, expert) as (flops dtype, bytes)"""
    q = (p or "").lower()
    m = model.lower()
    BF = ("bf16", 2.0)
    if not q:
        if "fp8" in m:
            q = "fp8"
        elif "gpt-oss" in m:
            q = "mxfp4"
        elif "minimax-m2" in m or "deepseek" in m:
            q = "fp8"
        else:
            q = "bf16"
    f8 = "fp8" if arch in ("hopper", "hopper_narrow", "blackwell", "bw_small", "ada", "cdna3") else "bf16"
    if "bf16" in q or q in ("fp16", "float16"):
        if "gpt-oss" in m:
            q = "mxfp4"
        else:
            return ("bf16", BF, BF, BF)
    if "int8 weights" in q:
        return (
            "w8",
            ("bf16", 1.0),
        ) * 1 + (("bf16", 1.0),) * 2
    if "float32" in q:
        return ("fp32", ("fp32", 4.0), ("fp32", 4.0), ("fp32", 4.0))
    if "exl2" in q:
        b = float(re.search(r"([\d.]+)bpw", q).group(1)) / 8
        x = ("bf16", b)
        return ("w4", x, x, x)
    if "mxfp4" in q or ("gpt-oss" in m):
        return ("mx", BF, BF, ("fp4" if arch == "blackwell" else "bf16", 0.53))
    if "fp4" in q:
        F4 = ("fp4", 0.5625)
        return ("fp4", F4, F4, F4) if not moe else ("fp4", BF, F4, F4)
    if "fp8" in q:
        x = (f8, 1.0)
        return ("fp8", x, x, x)
    if "int8" in q:
        if "wo" in q or "gptq" in q:
            x = ("bf16", 1.02)
            return ("w8", x, x, x)
        x = ("int8", 1.0)
        return ("int8", x, x, x)
    if "int4" in q or "awq" in q or "gptq" in q or "nf4" in q or "q4" in q:
        x = ("bf16", 0.53)
        if engine in ("vllm",) and moe and "kimi" in m:
            return ("w4", BF, BF, x)
        return ("w4", x, x, x)
    return ("bf16", BF, BF, BF)


def gpt_shape(e, name):
    s = type("S", (), {})()
    L, h = e["layers"], e["hidden"]
    s.layers = L
    s.hidden = h
    s.heads = e["heads"]
    s.attn = 4 * h * h * L
    s.mlp = 8 * h * h * L
    s.exp = 0
    s.E = 0
    s.k = 0
    s.moe_layers = 0
    s.head = e["vocab"] * h
    s.emb = s.head
    s.states = {
        "groups": [
            {
                "kind": "full",
                "layers": L,
                "heads": e["heads"],
                "key_dim": h // e["heads"],
                "value_dim": h // e["heads"],
                "window": None,
            }
        ]
    }
    s.raw = {}
    return s


DRAWN = ((1024, 1024), (1024, 8192), (8192, 1024))


def load():
    E = []  # entries
    for l in open(SHARED + "/kernels/serving_points.jsonl"):
        r = json.loads(l)
        if r["mode"] != "agg" or r.get("suspect") or not r["concurrency"]:
            continue
        s = S(r["model"])
        if not s:
            continue
        p = r["parallel"]
        d = DEV[SYS[r["system"]]]
        tp = p["tp"] or 1
        dp = p["dp"] or 1
        ep = p["moe_ep"] or 1
        mtp = p["moe_tp"] or 1
        if not s.E:
            mtp, ep = tp, 1
        elif p["dp"] is None:
            dp = max(1, mtp * ep // tp)
        b = dict(
            set="sp",
            row=r,
            s=s,
            d=d,
            eng=engine_of(r["framework"], r["framework_version"], None),
            q=r["quant"]["precision"],
            model=r["model"],
            tp=tp,
            pp=1,
            dp=dp,
            ep=ep,
            mtp=mtp,
            C=r["concurrency"],
            I=r["isl"],
            O=r["osl"],
            regime="closed",
            grp=r["group"],
            kv=None,
            gpu=r["gpu"],
        )
        E.append(dict(b, kind="ttft", y=r["ttft_ms"] / 1e3))
        E.append(dict(b, kind="tpot", y=r["tpot_ms"] / 1e3))
    for l in open(SHARED + "/truth/inference_speed.jsonl"):
        r = json.loads(l)
        s = S(r["model"])
        if not s:
            e = r.get("extra") or {}
            if "layers" in e and "vocab" in e:
                s = gpt_shape(e, r["model"])
            else:
                continue
        if r["gpu"] not in GPU:
            continue
        d = DEV[GPU[r["gpu"]]]
        eng = engine_of(r["engine"], r["engine_version"], r["gpu"])
        B = r["batch_or_concurrency"]
        m = r["measured"]
        I = r["isl"]
        O = r["osl"]
        tp = r["tp"] or 1
        pp = r["pp"] or 1
        dp = r["dp"] or 1
        ep = r["ep"] or 1
        n = r["gpu_count"] or 1
        if r["tp"] is None and n > 1 and eng not in ("hf", "autoawq", "eager", "exllama"):
            tp = n
        if s.E:
            if ep > 1:
                mtp = max(1, tp * dp // ep)
            else:
                mtp = tp * dp if dp == 1 else tp
        else:
            mtp = tp
        rate = None
        if isinstance(B, int):
            C = B
        elif isinstance(B, str) and "rate" in B:
            x = re.search(r"([\d.]+)/s", B)
            rate = float(x.group(1)) if x and "INF" not in B else 1e9
            C = None
            if rate > 100:
                continue
        elif isinstance(B, str) and B.startswith("offline"):
            C = None
            x = re.search(r"max_num_seqs (\d+)", B)
        else:
            continue
        base = dict(
            set="is",
            row=r,
            s=s,
            d=d,
            eng=eng,
            q=r["precision"],
            model=r["model"],
            tp=tp,
            pp=pp,
            dp=dp,
            ep=ep,
            mtp=mtp,
            C=C or 1,
            I=I if I is not None else 32,
            O=O or 128,
            grp=r["source"]["repo"] + "|" + r["engine"],
            kv=r["kv_cache_dtype"],
            rate=rate,
            gpu=r["gpu"],
        )

        def add(kind, y, regime):
            E.append(dict(base, kind=kind, y=y, regime=regime))

        if isinstance(B, str) and B.startswith("offline"):
            if m["total_output_tok_s"]:
                add("thr", 1 / m["total_output_tok_s"], "offline")
                continue
        closed = (
            m["ttft_ms"] is not None
            and m["tpot_ms"] is not None
            and (C is None or C > 1)
            and eng not in ("neuron", "turbomind")
        )
        reg = "rate" if rate else ("closed" if closed else "static")
        # How many requests were sent in all is not stated, and a first token
        # among others waits by that: src/answers/score/inference_speed.cc.
        if reg == "closed":
            pass
        elif m["ttft_ms"] is not None:
            add("ttft", m["ttft_ms"] / 1e3, reg)
        elif m["prefill_tok_s"] and I:
            add("ttft", I * (C if reg == "static" else 1) / m["prefill_tok_s"], reg)
        pure = m["tpot_ms"] is not None or m["prefill_tok_s"] is not None or I is None or O is None
        if m["tpot_ms"] is not None:
            add("tpot", m["tpot_ms"] / 1e3, reg)
        elif m["decode_tok_s_per_user"] and pure:
            add("tpot", 1 / m["decode_tok_s_per_user"], reg)
        if m["tpot_ms"] is None and not (m["decode_tok_s_per_user"] and pure):
            e2e = None
            if m["e2e_latency_ms"]:
                e2e = m["e2e_latency_ms"] / 1e3
            elif m["decode_tok_s_per_user"] and O:
                e2e = O / m["decode_tok_s_per_user"]
            elif m["total_output_tok_s"] and O and C:
                e2e = O * C / m["total_output_tok_s"]
            if e2e:
                add("e2e", e2e, reg)
        elif reg != "static" and m["total_output_tok_s"]:
            add("thr", 1 / m["total_output_tok_s"], reg)
    return E


def prep(E):
    F = collections.defaultdict(list)
    for e in E:
        s, d = e["s"], e["d"]
        ar = arch_of(d)
        moe = s.E > 0
        qc, a, m, x = quant_of(e["q"], e["model"], e["eng"], ar, moe)
        peak = d["dense_tflops"]

        def pk(n):
            v = peak.get(n) or peak.get("bf16") or peak.get("fp16") or peak.get("fp32") or 10
            return v * 1e12

        add = lambda k, v: F[k].append(v)
        eng = e["eng"]
        if eng == "hf" and qc in ("fp8", "w4", "w8"):
            eng = "hf_fp8" if qc == "fp8" else "hf_quant"
        add("eng", ENG.index(eng))
        add("arch", ARCH.index(ar))
        add("L", s.layers)
        add("h", s.hidden)
        add("moeL", s.moe_layers)
        add("E", s.E or 1)
        add("k", s.k or 0)
        add("moe", float(moe))
        add("Wa", s.attn)
        add("Wm", s.mlp)
        add("We", s.exp)
        add("Wh", s.head)
        add("ba", a[1])
        add("bm", m[1])
        add("be", x[1])
        add("Fa", pk(a[0]))
        add("Fm", pk(m[0]))
        add("Fe", pk(x[0]))
        add("F16", pk("bf16"))
        for c in ("fp8", "fp4", "w4", "w8"):
            add("q_" + c, float(qc == c or (c == "fp8" and qc == "int8")))
        bw = d["mem_bandwidth_gbs"] * 1e9 * (0.5 if d["id"] == "mi250x" else 1)
        tp = e["tp"]
        if ARCH[F["arch"][-1]] == "neuron":
            bw /= 2  # per core
        add("BW", bw)
        add("tp", tp)
        add("pp", e["pp"])
        add("dp", e["dp"])
        add("ep", e["ep"])
        add("mtp", e["mtp"])
        add("C", e["C"])
        add("I", e["I"])
        add("O", e["O"])
        kvq = e.get("kv")
        kvb = 1.0 if kvq and "fp8" in kvq else 2.0
        if kvq is None and eng in ("trtllm_pt", "sglang") and qc in ("fp8", "fp4"):
            kvb = 1.0
        full = win = rec = fl = 0
        winl = 1
        lat = 0
        kvh = 1e9
        for kind, n, hd, kd, vd, w in state_feats(s):
            if kind == "full":
                full += n * hd * (kd + vd)
                kvh = min(kvh, hd)
                fl += n * s.heads * (kd + vd)
            elif kind == "sliding":
                win += n * hd * (kd + vd)
                winl = w
                kvh = min(kvh, hd)
            elif kind == "latent":
                full += n * (kd + vd)
                lat = 1
                fl += n * s.heads * 320
            elif kind == "recurrent":
                rec += n * hd * kd * vd * 4 * 2
        add("kv", full * kvb)
        add("kvw", win * kvb)
        add("win", winl)
        add("rec", rec)
        add("afl", fl)
        add("lat", lat)
        add("kvh", kvh if kvh < 1e9 else 1)
        add("grp", s.heads / kvh if kvh < 1e9 and kvh > 0 else 1)
        add("dsa", float("index_topk" in s.raw))
        add("mem", (d.get("torch_total_gib") or d["memory_gb_nominal"] * 0.93) * 2**30)
        nv = link_of(d)
        add("nvl", float(nv is not None))
        add(
            "link",
            nv or {"4": 31.5e9, "5": 63e9, "3": 15.75e9}.get((d.get("pcie_gen_lanes") or "4")[0], 31.5e9),
        )
        for k in ("closed", "static", "rate", "offline"):
            add("r_" + k, float(e["regime"] == k))
        add("rate", e.get("rate") or 0)
        for k in ("ttft", "tpot", "e2e", "thr"):
            add("k_" + k, float(e["kind"] == k))
        add("y", e["y"])
        add("plim", float("330 W" in e["gpu"]))
        sp = e["set"] == "sp"
        add("sp", float(sp))
        # What the benchmark of the one set draws and how it starts its
        # engines: src/answers/score/serving_points.cc.
        drawn = sp and (e["I"], e["O"]) in DRAWN
        spread = drawn or (sp and eng != "sglang")
        add("lo", 0.8 if spread else 1.0)
        add("lenf", 0.9 if spread else 1.0)
        several = drawn and eng == "sglang"
        wide = ARCH[F["arch"][-1]] == "blackwell"
        add("si", (30.0 if wide else 10.0) if several else 0.0)
        add("poll", (10.0 if e["C"] < 16 else 30.0) if several and wide else 1.0)
        add("occ", {"vllm": 0.5, "trtllm_pt": 1.0, "sglang": 0.7}.get(eng, 0.55))
        add("Q", 0.0)
    return {k: np.array(v, float) for k, v in F.items()}
