"""Numbered messages of bytes, arrays and objects, which their receiver can tell from damaged ones."""

import random
import struct
import zlib

import numpy as np

from corecast import objects

_NOISE = random.Random(1).randbytes(1 << 15)
#: The longest message that is sent.
MAX_BYTES = 1 << 15
_LENGTHS = (0, 1, 36, 37, 100, 228, 229, 1000, 4000, 20_000)


class Damaged(Exception):
    """A message is not what was sent."""


def send(channel, source, number, timeout):
    """Sends the message of this number: bytes, an array of numpy, or an object whose array is beside the pickle."""
    length = _LENGTHS[number * 7 % len(_LENGTHS)] if number % 50 == 0 else _LENGTHS[number * 7 % 7]
    start = number * 31 % (len(_NOISE) - length)
    body = struct.pack("<II", source, number) + _NOISE[start : start + length]
    kind = number % 3
    if kind == 2:
        array = np.frombuffer(body, dtype=np.uint8)
        return objects.send(channel, {"checksum": zlib.crc32(body), "body": array}, timeout)
    data = zlib.crc32(body).to_bytes(4, "little") + body
    return channel.send(np.frombuffer(data, dtype=np.uint8) if kind else data, timeout)


def read(message):
    """The source and the number of a message, which is released."""
    with memoryview(message) as view:
        is_object = view[:8] == b"corecst5"
    if is_object:
        value = objects.loads(message)
        checksum, body = value["checksum"], value["body"].tobytes()
        del value
    else:
        data = bytes(message)
        checksum, body = int.from_bytes(data[:4], "little"), data[4:]
    message.release()
    if zlib.crc32(body) != checksum:
        raise Damaged(f"a message of {len(body)} bytes has another checksum than its sender gave it")
    return struct.unpack_from("<II", body)


class Series:
    """The messages of each source, which come in order and without gaps."""

    def __init__(self):
        #: For each source the number that is expected next. The first may have any.
        self.next = {}

    def take(self, message):
        """Checks a message, and returns its number."""
        source, number = read(message)
        expected = self.next.get(source, number)
        if number != expected:
            raise Damaged(f"message {number} of source {source} came in the place of {expected}")
        self.next[source] = number + 1
        return number
