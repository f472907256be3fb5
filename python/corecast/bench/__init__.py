"""``python -m corecast bench``: channels and groups against what Python has, in turns, on this machine."""

import json
import statistics
import sys

from . import parts

__all__ = ["run"]


def run(*, quick=False, as_json=False, only=None):
    """Runs the parts, prints them, and returns the exit code."""
    known = {"stream": parts.stream, "latency": parts.latency, "idle": parts.idle, "barrier": parts.barrier, "allreduce": parts.allreduce}
    if only is not None and only not in known:
        print(f"error: no part is called '{only}': expected one of {', '.join(known)}", file=sys.stderr)
        return 2
    results = []
    for name, part in known.items():
        if only not in (None, name):
            continue
        for row in part(quick, lambda text: print(text, file=sys.stderr, flush=True)):
            results.append({"part": name, **row})
            if not as_json:
                _print_row(name, row)
    if as_json:
        print(json.dumps({"schema": "corecast-python-bench/1", "quick": quick, "results": results}))
    return 0


def _print_row(part, row):
    """One measurement: the medians of all contenders, and how many times as good as each other one corecast is."""
    medians = {name: statistics.median(values) for name, values in row["values"].items() if values}
    ours = medians["corecast"]
    print(f"{part}, {row['case']}, {row['unit']} ({'more' if row['more_is_better'] else 'less'} is better):")
    for name, median in sorted(medians.items(), key=lambda item: item[1], reverse=row["more_is_better"]):
        values = row["values"][name]
        ratio = ours / median if row["more_is_better"] else (median / ours if ours else float("inf"))
        beside = "" if name == "corecast" else f"   corecast is {ratio:.2f} times as good"
        print(f"  {name:22} {median:12.3f}   ({min(values):.3f} to {max(values):.3f}){beside}")
    for name, why in row.get("skipped", {}).items():
        print(f"  {name:22} SKIPPED: {why}")
