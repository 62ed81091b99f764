"""The features of each kind, as texts that C++ reads too.

    log A           base 2 of a product of variables: "m*n", "weights/l2"
    pad A 128       A over A rounded up to 128
    mod A 128       A modulo 128
    tiles A 64 B 128 C   base 2 of ceil(A/64) ceil(B/128) C per multiprocessor
    waves A 64 B 128 C   how full the waves of those tiles are, 0 to 1
    code WORD       the number of the series' word
    series          the series' place by its mean
"""
import numpy as np

ROOF = ["log arithmetic_us", "log memory_us", "log arithmetic_us/memory_us"]
GEMM_TILES = [f"{f} m {a} n {b}" for a, b in
              ((64, 64), (64, 128), (128, 128), (128, 256), (256, 128),
               (256, 256)) for f in ("tiles", "waves")]
FEATURES = {
    "gemm": ["series", "code framework", "code dtype", "code version",
             "log m", "log n", "log k", "log weights/l2", "log m*n",
             "log m*k", *ROOF, *GEMM_TILES, "pad m 16", "pad m 64",
             "pad m 128", "mod n 128", "mod k 128", "mod n 256",
             "waves n 64", "waves n 128", "waves n 16"],
    "attention_prefill": [
        "series", "code framework", "code attn_dtype", "code kv_dtype",
        "code version", "log batch", "log q_heads", "log kv_heads",
        "log head_dim", "log seq_len", "log seen", "log q_heads/kv_heads",
        "log batch*seq_len", "log batch*q_heads", "log seen/seq_len", *ROOF,
        "tiles seq_len 64 batch*q_heads 1", "waves seq_len 64 batch*q_heads 1",
        "tiles seq_len 128 batch*q_heads 1",
        "waves seq_len 128 batch*q_heads 1",
        "tiles seq_len 128 batch*kv_heads 1",
        "waves seq_len 256 batch*q_heads 1",
        "pad seq_len 64", "pad seq_len 128", "log batch*kv_heads*seq_len"],
    "attention_decode": [
        "series", "code framework", "code attn_dtype", "code kv_dtype",
        "code version", "log batch", "log q_heads", "log kv_heads",
        "log head_dim", "log past_tokens", "log seen", "log q_heads/kv_heads",
        "log batch*kv_heads", "log batch*q_heads", *ROOF,
        "tiles batch*kv_heads 1 seen 64", "waves batch*kv_heads 1",
        "tiles batch*kv_heads 1", "tiles batch*kv_heads 1 seen 128",
        "waves batch*kv_heads 1 seen 128", "waves batch*kv_heads 1 seen 64",
        "waves batch*kv_heads 1 seen 256", "waves batch*kv_heads 1 seen 512",
        "pad q_heads/kv_heads 8", "pad q_heads/kv_heads 16",
        "pad q_heads/kv_heads 32", "pad q_heads/kv_heads 64",
        "log window"],
    "attention_encoder": [
        "series", "code framework", "code version", "log batch",
        "log q_heads", "log head_dim", "log seq_len", "log batch*seq_len",
        "log batch*q_heads", *ROOF, "tiles seq_len 128 batch*q_heads 1",
        "waves seq_len 128 batch*q_heads 1",
        "waves seq_len 64 batch*q_heads 1", "pad seq_len 64",
        "pad seq_len 128"],
    "mla_prefill": [
        "series", "code framework", "code kv_dtype", "code version",
        "log batch", "log q_heads", "log seq_len", "log batch*seq_len",
        "log batch*q_heads", *ROOF, "tiles seq_len 128 batch*q_heads 1",
        "waves seq_len 128 batch*q_heads 1", "pad seq_len 128"],
    "mla_decode": [
        "series", "code framework", "code kv_dtype", "code version",
        "log batch", "log q_heads", "log seen", "log batch*q_heads",
        "log batch*seen", *ROOF, "waves batch 1", "tiles batch 1 seen 64",
        "waves batch 1 seen 64", "pad q_heads 64", "pad q_heads 16"],
    "mla_bmm": [
        "series", "code framework", "code op", "code dtype", "log q_heads",
        "log tokens", "log tokens*q_heads", *ROOF,
        "tiles tokens 128 q_heads 1", "waves tokens 128 q_heads 1",
        "waves tokens 64 q_heads 1", "pad tokens 128"],
    "moe": [
        "series", "code framework", "code dtype", "code version",
        "code distribution", "log skew+", "log tokens", "log hidden",
        "log inner", "log experts", "log topk", "log moe_ep", "log moe_tp",
        "log local", "log routed", "log chosen", "log each", *ROOF,
        "log hidden*inner", "log tokens*hidden", "log chosen/local",
        "tiles each 16 inner 64 local", "tiles each 64 inner 64 local",
        "waves each 64 inner 64 local", "waves each 128 inner 64 local",
        "tiles each 128 inner 64 local", "tiles each 64 hidden 128 local",
        "waves each 64 hidden 128 local", "waves each 128 hidden 128 local",
        "pad inner 128", "pad inner 256", "pad each 64", "pad each 128",
        "pad hidden 256"],
    "collective": ["series", "code op", "code dtype", "code version",
                   "log gpus", "log message_bytes", "log message_bytes/gpus",
                   "log link_us"],
    "allreduce_custom": ["series", "code framework", "code mode",
                         "code version", "log gpus", "log message_bytes",
                         "log message_bytes/gpus", "log link_us"],
    "quantize": ["series", "code framework", "code op", "log m", "log k",
                 "log m*k", "log memory_us", "tiles m 1", "waves m 1",
                 "tiles m 1 k 1024"],
}
SHARED = ["series", "code framework", "code version"]
MODULE = [*SHARED, "code gemm_dtype", "code kv_dtype", "code attn_dtype",
          "code model", "log q_heads", "log batch", "log seq_len",
          "log past_tokens", "log rows", "log pairs", "log rows*q_heads",
          "log pairs*q_heads", "log tp", "tiles rows 128",
          "waves rows 128 q_heads 1"]
