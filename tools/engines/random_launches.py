#!/usr/bin/env python3
"""Draw launches of `vllm serve` at random, to be put to the engine itself.

usage: random_launches.py ROOT OUT.jsonl [--seed N] [--count N]

ROOT holds model folders ORG/NAME/config.json. A row: {"id", "model", "card",
"gpus", "argv"} as the recorders of the engine's own verdict take it. Models
are drawn by their class first, so that a class of which many checkpoints are
published does not crowd out the rest; most launches take few flags, since the
first fault of a launch hides what comes behind it.
"""

import argparse
import json
import pathlib
import random

CARDS = ("H100", "H100", "H100", "A100", "L4", "T4", "B200")


def config_override(rng):
    """A change of the configuration that a user may ask for."""
    return json.dumps(
        rng.choice(
            (
                {"num_hidden_layers": rng.choice((1, 2, 7))},
                {"max_position_embeddings": rng.choice((2048, 16384, 262144))},
                {"rope_scaling": {"rope_type": "linear", "factor": 2.0}},
                {
                    "rope_parameters": {
                        "rope_type": "yarn",
                        "rope_theta": 1000000,
                        "factor": 4.0,
                        "original_max_position_embeddings": 32768,
                    }
                },
                {
                    "quantization_config": {
                        "quant_method": "awq",
                        "bits": 4,
                        "group_size": 128,
                        "zero_point": True,
                        "version": "gemm",
                    }
                },
                {
                    "quantization_config": {
                        "quant_method": "gptq",
                        "bits": rng.choice((4, 8)),
                        "group_size": 128,
                        "desc_act": False,
                        "sym": True,
                    }
                },
                {
                    "quantization_config": {
                        "quant_method": "fp8",
                        "activation_scheme": "dynamic",
                        "weight_block_size": [128, 128],
                    }
                },
            )
        )
    )


def speculative(rng):
    """A speculative configuration, right or not for the model."""
    return json.dumps(
        rng.choice(
            (
                {
                    "method": "ngram",
                    "num_speculative_tokens": rng.choice((1, 4, 8)),
                    "prompt_lookup_max": rng.choice((2, 4)),
                },
                {
                    "method": "mtp",
                    "num_speculative_tokens": rng.choice((1, 2, 3)),
                },
                {
                    "method": "draft_model",
                    "model": "Qwen/Qwen3-0.6B",
                    "num_speculative_tokens": 4,
                },
                {
                    "method": "eagle3",
                    "model": "SpecForge/llama3-8B-eagle3",
                    "num_speculative_tokens": 3,
                },
                {"num_speculative_tokens": 2},
            )
        )
    )


