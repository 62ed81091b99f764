"""llama.cpp's measured speeds as rows of numbers, for llamacpp_speed.py.

Which words of a record lead to a device, a backend and a recipe is told in
src/answers/llama_job.cc too.
"""

from serving_shapes import *  # noqa: F403


def norm(s):
    s = s.lower()
    s = re.sub(r"nvidia|geforce|amd|radeon|tesla|instinct|\bgraphics\b", "", s)
    return re.sub(r"[^a-z0-9]", "", s)


AL = {}
for d in DEV.values():
    for n in [d["id"], d["name"]] + d.get("aliases", []):
        AL.setdefault(norm(n), d)


def dev(name):
    if not name:
        return None
    parts = [name]
    m = re.search(r" \(([^)]*)\)", name)
    if m:
        parts += [name[: m.start()], m.group(1)]
    for k in (" / ", " + ", " ["):
        if k in name:
            a, b = name.split(k, 1)
            parts += [a, b]
    for p in list(parts):
        while " " in p:
            p = p.rsplit(" ", 1)[0]
            if " " in p:
                parts.append(p)
    for p in parts:
        if norm(p) in AL:
            return AL[norm(p)]
    return None


R = [json.loads(l) for l in open(SHARED + "/truth/llamacpp_speed.jsonl")]
BPW = {
    "F32": 32,
    "F16": 16,
    "BF16": 16,
    "Q8_0": 8.5,
    "Q6_K": 6.56,
    "Q5_K_M": 5.7,
    "Q4_K_M": 4.87,
    "Q4_K_S": 4.6,
    "Q4_K_XL": 4.9,
    "Q4_0": 4.6,
    "Q3_K_S": 3.5,
    "Q3_K_M": 3.9,
    "Q3_K_XL": 4.2,
    "IQ4_XS": 4.3,
    "IQ4_NL": 4.55,
    "IQ3_XXS": 3.15,
    "MXFP4": 4.3,
    "NVFP4": 4.6,
    "IQ2_K_R4": 2.4,
    "IQ4_K_R4": 4.5,
    "Q5_K_XL": 5.7,
    "Q6_K_XL": 7.0,
    "Q8_K_XL": 9.5,
}


def bpw(q):
    if not q:
        return None
    q = q.replace("UD-", "").replace(" MoE", "")
    for k, v in BPW.items():
        if q == k:
            return v
    m = re.search(r"Q(\d)", q)
    return int(m.group(1)) + 0.8 if m else None


def qclass(b):
    return 0 if b >= 12 else 1 if b > 7 else 2 if b >= 4 else 3


def backend(r, d):
    b = (r["backend"] or "").lower()
    v = d["vendor"]
    if d["id"].startswith("cpu") or b == "cpu" or (r["n_gpu_layers"] == 0):
        return "cpu"
    if "vulkan" in b or "vulkan" in (r["device"] or "").lower():
        return "vulkan"
    if v == "nvidia":
        return "cuda"
    if v == "apple":
        return "metal"
    if v == "amd":
        return "rocm" if b != "vulkan" else "vulkan"
    return "vulkan"


def arch(d):
    a = d["arch"]
    i = d["id"]
    if d["vendor"] == "apple":
        return "apple"
    for k in ("Pascal", "Turing", "Ampere", "Ada", "Hopper", "Blackwell"):
        if a.startswith(k):
            return (
                {"Ampere": "ampere_dc" if "a100" in i or "a30" == i else "ampere"}.get(k, k.lower())
                if i != "gb10"
                else "gb10"
            )
    if "RDNA 3.5" in a:
        return "rdna35"
    if "RDNA 4" in a:
        return "rdna4"
    if "RDNA" in a:
        return "rdna3"
    if i.startswith("cpu"):
        return "cpu"
    return "other"


def parse(t):
    m = re.match(r"(batched )?(pp|tg)(\d+)(?: @ d(\d+))?(?: x(\d+))?", t)
    if m:
        return m.group(2), int(m.group(3)), int(m.group(4) or 0), int(m.group(5) or 1)
    if t.startswith("prefill"):
        return "pp", (2048 if "2k" in t else 512), 0, 1
    if t.startswith("decode") or "eval rate" in t:
        return "tg", 128, 128, 1
    return None


