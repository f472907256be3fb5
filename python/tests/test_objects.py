"""Objects as messages, and channels in asyncio."""

import asyncio
import pickle

import numpy as np
import pytest

import corecast
import corecast.aio
from conftest import PATIENCE
from corecast import objects


@pytest.fixture
def pair(name):
    publisher = corecast.Publisher(name, max_bytes=1 << 20, slots=4)
    subscriber = corecast.Subscriber(name, timeout=PATIENCE)
    yield publisher, subscriber
    subscriber.close()
    publisher.close()


def test_objects_and_their_arrays_come_back(pair):
    publisher, subscriber = pair
    value = {"step": 7, "weights": np.arange(10_000, dtype=np.float32).reshape(100, 100), "names": ["a", "b"]}
    for copy in (True, False):
        objects.send(publisher, value)
        got = objects.recv(subscriber, PATIENCE, copy=copy)
        assert got["step"] == 7 and got["names"] == ["a", "b"] and np.array_equal(got["weights"], value["weights"])
        assert got["weights"].flags.writeable == copy
        assert subscriber.open_messages == (0 if copy else 1)
    del got
    assert subscriber.open_messages == 0


def test_what_cannot_be_pickled_leaves_the_channel_in_order(pair):
    publisher, subscriber = pair
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        objects.send(publisher, lambda: None)
    with pytest.raises(corecast.TooLarge):
        objects.send(publisher, np.zeros(1 << 20))
    objects.send(publisher, "fine")
    assert objects.recv(subscriber, PATIENCE) == "fine"


@pytest.mark.parametrize("bad", [b"", b"short", b"x" * 100, b"corecst5" + b"\xff" * 20, b"corecst5" + (1).to_bytes(8, "little") + b"\xff" * 8])
def test_a_message_that_is_no_object_is_refused(pair, bad):
    publisher, subscriber = pair
    publisher.send(bad)
    with pytest.raises(ValueError, match="expected one that"):
        objects.recv(subscriber, PATIENCE)


def test_tasks_wait_and_others_run(name):
    async def main():
        with corecast.Publisher(name, max_bytes=100) as publisher, corecast.aio.Subscriber(name, timeout=PATIENCE) as reader:
            ticks = []

            async def tick():
                while True:
                    ticks.append(1)
                    await asyncio.sleep(0.001)

            ticking = asyncio.ensure_future(tick())
            with pytest.raises(corecast.Timeout):
                await reader.recv(0.05)
            waiting = asyncio.ensure_future(reader.recv())
            await asyncio.sleep(0.01)
            with pytest.raises(corecast.Busy):
                await reader.recv()
            publisher.send(b"one")
            # The task keeps its result, so the message has to be released.
            with await waiting as view:
                assert bytes(view) == b"one"
            for number in range(100):
                publisher.send(b"%d" % number)
                assert bytes(await reader.recv(PATIENCE)) == b"%d" % number
            publisher.close()
            assert [bytes(message) async for message in reader] == []
            ticking.cancel()
            return len(ticks)

    assert asyncio.run(main()) > 5


def test_a_receiver_in_asyncio(name):
    async def main():
        with corecast.Sender(name, max_bytes=100) as sender, corecast.aio.Receiver(name, timeout=PATIENCE) as receiver:
            waiting = asyncio.ensure_future(receiver.recv(PATIENCE))
            await asyncio.sleep(0.01)
            sender.send(b"for one")
            with await waiting as view:
                return bytes(view)

    assert asyncio.run(main()) == b"for one"
