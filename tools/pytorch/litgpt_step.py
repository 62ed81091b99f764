#!/usr/bin/env python3
"""Records what a training step of litgpt's own blocks holds, without a card.

usage: LD_PRELOAD=SHIM/shim.so LD_LIBRARY_PATH=SHIM \\
           V/bin/python litgpt_step.py NAME BATCH LENGTH RANK TARGETS [packed]

NAME is one of litgpt's (Mistral-7B-v0.1), TARGETS of query, key, value,
projection, mlp, head, joined by +. In: V with `pip install torch
transformers litgpt==0.4.13 lightning==2.4.0`; the shim of build_shim.py. Out:
one JSON line with the bytes of weights and the second step's peak, split.

The loop is that of litgpt's finetune/lora.py: chunks of 128 positions of the
head, made float32 as lightning's fabric does to what a module returns; loss
and logits stay until the next step has replaced them. `packed` puts in place
of each product what bitsandbytes 0.42 does: a whole weight is unpacked, and
the input is kept as an attribute of the node.
"""
import json
import sys

import record
import torch
from litgpt import lora as litgpt_lora
from litgpt import utils as litgpt_utils
from torch._subclasses.fake_tensor import FakeTensorMode

PARTS = ("query", "key", "value", "projection", "mlp", "head")


class Packed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, packed, shape, bias):
        ctx.shape = shape
        ctx.tensors = (x, packed)
        weight = torch.empty(shape, dtype=x.dtype, device=x.device)
        return torch.nn.functional.linear(x, weight, bias)

    @staticmethod
    def backward(ctx, gradient):
        weight = torch.empty(ctx.shape, dtype=gradient.dtype,
                             device=gradient.device)
        return torch.matmul(gradient, weight), None, None, None


def pack(model):
    """Puts packed weights in place of all products'; returns their tensors."""
    made = []
    for module in model.modules():
        if type(module) is not torch.nn.Linear:
            continue
        count = module.weight.numel()
        shape = tuple(module.weight.shape)
        weight = torch.empty((count + 1) // 2, dtype=torch.uint8,
                             device="cuda")
        made += [weight, torch.empty(count // 64, device="cuda")]
        module.weight = torch.nn.Parameter(torch.empty(0, device="cuda"),
                                           requires_grad=False)
        module.forward = (lambda x, m=module, w=weight, s=shape:
                          Packed.apply(x, w, s, m.bias))
    return made


def build(name, length, rank, targets, packed):
    wanted = {f"lora_{part}": part in targets for part in PARTS}
    config = litgpt_lora.Config.from_name(name, lora_r=rank, lora_alpha=16,
                                          lora_dropout=0.05, **wanted)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = litgpt_lora.GPT(config)
        litgpt_lora.mark_only_lora_as_trainable(model)
        model.max_seq_length = length
    torch.set_default_dtype(torch.float32)
    return model, pack(model) if packed else []


def measure(name, batch, length, rank, targets, packed):
    model, beside = build(name, length, rank, targets, packed)
    model.train()
    tracker = record.Tracker()
    owner = {}
    for kind, tensors in (("weights", list(model.parameters()) + beside),
                          ("buffers", model.buffers())):
        for tensor in tensors:
            owner.setdefault(tracker.storage_id(tensor), kind)
    tokens = torch.zeros(batch, length, dtype=torch.int64, device="cuda")
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4)
    for _ in range(2):
        with tracker:
            begin = tracker.op
            logits = [chunk.float() for chunk in
                      model(tokens, lm_head_chunk_size=128)]
            logits[-1] = logits[-1][..., :-1, :]
            loss = litgpt_utils.chunked_cross_entropy(logits, tokens[..., 1:])
            loss.backward()
            end = tracker.op
            optimizer.step()
            for state in optimizer.state.values():
                for tensor in state.values():
                    owner.setdefault(tracker.storage_id(tensor), "optimizer")
            optimizer.zero_grad()
    peak = record.peak_of(tracker, begin, end, owner)
    return {"name": name, "batch": batch, "length": length, "rank": rank,
            "targets": targets, "packed": packed,
            "peak": peak["bytes_rounded_512"], "split": peak["split"]}


def main():
    name, batch, length, rank, targets = sys.argv[1:6]
    with FakeTensorMode(allow_non_fake_inputs=True):
        row = measure(name, int(batch), int(length), int(rank),
                      targets.split("+"), "packed" in sys.argv[6:])
    print(json.dumps(row))


if __name__ == "__main__":
    main()
