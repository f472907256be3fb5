"""The resources of a process and the names in folders, before and after: whatever has grown is a leak."""

import os
import time

#: Memory that allocators may keep beside what is in use. The least that a program can lose for each of 10^6 messages is 16 times that.
SLACK_KB = 2 << 10


def held():
    """This process's own memory, its descriptors, its mappings of channels, and its threads."""
    with open("/proc/self/status", encoding="ascii") as status:
        fields = dict(line.split(":", 1) for line in status)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        mappings = sum("memfd:corecast" in line for line in maps)
    return {
        "memory_kb": int(fields["RssAnon"].split()[0]),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "mappings": mappings,
        "threads": int(fields["Threads"]),
    }


def growth(before, after, slack_kb=SLACK_KB):
    """The words for each resource of which there is more than before."""
    slack = {"memory_kb": slack_kb}
    return [f"{kind}: {before[kind]} before, {after[kind]} after" for kind in before if after[kind] > before[kind] + slack.get(kind, 0)]


def names(folders):
    """All paths in the folders."""
    return {os.path.join(folder, name) for folder in folders for name in os.listdir(folder)}


def left_over(before, folders, patience=5.0):
    """The paths that were not there before, and do not vanish while this looks."""
    deadline = time.monotonic() + patience
    while (left := names(folders) - before) and time.monotonic() < deadline:
        time.sleep(0.05)
    return sorted(left)
