"""Channels of other packages, where those are installed."""

import os
import tempfile

from .common import MOST_READERS, SLOTS, Contender, fresh_name, without
from .standard import Queue


class Zmq(Contender):
    """Sockets of pyzmq over ipc, one for each reader, so that none misses a message."""

    name = "pyzmq, ipc"
    how = "a socket for each reader: 2 copies and 2 through the kernel each; readers sleep"

    @staticmethod
    def missing():
        return without("zmq")

    def __init__(self, size, ends):
        import zmq

        self.folder = tempfile.TemporaryDirectory()
        self.context = zmq.Context()
        self.addresses = [f"ipc://{self.folder.name}/{number}" for number in range(len(ends))]
        self.sockets = []
        for address in self.addresses:
            socket = self.context.socket(zmq.PUSH)
            socket.set_hwm(SLOTS)
            socket.bind(address)
            self.sockets.append(socket)

    def reader(self, number):
        return _ZmqReader(self.addresses[number])

    def send(self, message):
        for socket in self.sockets:
            socket.send(message)

    def close(self):
        for socket in self.sockets:
            socket.close(linger=1000)
        self.context.term()
        self.folder.cleanup()


class _ZmqReader:
    def __init__(self, address):
        self.address = address

    def open(self, end):
        import zmq

        socket = zmq.Context.instance().socket(zmq.PULL)
        socket.set_hwm(SLOTS)
        socket.connect(self.address)
        return lambda: socket.recv(copy=False).buffer, lambda: socket.close(linger=0)


class Iceoryx(Contender):
    """A publish-subscribe service of iceoryx2. It has no wait for messages: readers poll."""

    name = "iceoryx2"
    how = "1 copy into the channel, read in place; readers poll with sched_yield"
    warm = SLOTS + 2

    @staticmethod
    def missing():
        return without("iceoryx2", "flatbuffers")

    def __init__(self, size, ends):
        import iceoryx2

        self.service = fresh_name()
        self.node, factory = _service(self.service)
        strategy = iceoryx2.BackpressureStrategy.RetryUntilDelivered
        self.publisher = factory.publisher_builder().initial_max_slice_len(size).backpressure_strategy(strategy).create()

    def reader(self, number):
        return _IceoryxReader(self.service)

    def send(self, message):
        import ctypes

        sample = self.publisher.loan_slice_uninit(len(message))
        ctypes.memmove(sample.payload_ptr, message, len(message))
        sample.assume_init().send()

    def close(self):
        self.publisher.delete()


def _service(name):
    """A node, and the service of this name."""
    import ctypes

    import iceoryx2

    iceoryx2.set_log_level(iceoryx2.LogLevel.Error)
    node = iceoryx2.NodeBuilder.new().create(iceoryx2.ServiceType.Ipc)
    builder = node.service_builder(iceoryx2.ServiceName.new(name)).publish_subscribe(iceoryx2.Slice[ctypes.c_uint8])
    builder = builder.max_subscribers(MOST_READERS).subscriber_max_buffer_size(SLOTS).enable_safe_overflow(False)
    return node, builder.open_or_create()


class _IceoryxReader:
    def __init__(self, service):
        self.service = service

    def open(self, end):
        node, factory = _service(self.service)
        subscriber = factory.subscriber_builder().buffer_size(SLOTS).create()
        held, alive = [], [node, factory]

        def receive():
            held.clear()
            while (sample := subscriber.receive()) is None:
                os.sched_yield()
            held.append(sample)
            # Without a format, as `memoryview` looks into no other one than its own.
            return sample.payload().as_memory_view().cast("B")

        def close():
            held.clear()
            subscriber.delete()
            alive.clear()

        return receive, close


class Torch(Queue):
    """Tensors of torch by queues: each is moved to shared memory of its own, and its descriptor is sent to each reader."""

    name = "torch.multiprocessing"
    parts = ("stream", "latency")
    payload = "objects"
    how = "a tensor anew and a copy to new shared memory, whose descriptor goes to each reader; readers sleep"

    @staticmethod
    def missing():
        return without("torch", "numpy")

    def __init__(self, size, ends):
        # Takes seconds, which are no message's.
        import torch.multiprocessing

        super().__init__(size, ends)
        self.torch = torch

    def reader(self, number):
        return _TorchReader()

    def send(self, message):
        # The caller's array can be changed afterwards, as with all others.
        tensor = self.torch.from_numpy(message).clone()
        for queue in self.queues:
            queue.put(tensor)


class _TorchReader:
    def open(self, end):
        import torch.multiprocessing  # noqa: F401

        return lambda: end.get().numpy(), lambda: None
