#!/usr/bin/env python3
"""Writes data/accelerators.jsonl from a table of accelerators.

usage: tools/devices/convert.py accelerators.json > data/accelerators.jsonl

In: a JSON array, one object a card, with the figures that were found and where
each was found. Out: one row a card, sorted by id, in the order of keys of
src/input/device_row.h; what is not known is left out. The same bytes for the
same input.
"""
import json
import sys

# Of a row, in this order. Free text (notes) stays behind.
KEYS = [
    "id", "name", "aliases", "vendor", "arch", "form", "year",
    "compute_capability", "gfx", "memory_gb_nominal", "memory_gb_options",
    "memory_type", "unified_memory", "nvidia_smi_mib", "torch_total_gib",
    "torch_total_source", "mem_bandwidth_gbs", "l2_mb", "last_level_cache_mb",
    "sm_count", "boost_clock_mhz", "dense_tflops", "dense_basis", "alt_rates",
    "measured_tflops", "tdp_w", "nvlink_gbs_per_gpu", "scale_up_link",
    "pcie_gen_lanes", "typical_gpus_per_node", "price_usd_per_hour",
    "list_price_usd", "sources",
]


def total_source(card):
    """Where the total that the runtime reports was read."""
    total = card.get("torch_total_gib")
    if not total:
        return None
    for seen in card.get("memory_reported") or []:
        size = seen["value"]
        if seen["unit"] == "MiB":
            size /= 1024
        elif seen["unit"] == "bytes":
            size /= 2**30
        if abs(size - total) < 0.02 and "reserved" not in seen["kind"]:
            return seen["source"]
    return None


def cleaned(value):
    """Without members and entries that say nothing."""
    if isinstance(value, dict):
        kept = {k: cleaned(v) for k, v in value.items() if k not in
                ("note", "notes")}
        return {k: v for k, v in kept.items() if v not in (None, "", {}, [])}
    if isinstance(value, list):
        return [cleaned(v) for v in value]
    if isinstance(value, float) and value == int(value):
        return int(value)
    return value


def main():
    cards = json.load(open(sys.argv[1], encoding="utf-8"))
    for card in sorted(cards, key=lambda card: card["id"]):
        card["torch_total_source"] = total_source(card)
        row = {}
        for key in KEYS:
            value = cleaned(card.get(key))
            if value not in (None, "", {}, []) and value is not False:
                row[key] = value
        print(json.dumps(row, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