BK = ["cuda", "rocm", "vulkan", "metal", "cpu"]
ARS = [
    "pascal",
    "turing",
    "ampere",
    "ampere_dc",
    "ada",
    "hopper",
    "blackwell",
    "gb10",
    "rdna3",
    "rdna35",
    "rdna4",
    "apple",
    "cpu",
    "other",
]


def load():
    E = []
    for r in R:
        d = dev(r["device"])
        if not d:
            continue
        try:
            s = S(r["model"])
        except KeyError:
            s = None
        if not s or not s.layers:
            continue
        p = parse(r["test"])
        if not p:
            continue
        q = r["quant"]
        tot = s.attn + s.mlp + s.exp + s.head + s.router
        full = tot + (s.emb if s.head != s.emb else 0)
        b = bpw(q)
        if r["model_size_gib"]:
            b = r["model_size_gib"] * 2**30 * 8 / full
        elif b is None:
            m = re.search(r"(I?Q\d[\w]*|MXFP4|BF16|F16|F32)", r["model"], re.I)
            b = bpw(m.group(1).upper()) if m else None
            if b is None and ("ollama" in r["model"] or "ollama" in (r.get("engine") or "")):
                b = 4.87
            if b is None:
                continue
        if not 1.5 < b < 40:
            continue
        E.append(
            dict(
                r=r,
                d=d,
                s=s,
                b=b,
                kind=p[0],
                n=p[1],
                depth=p[2],
                par=p[3],
                bk=backend(r, d),
                ar=arch(d),
                y=r["tokens_per_s"],
            )
        )
    return E


def prep(E):
    F = collections.defaultdict(list)
    for e in E:
        s, d = e["s"], e["d"]
        add = lambda k, v: F[k].append(float(v))
        k = s.k / s.E if s.E else 0
        full = win = fl = rec = 0
        winl = 1
        for kind, n, hd, kd, vd, w in state_feats(s):
            if kind == "full":
                full += n * hd * (kd + vd)
                fl += n * s.heads * (kd + vd)
            elif kind == "sliding":
                win += n * hd * (kd + vd)
                winl = w
                fl += 0
            elif kind == "latent":
                full += n * (kd + vd)
                fl += n * s.heads * (576 + 512) / 1
            elif kind == "recurrent":
                rec += n * hd * kd * vd * 8
        add("dense", s.attn + s.mlp)
        add("exp", s.exp)
        add("kE", k)
        add("E", s.E or 1)
        add("head", s.head)
        add("L", s.layers)
        add("h", s.hidden)
        add("moe", s.E > 0)
        add("moeL", s.moe_layers)
        add("b", e["b"] / 8)
        add("qc", qclass(e["b"]))
        add("kv", full * 2)
        add("kvw", win * 2)
        add("win", winl)
        add("fl", fl)
        add("rec", rec)
        add("BW", (d["mem_bandwidth_gbs"] or 100) * 1e9)
        pk = d["dense_tflops"]
        add(
            "F",
            max(pk.get("fp16") or 0, (pk.get("int8") or 0) / 2, pk.get("fp32") or 0, 0.1) * 1e12,
        )
        add("F8", (pk.get("int8") or pk.get("fp16") or pk.get("fp32") or 1) * 1e12)
        add("n", e["n"])
        add("d", e["depth"])
        add("par", e["par"])
        add("pp", e["kind"] == "pp")
        add("cnt", e["r"]["device_count"] or 1)
        add("bk", BK.index(e["bk"]))
        add("ar", ARS.index(e["ar"]))
        add("fa", e["r"]["flash_attn"] in (True, 1, "auto", "True"))
        add("old", 1 if re.match(r"b[1-3]\d{3}\b", e["r"]["build"] or "") else 0)
        add(
            "mem",
            (d.get("memory_gb_nominal") or 1e6) * 1e9 * (1 if d["vendor"] != "apple" else 0.75),
        )
        add("ngl", -1 if e["r"]["n_gpu_layers"] in (None, -1) else e["r"]["n_gpu_layers"])
        add("uni", bool(d.get("unified_memory")) or e["bk"] == "cpu")
        add("y", e["y"])
        add("tool", 1 if not re.match("(batched )?(pp|tg)", e["r"]["test"]) else 0)
    return {k: np.array(v) for k, v in F.items()}
