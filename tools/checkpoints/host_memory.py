#!/usr/bin/env python3
"""What loaders really keep in host memory: held (anonymous) and mapped (of files).

    host_memory.py FOLDER     makes a small Llama there (some 470 MB in float32), loads it
                              in each way in a process of its own, prints a line for each

Held and mapped are the most that a process had beyond what it had before, as
/proc/self/smaps_rollup tells while it loads; the file's own size stands beside.
`foretell model FOLDER` prints what each loader is taken to keep.
"""
import os
import subprocess
import sys
import threading
import time


def rollup():
    held = mapped = 0
    for line in open("/proc/self/smaps_rollup"):
        if line.startswith("Anonymous:"):
            held = int(line.split()[1])
        if line.startswith("Rss:"):
            mapped = int(line.split()[1])
    return held / 1024, (mapped - held) / 1024


def watch(load):
    before, most, stop = rollup(), [0, 0], threading.Event()

    def look():
        while not stop.is_set():
            now = rollup()
            for i in range(2):
                most[i] = max(most[i], now[i] - before[i])
            time.sleep(0.002)

    thread = threading.Thread(target=look)
    thread.start()
    kept = load()
    stop.set()
    thread.join()
    now = rollup()
    del kept
    return most, [now[i] - before[i] for i in range(2)]


def model_of(folder):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    torch.manual_seed(0)
    config = LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=6, num_attention_heads=16,
                         num_key_value_heads=8, vocab_size=24000, tie_word_embeddings=False)
    model = LlamaForCausalLM(config)
    model.save_pretrained(folder)
    torch.save(model.state_dict(), os.path.join(folder, "pytorch_model.bin"))


def ways(folder):
    bin_file, safe = os.path.join(folder, "pytorch_model.bin"), os.path.join(folder, "model.safetensors")

    def plain():
        import torch
        return lambda: torch.load(bin_file, weights_only=True)

    def mapped():
        import torch
        return lambda: torch.load(bin_file, weights_only=True, mmap=True)

    def tensors():
        from safetensors.torch import load_file
        return lambda: load_file(safe)

    def library():
        from transformers import LlamaForCausalLM
        return lambda: LlamaForCausalLM.from_pretrained(folder, use_safetensors=True)

    return {"torch.load": plain, "torch.load mmap": mapped, "safetensors": tensors, "transformers": library}


def main():
    folder = sys.argv[1]
    if len(sys.argv) > 2:
        most, kept = watch(ways(folder)[sys.argv[2]]())
        print(f"{sys.argv[2]:18} most: held {most[0]:7.1f} mapped {most[1]:7.1f}   kept: held {kept[0]:7.1f} mapped {kept[1]:7.1f} MiB", flush=True)
        return
    if not os.path.exists(os.path.join(folder, "model.safetensors")):
        model_of(folder)
    print(f"file {os.path.getsize(os.path.join(folder, 'model.safetensors')) / 2**20:.1f} MiB", flush=True)
    for way in ways(folder):
        subprocess.run([sys.executable, os.path.abspath(__file__), folder, way], check=True)


if __name__ == "__main__":
    main()