for name in ("mla", "dsa", "msa"):
    for phase in ("prefill", "decode"):
        FEATURES[f"{name}_module_{phase}"] = MODULE
for phase in ("prefill", "decode"):
    FEATURES[f"dsv4_module_{phase}"] = [*MODULE, "code op",
                                        "log compress_ratio"]
FEATURES["sparse_part"] = [*MODULE, "code op", "log compress_ratio"]
SCAN = [*SHARED, "code phase", "log batch", "log seq_len", "log rows",
        "log d_model", "waves batch 1"]
HEADS = ["log num_v_heads", "log num_k_heads", "log rows*num_v_heads",
         "log batch*num_v_heads", "tiles batch 1 num_v_heads 1",
         "waves batch 1 num_v_heads 1", "log num_v_heads/num_k_heads"]
FEATURES["linear_attention_gdn"] = [*SCAN, *HEADS]
FEATURES["linear_attention_kda"] = [*SCAN, *HEADS]
FEATURES["mamba2"] = [*SCAN, "log d_state", "log nheads", "log n_groups",
                      "log chunk_size", "log rows*nheads",
                      "waves batch 1 nheads 1"]
FEATURES["mhc"] = [*SHARED, "code op", "log hidden", "log tokens",
                   "log tokens*hidden"]
WIDE = ["log tokens", "log hidden", "log inner", "log experts", "log moe_ep",
        "log local", "log routed", "log chosen", "log each", *ROOF,
        "code dtype", "code distribution", "log skew+",
        "tiles each 64 inner 64 local", "waves each 128 inner 64 local"]
FEATURES["moe_wideep_trtllm"] = [*SHARED, *WIDE, "code op",
                                 "log rank0_num_tokens", "log num_slots"]
FEATURES["moe_wideep_sglang"] = [*SHARED, *WIDE, "code phase"]
FEATURES["mla_wideep_sglang"] = [*SHARED, "code phase", "code kv_dtype",
                                 "log q_heads", "log batch", "log seq_len",
                                 "log past_tokens", "log rows", "log pairs",
                                 "log rows*q_heads", "log pairs*q_heads"]
FEATURES["mlp_wideep_sglang"] = [*SHARED, "code phase", "log tokens"]
FEATURES["moe_dsv4_mega"] = [*SHARED, "code phase", "code distribution",
                             "log hidden", "log topk", "log experts",
                             "log moe_ep", "log tokens",
                             "log tokens*hidden"]
FEATURES["alltoall_trtllm"] = [*SHARED, "code op", "code dtype",
                               "log moe_ep", "log tokens"]
DEEP = [*SHARED, "code op", "log nodes", "log hidden", "log topk",
        "log experts", "log tokens", "log tokens*hidden",
        "log tokens*hidden*topk"]
FEATURES["alltoall_deepep_normal"] = [*DEEP, "log dispatch_sms",
                                      "log combine_sms"]
FEATURES["alltoall_deepep_ll"] = DEEP


def product(text, v):
    out = 1.
    for i, factor in enumerate(text.replace("/", "*/").split("*")):
        if factor.startswith("/"):
            out = out / v[factor[1:]]
        else:
            out = out * v[factor]
    return out


def evaluate(text, v):
    """One feature's column from the variables' columns."""
    words = text.split()
    if words[0] == "log":
        if words[1].endswith("+"):
            return np.log2(1 + product(words[1][:-1], v))
        # A count of none lies below one.
        return np.log2(np.maximum(product(words[1], v), 1e-9)) if \
            "past" not in words[1] and "window" not in words[1] else \
            np.log2(1 + product(words[1], v))
    if words[0] in ("pad", "mod"):
        x, unit = product(words[1], v), float(words[2])
        if words[0] == "mod":
            return np.mod(x, unit)
        return x / (np.ceil(x / unit) * unit)
    tiles = 1.
    i = 1
    while i + 1 < len(words):
        tiles = tiles * np.ceil(product(words[i], v) / float(words[i + 1]))
        i += 2
    if i < len(words):
        tiles = tiles * product(words[i], v)
    per = tiles / v["sm"]
    if words[0] == "tiles":
        return np.log2(per)
    return per / np.ceil(per)
