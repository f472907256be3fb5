"""Rings in `multiprocessing.shared_memory`, as they are written by hand: a flag of the writer and one of each reader in each
slot, and loops that give the CPU up by `sched_yield`. The idea is that of vLLM's `shm_broadcast`, written anew.
"""

import os
import pickle
import struct
import time
from multiprocessing import shared_memory

from .common import SLOTS, Contender, without

#: Seconds without a message after which a reader of the ring of engines naps, and how long.
_SPINS, _NAP = 1.0, 0.1
#: Buffers of objects from this length on lie beside the pickle in the ring of engines; shorter ones are in it.
_ASIDE = 1 << 20


class _Slots:
    """The ring itself, in the sender's or a reader's process: flags, and a chunk of bytes in each slot."""

    def __init__(self, readers, size, memory=None):
        self.readers, self.size = readers, size
        self.stride = 1 + readers + size
        if memory is None:
            self.memory = shared_memory.SharedMemory(create=True, size=SLOTS * self.stride)
            # All pages are there before the first message.
            self.memory.buf[:] = bytes(len(self.memory.buf))
        else:
            self.memory = shared_memory.SharedMemory(memory)
        self.view = self.memory.buf
        self.turn = 0

    def slot(self):
        """Where the next slot begins."""
        at = (self.turn % SLOTS) * self.stride
        self.turn += 1
        return at

    def begin_write(self):
        """Waits until all have read what the next slot holds; where its flags and its chunk begin."""
        view, at = self.view, self.slot()
        chunk = at + 1 + self.readers
        while view[at] and sum(view[at + 1 : chunk]) < self.readers:
            os.sched_yield()
        view[at] = 0
        return at, chunk

    def end_write(self, at):
        """The slot is written."""
        for own in range(at + 1, at + 1 + self.readers):
            self.view[own] = 0
        self.view[at] = 1

    def begin_read(self, number, naps):
        """Waits until the next slot is written; where the reader's flag and the chunk are."""
        view, at = self.view, self.slot()
        own = at + 1 + number
        since = time.monotonic() if naps else 0.0
        while not view[at] or view[own]:
            if naps and time.monotonic() - since > _SPINS:
                time.sleep(_NAP)
            else:
                os.sched_yield()
        return own, at + 1 + self.readers


class _Ring(Contender):
    """A ring, in the sender's process."""

    #: Bytes of a message beside those of its payload.
    beside = 8
    warm = SLOTS + 2
    wants = None

    def __init__(self, size, ends):
        self.size = size + self.beside
        self.slots = _Slots(len(ends), self.size)

    def reader(self, number):
        return self.wants(self.slots.memory.name, self.slots.readers, self.size, number)

    def close(self):
        self.slots.view = None
        self.slots.memory.close()
        self.slots.memory.unlink()


class _Reader:
    """A reader of a ring. It frees a slot when the next message is asked for, so that what it got can be read in place."""

    naps = False

    def __init__(self, memory, readers, size, number):
        self.memory, self.readers, self.size, self.number = memory, readers, size, number

    def open(self, end):
        slots = _Slots(self.readers, self.size, self.memory)
        held = []

        def receive():
            if held:
                slots.view[held.pop()] = 1
            own, chunk = slots.begin_read(self.number, self.naps)
            held.append(own)
            return self.take(slots.view, chunk)

        def close():
            slots.view = None
            slots.memory.close()

        return receive, close


class _RawReader(_Reader):
    def take(self, view, chunk):
        (length,) = struct.unpack_from("<Q", view, chunk)
        return view[chunk + 8 : chunk + 8 + length]


class Raw(_Ring):
    """Bytes, read in place: better than engines have it."""

    name = "raw ring by hand"
    how = "1 copy into shared memory, read in place; readers spin with sched_yield"
    wants = _RawReader

    def send(self, message):
        at, chunk = self.slots.begin_write()
        view, length = self.slots.view, len(message)
        struct.pack_into("<Q", view, chunk, length)
        view[chunk + 8 : chunk + 8 + length] = message
        self.slots.end_write(at)


class _EngineReader(_Reader):
    naps = True

    def take(self, view, chunk):
        (count,) = struct.unpack_from("<H", view, chunk)
        at, parts = chunk + 2, []
        for _ in range(count):
            (length,) = struct.unpack_from("<I", view, at)
            parts.append(view[at + 4 : at + 4 + length])
            at += 4 + length
        return pickle.loads(parts[0], buffers=parts[1:])


class Engine(_Ring):
    """Objects, pickled into the slot and unpickled out of it; buffers of 1 MiB and more are beside the pickle and read in place.

    Engines free the slot as soon as the object is there; this one keeps it while the array is looked at. Engines also notify
    readers that sleep through a socket, with each message; here they nap.
    """

    name = "ring as engines have it"
    payload = "objects"
    how = "pickle, copy, unpickle: 2 copies and 1 for each reader, from 1 MiB on 1 and 0; readers spin for 1 s, then nap"
    beside = 4096
    wants = _EngineReader

    @staticmethod
    def missing():
        return without("numpy")

    def send(self, message):
        parts = []

        def is_inside(buffer):
            raw = buffer.raw()
            if raw.nbytes >= _ASIDE:
                parts.append(raw)
            return raw.nbytes < _ASIDE

        parts.insert(0, pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL, buffer_callback=is_inside))
        at, chunk = self.slots.begin_write()
        view = self.slots.view
        struct.pack_into("<H", view, chunk, len(parts))
        place = chunk + 2
        for part in parts:
            length = len(part)
            struct.pack_into("<I", view, place, length)
            view[place + 4 : place + 4 + length] = part
            place += 4 + length
        self.slots.end_write(at)
