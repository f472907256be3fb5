"""The parts that contenders share."""

import importlib.util
import multiprocessing
import os
import uuid

#: Messages that a channel, ring or queue holds.
SLOTS = 8
#: The longest wait, in seconds, for something that happens at once on an idle machine.
PATIENCE = 60.0
#: The most readers of a case.
MOST_READERS = 7


class Contender:
    """The parts that most contenders have alike."""

    payload = "bytes"
    #: The parts that measure it; of contenders whose readers wait alike, one idles.
    parts = ("stream", "latency", "idle")
    #: Messages before those that are timed: where there are places, each has all its pages then.
    warm = 1
    #: True if it is a program of its own: then `stream(size, readers, seconds)` gives the figures of a turn.
    runs_alone = False

    @staticmethod
    def missing():
        return None

    @staticmethod
    def inherited(context):
        return None


def fresh_name():
    """A name for a channel or group that nobody else has."""
    return f"bench-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def without(*packages):
    """The reason why a contender that needs these packages cannot run here, or None."""
    absent = [package for package in packages if not importlib.util.find_spec(package)]
    return f"{' and '.join(absent)} not installed" if absent else None


def spawning():
    """The way in which processes start: anew, as nothing may be inherited by chance."""
    return multiprocessing.get_context("spawn")
