"""The broadcast channel of this package, in three ways."""

import corecast
from corecast import objects

from .common import PATIENCE, SLOTS, Contender, fresh_name, without

_WAIT = "readers spin shortly, then sleep"


class Send(Contender):
    """`Publisher.send`, read in place."""

    name = "corecast, send"
    how = f"1 copy into the channel, read in place; {_WAIT}"

    #: Bytes of a message beside those of its payload.
    beside = 0
    warm = SLOTS + 2

    def __init__(self, size, ends):
        self.channel = fresh_name()
        self.publisher = corecast.Publisher(self.channel, max_bytes=size + self.beside, slots=SLOTS)

    def reader(self, number):
        return _Reader(self.channel)

    def send(self, message):
        self.publisher.send(message)

    def close(self):
        self.publisher.close()


class _Reader:
    def __init__(self, channel):
        self.channel = channel

    def open(self, end):
        subscriber = corecast.Subscriber(self.channel, timeout=PATIENCE)
        return subscriber.recv, subscriber.close


class Reserve(Send):
    """`Publisher.reserve`: the message comes into being where it is read."""

    name = "corecast, reserve"
    parts = ("stream", "latency")
    how = f"0 copies: both ends are written in place, the rest stays as it is; {_WAIT}"

    def send(self, message):
        with self.publisher.reserve(len(message)) as room:
            room[0], room[-1] = message[0], message[-1]


class Objects(Send):
    """`corecast.objects.send`, and `recv` without a copy."""

    name = "corecast.objects"
    parts = ("stream", "latency")
    payload = "objects"
    how = f"1 copy into the channel, beside the pickle; arrays are read in place; {_WAIT}"
    beside = 4096

    @staticmethod
    def missing():
        return without("numpy")

    def reader(self, number):
        return _ObjectReader(self.channel)

    def send(self, message):
        objects.send(self.publisher, message)


class _ObjectReader(_Reader):
    def open(self, end):
        subscriber = corecast.Subscriber(self.channel, timeout=PATIENCE)
        return lambda: objects.recv(subscriber, copy=False), subscriber.close
