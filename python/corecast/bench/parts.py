"""The measurements of channels. Contenders take turns, and each turn begins with another one of them."""

import statistics
import time
from collections import namedtuple

from . import readers as r
from .contenders import available, message
from .contenders.common import MOST_READERS
from .load import busy

#: Beside the decimal sizes that were asked, the one from which rings of engines no longer pickle the bytes of an array.
_OBJECT_SIZES = [1000, 64_000, 1_000_000, 1 << 20, 10_000_000]
_SIZES = [1, 1000, 64_000, 1_000_000, 10_000_000]

#: How much is to be measured, and what of it, by which `readers.OnDemand`. `sizes`, `counts` and `loads` are None or lists.
Options = namedtuple("Options", "quick sizes counts loads readers")


def most_readers(quick, counts):
    """The number of reader processes that the parts need."""
    return max(counts or [3 if quick else MOST_READERS])


def _cases(options):
    """Load, payload, size and readers of each case, the loaded ones last."""
    quick = options.quick
    for is_loaded in options.loads or [False, True]:
        for payload, all_sizes, quick_sizes in (
            ("bytes", _SIZES, [1_000_000] if is_loaded else [1000, 1_000_000]),
            ("objects", _OBJECT_SIZES, [1_000_000] if is_loaded else [1_000_000, 1 << 20]),
        ):
            for size in options.sizes or (quick_sizes if quick else all_sizes):
                for count in options.counts or ([3] if quick else [1, 3, 7]):
                    yield is_loaded, payload, size, count


def _rows(options, say, part, measure, facts):
    """A row for each case, of what `measure(readers, kind, payload, size, count)` gives: a dict of figures of one turn."""
    turns = 3 if options.quick else 5
    readers = options.readers.start()
    for is_loaded, payload, size, count in _cases(options):
        kinds, skipped = available(part, payload)
        found = {kind.name: [] for kind in kinds}
        with busy(is_loaded):
            for turn in range(turns):
                for kind in kinds[turn % len(kinds) :] + kinds[: turn % len(kinds)]:
                    say(f"{part}: {_words(payload, size, count, is_loaded)}: {kind.name}, turn {turn + 1}")
                    found[kind.name].append(measure(readers, kind, payload, size, count))
        yield {
            "case": _words(payload, size, count, is_loaded),
            "payload": payload,
            "bytes": size,
            "readers": count,
            "load": is_loaded,
            **facts,
            "contenders": [_contender(kind, found[kind.name]) for kind in kinds],
            "skipped": [{"name": name, "why": why} for name, why in skipped.items()],
        }


def _words(payload, size, count, is_loaded):
    what = f"{size:,} bytes" if payload == "bytes" else f"an array of {size:,} bytes"
    return f"{what} to {count} {'reader' if count == 1 else 'readers'}{', beside busy processes' if is_loaded else ''}"


def _contender(kind, found):
    """The figures of all turns of one contender."""
    return {"name": kind.name, "how": kind.how, **{key: [turn[key] for turn in found] for key in found[0]}}


def stream(options, say):
    """Messages in a second that each reader gets, and the CPUs that all readers and the sender use meanwhile."""

    def measure(readers, kind, payload, size, count):
        seconds = 0.1 if options.quick else 0.3
        if kind.runs_alone:
            return kind.stream(size, count, seconds)
        contender = readers.begin(kind, size, count, r.receive_all)
        data, last = message(payload, size), message(payload, size, r.LAST)
        for _ in range(kind.warm):
            contender.send(data)
        sent, begin, used = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - begin < seconds:
            contender.send(data)
            sent += 1
        contender.send(last)
        results = readers.finish(contender, count)
        took = time.perf_counter() - begin
        everything = kind.warm + sent + 1
        if any(got != everything for got, _ in results):
            raise AssertionError(f"{kind.name}: readers got {[got for got, _ in results]} of {everything}")
        cpus = sum(share for _, share in results)
        return {"values": (sent + 1) / took, "readers_cpu": cpus, "sender_cpu": (time.process_time() - used) / took}

    yield from _rows(options, say, "stream", measure, {"unit": "messages/s", "more_is_better": True})


def latency(options, say):
    """The time from the call that sends a message to the last reader that has it. Each is sent a millisecond after all have had the
    one before, as a scheduler does.
    """

    def measure(readers, kind, payload, size, count):
        contender = readers.begin(kind, size, count, r.note_times)
        data, stamps = message(payload, size), []
        most = kind.warm + (20 if options.quick else 100)
        until = time.perf_counter() + (0.2 if options.quick else 0.5)
        is_last = False
        while not is_last:
            readers.wait(count, len(stamps))
            # Slow ones have fewer messages.
            is_last = len(stamps) + 1 == most or (len(stamps) >= kind.warm + 4 and time.perf_counter() > until)
            this = message(payload, size, r.LAST) if is_last else data
            time.sleep(1e-3)
            stamps.append(time.perf_counter())
            contender.send(this)
        arrivals = [max(times) for times in zip(*readers.finish(contender, count))]
        if len(arrivals) != len(stamps):
            raise AssertionError(f"{kind.name}: readers got {len(arrivals)} of {len(stamps)} messages")
        took = [there - stamp for there, stamp in zip(arrivals, stamps)][kind.warm :]
        return {"values": 1e6 * statistics.median(took)}

    yield from _rows(options, say, "latency", measure, {"unit": "us", "more_is_better": False})


def idle(options, say):
    """The share of a CPU that one reader uses while it waits for a second or more."""
    seconds = 1 if options.quick else 2
    for is_loaded in options.loads or [False, True]:
        if is_loaded and options.quick:
            continue
        kinds, skipped = available("idle", "bytes", "objects")
        found = {kind.name: [] for kind in kinds}
        readers = options.readers.start()
        with busy(is_loaded):
            for turn in range(1 if options.quick else 5):
                for kind in kinds:
                    say(f"idle: {kind.name}, turn {turn + 1}")
                    found[kind.name].append({"values": _idle_once(readers, kind, seconds)})
        yield {
            "case": f"a reader that waits for {seconds} s{', beside busy processes' if is_loaded else ''}",
            "readers": 1,
            "load": is_loaded,
            "unit": "% of a CPU",
            "more_is_better": False,
            "contenders": [_contender(kind, found[kind.name]) for kind in kinds],
            "skipped": [{"name": name, "why": why} for name, why in skipped.items()],
        }


def _idle_once(readers, kind, seconds):
    contender = readers.begin(kind, 1000, 1, r.idle)
    contender.send(message(kind.payload, 1000))
    readers.wait(1, 1)
    time.sleep(seconds)
    contender.send(message(kind.payload, 1000))
    ((used, waited),) = readers.finish(contender, 1)
    if waited < seconds / 2:
        raise AssertionError(f"the reader of {kind.name} waited for {waited:.3f} of {seconds} s")
    return 100 * used / waited
