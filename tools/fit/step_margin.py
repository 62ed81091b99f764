#!/usr/bin/env python3
"""How far a step's figures lie from those of a library version that is not followed.

    tools/fit/step_margin.py [--program build/release/foretell] [--configs DIR] [--rows FILE]

Rows: tests/truth/steps_transformers4.jsonl, recorded under transformers 4.57.6, of the classes
that have a family. Each is derived as transformers 5.23 would run it, as a step of a version that
is not followed is, and compared with what was recorded. For each class, the share of its figures
within the margin that the other classes give (95 % of theirs) is printed: the class is left out of
its own margin. kMargin of src/report/present_step.cc is the margin of all, rounded up.
"""
import argparse
import json
import re
import subprocess
import tempfile

FIGURES = ("live_after_forward", "saved_bytes", "peak_forward", "peak_backward", "peak_optimizer")


def errors_of(program, configs, row):
    """The relative errors of a row's figures; none where it cannot be derived."""
    row = dict(row, transformers="5.23.0")
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write(json.dumps(row) + "\n")
        file.flush()
        words = [program, "verify", file.name, "--json"] + (["--configs", configs] if configs else [])
        answer = json.loads(subprocess.run(words, capture_output=True, text=True, check=False).stdout)
    answer = answer.get("result", answer)
    if answer["compared"] == 0:
        return None
    errors = dict.fromkeys((f for f in FIGURES if answer["fields"].get(f, {}).get("n")), 0.0)
    for difference in answer.get("differences", []):
        found = re.fullmatch(r"derived ([\d,]+), recorded ([\d,]+)", difference["what"])
        if found and difference["figure"] in errors:
            derived, recorded = (int(text.replace(",", "")) for text in found.groups())
            errors[difference["figure"]] = abs(derived / recorded - 1)
    return errors


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", default="build/release/foretell")
    options.add_argument("--configs")
    options.add_argument("--rows", default="tests/truth/steps_transformers4.jsonl")
    asked = options.parse_args()
    by_class = {}
    for line in open(asked.rows, encoding="utf-8"):
        row = json.loads(line)
        if row.get("error"):
            continue
        errors = errors_of(asked.program, asked.configs, row)
        if errors:
            by_class.setdefault(row["class"], []).extend(errors.values())
    everything = [e for errors in by_class.values() for e in errors]
    print(f"{len(everything)} figures of {len(by_class)} classes")
    for name, errors in sorted(by_class.items()):
        others = [e for other, values in by_class.items() if other != name for e in values]
        margin = quantile(others, 0.95)
        held = sum(e <= margin for e in errors) / len(errors)
        print(f"  {name:28} worst {max(errors):.4f}; {held:.0%} within {margin:.4f}, the margin of the others")
    for share in (0.5, 0.9, 0.95, 1):
        print(f"  {share:.0%} of all figures are within {quantile(everything, share):.4f}")


if __name__ == "__main__":
    main()
