"""Python objects as messages: pickled by protocol 5, with their buffers beside the pickle.

>>> import corecast
>>> from corecast import objects
>>> with corecast.Publisher("docs-objects", max_bytes=1000) as publisher:
...     reader = corecast.Subscriber("docs-objects", timeout=5)
...     objects.send(publisher, {"step": 7})
...     objects.recv(reader, timeout=5)
{'step': 7}

A message is a header of 16 bytes (8 that mark it, the number of parts), the length of each part in 8 bytes, little-endian, and
the parts: the pickle, then the buffers, each at a multiple of 64 bytes from the start of the message. So an array of numpy is
copied once, into the channel, and can be read where it lies.

Unpickling runs what a message says: receive objects only from processes that you trust as your own code.
"""

import pickle
import struct

_MARK = int.from_bytes(b"corecst5", "little")
_ALIGN = 64
_HEAD = struct.Struct("<QQ")


def _places(lengths):
    """The offset of each part, and the length of the whole message."""
    at = _HEAD.size + 8 * len(lengths)
    places = []
    for length in lengths:
        at = -(-at // _ALIGN) * _ALIGN
        places.append(at)
        at += length
    return places, at


def send(channel, value, timeout=None):
    """Sends an object by a `Publisher` or `Sender`, waiting up to `timeout` seconds for room.

    Raises what `pickle` raises of objects that cannot be pickled, and what `send` of the channel does.
    """
    parts = []
    pickled = pickle.dumps(value, protocol=5, buffer_callback=lambda buffer: parts.append(buffer.raw()))
    parts.insert(0, memoryview(pickled))
    lengths = [part.nbytes for part in parts]
    places, size = _places(lengths)
    room = channel.reserve(size)
    try:
        # The commit of the room needs the view to be gone.
        with memoryview(room.memory) as view:
            _HEAD.pack_into(view, 0, _MARK, len(parts))
            struct.pack_into(f"<{len(lengths)}Q", view, _HEAD.size, *lengths)
            for part, place, length in zip(parts, places, lengths):
                view[place : place + length] = part
        room.commit(timeout)
    except BaseException:
        room.cancel()
        raise


def recv(channel, timeout=None, *, copy=True):
    """Receives an object by a `Subscriber` or `Receiver`, waiting up to `timeout` seconds.

    With `copy=False` the buffers of the object, such as arrays of numpy, are those of the message, and cannot be written. The message
    keeps its place in the channel until they are gone.
    """
    message = channel.recv(timeout)
    if copy:
        data = bytearray(message)
        message.release()
        return loads(data)
    return loads(message)


def loads(message):
    """The object in a message that was received by other means; its buffers are those of the message."""
    with memoryview(message) as view:
        total = view.nbytes
        mark, count = _HEAD.unpack_from(view) if total >= _HEAD.size else (0, 0)
        if mark != _MARK or not 1 <= count <= (total - _HEAD.size) // 8:
            raise ValueError("the message is no object: expected one that corecast.objects.send has sent")
        lengths = struct.unpack_from(f"<{count}Q", view, _HEAD.size)
    places, size = _places(lengths)
    if size != total:
        raise ValueError(f"the message has {total} bytes, its parts {size}: expected one that corecast.objects.send has sent")
    view = memoryview(message)
    parts = [view[place : place + length] for place, length in zip(places, lengths)]
    return pickle.loads(parts[0], buffers=parts[1:])