# One draw of each yields the words of one or more flags.
FLAGS = (
    lambda r: ["--tensor-parallel-size", str(r.choice((2, 2, 4, 4, 8, 3, 6, 16)))],
    lambda r: ["--tensor-parallel-size", str(r.choice((2, 4, 8)))],
    lambda r: ["-tp", str(r.choice((2, 8)))],
    lambda r: ["--pipeline-parallel-size", str(r.choice((2, 3, 4, 8)))],
    lambda r: ["--data-parallel-size", str(r.choice((2, 4)))],
    lambda r: ["--enable-expert-parallel", "--tensor-parallel-size", "4"],
    lambda r: ["--decode-context-parallel-size", "2", "-tp", "8"],
    lambda r: [
        "--max-model-len",
        str(r.choice((1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144))),
    ],
    lambda r: ["--max-model-len", r.choice(("auto", "-1", "4k", "32K", "1M"))],
    lambda r: ["--max-num-seqs", str(r.choice((1, 8, 64, 128, 512, 1024)))],
    lambda r: [
        "--max-num-batched-tokens",
        str(r.choice((256, 1024, 2048, 4096, 16384, 40000))),
    ],
    lambda r: ["--no-enable-chunked-prefill"],
    lambda r: ["--no-enable-prefix-caching"],
    lambda r: ["--enable-prefix-caching"],
    lambda r: ["--enforce-eager"],
    lambda r: ["-O" + r.choice("0123")],
    lambda r: [
        "--compilation-config",
        json.dumps(
            r.choice(
                (
                    {"cudagraph_mode": "FULL"},
                    {"cudagraph_mode": "PIECEWISE"},
                    {"cudagraph_mode": "NONE"},
                    {"cudagraph_mode": "FULL_DECODE_ONLY"},
                    {"mode": 0},
                    {"cudagraph_capture_sizes": [1, 2, 4, 8]},
                    {"max_cudagraph_capture_size": 128},
                )
            )
        ),
    ],
    lambda r: ["--max-cudagraph-capture-size", str(r.choice((16, 100, 1024)))],
    lambda r: ["--dtype", r.choice(("half", "bfloat16", "float16", "float32"))],
    lambda r: [
        "--quantization",
        r.choice(
            (
                "fp8",
                "awq",
                "gptq",
                "compressed-tensors",
                "mxfp4",
                "bitsandbytes",
                "modelopt",
                "fp8_per_block",
                "awq_marlin",
            )
        ),
    ],
    lambda r: [
        "--kv-cache-dtype",
        r.choice(
            (
                "fp8",
                "fp8_e4m3",
                "fp8_e5m2",
                "nvfp4",
                "bfloat16",
                "fp8_ds_mla",
                "fp8_per_token_head",
            )
        ),
    ],
    lambda r: ["--block-size", str(r.choice((8, 16, 32, 64, 128, 256)))],
    lambda r: [
        "--attention-backend",
        r.choice(
            (
                "FLASHINFER",
                "FLASH_ATTN",
                "TRITON_ATTN",
                "FLASHMLA",
                "TRITON_MLA",
                "FLEX_ATTENTION",
            )
        ),
    ],
    lambda r: ["--speculative-config", speculative(r)],
    lambda r: ["--hf-overrides", config_override(r)],
    lambda r: ["--hf-overrides", config_override(r)],
    lambda r: ["--enable-lora"],
    lambda r: [
        "--enable-lora",
        "--max-lora-rank",
        str(r.choice((8, 32, 64, 48, 512))),
        "--max-loras",
        str(r.choice((1, 4, 16))),
    ],
    lambda r: ["--gpu-memory-utilization", str(r.choice((0.5, 0.95, 1.0)))],
    lambda r: ["--kv-cache-memory-bytes", r.choice(("8G", "1073741824"))],
    lambda r: ["--cpu-offload-gb", str(r.choice((4, 12.5)))],
    lambda r: ["--async-scheduling"],
    lambda r: ["--no-async-scheduling"],
    lambda r: ["--disable-hybrid-kv-cache-manager"],
    lambda r: ["--disable-sliding-window"],
    lambda r: ["--disable-cascade-attn"],
    lambda r: ["--runner", r.choice(("pooling", "generate", "auto"))],
    lambda r: ["--convert", r.choice(("embed", "classify"))],
    lambda r: ["--task", r.choice(("embed", "generate"))],
    lambda r: ["--model-impl", r.choice(("transformers", "vllm", "auto"))],
    lambda r: ["--language-model-only"],
    lambda r: ["--limit-mm-per-prompt", json.dumps({"image": 2, "video": 0})],
    lambda r: ["--mm-encoder-tp-mode", "data", "-tp", "2"],
    lambda r: ["--skip-mm-profiling"],
    lambda r: ["--mamba-cache-mode", r.choice(("all", "align", "none"))],
    lambda r: ["--mamba-ssm-cache-dtype", r.choice(("float32", "float16"))],
    lambda r: ["--mamba-block-size", str(r.choice((256, 1000)))],
    lambda r: ["--long-prefill-token-threshold", "1024"],
    lambda r: ["--scheduling-policy", r.choice(("priority", "fcfs"))],
    lambda r: ["--performance-mode", r.choice(("throughput", "interactivity"))],
    lambda r: ["--all2all-backend", "deepep_low_latency"],
    lambda r: ["--moe-backend", r.choice(("triton", "marlin", "cutlass"))],
    lambda r: ["--distributed-executor-backend", r.choice(("mp", "ray", "uni"))],
    lambda r: ["--disable-custom-all-reduce"],
    lambda r: ["--enable-sleep-mode"],
    lambda r: ["--enable-eplb", "--enable-expert-parallel", "-tp", "2"],
    lambda r: ["--enable-dbo"],
    lambda r: ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"],
    lambda r: ["--tool-call-parser", r.choice(("qwen3_coder", "llama_json"))],
    lambda r: ["--reasoning-parser", r.choice(("qwen3", "deepseek-r1", "glm45"))],
    lambda r: ["--swap-space", "8"],
    lambda r: ["--num-gpu-blocks-override", "2000"],
    lambda r: ["--load-format", r.choice(("dummy", "safetensors", "gguf"))],
    lambda r: ["--generation-config", r.choice(("vllm", "auto"))],
    lambda r: ["--calculate-kv-scales"],
    lambda r: ["--stream-interval", str(r.choice((1, 8)))],
    lambda r: ["--max-logprobs", str(r.choice((-1, 50)))],
    lambda r: ["--seed", str(r.choice((0, 42)))],
    lambda r: ["--disable-log-requests"],
    lambda r: ["--enable-chunked-prefil"],
    lambda r: ["--max_model_len=2048"],
)


def main():
    """Write the launches."""
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    options = parser.parse_args()
    by_class = {}
    for path in sorted(options.root.glob("*/*/config.json")):
        config = json.loads(path.read_text())
        name = (config.get("architectures") or [config.get("model_type")])[0]
        model = f"{path.parent.parent.name}/{path.parent.name}"
        by_class.setdefault(str(name), []).append(model)
    rng = random.Random(options.seed)
    with options.out.open("w") as out:
        for number in range(options.count):
            model = rng.choice(by_class[rng.choice(sorted(by_class))])
            argv = [model]
            if rng.random() < 0.7:
                argv.append("--trust-remote-code")
            for flag in rng.sample(FLAGS, rng.choice((0, 1, 1, 1, 2, 2, 3))):
                argv += flag(rng)
            row = {
                "id": f"R{options.seed}-{number:04d}",
                "model": model,
                "card": rng.choice(CARDS),
                "gpus": rng.choice((1, 8, 8, 16)),
                "argv": argv,
                "topic": "random",
            }
            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
