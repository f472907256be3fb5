"""How far readers are behind, and who they are."""

import os

import corecast
from conftest import PATIENCE

READ_ONE = """
import sys, corecast
reader = corecast.Subscriber(sys.argv[1], timeout=60)
print("ready", flush=True)
reader.recv(60).release()
print("read", flush=True)
sys.stdin.read()
"""


def test_a_publisher_sees_how_far_each_reader_is(name, spawn):
    with corecast.Publisher(name, max_bytes=100, slots=8, overwrite=True) as publisher:
        assert publisher.readers() == []
        own = corecast.Subscriber(name, policy="lossy", timeout=PATIENCE)
        other = spawn(READ_ONE, name)
        assert other.stdout.readline() == "ready\n"
        for number in range(5):
            publisher.send(b"%d" % number)
        assert other.stdout.readline() == "read\n"
        lossy, reliable = publisher.readers()
        assert lossy == {"pid": os.getpid(), "behind": 5, "policy": "lossy", "state": "open"}
        # A reader may write seldom where it is: at least each eighth of the slots.
        assert reliable.pop("behind") in (4, 5)
        assert reliable == {"pid": other.pid, "policy": "reliable", "state": "open"}
        assert own.behind() == 5
        while own.try_recv() is not None:
            pass
        assert own.behind() == 0
        other.kill()
        other.wait(PATIENCE)
        assert [reader["state"] for reader in publisher.readers() if reader["pid"] != os.getpid()] in (["dead"], [])
        own.close()
        for _ in range(8):
            publisher.send(b"it finds out", timeout=PATIENCE)
        assert [reader for reader in publisher.readers() if reader["state"] == "open"] == []


def test_a_deadline_is_in_seconds_and_open_messages_count(name):
    with corecast.Publisher(name, max_bytes=1000, slots=8, overwrite=True) as publisher:
        patient = corecast.Subscriber(name, timeout=PATIENCE)
        hurried = corecast.Subscriber(name, policy=2.5, timeout=PATIENCE)
        publisher.send(b"held" * 100)
        with patient.recv(PATIENCE):
            assert patient.behind() == hurried.behind() == 1
            mine = {"pid": os.getpid(), "behind": 1, "state": "open"}
            assert publisher.readers() == [{**mine, "policy": "reliable"}, {**mine, "policy": 2.5}]
