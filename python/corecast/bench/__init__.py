"""``python -m corecast bench``: channels and groups against what Python has, in turns, on this machine."""

import json
import sys

from . import groups, parts, roundtrip, table
from .contenders.common import MOST_READERS
from .readers import OnDemand

__all__ = ["PARTS", "run"]

#: The parts, and the function of each that gives its rows.
PARTS = {
    "stream": parts.stream,
    "latency": parts.latency,
    "roundtrip": roundtrip.roundtrip,
    "idle": parts.idle,
    "barrier": groups.barrier,
    "allreduce": groups.allreduce,
}


def run(*, quick=False, as_json=False, only=None, sizes=None, readers=None, loads=None):
    """Runs the parts, prints them, and returns the exit code.

    `only` is one part, `sizes` and `readers` are lists of numbers in the place of the usual ones, and `loads` a list that has
    False for the machine as it is and True for busy processes on all CPUs.
    """
    wrong = _wrong(only, sizes or [], readers or [])
    if wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 2
    results = []
    with OnDemand(parts.most_readers(quick, readers)) as processes:
        options = parts.Options(quick, sizes, readers, loads, processes)
        for name, part in PARTS.items():
            for row in part(options, _say) if only in (None, name) else ():
                results.append(table.summarised({"part": name, **row}))
                if not as_json:
                    print("\n".join(table.text(results[-1])), end="\n\n", flush=True)
    if as_json:
        print(json.dumps({"schema": "corecast-python-bench/2", "quick": quick, "results": results}))
    elif any("how" in one for row in results for one in row["contenders"]):
        print("how each does it:", *table.legend(results), sep="\n")
    return 0


def _say(text):
    print(text, file=sys.stderr, flush=True)


def _wrong(only, sizes, readers):
    """The error of the options, or None."""
    if only is not None and only not in PARTS:
        return f"no part is called '{only}': expected one of {', '.join(PARTS)}"
    for size in sizes:
        if not 1 <= size <= 1 << 30:
            return f"messages of {size} bytes: expected 1 to {1 << 30}"
    for count in readers:
        if not 1 <= count <= MOST_READERS:
            return f"{count} readers: expected 1 to {MOST_READERS}"
    return None
