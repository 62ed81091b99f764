#!/usr/bin/env python3
"""Writes data/cloud_prices.jsonl and data/grid_carbon.jsonl.

usage: tools/devices/costs.py cloud_instances.json grid_carbon.json [data]

In: tables of machines with their list prices, and of electricity's carbon,
each figure with its source and date. Out: a row a machine and a row a place,
sorted; what is not known is left out. Of carbon only figures that no
share-alike term binds: a country's value is Our World in Data's (CC BY 4.0),
a region's its provider's own; places that have only others are left out. The
same bytes for the same input.
"""
import json
import sys

FREE = ("CC BY 4.0", "Apache-2.0")
BOUND = ("ODbL", "CC BY-SA", "share-alike", "Electricity Maps")


def cleaned(row):
    return {k: v for k, v in row.items() if v not in (None, "", [], {})}


def prices(instances):
    rows = []
    for machine in instances:
        if not machine.get("usd_per_hour"):
            continue
        rows.append(cleaned({
            "provider": machine["provider"], "name": machine["name"],
            "accelerator": machine["accelerator"],
            "count": machine["accelerator_count"],
            "usd_per_hour": machine["usd_per_hour"],
            "kind": machine["price_kind"], "region": machine.get("region"),
            "date": machine.get("date"), "source": machine["source"]}))
    return sorted(rows, key=lambda row: (row["provider"], row["name"],
                                         row.get("region", ""), row["kind"]))


def is_free(entry):
    licence = entry.get("licence") or ""
    return any(word in licence for word in FREE) and not any(
        word in licence for word in BOUND)


def carbon(table):
    rows = []
    for group in ("countries", "us_grid", "sub_national", "cloud_regions"):
        for place in table[group]:
            found = [e for e in [place, *(place.get("alternatives") or [])]
                     if is_free(e)]
            if not found:
                continue
            best = found[0]
            rows.append(cleaned({
                "id": place["id"], "kind": place["kind"],
                "name": place["name"], "iso3": place.get("iso3"),
                "provider": place.get("provider"),
                "region": place.get("region"),
                "gco2e_per_kwh": best["gco2e_per_kwh"],
                "year": best.get("year"),
                "basis": best.get("basis") or
                "national yearly average of generation",
                "licence": best["licence"], "source": best["source"]}))
    return sorted(rows, key=lambda row: row["id"])


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False,
                                  separators=(",", ":")) + "\n")


def main():
    folder = sys.argv[3] if len(sys.argv) > 3 else "data"
    write(folder + "/cloud_prices.jsonl",
          prices(json.load(open(sys.argv[1], encoding="utf-8"))))
    write(folder + "/grid_carbon.jsonl",
          carbon(json.load(open(sys.argv[2], encoding="utf-8"))))


if __name__ == "__main__":
    main()
