"""Ways to send one message to several processes: each has an end that sends, and a function that receives in another process.

A `Contender` is made in the process that sends, for a number of readers and a size of messages. `reader(number)` is what a reader
process gets: a picklable object with `open()`, which returns a function that returns the next message as a buffer.
"""

import importlib.util
import multiprocessing
import os
import struct
import tempfile
import time
import uuid
from multiprocessing import shared_memory

import corecast

#: Messages that a ring holds.
SLOTS = 8
#: The wait for readers to come.
PATIENCE = 60.0


class Corecast:
    """A broadcast channel of this package: written once, read in place."""

    name = "corecast"

    def __init__(self, context, readers, size):
        self.channel = f"bench-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._publisher = corecast.Publisher(self.channel, max_bytes=max(size, 1), slots=SLOTS)
        self._readers = readers

    def reader(self, number):
        return _CorecastReader(self.channel)

    def send(self, data):
        self._publisher.send(data)

    def close(self):
        self._publisher.close()


class _CorecastReader:
    def __init__(self, channel):
        self.channel = channel

    def open(self):
        return corecast.Subscriber(self.channel, timeout=PATIENCE).recv


class Queue:
    """A `multiprocessing.Queue` for each reader."""

    name = "multiprocessing.Queue"

    def __init__(self, context, readers, size):
        self._queues = [context.Queue(SLOTS) for _ in range(readers)]

    def reader(self, number):
        return _QueueReader(self._queues[number])

    def send(self, data):
        for queue in self._queues:
            queue.put(data)

    def close(self):
        for queue in self._queues:
            queue.close()
            queue.join_thread()


class _QueueReader:
    def __init__(self, queue):
        self.queue = queue

    def open(self):
        return self.queue.get


class Pipe:
    """A `multiprocessing.Pipe` for each reader."""

    name = "multiprocessing.Pipe"

    def __init__(self, context, readers, size):
        self._pipes = [context.Pipe(duplex=False) for _ in range(readers)]

    def reader(self, number):
        return _PipeReader(self._pipes[number][0])

    def send(self, data):
        for _, end in self._pipes:
            end.send_bytes(data)

    def close(self):
        for pipe in self._pipes:
            for end in pipe:
                end.close()


class _PipeReader:
    def __init__(self, end):
        self.end = end

    def open(self):
        return self.end.recv_bytes


class Ring:
    """A ring in `multiprocessing.shared_memory`, as inference engines write it by hand: a flag of the writer and one of each reader
    in each slot, and loops that give the CPU up by `sched_yield` (the idea of vLLM's shm_broadcast, written anew).
    """

    name = "hand-written ring"

    def __init__(self, context, readers, size):
        self.readers, self.size = readers, max(size, 1)
        self._memory = shared_memory.SharedMemory(create=True, size=SLOTS * (1 + readers + 8 + self.size))
        self._memory.buf[: len(self._memory.buf)] = bytes(len(self._memory.buf))
        self._next = 0

    def _slot(self):
        at = (self._next % SLOTS) * (1 + self.readers + 8 + self.size)
        self._next += 1
        return at

    def reader(self, number):
        return _RingReader(self._memory.name, self.readers, self.size, number)

    def send(self, data):
        view, at = self._memory.buf, self._slot()
        flags = at + 1 + self.readers
        # A slot that was written is free when all have read it.
        while view[at] and sum(view[at + 1 : flags]) < self.readers:
            os.sched_yield()
        view[at] = 0
        view[at + 1 : flags] = bytes(self.readers)
        struct.pack_into("<Q", view, flags, len(data))
        view[flags + 8 : flags + 8 + len(data)] = data
        view[at] = 1

    def close(self):
        self._memory.close()
        self._memory.unlink()


class _RingReader:
    def __init__(self, memory, readers, size, number):
        self.memory, self.readers, self.size, self.number = memory, readers, size, number

    def open(self):
        memory = shared_memory.SharedMemory(self.memory)
        view, stride, number = memory.buf, 1 + self.readers + 8 + self.size, self.number
        state = {"next": 0, "held": None}

        def receive():
            # The message before is done with.
            if state["held"] is not None:
                view[state["held"]] = 1
            at = (state["next"] % SLOTS) * stride
            own = at + 1 + number
            while not view[at] or view[own]:
                os.sched_yield()
            start = at + 1 + self.readers + 8
            (length,) = struct.unpack_from("<Q", view, start - 8)
            state["next"] += 1
            state["held"] = own
            return view[start : start + length]

        receive.memory = memory  # keeps it open
        return receive


class Zmq:
    """Sockets of pyzmq over ipc, one for each reader, so that none misses a message."""

    name = "pyzmq, ipc"

    def __init__(self, context, readers, size):
        import zmq

        self._folder = tempfile.TemporaryDirectory()
        self._context = zmq.Context()
        self.addresses = [f"ipc://{self._folder.name}/{number}" for number in range(readers)]
        self._sockets = []
        for address in self.addresses:
            socket = self._context.socket(zmq.PUSH)
            socket.set_hwm(SLOTS)
            socket.bind(address)
            self._sockets.append(socket)

    def reader(self, number):
        return _ZmqReader(self.addresses[number])

    def send(self, data):
        for socket in self._sockets:
            socket.send(data)

    def close(self):
        for socket in self._sockets:
            socket.close(linger=1000)
        self._context.term()
        self._folder.cleanup()


class _ZmqReader:
    def __init__(self, address):
        self.address = address

    def open(self):
        import zmq

        socket = zmq.Context.instance().socket(zmq.PULL)
        socket.set_hwm(SLOTS)
        socket.connect(self.address)
        return lambda: socket.recv(copy=False).buffer


def available():
    """The contenders that are here, and the reasons why others are not."""
    found = [Corecast, Queue, Pipe, Ring]
    skipped = {}
    if importlib.util.find_spec("zmq"):
        found.append(Zmq)
    else:
        skipped[Zmq.name] = "pyzmq is not installed"
    return found, skipped


def context():
    """The way in which reader processes start: anew, as nothing may be inherited by chance."""
    return multiprocessing.get_context("spawn")


def receive_all(reader, ready, end):
    """A reader process: receives until a message that begins with 255, and looks at both ends of each."""
    receive = reader.open()
    ready.send_bytes(b"ready")
    count = 0
    while True:
        message = receive()
        view = memoryview(message)
        first, _last = view[0], view[-1]
        view.release()
        del message
        count += 1
        if first == 255:
            end.send_bytes(struct.pack("<Qd", count, time.process_time()))
            return
