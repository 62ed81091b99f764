#!/usr/bin/env python3
"""Draw random cases of training and inference steps, for record.py batch.

    sweep.py CASES.jsonl --configs DIR [--seed N] [--each N] [--only FAMILY,...] [--skip FAMILY,...]

Recorded rows are few and alike: batches of two, round lengths, the settings of published files. This draws what lies
between: for each family of variants.py a few of its classes with odd batches and lengths, every type of parameters,
attention, autocast, checkpoints, masks, optimizers and adapters, on configurations whose sizes, ties, biases, windows and
activations are changed at random. The same seed draws the same cases. What the library refuses becomes a row with
"error" when it is recorded, and is left out when it is compared:

    sweep.py CASES.jsonl --configs CONFIGS --seed 7
    record.py batch CASES.jsonl ROWS.jsonl
    foretell verify ROWS.jsonl --configs CONFIGS
"""
import argparse
import json
import os
import pathlib
import random

if os.environ.get("PYTHONHASHSEED") != "0":
    os.environ["PYTHONHASHSEED"] = "0"
import variants  # noqa: E402

ACTIVATIONS = ("gelu", "gelu_new", "relu", "silu", "gelu_pytorch_tanh", "quick_gelu", "relu2")
# Booleans that decide about what a family is, or about what is never run here.
FIXED = {"is_encoder_decoder", "is_decoder", "use_cache", "add_cross_attention", "output_router_logits", "output_attentions",
         "output_hidden_states", "torchscript", "use_mamba_kernels", "return_dict", "trust_remote_code", "gradient_checkpointing"}
# Numbers that may be any, by the name of their key: the range they are drawn from.
SIZES = {"vocab_size": (33, 4099), "intermediate_size": (17, 1033), "ffn_dim": (17, 1033), "n_inner": (17, 1033),
         "moe_intermediate_size": (9, 257), "shared_expert_intermediate_size": (9, 257), "d_ff": (17, 1033),
         "encoder_ffn_dim": (17, 1033), "decoder_ffn_dim": (17, 1033), "type_vocab_size": (1, 5), "sliding_window": (3, 90),
         "attention_chunk_size": (3, 90)}
RATES = ("attention_dropout", "hidden_dropout", "attn_pdrop", "resid_pdrop", "embd_pdrop", "dropout", "activation_dropout",
         "attention_probs_dropout_prob", "hidden_dropout_prob", "dropout_rate", "classifier_dropout", "attention_dropout_prob",
         "resid_dropout", "embedding_dropout")


def changed(rng, raw):
    """A few changes of one configuration file, each such that the library may still take it."""
    possible = []
    for key, value in raw.items():
        if isinstance(value, bool):
            if key not in FIXED:
                possible.append((key, not value))
        elif key in SIZES and isinstance(value, int):
            possible.append((key, rng.randint(*SIZES[key])))
        elif key in RATES and isinstance(value, (int, float)):
            possible.append((key, rng.choice((0.0, 0.1))))
        elif key in ("hidden_act", "activation_function", "hidden_activation", "mlp_hidden_act") and isinstance(value, str):
            possible.append((key, rng.choice(ACTIVATIONS)))
        elif key == "num_key_value_heads" and isinstance(value, int):
            heads = raw.get("num_attention_heads") or value
            possible.append((key, rng.choice([n for n in range(1, heads + 1) if heads % n == 0])))
        elif key in ("num_experts_per_tok", "moe_topk") and isinstance(value, int):
            possible.append((key, rng.randint(1, 4)))
    for key in ("tie_word_embeddings", "attention_bias", "mlp_bias"):
        if key not in raw:
            possible.append((key, rng.random() < 0.5))
    for key, value in rng.sample(possible, min(len(possible), rng.choice((0, 0, 1, 1, 2, 3)))):
        yield f"{key}={json.dumps(value)}"


def settings(rng, name):
    """The keys of a case beside its configuration."""
    c = {"batch": rng.choice((1, 1, 2, 2, 3, 5)), "seq": rng.choice((1, 2, 7, 31, 32, 33, 47, 64, 65, 96, 100, 127, 128, 131, 160)),
         "dtype": rng.choice(("float32", "bfloat16", "bfloat16", "float16")), "attn": rng.choice(("sdpa", "sdpa", "eager"))}
    c["mode"] = rng.choice(("train",) * 7 + ("forward", "prefill", "decode"))
    if c["dtype"] == "float32" and rng.random() < 0.4:
        c["autocast"] = rng.choice(("bfloat16", "float16"))
    if rng.random() < 0.2:
        c["mask"] = 1
    if c["mode"] == "train":
        c["optimizer"] = rng.choice(("none", "none", "sgd", "adamw_fused", "adamw_foreach", "adamw_loop", "adafactor"))
        if rng.random() < 0.2:
            c["checkpoint"] = 1
        if rng.random() < 0.15:
            c["accumulate"] = 2
        if rng.random() < 0.15:
            c["lora"] = f"r={rng.choice((4, 8, 16))},targets=all-linear"
    if name in ("t5", "mt5", "umt5", "bart", "mbart", "marian", "pegasus", "m2m_100") and rng.random() < 0.5:
        c["tgt"] = rng.choice((1, 9, 33, 64))
    return c


def own(raw, edit):
    """What of a file an edit of the shallow configuration leaves; enough to know its keys."""
    out = dict(raw)
    for item in (edit or "").split(","):
        out.pop(item.split("=")[0].lstrip("-").split(".")[0], None)
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--configs", type=pathlib.Path, required=True)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--each", type=int, default=6)
    p.add_argument("--only", default="")
    p.add_argument("--skip", default="")
    a = p.parse_args()
    with a.out.open("w") as f:
        for family, (name, shallow, rows) in variants.FAMILIES.items():
            if (a.only and family not in a.only.split(",")) or family in a.skip.split(","):
                continue
            rng = random.Random(f"{a.seed} {family}")
            rows = rows or [(None, None, None)]
            file = variants.file_of(a.configs, name)
            raw = own(json.loads(file.read_text()), shallow)
            for _ in range(a.each):
                cls, edit, over = rng.choice(rows) if rng.random() < 0.6 else (rng.choice(rows)[0], None, None)
                known = own(raw, edit)
                edits = [x for x in (shallow, edit, *changed(rng, known)) if x]
                case = {"config": str(file), "edit": ",".join(edits), **settings(rng, family)}
                if cls:
                    case["class"] = cls
                if over:
                    case["over"] = over
                f.write(json.dumps(case) + "\n")


if __name__ == "__main__":
    main()
