"""Rows for people, in 80 columns."""

import statistics
import textwrap

_WIDTH = 80


def reference(row):
    """The contender that the others of a row are compared with: the first one, which is of this package."""
    return row["contenders"][0]


def summarised(row):
    """The row with the median, the least and the greatest value of each contender, and how much better the reference is."""
    ours = statistics.median(reference(row)["values"])
    contenders = []
    for contender in row["contenders"]:
        median = statistics.median(contender["values"])
        good, bad = (ours, median) if row["more_is_better"] else (median, ours)
        spread = {"median": median, "least": min(contender["values"]), "greatest": max(contender["values"])}
        contenders.append({**contender, **spread, "reference_is_times_as_good": good / bad if bad else None})
    return {**row, "reference": reference(row)["name"], "contenders": contenders}


def text(row):
    """The lines of a summarised row, the best contender first."""
    better = "more" if row["more_is_better"] else "less"
    has_cpus = "readers_cpu" in reference(row)
    cpus = "; read, send: CPUs that readers and sender used" if has_cpus else ""
    heads = f"  {'':24}{'median':>10}{'least':>10}{'greatest':>10}{'ours is':>10}"
    lines = [f"{row['part']}: {row['case']}", f"{row['unit']}, {better} is better{cpus}"]
    lines.append(heads + (f"{'read':>7}{'send':>7}" if has_cpus else ""))
    for contender in sorted(row["contenders"], key=lambda one: one["median"], reverse=row["more_is_better"]):
        lines.append(_line(contender, row["reference"]))
    lines += [f"  {skipped['name']:24} SKIPPED: {skipped['why']}" for skipped in row["skipped"]]
    return lines


def _line(contender, ours):
    figures = "".join(f"{_number(contender[key]):>10}" for key in ("median", "least", "greatest"))
    times = contender["reference_is_times_as_good"]
    ratio = "" if contender["name"] == ours or times is None else f"{_number(times)} x"
    cpus = "".join(f"{statistics.median(contender[key]):7.2f}" for key in ("readers_cpu", "sender_cpu") if key in contender)
    return f"  {contender['name']:24}{figures}{ratio:>10}{cpus}".rstrip()


def _number(value):
    """Four digits or so."""
    for least, digits in ((1000, 0), (100, 1), (10, 2)):
        if value >= least:
            return f"{value:,.{digits}f}"
    return f"{value:.3f}"


def legend(rows):
    """The ways of all contenders of these rows, in lines."""
    ways = {contender["name"]: contender["how"] for row in rows for contender in row["contenders"] if "how" in contender}
    return [
        line
        for name, how in ways.items()
        for line in textwrap.wrap(f"{name}: {how}", _WIDTH, initial_indent="  ", subsequent_indent="      ")
    ]
