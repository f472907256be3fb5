"""The contenders of the benchmark deliver what was sent, and its output is what the documentation says."""

import importlib.util
import json
import random
import subprocess
import sys
import zlib

import pytest

from corecast.bench import contenders, readers, table
from corecast.bench.contenders import mpi, ours, packages, ring
from corecast.bench.contenders.common import SLOTS

#: More messages than a ring holds, so that each place is used again.
MESSAGES = 2 * SLOTS + 3


@pytest.fixture(scope="module")
def two_readers():
    with readers.Readers(2) as running:
        yield running


def _messages(kind, size, seed):
    """Random messages whose first bytes are below that of the last one; of those in place, both ends only."""
    source = random.Random(seed)
    for number in range(MESSAGES):
        first = readers.LAST if number == MESSAGES - 1 else number
        if kind is ours.Reserve:
            yield bytes([first]) + bytes(size - 2) + source.randbytes(1)
            continue
        whole = bytes([first]) + source.randbytes(size - 1)
        if kind.payload == "objects":
            message = contenders.message("objects", size, first)
            message.data[:] = whole
            yield message
        else:
            yield whole


@pytest.mark.parametrize("kind", [kind for kind in contenders.ALL if not kind.runs_alone], ids=lambda kind: kind.name)
@pytest.mark.parametrize("size", [5000, 1 << 20])
def test_each_contender_delivers_what_was_sent(two_readers, kind, size):
    if kind.missing():
        pytest.skip(f"{kind.name}: {kind.missing()}")
    sent = [(zlib.crc32(message), size) for message in _messages(kind, size, seed=size)]
    contender = two_readers.begin(kind, size, 2, readers.checksums)
    for message in _messages(kind, size, seed=size):
        contender.send(message)
    assert two_readers.finish(contender, 2) == [sent, sent]


def test_ranks_of_mpi_get_the_same_messages():
    if mpi.missing():
        pytest.skip(f"mpi4py: {mpi.missing()}")
    figures = mpi.Mpi.stream(1000, 2, 0.05)
    assert figures["values"] > 0 and figures["readers_cpu"] > 0


def test_short_arrays_are_in_the_pickle_of_the_ring_of_engines_and_long_ones_beside_it():
    counts = []
    for size in (ring._ASIDE - 1, ring._ASIDE):
        contender = ring.Engine(size, [None])
        contender.send(contenders.message("objects", size))
        counts.append(int.from_bytes(contender.slots.view[2:4], "little"))
        contender.close()
    assert counts == [1, 2]


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found, skipped = contenders.available("stream", "bytes")
    assert packages.Zmq not in found and ours.Send in found
    assert skipped[packages.Zmq.name] == "zmq not installed"
    assert skipped[packages.Iceoryx.name] == "iceoryx2 and flatbuffers not installed"


def test_the_table_has_80_columns():
    figures = {"values": [9_999_999.0, 1.0], "readers_cpu": [12.34], "sender_cpu": [1.0]}
    row = {
        "part": "stream",
        "case": "10,000,000 bytes to 7 readers, beside busy processes",
        "unit": "messages/s",
        "more_is_better": True,
        "contenders": [{"name": kind.name, "how": kind.how, **figures} for kind in contenders.ALL],
        "skipped": [],
    }
    lines = table.text(table.summarised(row)) + table.legend([row])
    assert max(map(len, lines)) <= 80, max(lines, key=len)


def _bench(*arguments):
    command = [sys.executable, "-m", "corecast", "bench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_json_has_the_documented_fields():
    done = _bench("--quick", "--json", "--only", "latency", "--bytes", "100", "--readers", "1", "--load", "without")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["schema"] == "corecast-python-bench/2" and answer["quick"] is True
    cases = [(row["payload"], row["bytes"], row["readers"]) for row in answer["results"]]
    assert cases == [("bytes", 100, 1), ("objects", 100, 1)]
    for row in answer["results"]:
        assert row.keys() == {
            *("part", "case", "payload", "bytes", "readers", "load"),
            *("unit", "more_is_better", "reference", "contenders", "skipped"),
        }
        for contender in row["contenders"]:
            assert contender.keys() == {"name", "how", "values", "median", "least", "greatest", "reference_is_times_as_good"}
            assert 0 < contender["least"] <= contender["median"] <= contender["greatest"]


@pytest.mark.parametrize("bad", [["--only", "nothing"], ["--readers", "8"], ["--bytes", "0"]])
def test_bad_options_end_with_code_2_and_what_was_expected(bad):
    done = _bench("--quick", *bad)
    assert done.returncode == 2 and "expected" in done.stderr, done.stderr
